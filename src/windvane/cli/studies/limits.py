"""Constraints in a shell: --constraint, --safe and --start of a study, --outcome of a tell."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from windvane.checks import real
from windvane.cli.studies.common import from_json, pairs
from windvane.errors import InvalidArgument, UnknownName
from windvane.protocol.measured import check_names
from windvane.spelling import spelt_constraint

NEEDS = "--safe: needs a setting that is known to be safe, to begin with, as in --start '{\"gain\": 0.5}'"


def add_constraints(verb: argparse.ArgumentParser) -> None:
    """--constraint, --safe and --start."""
    group = verb.add_argument_group("constraints", "what is told with each value, and its limits")
    group.add_argument(
        "--constraint",
        action="append",
        metavar="LIMIT",
        help='what must hold beside the objective, in quotation marks: "heat<=90 °C" or "purity>=0.8"; '
        "may be repeated",
    )
    group.add_argument(
        "--safe",
        type=float,
        metavar="P",
        help="ask only for points at which each constraint holds with this probability, as believed now",
    )
    group.add_argument(
        "--start",
        action="append",
        metavar="JSON",
        help="a setting that is known to be safe, needed with --safe: '{\"gain\": 0.5}'; may be repeated",
    )


def constraints_from(given: argparse.Namespace, options: dict[str, Any]) -> dict[str, Any]:
    """The options `constraints`, `safe` and `start` as they were typed; `options` are those of --option."""
    found: dict[str, Any] = {}
    for option, name in (("constraint", "constraints"), ("safe", "safe"), ("start", "start")):
        if getattr(given, option) is not None and name in options:
            raise InvalidArgument(f"--{option} with --option {name}: give one of the two")
    for text in given.constraint or ():
        name, constraint = spelt_constraint(text, "--constraint")
        if name in found.setdefault("constraints", {}):
            raise InvalidArgument(f"--constraint {text}: {name} is given twice")
        found["constraints"][name] = constraint
    if given.safe is not None:
        found["safe"] = real("--safe", given.safe, at_least=0.5, below=1.0)
        if "constraints" not in {**found, **options}:
            raise InvalidArgument("--safe: is about constraints, and there are none; add --constraint")
        if given.start is None and "start" not in options:
            raise InvalidArgument(NEEDS)
    if given.start is not None:
        found["start"] = [from_json("--start", text) for text in given.start]
        if "safe" not in {**found, **options}:
            raise InvalidArgument("--start: is where --safe begins, which is not given")
    return found


def add_outcomes(verb: argparse.ArgumentParser, help: str) -> None:
    """--outcome."""
    verb.add_argument("--outcome", action="append", metavar="NAME=VALUE", help=help)


def outcomes_from(given: argparse.Namespace, *, none: bool = False) -> dict[str, float | None] | None:
    """What was typed of the constraints; with `none`, NAME=none says that one was not measured."""
    found: dict[str, float | None] = {}
    for name, value in pairs("--outcome", given.outcome, "heat=84.2").items():
        try:
            found[name] = None if none and value == "none" else real(name, float(value))
        except ValueError:  # our own as well
            raise InvalidArgument(
                f"--outcome {name}={value}: must be a finite number; leave out what was not measured"
            ) from None
    return found or None


def check_known(study: Any, names: Iterable[str] | None, option: str = "--outcome") -> None:
    """An error, of what was typed and not of a study, unless these are constraints of it."""
    try:
        check_names(names or (), study.summary().constraints)
    except (UnknownName, InvalidArgument) as error:
        raise InvalidArgument(f"{option}: {error}") from None
