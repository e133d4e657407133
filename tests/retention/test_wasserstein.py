"""W-DBO's relevance against the authors' package, against integration on a grid, and its budget."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.special import erfc, gamma, kv
from sklearn.gaussian_process import kernels as sk

import windvane as wv
from windvane.data import Dataset, Observation
from windvane.errors import InvalidArgument, NumericalFailure
from windvane.kernels import (
    RBF,
    Empirical,
    Markov,
    Matern32,
    Matern52,
    Static,
    TimeMatern32,
    TimeMatern52,
    TimeRBF,
    Wiener,
)
from windvane.retention import Belief, Relevance
from windvane.retention.wasserstein import future_overlap, relevant
from windvane.theory.relevance import Relevances

RECORDED = json.loads((Path(__file__).parent / "wdbo_criterion.json").read_text(encoding="utf-8"))["cases"]
SPACES = {None: RBF, 1.5: Matern32, 2.5: Matern52}
TIMES = {None: TimeRBF, 0.5: lambda scale: Markov(1.0 - math.exp(-2.0 / scale)), 1.5: TimeMatern32, 2.5: TimeMatern52}  # fmt: skip


def dataset(size, dim=2, seed=0, gap=1.0):
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.2, 1.8, size)) * gap
    return Dataset(rng.uniform(size=(size, dim)), rng.normal(size=size), times, np.arange(1, size + 1))


def relevances(data, belief):
    overlap = future_overlap(data, belief, float(data.times[-1]))
    return Relevances(belief.covariance(data), overlap, belief.inward(data.y))


# -- the authors' package ---------------------------------------------------------------------------


def as_the_package_computes_it(case):
    """Our formula on the package's matrices: what is closer than 1e-5 is 1e-5 apart, an overlap is at most 1,
    and of two RBF kernels in time it is exp(-dt^2 / 2 l^2) erfc(...), where the integral has a 4.

    The floor lowers the diagonal of K, but in the package not for the observation that is removed; raising
    K_jj by g divides P_jj and alpha_j by 1 + g P_jj and S_jj by its square.
    """
    X, y, times = (np.array(case[key]) for key in ("X", "y", "times"))
    dim, scale, memory, nu = X.shape[1], case["lengthscale"], case["memory"], case["space_nu"]
    far, apart = np.sqrt(np.square(X[:, None] - X[None]).sum(-1)), np.abs(times[:, None] - times)

    def matern(u, order):
        return 2.0 ** (1.0 - order) / gamma(order) * u**order * kv(order, u)

    if nu is None:
        K, C = np.exp(-(far**2) / (2 * scale**2)), (math.pi * scale**2) ** (dim / 2) * np.exp(-(far**2) / (4 * scale**2))  # fmt: skip
    else:
        u, order = math.sqrt(2 * nu) * np.maximum(far, 1e-5) / scale, 2 * nu + dim / 2
        whole = (gamma(nu + dim / 2) / gamma(nu)) ** 2 * gamma(order) / gamma(2 * nu + dim)
        whole *= (4 * math.pi * scale**2 / (2 * nu)) ** (dim / 2)
        K, C = matern(u, nu), whole * matern(u, order)
    C, now = np.minimum(C, 1.0), times[-1]
    if case["time_nu"] is None:
        faded = np.exp(-(apart**2) / (2 * memory**2))
        K, C = K * faded, C * faded * erfc((2 * now - times[:, None] - times) / (2 * memory))
    else:
        order = case["time_nu"]
        K = K * matern(math.sqrt(2 * order) * np.maximum(apart, 1e-5) / memory, order)
        data = Dataset(np.zeros((len(y), 1)), y, times, np.arange(1, len(y) + 1))
        C = C * future_overlap(data, Belief(RBF(1.0), TIMES[order](memory)), now)
    gap = case["variance"] * (1.0 - K[0, 0])
    K = case["variance"] * K + case["noise_variance"] * np.eye(len(y))
    P = np.linalg.inv(K)
    pivot = np.diagonal(P)
    plain = (P @ y / pivot) ** 2 + 1.0 / pivot
    return Relevances(K, C, y).values() * np.sqrt((plain + gap) / plain) / (1.0 + gap * pivot)


@pytest.mark.parametrize("case", RECORDED, ids=lambda c: f"{c['space_nu']}-{c['time_nu']}-{len(c['X'][0])}d")
def test_equal_to_the_package_on_its_own_matrices(case):
    np.testing.assert_allclose(as_the_package_computes_it(case), case["relevance"], rtol=0.0, atol=1e-10)


@pytest.mark.parametrize(
    "case",
    [case for case in RECORDED if case["time_nu"] is not None],
    ids=lambda c: f"{c['space_nu']}-{c['time_nu']}-{len(c['X'][0])}d",
)
def test_equal_to_the_package_up_to_its_floor(case):
    data = Dataset(*(np.array(case[key]) for key in ("X", "y", "times")), np.arange(1, len(case["y"]) + 1))
    kernel = SPACES[case["space_nu"]](case["lengthscale"], case["variance"])
    belief = Belief(kernel, TIMES[case["time_nu"]](case["memory"]), case["noise_variance"])
    np.testing.assert_allclose(relevances(data, belief).values(), case["relevance"], rtol=0.0, atol=2e-7)


# -- integration on a grid --------------------------------------------------------------------------


def gauss(low, high, count):
    """Gauss-Legendre nodes and weights: a few, as the future is smooth."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return low + (high - low) * (nodes + 1.0) / 2.0, weights * (high - low) / 2.0


