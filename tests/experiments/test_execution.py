"""Executing trials: any executor, the same bits; failures lose nothing that was finished."""

import os
import signal
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager

import numpy as np
import pytest
from inline import Inline

import windvane as wv
from windvane.errors import WorkersLost
from windvane.experiments import execution
from windvane.experiments.execution import execute
from windvane.experiments.executors import Borrowed, Dask, Processes
from windvane.experiments.measures import run
from windvane.experiments.store import Store
from windvane.experiments.trial import RunSpec, call

TASK = call("within-model", rate=0.03, horizon=12, grid=20)
TRIALS = [
    RunSpec(TASK, algorithm, seed)
    for seed in range(3)
    for algorithm in (call("et-gp-ucb"), call("tv-gp-ucb", rate=0.03))
]


class Breaking:
    """Workers whose executor dies at given submissions, and is replaced."""

    width = 3
    renewable = True

    def __init__(self, deaths: set[int]) -> None:
        self.deaths, self.submitted, self.started = deaths, 0, 0

    @contextmanager
    def start(self):
        self.started += 1
        yield Inline(self._count)

    def _count(self, trial):
        self.submitted += 1
        if self.submitted in self.deaths:
            raise BrokenProcessPool("a worker died")


@pytest.fixture(scope="module")
def expected():
    return {trial: run(trial) for trial in TRIALS}


def same(found, expected):
    assert list(found) == TRIALS
    for trial in TRIALS:
        for name, array in expected[trial].items():
            assert np.array_equal(found[trial][name], array), (trial, name)


def test_threads_and_one_after_another_give_the_same_bits(tmp_path, expected):
    with Store(tmp_path / "a.sqlite") as store:
        same(execute(TRIALS, store, Borrowed(Inline())), expected)
    with ThreadPoolExecutor(3) as pool, Store(tmp_path / "b.sqlite") as store:
        same(execute(TRIALS, store, Borrowed(pool)), expected)


def test_what_is_known_is_not_run_again(tmp_path, expected):
    kept: list[int] = []
    with Store(tmp_path / "runs.sqlite") as store:
        execute(TRIALS[:4], store, Borrowed(Inline()))
        inline = Inline()
        same(execute(TRIALS, store, Borrowed(inline), on_kept=kept.append), expected)
        assert inline.ran == TRIALS[4:]
        assert kept == [4]


def test_repeated_trials_are_run_once(tmp_path):
    inline = Inline()
    with Store(tmp_path / "runs.sqlite") as store:
        execute([*TRIALS[:2], *TRIALS[:2]], store, Borrowed(inline))
    assert inline.ran == TRIALS[:2]


def test_dead_workers_are_replaced_and_nothing_is_lost(tmp_path, expected):
    workers = Breaking({2, 6})
    done = []
    with Store(tmp_path / "runs.sqlite") as store:
        same(execute(TRIALS, store, workers, on_done=lambda trial, _: done.append(trial)), expected)
    assert workers.started == 3
    assert sorted(map(str, done)) == sorted(map(str, TRIALS))  # each reported once


def test_a_run_that_kills_every_worker_is_given_up_with_the_rest_kept(tmp_path):
    def poison(trial):
        if trial.seed == 2:
            raise BrokenProcessPool("out of memory")

    class Poisoned(Breaking):
        def _count(self, trial):
            poison(trial)

    with Store(tmp_path / "runs.sqlite") as store:
        with pytest.raises(WorkersLost, match="finished runs are kept"):
            execute(TRIALS, store, Poisoned(set()))
        assert set(store.find(TRIALS)) == {trial for trial in TRIALS if trial.seed < 2}


def test_a_borrowed_executor_that_breaks_is_not_replaced(tmp_path):
    workers = Borrowed(Inline(Breaking({2})._count))
    with Store(tmp_path / "runs.sqlite") as store:
        with pytest.raises(WorkersLost):
            execute(TRIALS, store, workers)
        assert len(store.find(TRIALS)) >= 1


def test_an_error_in_a_run_names_the_run_and_keeps_the_others(tmp_path):
    bad = RunSpec(TASK, call("et-gp-ucb", delta=7.0), 1)
    with Store(tmp_path / "runs.sqlite") as store:
        with pytest.raises(wv.InvalidArgument, match="delta") as caught:
            execute([TRIALS[0], bad], store, Borrowed(Inline(), width=1))
        assert any("et-gp-ucb" in note and "seed 1" in note for note in caught.value.__notes__)
        assert set(store.find(TRIALS)) == {TRIALS[0]}


def test_an_interruption_keeps_what_is_finished(tmp_path):
    def interrupt(trial, result):
        if trial.seed == 1:
            raise KeyboardInterrupt

    with Store(tmp_path / "runs.sqlite") as store, pytest.raises(KeyboardInterrupt):
        execute(TRIALS, store, Borrowed(Inline(), width=1), on_done=interrupt)
    with Store(tmp_path / "runs.sqlite") as store:
        assert set(store.find(TRIALS)) >= {trial for trial in TRIALS if trial.seed == 0}


def test_processes_give_the_same_bits_and_leave_the_environment_alone(tmp_path, expected):
    before = dict(os.environ)
    with Store(tmp_path / "runs.sqlite") as store:
        same(execute(TRIALS, store, Processes(2)), expected)
    assert dict(os.environ) == before


def killer(trial):
    """Kills its own process once, then works."""
    flag = os.environ["WINDVANE_TEST_FLAG"]
    if trial.seed == 1 and not os.path.exists(flag):
        open(flag, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return run(trial)


def test_a_process_killed_in_the_middle_costs_nothing_but_its_run(tmp_path, monkeypatch, expected):
    monkeypatch.setenv("WINDVANE_TEST_FLAG", str(tmp_path / "killed"))
    monkeypatch.setattr(execution, "run", killer)
    with Store(tmp_path / "runs.sqlite") as store:
        same(execute(TRIALS, store, Processes(2)), expected)
    assert (tmp_path / "killed").exists()


def test_no_cluster_at_the_address_is_a_clear_error(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("windvane.experiments.executors.CONNECT", 1)
    with Store(tmp_path / "runs.sqlite") as store, pytest.raises(wv.InvalidArgument, match="no scheduler"):
        execute(TRIALS, store, Dask("tcp://127.0.0.1:1"))


def test_a_dask_worker_with_other_code_is_refused():
    class Cluster:
        def run(self, function, on_error):
            return {"tcp://same": function(), "tcp://other": "another version"}

    with pytest.raises(wv.InvalidArgument, match="tcp://other has another version"):
        Dask("tcp://127.0.0.1:1")._same_code(Cluster())


def test_a_finished_run_is_on_disk_while_the_next_one_still_runs(tmp_path, monkeypatch):
    path, seen = tmp_path / "runs.sqlite", []

    def slow(trial):
        end = time.monotonic() + 60.0
        while trial == TRIALS[1] and not seen and time.monotonic() < end:
            with closing(sqlite3.connect(path)) as database:
                seen.extend(database.execute("SELECT key FROM runs"))
            time.sleep(0.05)
        return {"regret": np.zeros(1)}

    monkeypatch.setattr(execution, "run", slow)
    with ThreadPoolExecutor(2) as pool, Store(path) as store:
        execute(TRIALS[:2], store, Borrowed(pool))
    assert len(seen) == 1
