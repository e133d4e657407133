"""Whether the service is alive, and whether it is ready: told apart, since a restart helps only the first."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from windvane.errors import StorageFailure
from windvane.service.pool import DaemonPool

STUCK = 120.0  # seconds that a step may take; the database gives up after 30
PATIENCE = 2.0  # seconds that the database has to answer


class Health:
    """What is known of the threads at work, with a thread of its own to look at the database."""

    def __init__(self, ping: Callable[[], None]) -> None:
        self._ping = ping
        self._pool = DaemonPool(1, "windvane-health")
        self._asked: Future[None] | None = None
        self._steps: dict[object, float] = {}  # those under way, and since when
        self.sender_alive: Callable[[], bool] | None = None  # once webhooks are sent

    @contextmanager
    def step(self) -> Iterator[None]:
        """Around a step that is expected to end soon."""
        mark = object()
        self._steps[mark] = time.monotonic()
        try:
            yield
        finally:
            del self._steps[mark]

    def alive(self) -> dict[str, Any]:
        """What a restart would mend: a step that does not end, a sender of webhooks that has died."""
        oldest = min(self._steps.values(), default=None)
        stuck = oldest is not None and time.monotonic() - oldest > STUCK
        sender = "off" if self.sender_alive is None else "ok" if self.sender_alive() else "dead"
        status = "failing" if stuck or sender == "dead" else "ok"
        return {"status": status, "writer": "stuck" if stuck else "ok", "webhooks": sender}

    async def database(self) -> str:
        """Whether the database answers, "ok" or "failing". However many ask, it is asked once at a time."""
        if self._asked is None or self._asked.done():
            self._asked = self._pool.submit(self._ping)
        try:
            await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(self._asked)), PATIENCE)
        except (StorageFailure, TimeoutError):
            return "failing"
        return "ok"

    def close(self) -> None:
        """Let the thread go."""
        self._pool.shutdown(wait=False, cancel_futures=True)
