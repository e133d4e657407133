"""`windvane study best`."""

from __future__ import annotations

import argparse
from typing import Any

from windvane.cli.studies import words
from windvane.cli.studies.common import add_context, add_time, add_verb, context_from, opened, say
from windvane.errors import Conflict, InvalidArgument
from windvane.spelling import plain


def register(verbs: Any) -> None:
    """Add the verb."""
    verb = add_verb(verbs, "best", run, "the point believed best now, and what to expect there")
    add_time(verb, "as of this time; default: one step after the last")
    add_context(verb)
    verb.add_argument(
        "--format", choices=("words", "values"), default="words", help="values: the point only, for `read`"
    )


def run(given: argparse.Namespace) -> None:
    """Print it."""
    if given.json and given.format == "values":
        raise InvalidArgument("--json with --format values: give one of the two")
    with opened(given) as study:
        if given.format == "values":
            words.check_values(study.space)
        if not study.summary().tells:
            raise Conflict("best: nothing is known before the first tell")
        best = study.best(given.time, context=context_from(given))
        x, space = plain(best.x), study.space
    if given.json:
        say({"x": x, "mean": best.mean, "std": best.std, "steps": best.steps})
    elif given.format == "values":
        print(words.values(x, space))
    else:
        away = f", {best.steps} steps away" if (best.steps or 0) > 1 else ""
        print(f"{words.point(x, space)}: {words.number(best.mean)} ± {words.number(best.std)}{away}")
