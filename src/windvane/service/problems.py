"""Errors as answers: {"error": what kind, "detail": one sentence for a person}."""

from __future__ import annotations

import json
import logging
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from windvane.errors import Conflict, CorruptState, StorageFailure, UnknownName, WindvaneError
from windvane.service.answers import Answer

log = logging.getLogger("windvane.service")

BRANCH = re.compile(r"[A-Z][A-Za-z]*Body|float|int|str|bool|(list|dict|constrained-[a-z]+|nullable)\[.*\]")
"""Names of the branches of a union, which are of no use to a caller."""

OF_ANOTHER_KIND = ("float_type", "int_type", "string_type", "bool_type", "list_type", "dict_type", "missing")
"""What is found in a branch that was not meant."""


class Problem(BaseModel):
    """Why a request was not carried out."""

    error: str = Field(description="the kind of error", examples=["UnknownName"])
    detail: str = Field(
        description="one readable sentence", examples=["name='plant': there is no such study"]
    )


class Refused(WindvaneError):
    """A request that is refused before anything is done, with the status that says why."""

    def __init__(self, status: int, kind: str, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.kind = kind
        self.headers = headers

    def answer(self) -> Response:
        """As a response."""
        return problem(self.status, self.kind, str(self), self.headers)


MEANINGS = {
    400: "the body is not JSON",
    401: "a token is needed, or the one given is not valid",
    403: "the token, or the page that asks, may not do this",
    404: "no such study or trial",
    409: "in conflict with what is there already",
    413: "the body is too large",
    415: "the body is not declared as JSON",
    422: "a value that is not allowed; the detail names it",
    429: "too many requests, or too many live streams",
    500: "what is stored of the study is damaged, or the service has a fault; its log says what",
    503: "the database cannot be used now",
}


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error responses of a route, for its OpenAPI; those that any route may give are always there."""
    every = sorted({401, 403, 422, 429, 503, *statuses})
    return {status: {"model": Problem, "description": MEANINGS[status]} for status in every}


def problem(status: int, kind: str, detail: str, headers: dict[str, str] | None = None) -> Response:
    """An error as a response."""
    return Answer({"error": kind, "detail": detail}, status, headers)


def status_of(error: WindvaneError) -> int:
    """The status that an error of ours deserves."""
    if isinstance(error, UnknownName):
        return 404
    if isinstance(error, Conflict):
        return 409
    if isinstance(error, StorageFailure):
        return 503
    if isinstance(error, CorruptState):  # of what is stored: nothing that the caller could put right
        return 500
    return 422


def retry_after(seconds: float) -> dict[str, str]:
    """The header that says when to come back, in whole seconds."""
    return {"Retry-After": str(max(1, math.ceil(seconds)))}


def answer_to(error: WindvaneError | RequestValidationError) -> Response:
    """What a caller is told about an error that was foreseen."""
    if isinstance(error, RequestValidationError):
        return problem(422, "InvalidArgument", readable(error.errors()))
    if isinstance(error, Refused):
        return error.answer()
    status = status_of(error)
    if status >= 500:
        log.error("%s", error)
    return problem(status, type(error).__name__, str(error), retry_after(1) if status == 503 else None)


def install(app: FastAPI) -> None:
    """Have every error answered in one form."""

    @app.exception_handler(WindvaneError)
    @app.exception_handler(RequestValidationError)
    async def foreseen(_: Request, error: WindvaneError | RequestValidationError) -> Response:
        return answer_to(error)

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> Response:
        kind = HTTPStatus(error.status_code).phrase.title().replace(" ", "")
        return problem(error.status_code, kind, str(error.detail), dict(error.headers or {}))

    @app.exception_handler(Exception)
    async def other(request: Request, error: Exception) -> Response:
        return unforeseen(request.method, request.url.path, error)


def unforeseen(method: str, path: str, error: Exception) -> Response:
    """What a caller is told about an error that nobody has thought of; the log has all of it."""
    log.exception("%s %s", method, path, exc_info=error)
    return problem(500, "InternalError", "something went wrong here; the log of the service says what")


def readable(errors: Sequence[Any]) -> str:
    """One of pydantic's findings as a sentence that names the place as the caller wrote it.

    Of a union there are findings for every branch, with the branch in their places: the deepest ones are of
    the branch that was meant, and among those of equal depth the branch with the fewest.
    """
    branches = Counter(each["loc"][:-1] for each in errors)
    found = min(
        errors,
        key=lambda each: (-len(each["loc"]), branches[each["loc"][:-1]], each["type"] in OF_ANOTHER_KIND),
    )
    place, before = "", None
    for part in [part for part in found["loc"] if part not in ("body", "query", "path", "header")]:
        if isinstance(part, int):
            place += f"[{part}]"
        elif before == "parameters" or not BRANCH.fullmatch(part):  # a parameter may have any name
            place += f".{part}" if place else part
        before = part
    return sentence(place, found)[:500]


def sentence(place: str, found: Mapping[str, Any]) -> str:
    """One finding as Python's own errors say it: the argument, the value, and what is allowed.

    >>> sentence("count", {"type": "less_than_equal", "ctx": {"le": 100}, "input": 500, "msg": ""})
    'count=500: must be at most 100'
    >>> sentence("y", {"type": "missing", "input": {}, "msg": ""})
    'y: is missing'
    """
    kind, context = found["type"], found.get("ctx", {})
    if kind == "missing":
        return f"{place}: is missing" if place else "the request: is empty; it must have a body in JSON"
    if kind == "extra_forbidden":
        return f"{place}: is not known here; leave it out"
    allowed = ALLOWED.get(kind)
    if allowed is None:
        said = found["msg"].removeprefix("Value error, ")
        return f"{place}: {said}" if place else said
    value = found["input"]
    given = "" if isinstance(value, dict | list) else f"={shortened(value)}"
    return f"{place or 'the request'}{given}: must be {allowed.format(**context)}"


def shortened(value: Any) -> str:
    """A value as the caller wrote it, in few characters."""
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


LONGEST = 60  # characters of a value in a sentence
ALLOWED = {
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a whole number that is not so large",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "at least {min_length} characters",
    "string_pattern_mismatch": "like {pattern}",
    "list_type": "a list",
    "tuple_type": "a list",
    "too_short": "a list of at least {min_length}",
    "too_long": "a list of at most {max_length}",
    "dict_type": "an object with names and values",
    "model_type": "an object with names and values",
    "model_attributes_type": "an object with names and values",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "greater_than": "above {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "below {lt}",
    "less_than_equal": "at most {le}",
    "multiple_of": "a multiple of {multiple_of}",
}
"""What is allowed, by the kind of pydantic's finding; the rest is said in its own words."""
