"""Runs the service: one process, or several that share a socket."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import tempfile
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from windvane.service.app import create_app
from windvane.service.config import Config
from windvane.service.metrics import SHARED

CONFIG = "WINDVANE_SERVICE"  # the configuration as JSON, for the processes that --workers starts
GRACE = 5  # seconds for requests that are being answered when the service is told to stop


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


def run(config: Config, sock: socket.socket, *, workers: int = 1, log_level: str = "warning") -> None:
    """Serve until told to stop by SIGINT (Ctrl-C) or SIGTERM."""
    options: dict[str, Any] = {
        "log_level": log_level,
        "log_config": _logging(log_level),
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": GRACE,
        "lifespan": "on",
    }
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
    """Processes that each answer requests; in a folder they add up their figures for /metrics."""
    shared = tempfile.mkdtemp(prefix="windvane-metrics-")
    os.environ[CONFIG], os.environ[SHARED] = config.dumps(), shared
    try:
        app = "windvane.service.running:worker"
        Multiprocess(uvicorn.Config(app, factory=True, workers=workers, **options), sockets=[sock]).run()
    finally:
        shutil.rmtree(shared, ignore_errors=True)


def worker() -> Any:
    """The application of one of several processes, configured by the environment."""
    return create_app(Config.loads(os.environ[CONFIG]))


def _logging(level: str) -> dict[str, Any]:
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "loggers": {
            name: {"handlers": ["stderr"], "level": level.upper(), "propagate": False}
            for name in ("uvicorn", "windvane")
        },
    }
