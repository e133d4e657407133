"""Liveness and readiness, told apart; and one caller's work, which is bounded and leaves threads for others."""

import re
import threading
import time

import pytest
from receiver import until

from windvane.errors import StorageFailure
from windvane.service import core, health
from windvane.service.pool import DaemonPool
from windvane.study import Study


def nested(depth):
    kernel = {"type": "RBF", "lengthscale": [0.2]}
    for _ in range(depth):
        kernel = {"type": "Sum", "left": kernel, "right": {"type": "RBF", "lengthscale": [0.2]}}
    return kernel


def wide(depth):
    kernel = {"type": "RBF", "lengthscale": [0.2]}
    for _ in range(depth):
        kernel = {"type": "Sum", "left": kernel, "right": kernel}
    return kernel


SEARCH = {"type": "LearnOnline", "search": {"type": "Search", "starts": 10**9}}
TOO_MUCH = {
    "a horizon with a variation": (
        "sw-gp-ucb",
        {"horizon": 60_000, "variation": 1.0},
        r"options\.horizon=60000",
    ),
    "starts": (
        "et-gp-ucb",
        {"learning": SEARCH},
        r"options\.learning\.search\.starts=1000000000.*at most 64",
    ),
    "hypotheses": ("auto", {"hypotheses": [{"type": "Hypothesis"}] * 33}, r"options\.hypotheses: 33"),
    "constraints": ("auto", {"constraints": {f"c{i}": {"at_most": 1} for i in range(33)}}, "constraints: 33"),
    "windows": ("sw-gp-ucb-evidence", {"windows": list(range(8, 60))}, r"options\.windows: 52"),
    "deep kernels": ("gp-ucb", {"kernel": nested(40)}, "deeper than 30"),
    "many kernels": ("gp-ucb", {"kernel": wide(8)}, "components; over HTTP it must be at most 100"),
}


