"""`windvane study tell`."""

from __future__ import annotations

import argparse
import math

from windvane.cli.studies import words
from windvane.cli.studies.common import (
    add_noise,
    add_time,
    add_writing,
    answer,
    check_point,
    from_json,
    kept_beside,
    opened,
    set_up,
    whole,
)
from windvane.cli.studies.limits import add_outcomes, check_known, outcomes_from
from windvane.cli.verbs import VerbParser
from windvane.digits import estimate
from windvane.errors import InvalidArgument
from windvane.moments import is_date, utc
from windvane.protocol.checks import space_of

EPILOG = """\
examples:
  windvane study tell filter 7 0.93
  windvane study tell filter 7 -1e-05 --time 1793.5 --metadata '{"operator": "ada"}'
  windvane study tell filter 7 0.93 --std 0.05                        how noisy that value is
  windvane study tell filter 7 0.93 0.88 0.91                         measured three times
  windvane study tell oven 7 0.93 --outcome heat=84.2                 with the value of a constraint
  windvane study tell filter --at '{"gain": 1.3, "taps": 4}' 0.93     a value that nobody asked for

When this returns 0, the value is on disk. Told again, a trial gives exit code 4, unless --key is the same.
If a trial gave no value: windvane study fail."""


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    set_up(verb, run, epilog=EPILOG)
    verb.add_argument("trial", metavar="TRIAL", nargs="?", help="its number, unless --at is given")
    verb.add_argument("y", metavar="Y", nargs="+", help="the value; several are repeats")
    verb.add_argument("--at", metavar="JSON", help='the point: [0.5, 1], an arm, or {"gain": 1.3, ...}')
    add_noise(verb)
    add_outcomes(verb, "the value of a constraint, as in heat=84.2; may be repeated")
    add_time(verb, "your timestamp; default: one step after the last")
    add_writing(verb)


def run(given: argparse.Namespace) -> None:
    """Tell, and say what was made of it."""
    if given.trial is None and given.at is None:
        raise InvalidArgument("tell: needs either TRIAL or --at: tell NAME TRIAL Y, or tell NAME --at JSON Y")
    numbers = given.y
    if given.at is not None and given.trial is not None:  # the first of several values
        if given.trial.isdecimal():
            raise InvalidArgument(
                f"tell: needs either TRIAL or --at; if {given.trial} is a value, write {given.trial}.0"
            )
        numbers = [given.trial, *given.y]
    values = [_value(text) for text in numbers]
    y = values if len(values) > 1 else values[0]
    more = kept_beside(given) | {"outcomes": outcomes_from(given)}
    more |= {"noise_variance": given.noise_variance, "std": given.std}
    at = from_json("--at", given.at)
    with opened(given) as study:
        check_known(study, more["outcomes"])
        if given.at is None:
            record = study.submit_tell(whole("TRIAL", given.trial), y, given.time, **more)
        else:
            check_point("--at", at, space_of(study.definition))
            record = study.submit_add(at, y, given.time, **more)
        space, constraints = space_of(study.definition), study.summary().constraints

    event = record.event
    known = event["step"] > 1 or event["monitored"]  # before that, the scale of y is a guess
    expected = f"expected {estimate(event['mean'], event['std'])}" if known else "nothing was known before"
    several = f", the mean of {len(event['values'])}," if event["values"] else ""
    lines = [
        f"step {record.step}: y = {words.number(record.y)}{several} at {words.point(record.x, space)}; "
        f"{expected}; {event['size']} in use"
    ]
    if record.reason:
        lines.append(f"{'RESET' if record.reset else 'note'}: {words.line(record.reason)}")
    if given.time is None and is_date(event["time"]):
        lines.append(f"note: without --time, so told as of {utc(event['time'])}")
    lines += words.outcome_lines(event, constraints)
    if event.get("retreat") is not None:
        lines.append(f"note: nothing is believed safe; next is {words.point(event['retreat'], space)}")
    answer(given, record.as_dict(), *lines)


def _value(text: str) -> float:
    try:
        y = float(text)
    except ValueError:
        y = math.nan
    if not math.isfinite(y):
        raise InvalidArgument(
            f"Y={text}: must be a finite number, with a decimal point; if there is none: "
            "windvane study fail NAME TRIAL REASON"
        )
    return y
