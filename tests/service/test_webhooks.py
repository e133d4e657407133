"""Webhooks: signed, retried, given up, and never in the way of a tell. The receiver checks signatures by itself."""

import http.client
import json
import re
import socket
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest
from receiver import Receiver, until, verified
from sending import PERIODIC, outcomes, reset_twice, sending

import windvane as wv
from windvane.service import sender
from windvane.service.sender import ATTEMPTS, wait_before
from windvane.storage import Database
from windvane.study import Study


def documented():
    """The function that docs/how-to/service.md gives to receivers."""
    page = Path(__file__).parents[2] / "docs" / "how-to" / "service.md"
    (code,) = re.findall(
        r"^```python\n(.+?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    names = {}
    exec(code, names)
    return names["genuine"]


@pytest.fixture
def database(tmp_path):
    with Database(str(tmp_path / "studies.db"), create=True) as found:
        yield found


def test_signed_and_complete(start):
    with Receiver() as receiver:
        served = start()
        served.create(algorithm="r-gp-ucb", options={"period": 2})
        hook = served.database.webhooks.add(receiver.url, "plant")
        served.create("quiet", algorithm="r-gp-ucb", options={"period": 2})
        for i in range(2):
            served.tell("quiet", x=[0.1, 0.1 * i], y=0.1)  # somebody else's
        for i in range(3):
            served.tell(x=[0.1, 0.1 * i], y=0.1)
        resets = served.client.get("/v1/studies/plant/events?resets=true").json()["events"]
        assert resets
        until(lambda: len(receiver.calls) == len(resets))
        path, headers, body, _ = receiver.calls[0]
        assert path == "/hook?from=windvane"
        assert verified(hook.secret, headers, body)
        assert not verified(hook.secret, headers, body + b" ")
        assert not verified("another secret", headers, body)
        genuine = documented()
        assert genuine(hook.secret, headers["Windvane-Signature"], body)
        assert not genuine(hook.secret, headers["Windvane-Signature"], body[:-1])
        assert not genuine(hook.secret, headers["Windvane-Signature"], body, tolerance=-1.0)
        sent = json.loads(body)
        assert sent["record"] == resets[0]
        assert (sent["study"], sent["type"], str(sent["id"])) == (
            "plant",
            "reset",
            headers["Windvane-Delivery"],
        )
        until(lambda: {d.status for d in served.database.deliveries.recent(10)} == {"sent"})


def test_again_after_failures_with_longer_and_longer_waits(database):
    with Receiver([500, 302, 503, 200]) as receiver:
        database.webhooks.add(receiver.url)
        study = Study.create(database, "plant", wv.Box([(0, 1)]), seed=0, **PERIODIC)
        while not study.summary().resets:
            study.add([0.5], 0.1)
        with sending(database) as metrics:
            until(lambda: outcomes(metrics).get("sent") == 1)
        assert outcomes(metrics) == {"retried": 3, "sent": 1}
    assert [path for path, *_ in receiver.calls] == [
        "/hook?from=windvane"
    ] * 4  # the redirect was not followed
    assert len({headers["Windvane-Delivery"] for _, headers, _, _ in receiver.calls}) == 1
    assert [json.loads(body)["attempt"] for _, _, body, _ in receiver.calls] == [1, 2, 3, 4]
    times = [at for *_, at in receiver.calls]
    for attempt, (before, after) in enumerate(pairwise(times), start=1):
        assert after - before >= 0.05 * 2 ** (attempt - 1)


def test_given_up_and_said(database, caplog, monkeypatch):
    attempts = 5
    monkeypatch.setattr(sender, "ATTEMPTS", attempts)
    reset_twice(database)
    hook = database.webhooks.add("http://127.0.0.1:9/nobody-listens-here")
    study = Study.open(database, "plant")
    before = study.summary().resets
    while study.summary().resets == before:
        study.add([0.5], 0.1)
    with sending(database, first_wait=0.001) as metrics:
        until(lambda: outcomes(metrics).get("given-up") == 1)
    assert outcomes(metrics) == {"retried": attempts - 1, "given-up": 1}
    (delivery,) = database.deliveries.recent(10)
    assert (delivery.status, delivery.attempts, delivery.webhook_id) == ("given-up", attempts, hook.id)
    assert "refused" in delivery.error.lower()
    assert "given up after 5 attempts" in caplog.text
    assert hook.secret not in caplog.text


def test_a_receiver_that_does_not_answer_delays_nobody(start, monkeypatch):
    monkeypatch.setattr(sender, "TIMEOUT", 600.0)
    with Receiver(holds=True) as slow, Receiver() as quick:
        served = start()
        served.database.webhooks.add(slow.url)
        served.database.webhooks.add(quick.url)
        served.create(algorithm="r-gp-ucb", options={"period": 2})
        for i in range(6):  # a tell that waited for the receiver would wait in vain
            assert served.tell(x=[0.1, 0.1 * i], y=0.1).status_code == 201
        until(lambda: quick.calls and slow.calls)
        assert not slow.release.is_set()


def test_a_receiver_that_answers_a_byte_at_a_time_is_cut_off():
    cut_off = threading.Event()

    def drip(listener):
        line, _ = listener.accept()
        with line:
            try:
                line.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                for _ in range(1000):
                    time.sleep(0.05)  # each byte well within any timeout of the socket
                    line.sendall(b"x")
            except OSError:
                cut_off.set()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip, args=(listener,))
        thread.start()
        try:
            with pytest.raises((OSError, http.client.HTTPException)):
                sender.post(f"http://127.0.0.1:{listener.getsockname()[1]}/", b"{}", {}, 0.5)
        finally:
            thread.join()
    assert cut_off.is_set()


def test_two_processes_do_not_both_send(database):
    with Receiver(delay=0.05) as receiver, Database(database.link.where) as again:
        database.webhooks.add(receiver.url)
        expected = reset_twice(database)
        with sending(database) as one, sending(again) as two:
            sent = lambda: sum(outcomes(m).get("sent", 0) for m in (one, two))  # noqa: E731
            until(lambda: sent() == expected)
        assert len(receiver.calls) == expected


def test_waits_grow_and_are_spread():
    for attempt in range(1, ATTEMPTS):
        assert wait_before(attempt + 1, 0.0) == min(2 * wait_before(attempt, 0.0), 3600.0)
        assert wait_before(attempt, 0.0) < wait_before(attempt, 0.99) < 1.5 * wait_before(attempt, 0.0)
    assert 4 * 3600 < sum(wait_before(attempt, 0.0) for attempt in range(1, ATTEMPTS)) < 6 * 3600
    assert wait_before(100, 0.0) == 3600.0
