"""A service that behaves badly, and one that is real."""

import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from windvane.client import Client, transport

TRIAL = {"number": 1, "x": [0.5], "asked_at": 1.0, "expires_at": None, "status": "pending", "metadata": {}}
EVENT = {
    "step": 1,
    "time": 1.0,
    "mean": 0.0,
    "std": 1.0,
    "noise_variance": 0.1,
    "log_density": -1.0,
    "statistic": 0.2,
    "threshold": None,
    "monitored": True,
    "elapsed": 1,
    "reset": False,
    "reason": "",
    "kept": 0,
    "size": 1,
}


class Fake(ThreadingHTTPServer):
    """Keeps a ledger of what it carried out, a key once, and follows a script of misbehaviour.

    Each request takes the next word of `script`, or a function of the handler; when there is none left, it behaves.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = []
        self.requests = []  # (method, path, headers, body)
        self.ledger = {}  # key -> what was answered
        self.connections = 0
        self.clients = []  # to be closed at the end
        self.lock = threading.Lock()
        self.ended = threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def client(self, **options):
        """A client of this service."""
        self.clients.append(Client(self.url, **options))
        return self.clients[-1]

    def handle_error(self, request, client_address):
        pass  # broken pipes are the point


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 10
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        with self.server.lock:
            self.server.connections += 1

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.serve()

    do_POST = do_DELETE = do_GET

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with self.server.lock:
            self.server.requests.append((self.command, self.path, dict(self.headers), body))
            fault = self.server.script.pop(0) if self.server.script else "fine"
        if callable(fault):
            fault(self)
        else:
            getattr(self, fault.replace("-", "_"))(body)

    def carry_out(self, body):
        """As the contract says: the same key again gives the first outcome."""
        if self.command == "GET":
            return {"x": [0.5], "mean": 1.0, "std": 0.1, "studies": [], "trials": []}
        key = self.headers.get("Idempotency-Key")
        with self.server.lock:
            if key is None:
                key = f"none-{len(self.server.ledger)}"
            if key not in self.server.ledger:
                seq = len(self.server.ledger) + 1
                given = json.loads(body or b"{}")
                record = {**TRIAL, "seq": seq, "kind": "told", "at": 1.0, "y": given.get("y"), "event": EVENT}
                self.server.ledger[key] = {**record, "number": seq, "key": key}
            return self.server.ledger[key]

    def answer(self, status, body, headers=()):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def reset(self):
        """Close with RST instead of FIN."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.drop()

    def drop(self):
        self.close_connection = True
        self.wfile.flush()
        self.connection.close()

    # -- the words of a script -----------------------------------------------------------------------

    def fine(self, body):
        self.answer(201, json.dumps(self.carry_out(body)).encode())

    def drop_before(self, body):
        self.drop()

    def drop_after(self, body):
        self.carry_out(body)
        self.drop()

    def reset_before(self, body):
        self.reset()

    def reset_after(self, body):
        self.carry_out(body)
        self.reset()

    def half(self, body):
        text = json.dumps(self.carry_out(body)).encode()
        self.send_response(201)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text[: len(text) // 2])
        self.drop()

    def half_chunked(self, body):
        text = json.dumps(self.carry_out(body)).encode()
        self.send_response(201)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"%x\r\n%s\r\n" % (20, text[:20]))
        self.drop()

    def then_closed(self, body):
        """A proper answer on a connection that is closed right after it without a word."""
        self.fine(body)
        self.drop()

    def no_json(self, body):
        self.carry_out(body)
        self.answer(201, b"<html>hello</html>")

    def no_http(self, body):
        self.carry_out(body)
        self.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
        self.drop()

    def slow(self, body):
        self.carry_out(body)
        self.server.ended.wait(60.0)  # until the test is over
        self.drop()

    def busy(self, body):
        self.answer(429, b'{"error": "TooManyRequests", "detail": "too many"}', [("Retry-After", "0")])

    def busy_for_long(self, body):
        self.answer(429, b'{"error": "TooManyRequests", "detail": "too many"}', [("Retry-After", "7")])

    def storage(self, body):
        self.answer(503, b'{"error": "StorageFailure", "detail": "disk full"}', [("Retry-After", "0")])

    def gateway(self, body):
        self.carry_out(body)  # and the proxy lost the answer
        self.answer(502, b"<html>Bad Gateway</html>")

    def gateway_timeout(self, body):
        self.carry_out(body)
        self.answer(504, b"")

    def elsewhere(self, body):
        self.answer(307, b"", [("Location", "http://thief.example/v1")])

    def crash(self, body):
        self.answer(500, b'{"error": "InternalError", "detail": "something went wrong here"}')

    def endless(self, body):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while not self.server.ended.is_set():
            self.wfile.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")

    def huge(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(10**15))
        self.end_headers()
        while not self.server.ended.is_set():
            self.wfile.write(b" " * 0x10000)


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setattr(transport, "FIRST", 0.001)
    server = Fake()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    for client in server.clients:
        client.close()
    server.ended.set()
    server.shutdown()
    server.server_close()
    thread.join()


def free_port():
    """One that stays free while a service restarts: below those that the system hands out by itself."""
    for port in random.sample(range(20_000, 32_000), 100):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no port is free")


class Service:
    """`windvane serve` in a process of its own, which can be stopped and started again."""

    def __init__(self, folder):
        self.database = str(folder / "studies.db")
        self.log = folder / "log.txt"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None
        self.start()

    def start(self):
        command = [sys.executable, "-m", "windvane", "serve", "--db", self.database, "--port", str(self.port)]
        with self.log.open("ab") as log:
            environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        until = time.monotonic() + 120
        while time.monotonic() < until and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=5):
                    return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError(f"windvane serve did not come up:\n{self.log.read_text(encoding='utf-8')}")

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(60)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """One for the tests of a file that do not mind each other's studies."""
    found = Service(tmp_path_factory.mktemp("service"))
    yield found
    found.stop(signal.SIGKILL)


@pytest.fixture
def own_service(tmp_path):
    """One for a single test."""
    found = Service(tmp_path)
    yield found
    found.stop(signal.SIGKILL)
