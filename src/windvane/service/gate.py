"""The way of every request: counted, let in or not, its body read within the limit, its answer made safe."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers

from windvane.errors import StorageFailure
from windvane.service.access import Door
from windvane.service.core import Service
from windvane.service.lane import Lane
from windvane.service.problems import Refused, problem, retry_after

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
    (
        b"content-security-policy",
        POLICY.encode(),
    ),  # Plotly writes styles into its elements, hence unsafe-inline
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
        self._door = Door(service.config, service.database, service.call)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # a WebSocket: there are none here
            await send({"type": "websocket.close", "code": 1003})
            return
        begun, status = time.perf_counter(), 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = safe(message.get("headers", []))
            await send(message)

        try:
            try:
                replay = await self._admitted(scope, receive)
            except Refused as refusal:
                await refusal.answer()(scope, receive, answer)
                return
            except StorageFailure as error:
                await problem(503, "StorageFailure", str(error), retry_after(1))(scope, receive, answer)
                return
            await (self._lane.find(scope) or self._app)(scope, replay, answer)
        finally:
            self._count(scope, status, time.perf_counter() - begun)

    async def _admitted(self, scope: Scope, receive: Receive) -> Receive:
        """Let the request in, with its body read; or `Refused`."""
        headers = Headers(scope=scope)
        client = scope["client"][0] if scope.get("client") else None
        identity = await self._door.enter(scope["method"], scope["path"], headers, client)
        scope.setdefault("state", {})["identity"] = identity
        if scope["method"] in ("GET", "HEAD", "OPTIONS"):
            return receive
        return replayed(await self._body(headers, receive), receive)

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
