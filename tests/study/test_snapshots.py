"""Reads work on snapshots: they wait for nobody who writes, and nobody who writes notices them."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sqlalchemy import func, select

import windvane as wv
from windvane.storage import Database
from windvane.storage.schema import studies
from windvane.study import Study, live

BOX = wv.Box([(0.0, 1.0), (0.0, 1.0)])
LONG = 60  # seconds after which a test has failed, not a measure of anything
STEPS = 16
SPACES = {
    "auto": (BOX, {}),
    "tv-gp-ucb": (BOX, {"kernel": wv.RBF(0.2), "noise_variance": 0.01, "rate": 0.03}),
    "w-gp-ucb": (BOX, {"kernel": wv.RBF(0.2), "noise_variance": 0.01, "forgetting": 0.97}),
    "constraints": (BOX, {"constraints": {"heat": wv.AtMost(0.9)}}),
}


@pytest.fixture
def study(database_url):
    with Database(database_url, create=True) as made:
        yield Study.create(made, "s", BOX, "et-gp-ucb", kernel=wv.RBF(0.2), noise_variance=0.01, seed=3)


def reads(study):
    """Everything that looks at the model."""
    return {
        "best": lambda: study.best().x.tolist(),
        "predict": lambda: [each.tolist() for each in study.predict([[0.2, 0.7], [0.5, 0.5]])],
        "feasibility": lambda: study.feasibility([[0.2, 0.7]]),
        "pending": lambda: [trial.number for trial in study.pending()],
        "explain": lambda: study.explain().as_dict(),
        "optimizer": lambda: study.optimizer.state(),
        "space": lambda: study.space,
        "constraints": lambda: study.constraints,
    }


def test_no_read_waits_for_a_step(study, monkeypatch):
    for i in range(3):
        study.add([0.3 * i, 0.5], 0.1 * i)
    study.ask()
    before = {name: read() for name, read in reads(study).items()}
    inside, go_on = threading.Event(), threading.Event()
    told = live.Live.tell

    def slow(self, *given):
        event = told(self, *given)
        inside.set()
        assert go_on.wait(LONG)
        return event

    monkeypatch.setattr(live.Live, "tell", slow)
    with ThreadPoolExecutor(2) as pool:
        step = pool.submit(study.tell, 1, 0.9)
        assert inside.wait(LONG)
        try:
            for name, read in reads(study).items():  # of what is on disk, not of the step under way
                assert pool.submit(read).result(LONG) == before[name], name
        finally:
            go_on.set()
        event = step.result(LONG)
    assert event.step == 4
    assert study.pending() == []
    assert study.best().mean != pytest.approx(before["predict"][0][0])
    assert study.optimizer.size == 4


def test_no_step_waits_for_whoever_reads_the_database(study):
    """A look that takes long, as that of a backup does: neither this study nor another waits for its end."""
    other = Study.create(study.database, "other", BOX, "random", seed=0)
    with ThreadPoolExecutor(1) as pool, study.database.link.reading() as connection:
        assert connection.execute(select(func.count()).select_from(studies)).scalar_one() == 2
        for each in (study, other):
            assert pool.submit(each.add, [0.5, 0.5], 0.5).result(LONG).size == 1


def test_what_was_told_is_seen_by_the_next_read_whoever_told_it(study):
    other = Study.open(study.database, "s")
    for i, teller in enumerate((study, other, study, other)):
        teller.add([0.25 * i, 0.5], 0.1 * i)
        states = [each.optimizer.state() for each in (study, other)]
        assert states[0] == states[1]
        assert study.optimizer.size == i + 1


def test_what_is_told_to_a_snapshot_is_told_to_nobody(study):
    study.add([0.1, 0.1], 0.5)
    mine = study.optimizer
    mine.tell([0.9, 0.9], 5.0)
    assert study.optimizer.size == 1
    study.add([0.2, 0.2], 0.6)
    twin = wv.make("et-gp-ucb", BOX, kernel=wv.RBF(0.2), noise_variance=0.01, seed=3)
    twin.tell([0.1, 0.1], 0.5)
    twin.tell([0.2, 0.2], 0.6)
    assert study.optimizer.state() == twin.state()


def test_a_step_that_came_to_nothing_is_not_seen(study, monkeypatch):
    study.add([0.1, 0.1], 0.5)
    before = study.optimizer.state()

    def failing(*_given, **_more):
        raise RuntimeError("the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr(live.journal, "append", failing)
        with pytest.raises(RuntimeError, match="gone"):
            study.add([0.2, 0.2], 0.6)
        assert study.optimizer.state() == before
    study.add([0.2, 0.2], 0.6)
    assert study.optimizer.size == 2


@pytest.mark.parametrize("name", SPACES)
def test_readers_in_threads_change_no_bit(tmp_path, name):
    """The same study with and without readers, at other times than the steps': events, points and states."""
    space, options = SPACES[name]
    algorithm = name if name in wv.algorithms() else "auto"
    twin = wv.make(algorithm, space, seed=1, **options)
    grid = np.random.default_rng(0).uniform(size=(64, 2))
    done, failures = threading.Event(), []
    with Database(tmp_path / "studies.db", create=True) as database:
        study = Study.create(database, "s", space, algorithm, seed=1, **options)
        study.add([0.5, 0.5], 0.0)
        expected = [twin.tell([0.5, 0.5], 0.0).as_dict()]

        def read(number):
            try:
                while not done.is_set():
                    seen = study.snapshot()
                    found = seen.optimizer.predict(grid, seen.optimizer.time + number)
                    again = wv.restore(seen.optimizer.state()).predict(grid, seen.optimizer.time + number)
                    assert all(np.array_equal(*each) for each in zip(found, again, strict=True))
                    seen.optimizer.best(seen.optimizer.time + number)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=read, args=(number,)) for number in (0, 3)]
        for thread in threads:
            thread.start()
        try:
            for i in range(STEPS):
                trial, x = study.ask(), twin.ask()
                assert trial.x == x.tolist()
                y = float(np.sin(3.0 * x[0]) * x[1] + 0.1 * i)
                outcomes = {"heat": float(x[0])} if name == "constraints" else {}
                study.tell(trial, y, outcomes=outcomes)
                expected.append(twin.tell(x, y, **outcomes).as_dict())
        finally:
            done.set()
            for thread in threads:
                thread.join(LONG)
        assert failures == []
        assert [record.event for record in study.events(kinds=["told"])] == expected
        assert study.optimizer.state() == twin.state()
