"""The client of bench/load.py: one process, one thread and raw sockets, so that it costs little.

Reads a line of JSON (port, studies, connections, seconds), asks once for every study, says "ready", waits for
another line, then sends pairs of tell and ask for the time given and prints what they took as JSON.
"""

from __future__ import annotations

import json
import math
import random
import selectors
import socket
import sys
import time
from collections.abc import Iterator
from typing import Any

NOISE = 0.02


def value(x: list[float], rng: random.Random) -> float:
    """A smooth bump that stays where it is, so that the studies keep their points."""
    gap = sum((each - 0.4) ** 2 for each in x)
    return 2.0 * math.exp(-0.5 * gap / 0.06) - 1.0 + rng.gauss(0.0, math.sqrt(NOISE))


class Line:
    """One kept connection: it has studies of its own, and one request under way."""

    def __init__(self, port: int, names: list[str], own: int) -> None:
        self._port = port
        self.connect()
        self.names = names
        self.turn = 0
        self.trials: dict[str, tuple[int, list[float]]] = {}
        self.sent = self.begun = 0.0
        self._buffer = b""
        self._key = f"{own}-{random.getrandbits(64):x}"
        self._requests = 0
        self.expecting = False  # an answer

    def connect(self) -> None:
        self.socket = socket.create_connection(("127.0.0.1", self._port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @property
    def name(self) -> str:
        return self.names[self.turn % len(self.names)]

    def ask(self) -> None:
        self._send("ask", b"{}")

    def tell(self, rng: random.Random) -> None:
        number, x = self.trials.pop(self.name)
        body = f'{{"trial":{number},"y":{value(x, rng)!r}}}'.encode()
        self.begun = time.perf_counter()
        self._send("tell", body)

    def keep(self, body: bytes) -> None:
        """The trial that was asked for; then it is the next study's turn."""
        trial = json.loads(body)
        self.trials[self.name] = (trial["number"], trial["x"])
        self.turn += 1

    def _send(self, verb: str, body: bytes) -> None:
        self._requests += 1
        head = (
            f"POST /v1/studies/{self.name}/{verb} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Idempotency-Key: {self._key}-{self._requests}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self.sent, self.expecting = time.perf_counter(), True
        self.socket.sendall(head.encode() + body)

    def received(self) -> bytes | None:
        """The body of the answer, once it is complete."""
        part = self.socket.recv(65536)
        if not part:
            raise ConnectionError("the server closed the connection")
        self._buffer += part
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return None
        start = head.lower().index(b"content-length:") + len(b"content-length:")
        if len(body) < int(head[start:].split(b"\r\n", 1)[0]):
            return None
        self._buffer, self.expecting = b"", False
        if not head.startswith(b"HTTP/1.1 201"):
            raise RuntimeError(f"{head[:60]!r} {body[:300]!r}")
        return body


def answers(selector: selectors.BaseSelector) -> Iterator[tuple[Line, bytes]]:
    """Answers as they come."""
    while True:
        for key, _ in selector.select():
            line: Line = key.data
            if not line.expecting:  # the server has closed a connection that was idle for some seconds
                selector.unregister(line.socket)
                line.connect()
                selector.register(line.socket, selectors.EVENT_READ, line)
                continue
            body = line.received()
            if body is not None:
                yield line, body


def warm(lines: list[Line], found: Iterator[tuple[Line, bytes]]) -> None:
    """One ask a study, so that each is in the server's memory and has a trial out."""
    for line in lines:
        line.ask()
    waiting = len(lines)
    while waiting:
        line, body = next(found)
        line.keep(body)
        if len(line.trials) < len(line.names):
            line.ask()
        else:
            waiting -= 1


def pairs(lines: list[Line], found: Iterator[tuple[Line, bytes]], seconds: float) -> dict[str, list[float]]:
    """Tell and ask, study by study; returns what each took."""
    rng = random.Random(1)
    taken: dict[str, list[float]] = {"tell": [], "ask": [], "pair": []}
    until = time.perf_counter() + seconds
    for line in lines:
        line.tell(rng)
    waiting = len(lines)
    while waiting:
        line, body = next(found)
        now = time.perf_counter()
        if len(line.trials) < len(line.names) and body.startswith(b'{"seq"'):  # the record of the tell
            taken["tell"].append(now - line.sent)
            line.ask()
            continue
        taken["ask"].append(now - line.sent)
        taken["pair"].append(now - line.begun)
        line.keep(body)
        if now < until:
            line.tell(rng)
        else:
            waiting -= 1
    return taken


def main() -> None:
    given: dict[str, Any] = json.loads(sys.stdin.readline())
    count = min(given["connections"], given["studies"])
    names = [f"study-{number}" for number in range(given["studies"])]
    lines = [Line(given["port"], names[own::count], own) for own in range(count)]
    with selectors.DefaultSelector() as selector:
        for line in lines:
            selector.register(line.socket, selectors.EVENT_READ, line)
        found = answers(selector)
        warm(lines, found)
        print("ready", flush=True)
        sys.stdin.readline()
        begun, cpu = time.perf_counter(), time.process_time()
        taken = pairs(lines, found, given["seconds"])
        elapsed, cpu = time.perf_counter() - begun, time.process_time() - cpu
    print(json.dumps({"elapsed": elapsed, "cpu": cpu, "taken": taken}), flush=True)


if __name__ == "__main__":
    main()
