"""`windvane study change-space`."""

from __future__ import annotations

import argparse

from windvane.cli.spaces import add_space_arguments, space_from
from windvane.cli.studies import words
from windvane.cli.studies.common import add_writing, answer, kept_beside, opened, progress, set_up
from windvane.cli.verbs import VerbParser
from windvane.digits import counted
from windvane.errors import InvalidArgument
from windvane.protocol.checks import space_of

DESCRIPTION = """\
Other bounds, or other options of a choice, for the same parameters. The model is then as if it had been
told, in this space, all that was measured inside it; what lies outside is left out, and comes back if the
space becomes larger again. Trials that are out and lie outside expire. The whole journal is told again."""


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    set_up(verb, run, description=DESCRIPTION)
    add_space_arguments(verb)
    verb.add_argument("--reason", metavar="TEXT", default="", help="in words")
    add_writing(verb)


def run(given: argparse.Namespace) -> None:
    """Change it."""
    space = space_from(given)
    if space is None:
        raise InvalidArgument("change-space: needs a space: --box, --arms, --candidates or --param")
    more = kept_beside(given)
    with opened(given) as study, progress("records") as on_progress:
        record = study.change_space(space, given.reason, on_progress=on_progress, **more)
        lines = [f"  {line}" for line in words.space_lines(space_of(study.definition))]
    left_out = counted(record.event["left_out"], "observation")
    counts = f"{left_out} outside left out; {record.event['size']} in use"
    answer(given, record.as_dict(), f"study {given.name!r}: {counts}", *lines)
