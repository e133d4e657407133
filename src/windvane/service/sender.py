"""Webhooks: what is due is sent from threads of its own, so no tell ever waits for a receiver.

Every receiver has a queue of its own: one call at a time, so that one that hangs or fails delays nobody
else. What failed is sent again later, and what came after it does not wait for that: an alarm that arrives is
worth more than one that arrives in order, and the number of its record says where it belongs. Those that have
not answered yet, or not well the last time, share half of the threads.

At least once: a delivery is leased before it is sent, so that of several processes one sends it, and
a receiver that sees a delivery's id twice may drop the second. The signature is an HMAC over time and
body, so a receiver can tell that it comes from here, and that it is not an old one sent again.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import random
import socket
import threading
import time
from collections import OrderedDict
from contextlib import suppress
from urllib.parse import urlsplit

import windvane
from windvane.checks import sound_text
from windvane.client.address import Address
from windvane.errors import StorageFailure
from windvane.service.answers import dumps
from windvane.service.metrics import Metrics
from windvane.service.pool import DaemonPool
from windvane.storage import Backlog, Database, Delivery

log = logging.getLogger("windvane.webhooks")

TIMEOUT = 5.0  # seconds for a call, from the first byte to the last
ATTEMPTS = 16
FIRST_WAIT = 2.0  # seconds before the second attempt, then twice as long each time: five hours in all
LONGEST_WAIT = 3600.0
IDLE = 1.0  # seconds between two looks at the database
AT_ONCE = 16  # receivers that are called
MOST_WAITING = 10_000  # deliveries for one receiver; beyond that the oldest are given up
STUCK = 90.0  # seconds without a look at the database, which itself gives up after 30


def signature(secret: str, body: bytes, at: int) -> str:
    """The header that proves who sent a body, and when.

    >>> signature("a secret of yours", b"{}", 1700000000)
    't=1700000000,v1=df727b237867a4648771e147fc5aeeacac2ba39bd63689d8fdfb1eb695662cfd'
    """
    mac = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"t={at},v1={mac.hexdigest()}"


def body_of(delivery: Delivery) -> bytes:
    """What a receiver is sent. Of a record that cannot be read, its number and what is wrong with it."""
    unread = {"seq": delivery.seq, "damaged": delivery.damaged}
    record = unread if delivery.record is None else delivery.record.as_dict()
    about = {"id": delivery.id, "type": delivery.kind, "study": delivery.study, "attempt": delivery.attempts}
    return dumps({**about, "record": record})


def wait_before(attempt: int, jitter: float) -> float:
    """Seconds until the next attempt, after `attempt` that failed; `jitter` in [0, 1) spreads them.

    >>> [wait_before(attempt, 0.0) for attempt in (1, 2, 3)]
    [2.0, 4.0, 8.0]
    """
    return float(min(FIRST_WAIT * 2.0 ** (attempt - 1), LONGEST_WAIT)) * (1.0 + 0.5 * jitter)


def post(url: str, body: bytes, headers: dict[str, str], timeout: float) -> int:
    """The status of the answer. Redirects are not followed; the whole call ends within the timeout."""
    parts = urlsplit(url)
    address = Address(parts.scheme == "https", parts.hostname or "", parts.port, "")
    connection = address.connection(timeout)
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
    """A thread that looks for what is due, and some that send it. Whatever is raised, they go on."""

    def __init__(
        self, database: Database, metrics: Metrics, *, first_wait: float = FIRST_WAIT, idle: float = IDLE
    ) -> None:
        self._database = database
        self._metrics = metrics
        self._idle = idle
        self._scale = first_wait / FIRST_WAIT
        self._bell = threading.Event()
        self._stopping = threading.Event()
        self._looked = time.monotonic()
        self._lock = threading.Lock()
        self._busy: set[int] = set()  # webhooks that are being called
        self._sound: set[int] = set()  # those whose last call went well
        self._turns: OrderedDict[int, None] = OrderedDict()  # those called last at the end
        self._pool = DaemonPool(AT_ONCE, "windvane-webhook")
        self._thread = threading.Thread(target=self._run, name="windvane-webhooks", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._looked = time.monotonic()
        self._thread.start()

    def wake(self) -> None:
        """Something may be due now."""
        self._bell.set()

    @property
    def alive(self) -> bool:
        """Whether it runs, and has looked for what is due lately."""
        return self._thread.is_alive() and time.monotonic() - self._looked < STUCK

    def stop(self, patience: float = TIMEOUT + 1.0) -> None:
        """End after the calls that are being made, or when patience does; what is open is due again later."""
        end = time.monotonic() + patience
        self._stopping.set()
        self._bell.set()
        self._thread.join(patience)
        self._pool.shutdown(cancel_futures=True, patience=max(0.0, end - time.monotonic()))

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._bell.clear()
            try:
                self._dispatch()
            except StorageFailure as error:
                log.error("webhooks wait: %s", error)
            except Exception:
                log.exception("webhooks wait")
            self._looked = time.monotonic()
            self._bell.wait(self._idle)

    def _dispatch(self) -> None:
        """Call everybody for whom something is due and a thread is free."""
        waiting = {each.webhook_id: each for each in self._database.deliveries.backlog(time.time())}
        for each in waiting.values():
            if each.waiting > MOST_WAITING:
                self._drop(each)
        with self._lock:
            for gone in self._turns.keys() - waiting.keys() - self._busy:
                del self._turns[gone]
            for webhook in sorted(waiting.keys() - self._turns.keys()):
                self._turns[webhook] = None
                self._turns.move_to_end(webhook, last=False)
            chosen = [w for w in self._turns if w not in self._busy and w in waiting and waiting[w].due]
            for webhook in chosen:
                if len(self._busy) >= AT_ONCE:
                    break
                if webhook not in self._sound and len(self._busy - self._sound) >= max(1, AT_ONCE // 2):
                    continue
                self._busy.add(webhook)
                self._turns.move_to_end(webhook)
                self._pool.submit(self._call, webhook)

    def _drop(self, backlog: Backlog) -> None:
        said = f"more than {MOST_WAITING} wait for this receiver, and this was one of the oldest"
        gone = self._database.deliveries.drop_oldest(backlog.webhook_id, MOST_WAITING, said)
        self._metrics.deliveries.labels("given-up").inc(gone)
        log.error("webhook %d: %d deliveries given up: %s", backlog.webhook_id, gone, said)

    def _call(self, webhook: int) -> None:
        """Make one call, the first that is due for a receiver."""
        went_well = False
        try:
            for delivery in self._database.deliveries.due(time.time(), 1, webhook=webhook):
                went_well = self._deliver(delivery)
        except StorageFailure as error:  # it is due again when the lease ends
            log.error("webhook %d: %s", webhook, error)
        except Exception:
            log.exception("webhook %d", webhook)
        finally:
            with self._lock:
                self._busy.discard(webhook)
                (self._sound.add if went_well else self._sound.discard)(webhook)
            self._bell.set()

    def _deliver(self, delivery: Delivery) -> bool:
        if delivery.damaged:
            log.error("webhook %d: sent without its record: %s", delivery.webhook_id, delivery.damaged)
        try:
            body = body_of(delivery)
            headers = {
                "Content-Type": "application/json",
                "User-Agent": f"windvane/{windvane.__version__}",
                "Windvane-Delivery": str(delivery.id),
                "Windvane-Signature": signature(delivery.secret, body, int(time.time())),
            }
            status = post(delivery.url, body, headers, TIMEOUT)
            error = "" if 200 <= status < 300 else f"answered with {status}"
        except Exception as problem:
            error = f"{type(problem).__name__}: {problem}"
        self._settle(delivery, sound_text(error)[:500])
        return not error

    def _settle(self, delivery: Delivery, error: str) -> None:
        about = f"webhook {delivery.webhook_id}: delivery {delivery.id}"
        if not error:
            self._database.deliveries.done(delivery.id)
            self._metrics.deliveries.labels("sent").inc()
        elif delivery.attempts >= ATTEMPTS:
            self._database.deliveries.give_up(delivery.id, error)
            self._metrics.deliveries.labels("given-up").inc()
            log.error(
                "%s for %s given up after %d attempts: %s", about, delivery.study, delivery.attempts, error
            )
        else:
            pause = self._scale * wait_before(delivery.attempts, random.random())
            self._database.deliveries.retry(delivery.id, time.time() + pause, error)
            self._metrics.deliveries.labels("retried").inc()
            log.warning("%s failed, again in %.0f s: %s", about, pause, error)
