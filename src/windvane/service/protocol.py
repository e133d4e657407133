"""HTTP with limits on what a connection may hold: uvicorn has none on headers, nor on how long they take.

All of this comes before anybody is asked for a token, so it must cost little whatever is sent.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from windvane.service.answers import dumps

HEAD_BYTES = 65_536  # of the request line and all headers
HEAD_SECONDS = 10.0  # from the first byte, or from the connection, to the last header
BODY_SECONDS = 60.0  # from there to the end of the body
WRITE_SECONDS = 60.0  # for a reader to take what it is sent
CONNECTION = "windvane.connection"  # among a request's extensions: notes that its connection keeps
CONNECTIONS = 900  # at once: a process may usually have 1024 files open


class TooLarge(Exception):
    """A request whose head is larger than it may be."""


class WholeAnswers:
    """A transport that sends the head of an answer with its body, so that whoever waits wakes once."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""
        self.is_closing = transport.is_closing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """As the transport, but for a head, which waits until the loop comes round at the latest."""
        if self._head:
            data, self._head = self._head + data, b""
        elif data.endswith(b"\r\n\r\n") and data.startswith(b"HTTP/1.1 ") and data[9:10] != b"1":
            self._head = data
            self._loop.call_soon(self.flush)
            return
        self._transport.write(data)

    def flush(self) -> None:
        """Send what waits."""
        if self._head:
            self.write(b"")

    def close(self) -> None:
        """As the transport, which sends what was written."""
        self.flush()
        self._transport.close()


class GuardedProtocol(HttpToolsProtocol):
    """uvicorn's protocol, bounded in memory and time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._notes: dict[str, Any] = {}
        self._in_head = True
        self._received = 0  # bytes of a head that is not complete
        self._head = 0  # bytes of what was read of it
        self._deadline: asyncio.TimerHandle | None = None
        self._wanted: float | None = None  # seconds of the deadline that there should be
        self._renewed = False  # whether what is awaited has changed since it was set
        self._reader: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.transport = WholeAnswers(transport, self.loop)  # type: ignore[assignment]
        if len(self.connections) > CONNECTIONS:
            self._refuse(503, "TooManyConnections", f"{CONNECTIONS} connections are the most")
            return
        self._wait(HEAD_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._deadline, self._reader):
            if timer is not None:
                timer.cancel()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._in_head:
            self._received += len(data)
            if self._deadline is None:  # a connection that was kept open
                self._wanted, self._renewed = HEAD_SECONDS, True
        super().data_received(data)
        if self._renewed and (self._wanted, self._deadline) != (None, None):  # most come whole: no timer
            self._wait(self._wanted)
        if self._in_head and self._received > HEAD_BYTES and not self.transport.is_closing():
            self._refuse_head()

    def on_message_begin(self) -> None:
        self._head = 0
        super().on_message_begin()
        self.scope["extensions"] = {CONNECTION: self._notes}  # type: ignore[dict-item]

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + 4)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head, self._received = False, 0
        self._wanted, self._renewed = BODY_SECONDS, True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head, self._wanted, self._renewed = True, None, True
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        if self._head > HEAD_BYTES:
            self._refuse_head()
        else:
            self._refuse(400, "BadRequest", msg)

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._reader is None:
            self._reader = self.loop.call_later(WRITE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None

    def _count(self, size: int) -> None:
        self._head += size
        if self._head > HEAD_BYTES:
            raise TooLarge  # the parser makes it an error of its own, see `send_400_response`

    def _wait(self, seconds: float | None) -> None:
        self._wanted, self._renewed = seconds, False
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._late, seconds)

    def _late(self, seconds: float) -> None:
        answering = self.cycle is not None and not self.cycle.response_complete
        if self._in_head and answering:  # the next one was not read on while this one was answered
            self._wait(seconds)
        elif answering and self.cycle.response_started:
            self.transport.abort()
        else:
            self._refuse(408, "RequestTimeout", f"the request was not complete after {seconds:g} s")

    def _refuse_head(self) -> None:
        said = f"the request line and headers must be at most {HEAD_BYTES} bytes"
        self._refuse(431, "RequestHeaderFieldsTooLarge", said)

    def _refuse(self, status: int, kind: str, detail: str) -> None:
        """Answer without the application, and hang up."""
        body = dumps({"error": kind, "detail": detail})
        kept = f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close"
        self.transport.write(f"HTTP/1.1 {status} {kind}\r\n{kept}\r\n\r\n".encode() + body)
        self.transport.close()
