"""What a connection may hold before anybody is asked for a token: bytes, and time."""

import asyncio
import contextlib
import json
import socket
import time

import pytest
from receiver import until

from windvane.service import protocol


@pytest.fixture
def line(shared):
    """A connection of one's own; `receive` reads until the service hangs up, or an answer is complete."""
    port = shared.client.base_url.port
    with contextlib.ExitStack() as stack:

        def connect():
            return stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))

        yield connect


def all_of(connection):
    """Everything that comes until the other side hangs up."""
    parts = []
    while True:
        try:
            part = connection.recv(65536)
        except ConnectionError:
            part = b""
        if not part:
            return b"".join(parts)
        parts.append(part)


def answer(text):
    head, _, body = text.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def send_until_refused(connection, chunk, most):
    sent = 0
    with contextlib.suppress(ConnectionError):
        while sent < most:
            connection.sendall(chunk)
            sent += len(chunk)
    return sent


@pytest.mark.parametrize("shape", ["one header", "many headers", "a long path", "no line end"])
def test_a_head_is_bounded(line, shape):
    connection = line()
    start, chunk = {
        "one header": (b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: ", b"x" * 65536),
        "many headers": (b"GET /health HTTP/1.1\r\nHost: localhost\r\n", b"A: b\r\n" * 10_000),
        "a long path": (b"GET /", b"x" * 65536),
        "no line end": (b"", b"G" * 65536),
    }[shape]
    connection.sendall(start)
    sent = send_until_refused(connection, chunk, 50_000_000)
    assert sent < 50_000_000
    with contextlib.suppress(
        json.JSONDecodeError, IndexError
    ):  # or the answer was lost in what was still sent
        status, said = answer(all_of(connection))
        assert status in (400, 431)
        assert said["error"] in ("BadRequest", "RequestHeaderFieldsTooLarge")


def test_a_head_that_is_just_too_large_is_told_the_limit(line):
    connection = line()
    connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 66_000 + b"\r\n\r\n")
    status, said = answer(all_of(connection))
    assert status == 431
    assert "65536 bytes" in said["detail"]


def test_a_large_head_within_the_limit_is_fine(shared):
    assert shared.client.get("/health", headers={"X": "x" * 60_000}).status_code == 200


@pytest.mark.parametrize("start", [b"", b"\r\n", b"GET /hea", b"GET /health HTTP/1.1\r\nHost: loc"])
def test_a_head_that_does_not_end_is_not_waited_for(line, monkeypatch, start):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.1)
    connection = line()
    connection.sendall(start)
    status, said = answer(all_of(connection))
    assert (status, said["error"]) == (408, "RequestTimeout")


def test_a_head_that_drips_is_not_waited_for(line, monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.2)
    connection = line()
    connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
    deadline, gone = time.monotonic() + 30, False
    while not gone and time.monotonic() < deadline:
        try:
            connection.sendall(b"A: b\r\n")
        except ConnectionError:
            gone = True
        time.sleep(0.02)
    assert gone


def test_empty_lines_do_not_keep_a_connection_open(line, monkeypatch):
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.2)
    connection = line()
    connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert connection.recv(65536).startswith(b"HTTP/1.1 200")
    connection.sendall(b"\r\n")
    assert b" 408 " in all_of(connection)


@pytest.mark.parametrize("method", ["POST /v1/studies", "GET /health"])
def test_a_body_that_does_not_end_is_not_waited_for(line, monkeypatch, method):
    monkeypatch.setattr(protocol, "BODY_SECONDS", 0.2)
    connection = line()
    head = f"{method} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
    connection.sendall(head.encode() + b'{"name"')
    found = all_of(connection)
    assert b" 408 " in found
    assert found.count(b"HTTP/1.1") == (
        1 if method.startswith("POST") else 2
    )  # the latter was answered before


