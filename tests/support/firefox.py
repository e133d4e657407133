"""A Firefox that is driven by its own remote protocol, Marionette: no driver has to match its version.

A message is its length, a colon and JSON: [0, number, command, arguments] one way, [1, number, error, result] back.
"""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
PATIENCE = 60  # seconds; the machine may be busy
WATCH = """
window.problems = [];
addEventListener("error", (event) => problems.push(event.message ?? `not loaded: ${event.target.src ?? event.target.href}`), true);
addEventListener("unhandledrejection", (event) => problems.push(String(event.reason)));
"""


class Firefox:
    """One window."""

    def __init__(self, port: int) -> None:
        self._socket = _connected(port)
        self._answers = self._socket.makefile("rb")
        self._number = 0
        self._read()  # it introduces itself
        self.call("WebDriver:NewSession", capabilities={"unhandledPromptBehavior": "dismiss"})

    def call(self, command: str, **arguments: Any) -> Any:
        """The result of a command; an error of the browser is an AssertionError."""
        self._number += 1
        message = json.dumps([0, self._number, command, arguments]).encode()
        self._socket.sendall(f"{len(message)}:".encode() + message)
        _, _, error, result = self._read()
        assert error is None, error
        return result["value"] if isinstance(result, dict) and "value" in result else result

    def close(self) -> None:
        self._answers.close()
        self._socket.close()

    def _read(self) -> Any:
        length = b""
        while (mark := self._answers.read(1)) not in (b":", b""):
            length += mark
        return json.loads(self._answers.read(int(length)))

    def open(self, url: str) -> None:
        self.call("WebDriver:Navigate", url=url)
        self.run(WATCH)

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns."""
        return self.call("WebDriver:ExecuteScript", script=script, args=list(arguments))

    def until(self, expression: str) -> Any:
        """The value of an expression, as soon as it is true."""
        end = time.monotonic() + PATIENCE
        while not (found := self.run(f"return {expression}")):
            assert time.monotonic() < end, f"never true: {expression}; {self.run('return problems')}"
            time.sleep(0.05)
        return found

    def click(self, selector: str) -> None:
        self.call("WebDriver:ElementClick", id=self._find(selector))

    def type(self, selector: str, text: str) -> None:
        self.call("WebDriver:ElementSendKeys", id=self._find(selector), text=text)

    def _find(self, selector: str) -> str:
        (found,) = self.call("WebDriver:FindElement", using="css selector", value=selector).values()
        return str(found)


def _connected(port: int) -> socket.socket:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        except OSError:
            assert time.monotonic() < end, "Firefox does not answer"
            time.sleep(0.1)


@contextmanager
def firefox(profile: Path, *, dark: bool, width: int) -> Iterator[Firefox]:
    """A window of that width in a profile of its own, closed at the end."""
    assert FIREFOX is not None
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"marionette.port": port, "layout.css.prefers-color-scheme.content-override": 0 if dark else 1}
    lines = (f'user_pref("{name}", {value});\n' for name, value in settings.items())
    (profile / "user.js").write_text("".join(lines), encoding="utf-8")
    command = [FIREFOX, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            with closing(Firefox(port)) as window:
                window.call("WebDriver:SetWindowRect", width=width, height=900)
                yield window
        finally:
            process.terminate()
