"""The processes of one service: each keeps studies of its own in memory, and is handed the requests for them.

Whichever process a connection comes to, it lets the request in and reads it. What needs the model of a study
is then carried out by the process that the study belongs to, by a hash of its name, so that no process has to
follow what another has computed. That is for speed alone: any process can carry out anything, as the journal
decides who may write, and where the other one cannot be reached the request is carried out here.

They meet in a folder that nobody else may enter: process i holds a lock on `i.lock` as long as it lives, and
listens at `i.sock`. A process that is started in place of another takes its number.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import struct
import sys
import zlib
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import astuple
from pathlib import Path
from typing import Any, NamedTuple

from windvane.service.access import Identity
from windvane.service.problems import Refused, retry_after

log = logging.getLogger("windvane.service")

Scope = MutableMapping[str, Any]
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
WRITES = {"ask", "tell", "fail", "reset", "retract", "correct", "space"}
READS = {"trials", "best", "predict", "surface", "explain"}
MODEL = frozenset(WRITES | READS)  # of /v1/studies/NAME/..., what needs the model, and so the study in memory
PASSED_ON = (b"content-type", b"idempotency-key")
KEPT = 16  # connections to another process that wait for the next request
CLOSING = 5.0  # seconds for what is being carried out for others at the end


class RelayedAnswer(NamedTuple):
    """The answer of another process, as it goes over the wire."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


CarryOut = Callable[[Scope, bytes], Awaitable[RelayedAnswer]]


def home(name: str, processes: int) -> int:
    """The number of the process that a study belongs to.

    >>> [home(f"study-{i}", 2) for i in range(6)]
    [0, 1, 0, 0, 1, 1]
    """
    mixed = zlib.crc32(name.encode("utf-8", "surrogatepass")) * 0x9E3779B1
    return (mixed >> 16) % processes


