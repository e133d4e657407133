"""The application: routes, errors, and what runs beside the requests."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from types import FrameType
from typing import Any

from fastapi import FastAPI

import windvane
from windvane.service import problems
from windvane.service.access import refuse_open_doors
from windvane.service.config import Config
from windvane.service.core import Service
from windvane.service.gate import Gate
from windvane.service.lane import Lane
from windvane.service.pages import pages
from windvane.service.routes import general, journal, model, studies, trials, wheel
from windvane.service.sender import Sender

DESCRIPTION = """\
Studies that live: ask for a point, tell its value, and hear about it when the objective has changed.
Send `Authorization: Bearer wv_...` if the service uses tokens. Errors have a `detail` in words."""


def create_app(config: Config) -> FastAPI:
    """The service as an ASGI application. The database is opened, or made, right away."""
    service = Service(config)
    try:
        refuse_open_doors(config, service.database)
    except BaseException:
        service.close()
        raise

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        sender = Sender(service.database, service.metrics) if config.webhooks else None
        watch = asyncio.create_task(service.streams.watch(*service.watched))
        await service.peers.start()
        with _told_to_stop(service):
            if sender is not None:
                sender.start()
                service.wake_sender, service.health.sender_alive = sender.wake, lambda: sender.alive
            yield
        service.streams.close()
        watch.cancel()
        with suppress(asyncio.CancelledError):
            await watch
        await service.peers.close()
        if sender is not None:
            await asyncio.to_thread(sender.stop, config.closing)
        await asyncio.to_thread(service.close, config.closing)

    app = FastAPI(
        title="Windvane",
        version=windvane.__version__,
        description=DESCRIPTION,
        docs_url=None,  # those pages would load their scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=running,
    )
    app.state.service = service
    problems.install(app)
    for part in (
        trials.routes,
        wheel.routes,
        studies.routes,
        trials.waiting,
        journal.routes,
        model.routes,
        general.routes,
    ):
        app.include_router(part)  # those that are called most first
    app.include_router(pages())
    app.add_middleware(Gate, service=service, lane=Lane(trials.routes))
    return app


@contextmanager
def _told_to_stop(service: Service) -> Iterator[None]:
    """End the streams as soon as the process is told to stop: the server waits for them before anything else.

    The server's own signal handlers are called as before.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def handler(number: int, frame: FrameType | None) -> Any:
        loop.call_soon_threadsafe(service.streams.close)
        previous = before[signal.Signals(number)]
        return previous(number, frame) if callable(previous) else None

    ours = [number for number, previous in before.items() if callable(previous)]
    for number in ours:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])
