"""Jumps against the chain of Assumption 2 written out by hand."""

import math

import numpy as np
import pytest

import windvane as wv
from windvane.tasks import Jumps, Task
from windvane.tasks.wrappers import jump

SMALL = {"horizon": 30, "grid": 12}


def fresh(task, seed):
    """g_1 .. g_T on the grid, as the within-model task draws them: all of it at a rate of 1."""
    return [
        wv.task("within-model", rate=1.0, seed=seed, **SMALL).field(t) for t in range(1, task.horizon + 1)
    ]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
def test_a_jump_is_one_step_of_the_chain_and_between_jumps_nothing_moves(share):
    task = wv.task("jumps", share=share, count=2, seed=4, **SMALL)
    assert task.steps == (11, 21)
    new = fresh(task, 4)
    now = new[0]
    for t in range(1, 31):
        if t in (11, 21):
            now = math.sqrt(1.0 - share) * now + math.sqrt(share) * new[t - 1]
        np.testing.assert_allclose(task.field(t), now, atol=1e-9)


def test_a_whole_jump_is_the_wrapper_s():
    """Up to a jump it is the static task; from then on another one, which does not depend on the first."""
    task = wv.task("jumps", count=1, seed=4, **SMALL)
    static = wv.task("within-model", rate=0.0, seed=4, **SMALL)
    other = wv.task("within-model", rate=1.0, seed=4, **SMALL)
    by_hand = jump(static, other, at=16)
    for t in (1, 9, 15, 16):
        assert task.optimum(t) == pytest.approx(by_hand.optimum(t))
        assert task.value([0.3, 0.8], t) == pytest.approx(by_hand.value([0.3, 0.8], t))
    assert task.optimum(30) == task.optimum(16)


def test_what_is_left_after_half_a_jump_has_the_correlation_it_says():
    before, after = [], []
    for seed in range(400):
        task = wv.task("jumps", share=0.5, count=1, horizon=2, grid=3, lengthscale=0.05, seed=seed)
        before.append(task.field(1).ravel())
        after.append(task.field(2).ravel())
    found = np.corrcoef(np.ravel(before), np.ravel(after))[0, 1]
    assert found == pytest.approx(math.sqrt(0.5), abs=0.03)  # 3600 pairs: a standard error of 0.008


def test_the_optimum_is_the_largest_value_there_is():
    task = wv.task("jumps", seed=2, **SMALL)
    axis = np.linspace(0.0, 1.0, 12)
    for t in (1, 12, 25):
        assert task.optimum(t) == pytest.approx(max(task.value([u, v], t) for u in axis for v in axis))


def test_the_rate_is_the_mean_share_a_step():
    assert wv.task("jumps", share=0.5, count=3, horizon=300).rate == 0.5 * 3 / 300
    assert wv.task("jumps", count=0, horizon=10).steps == ()
    assert isinstance(Jumps(), Task)


@pytest.mark.parametrize("options", [{"share": 1.5}, {"count": -1}, {"count": 30}, {"horizon": 0}])
def test_mistakes(options):
    (name,) = options
    with pytest.raises(wv.InvalidArgument, match=f"{name}="):
        wv.task("jumps", **{**SMALL, **options})
