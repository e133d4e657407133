"""Live streams of a study's records, as server-sent events.

A stream sleeps until somebody rings: a request of this process that wrote, or the watch, which looks at
the heads of the studies that are being streamed for what other processes wrote.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager

from windvane.errors import StorageFailure, UnknownName
from windvane.service.answers import dumps
from windvane.service.config import Config
from windvane.service.limits import PAGE
from windvane.service.problems import Refused, retry_after
from windvane.storage import Record

log = logging.getLogger("windvane.streams")

Fetch = Callable[[int, int], Awaitable[list[Record]]]  # (after, limit) -> records
GONE = (0, 0)  # deleted, which the stream will find out
Tokens = Callable[[], Awaitable[set[int]]]  # the numbers of those that are valid
Heads = Callable[[list[str]], Awaitable[dict[str, tuple[int, int]]]]


class Streams:
    """The streams that are open, and how they are woken. Used from the event loop only."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._bells: dict[str, set[asyncio.Event]] = {}
        self._heads: dict[str, tuple[int, int]] = {}
        self._tokens: dict[asyncio.Event, int | None] = {}  # who listens, by the number of the token
        self._checked = 0.0
        self.closing = False

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(len(bells) for bells in self._bells.values())

    def ring(self, name: str) -> None:
        """Something was written to a study."""
        for bell in self._bells.get(name, ()):
            bell.set()

    def close(self) -> None:
        """Wake all, to end."""
        self.closing = True
        for name in self._bells:
            self.ring(name)

    def admit(self) -> None:
        """`Refused` if there are as many as there may be."""
        if self.closing or self.count >= self._config.streams:
            raise Refused(
                429, "TooManyStreams", f"{self._config.streams} live streams are the most", retry_after(5)
            )

    @contextmanager
    def _listening(self, name: str, token: int | None) -> Iterator[asyncio.Event]:
        bell = asyncio.Event()
        self._bells.setdefault(name, set()).add(bell)
        self._tokens[bell] = token
        try:
            yield bell
        finally:
            self._tokens.pop(bell, None)
            self._bells[name].discard(bell)
            if not self._bells[name]:
                del self._bells[name]
                self._heads.pop(name, None)

    async def stream(
        self, name: str, after: int, fetch: Fetch, token: int | None = None
    ) -> AsyncIterator[bytes]:
        """The records after a number, then each new one as it comes.

        It ends with the study, with the service, and when the token is revoked by which it was begun.
        """
        with self._listening(name, token) as bell:
            yield b": the records of a study, as they are written\n\n"
            if self.count > self._config.streams:  # several came at once, and this is one too many
                return
            while not self.closing:
                bell.clear()
                if bell not in self._tokens:
                    yield b": the token was revoked\n\n"
                    return
                try:
                    records = await fetch(after, PAGE)
                except UnknownName:
                    yield b": the study was deleted\n\n"
                    return
                except StorageFailure:
                    records = []  # the watch has said so in the log; this stream tries again
                for record in records:
                    yield message(record)
                if records:
                    after = records[-1].seq
                if len(records) == PAGE:
                    continue
                try:
                    await asyncio.wait_for(bell.wait(), self._config.heartbeat)
                except TimeoutError:
                    yield b": still here\n\n"

    async def watch(self, heads: Heads, tokens: Tokens) -> None:
        """Ring for what other processes wrote, and end streams of revoked tokens, until cancelled."""
        while True:
            await asyncio.sleep(self._config.poll)
            names = list(self._bells)
            if not names:
                continue
            try:
                found = await heads(names)
                if time.monotonic() - self._checked >= self._config.remember:
                    self._checked = time.monotonic()
                    self._end_revoked(await tokens())
            except StorageFailure as error:
                log.error("streams wait: %s", error)
                continue
            except Exception:
                log.exception("streams wait")
                continue
            for name in names:
                head = found.get(name, GONE)
                if self._heads.get(name) != head:
                    self._heads[name] = head
                    self.ring(name)

    def _end_revoked(self, valid: set[int]) -> None:
        """End the streams of tokens that are no more; where there are tokens, also those that had none."""
        for bell, token in list(self._tokens.items()):
            if token not in valid if token is not None else valid:
                del self._tokens[bell]
                bell.set()


def message(record: Record) -> bytes:
    """A record as a server-sent event. JSON has no line breaks, so it is one line of data."""
    return f"id: {record.seq}\nevent: {record.kind}\ndata: ".encode() + dumps(record.as_dict()) + b"\n\n"
