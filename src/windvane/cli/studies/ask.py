"""`windvane study ask`."""

from __future__ import annotations

import argparse

from windvane.cli.studies import words
from windvane.cli.studies.common import (
    add_context,
    add_time,
    add_writing,
    context_from,
    from_json,
    kept_beside,
    opened,
    say,
    seconds,
    set_up,
)
from windvane.cli.verbs import VerbParser
from windvane.errors import InvalidArgument
from windvane.protocol.checks import space_of

EPILOG = """\
in a shell, with all digits of the point:
  read -r trial gain taps < <(windvane study ask filter --format values)
  windvane study tell filter "$trial" "$(measure "$gain" "$taps")"

with a context in the space: windvane study ask mill --context load=37

Every call begins a new trial, also while others are out; --key makes a retry give the same one again."""


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    set_up(verb, run, epilog=EPILOG)
    add_time(verb, "your timestamp, if the study is told times; default: one step after the last")
    add_context(verb)
    verb.add_argument("--count", type=int, metavar="N", help="this many trials at once, one per line")
    verb.add_argument("--expires-after", metavar="SECONDS", help="or never; default: as the study says")
    verb.add_argument(
        "--available",
        metavar="JSON",
        help="the only points that may be asked for this time, as in '[3, 5, 8]', of a finite space",
    )
    add_writing(verb)
    verb.add_argument(
        "--format", choices=("words", "values"), default="words", help="values: trial and point, for `read`"
    )


def run(given: argparse.Namespace) -> None:
    """Begin a trial and print it."""
    if given.json and given.format == "values":
        raise InvalidArgument("--json with --format values: give one of the two")
    more = kept_beside(given)
    if given.expires_after is not None:
        more["expires_after"] = seconds("--expires-after", given.expires_after)
    if given.available is not None:
        more["available"] = from_json("--available", given.available)
    with opened(given) as study:
        space = space_of(study.definition)
        if given.format == "values":
            words.check_values(space)  # before a trial is begun that nobody could read
        found = study.ask(given.time, context=context_from(given, space), count=given.count, **more)
    for trial in [found] if given.count is None else found:
        if given.json:
            say(trial.as_dict())
        elif given.format == "values":
            print(trial.number, words.values(trial.x, space))
        else:
            print(f"trial {trial.number}: {words.point(trial.x, space)}")
