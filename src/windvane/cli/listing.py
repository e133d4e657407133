"""`windvane list`: what there is, one line each."""

from __future__ import annotations

import argparse
import inspect
import json
from typing import Any

from windvane import triggers
from windvane.algorithms import ALGORITHMS
from windvane.experiments.paper import EXPERIMENTS
from windvane.tasks import TASKS


def register(verbs: Any) -> None:
    """Add the verb to the command line."""
    verb = verbs.add_parser(
        "list",
        help="algorithms, triggers, tasks and experiments, one line each",
        description="Lists what wv.make, trigger=, wv.task and `windvane reproduce` understand.",
    )
    verb.add_argument(
        "what", nargs="?", choices=("algorithms", "triggers", "tasks", "experiments"), help="only these"
    )
    verb.add_argument("--json", action="store_true", help="for scripts: a JSON object of name to summary")
    verb.add_argument("--options", action="store_true", help="also the options that each one takes")
    verb.set_defaults(run=run)


def trigger_lines() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Each trigger's first sentence and its fields."""
    found = {}
    for name in triggers.__all__:
        member = getattr(triggers, name)
        if inspect.isclass(member) and hasattr(member, "test") and hasattr(member, "__dataclass_fields__"):
            summary = inspect.getdoc(member) or ""
            found[name] = (summary.split("\n")[0].rstrip("."), tuple(member.__dataclass_fields__))
    return found


def catalogue() -> dict[str, dict[str, tuple[str, tuple[str, ...]]]]:
    """Everything that has a name: kind -> name -> (summary, options)."""
    return {
        "algorithms": {name: (entry.summary, entry.options) for name, entry in ALGORITHMS.items()},
        "triggers": trigger_lines(),
        "tasks": {name: (entry.summary, entry.options) for name, entry in TASKS.items()},
        "experiments": {name: (f"{entry.source}: {entry.title}", ()) for name, entry in EXPERIMENTS.items()},
    }


def run(given: argparse.Namespace) -> None:
    """Print the catalogue."""
    kinds = {kind: lines for kind, lines in catalogue().items() if given.what in (None, kind)}
    if given.json:
        plain = {kind: {name: line[0] for name, line in lines.items()} for kind, lines in kinds.items()}
        print(json.dumps(plain, indent=2))
        return
    width = max(len(name) for lines in kinds.values() for name in lines)
    for number, (kind, lines) in enumerate(kinds.items()):
        print(("\n" if number else "") + kind)
        for name, (summary, options) in lines.items():
            print(f"  {name:<{width}}  {summary}")
            if given.options and options:
                print(f"  {'':<{width}}    {', '.join(options)}")
