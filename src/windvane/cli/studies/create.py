"""`windvane study create`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from windvane.checks import GOALS, one_of
from windvane.cli.place import EXTRA
from windvane.cli.spaces import add_space_arguments, space_from
from windvane.cli.studies import words
from windvane.cli.studies.common import answer, from_json, seconds, set_up
from windvane.cli.studies.limits import add_constraints, constraints_from
from windvane.cli.verbs import VerbParser
from windvane.errors import InvalidArgument, InvalidType
from windvane.extras import require
from windvane.protocol.checks import space_of
from windvane.spelling import options_from_json, space_from_json

EPILOG = """\
examples:
  windvane study create press --box 0,1 0,1
  windvane study create filter --param gain=real:0.1:10:log --param taps=integer:1:8 --goal minimize
  windvane study create mill --param speed=real:0:1 --context load=real:0:100
  windvane study create recipes --candidates recipes.csv --log-scale gain
  windvane study create line-3 --box 0,1 --algorithm et-gp-ucb --kernel rbf --lengthscale 0.2 \\
      --option noise_variance=0.02 --option trigger=exact-bound
  windvane study create oven --param power=real:0:10 --constraint "heat<=90 °C" --constraint "purity>=0.8" \\
      --safe 0.95 --start '{"power": 2}'
  windvane study create line-3 --definition line-3.json --exist-ok

A definition is what the service takes:
  {"space": {"box": [[0, 1]]}, "algorithm": "auto", "goal": "minimize",
   "seed": 7, "expires_after": 3600, "metadata": {},
   "options": {"kernel": {"type": "RBF", "lengthscale": [0.2]}}}
Constraints are {"constraints": {"heat": {"at_most": 90, "unit": "°C"}}, "safe": 0.95, "start": [...]} there.
Its "name", if it has one, gives way to NAME. Algorithms and options: windvane list algorithms --options."""

KEYS = ("name", "space", "algorithm", "goal", "seed", "expires_after", "metadata", "options")
WITH_DEFINITION = ("name", "db", "json", "definition", "exist_ok", "run", "verb", "action")  # may go with it


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    set_up(verb, run, epilog=EPILOG)
    add_space_arguments(verb)
    verb.add_argument("--algorithm", metavar="A", help="default: auto")
    verb.add_argument("--goal", choices=tuple(GOALS), metavar="G", help="maximize (the default) or minimize")
    verb.add_argument("--seed", type=int, metavar="N", help="default: a random one, which is kept")
    verb.add_argument(
        "--expires-after", metavar="SECONDS", help="how long a trial is waited for, or never; default: a day"
    )
    verb.add_argument("--kernel", metavar="K", help="rbf, matern32 or matern52, with --lengthscale")
    verb.add_argument(
        "--lengthscale", type=float, nargs="+", metavar="L", help="one, or one each, as shares of the range"
    )
    verb.add_argument(
        "--option",
        action="append",
        metavar="NAME=VALUE",
        help="of the algorithm; the value is JSON or a word",
    )
    verb.add_argument(
        "--exist-ok",
        action="store_true",
        help="no error if there is a study of that name with the same definition",
    )
    add_constraints(verb)
    verb.add_argument("--metadata", metavar="JSON", help="an object to keep with the study")
    verb.add_argument(
        "--definition", metavar="FILE", help="all of this from a file of JSON; - is standard input"
    )


def run(given: argparse.Namespace) -> None:
    """Make it, and say what comes next."""
    asked = _typed(given) if given.definition is None else _written(given)
    options = asked.pop("options")
    with require("windvane.study", EXTRA).Study.create(
        given.db, given.name, exist_ok=given.exist_ok, **asked, **options
    ) as study:
        summary, space = study.summary(), space_of(study.definition)
    made = f"{summary.algorithm}, {summary.goal}, seed {summary.definition['seed']}"
    lines = [f"  {line}" for line in (*words.space_lines(space), *words.constraint_lines(summary))]
    answer(given, summary.as_dict(), f"study {summary.name!r} in {given.db}: {made}", *lines)


def _typed(given: argparse.Namespace) -> dict[str, Any]:
    space = space_from(given)
    if space is None:
        raise InvalidArgument("create: needs a space: --box, --arms, --candidates, --param or --definition")
    found = {"space": space, "options": _options(given), "metadata": from_json("--metadata", given.metadata)}
    for name in ("algorithm", "goal", "seed"):
        if getattr(given, name) is not None:
            found[name] = getattr(given, name)
    if given.expires_after is not None:
        found["expires_after"] = seconds("--expires-after", given.expires_after)
    return found


def _options(given: argparse.Namespace) -> dict[str, Any]:
    raw: dict[str, Any] = {}
    for text in given.option or ():
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier() or not value:
            raise InvalidArgument(f"--option {text}: must be NAME=VALUE")
        if name in raw or name in (*KEYS, "clock", "exist_ok"):
            raise InvalidArgument(f"--option {text}: {name} is given twice, or is no option of an algorithm")
        raw[name] = value if _is_word(value) else from_json(f"--option {name}", value)
    found: dict[str, Any] = options_from_json(raw, "--option")
    found = require("windvane.entries", EXTRA).with_parts("--option ", found)
    return found | _kernel(given, found) | constraints_from(given, found)


def _is_word(text: str) -> bool:
    """Whether a value is meant as it stands: a word that JSON does not know."""
    return text[0].isalpha() and text not in ("true", "false", "null", "NaN", "Infinity")


def _kernel(given: argparse.Namespace, found: dict[str, Any]) -> dict[str, Any]:
    if given.kernel is None and given.lengthscale is None:
        return {}
    if given.kernel is None or given.lengthscale is None:
        raise InvalidArgument("--kernel and --lengthscale: give both or neither")
    if "kernel" in found:
        raise InvalidArgument("--kernel with --option kernel: give one of the two")
    kernels = require("windvane.cli.calibrate", EXTRA).KERNELS
    return {"kernel": kernels[one_of("--kernel", given.kernel, kernels)](given.lengthscale)}


def _written(given: argparse.Namespace) -> dict[str, Any]:
    for name, value in vars(given).items():
        if value is not None and name not in WITH_DEFINITION:
            raise InvalidArgument(f"--{name.replace('_', '-')} with --definition: say it in one of the two")
    file = given.definition
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"--definition {file}: is not UTF-8: {error}") from None
    found = from_json(f"--definition {file}", text)
    if not isinstance(found, dict):
        raise InvalidType(f"--definition {file}: must be an object with {', '.join(KEYS)}")
    for name in found:
        one_of(f"--definition {file}: key", name, KEYS)
    if "space" not in found:
        raise InvalidArgument(f"--definition {file}: has no space")
    asked = {name: value for name, value in found.items() if name != "name"}
    asked["space"] = space_from_json(found["space"])
    asked["options"] = options_from_json(found.get("options", {}))
    return asked
