"""Who receives the calls of webhooks, and checks signatures by itself."""

import hashlib
import hmac
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver:
    """A server that keeps what it is sent; `answers` are the statuses it gives, the last one for ever."""

    def __init__(self, answers=(200,), delay=0.0, holds=False):
        self.calls, self.answers, self.delay = [], list(answers), delay
        self.release = threading.Event()
        if not holds:
            self.release.set()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.calls.append((self.path, dict(self.headers), body, time.time()))
                time.sleep(outer.delay)
                outer.release.wait()
                status = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook?from=windvane"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.release.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def until(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()


def verified(secret, headers, body):
    """As the documentation tells a receiver to do it."""
    parts = dict(part.split("=", 1) for part in headers["Windvane-Signature"].split(","))
    expected = hmac.new(secret.encode(), parts["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
    assert abs(time.time() - int(parts["t"])) < 60
    return hmac.compare_digest(expected, parts["v1"])
