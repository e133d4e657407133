"""`windvane serve`: studies over HTTP, with a page to watch them."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from importlib.util import find_spec

from windvane.checks import integer
from windvane.cli import terminal
from windvane.cli.place import add_database
from windvane.cli.verbs import VerbParser
from windvane.extras import require

EXTRA = "service"
LEVELS = ("critical", "error", "warning", "info", "debug")

DESCRIPTION = """\
Serves the studies of a database over HTTP: ask and tell from any language, a live page, Prometheus metrics,
webhooks on resets. Without tokens only this machine is let in. Needs windvane[service]."""

EPILOG = """\
examples:
  windvane serve --demo                          a page with live demo studies, at http://127.0.0.1:8000
  windvane serve --db postgresql://ada@db/plant --workers 2
  windvane token add dashboard --read-only       then `windvane serve --host 0.0.0.0`, behind a proxy with TLS

Reference: docs/how-to/service.md."""


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    verb.described(DESCRIPTION, EPILOG)
    shown = "default: %(default)s"
    add_database(verb)
    verb.add_argument("--host", default="127.0.0.1", help=f"address to listen at; {shown}, this machine only")
    verb.add_argument("--port", type=int, default=8000, help=f"0 takes any that is free; {shown}")
    verb.add_argument("--workers", type=int, default=1, metavar="N", help=f"processes; {shown}")
    verb.add_argument(
        "--demo",
        action="store_true",
        help="run a study 'demo' on a drifting objective, and 'demo-oven' with a constraint",
    )
    verb.add_argument(
        "--behind-proxy",
        action="store_true",
        help="count requests by what X-Forwarded-For says last; every request then needs a token",
    )
    verb.add_argument(
        "--log-format", choices=("text", "json"), default="text", help=f"lines of the log; {shown}"
    )
    verb.add_argument(
        "--rate",
        type=float,
        default=2000.0,
        metavar="N",
        help=f"requests per second for each caller; {shown}",
    )
    verb.add_argument("--log-level", default="warning", choices=LEVELS, help=shown)
    verb.set_defaults(run=run)


def run(given: argparse.Namespace) -> None:
    """Check everything that can be checked first, then serve until told to stop."""
    require("uvicorn", EXTRA)
    require("fastapi", EXTRA)
    service, running = require("windvane.service", EXTRA), require("windvane.service.running", EXTRA)
    workers = integer("--workers", given.workers, at_least=1, at_most=64)
    config = service.Config(
        database=given.db,
        host=given.host,
        port=given.port,
        rate=given.rate,
        burst=max(1.0, 2.0 * given.rate),
        behind_proxy=given.behind_proxy,
    )
    with require("windvane.storage", EXTRA).Database(config.database, create=True) as database:
        require("windvane.service.access", EXTRA).refuse_open_doors(config, database)
        kind, tokens = database.kind, len(database.tokens.list())
    with ExitStack() as stack:
        sock = stack.enter_context(running.listening(config))
        if given.demo:
            stack.enter_context(require("windvane.service.demo", EXTRA).Demo(config.database))
        _announce(given, sock.getsockname()[1], kind, tokens, workers)
        running.run(config, sock, workers=workers, log_level=given.log_level, log_format=given.log_format)


def _announce(given: argparse.Namespace, port: int, kind: str, tokens: int, workers: int) -> None:
    host = f"[{given.host}]" if ":" in given.host else given.host
    where = f"http://{host}:{port}"
    page = f"{where}/studies/demo" if given.demo else where
    guard = f"{tokens} token{'s' * (tokens != 1)}" if tokens else "no tokens, so open to this machine only"
    lines = [f"Windvane is at {page}", f"Studies in {given.db} ({guard}). Ctrl-C stops it."]
    if workers > 1 and kind == "sqlite":
        lines.append(
            f"{workers} processes share one SQLite file: they compute side by side and take turns writing."
        )
    if find_spec("rich") is None:
        print("\n".join(lines), flush=True)
        return
    console = terminal.console(extra=EXTRA)
    console.print(f"Windvane is at [bold]{page}[/bold]", soft_wrap=True, highlight=False)
    for line in lines[1:]:
        console.print(line, style="dim", soft_wrap=True, markup=False, highlight=False)
