"""What may be written to a study: names, keys, metadata, points."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from windvane.checks import check_text, integer, one_of, real
from windvane.codec import decode
from windvane.errors import CorruptState, InvalidArgument, InvalidType
from windvane.protocol.records import Trial
from windvane.spaces.base import Domain

NAME = re.compile(r"[^\W_][\w .\-]{0,99}")
LONGEST_KEY = 200  # characters
KEY = re.compile(f"[ -~]{{1,{LONGEST_KEY}}}")
LARGEST = 16_384  # bytes of metadata
FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}  # of exports
LAST = 2**31 - 1  # the largest number that the tables hold
LATEST = 1e100  # of |time|: squares of differences must not overflow


def study_name(name: Any) -> str:
    """A name that is safe in a path, a URL and a log.

    >>> study_name("line 3, west")
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: name='line 3, west': must be 1 to 100 ...
    """
    if not isinstance(name, str) or not NAME.fullmatch(name) or name != name.strip():
        shown = repr(name) if len(repr(name)) < 120 else f"{repr(name)[:100]}..."
        raise InvalidArgument(
            f"name={shown}: must be 1 to 100 letters, digits, spaces or . _ - "
            "and begin with a letter or digit"
        )
    return name


def key_text(key: Any) -> str | None:
    """An idempotency key, or None."""
    if key is None:
        return None
    if not isinstance(key, str) or not KEY.fullmatch(key):
        raise InvalidArgument(f"key: must be 1 to {LONGEST_KEY} printable ASCII characters")
    return key


def metadata_of(metadata: Any) -> dict[str, Any]:
    """What a caller wants to keep beside a record: a dict that JSON can carry."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping) or not all(isinstance(key, str) for key in metadata):
        raise InvalidType("metadata: must be a dict whose keys are strings")
    try:
        text = json.dumps(dict(metadata), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgument(f"metadata: must be plain JSON without NaN or infinity ({error})") from None
    if len(text) > LARGEST:
        raise InvalidArgument(f"metadata: {len(text)} bytes; must be at most {LARGEST}")
    copy: dict[str, Any] = json.loads(text)
    check_text("metadata", copy)
    return copy


def duration(name: str, value: Any) -> float | None:
    """Seconds, or None for ever."""
    return None if value is None else real(name, value, above=0.0)


def trial_number(trial: Any) -> int:
    """The number of a trial, from the trial or the number."""
    return trial.number if isinstance(trial, Trial) else integer("trial", trial, at_least=1, at_most=LAST)


def format_of(path: Path, format: str | None = None) -> str:
    """The format that is asked for, or that of the file's ending.

    >>> format_of(Path("line-3.csv")), format_of(Path("line-3.txt"), "jsonl")
    ('csv', 'jsonl')
    """
    if format is not None:
        return one_of("format", format, set(FORMATS.values()))
    if path.suffix.lower() not in FORMATS:
        raise InvalidArgument(
            f"path={str(path)!r}: must end in {', '.join(FORMATS)}, or say csv, jsonl or parquet"
        )
    return FORMATS[path.suffix.lower()]


def space_of(definition: Mapping[str, Any]) -> Domain:
    """The space of a study, from what it was created with: without the model, which may be damaged."""
    found = decode(definition["space"])
    if not isinstance(found, Domain):
        raise CorruptState("definition: its space is not one")
    return found


def inside(space: Domain, x: Any) -> bool:
    """Whether a point of an earlier space is one of this."""
    try:
        space.encode(x)
    except (InvalidArgument, InvalidType):
        return False
    return True