class Peers:
    """One process among several. Used from the event loop only."""

    def __init__(self, folder: str, processes: int) -> None:
        self._folder = Path(folder)
        self._processes = processes if folder and sys.platform != "win32" else 1
        self._own: int | None = None  # its number, if there is one for it
        self._held: int | None = None  # the file that is locked
        self._server: asyncio.AbstractServer | None = None
        self._kept: dict[int, list[Connection]] = {}
        self._callers: set[asyncio.StreamWriter] = set()  # connections of others to this one
        self._at_work: set[asyncio.Task[Any]] = set()
        self.carry_out: CarryOut | None = None  # what the application does with a request that was let in

    async def start(self) -> None:
        """Take a number that nobody has, and listen."""
        for number in range(self._processes if self._processes > 1 else 0):
            if await self._settle(number):
                return

    async def close(self) -> None:
        """Take no more requests of others, and end once those at hand are answered."""
        if self._server is not None:
            self._server.close()
        if self._at_work:
            await asyncio.wait(self._at_work, timeout=CLOSING)
            await asyncio.sleep(0)  # and their answers sent
        open_still = [*self._callers, *(writer for kept in self._kept.values() for _, writer in kept)]
        self._kept.clear()
        for writer in open_still:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for writer in open_still), return_exceptions=True)
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def elsewhere(self, method: str, path: str) -> int | None:
        """The number of the process that should carry out a request; None: this one."""
        if self._processes == 1:
            return None
        parts = path.split("/")
        at_a_glance = len(parts) == 4 and method == "GET"
        needs_model = len(parts) == 5 and parts[4] in MODEL
        if parts[:3] != ["", "v1", "studies"] or not (at_a_glance or needs_model):
            return None
        number = home(parts[3], self._processes)
        return None if number == self._own else number

    async def ask(self, number: int, scope: Scope, body: bytes) -> RelayedAnswer | None:
        """Have another process carry out a request; None if it should be carried out here.

        That is, if the other one is not there; or if it has gone before it answered, and it does no harm to
        carry the request out again. `Refused` if nobody knows whether it was.
        """
        connection = await self._connect(number)
        if connection is None:
            return None
        reader, writer = connection
        try:
            writer.writelines(_packed(_request(scope), body))
            await writer.drain()
            head, answer = await _unpacked(reader)
        except (OSError, EOFError):
            writer.close()
            if _repeatable(scope):
                return None
            raise Refused(
                503,
                "UncertainWrite",
                "the process that was to carry this out has ended: whether it did is not known. "
                "With an Idempotency-Key such a request is repeated by itself",
                retry_after(1),
            ) from None
        except BaseException:
            writer.close()
            raise
        kept = self._kept.setdefault(number, [])
        if len(kept) < KEPT:
            kept.append(connection)
        else:
            writer.close()
        return RelayedAnswer(head["status"], _as_bytes(head["headers"]), answer)

    async def _connect(self, number: int) -> Connection | None:
        kept = self._kept.get(number, [])
        while kept:
            reader, writer = kept.pop()
            if not reader.at_eof() and not writer.is_closing():
                return reader, writer
            writer.close()
        try:
            return await asyncio.open_unix_connection(str(self._folder / f"{number}.sock"))
        except OSError:
            if self._own is None:  # this process was started while another still had the number
                await self._settle(number)
            return None

    async def _settle(self, number: int) -> bool:
        """Take a number, unless a process that lives has it."""
        import fcntl  # not on Windows

        held = os.open(self._folder / f"{number}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        address = self._folder / f"{number}.sock"
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            address.unlink(missing_ok=True)
            self._server = await asyncio.start_unix_server(self._serve, str(address))
        except BlockingIOError:
            os.close(held)
            return False
        except OSError as error:  # such as a path that is too long for a socket
            os.close(held)
            log.warning("%s: %s; this process carries out what comes to it by itself", address, error)
            return False
        self._own, self._held = number, held
        return True

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Requests of one other process, one after another."""
        self._callers.add(writer)
        try:
            while True:
                head, body = await _unpacked(reader)
                task = asyncio.create_task(self._carried_out(_scope(head), body))
                self._at_work.add(task)
                task.add_done_callback(self._at_work.discard)
                found = await asyncio.shield(task)
                answer = {"status": found.status, "headers": _as_text(found.headers)}
                writer.writelines(_packed(answer, found.body))
                await writer.drain()
        except (OSError, EOFError):
            pass  # the other one has gone, or needs this connection no longer
        finally:
            self._callers.discard(writer)
            writer.close()

    async def _carried_out(self, scope: Scope, body: bytes) -> RelayedAnswer:
        assert self.carry_out is not None
        return await self.carry_out(scope, body)


def _repeatable(scope: Scope) -> bool:
    """Whether a request may be carried out twice: it reads, or has a key that gives it away."""
    reads = scope["method"] != "POST" or scope["path"].endswith("/predict")
    return reads or any(name == b"idempotency-key" for name, _ in scope["headers"])


def _as_text(headers: list[tuple[bytes, bytes]]) -> list[list[str]]:
    return [[part.decode("latin-1") for part in pair] for pair in headers]


def _as_bytes(headers: list[list[str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def _request(scope: Scope) -> dict[str, Any]:
    identity: Identity = scope["state"]["identity"]
    return {
        "method": scope["method"],
        "path": scope["path"],
        "query": scope["query_string"].decode("latin-1"),
        "headers": _as_text([each for each in scope["headers"] if each[0] in PASSED_ON]),
        "identity": astuple(identity),
    }


def _scope(head: dict[str, Any]) -> Scope:
    """The request as the application is handed it."""
    scopes, authentication, token = head["identity"]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "method": head["method"],
        "path": head["path"],
        "raw_path": head["path"].encode("utf-8", "surrogatepass"),
        "root_path": "",
        "query_string": head["query"].encode("latin-1"),
        "headers": _as_bytes(head["headers"]),
        "client": None,
        "server": None,
        "state": {"identity": Identity(tuple(scopes), authentication, token)},
    }


def _packed(head: dict[str, Any], body: bytes) -> tuple[bytes, bytes]:
    text = json.dumps(head).encode()
    return struct.pack(">II", len(text), len(body)) + text, body


async def _unpacked(reader: asyncio.StreamReader) -> tuple[dict[str, Any], bytes]:
    """The next message; an `EOFError` or an `OSError` if there is none."""
    sizes = struct.unpack(">II", await reader.readexactly(8))
    head = json.loads(await reader.readexactly(sizes[0]))
    return head, await reader.readexactly(sizes[1])
