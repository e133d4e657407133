"""Logs that a study is told: everything is read and checked before the first observation is."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from windvane.checks import real
from windvane.errors import InvalidArgument, WindvaneError
from windvane.extras import require
from windvane.reading import Reading
from windvane.spaces import Choice, Domain, Space
from windvane.study.checks import metadata_of

if TYPE_CHECKING:
    from windvane.study.study import Study

Told = tuple[Any, float | list[float], float | None, dict[str, Any], float | None]
UTF_8 = "utf-8-sig"  # spreadsheets write a byte order mark
EXPORTED = ("seq", "kind", "time", "metadata")  # columns of a study's export, beside those of the point


def rows(study: Study, path: str | Path, sort: bool = False) -> tuple[list[Told], dict[int, list[str]]]:
    """The observations of a log as (x, y, time, metadata, noise variance); an error names file and line.

    Of what a study exported, only what was told counts, with the times and the metadata that were told then:
    a new study of the same definition says the same of each. Values that were taken back are left out, and
    those that were corrected are right. The second part are the resets that were asked for: before which
    observation, and why.
    """
    reader = require("windvane.replay", "studies")  # here, since few who use a study ever import a log
    wanted, tabular = _columns(path)
    _check_options(path, study.space, tabular)
    log = reader.read_log(path, study.space, metadata=wanted, sort=sort)
    found: list[Told] = []
    for row, x in enumerate(log.points):
        beside = log.metadata[row] if log.metadata else {}
        time = None if log.times is None else log.times[row]
        try:
            if beside.get("kind") == "told" and beside.get("seq") not in (None, ""):
                told_at = _time(beside["time"])
                time = told_at if told_at is not None or not log.gaps else time
            told = Reading.of(**log.told(row)).told
            notes = metadata_of(_notes(beside.get("metadata")))
            found.append((x, told["y"], time, notes, told["noise_variance"]))
        except WindvaneError as error:
            raise type(error)(f"{log.where(row)}: {error}") from None
    resets: dict[int, list[str]] = {}
    for row, why in log.resets:
        resets.setdefault(row, []).append(why)
    return found, resets


def _columns(path: str | Path) -> tuple[tuple[str, ...], bool]:
    """What to read beside the observations, `EXPORTED` where it can be had, and whether the file is a table.

    A file that cannot be read has none; the reader of logs says what is wrong with it.
    """
    try:
        file = Path(path).expanduser()
        endings = [ending.lower() for ending in file.suffixes]
        packed = endings[-1:] == [".gz"]
        kind = endings[-2:-1] if packed else endings[-1:]
        if kind in ([".jsonl"], [".ndjson"]):
            return EXPORTED, False
        if kind == [".parquet"]:
            names = set(require("pyarrow.parquet", "parquet").read_schema(file).names)
        else:
            with gzip.open(file, "rt", encoding=UTF_8) if packed else file.open(encoding=UTF_8) as lines:
                names = {name.strip().strip('"') for name in re.split(r"[,;\t]", lines.readline())}
    except WindvaneError:
        raise
    except (OSError, ValueError, TypeError, EOFError, zlib.error):
        return (), False
    return EXPORTED if {*EXPORTED, "trial", "y"} <= names else (), True


def _check_options(path: str | Path, space: Domain, tabular: bool) -> None:
    """Refuse where the reader could take an option for another.

    It leaves out blanks around text, and a cell of a table is text whatever it was.
    """
    for name, parameter in space.parameters if isinstance(space, Space) else ():
        seen: dict[str, Any] = {}
        for option in parameter.options if isinstance(parameter, Choice) else ():
            if not tabular and not isinstance(option, str):
                continue
            text = str(option).strip()
            other = seen.setdefault(text.lower() if tabular else text, option)
            if other is not option:
                raise InvalidArgument(
                    f"{path}: {name}: {other!r} and {option!r} look alike in {_such(tabular)}"
                )


def _such(tabular: bool) -> str:
    return "a table; import JSON lines instead" if tabular else "a log; tell them one by one"


def _time(cell: Any) -> float | None:
    """The time that a study was told, if it was told one."""
    return None if cell is None or cell == "" else real("time", float(cell))


def _notes(cell: Any) -> Mapping[str, Any]:
    """The metadata of a record: an object, or the text of one."""
    try:
        found = json.loads(cell) if isinstance(cell, str) and cell else cell or {}
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidArgument("metadata: must be a JSON object")
    return found
