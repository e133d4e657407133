"""Answers that are errors, as the errors that the same mistake raises in process."""

from __future__ import annotations

import json
from typing import Any

from windvane.errors import (
    Conflict,
    CorruptState,
    Forbidden,
    InvalidArgument,
    InvalidType,
    MissingExtra,
    NumericalFailure,
    StorageFailure,
    Unavailable,
    UnknownName,
    WindvaneError,
)

RAISED = (Conflict, CorruptState, InvalidArgument, InvalidType, MissingExtra, NumericalFailure)
SAME = {kind.__name__: kind for kind in (*RAISED, StorageFailure, UnknownName)}  # as a study in process
BY_STATUS: dict[int, type[WindvaneError]] = {
    **dict.fromkeys((400, 413, 415, 422), InvalidArgument),
    **dict.fromkeys((401, 403), Forbidden),
    404: UnknownName,
    409: Conflict,
    507: StorageFailure,
}
LONGEST = 2000  # characters of somebody else's words in a message


def error_of(status: int, body: bytes, where: str) -> WindvaneError:
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
    return (SAME.get(kind) or BY_STATUS.get(status, Unavailable))(detail)


def _said(body: bytes) -> tuple[str, str | None]:
    try:
        found: Any = json.loads(body)
        kind, detail = found["error"], found["detail"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return "", None
    if not isinstance(kind, str) or not isinstance(detail, str):
        return "", None
    return kind, detail[:LONGEST]
