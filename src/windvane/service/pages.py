"""The page and its files: a fixed list, read when the service starts. No path comes from a request."""

from __future__ import annotations

import gzip
import hashlib
import threading
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import Response

from windvane.errors import MissingExtra
from windvane.service.core import service_of
from windvane.service.problems import Refused

FOLDER = Path(__file__).parent / "dashboard"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
SITE = FOLDER.parents[3] / "out" / "site"  # the documentation, where `make docs` has built it in a checkout
SITE_TYPES = {**TYPES, ".png": "image/png", ".json": "application/json", ".txt": "text/plain; charset=utf-8"}
DOCUMENTATION = "/static/docs/"
PLOTLY = "plotly.min.js"
SCRIPTS = ("app.js", "theme.js", PLOTLY)  # that the page itself names, or loads when it needs them
FRESH = "no-cache"  # asked for again each time, answered with 304 unless Windvane was upgraded
WEEK = "public, max-age=604800"


@dataclass(frozen=True)
class File:
    """A file of the page; read and compressed once."""

    path: Path
    caching: str

    @cached_property
    def plain(self) -> bytes:
        """Its bytes."""
        return self.path.read_bytes()

    @cached_property
    def small(self) -> bytes:
        """Its bytes, compressed."""
        return gzip.compress(self.plain, 6, mtime=0)

    @cached_property
    def tag(self) -> str:
        """Changes with the content."""
        return f'"{hashlib.sha256(self.plain).hexdigest()[:32]}"'

    def answer(self, request: Request) -> Response:
        """The response, as the browser can take it."""
        headers = {"ETag": self.tag, "Cache-Control": self.caching, "Vary": "Accept-Encoding"}
        if self.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        kind = SITE_TYPES[self.path.suffix]
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(self.plain, media_type=kind, headers=headers)
        return Response(self.small, media_type=kind, headers={**headers, "Content-Encoding": "gzip"})


def files() -> dict[str, File]:
    """Everything that is served under /static/, by name."""
    found = {path.name: File(path, FRESH) for path in sorted(FOLDER.glob("*")) if path.suffix in TYPES}
    found[PLOTLY] = File(_plotly(), WEEK)
    return found


def documentation() -> dict[str, File]:
    """The pages of the documentation by name, if the site has been built; an index also by its folder."""
    found: dict[str, File] = {}
    for path in sorted(SITE.rglob("*")) if (SITE / "index.html").is_file() else ():
        if path.suffix in SITE_TYPES and path.is_file():
            name, file = path.relative_to(SITE).as_posix(), File(path, FRESH)
            found[name] = file
            if path.name == "index.html":
                found[name.removesuffix("index.html")] = file
    return found


@dataclass(frozen=True)
class Index(File):
    """The page itself, which is told its modules, to have them at once, and where the documentation is."""

    modules: tuple[str, ...]
    site: str | None

    @cached_property
    def plain(self) -> bytes:
        """Its bytes."""
        told = [f'<link rel="modulepreload" href="/static/{name}">' for name in self.modules]
        told += [f'<meta name="documentation" content="{self.site}">'] if self.site else []
        last = '<script type="module"'
        text = self.path.read_text(encoding="utf-8")
        return text.replace(last, "\n    ".join([*told, last]), 1).encode()


def _plotly() -> Path:
    """The chart library, from the installed package; importing that would take a second."""
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise MissingExtra("this needs plotly: pip install 'windvane[service]'")
    return Path(spec.origin).parent / "package_data" / PLOTLY


def pages() -> APIRouter:
    """The routes of the page; not part of the OpenAPI document."""
    routes = APIRouter(include_in_schema=False)
    served, site = files(), documentation()
    if "index.html" in served:
        modules = tuple(name for name in served if name.endswith(".js") and name not in SCRIPTS)
        served["index.html"] = Index(FOLDER / "index.html", FRESH, modules, DOCUMENTATION if site else None)
    reading = {name: threading.Lock() for name in served}

    def page_file(name: str, request: Request) -> Response:
        with reading[name]:  # compressing the chart library takes a while; once is enough
            return served[name].answer(request)

    @routes.get("/")
    @routes.get("/studies/{rest:path}")
    async def page(request: Request) -> Response:
        if "index.html" not in served:
            raise Refused(404, "NotFound", "this installation has no page; the API is at /v1")
        return await service_of(request).call(page_file, "index.html", request)

    @routes.get("/favicon.ico")
    async def icon() -> Response:
        return Response(status_code=204)

    @routes.get(DOCUMENTATION + "{name:path}")
    async def documented(request: Request, name: str) -> Response:
        if name not in site:
            raise Refused(404, "NotFound", "there is no such page; make docs builds the documentation")
        return await service_of(request).call(site[name].answer, request)

    @routes.get("/static/{name}")
    async def static(request: Request, name: str) -> Response:
        if name not in served:
            raise Refused(404, "NotFound", "there is no such file")
        return await service_of(request).call(page_file, name, request)

    return routes
