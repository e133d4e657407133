"""Webhooks: what is due is sent from threads of its own, so no tell ever waits for a receiver.

At least once: a delivery is leased before it is sent, so that of several processes one sends it, and
a receiver that sees a delivery's id twice may drop the second. The signature is an HMAC over time and
body, so a receiver can tell that it comes from here, and that it is not an old one sent again.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import logging
import random
import socket
import ssl
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from urllib.parse import urlsplit

import windvane
from windvane.errors import StorageFailure
from windvane.service.answers import dumps
from windvane.service.metrics import Metrics
from windvane.storage import Database, Delivery

log = logging.getLogger("windvane.webhooks")

TIMEOUT = 5.0  # seconds for a call, from the first byte to the last
ATTEMPTS = 16
FIRST_WAIT = 2.0  # seconds before the second attempt, then twice as long each time: five hours in all
LONGEST_WAIT = 3600.0
IDLE = 1.0  # seconds between two looks at the database
AT_ONCE = 4


def signature(secret: str, body: bytes, at: int) -> str:
    """The header that proves who sent a body, and when.

    >>> signature("a secret of yours", b"{}", 1700000000)
    't=1700000000,v1=df727b237867a4648771e147fc5aeeacac2ba39bd63689d8fdfb1eb695662cfd'
    """
    mac = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"t={at},v1={mac.hexdigest()}"


def body_of(delivery: Delivery) -> bytes:
    """What a receiver is sent."""
    return dumps(
        {
            "id": delivery.id,
            "type": "reset",
            "study": delivery.study,
            "attempt": delivery.attempts,
            "record": delivery.record.as_dict(),
        }
    )


def wait_before(attempt: int, jitter: float) -> float:
    """Seconds until the next attempt, after `attempt` that failed; `jitter` in [0, 1) spreads them.

    >>> [wait_before(attempt, 0.0) for attempt in (1, 2, 3)]
    [2.0, 4.0, 8.0]
    """
    return float(min(FIRST_WAIT * 2.0 ** (attempt - 1), LONGEST_WAIT)) * (1.0 + 0.5 * jitter)


def post(url: str, body: bytes, headers: dict[str, str], timeout: float) -> int:
    """The status of the answer. Redirects are not followed; the whole call ends within the timeout."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port
    connection = http.client.HTTPConnection(host, port, timeout=timeout)
    if parts.scheme == "https":
        context = ssl.create_default_context()
        connection = http.client.HTTPSConnection(host, port, timeout=timeout, context=context)
    late = threading.Event()

    def cut() -> None:  # a drip of bytes never runs into the timeout of the socket
        late.set()
        if connection.sock is not None:
            with suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)  # closing it would not wake the one who reads

    watchdog = threading.Timer(timeout, cut)
    watchdog.daemon = True
    watchdog.start()
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", target, body, headers)
        status = connection.getresponse().status
        if late.is_set():  # an answer that was cut off in its headers reads like a complete one
            raise TimeoutError(f"no answer within {timeout:g} s")
        return status
    finally:
        watchdog.cancel()
        connection.close()


class Sender:
    """A thread that looks for what is due, and a few that send it."""

    def __init__(
        self, database: Database, metrics: Metrics, *, first_wait: float = FIRST_WAIT, idle: float = IDLE
    ) -> None:
        self._database = database
        self._metrics = metrics
        self._idle = idle
        self._scale = first_wait / FIRST_WAIT
        self._bell = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="windvane-webhooks", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """Something may be due now."""
        self._bell.set()

    def stop(self) -> None:
        """End after the calls that are being made; what they leave open is due again later."""
        self._stopping.set()
        self._bell.set()
        self._thread.join()

    def _run(self) -> None:
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="windvane-webhook") as pool:
            while not self._stopping.is_set():
                taken: list[Delivery] = []
                try:
                    taken = self._database.deliveries.due(time.time(), AT_ONCE)
                except StorageFailure as error:
                    log.error("webhooks wait: %s", error)
                list(pool.map(self._deliver, taken))
                if not taken:
                    self._bell.wait(self._idle)
                    self._bell.clear()

    def _deliver(self, delivery: Delivery) -> None:
        body = body_of(delivery)
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"windvane/{windvane.__version__}",
            "Windvane-Delivery": str(delivery.id),
            "Windvane-Signature": signature(delivery.secret, body, int(time.time())),
        }
        try:
            status = post(delivery.url, body, headers, TIMEOUT)
            error = "" if 200 <= status < 300 else f"answered with {status}"
        except (OSError, http.client.HTTPException, ValueError) as problem:
            error = f"{type(problem).__name__}: {problem}"
        try:
            self._settle(delivery, error[:500])
        except StorageFailure as failure:
            log.error("webhook delivery %d: %s", delivery.id, failure)

    def _settle(self, delivery: Delivery, error: str) -> None:
        if not error:
            self._database.deliveries.done(delivery.id)
            self._metrics.deliveries.labels("sent").inc()
        elif delivery.attempts >= ATTEMPTS:
            self._database.deliveries.give_up(delivery.id, error)
            self._metrics.deliveries.labels("given-up").inc()
            log.error(
                "webhook %d: delivery %d for %s given up after %d attempts: %s",
                delivery.webhook_id,
                delivery.id,
                delivery.study,
                delivery.attempts,
                error,
            )
        else:
            pause = self._scale * wait_before(delivery.attempts, random.random())
            self._database.deliveries.retry(delivery.id, time.time() + pause, error)
            self._metrics.deliveries.labels("retried").inc()
            log.warning(
                "webhook %d: delivery %d failed, again in %.0f s: %s",
                delivery.webhook_id,
                delivery.id,
                pause,
                error,
            )