def test_requests_in_a_row_and_one_behind_the_other_are_answered(line):
    request = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    connection = line()
    connection.sendall(request * 5 + request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
    assert all_of(connection).count(b"HTTP/1.1 200") == 6


def test_a_reader_that_does_not_read_is_cut_off(start, monkeypatch):
    monkeypatch.setattr(protocol, "WRITE_SECONDS", 0.2)
    truly, lost = protocol.GuardedProtocol.connection_lost, []

    def connection_lost(self, error):
        lost.append(self.client)
        truly(self, error)

    monkeypatch.setattr(protocol.GuardedProtocol, "connection_lost", connection_lost)
    served = start()
    served.create()
    for i in range(60):
        served.tell(x=[0.1, 0.01 * i], y=0.1, metadata={"note": "x" * 16_000})
    with socket.create_connection(("127.0.0.1", served.client.base_url.port), timeout=30) as connection:
        request = b"GET /v1/studies/plant/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
        connection.sendall(request * 20)  # more than the buffers on the way can hold
        until(lambda: connection.getsockname() in lost)


def test_connections_are_bounded(start, monkeypatch):
    monkeypatch.setattr(protocol, "CONNECTIONS", 3)
    served = start()
    port = served.client.base_url.port
    with contextlib.ExitStack() as stack:
        lines = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30)) for _ in range(4)
        ]
        status, said = answer(all_of(lines[-1]))
        assert (status, said["error"]) == (503, "TooManyConnections")
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with contextlib.suppress(Exception):
            if served.client.get("/health").status_code == 200:
                break
        time.sleep(0.02)
    assert served.client.get("/health").status_code == 200


def test_what_is_not_http_is_told_so_in_json(line):
    connection = line()
    connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 100)
    status, said = answer(all_of(connection))
    assert (status, said["error"]) == (400, "BadRequest")


def test_an_answer_comes_in_one_piece(line):
    """Its head is not sent before its body, so whoever waits for it wakes once."""
    connection = line()
    for _ in range(5):
        connection.sendall(b"GET /v1/studies HTTP/1.1\r\nHost: localhost\r\n\r\n")
        status, said = answer(connection.recv(65536))
        assert (status, "studies" in said) == (200, True)


def test_a_head_whose_body_is_late_goes_first():
    """As of a stream, which has nothing to say yet."""

    class Transport:
        def __init__(self):
            self.sent, self.closed = [], False

        def write(self, data):
            self.sent.append(data)

        def is_closing(self):
            return self.closed

        def close(self):
            self.closed = True

    async def run():
        inner = Transport()
        outer = protocol.WholeAnswers(inner, asyncio.get_running_loop())
        head = b"HTTP/1.1 200 OK\r\na: b\r\n\r\n"
        outer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        outer.write(head)
        outer.write(b"body\r\n\r\n")
        await asyncio.sleep(0)
        assert inner.sent == [b"HTTP/1.1 100 Continue\r\n\r\n", head + b"body\r\n\r\n"]
        outer.write(head)
        await asyncio.sleep(0)
        outer.write(b"body")
        assert inner.sent[2:] == [head, b"body"]
        outer.write(head)
        outer.close()
        assert (inner.sent[4:], outer.is_closing()) == ([head], True)

    asyncio.run(run())


def test_a_request_that_comes_whole_sets_no_timer(line, monkeypatch):
    waited, wait = [], protocol.GuardedProtocol._wait

    def counted(self, seconds):
        waited.append(seconds)
        wait(self, seconds)

    connection = line()
    ask = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    connection.sendall(ask)
    assert answer(connection.recv(65536))[0] == 200  # the connection's own timer is gone
    monkeypatch.setattr(protocol.GuardedProtocol, "_wait", counted)
    connection.sendall(ask)
    assert answer(connection.recv(65536))[0] == 200
    assert waited == []
    connection.sendall(ask[:10])
    until(lambda: waited == [protocol.HEAD_SECONDS])
    connection.sendall(ask[10:])
    assert answer(connection.recv(65536))[0] == 200
    assert waited == [protocol.HEAD_SECONDS, None]
