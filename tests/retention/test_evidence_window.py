"""The window chosen by evidence: against windows predicted one by one with scikit-learn, and its promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

import windvane as wv
from windvane.data import Dataset, Observation
from windvane.errors import NumericalFailure
from windvane.kernels import RBF, Markov, Matern52
from windvane.retention import Belief, EvidenceWindow
from windvane.retention.evidence_window import LADDER, log_densities

NOISE = 0.05


def dataset(size, seed=0):
    rng = np.random.default_rng(seed)
    steps = np.arange(1, size + 1)
    return Dataset(rng.uniform(size=(size, 2)), rng.normal(size=size), steps.astype(float), steps)


def by_scikit_learn(data, window, scale=0.3):
    """ln p of the newest from the `window` before it."""
    model = GaussianProcessRegressor(1.5 * sk.Matern(scale, nu=2.5), alpha=NOISE, optimizer=None)
    model.fit(data.X[-1 - window : -1], data.y[-1 - window : -1])
    mean, std = model.predict(data.X[-1:], return_std=True)
    return norm.logpdf(data.y[-1], mean[0], math.sqrt(std[0] ** 2 + NOISE))


BELIEF = Belief(Matern52(0.3, 1.5), noise_variance=NOISE)


@pytest.mark.parametrize("seed", range(3))
def test_one_factorisation_predicts_from_every_window(seed):
    data = dataset(25, seed)
    expected = [by_scikit_learn(data, window) for window in range(1, 25)]
    np.testing.assert_allclose(log_densities(data, BELIEF), expected, rtol=1e-8, atol=1e-9)


def test_time_and_units_are_the_models():
    data = dataset(12)
    belief = Belief(RBF(0.3), Markov(0.2), NOISE, offset=100.0, scale=5.0)
    shifted = Dataset(data.X, 100.0 + 5.0 * data.y, data.times, data.steps)
    K = RBF(0.3).matrix(data.X, data.X) * Markov(0.2).matrix(data.times, data.times) + NOISE * np.eye(12)
    expected = []
    for window in range(1, 12):
        old = slice(11 - window, 11)
        weights = np.linalg.solve(K[old, old], K[old, 11])
        spread = math.sqrt(K[11, 11] - weights @ K[old, 11])
        expected.append(norm.logpdf(data.y[11], weights @ data.y[old], spread))
    np.testing.assert_allclose(log_densities(shifted, belief), expected, rtol=1e-9)


def by_solving(data, window):
    """ln p of the newest from the `window` before it, by a dense solve."""
    K = BELIEF.kernel.matrix(data.X, data.X) + NOISE * np.eye(len(data))
    old, new = slice(-1 - window, -1), -1
    weights = np.linalg.solve(K[old, old], K[old, new])
    return norm.logpdf(data.y[new], weights @ data.y[old], math.sqrt(K[new, new] - weights @ K[old, new]))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.5, 1.0), st.floats(0.01, 5.0))
def test_the_rule_in_words(seed, forgetting, margin):
    """Every rung predicts each observation from what it would still hold."""
    rungs = (2, 4, 7)
    everything, limit = dataset(16, seed), EvidenceWindow(rungs, forgetting, margin)
    data, memory, evidence, held = Dataset.empty(2), limit.start(), [0.0] * 3, 0
    for step in range(1, 17):
        seen = everything.take(slice(None, step))
        if held:
            density = [by_solving(seen, min(rung, held)) for rung in rungs]
            evidence = [forgetting * old + new for old, new in zip(evidence, density, strict=True)]
        held += 1
        best = max(evidence)
        if min(abs(each - best + margin) for each in evidence) < 1e-6:
            return  # too close to call for two implementations
        chosen = max(i for i, each in enumerate(evidence) if each >= best - margin)
        if held > rungs[chosen]:
            held = rungs[chosen]
            evidence[chosen:] = [evidence[chosen]] * (3 - chosen)
        data, memory = limit.apply(data + everything[step - 1], BELIEF, memory)
        assert data.steps.tolist() == list(range(step - held + 1, step + 1))
        np.testing.assert_allclose(np.diff(memory), np.diff(evidence), atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 30),
    st.integers(0, 10**6),
    st.lists(st.integers(1, 12), min_size=1, max_size=4, unique=True).map(sorted),
    st.floats(0.0, 10.0),
)
def test_what_is_kept_is_a_tail_with_the_newest(size, seed, windows, margin):
    limit = EvidenceWindow(tuple(windows), 0.9, margin)
    data, memory, kept = dataset(size, seed), limit.start(), Dataset.empty(2)
    for row in data:
        before = len(kept)
        kept, memory = limit.apply(kept + row, BELIEF, memory)
        assert kept.steps.tolist() == list(range(row.step - len(kept) + 1, row.step + 1))
        assert 1 <= len(kept) <= min(before + 1, windows[-1])
        assert len(memory) == len(windows)
        assert np.isfinite(memory).all()
        assert max(memory) == 0.0


def stream(value, steps=150, limit=None, seed=0):
    rng = np.random.default_rng(seed)
    limit = limit or EvidenceWindow()
    belief = Belief(RBF(0.2), noise_variance=0.01)
    data, memory, sizes = Dataset.empty(1), limit.start(), []
    for step in range(1, steps + 1):
        x = rng.uniform(size=1)
        new = Observation(x, value(x[0], step) + 0.1 * rng.normal(), float(step), step)
        data, memory = limit.apply(data + new, belief, memory)
        sizes.append(len(data))
    return sizes


def test_while_nothing_changes_the_window_grows_to_its_limit():
    for seed in range(4):
        sizes = stream(lambda x, step: math.sin(6.0 * x), steps=200, seed=seed)
        assert sizes[:40] == list(range(1, 41))
        assert sizes[-1] == LADDER[-1]


def test_a_jump_cuts_the_window_and_quiet_lets_it_grow_again():
    for seed in range(4):
        sizes = stream(lambda x, step: math.sin(6.0 * x) + 2.0 * (step > 80), seed=seed)
        assert min(sizes[80:90]) <= 12
        assert sizes[149] >= 45


def test_the_faster_the_drift_the_shorter_the_window():
    lengths = [
        np.mean([np.mean(stream(lambda x, t, v=v: math.sin(6.0 * x + v * t), seed=s)[50:]) for s in range(3)])
        for v in (0.0, 0.02, 0.3)
    ]
    assert lengths[0] > 1.5 * lengths[1]
    assert lengths[1] > 1.5 * lengths[2]


def test_a_covariance_that_cannot_be_factored_is_named():
    data = dataset(4)
    same = Dataset(np.zeros((4, 2)), data.y, data.times, data.steps)
    with pytest.raises(NumericalFailure, match="raise noise_variance"):
        log_densities(same, Belief(RBF(0.2), noise_variance=0.0))


def test_the_algorithm_needs_no_budget_and_holds_a_bounded_number():
    opt = wv.make("sw-gp-ucb-evidence", wv.Box([(0, 1)]), kernel=wv.RBF(0.2), noise_variance=0.01, seed=0)
    sizes = []
    for t in range(60):
        x = opt.ask()
        sizes.append(opt.tell(x, math.sin(5.0 * x[0]) + 3.0 * (t >= 40)).size)
    assert sizes[:40] == list(range(1, 41))
    assert min(sizes[40:]) <= 12
    assert opt.composition.limit == EvidenceWindow()
