"""How a space is spelt on the command line: --box, --arms, --candidates or --param."""

from __future__ import annotations

import argparse

from windvane.cli.settings_file import read_settings
from windvane.entries import parsed, typed
from windvane.errors import InvalidArgument, WindvaneError
from windvane.spaces import Arms, Box, Candidates, Choice, Context, Integer, Parameter, Real, Space

BOX = "--box LO,HI [LO,HI ...], as in --box 0,1 0,1"
CONTEXT = "NAME=real:LO:HI[:log][:period][:clip][:unit=U], NAME=integer:LO:HI[...] or NAME=choice:A,B,..."
PARAM = "NAME=real:LO:HI[:log][:step=S][:unit=U], NAME=integer:LO:HI[:log][:unit=U] or NAME=choice:A,B,..."
NEGATIVE = "where the first bound is negative, with an equals sign or in quotes: --box=-5,5, --box '-5,5 0,1'"


def add_space_arguments(parser: argparse.ArgumentParser) -> None:
    """--box, --arms, --candidates and --param, under a heading of their own; `space_from` reads them."""
    group = parser.add_argument_group("space", "one of four")
    group.add_argument(
        "--box",
        nargs="+",
        action="extend",
        metavar="LO,HI",
        help=f"real coordinates x1, x2, ..., one pair of bounds for each; {NEGATIVE}",
    )
    group.add_argument("--arms", type=int, metavar="N", help="alternatives without an order, 0 to N - 1")
    group.add_argument(
        "--candidates",
        metavar="FILE.csv",
        help="a list of settings, one per line under a header of names: numbers, true or false, or words",
    )
    group.add_argument(
        "--log-scale", nargs="+", metavar="COLUMN", help="columns of --candidates that are on a log scale"
    )
    group.add_argument(
        "--param",
        action="append",
        metavar="NAME=KIND:...",
        help="a named parameter, may be repeated: gain=real:0.1:10:log, flow=real:0:10:step=0.5, "
        "heat=real:60:99:unit=°C, taps=integer:1:8, mode=choice:a,b (options that read as numbers, true "
        "or false are such; quote them to keep text)",
    )
    group.add_argument(
        "--context",
        action="append",
        metavar="NAME=KIND:...",
        help="beside --param: what is observed, not chosen: load=real:0:100, hour=real:0:24:period "
        "(periodic), flow=real:0:9:clip (values beyond are clipped)",
    )


def space_from(given: argparse.Namespace) -> Box | Arms | Candidates | Space | None:
    """The space that was asked for; None if none was.

    >>> parser = argparse.ArgumentParser()
    >>> add_space_arguments(parser)
    >>> space_from(parser.parse_args(["--box", "0,1", "--box=-0.5,1e3"]))
    Box(bounds=((0.0, 1.0), (-0.5, 1000.0)))
    >>> space_from(parser.parse_args(["--param", "gain=real:0.1:10:log", "--param", "mode=choice:a,b"]))
    Space(gain=Real(lo=0.1, hi=10.0, log=True), mode=Choice(options=('a', 'b')))
    >>> space_from(parser.parse_args([])) is None
    True
    """
    used = [name for name in ("box", "arms", "candidates", "param") if getattr(given, name) is not None]
    if len(used) > 1:
        raise InvalidArgument(
            f"--{used[0]} with --{used[1]}: give one of --box, --arms, --candidates and --param"
        )
    if used and used[0] != "param" and getattr(given, "context", None):
        raise InvalidArgument(f"--context with --{used[0]}: contexts are named, and stand beside --param")
    if given.log_scale is not None and given.candidates is None:
        raise InvalidArgument("--log-scale: is about the columns of --candidates")
    if given.box is not None:
        return _box(given.box)
    if given.arms is not None:
        try:
            return Arms(given.arms)
        except WindvaneError as error:
            raise type(error)(f"--arms: {error}") from None
    if given.candidates is not None:
        return read_settings(given.candidates, dict.fromkeys(given.log_scale or (), "log"))
    contexts = getattr(given, "context", None)
    if given.param is not None:
        return _space(given.param, contexts or [])
    if contexts:
        raise InvalidArgument("--context: needs --param beside it, for what is chosen")
    return None


def _box(texts: list[str]) -> Box:
    pairs = [pair for text in texts for pair in text.split()]
    bounds = []
    for pair in pairs:
        ends = pair.split(",")
        if len(ends) != 2:
            raise InvalidArgument(f"--box {pair}: must be two numbers LO,HI; write {BOX}")
        bounds.append((_number(f"--box {pair}", ends[0]), _number(f"--box {pair}", ends[1])))
    if not bounds:
        raise InvalidArgument(f"--box: names no bounds; write {BOX}")
    try:
        return Box(bounds)
    except WindvaneError as error:
        raise type(error)(f"--box {' '.join(pairs)}: {error}") from None


def _space(texts: list[str], contexts: list[str]) -> Space:
    found: list[tuple[str, Parameter]] = []
    each = [("--param", PARAM, text) for text in texts] + [("--context", CONTEXT, text) for text in contexts]
    for option, how, text in each:
        name, equals, spelt = text.partition("=")
        if not equals or not name.strip():
            raise InvalidArgument(f"{option} {text}: must be {how}")
        try:
            found.append((name.strip(), _parameter(f"{option} {text}", spelt, how, option == "--context")))
        except WindvaneError as error:
            message = str(error)
            raise type(error)(message if message.startswith("--") else f"{option} {text}: {error}") from None
    try:
        return Space(found)
    except WindvaneError as error:
        raise type(error)(f"--param: {error}") from None


def _parameter(where: str, spelt: str, how: str, observed: bool) -> Parameter:
    kind, _, rest = spelt.partition(":")
    if kind == "choice":
        options = [option.strip() for option in rest.split(",")]
        if not all(options):
            raise InvalidArgument(f"{where}: an option is empty; must be {how}")
        read = [(option, typed(option)) for option in options]  # a list is none, so it stays text
        choice = Choice([text if isinstance(value, tuple) else value for text, value in read])
        return Context(choice) if observed else choice
    low, high, *words = rest.split(":") if ":" in rest else ("", "", "?")
    flags = [word for word in words if "=" not in word]
    pairs = [word.partition("=") for word in words if "=" in word]
    settings = {name: value for name, _, value in pairs}
    allowed = ("log", "period", "clip") if observed else ("log",)
    if (
        kind not in ("real", "integer")
        or not set(flags) <= set(allowed)
        or not set(settings) <= {"unit", *(("step",) if kind == "real" else ())}
        or len(words) > len(set(flags)) + len(settings)  # one of them twice
    ):
        raise InvalidArgument(f"{where}: must be {how}")
    log, unit = "log" in flags, settings.get("unit", "")
    values: Parameter
    if kind == "real":
        step = _number(where, settings["step"]) if "step" in settings else None
        values = Real(_number(where, low), _number(where, high), log=log, unit=unit, step=step)
    else:
        values = Integer(_whole(where, low), _whole(where, high), log=log, unit=unit)
    return Context(values, period="period" in flags, clip="clip" in flags) if observed else values


def _number(where: str, text: str) -> float:
    return parsed(float, text, f"{where}: {text!r} is no number")


def _whole(where: str, text: str) -> int:
    return parsed(int, text, f"{where}: {text!r} is no whole number")
