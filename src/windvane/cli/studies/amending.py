"""`windvane study retract` and `windvane study correct`."""

from __future__ import annotations

import argparse
from typing import Any

from windvane.cli.studies import words
from windvane.cli.studies.common import add_verb, add_writing, from_json, opened, progress, say
from windvane.errors import InvalidArgument, UnknownName

RETRACT = """\
A value was wrong: the journal keeps it and says that it does not count. The model is then as if it had never
been told. What was told since the last checkpoint before it is told again, which takes as long as it took."""
CORRECT = """\
A value was wrong, and the right one is known. The journal keeps both; the model is then as if it had been
told the right one. What was told since the last checkpoint before it is told again, which takes as long as it
took."""
TRIAL = "its number, unless --record is given"
EPILOG = """\
examples:
  windvane study {word} filter 7{y} --reason "sensor was cold"
  windvane study {word} filter --record 31{y}     a value that nobody asked for: see windvane study events"""


def register(verbs: Any) -> None:
    """Add the verbs."""
    verb = add_verb(
        verbs,
        "retract",
        retract,
        "take back a value that was wrong",
        description=RETRACT,
        epilog=EPILOG.format(word="retract", y=""),
    )
    verb.add_argument("trial", metavar="TRIAL", nargs="?", type=int, help=TRIAL)
    _more(verb)
    verb = add_verb(
        verbs,
        "correct",
        correct,
        "another value for a trial",
        description=CORRECT,
        epilog=EPILOG.format(word="correct", y=" 0.39"),
    )
    verb.add_argument("trial", metavar="TRIAL", nargs="?", type=int, help=TRIAL)
    verb.add_argument("y", metavar="Y", type=float, help="the right value")
    _more(verb)


def _more(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--record", metavar="SEQ", type=int, help="the number of the record in the journal")
    verb.add_argument("--reason", metavar="TEXT", default="", help="in words")
    add_writing(verb)


def _target(given: argparse.Namespace, study: Any) -> Any:
    if given.record is None:
        return given.trial
    found = study.events(max(given.record, 1) - 1, 1)
    if not found or found[0].seq != given.record:
        raise UnknownName(f"--record {given.record}: study {given.name!r} has none of that number")
    return found[0]


def _checked(given: argparse.Namespace, word: str) -> dict[str, Any]:
    if (given.trial is None) == (given.record is None):
        raise InvalidArgument(f"{word}: needs either TRIAL or --record SEQ")
    return {"metadata": from_json("--metadata", given.metadata), "key": given.key}


def retract(given: argparse.Namespace) -> None:
    """Take it back."""
    more = _checked(given, "retract")
    with opened(given) as study, progress("records") as on_progress:
        record = study.retract(_target(given, study), given.reason, on_progress=on_progress, **more)
    _said(given, record, f"y = {words.number(record.y)} taken back")


def correct(given: argparse.Namespace) -> None:
    """Put it right."""
    more = _checked(given, "correct")
    with opened(given) as study, progress("records") as on_progress:
        record = study.correct(_target(given, study), given.y, given.reason, on_progress=on_progress, **more)
    was = words.number(record.event["was"])
    _said(given, record, f"y = {words.number(record.y)}, which was {was}")


def _said(given: argparse.Namespace, record: Any, what: str) -> None:
    if given.json:
        say(record.as_dict())
        return
    event = record.event
    of = f"record {event['record']}" if record.trial is None else f"trial {record.trial}"
    print(f"{of}: {what}; {event['size']} in use")
    if event["undone"] or event["new"]:
        print(f"note: {len(event['undone'])} resets undone by that, {len(event['new'])} new")