def trapezium(low, high, count):
    """Evenly spaced nodes: Matern kernels have kinks at the data."""
    nodes = np.linspace(low, high, count)
    return nodes, np.full(count, nodes[1] - nodes[0])  # the ends are far from all data


def by_integration(data, space, time, noise, axes):
    """Relevance, and the Wasserstein distance itself, by leaving each observation out and integrating.

    `space` and `time` are scikit-learn kernels; the posteriors are dense solves. Each axis is a rule of
    nodes and weights, on a box far larger than the lengthscales.
    """
    (*places, ahead), (*lengths, latest) = zip(*axes, strict=True)
    grid = np.stack(np.meshgrid(*places, indexing="ij"), axis=-1).reshape(-1, len(places))
    moments = float(data.times[-1]) + ahead
    weights = latest
    for each in reversed(lengths):
        weights = np.multiply.outer(each, weights)
    weights = weights.reshape(len(grid), len(ahead))

    def integral(values):  # of m_x x m_t numbers
        return float((weights * values).sum())

    def posterior(rows):
        X, t = data.X[rows], data.times[rows][:, None]
        K = space(X) * time(t) + noise * np.eye(len(rows))
        k = space(grid, X)[:, None, :] * time(moments[:, None], t)[None, :, :]
        mean = k @ np.linalg.solve(K, data.y[rows])
        known = np.vecdot(k @ np.linalg.inv(K), k)
        return mean, space.diag(data.X[:1])[0] - known

    everything = np.arange(len(data))
    mean, variance = posterior(everything)
    prior = space.diag(data.X[:1])[0]
    whole = integral(mean**2 + (prior - variance))
    bounds, distances = [], []
    for j in everything:
        less, wider = posterior(np.delete(everything, j))
        bounds.append(integral((mean - less) ** 2 + (wider - variance)))
        distances.append(integral((mean - less) ** 2 + (np.sqrt(wider) - np.sqrt(variance)) ** 2))
    return np.sqrt(np.array(bounds) / whole), np.sqrt(np.array(distances) / whole)


SKLEARN = {None: sk.RBF, 0.5: lambda scale: sk.Matern(scale, nu=0.5), 1.5: lambda scale: sk.Matern(scale, nu=1.5), 2.5: lambda scale: sk.Matern(scale, nu=2.5)}  # fmt: skip


@pytest.mark.parametrize("time_nu", TIMES)
@pytest.mark.parametrize("space_nu", SPACES)
def test_the_closed_form_is_the_integral(space_nu, time_nu):
    data, memory, noise = dataset(6, dim=1, seed=3), 4.0, 0.1
    axes = (trapezium(-3.0, 4.0, 401), gauss(0.0, 50.0, 40))
    space = 1.7 * SKLEARN[space_nu](0.3)
    belief = Belief(SPACES[space_nu](0.3, 1.7), TIMES[time_nu](memory), noise)
    bound, distance = by_integration(data, space, SKLEARN[time_nu](memory), noise, axes)
    found = relevances(data, belief).values()
    np.testing.assert_allclose(found, bound, rtol=1e-4)
    assert (distance <= found * (1.0 + 1e-4)).all()  # what W-DBO calls relevance bounds the distance


@pytest.mark.parametrize("space_nu", SPACES)
def test_the_closed_form_with_a_lengthscale_for_each_coordinate(space_nu):
    """In two dimensions the order of the Bessel function is whole, in one it is half of an odd number."""
    data, scales = dataset(4, dim=2, seed=5), np.array([0.3, 0.6])
    axes = (trapezium(-2.2, 3.2, 61), trapezium(-4.4, 5.4, 61), gauss(0.0, 50.0, 24))
    space = sk.RBF(scales) if space_nu is None else sk.Matern(scales, nu=space_nu)
    bound, _ = by_integration(data, 1.0 * space, SKLEARN[1.5](4.0), 0.1, axes)
    found = relevances(data, Belief(SPACES[space_nu](scales.tolist()), TimeMatern32(4.0), 0.1)).values()
    np.testing.assert_allclose(found, bound, rtol=2e-3)


