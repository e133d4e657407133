"""Requests that arrive: one kept connection a thread, and another attempt where one does no harm.

An attempt may fail before the service has seen the request, or after it has carried it out; the client
cannot know. So only requests that may be repeated are: those that read, and those that carry a key under
which the service remembers what it did.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet

from windvane.client.address import Address
from windvane.client.problems import error_of
from windvane.errors import StorageFailure, Unavailable, WindvaneError

FIRST = 0.1  # seconds before the second attempt; twice as long before each further one
LONGEST = 10.0  # and no longer than this, whatever the service says
AGAIN = (429, 502, 503, 504)  # not now, but perhaps later
REFUSED = (429,)  # and nothing was done, which of the others is not certain
LARGEST = 64 * 2**20  # bytes of an answer
CHUNK = 2**16
BROKEN = (http.client.HTTPException, OSError)
Result = TypeVar("Result")


@dataclass(frozen=True)
class Request:
    """What is to be sent. `repeat`: may be sent again though it may have been carried out."""

    method: str
    path: str
    body: bytes | None = None
    key: str | None = None
    repeat: bool = True
    accept: str = "application/json"


class Later(Exception):
    """This attempt came to nothing."""

    def __init__(self, error: WindvaneError, *, wait: float | None = None, done: bool = True) -> None:
        super().__init__(str(error))
        self.error = error
        self.wait = wait  # seconds, as the service wishes
        self.done = done  # perhaps it was carried out all the same


class Kept:
    """A connection that ends with the thread, or the transport, that it belongs to."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self.connection = connection
        self.process = os.getpid()

    def __del__(self) -> None:
        self.connection.close()


