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
import logging
import os
import sys
import zlib
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, NamedTuple

from windvane.service.access import Identity
from windvane.service.problems import Refused, retry_after
from windvane.service.wire import Callee, Caller

log = logging.getLogger("windvane.service")

Scope = MutableMapping[str, Any]
WRITES = {"ask", "tell", "fail", "reset", "retract", "correct", "space"}
READS = {"trials", "best", "predict", "surface", "explain"}
MODEL = frozenset(WRITES | READS)  # of /v1/studies/NAME/..., what needs the model, and so the study in memory
PASSED_ON = (b"content-type", b"idempotency-key")
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
        self._others: dict[int, Caller] = {}  # the connection to each
        self._connecting = asyncio.Lock()
        self._callers: set[Callee] = set()  # connections of others to this one
        self._at_work: set[asyncio.Task[None]] = set()
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
        open_still = [*self._callers, *self._others.values()]
        self._others.clear()
        for each in open_still:
            each.close()
        if open_still:
            await asyncio.wait(
                [asyncio.create_task(each.gone.wait()) for each in open_still], timeout=CLOSING
            )
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
        caller = await self._caller(number)
        if caller is None:
            return None
        try:
            (status, headers), answer = await caller.ask(_request(scope), body)
        except EOFError:
            if _repeatable(scope):
                return None
            raise Refused(
                503,
                "UncertainWrite",
                "the process that was to carry this out has ended: whether it did is not known. "
                "With an Idempotency-Key such a request is repeated by itself",
                retry_after(1),
            ) from None
        return RelayedAnswer(status, headers, answer)

    async def _caller(self, number: int) -> Caller | None:
        """The connection to another process, if it is there."""
        found = self._others.get(number)
        if found is not None and found.open:
            return found
        async with self._connecting:
            found = self._others.get(number)
            if found is not None and found.open:  # somebody else was faster
                return found
            loop, address = asyncio.get_running_loop(), str(self._folder / f"{number}.sock")
            try:
                _, found = await loop.create_unix_connection(Caller, address)
            except OSError:
                if self._own is None:  # this process was started while another still had the number
                    await self._settle(number)
                return None
            self._others[number] = found
            return found

    async def _settle(self, number: int) -> bool:
        """Take a number, unless a process that lives has it."""
        import fcntl  # not on Windows

        held = os.open(self._folder / f"{number}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        address = self._folder / f"{number}.sock"
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            address.unlink(missing_ok=True)
            loop = asyncio.get_running_loop()
            self._server = await loop.create_unix_server(self._callee, str(address))
        except BlockingIOError:
            os.close(held)
            return False
        except OSError as error:  # such as a path that is too long for a socket
            os.close(held)
            log.warning("%s: %s; this process carries out what comes to it by itself", address, error)
            return False
        self._own, self._held = number, held
        return True

    def _callee(self) -> Callee:
        """The end of a connection that another process has made."""
        return Callee(self._begin, self._callers.add, self._callers.discard)

    def _begin(self, callee: Callee, number: int, head: Any, body: bytes) -> None:
        task = asyncio.create_task(self._answer(callee, number, head, body))
        self._at_work.add(task)
        task.add_done_callback(self._at_work.discard)

    async def _answer(self, callee: Callee, number: int, head: Any, body: bytes) -> None:
        assert self.carry_out is not None
        try:
            status, headers, answer = await self.carry_out(_scope(head), body)
        except BaseException as error:  # there will be no answer, and who asked is to know
            callee.close()
            if not isinstance(error, OSError):
                raise
        else:
            callee.send(number, (int(status), headers), answer)


def _repeatable(scope: Scope) -> bool:
    """Whether a request may be carried out twice: it reads, or has a key that gives it away."""
    reads = scope["method"] != "POST" or scope["path"].endswith("/predict")
    return reads or any(name == b"idempotency-key" for name, _ in scope["headers"])


def _request(scope: Scope) -> tuple[Any, ...]:
    identity: Identity = scope["state"]["identity"]
    return (
        scope["method"],
        scope["path"],
        scope["query_string"],
        [each for each in scope["headers"] if each[0] in PASSED_ON],
        (identity.scopes, identity.authentication, identity.token),
    )


def _scope(head: tuple[Any, ...]) -> Scope:
    """The request as the application is handed it."""
    method, path, query, headers, identity = head
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode("utf-8", "surrogatepass"),
        "root_path": "",
        "query_string": query,
        "headers": headers,
        "client": None,
        "server": None,
        "state": {"identity": Identity(*identity)},
    }
