"""The optimum of following-load against brute force, and what `simulate` makes of contexts."""

from __future__ import annotations

import numpy as np
import pytest

import windvane as wv
from windvane.tasks.wrappers import rate, shift


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_setting_is_better_than_the_optimum(seed: int, hidden: bool) -> None:
    task = wv.task("following-load", horizon=40, seed=seed, hidden=hidden)
    axis = np.linspace(0, 1, 61).tolist()
    for t in (1, 17, 40):
        context = task.context(t)  # type: ignore[attr-defined]
        values = [task.value({"valve": a, "speed": b, **context}, t) for a in axis for b in axis]
        best = task.optimum(t)
        assert max(values) <= best
        assert max(values) >= best - 0.01
        assert task.value(best.x, t) == best


def test_the_load_is_the_same_hidden_or_not() -> None:
    open_, hidden = (wv.task("following-load", horizon=30, seed=4, hidden=flag) for flag in (False, True))
    assert [float(open_.optimum(t)) for t in range(1, 31)] == [float(hidden.optimum(t)) for t in range(1, 31)]
    assert hidden.space.contexts == ()


def test_simulate_asks_under_the_context_of_the_step() -> None:
    task = wv.task("following-load", horizon=25, seed=0)
    trace = wv.simulate(wv.make(task.space, seed=0), task, seed=0)
    assert [event.x["load"] for event in trace.events] == [task.context(t)["load"] for t in range(1, 26)]  # type: ignore[attr-defined]
    assert (trace.regret >= 0).all()


def test_wrappers_hand_contexts_on() -> None:
    task = wv.task("following-load", horizon=20, seed=0)
    slow = rate(task, 0.5)
    assert slow.context(3) == task.context(2)  # type: ignore[attr-defined]
    moved = shift(task, by={"valve": 0.25}, at=1)
    trace = wv.simulate(wv.make(moved.space, seed=0), moved, seed=0)
    assert (trace.regret >= 0).all()
    with pytest.raises(wv.InvalidArgument, match="unknown key 'load'"):
        shift(task, by={"load": 0.25}, at=1)


def test_a_task_with_contexts_must_say_what_they_are() -> None:
    class Mute:
        name, kernel, noise_variance, horizon = "mute", None, 0.0, 5
        space = wv.Space(gain=wv.Real(0, 1), load=wv.Context(0, 1))

        def value(self, x: object, t: int) -> float:
            return 0.0

        def optimum(self, t: int) -> float:
            return 0.0

    with pytest.raises(wv.InvalidType, match="needs context"):
        wv.simulate(wv.make(Mute.space, seed=0), Mute())  # type: ignore[arg-type]
