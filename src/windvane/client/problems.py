"""Answers that are errors, as the errors that the same mistake raises in process."""

from __future__ import annotations

import json
from typing import Any

from windvane import errors
from windvane.errors import Conflict, Forbidden, InvalidArgument, StorageFailure, Unavailable, UnknownName

SAME = (  # what a study in process raises
    "Conflict",
    "CorruptState",
    "InvalidArgument",
    "InvalidType",
    "MissingExtra",
    "NumericalFailure",
    "StorageFailure",
    "UnknownName",
)
BY_STATUS: dict[int, type[errors.WindvaneError]] = {
    400: InvalidArgument,
    401: Forbidden,
    403: Forbidden,
    409: Conflict,
    413: InvalidArgument,
    415: InvalidArgument,
    422: InvalidArgument,
    507: StorageFailure,
}
LONGEST = 2000  # characters of somebody else's words in a message


def error_of(status: int, body: bytes, where: str) -> errors.WindvaneError:
    """The error that an answer means.

    >>> error_of(409, b'{"error": "Conflict", "detail": "trial=3: told already"}', "http://127.0.0.1:8000")
    Conflict('trial=3: told already')
    >>> error_of(502, b"<html>Bad Gateway</html>", "http://127.0.0.1:8000")
    Unavailable('http://127.0.0.1:8000: answered with status 502')
    """
    kind, detail = _said(body)
    if detail is None:  # whoever wrote this, it was no Windvane service
        known = Forbidden if status in (401, 403) else Unavailable
        return known(f"{where}: answered with status {status}")
    if kind in SAME:
        same: type[errors.WindvaneError] = getattr(errors, kind)
        return same(detail)
    if status == 404:
        return UnknownName(detail)
    return BY_STATUS.get(status, Unavailable)(detail)


def _said(body: bytes) -> tuple[str, str | None]:
    try:
        found: Any = json.loads(body)
        kind, detail = found["error"], found["detail"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return "", None
    if not isinstance(kind, str) or not isinstance(detail, str):
        return "", None
    return kind, detail[:LONGEST]