def test_arms_are_summed():
    root = np.random.default_rng(0).normal(size=(5, 5))
    data = dataset(7, dim=1)
    data = Dataset(
        np.array([[0.0], [3.0], [1.0], [1.0], [4.0], [2.0], [3.0]]), data.y, data.times, data.steps
    )
    belief = Belief(Empirical(root @ root.T), TimeMatern52(6.0), 0.2)
    arms, C = np.arange(5.0)[:, None], np.zeros((7, 7))
    for arm in arms:  # a loop over arms, an integral over time
        ahead = np.linspace(0.0, 80.0, 8001)
        k = belief.kernel.matrix(arm[None], data.X)[0] * sk.Matern(6.0, nu=2.5)(
            (data.times[-1] + ahead)[:, None], data.times[:, None]
        )
        C += trapezoid(k[:, :, None] * k[:, None, :], ahead, axis=0)
    expected = Relevances(belief.covariance(data), C, data.y).values()
    np.testing.assert_allclose(relevances(data, belief).values(), expected, rtol=1e-5)


# -- taking observations away -----------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 12), st.integers(0, 10**6), st.sampled_from(list(TIMES)), st.sampled_from(list(SPACES)))
def test_dropping_is_starting_again_without(size, seed, time_nu, space_nu):
    data = dataset(size, seed=seed)
    belief = Belief(SPACES[space_nu](0.3), TIMES[time_nu](7.0), 0.05)
    overlap = future_overlap(data, belief, float(data.times[-1]))
    left, rows = relevances(data, belief), np.arange(size)
    for _ in range(size - 2):
        j = int(np.random.default_rng((seed, len(rows))).integers(len(rows)))
        left.drop(int(rows[j]))
        rows = np.delete(rows, j)
        fresh = Relevances(belief.covariance(data.take(rows)), overlap[np.ix_(rows, rows)], data.y[rows])
        np.testing.assert_allclose(left.values()[rows], fresh.values(), rtol=1e-7, atol=1e-9)
        assert np.count_nonzero(left.values()) == len(rows)


def the_loop_of_the_package(data, belief, alpha, budget, then):
    """One cleaning as the package does it, except that it refits in between and may drop the newest."""
    now = data.times[-1]
    budget *= (1.0 + alpha) ** ((now - then) / belief.temporal.lengthscale)
    while len(data) > 2:
        criteria = relevances(data, belief).values()[:-1]
        least = int(np.argsort(criteria)[0])
        if not criteria[least] + 1.0 < budget:
            break
        budget /= criteria[least] + 1.0
        data = data.take(np.delete(np.arange(len(data)), least))
    return data.steps.tolist(), budget


@settings(max_examples=40, deadline=None)
@given(st.integers(15, 40), st.integers(0, 10**6), st.floats(0.0, 1.0), st.floats(1.0, 1.4))
def test_the_budget_is_spent_as_in_the_package(size, seed, alpha, budget):
    data, belief = dataset(size, seed=seed), Belief(Matern52(0.3), TimeMatern32(9.0), 0.05)
    then = float(data.times[-2])
    kept, memory = Relevance(alpha).apply(data, belief, (budget, then))
    steps, rest = the_loop_of_the_package(data, belief, alpha, budget, then)
    assert kept.steps.tolist() == steps
    assert memory == (pytest.approx(rest, rel=1e-6), data.times[-1])


# -- the limit --------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 40),
    st.integers(0, 10**6),
    st.floats(0.0, 50.0),
    st.just(()) | st.tuples(st.floats(1e-3, 1e6), st.just(0.0)),
    st.sampled_from([0.0, 1.0, 30.0]),
)
def test_what_is_kept_is_a_subset_in_order_with_the_newest(size, seed, alpha, memory, gap):
    data, belief = dataset(size, seed=seed, gap=gap), Belief(RBF(0.3), TimeRBF(5.0), 1e-3)
    limit = Relevance(alpha)
    kept, budget = limit.apply(data, belief, memory)
    rows = kept.steps - 1
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(kept.X, data.X[rows])
    np.testing.assert_array_equal(kept.y, data.y[rows])
    assert len(kept) >= min(size, 2)
    assert size == 0 or kept.steps[-1] == size
    assert np.isfinite(budget).all()
    if size < limit.first:
        assert (kept is data, budget) == (True, memory)
    again, repeated = limit.apply(data, belief, memory)
    assert (again.steps.tolist(), repeated) == (kept.steps.tolist(), budget)