@pytest.mark.parametrize(("algorithm", "options", "said"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_what_one_study_may_ask_for_is_bounded(shared, algorithm, options, said):
    body = {"name": "greedy", "space": {"box": [[0, 1]]}, "algorithm": algorithm, "options": options}
    answer = shared.client.post("/v1/studies", json=body)
    assert answer.status_code == 422
    assert re.search(said, answer.json()["detail"]), answer.json()["detail"]
    assert shared.client.get("/v1/studies/greedy").status_code == 404


def test_a_space_of_too_many_coordinates_is_refused(shared):
    choices = {f"p{i}": {"choice": [str(j) for j in range(100)]} for i in range(11)}
    answer = shared.client.post("/v1/studies", json={"name": "greedy", "space": {"parameters": choices}})
    assert answer.status_code == 422
    assert "space: 1100 coordinates" in answer.json()["detail"]


def test_a_long_horizon_by_itself_is_no_work(shared):
    options = {"rate_bounds": [0.001, 0.1], "horizon": 60_000}
    assert shared.create("long", algorithm="et-gp-ucb", options=options)["name"] == "long"


@pytest.mark.parametrize(
    ("work", "method", "path", "body"),
    [
        (
            "windvane.service.routes.studies.Study.create",
            "POST",
            "/v1/studies",
            {"name": "another", "space": {"box": [[0, 1]]}},
        ),
        ("windvane.service.routes.journal.track", "GET", "/v1/studies/plant/track", None),
        ("windvane.study.Study.export", "GET", "/v1/studies/plant/export", None),
    ],
)
def test_what_takes_long_leaves_threads_for_everybody_else(start, monkeypatch, work, method, path, body):
    gate, inside = threading.Event(), []

    def slow(*_, **__):
        inside.append(None)
        gate.wait(120)
        raise StorageFailure("enough")

    served = start(threads=4)
    served.create("plant")
    monkeypatch.setattr(work, slow)
    callers = [
        threading.Thread(target=served.client.request, args=(method, path), kwargs={"json": body})
        for _ in range(8)
    ]
    for caller in callers:
        caller.start()
    try:
        until(lambda: served.service._long_waiting == 8 and inside)
        assert served.client.get("/health").json()["status"] == "ok"
        assert served.client.get("/ready").json()["database"] == "ok"
        assert served.client.get("/v1/studies/plant/events").json()["events"] == []
        assert served.ask()["number"] == 1
        assert len(inside) <= 2
    finally:
        gate.set()
        for caller in callers:
            caller.join()


def test_those_that_wait_for_long_work_are_bounded(start, monkeypatch):
    gate = threading.Event()

    def slow(*_, **__):
        gate.wait(120)
        raise StorageFailure("enough")

    monkeypatch.setattr(core, "LONG_WAITING", 2)
    served = start(threads=2)
    monkeypatch.setattr("windvane.service.routes.studies.Study.create", slow)
    body = {"name": "another", "space": {"box": [[0, 1]]}}
    answers = []
    callers = [
        threading.Thread(target=lambda: answers.append(served.client.post("/v1/studies", json=body)))
        for _ in range(3)
    ]
    for caller in callers:
        caller.start()
    try:
        until(lambda: answers)
        assert (answers[0].status_code, answers[0].json()["error"]) == (503, "Busy")
        assert "Retry-After" in answers[0].headers
    finally:
        gate.set()
        for caller in callers:
            caller.join()


def test_requests_answered_at_once_are_bounded_but_not_health(start, monkeypatch):
    gate, served = threading.Event(), start(requests=1)
    served.create()
    monkeypatch.setattr(served.service.database, "studies", lambda *_: gate.wait(120) and [])
    caller = threading.Thread(target=served.client.get, args=("/v1/studies",))
    caller.start()
    try:
        until(lambda: served.client.get("/v1/session").status_code == 503)
        assert served.client.get("/v1/session").json()["error"] == "Busy"
        assert served.client.get("/health").status_code == 200
        assert served.client.get("/ready").status_code == 200
    finally:
        gate.set()
        caller.join()
    until(lambda: served.client.get("/v1/session").status_code == 200)


def test_all_threads_taken_and_still_alive(start):
    gate, served = threading.Event(), start(threads=2)
    try:
        for _ in range(4):
            served.service._threads.submit(gate.wait, 120)
        assert served.client.get("/health").json()["status"] == "ok"
        assert served.client.get("/ready").json()["status"] == "ok"
    finally:
        gate.set()


def test_a_database_that_is_away_makes_it_not_ready_but_alive(served, monkeypatch):
    def away():
        raise StorageFailure("nobody there")

    monkeypatch.setattr(served.service.health, "_ping", away)
    ready = served.client.get("/ready")
    assert (ready.status_code, ready.json()["status"], ready.json()["database"]) == (
        503,
        "failing",
        "failing",
    )
    assert served.client.get("/health").status_code == 200


def test_a_database_that_hangs_makes_it_not_ready_and_is_asked_once(served, monkeypatch):
    gate, asked = threading.Event(), []
    monkeypatch.setattr(health, "PATIENCE", 0.05)
    monkeypatch.setattr(served.service.health, "_ping", lambda: asked.append(None) or gate.wait(120))
    try:
        for _ in range(3):
            assert served.client.get("/ready").json()["database"] == "failing"
        assert len(asked) == 1
    finally:
        gate.set()
    until(lambda: served.client.get("/ready").status_code == 200)


def test_a_step_that_does_not_end_is_known(served, monkeypatch):
    served.create()
    begun, gate, begin = threading.Event(), threading.Event(), Study.begin

    def wait(*given):
        begun.set()
        gate.wait(120)
        return begin(*given)

    monkeypatch.setattr(Study, "begin", wait)
    caller = threading.Thread(target=served.client.post, args=("/v1/studies/plant/ask",))
    caller.start()
    try:
        assert begun.wait(120)
        assert served.client.get("/health").status_code == 200
        monkeypatch.setattr(health, "STUCK", 0.0)
        answer = served.client.get("/health")
        assert (answer.status_code, answer.json()["writer"]) == (503, "stuck")
    finally:
        gate.set()
        caller.join()
    assert served.client.get("/health").status_code == 200


def test_a_sender_that_has_died_is_known(served, start, tmp_path, monkeypatch):
    assert served.client.get("/health").json()["webhooks"] == "ok"
    monkeypatch.setattr(served.service.health, "sender_alive", lambda: False)
    answer = served.client.get("/health")
    assert (answer.status_code, answer.json()["webhooks"]) == (503, "dead")
    without = start(tmp_path / "other.db", webhooks=False)
    assert without.client.get("/health").json()["webhooks"] == "off"


def test_one_that_ends_is_not_ready(served):
    served.service.streams.close()
    answer = served.client.get("/ready")
    assert (answer.status_code, answer.json()["stopping"]) == (503, True)
    assert served.client.get("/health").status_code == 200


# -- the pool -------------------------------------------------------------------------------------------


def test_a_pool_uses_as_many_threads_as_it_may():
    pool, together = DaemonPool(3, "test"), threading.Barrier(3)
    futures = [pool.submit(together.wait, 60) for _ in range(3)]
    assert sorted(future.result(60) for future in futures) == [0, 1, 2]
    again = [pool.submit(together.wait, 60) for _ in range(3)]
    assert sorted(future.result(60) for future in again) == [0, 1, 2]
    assert len(pool._threads) == 3
    pool.shutdown()


def test_a_pool_passes_errors_on_and_goes_on():
    pool = DaemonPool(1, "test")
    with pytest.raises(ZeroDivisionError):
        pool.submit(lambda: 1 // 0).result(60)
    assert pool.submit(lambda a, b: a + b, 1, b=2).result(60) == 3
    pool.shutdown()
    with pytest.raises(RuntimeError, match="closed"):
        pool.submit(int)


def test_a_pool_is_not_waited_for_longer_than_that():
    pool, gate = DaemonPool(1, "test"), threading.Event()
    running, waiting = pool.submit(gate.wait, 120), pool.submit(int)
    until(running.running)
    begun = time.monotonic()
    pool.shutdown(cancel_futures=True, patience=0.05)
    assert time.monotonic() - begun < 100
    assert waiting.cancelled()
    assert not running.done()
    gate.set()
    assert running.result(60)
