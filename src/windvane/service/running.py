"""Runs the service: one process, or several that share a socket."""

from __future__ import annotations

import inspect
import os
import shutil
import signal
import socket
import tempfile
from dataclasses import replace
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from windvane.service.app import create_app
from windvane.service.config import Config
from windvane.service.logs import JsonLines
from windvane.service.metrics import SHARED
from windvane.service.protocol import GuardedProtocol

CONFIG = "WINDVANE_SERVICE"  # the configuration as JSON, for the processes that --workers starts
GRACE = 4  # seconds for requests that are being answered when the service is told to stop, then `closing`
PATIENCE = 60  # seconds in which a process must say that it is there, or another is started in its place
SERVER: dict[str, Any] = {  # how uvicorn is set up
    "http": GuardedProtocol,
    "ws": "none",
    "access_log": False,
    "server_header": False,
    "proxy_headers": False,
    "timeout_keep_alive": 5,
    "timeout_graceful_shutdown": GRACE,
    "lifespan": "on",
}


def listening(config: Config) -> socket.socket:
    """The socket, bound now, so that a port that is taken is known before anything starts."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    try:
        return socket.create_server((config.host, config.port), family=family, backlog=1024)
    except OSError as error:
        raise OSError(
            error.errno,
            f"{config.host} port {config.port}: {os.strerror(error.errno or 0)}; --port chooses another",
        ) from error


def run(
    config: Config,
    sock: socket.socket,
    *,
    workers: int = 1,
    log_level: str = "warning",
    log_format: str = "text",
) -> None:
    """Serve until told to stop by SIGINT (Ctrl-C) or SIGTERM; the log is lines of "text" or "json"."""
    options = {**SERVER, "log_level": log_level, "log_config": _logging(log_level, log_format)}
    signal.signal(signal.SIGTERM, _stop)  # the server puts this back before it passes the signal on
    try:
        if workers == 1:
            uvicorn.Server(uvicorn.Config(create_app(config), **options)).run(sockets=[sock])
        else:
            _several(config, sock, workers, options)
    except KeyboardInterrupt:
        pass  # the usual way to end it
    finally:
        sock.close()


def _stop(*_: Any) -> None:
    raise KeyboardInterrupt


def _several(config: Config, sock: socket.socket, workers: int, options: dict[str, Any]) -> None:
    """Processes that each answer requests; in a folder they meet, and add up their figures for /metrics."""
    shared = tempfile.mkdtemp(prefix="windvane-")
    told = replace(config, workers=workers, folder=shared)
    os.environ[CONFIG], os.environ[SHARED] = told.dumps(), shared
    try:
        app = "windvane.service.running:worker"
        settings = uvicorn.Config(app, factory=True, workers=workers, **options, **_patience())
        _supervisor(settings, sock).run()
    finally:
        shutil.rmtree(shared, ignore_errors=True)


def _patience() -> dict[str, Any]:
    """More than the five seconds of old uvicorns: on a busy machine a process takes longer to start."""
    name = "timeout_worker_healthcheck"
    return {name: PATIENCE} if name in inspect.signature(uvicorn.Config).parameters else {}


def _supervisor(settings: uvicorn.Config, sock: socket.socket) -> Any:
    """uvicorn's; older ones want to be told what the processes are to run."""
    kind: Any = Multiprocess
    older = "target" in inspect.signature(kind).parameters
    more = {"target": uvicorn.Server(settings).run} if older else {}
    return kind(settings, sockets=[sock], **more)


def worker() -> Any:
    """The application of one of several processes, configured by the environment."""
    return create_app(Config.loads(os.environ[CONFIG]))


def _logging(level: str, style: str) -> dict[str, Any]:
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "text": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
            "json": {"()": JsonLines},
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": style}},
        "loggers": {
            name: {"handlers": ["stderr"], "level": level.upper(), "propagate": False}
            for name in ("uvicorn", "windvane")
        },
    }
