"""A real service in a process of its own, and a real browser that may talk to nobody else."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any
from urllib.parse import quote

import pytest

CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZES = {
    "phone": {"width": 390, "height": 740},
    "small": {"width": 360, "height": 740},
    "desktop": {"width": 1440, "height": 900},
}
PATIENCE = 60  # seconds; the machine may be busy
KNOWN = {"kernel": {"type": "RBF", "lengthscale": [0.2]}, "noise_variance": 0.01}


@dataclass
class Service:
    """A running service, spoken to without the page."""

    url: str
    token: str | None = None

    def call(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, method=method, data=data, headers=headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            content = answer.read()
        return json.loads(content) if content else None

    def create(self, name: str, space: Any, **more: Any) -> str:
        """A study whose algorithm knows kernel and noise, so that few values show a change; its path."""
        defaults = {"algorithm": "et-gp-ucb", "options": KNOWN, "seed": 1}
        self.call("POST", "/v1/studies", {"name": name, "space": space, **defaults, **more})
        return f"/v1/studies/{quote(name, safe='')}"

    def tell(self, path: str, values: list[tuple[Any, float]]) -> list[Any]:
        return [self.call("POST", f"{path}/tell", {"x": x, "y": y}) for x, y in values]


@dataclass
class Visit:
    """A page, with everything that went wrong on it."""

    page: Any
    service: Service
    problems: list[str] = field(default_factory=list)
    forgiven: list[str] = field(default_factory=list)

    def forgive(self, pattern: str) -> None:
        """The browser itself reports a refused request as an error; a test that provokes one says so."""
        self.forgiven.append(pattern)

    def open(self, path: str = "/") -> Any:
        self.page.goto(self.service.url + path)
        return self.page

    def study(self, name: str) -> Any:
        self.open(f"/studies/{quote(name, safe='')}")
        self.page.locator(".badge[data-state=live]").wait_for()
        return self.page

    def until(self, script: str, argument: Any = None) -> None:
        """Wait until a function of the page says true. (The driver's own way to wait would need eval.)"""
        end = time.monotonic() + PATIENCE
        while not self.page.evaluate(script, argument):
            assert time.monotonic() < end, f"never true: {script}"
            self.page.wait_for_timeout(50)

    def check(self) -> None:
        left = [each for each in self.problems if not any(re.search(p, each) for p in self.forgiven)]
        assert not left, left


@pytest.fixture(scope="session")
def extras() -> None:
    """The packages without which there is no service."""
    missing = [name for name in ("fastapi", "uvicorn", "sqlalchemy", "plotly") if find_spec(name) is None]
    if missing:
        pytest.skip(f"the page is served by windvane[service]: no {', '.join(missing)} here")


def _served(folder: Any) -> Iterator[str]:
    command = [sys.executable, "-m", "windvane", "serve", "--port", "0", "--db", str(folder / "studies.db")]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "OPENBLAS_NUM_THREADS": "1", "NO_COLOR": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder) as process:
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            found = re.search(r"http://[\d.]+:\d+", first)
            assert found, f"windvane serve said {first!r}"
            yield found[0]
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def service(extras: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service without tokens."""
    for url in _served(tmp_path_factory.mktemp("service")):
        yield Service(url)


@pytest.fixture(scope="module")
def guarded(extras: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Service]]:
    """A service with a token that may write and one that may not."""
    from windvane.storage import Database

    folder = tmp_path_factory.mktemp("guarded")
    with Database(str(folder / "studies.db"), create=True) as database:
        tokens = {
            "write": database.tokens.add("all", ("read", "write")),
            "read": database.tokens.add("look", ("read",)),
        }
    for url in _served(folder):
        yield {scope: Service(url, token) for scope, token in tokens.items()}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium, headless. Not for the session: its event loop would be in other tests' way."""
    if CHROMIUM is None:
        pytest.skip("no chromium on the path: install Debian's package, or test on a machine that has it")
    playwright = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Any]:
    """Makes visits: visit(service, "phone", "dark"). Each is checked for errors when the test ends."""
    visits: list[Visit] = []

    def make(service: Service, size: str = "desktop", scheme: str = "light") -> Visit:
        context = browser.new_context(
            viewport=SIZES[size], color_scheme=scheme, has_touch=size != "desktop", reduced_motion="reduce"
        )
        context.set_default_timeout(1000 * PATIENCE)
        page = context.new_page()
        made = Visit(page, service)

        def leaving(route: Any) -> None:
            made.problems.append(f"left the machine: {route.request.url}")
            route.abort()

        context.route(re.compile(rf"^(?!{re.escape(service.url)}/|data:|blob:)"), leaving)
        page.on("console", lambda said: said.type in ("error", "warning") and made.problems.append(said.text))
        page.on("pageerror", lambda error: made.problems.append(f"uncaught: {error}"))
        visits.append(made)
        return made

    yield make
    for each in visits:
        each.page.context.close()
    for each in visits:
        each.check()
