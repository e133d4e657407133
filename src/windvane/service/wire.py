"""Messages between the processes of one service, over connections that any number of requests share.

A message is a number, which its answer has as well, a head and a body. Heads are plain values as `marshal`
writes them, ten times as fast as JSON: at both ends there is the same program, and nobody else may enter the
folder where they meet. Streams of asyncio would wake three times per message, and a connection of its own per
request would have to be taken, waited for and put back.
"""

from __future__ import annotations

import asyncio
import marshal
import struct
from collections.abc import Callable
from typing import Any, cast

SIZES = struct.Struct(">QII")  # number, bytes of the head, bytes of the body


class Wire(asyncio.Protocol):
    """One end of a connection. `received` is called with number, head and body of each message."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self.gone = asyncio.Event()

    @property
    def open(self) -> bool:
        """Whether messages can be sent."""
        return self._transport is not None and not self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._transport = None
        self.gone.set()

    def data_received(self, data: bytes) -> None:
        """Messages may come in pieces, or several at once."""
        self._buffer += data
        start, end = 0, len(self._buffer)
        while end - start >= SIZES.size:
            number, head, body = SIZES.unpack_from(self._buffer, start)
            middle = start + SIZES.size + head
            if end < middle + body:
                break
            with memoryview(self._buffer) as view:
                told = marshal.loads(view[start + SIZES.size : middle])
                text = bytes(view[middle : middle + body])
            start = middle + body
            self.received(number, told, text)
        del self._buffer[:start]

    def received(self, number: int, head: Any, body: bytes) -> None:
        """What to do with a message."""
        raise NotImplementedError

    def send(self, number: int, head: Any, body: bytes) -> None:
        """Send a message, if anybody is there still."""
        if self._transport is not None:
            text = marshal.dumps(head)
            self._transport.write(b"".join((SIZES.pack(number, len(text), len(body)), text, body)))

    def close(self) -> None:
        """Hang up, once everything is sent."""
        if self._transport is not None:
            self._transport.close()


class Caller(Wire):
    """The end that asks."""

    def __init__(self) -> None:
        super().__init__()
        self._asked = 0
        self._waiting: dict[int, asyncio.Future[tuple[Any, bytes]]] = {}

    async def ask(self, head: Any, body: bytes) -> tuple[Any, bytes]:
        """The answer, head and body; an `EOFError` if the other end has gone before it gave one."""
        if not self.open:
            raise EOFError
        self._asked += 1
        number = self._asked
        answer: asyncio.Future[tuple[Any, bytes]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            self.send(number, head, body)
            return await answer
        finally:
            del self._waiting[number]

    def received(self, number: int, head: Any, body: bytes) -> None:
        answer = self._waiting.get(number)  # none: nobody waits any longer
        if answer is not None and not answer.done():
            answer.set_result((head, body))

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(EOFError())


class Callee(Wire):
    """The end that answers. `came` and `went` are told when it begins and when it is over."""

    def __init__(
        self,
        work: Callable[[Callee, int, Any, bytes], None],
        came: Callable[[Callee], None],
        went: Callable[[Callee], None],
    ) -> None:
        super().__init__()
        self._work, self._came, self._went = work, came, went

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._came(self)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._went(self)

    def received(self, number: int, head: Any, body: bytes) -> None:
        self._work(self, number, head, body)
