"""The two Newton ascents: derivatives of the bound, stationary ends, walls, held coordinates."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.acquisition import UpperBound
from windvane.acquisition.ascent import ascend
from windvane.acquisition.climb import climb, uphill
from windvane.acquisition.log_ei import LogImprovement
from windvane.acquisition.utility import derivatives_at, gradient_and_hessian, utility_at
from windvane.kernels import RBF, Markov, Matern52, Static
from windvane.spaces.region import Bounds
from windvane.surrogates import GP, Noise, Posterior


def hill(summit, scales, height=1.5):
    """A posterior whose mean is one bump around `summit`, which may lie outside the cube.

    It falls with the scaled distance, so its highest point of the cube is the nearest one: the clipped summit.
    """
    gp = GP(RBF(scales), Noise(1e-8), len(summit))
    gp.append(np.asarray(summit, dtype=float), height, 1.0)
    return Posterior(gp, 2.0)


def posterior(dim, seed, n=25, temporal=None, kernel=None):
    rng = np.random.default_rng(seed)
    gp = GP(kernel or RBF(0.35), Noise(0.02), dim, temporal or Static())
    for t in range(1, n + 1):
        gp.append(rng.uniform(size=dim), float(rng.normal()), float(t))
    return Posterior(gp, n + 1.0)


def bound(gp, x, multiplier):
    mean, variance = gp.at(np.atleast_2d(x))
    return mean + multiplier * np.sqrt(variance)


def cube(dim, free=None):
    return Bounds(np.zeros(dim), np.ones(dim), np.ones(dim, dtype=bool) if free is None else free)


def climb_at(gp, starts, multiplier, bounds=None, **options):
    settings = {"radius": 0.2, "iterations": 60, "tolerance": 1e-12, **options}
    bounds = bounds or cube(starts.shape[1])
    return climb(gp.local, starts, UpperBound(multiplier), bounds=bounds, **settings)


def ascend_at(gp, starts, multiplier, bounds=None, **options):
    settings = {"radius": 0.2, "iterations": 60, "tolerance": 1e-12, **options}
    bounds = bounds or cube(starts.shape[1])
    utility = UpperBound(multiplier)
    return ascend(gp.surface, lambda x: bound(gp, x, multiplier), starts, utility, bounds=bounds, **settings)


def slope(gp, x, multiplier):
    """The gradient of the bound without the part that pushes against a wall."""
    surface = gp.surface(x[None])
    gradient = gradient_and_hessian(surface, *utility_at(UpperBound(multiplier), surface))[0][0]
    blocked = ((x <= 0.0) & (gradient < 0.0)) | ((x >= 1.0) & (gradient > 0.0))
    return np.where(blocked, 0.0, gradient)


# -- derivatives ------------------------------------------------------------------------------------


@pytest.mark.parametrize("utility", [UpperBound(0.0), UpperBound(0.7), UpperBound(3.0), LogImprovement(1.2)])
@pytest.mark.parametrize(
    ("dim", "kernel", "temporal"),
    [(1, RBF(0.2), Static()), (2, RBF([0.3, 0.5], 2.0), Markov(0.05)), (3, Matern52(0.4), Static())],
)
def test_derivatives_of_a_utility_in_x(dim, kernel, temporal, utility):
    gp = posterior(dim, seed=1, temporal=temporal, kernel=kernel)

    def height_at(points):
        mean, variance = gp.at(np.atleast_2d(points))
        return utility.value(mean, np.sqrt(variance))

    for x in np.random.default_rng(2).uniform(0.05, 0.95, size=(6, dim)):
        surface = gp.surface(x[None])
        partials, std = utility_at(utility, surface)
        gradient, hessian = gradient_and_hessian(surface, partials, std)
        value, plain_gradient, plain_hessian = derivatives_at(utility, gp.local(x))
        assert partials.value[0] == pytest.approx(height_at(x)[0], abs=1e-10)
        assert value == pytest.approx(partials.value[0], abs=1e-10)
        np.testing.assert_allclose(plain_gradient, gradient[0], atol=1e-8)
        np.testing.assert_allclose(plain_hessian, hessian[0], atol=1e-7)
        for axis in range(dim):
            shift = 1e-5 * np.eye(dim)[axis]
            ends = np.stack((x + shift, x - shift))
            up, down = height_at(ends)
            assert gradient[0, axis] == pytest.approx((up - down) / 2e-5, rel=1e-6, abs=2e-5)
            around = gp.surface(ends)
            slopes, _ = gradient_and_hessian(around, *utility_at(utility, around))
            np.testing.assert_allclose(hessian[0, axis], (slopes[0] - slopes[1]) / 2e-5, rtol=1e-5, atol=2e-3)


# -- a function whose summit is known ---------------------------------------------------------------


@pytest.mark.parametrize("dim", [1, 2, 4, 7])
@pytest.mark.parametrize("seed", range(4))
def test_both_reach_a_known_summit(dim, seed):
    rng = np.random.default_rng(seed)
    summit = rng.uniform(0.2, 0.8, dim)
    bump = hill(summit, rng.uniform(0.3, 0.9, dim))
    start = rng.uniform(size=(1, dim))
    for found in (climb_at(bump, start, 0.0), ascend_at(bump, start, 0.0)):
        np.testing.assert_allclose(found.points[0], summit, atol=1e-5)
        assert found.values[0] == pytest.approx(1.5, abs=1e-6)


@pytest.mark.parametrize("dim", [1, 2, 4])
@pytest.mark.parametrize("seed", range(6))
def test_a_climb_reaches_a_summit_at_the_wall(dim, seed):
    rng = np.random.default_rng(seed)
    summit = rng.uniform(-0.6, 1.6, dim)
    bump = hill(summit, rng.uniform(0.5, 0.9, dim))
    found = climb_at(bump, rng.uniform(size=(1, dim)), 0.0)
    np.testing.assert_allclose(found.points[0], np.clip(summit, 0.0, 1.0), atol=1e-5)
    assert found.values[0] == pytest.approx(bound(bump, np.clip(summit, 0.0, 1.0), 0.0)[0], abs=1e-8)


def test_a_summit_in_a_corner():
    bump, start = hill([1.5, -0.4], [0.8, 0.6]), np.array([[0.5, 0.5]])
    for found in (climb_at(bump, start, 0.0), ascend_at(bump, start, 0.0)):
        assert found.points[0].tolist() == [1.0, 0.0]


def test_a_saddle_is_left_on_the_side_that_goes_up():
    gp = GP(RBF(0.15), Noise(1e-8), 2)
    for t, x in enumerate(([0.3, 0.3], [0.7, 0.7]), start=1):
        gp.append(np.array(x), 1.0, float(t))
    twins = Posterior(gp, 3.0)
    start = np.array([[0.5 + 1e-4, 0.5 + 1e-4]])
    for found in (climb_at(twins, start, 0.0), ascend_at(twins, start, 0.0)):
        np.testing.assert_allclose(found.points[0], [0.7, 0.7], atol=1e-3)


# -- real posteriors --------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [1, 2, 3, 6])
@pytest.mark.parametrize("multiplier", [0.0, 1.5])
def test_a_climb_ends_where_the_slope_is_zero(dim, multiplier):
    for seed in range(8):
        gp = posterior(dim, seed, n=10 + 4 * seed)
        start = np.random.default_rng(seed + 100).uniform(size=(1, dim))
        found = climb_at(gp, start, multiplier)
        x = found.points[0]
        assert ((x >= 0.0) & (x <= 1.0)).all()
        assert np.abs(slope(gp, x, multiplier)).max() < 1e-4
        assert found.values[0] == pytest.approx(bound(gp, x, multiplier)[0], abs=1e-9)
        assert found.values[0] >= bound(gp, start[0], multiplier)[0] - 1e-12


@pytest.mark.parametrize("dim", [1, 2, 3, 6])
@pytest.mark.parametrize("multiplier", [0.0, 1.5])
def test_an_ascent_inside_the_cube_ends_where_the_slope_is_zero(dim, multiplier):
    inside = 0
    for seed in range(12):
        gp = posterior(dim, seed, n=10 + 4 * seed)
        start = np.random.default_rng(seed + 100).uniform(size=(1, dim))
        found = ascend_at(gp, start, multiplier)
        x = found.points[0]
        assert ((x >= 0.0) & (x <= 1.0)).all()
        assert found.values[0] == pytest.approx(bound(gp, x, multiplier)[0], abs=1e-9)
        assert found.values[0] >= bound(gp, start[0], multiplier)[0] - 1e-12
        if ((x > 1e-9) & (x < 1.0 - 1e-9)).all():  # the walls are left to the climb
            inside += 1
            assert np.abs(slope(gp, x, multiplier)).max() < 1e-4
    assert inside >= 1 or dim == 6


@pytest.mark.parametrize("dim", [2, 5])
@pytest.mark.parametrize(("iterations", "radius"), [(1, 0.3), (4, 0.3), (12, 0.05), (3, 5.0)])
def test_few_steps_never_lead_out_or_down(dim, iterations, radius):
    for seed in range(6):
        gp = posterior(dim, seed, n=30)
        starts = np.random.default_rng(seed).uniform(size=(9, dim))
        starts[0], starts[1] = 0.0, 1.0
        before = bound(gp, starts, 1.2)
        given = starts.copy()
        for found in (
            ascend_at(gp, starts, 1.2, iterations=iterations, radius=radius, tolerance=1e-6),
            climb_at(gp, starts, 1.2, iterations=iterations, radius=radius, tolerance=1e-6),
        ):
            assert np.array_equal(starts, given)  # not the callee's to change
            assert ((found.points >= 0.0) & (found.points <= 1.0)).all()
            after = bound(gp, found.points, 1.2)
            assert (after >= before - 1e-6).all()
            np.testing.assert_allclose(found.values, after, atol=1e-5)


def test_the_best_of_a_field_of_ascents_arrives():
    for seed in range(5):
        gp = posterior(2, seed)
        starts = np.random.default_rng(seed).uniform(size=(12, 2))
        field = ascend_at(gp, starts, 1.0)
        alone = np.array([climb_at(gp, start[None], 1.0).values[0] for start in starts])
        assert (
            field.values.max() >= np.sort(alone)[-4] - 1e-9
        )  # it may give up hopeless ones, not the leaders


def test_held_coordinates_do_not_move():
    gp = posterior(3, seed=3)
    starts = np.random.default_rng(3).uniform(size=(5, 3))
    free = np.array([True, False, True])
    for found in (
        ascend_at(gp, starts, 1.0, bounds=cube(3, free)),
        climb_at(gp, starts, 1.0, bounds=cube(3, free)),
    ):
        assert np.array_equal(found.points[:, 1], starts[:, 1])
        assert (np.abs(found.points - starts).max(axis=1) > 1e-3).any()


def test_a_climb_stays_between_its_bounds():
    """The summit of the bump lies outside the box: its highest point of the box is the nearest one."""
    bump = hill([0.7, 0.3], [0.5, 0.5])
    box = Bounds(np.array([0.1, 0.4]), np.array([0.5, 0.9]), np.ones(2, dtype=bool))
    start = np.array([[0.2, 0.8]])
    for found in (climb_at(bump, start, 0.0, bounds=box), ascend_at(bump, start, 0.0, bounds=box)):
        np.testing.assert_allclose(found.points[0], [0.5, 0.4], atol=1e-9)


def test_a_climb_that_cannot_catch_up_is_given_up():
    gp = GP(RBF(0.15), Noise(1e-8), 2)
    for t, (x, y) in enumerate((([0.2, 0.2], 2.0), ([0.8, 0.8], 0.5)), start=1):
        gp.append(np.array(x), y, float(t))
    peaks, calls = Posterior(gp, 3.0), []

    def counted(x):
        calls.append(x)
        return peaks.local(x)

    options = {"bounds": cube(2), "radius": 0.05, "iterations": 50, "tolerance": 1e-9}
    climb(counted, np.array([[0.7, 0.7]]), UpperBound(0.0), **options)
    alone = len(calls)
    calls.clear()
    found = climb(counted, np.array([[0.2, 0.2], [0.7, 0.7]]), UpperBound(0.0), **options)
    assert len(calls) < alone
    assert found.values[0] == pytest.approx(2.0, abs=1e-4)
    assert found.values[1] < 1.0


def test_certainty_does_not_break_the_bound():
    """At a point known exactly the variance is zero to rounding; value and slopes stay finite."""
    gp = GP(RBF(0.3), Noise(1e-14), 2)
    for i in range(6):
        gp.append(np.array([0.1 * i, 0.5]), math.sin(i), float(i + 1))
    known = Posterior(gp, 9.0)
    for x in (np.array([0.2, 0.5]), np.array([0.2, 0.5 + 1e-9])):
        value, gradient, hessian = derivatives_at(UpperBound(2.0), known.local(x))
        assert np.isfinite([value, *gradient, *np.ravel(hessian)]).all()
        found = climb_at(known, x[None], 2.0)
        assert np.isfinite(found.values).all()
        assert found.values[0] >= value - 1e-6


@given(st.integers(1, 4), st.integers(0, 10_000), st.floats(-3.0, 3.0))
def test_the_uphill_step_solves_its_system(dim, seed, lift):
    """Definite or not: (shift I - H) p = g with the least shift, which is none for a definite -H."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((dim, dim))
    hessian = -(root @ root.T) + lift * np.eye(dim)
    gradient = rng.standard_normal(dim)
    step = np.array(uphill(hessian.tolist(), gradient.tolist()))
    lowest = float(np.linalg.eigvalsh(-hessian)[0])
    if lowest > 1e-4:
        np.testing.assert_allclose(-hessian @ step, gradient, rtol=1e-6, atol=1e-8)
    assert step @ gradient > 0.0
