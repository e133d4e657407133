"""Server-sent events: records as they are written, across broken connections."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlencode

from windvane.client.answers import read
from windvane.client.transport import Later, Request, Transport, pause
from windvane.errors import Unavailable
from windvane.protocol import Record

SILENCE = 45.0  # seconds; a service that lives says so every 15
STEADY = 1.0  # seconds that a connection without a record must have lasted to count as one
LINE = 4 * 2**20  # bytes
TYPE = "text/event-stream"


class Message(NamedTuple):
    """One server-sent event."""

    id: str
    event: str
    data: str


def messages(lines: Iterator[bytes]) -> Iterator[Message]:
    r"""The events in a stream of lines, by the rules of the HTML standard.

    >>> list(messages(iter([b": hello\n", b"id: 7\n", b"event: told\n", b"data: {}\n", b"\n", b"data: cut"])))
    [Message(id='7', event='told', data='{}')]
    """
    name, event, data = "", "", list[str]()
    for number, line in enumerate(lines):
        text = line.rstrip(b"\r\n").decode("utf-8", "replace")
        if number == 0:
            text = text.removeprefix("\ufeff")
        if not text:
            if data:
                yield Message(name, event or "message", "\n".join(data))
            event, data = "", []
            continue
        field, _, value = text.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            event = value
        elif field == "id" and "\0" not in value:
            name = value


def records(transport: Transport, path: str, after: int, patience: float) -> Iterator[Record]:
    """The records after a number, and each new one as it comes.

    A broken connection is opened again after the last record, for `patience` seconds on end.
    """
    own = transport.apart(SILENCE)  # the caller's connection stays free for asks and tells
    last, trouble = after, _Trouble(patience, transport.retries)
    try:
        while True:
            try:
                for record in _connected(own, path, last):
                    trouble.heard(record)
                    if record is not None and record.seq > last:
                        last = record.seq
                        yield record
                failed = Later(Unavailable(f"{transport.address}: ended the stream"))
            except Later as error:
                failed = error
            time.sleep(trouble.pause(failed))
    finally:
        own.close()


class _Trouble:
    """How long to go on: for `patience` seconds, or for a few attempts if there never was a connection."""

    def __init__(self, patience: float, attempts: int) -> None:
        self._patience = patience
        self._attempts = attempts
        self._ever = False
        self._open: float | None = None
        self._since: float | None = None
        self._failures = 0

    def heard(self, record: Record | None) -> None:
        """A connection was made (None), or a record came."""
        self._ever = True
        self._open = self._open or time.monotonic()
        if record is not None:
            self._since, self._failures = None, 0

    def pause(self, failed: Later) -> float:
        """Seconds until the next attempt; or the error, if it is time to give up."""
        now = time.monotonic()
        if self._open is not None and now - self._open > STEADY:
            self._since, self._failures = None, 0
        self._open, self._since = None, now if self._since is None else self._since
        self._failures += 1
        if now - self._since > self._patience or (not self._ever and self._failures > self._attempts):
            raise failed.error
        return pause(min(self._failures, 7), failed.wait)


def _connected(transport: Transport, path: str, after: int) -> Iterator[Record | None]:
    """The records of one connection, after a None once it is made."""
    request = Request("GET", f"{path}?{urlencode({'after': after})}", accept=TYPE)
    with transport.answer(request) as response:
        if response.getheader("Content-Type", "").partition(";")[0].strip().lower() != TYPE:
            raise Unavailable(f"{transport.address}: answered with no stream; is this a Windvane service?")
        yield None
        for message in messages(_lines(response)):
            yield read(Record, _parsed(message.data))


def _lines(response: http.client.HTTPResponse) -> Iterator[bytes]:
    while line := response.readline(LINE):
        if len(line) == LINE:
            raise Unavailable("stream: a line of more than 4 MB")
        yield line


def _parsed(data: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Later(Unavailable(f"stream: a record that is no JSON ({error})")) from error
