"""The maximiser against dense grids and L-BFGS-B from many starts, and how ties are broken."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

import windvane as wv
from windvane.acquisition import UpperBound
from windvane.acquisition import maximise as maximise_over
from windvane.acquisition.utility import gradient_and_hessian, utility_at
from windvane.kernels import RBF, Markov, Matern52, Static, Wiener
from windvane.surrogates import Model, Noise

CLOSE = 1e-4


def maximise(posterior, space, multiplier, generator):
    """Over the whole of a space."""
    return maximise_over(posterior, wv.Region.all_of(space), UpperBound(multiplier), generator)


def generator():
    return np.random.default_rng(0)


def told(space, model, points, values):
    """A surrogate that has seen encoded points at times 1, 2, ..."""
    surrogate = model.surrogate(space)
    for t, (x, y) in enumerate(zip(points, values, strict=True), start=1):
        new = wv.Observation(np.asarray(x, dtype=float), float(y), float(t), t)
        surrogate = surrogate.follow(surrogate.data + new)
    return surrogate


def bounds_at(posterior, points, multiplier):
    mean, variance = posterior.at(points)
    return mean + multiplier * np.sqrt(variance)


def polished(posterior, starts, multiplier):
    """The best end of L-BFGS-B from each start."""

    def downhill(x):
        surface = posterior.surface(np.clip(x, 0.0, 1.0)[None])
        partials, std = utility_at(UpperBound(multiplier), surface)
        return -float(partials.value[0]), -gradient_and_hessian(surface, partials, std)[0][0]

    dim = starts.shape[1]
    ends = [minimize(downhill, x, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * dim).fun for x in starts]
    return -min(ends)


def oracle(posterior, dim, multiplier, seed):
    """The highest bound that a dense search finds."""
    if dim <= 3:
        axis = np.linspace(0.0, 1.0, {1: 1001, 2: 81, 3: 21}[dim])
        pool = np.stack(np.meshgrid(*[axis] * dim), axis=-1).reshape(-1, dim)
    else:
        rng = np.random.default_rng(seed)
        near = np.repeat(posterior.observed, 40, axis=0)
        near = np.clip(near + 0.15 * rng.normal(size=near.shape), 0.0, 1.0)
        pool = np.concatenate((rng.uniform(size=(4000, dim)), near))
    scores = bounds_at(posterior, pool, multiplier)
    best = np.argsort(-scores)[: 6 if dim <= 2 else 14]
    return max(float(scores.max()), polished(posterior, pool[best], multiplier))


def random_posterior(dim, seed):
    """Half of them random data, half the trail of an optimiser, with kernels and models of all kinds."""
    rng = np.random.default_rng(seed)
    box = wv.Box([(0.0, 1.0)] * dim)
    scale = (0.12, 0.2, 0.4)[seed % 3] * (1.0 if dim < 6 else 2.0)
    kernel = (RBF if seed % 4 else Matern52)([scale] * dim if seed % 2 else scale)
    temporal = (Static(), Static(), Markov(0.03), Wiener(0.03))[seed // 2 % 4]
    model = Model(kernel, Noise(0.02), temporal)
    n = int(rng.integers(3, 45))
    if seed % 2:
        points = rng.uniform(size=(n, dim))
        return box, told(box, model, points, rng.normal(size=n)).posterior(n + 1.0)
    opt = wv.make("gp-ucb", box, kernel=kernel * temporal, noise_variance=0.02, seed=seed)
    phase = rng.uniform(0.0, 6.0, dim)
    for _ in range(n):
        x = opt.ask()
        opt.tell(x, float(np.cos(4.0 * x + phase).mean()) * 2.0 + 0.1 * float(rng.normal()))
    return box, opt._progress.surrogate.posterior(n + 1.0)


@pytest.mark.parametrize(("dim", "count"), [(1, 30), (2, 30), (3, 30), (6, 40)])
def test_as_good_as_a_dense_search(dim, count):
    """At least 95 % of the posteriors, within the tolerance that the issue gives."""
    short = []
    for seed in range(count):
        box, posterior = random_posterior(dim, seed)
        multiplier = (0.0, 0.8, 1.6)[seed % 3]
        choice = maximise(posterior, box, multiplier, generator)
        assert ((choice.point >= 0.0) & (choice.point <= 1.0)).all()
        reached = bounds_at(posterior, choice.point[None], multiplier)[0]
        assert choice.value == pytest.approx(reached, abs=1e-5)
        short.append(oracle(posterior, dim, multiplier, seed) - reached)
    missed = np.array(short) > CLOSE
    assert missed.mean() <= 0.05, f"fell short by {np.round(np.array(short)[missed], 5)}"


def test_the_maximiser_leaves_the_posterior_alone():
    box, posterior = random_posterior(2, 3)
    before = posterior.on_candidates()
    first = maximise(posterior, box, 1.0, generator)
    after = posterior.on_candidates()
    assert np.array_equal(before[0], after[0])
    assert np.array_equal(before[1], after[1])
    again = maximise(posterior, box, 1.0, generator)
    assert np.array_equal(first.point, again.point)


# -- finite and mixed domains -----------------------------------------------------------------------


@pytest.mark.parametrize("multiplier", [0.0, 1.0, 3.0])
def test_arms_are_searched_exactly(multiplier):
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(40, 12))
    model = Model(wv.Empirical(factor @ factor.T / 12), Noise(0.1), Markov(0.02))
    arms = wv.Arms(40)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        posterior = told(arms, model, rng.integers(40, size=(15, 1)), rng.normal(size=15)).posterior(16.0)
        scores = bounds_at(posterior, arms.everything(), multiplier)
        choice = maximise(posterior, arms, multiplier, generator)
        assert scores[int(choice.point[0])] == pytest.approx(scores.max(), abs=1e-9)


def test_a_small_mixed_space_is_searched_in_every_configuration():
    space = wv.Space(a=wv.Real(0, 1), k=wv.Integer(1, 4), mode=wv.Choice(["x", "y", "z"]), b=wv.Real(0, 1))
    axis = np.linspace(0.0, 1.0, 25)
    short = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        points = space.sample(rng, 20)
        posterior = told(space, Model(RBF(0.4), Noise(0.02)), points, rng.normal(size=20)).posterior(21.0)
        choice = maximise(posterior, space, 1.0, generator)
        assert np.array_equal(space.snap(choice.point[None])[0], choice.point)
        grid = np.repeat(space.configurations(64), len(axis) ** 2, axis=0)
        grid[:, space.free] = np.tile(np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2), (12, 1))
        short.append(bounds_at(posterior, grid, 1.0).max() - bounds_at(posterior, choice.point[None], 1.0)[0])
    assert np.mean(np.array(short) > CLOSE) <= 0.05, np.round(short, 4)


def test_discrete_coordinates_stay_exactly_at_their_levels():
    """The point that the model evaluates is the point that is returned, to the last bit."""
    space = wv.Space(a=wv.Real(0, 1), k=wv.Integer(1, 8), mode=wv.Choice(["x", "y", "z"]), b=wv.Real(0, 1))
    moved = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        posterior = told(
            space, Model(RBF(0.4), Noise(0.02)), space.sample(rng, 12), rng.normal(size=12)
        ).posterior(13.0)
        point = maximise(posterior, space, 1.0, generator).point
        moved.append(float(np.abs(space.snap(point[None])[0] - point).max()))
    assert max(moved) == 0.0


def test_a_large_discrete_space_is_searched_well():
    """70 x 70 integers are too many to list as candidates; a neighbour is never better than the choice."""
    space = wv.Space(a=wv.Integer(1, 70), b=wv.Integer(1, 70))
    everything = space.everything()
    short = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        posterior = told(
            space, Model(RBF(0.2), Noise(0.02)), space.sample(rng, 25), rng.normal(size=25)
        ).posterior(26.0)
        choice = maximise(posterior, space, 1.0, generator)
        reached = bounds_at(posterior, choice.point[None], 1.0)[0]
        assert np.array_equal(space.snap(choice.point[None])[0], choice.point)
        assert reached >= bounds_at(posterior, space.neighbours(choice.point), 1.0).max() - 1e-9
        short.append(bounds_at(posterior, everything, 1.0).max() - reached)
    assert max(short) < 0.02


# -- ties -------------------------------------------------------------------------------------------


def test_without_data_every_point_is_as_likely():
    box = wv.Box([(0.0, 1.0), (0.0, 1.0)])
    posterior = Model(RBF(0.2), Noise(0.02)).surrogate(box).posterior(1.0)
    points = np.array(
        [maximise(posterior, box, 1.0, lambda s=s: np.random.default_rng(s)).point for s in range(300)]
    )
    assert len(np.unique(points, axis=0)) == 300
    np.testing.assert_allclose(points.mean(axis=0), 0.5, atol=4 * 0.29 / math.sqrt(300))
    counts, _, _ = np.histogram2d(*points.T, bins=3, range=[[0, 1], [0, 1]])
    assert counts.min() > 10
    arms = wv.Arms(6)
    posterior = Model(wv.Empirical(np.eye(6)), Noise(0.02)).surrogate(arms).posterior(1.0)
    drawn = [
        int(maximise(posterior, arms, 1.0, lambda s=s: np.random.default_rng(s)).point[0]) for s in range(120)
    ]
    assert np.bincount(drawn, minlength=6).min() > 5


def test_equal_arms_take_turns():
    """After one poor arm the other five are equal, and so are they for every seed."""
    arms = wv.Arms(6)
    posterior = told(arms, Model(wv.Empirical(np.eye(6)), Noise(0.02)), [[2.0]], [-1.0]).posterior(2.0)
    drawn = {
        int(maximise(posterior, arms, 1.0, lambda s=s: np.random.default_rng(s)).point[0]) for s in range(60)
    }
    assert drawn == {0, 1, 3, 4, 5}


def test_symmetric_summits_take_turns():
    box = wv.Box([(0.0, 1.0)])
    posterior = told(box, Model(RBF(0.3), Noise(0.02)), [[0.5]], [-1.0]).posterior(2.0)
    drawn = {
        float(maximise(posterior, box, 1.0, lambda s=s: np.random.default_rng(s)).point[0]) for s in range(40)
    }
    assert drawn == {0.0, 1.0}


def test_a_plateau_is_broken_by_the_generator():
    """A short lengthscale leaves almost all of the square untouched by one observation."""
    box = wv.Box([(0.0, 1.0), (0.0, 1.0)])
    posterior = told(box, Model(RBF(0.02), Noise(0.02)), [[0.5, 0.5]], [-1.0]).posterior(2.0)
    points = [maximise(posterior, box, 1.0, lambda s=s: np.random.default_rng(s)).point for s in range(40)]
    assert len(np.unique(points, axis=0)) > 20
    assert np.ptp(points, axis=0).min() > 0.5
    np.testing.assert_allclose(bounds_at(posterior, np.array(points), 1.0), 1.0, atol=1e-6)


def test_the_optimiser_breaks_ties_by_seed_and_step():
    """After a reset that empties the data the next point is random, and another one each time."""
    points = []
    for seed in range(2):
        opt = wv.make(
            "r-gp-ucb", wv.Box([(0, 1), (0, 1)]), period=1, kernel=RBF(0.2), noise_variance=0.02, seed=seed
        )
        for _ in range(10):
            points.append(opt.ask())
            opt.tell(points[-1], 1.0)
    assert len(np.unique(points, axis=0)) == 20


def test_uniform_sampling_ignores_the_model():
    opt = wv.make("random", wv.Box([(0, 1)]), kernel=RBF(0.2), noise_variance=0.02, seed=0)
    points = []
    for _ in range(200):
        points.append(float(opt.ask()[0]))
        opt.tell([points[-1]], -100.0 if points[-1] < 0.5 else 100.0)
    assert 0.4 < np.mean(np.array(points) < 0.5) < 0.6