def stream(limit, belief, steps, place=lambda step: np.array([step % 7 / 7.0])):
    data, memory, sizes = Dataset.empty(1), limit.start(), []
    for step in range(1, steps + 1):
        new = Observation(place(step), math.sin(0.3 * step), float(step), step)
        data, memory = limit.apply(data + new, belief, memory)
        sizes.append(len(data))
    return data, memory, sizes


def test_the_longer_the_memory_the_more_is_kept_and_it_is_bounded():
    ends = []
    for scale in (2.0, 8.0, 32.0):
        _, _, sizes = stream(Relevance(), Belief(RBF(0.2), TimeMatern32(scale), 0.05), 250)
        assert sizes[:15] == list(range(1, 16))
        assert max(sizes[200:]) <= 1.5 * np.mean(sizes[100:])  # it has settled
        ends.append(sizes[-1])
    assert 2 < ends[0] < ends[1] < ends[2] < 250


def test_more_alpha_keeps_less_and_none_keeps_everything():
    belief = Belief(RBF(0.2), TimeMatern32(8.0), 0.05)
    ends = [stream(Relevance(alpha), belief, 120)[2][-1] for alpha in (0.0, 0.05, 0.25, 2.0)]
    assert ends[0] == 120
    assert ends == sorted(ends, reverse=True)
    assert len(set(ends)) == 4


def test_units_of_y_do_not_matter():
    data = dataset(30)
    plain = Belief(Matern32(0.3), TimeMatern32(6.0), 0.05)
    odd = Belief(Matern32(0.3), TimeMatern32(6.0), 0.05, offset=5000.0, scale=40.0)
    shifted = Dataset(data.X, 5000.0 + 40.0 * data.y, data.times, data.steps)
    one, budget = Relevance().apply(data, plain, (1.4, float(data.times[-2])))
    two, other = Relevance().apply(shifted, odd, (1.4, float(data.times[-2])))
    assert 2 < len(one) < 30
    assert one.steps.tolist() == two.steps.tolist()
    assert other == pytest.approx(budget)


def test_a_surprising_observation_is_dearer():
    """y matters: of two observations that tell equally much of the variance, the odd one is relevant."""
    steps = np.arange(1, 21)
    y = np.zeros(20)
    y[15] = 3.0
    data = Dataset(np.full((20, 1), 0.5), y, steps.astype(float), steps)
    found = relevances(data, Belief(RBF(0.2), TimeMatern32(20.0), 0.1)).values()
    assert found[15] > 2.0 * max(found[14], found[16])


# -- refusals and the algorithm ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "temporal", "match"),
    [
        (RBF(0.2) + RBF(0.4), TimeRBF(5.0), "not Sum"),
        (RBF(0.2), Static(), "not Static"),
        (RBF(0.2), Markov(0.0), "rate above 0"),
        (RBF(0.2), Wiener(0.1), "not Wiener"),
    ],
)
def test_kernels_without_a_closed_form_are_refused(kernel, temporal, match):
    with pytest.raises(InvalidArgument, match=match):
        relevant(kernel, temporal)
    with pytest.raises(InvalidArgument, match=match):
        wv.make("w-dbo", wv.Box([(0, 1)]), kernel=kernel * temporal, noise_variance=0.01)


def test_a_covariance_that_cannot_be_factored_is_named():
    with pytest.raises(NumericalFailure, match="raise noise_variance"):
        Relevances(np.ones((3, 3)) - 1e-3 * np.eye(3), np.eye(3), np.ones(3))


def test_the_algorithm_forgets_where_a_change_is_fast():
    sizes = {}
    for memory in (4.0, 40.0):
        opt = wv.make(
            "w-dbo", wv.Box([(0, 1)]), kernel=wv.RBF(0.2) * TimeMatern32(memory), noise_variance=0.01, seed=0
        )
        for t in range(60):
            x = opt.ask()
            opt.tell(x, math.sin(6.0 * x[0] + 0.3 * t))
        sizes[memory] = opt.size
    assert 2 < sizes[4.0] < 0.6 * sizes[40.0] < 60


def test_the_time_of_change_is_learned_when_it_is_not_given():
    opt = wv.make("w-dbo", wv.Box([(0, 1)]), seed=0)
    assert set(opt.composition.learning.search.learn) == {"rate", "lengthscale", "noise"}
    learned = []
    for t in range(30):
        x = opt.ask()
        opt.tell(x, 300.0 + 20.0 * math.sin(6.0 * x[0] + 0.2 * t))
        learned.append(opt.model.temporal.lengthscale)
    assert 1.0 < np.median(learned[15:]) < 40.0  # the sine turns by one in 5 steps
    assert opt.model.scaling.offset == pytest.approx(300.0, abs=20.0)
    assert wv.make("w-dbo", wv.Box([(0, 1)]), alpha=2.0, seed=0).composition.limit == Relevance(2.0)
