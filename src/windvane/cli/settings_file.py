"""A list of settings from a CSV file: what --candidates reads."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from windvane.entries import is_number
from windvane.errors import InvalidArgument, WindvaneError
from windvane.spaces import Candidates

TRUTH = {"true": True, "false": False}


def read_settings(file: str, scale: dict[str, str]) -> Candidates:
    """The settings of a file, one per line under a header of names.

    Without a header, if the first line has numbers only, the columns are called x1, x2, ... A column of
    numbers is one, true and false are booleans, anything else is words.
    """
    try:
        with Path(file).open(encoding="utf-8-sig", newline="") as stream:
            lines = [(number, cells) for number, cells in enumerate(csv.reader(stream), 1) if any(cells)]
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"--candidates {file}: is not UTF-8: {error}") from None
    if not lines:
        raise InvalidArgument(f"--candidates {file}: is empty")
    first = [cell.strip() for cell in lines[0][1]]
    named = not all(is_number(cell) for cell in first)
    names = first if named else [f"x{i + 1}" for i in range(len(first))]
    for name in names:
        if not name or names.count(name) > 1:
            raise InvalidArgument(f"--candidates {file}: the column {name!r} has no name of its own")
    lines = lines[1:] if named else lines
    if not lines:
        raise InvalidArgument(f"--candidates {file}: has a header, but no settings")
    for number, cells in lines:
        if len(cells) != len(names) or not all(cell.strip() for cell in cells):
            raise InvalidArgument(
                f"--candidates {file}, line {number}: must have a value for each of {', '.join(names)}"
            )
    columns = {name: _column([cells[i].strip() for _, cells in lines]) for i, name in enumerate(names)}
    try:
        return Candidates(columns, scale=scale)
    except WindvaneError as error:
        raise type(error)(f"--candidates {file}: {error}") from None


def _column(cells: list[str]) -> list[Any]:
    if all(is_number(cell) for cell in cells):
        whole = all(cell.lstrip("+-").isdecimal() for cell in cells)
        return [int(cell) if whole else float(cell) for cell in cells]
    if all(cell.lower() in TRUTH for cell in cells):
        return [TRUTH[cell.lower()] for cell in cells]
    return list(cells)
