"""`windvane list`: what there is, one line each, and what the options of each are for."""

from __future__ import annotations

import argparse
import inspect
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from windvane import triggers
from windvane.algorithms import ALGORITHMS
from windvane.checks import one_of
from windvane.cli.option_table import OptionRow, lines, option_rows, rows_of, wrapped
from windvane.cli.verbs import VerbParser
from windvane.experiments.paper import EXPERIMENTS
from windvane.options.declared import OPTIONS
from windvane.tasks import TASKS

KINDS = ("algorithms", "triggers", "tasks", "experiments")
WIDEST = 120


class CatalogueLine(NamedTuple):
    """A name's summary, and the names of its options."""

    summary: str
    options: tuple[str, ...] = ()


Catalogue = dict[str, dict[str, CatalogueLine]]


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    verb.description = "Lists what wv.make, trigger=, wv.task and `windvane reproduce` understand."
    verb.add_argument("what", nargs="?", choices=KINDS, help="only these")
    verb.add_argument("--json", action="store_true", help="for scripts: a JSON object of name to summary")
    verb.add_argument(
        "--options",
        nargs="?",
        const="",
        metavar="NAME",
        help="also the options: what each is for, what is allowed, its default; "
        "with a NAME only those of an algorithm, a trigger or a task, or the one option of that name",
    )
    verb.set_defaults(run=run)


def trigger_lines() -> dict[str, CatalogueLine]:
    """Each trigger's first sentence and its fields."""
    found = {}
    for name in triggers.__all__:
        member = getattr(triggers, name)
        if inspect.isclass(member) and hasattr(member, "test") and hasattr(member, "__dataclass_fields__"):
            summary = (inspect.getdoc(member) or "").split("\n")[0].rstrip(".")
            found[name] = CatalogueLine(summary, tuple(member.__dataclass_fields__))
    return found


def catalogue() -> Catalogue:
    """Everything that has a name: kind -> name -> summary and options."""
    return {
        "algorithms": {n: CatalogueLine(each.summary, tuple(each.options)) for n, each in ALGORITHMS.items()},
        "triggers": trigger_lines(),
        "tasks": {n: CatalogueLine(each.summary, each.options) for n, each in TASKS.items()},
        "experiments": {n: CatalogueLine(f"{each.source}: {each.title}") for n, each in EXPERIMENTS.items()},
    }


def run(given: argparse.Namespace) -> None:
    """Print the catalogue."""
    if given.options in KINDS and given.what is None:  # `list --options tasks` is `list tasks --options`
        given.what, given.options = given.options, ""
    kinds = {kind: entries for kind, entries in catalogue().items() if given.what in (None, kind)}
    if given.options:
        kinds = _only(kinds, given.options)
    if given.json:
        print(json.dumps(_plain(kinds, given.options), indent=2))
        return
    width = min(shutil.get_terminal_size().columns, WIDEST)
    print("\n".join(_brief(kinds) if given.options is None else _with_options(kinds, given.options, width)))


def _only(kinds: Catalogue, name: str) -> Catalogue:
    """What has that name; nothing if it is the name of an option."""
    known = {each for entries in kinds.values() for each, line in entries.items() if line.options}
    one_of("--options", name, {*OPTIONS, *known})
    found = {kind: {n: line for n, line in entries.items() if n == name} for kind, entries in kinds.items()}
    return {kind: entries for kind, entries in found.items() if entries}


def _plain(kinds: Catalogue, options: str | None) -> dict[str, Any]:
    """For scripts: summaries, or with `--options` summaries and options."""
    if options is None:
        return {kind: {n: line.summary for n, line in entries.items()} for kind, entries in kinds.items()}
    found: dict[str, Any] = {
        kind: {n: {"summary": line.summary, "options": list(line.options)} for n, line in entries.items()}
        for kind, entries in kinds.items()
    }
    if not kinds or "algorithms" in kinds:
        found["options"] = [row._asdict() for row in _option_rows(kinds, options)]
    return found


def _brief(kinds: Catalogue) -> Iterator[str]:
    """One line each."""
    left = max(len(name) for entries in kinds.values() for name in entries)
    for number, (kind, entries) in enumerate(kinds.items()):
        yield ("\n" if number else "") + kind
        for name, line in entries.items():
            yield f"  {name:<{left}}  {line.summary}"


def _with_options(kinds: Catalogue, name: str, width: int) -> Iterator[str]:
    """Each with the names of its options, save those that nearly all have; then what each option is for."""
    left = max((len(each) for entries in kinds.values() for each in entries), default=0) + 4
    for number, (kind, entries) in enumerate(kinds.items()):
        yield ("\n" if number else "") + kind
        common = _common(entries) if kind == "algorithms" and not name else []
        for each, line in entries.items():
            yield from wrapped(f"  {each}", line.summary, left, width)
            if each != name or kind != "algorithms":
                own = ", ".join(option for option in line.options if option not in common)
                yield from wrapped("", own, left + 2, width)
        if common:
            yield from wrapped("  (nearly all)", f"{', '.join(common)}", left + 2, width)
    if not kinds or "algorithms" in kinds:
        yield from ("\noptions" if kinds else "options", *lines(_option_rows(kinds, name), width))


def _common(entries: Mapping[str, CatalogueLine]) -> list[str]:
    counts = Counter(option for line in entries.values() for option in line.options)
    return [option for option, count in counts.items() if count >= len(entries) - 3]


def _option_rows(kinds: Catalogue, name: str) -> list[OptionRow]:
    """Those of the algorithm or the option of that name; without a name all of them."""
    if name in kinds.get("algorithms", {}):
        return rows_of(name)
    return [row for row in option_rows() if name in ("", row.name)]
