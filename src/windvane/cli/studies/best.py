"""`windvane study best`."""

from __future__ import annotations

import argparse

from windvane.cli.studies import words
from windvane.cli.studies.common import add_context, add_time, context_from, opened, say, set_up
from windvane.cli.verbs import VerbParser
from windvane.digits import estimate
from windvane.errors import Conflict, InvalidArgument
from windvane.protocol.checks import space_of
from windvane.spelling import plain


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    set_up(verb, run)
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
        space = space_of(study.definition)
        if given.format == "values":
            words.check_values(space)
        if study.optimizer.last_time is None:
            raise Conflict("best: nothing is known before the first tell")
        best = study.best(given.time, context=context_from(given, space))
        x = plain(best.x)

    if given.json:
        say({"x": x, "mean": best.mean, "std": best.std, "steps": best.steps, "feasible": best.feasible})
    elif given.format == "values":
        print(words.values(x, space))
    else:
        away = f", {best.steps} steps away" if (best.steps or 0) > 1 else ""
        held = "" if best.feasible is None else f"; all constraints hold with probability {best.feasible:.3g}"
        print(f"{words.point(x, space)}: {estimate(best.mean, best.std)}{away}{held}")
