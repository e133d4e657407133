"""`windvane study retract` and `windvane study correct`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from windvane.cli.studies import words
from windvane.cli.studies.common import (
    add_noise,
    add_writing,
    answer,
    kept_beside,
    opened,
    progress,
    set_up,
    whole,
)
from windvane.cli.studies.limits import add_outcomes, check_known, outcomes_from
from windvane.cli.verbs import VerbParser
from windvane.constraints import Constraint
from windvane.digits import counted
from windvane.entries import parsed
from windvane.errors import InvalidArgument
from windvane.protocol.corrections import Correction
from windvane.protocol.requests import AmendRequest

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
OUTCOME = """
  windvane study correct oven 7 --outcome heat=84.2     only what was told of a constraint was wrong
  windvane study correct oven 7 --outcome heat=none     it was not measured after all
  windvane study correct filter 7 0.39 0.41 --std 0.02  measured twice, and how noisy each value is"""


def register_retract(verb: VerbParser) -> None:
    """The arguments of `retract`."""
    set_up(verb, retract, description=RETRACT, epilog=EPILOG.format(word="retract", y=""))
    verb.add_argument("trial", metavar="TRIAL", nargs="?", type=int, help=TRIAL)
    _more(verb)


def register_correct(verb: VerbParser) -> None:
    """The arguments of `correct`."""
    set_up(verb, correct, description=CORRECT, epilog=EPILOG.format(word="correct", y=" 0.39") + OUTCOME)
    verb.add_argument("trial", metavar="TRIAL", nargs="?", help=TRIAL)
    help = "the right value, several are repeats; none if only an outcome or the noise was wrong"
    verb.add_argument("y", metavar="Y", nargs="*", help=help)
    add_noise(verb)
    add_outcomes(verb, "the right value of a constraint, or none if it was not measured; may be repeated")
    _more(verb)


def _more(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--record", metavar="SEQ", type=int, help="the number of the record in the journal")
    verb.add_argument("--reason", metavar="TEXT", default="", help="in words")
    add_writing(verb)


def _amend(
    given: argparse.Namespace, right: Correction | None, outcomes: Any = None
) -> tuple[Any, Mapping[str, Constraint]]:
    """The record of it, and the constraints of the study."""
    what, number = ("trial", given.trial) if given.record is None else ("record", given.record)
    asked = AmendRequest.of(what, number, right, given.reason, **kept_beside(given))
    with opened(given) as study, progress("records") as on_progress:
        check_known(study, outcomes)
        return study.submit(asked, on_progress), study.summary().constraints


def _check(given: argparse.Namespace, word: str) -> None:
    if (given.trial is None) == (given.record is None):
        raise InvalidArgument(f"{word}: needs either TRIAL or --record SEQ")


def retract(given: argparse.Namespace) -> None:
    """Take it back."""
    _check(given, "retract")
    record, _ = _amend(given, None)
    _said(given, record, f"y = {words.number(record.y)} taken back")


def correct(given: argparse.Namespace) -> None:
    """Put it right."""
    if given.record is not None and given.trial is not None:  # the first of the values
        given.trial, given.y = None, [given.trial, *given.y]
    outcomes = outcomes_from(given, none=True)
    if not given.y and outcomes is None and given.std is None and given.noise_variance is None:
        raise InvalidArgument("correct: needs Y, the right value, or --outcome NAME=VALUE, or --std")
    values = [parsed(float, text, f"Y={text}: must be a number") for text in given.y]
    y = values if len(values) > 1 else values[0] if values else None
    given.trial = None if given.trial is None else whole("TRIAL", given.trial)
    _check(given, "correct")
    right = Correction.of(y, given.noise_variance, given.std, outcomes, {})
    record, constraints = _amend(given, right, outcomes)
    _said(given, record, "; ".join(_parts(record, constraints)))


def _parts(record: Any, constraints: Mapping[str, Constraint]) -> list[str]:
    """What was put right."""
    values = {"y": {"value": record.y, "was": record.event["was"]}, **record.event["outcomes"]}
    changed = {name: now for name, now in values.items() if now["value"] != now["was"]}
    units = {name: f" {each.unit}" for name, each in constraints.items() if each.unit}
    noise = {"y": words.noise(record.event)}
    return [
        f"{name} = {_number(now['value'], units.get(name, ''))}{noise.get(name, '')}, "
        f"which was {_number(now['was'], units.get(name, ''))}"
        for name, now in (changed or {"y": values["y"]}).items()
    ]


def _number(value: float | None, unit: str) -> str:
    return "not measured" if value is None else f"{words.number(value)}{unit}"


def _said(given: argparse.Namespace, record: Any, what: str) -> None:
    event = record.event
    of = f"record {event['record']}" if record.trial is None else f"trial {record.trial}"
    lines = [f"{of}: {what}; {event['size']} in use"]
    if event["undone"] or event["new"]:
        undone = counted(len(event["undone"]), "reset")
        lines.append(f"note: {undone} undone by that, {len(event['new'])} new")
    answer(given, record.as_dict(), *lines)