class Transport:
    """Sends requests to one service; threads may share it."""

    def __init__(self, address: Address, token: str | None, timeout: float, retries: int) -> None:
        self.address = address
        self.timeout = timeout
        self.retries = retries
        self._token = token
        self._mine = threading.local()
        self._all: WeakSet[Kept] = WeakSet()
        self._lock = threading.Lock()

    def apart(self, timeout: float) -> Transport:
        """To the same service, with connections of its own and no retries."""
        return Transport(self.address, self._token, timeout, retries=0)

    def close(self) -> None:
        """Close the connections of all threads; the next request opens another."""
        with self._lock:
            everyone = list(self._all)
        for kept in everyone:
            kept.connection.close()

    def _drop(self) -> None:
        """Close the connection of this thread, whose state is not to be trusted."""
        self._mine.kept.connection.close()

    def json(self, request: Request) -> Any:
        """The value that the service answers with."""
        return self._persist(request, lambda: self._attempt(request))

    def save(self, request: Request, path: Path) -> None:
        """Write the body of the answer to a file."""
        self._persist(request, lambda: self._saved(request, path))

    def _persist(self, request: Request, attempt: Callable[[], Result]) -> Result:
        """Make attempts until one succeeds, or until it is enough."""
        attempts = 0
        while True:
            try:
                return attempt()
            except Later as failed:
                attempts += 1
                if attempts > self.retries or (failed.done and not request.repeat):
                    raise self._final(failed, request, attempts) from failed.__cause__
                time.sleep(pause(attempts, failed.wait))

    def _saved(self, request: Request, path: Path) -> None:
        with self.answer(request) as response:
            if response.length is None and not response.chunked:
                raise Unavailable(f"{self.address}: does not say where its answer ends; it may be cut")
            with written(path) as file:
                while part := response.read(CHUNK):
                    file(part)
            complete(response)

    def _attempt(self, request: Request) -> Any:
        with self.answer(request) as response:
            body = self._whole(response)
        if response.status == 204:
            return None
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise Later(self._broken("answered with something that is no JSON", error)) from error

    @contextmanager
    def answer(self, request: Request) -> Iterator[http.client.HTTPResponse]:
        """A good answer to one attempt, its body still to be read; `Later` if another attempt is worth it.

        The connection is kept if the body was read to its end, and closed otherwise.
        """
        connection = self._connection(fresh=not request.repeat)
        try:
            response = self._sent(connection, request)
            try:
                if response.status in AGAIN:
                    raise self._busy(response)
                if 300 <= response.status < 400:
                    raise self._elsewhere(response)
                if response.status >= 400:
                    raise error_of(response.status, self._whole(response), str(self.address))
                yield response
            except BROKEN as error:
                if isinstance(error, WindvaneError):
                    raise
                raise Later(self._broken("broke off its answer", error)) from error
            finally:
                if not response.isclosed() or response.will_close:
                    self._drop()
        except Later:
            self._drop()
            raise

    def _connection(self, *, fresh: bool) -> http.client.HTTPConnection:
        """The connection of this thread; a process that was forked needs its own."""
        kept: Kept | None = getattr(self._mine, "kept", None)
        if kept is None or fresh or kept.process != os.getpid():
            kept = self._mine.kept = Kept(self.address.connection(self.timeout))
            with self._lock:
                self._all.add(kept)
        return kept.connection

    def _sent(self, connection: http.client.HTTPConnection, request: Request) -> http.client.HTTPResponse:
        """The head of the answer. A kept connection that the service has closed meanwhile is opened again."""
        path, kept = f"{self.address.prefix}{request.path}", connection.sock is not None
        try:
            if not kept:
                connection.connect()
        except BROKEN as error:
            connection.close()
            raise Later(self._broken("cannot be reached", error), done=False) from error
        try:
            connection.request(request.method, path, body=request.body, headers=self.headers(request))
            return connection.getresponse()
        except BROKEN as error:
            connection.close()
            if not kept or isinstance(error, TimeoutError):
                raise Later(self._broken("gave no answer", error)) from error
        return self._sent(connection, request)

    def headers(self, request: Request) -> Mapping[str, str]:
        """Who is asking, under which key, and what for."""
        found = {"Accept": request.accept, "User-Agent": "windvane-client"}
        if request.body is not None:
            found["Content-Type"] = "application/json"
        if request.key is not None:
            found["Idempotency-Key"] = request.key
        if self._token is not None:
            found["Authorization"] = f"Bearer {self._token}"
        return found

    def _whole(self, response: http.client.HTTPResponse) -> bytes:
        """The body, if it is complete and of a size that an answer may have."""
        parts, size = [], 0
        while part := response.read(CHUNK):
            parts.append(part)
            size += len(part)
            if size > LARGEST:
                raise Unavailable(f"{self.address}: answered with more than {LARGEST >> 20} MB")
        complete(response)
        return b"".join(parts)

    def _busy(self, response: http.client.HTTPResponse) -> Later:
        wait = response.getheader("Retry-After", "")
        error = error_of(response.status, self._whole(response), str(self.address))
        seconds = float(wait) if wait.isascii() and wait.isdecimal() else None
        return Later(error, wait=seconds, done=response.status not in REFUSED)

    def _elsewhere(self, response: http.client.HTTPResponse) -> WindvaneError:
        """A redirect is not followed: it would take a token to somebody else."""
        place = response.getheader("Location", "an unknown place")[:200]
        return Unavailable(f"{self.address}: sends us to {place!r}; if you trust that, give it as the url")

    def _broken(self, what: str, error: BaseException) -> Unavailable:
        why = str(error) or type(error).__name__
        return Unavailable(f"{self.address}: {what}: {why[:200]}")

    def _final(self, failed: Later, request: Request, attempts: int) -> WindvaneError:
        if attempts > 1:
            failed.error.add_note(f"after {attempts} attempts")
        if failed.done and not request.repeat:
            failed.error.add_note("it may have been carried out all the same; look before you try again")
        if failed.done and request.key is not None:
            failed.error.add_note(
                f"it may have been carried out; key={request.key!r} makes another call harmless"
            )
        return failed.error


def pause(attempt: int, wanted: float | None = None) -> float:
    """Seconds before the next attempt: longer each time, never in step with other clients."""
    usual = FIRST * 2.0 ** (attempt - 1) * random.uniform(0.5, 1.5)
    return min(LONGEST, max(usual, wanted or 0.0))


def complete(response: http.client.HTTPResponse) -> None:
    """Complain about a body that ended too early, which `read` with a size does not."""
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)


@contextmanager
def written(path: Path) -> Iterator[Callable[[bytes], object]]:
    """A function that writes to a new file; what goes wrong there is not the connection's fault."""
    try:
        file = path.open("wb")
    except OSError as error:
        raise StorageFailure(f"{path}: cannot be made: {error.strerror or error}") from error

    def write(part: bytes) -> None:
        try:
            file.write(part)
            file.flush()  # so that closing has nothing left to fail at
        except OSError as error:
            raise StorageFailure(f"{path}: cannot be written: {error.strerror or error}") from error

    with file:
        yield write
