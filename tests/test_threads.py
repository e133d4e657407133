"""One BLAS thread while we work, and the caller's own setting back afterwards."""

import gc
import threading

import numpy as np
import pytest

import windvane as wv
from windvane.surrogates import gp_surrogate
from windvane.threads import OneThread, one_thread


class Blas:
    """A BLAS library with a thread count, and a log of what it was set to."""

    def __init__(self, count):
        self.count, self.log = count, []

    def get(self):
        return self.count

    def put(self, count):
        self.count = count
        self.log.append(count)


@pytest.fixture
def libraries():
    return Blas(8), Blas(1), Blas(3)


@pytest.fixture
def guard(libraries):
    made = OneThread()
    made.controls = [(blas.get, blas.put) for blas in libraries]
    return made


def counts(libraries):
    return [blas.count for blas in libraries]


def test_inside_one_thread_outside_what_was_set(guard, libraries):
    with guard.hold():
        assert counts(libraries) == [1, 1, 1]
    assert counts(libraries) == [8, 1, 3]
    assert libraries[1].log == []  # what is right already is left alone


def test_what_the_caller_sets_later_counts(guard, libraries):
    with guard.hold():
        pass
    libraries[0].count = 5
    with guard.hold():
        assert counts(libraries) == [1, 1, 1]
    assert counts(libraries) == [5, 1, 3]


def test_an_interrupt_that_skips_the_end(guard, libraries):
    """Raised on the first line of `__exit__`: the holder leaves when it is gone."""

    def broken():
        hold = guard.hold()
        hold.__enter__()  # and then nothing: as if `__exit__` had never begun
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        broken()
    del caught
    gc.collect()
    assert counts(libraries) == [8, 1, 3]
    with guard.hold():
        assert counts(libraries) == [1, 1, 1]
    assert counts(libraries) == [8, 1, 3]


def test_nested(guard, libraries):
    with guard.hold():
        with guard.hold(), guard.hold():
            assert counts(libraries) == [1, 1, 1]
        assert counts(libraries) == [1, 1, 1]
    assert counts(libraries) == [8, 1, 3]
    assert libraries[0].log == [1, 8]


def test_after_an_exception(guard, libraries):
    with pytest.raises(ZeroDivisionError), guard.hold(), guard.hold():
        _ = 1 / 0
    assert counts(libraries) == [8, 1, 3]


def test_several_threads(guard, libraries):
    """The first in limits, the last out restores, whatever the order in between."""
    first_in, second_in, first_out = threading.Event(), threading.Event(), threading.Event()
    seen = []

    def early():
        with guard.hold():
            first_in.set()
            second_in.wait(60)
        first_out.set()

    def late():
        first_in.wait(60)
        with guard.hold():
            second_in.set()
            first_out.wait(60)
            seen.append(counts(libraries))

    workers = [threading.Thread(target=early), threading.Thread(target=late)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert seen == [[1, 1, 1]]
    assert counts(libraries) == [8, 1, 3]
    assert libraries[0].log == [1, 8]


def test_many_threads_at_once(guard, libraries):
    wrong = []

    def work():
        for _ in range(300):
            with guard.hold():
                if counts(libraries) != [1, 1, 1]:
                    wrong.append(counts(libraries))

    workers = [threading.Thread(target=work) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []
    assert counts(libraries) == [8, 1, 3]


# -- the real libraries -----------------------------------------------------------------------------


@pytest.fixture
def two_threads():
    """The process's own BLAS libraries, set to two threads for the time of a test."""
    if not one_thread.controls:
        pytest.skip("no OpenBLAS in this process")
    before = [get() for get, _ in one_thread.controls]
    for _, put in one_thread.controls:
        put(2)
    if [get() for get, _ in one_thread.controls] != [2] * len(before):
        pytest.skip("this OpenBLAS does not allow two threads")
    yield lambda: [get() for get, _ in one_thread.controls] == [2] * len(before)
    for count, (_, put) in zip(before, one_thread.controls, strict=True):
        put(count)


class Watching:
    """A trigger that notes the thread count while the optimiser works, and may fail."""

    def __init__(self):
        self.seen, self.fail = [], False

    def start(self):
        return ()

    def test(self, memory, prediction, y, elapsed):
        self.seen.append([get() for get, _ in one_thread.controls])
        if self.fail:
            raise ZeroDivisionError
        return wv.Verdict(False, 0.0, 1.0), ()


def test_ask_tell_predict_best(two_threads):
    trigger = Watching()
    opt = wv.make(
        "et-gp-ucb", wv.Box([(0, 1)]), kernel=wv.RBF(0.2), noise_variance=0.02, trigger=trigger, seed=0
    )
    for _ in range(40):
        x = opt.ask()
        assert two_threads()
        opt.tell(x, 1.0)
        assert two_threads()
    opt.predict([[0.5]])
    opt.best()
    assert two_threads()
    assert trigger.seen[-1] == [1] * len(
        one_thread.controls
    )  # a few observations may not be worth the trouble


def test_a_fit_runs_on_one_thread_however_few_the_observations(two_threads, monkeypatch):
    """Twenty steps that learn take ten times as long with two threads as with one."""
    seen, fit = [], gp_surrogate.map_estimate

    def watched(*given):
        seen.append([get() for get, _ in one_thread.controls])
        return fit(*given)

    monkeypatch.setattr(gp_surrogate, "map_estimate", watched)
    opt = wv.make("gp-ucb", wv.Box([(0, 1)]), seed=0)
    for i in range(4):
        opt.tell([0.1 + 0.2 * i], float(i % 2))
    assert seen == [[1] * len(one_thread.controls)] * 3
    assert two_threads()


def test_errors_restore_the_count(two_threads):
    trigger = Watching()
    opt = wv.make(
        "et-gp-ucb", wv.Box([(0, 1)]), kernel=wv.RBF(0.2), noise_variance=0.02, trigger=trigger, seed=0
    )
    for _ in range(40):
        opt.tell([0.3], 1.0)
    trigger.fail = True
    with pytest.raises(ZeroDivisionError):
        opt.tell([0.5], 1.0)
    assert two_threads()
    for call in (lambda: opt.tell([7.0], 1.0), lambda: opt.predict([]), lambda: opt.ask(time=-5.0)):
        with pytest.raises(wv.WindvaneError):
            call()
        assert two_threads()
    with pytest.raises(wv.WindvaneError):
        wv.make("gp-ucb", wv.Box([(0, 1)]), kernel=wv.RBF(0.2), noise_variance=0.02, seed=0).best()
    assert two_threads()


def test_optimisers_in_several_threads(two_threads):
    """Each has its own optimiser; all finish with the points they would have asked alone."""

    def run(seed):
        opt = wv.make(
            "et-gp-ucb", wv.Box([(0, 1), (0, 1)]), kernel=wv.RBF(0.2), noise_variance=0.02, seed=seed
        )
        points = []
        for _ in range(12):
            points.append(opt.ask())
            opt.tell(points[-1], float(np.sin(5 * points[-1]).sum()))
        return np.array(points)

    alone = [run(seed) for seed in range(3)]
    together = [None] * 3

    def work(seed):
        together[seed] = run(seed)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert two_threads()
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one, other)
