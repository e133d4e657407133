"""The way of every request: counted, let in or not, its body read within the limit, its answer made safe."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers

from windvane.errors import StorageFailure
from windvane.service.access import PUBLIC, Door
from windvane.service.core import Service
from windvane.service.lane import Lane
from windvane.service.peers import RelayedAnswer
from windvane.service.problems import Refused, problem, retry_after, unforeseen

log = logging.getLogger("windvane.service")

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (  # Plotly writes styles into its elements, hence unsafe-inline for these
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
SAFE = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
]
PRIVATE = (b"cache-control", b"no-store")


class Gate:
    """Around the whole application."""

    def __init__(self, app: App, service: Service, lane: Lane) -> None:
        self._app = app
        self._service = service
        self._lane = lane
        self._inside = 0  # requests that are being answered, beside streams
        self._door = Door(service.config, service.database, service.call)
        self._whole: Any = None  # the application that this is around
        service.peers.carry_out = self._carried_out

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            self._whole = scope["app"]
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # a WebSocket: there are none here
            await send({"type": "websocket.close", "code": 1003})
            return
        begun, status, here = time.perf_counter(), 500, True

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = safe(message.get("headers", []))
            await send(message)

        counted = counts(scope["path"])
        self._inside += counted
        try:
            try:
                if counted and self._inside > self._service.config.requests:
                    raise busy(self._service.config.requests)
                body = await self._admitted(scope, receive)
                found = await self._elsewhere(scope, body or b"")
            except Refused as refusal:
                await refusal.answer()(scope, receive, answer)
                return
            except StorageFailure as error:
                log.error("%s", error)  # where the database is, is not for somebody who is not known yet
                said = "the database cannot be reached now; the log of the service says why"
                await problem(503, "StorageFailure", said, retry_after(1))(scope, receive, answer)
                return
            if found is not None:
                here = False
                await answer(
                    {"type": "http.response.start", "status": found.status, "headers": found.headers}
                )
                await answer({"type": "http.response.body", "body": found.body})
                return
            replay = receive if body is None else replayed(body, receive)
            await (self._lane.find(scope) or self._app)(scope, replay, answer)
        finally:
            self._inside -= counted
            if here:
                self._count(scope, status, time.perf_counter() - begun)

    async def _elsewhere(self, scope: Scope, body: bytes) -> RelayedAnswer | None:
        """The answer of the process that the study belongs to, if that is another one and it is there."""
        peers = self._service.peers
        number = peers.elsewhere(scope["method"], scope["path"])
        if number is None:
            return None
        found = await peers.ask(number, scope, body)
        if found is not None and scope["method"] == "POST":
            self._service.streams.ring(scope["path"].split("/")[3])
        return found

    async def _carried_out(self, scope: Scope, body: bytes) -> RelayedAnswer:
        """The answer to a request that another process has let in."""
        begun, messages = time.perf_counter(), list[Message]()
        scope["app"] = self._whole

        async def keep(message: Message) -> None:
            messages.append(message)

        async def receive() -> Message:
            return {"type": "http.disconnect"}

        try:
            await (self._lane.find(scope) or self._app)(scope, replayed(body, receive), keep)
        except Exception as error:
            messages.clear()
            await unforeseen(scope["method"], scope["path"], error)(scope, receive, keep)
        start, *parts = messages
        self._count(scope, start["status"], time.perf_counter() - begun)
        return RelayedAnswer(
            start["status"], list(start["headers"]), b"".join(part.get("body", b"") for part in parts)
        )

    async def _admitted(self, scope: Scope, receive: Receive) -> bytes | None:
        """Let the request in, and read its body, if it may have one; or `Refused`."""
        headers = Headers(scope=scope)
        identity = await self._door.enter(scope, headers)
        scope.setdefault("state", {})["identity"] = identity
        if scope["method"] in ("GET", "HEAD", "OPTIONS"):
            return None
        return await self._body(headers, receive)

    async def _body(self, headers: Headers, receive: Receive) -> bytes:
        limit = self._service.config.body_limit
        length = headers.get("content-length", "0")
        too_large = Refused(
            413, "ContentTooLarge", f"the body must be at most {limit} bytes", {"Connection": "close"}
        )
        if not length.isdecimal() or len(length) > 18 or int(length) > limit:
            raise too_large
        parts, size = [], 0
        while True:  # counted as it comes: a chunked body does not say its length
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Refused(400, "BadRequest", "the body was cut off")
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > limit:
                raise too_large
            if not message.get("more_body", False):
                break
        body = b"".join(parts)
        if body and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(
                415, "UnsupportedMediaType", "send JSON, with the header Content-Type: application/json"
            )
        return body

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unmatched")
        metrics = self._service.metrics
        metrics.requests.labels(route, known_method(scope["method"]), str(status)).inc()
        if not route.endswith("/stream"):  # which lasts as long as somebody looks
            metrics.latency.labels(route).observe(seconds)


def counts(path: str) -> bool:
    """Whether a request counts among those that are answered at once: not if it lasts, or asks for health."""
    return path not in PUBLIC and not path.endswith("/stream")


def busy(most: int) -> Refused:
    """The refusal of one request too many."""
    return Refused(503, "Busy", f"{most} requests are being answered, which are the most", retry_after(1))


def replayed(body: bytes, receive: Receive) -> Receive:
    """A receive that gives the body at once, and then what comes after it."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def safe(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """With the headers that keep a browser from being talked into anything."""
    cached = any(name.lower() == PRIVATE[0] for name, _ in headers)
    return [*headers, *SAFE] if cached else [*headers, *SAFE, PRIVATE]


def known_method(method: str) -> str:
    """The method, unless it was made up: labels must not grow with what strangers send."""
    return method if method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS") else "OTHER"
