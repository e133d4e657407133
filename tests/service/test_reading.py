"""Readers leave the threads and the turns of writers alone."""

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from windvane.optimizer import Optimizer

LONG = 60
READS = ["best", "surface?resolution=5", "explain", "predict", "trials"]


def read(served, path, name="plant"):
    with httpx.Client(base_url=served.client.base_url, timeout=LONG) as client:
        if path == "predict":
            return client.post(f"/v1/studies/{name}/predict", json={"points": [[0.5, 0.5]]})
        return client.get(f"/v1/studies/{name}/{path}")


def test_tells_do_not_wait_for_readers_however_many(start, monkeypatch):
    """Of the study that is read, and of others; on a service with all threads for readers taken.

    There are more readers than threads of any kind: who only asks the database does not wait for them either.
    """
    served = start(threads=2)
    for name in ("plant", "press"):
        served.create(name, algorithm="et-gp-ucb", options={"noise_variance": 0.01})
        served.tell(name, x=[0.2, 0.2], y=0.1)
    inside, go_on = threading.Semaphore(0), threading.Event()
    best = Optimizer.best

    def slow(self, *given, **more):
        inside.release()
        assert go_on.wait(LONG)
        return best(self, *given, **more)

    monkeypatch.setattr(Optimizer, "best", slow)
    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(read, served, path) for path in ("surface", "best", "explain", "surface")]
        try:
            for _ in range(served.service.config.readers):
                assert inside.acquire(timeout=LONG)
            for name in ("plant", "press"):
                assert served.tell(name, x=[0.4, 0.4], y=0.2).status_code == 201
                assert served.tell(name, trial=served.ask(name)["number"], y=0.3).status_code == 201
            assert served.client.get("/v1/studies").status_code == 200
            assert served.client.get("/v1/studies/plant/events").status_code == 200
        finally:
            go_on.set()
        assert [each.result(LONG).status_code for each in answers] == [200] * 4


@pytest.mark.parametrize("path", READS)
def test_reads_do_not_wait_for_a_tell(served, monkeypatch, path):
    served.create()
    served.tell(x=[0.2, 0.2], y=0.1)
    inside, go_on = threading.Event(), threading.Event()
    told = Optimizer.tell

    def slow(self, *given, **more):
        inside.set()
        assert go_on.wait(LONG)
        return told(self, *given, **more)

    monkeypatch.setattr(Optimizer, "tell", slow)
    with ThreadPoolExecutor(2) as pool:
        step = pool.submit(served.tell, x=[0.6, 0.6], y=0.4)
        assert inside.wait(LONG)
        try:
            assert pool.submit(read, served, path).result(LONG).status_code == 200
        finally:
            go_on.set()
        assert step.result(LONG).status_code == 201


def test_a_large_prediction_is_made_in_parts_and_is_the_same(served, monkeypatch):
    served.create()
    for i in range(5):
        served.tell(x=[0.2 * i, 0.5], y=0.1 * i)
    expected = [optimizer.tolist() for optimizer in _predicted(served, 2500)]
    sizes, predict = [], Optimizer.predict

    def counted(self, points, *given, **more):
        sizes.append(len(points))
        return predict(self, points, *given, **more)

    monkeypatch.setattr(Optimizer, "predict", counted)
    found = served.client.post("/v1/studies/plant/predict", json={"points": _points(2500)}).json()
    assert sizes == [500] * 5
    assert [found["mean"], found["std"]] == expected


@pytest.mark.parametrize("pressed", [True, False])
def test_beside_steps_a_reader_rests_longer_than_each_part_took(served, monkeypatch, pressed):
    from windvane.service import core

    now, rested, service = [10.0], [], served.service
    monkeypatch.setattr(core.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(core.time, "sleep", rested.append)
    monkeypatch.setattr(type(service._writers), "pressed", pressed)
    pace = service.pace()
    for seconds in (0.5, 0.25):
        now[0] += seconds
        pace.rest()
    assert rested == ([core.REST * 0.5, core.REST * 0.25] if pressed else [])


def test_all_of_a_surface_is_paced_and_nothing_small_is(served, monkeypatch):
    """What comes before its parts and after them as well: the best point, and writing the numbers."""
    from windvane.service import core

    served.create(algorithm="et-gp-ucb", options={"noise_variance": 0.01})
    served.tell(x=[0.2, 0.2], y=0.1)
    rests = []
    monkeypatch.setattr(core.Pace, "rest", lambda pace: rests.append(pace))
    assert read(served, "surface?resolution=50").status_code == 200
    assert len(rests) == 1 + 5 + 1
    rests.clear()
    for path in ("predict", "best", "explain", "trials"):
        assert read(served, path).status_code == 200
    assert rests == []


def _points(count):
    return [[i / count, (7 * i % count) / count] for i in range(count)]


def _predicted(served, count):
    return served.service.studies.get("plant").predict(_points(count))
