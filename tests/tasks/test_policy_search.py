"""The cart-pole: its model, its exact expected cost, its two optima."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.linalg import solve_discrete_lyapunov
from scipy.signal import cont2discrete

import windvane as wv
from windvane.tasks import PolicySearch
from windvane.tasks.policy_search import FRICTION, discretise, expected_costs, plant

MASS, ROD, DIAMETER, G = 0.0804, 0.147, 0.005, 9.81
INERTIA = MASS * ROD**2 / 3 + MASS * DIAMETER**2 / 16  # a rod about its end, by Steiner's theorem
START = np.array([4.0, 0.0, 0.1, -0.01])
LOW, HIGH = np.array([-3.0, -6.0, -50.0, -4.0]), np.array([-2.0, -4.0, -25.0, -2.0])
BOTH = (FRICTION, 2.5 * FRICTION)
TASK = PolicySearch()


def inside(count, seed=0):
    return np.random.default_rng(seed).uniform(LOW, HIGH, size=(count, 4))


def motion(z, u, friction):
    """The equations of motion, as on paper: all lags and gains are 1."""
    _, speed, angle, rate = z
    acceleration = u - speed
    torque = 0.5 * MASS * G * ROD * angle - friction * rate - 0.5 * MASS * ROD * acceleration
    return np.array([speed, acceleration, rate, torque / INERTIA])


def rollout(gain, friction, steps=1000, noise=None):
    """Cost of every step of a plain simulation; `noise` is steps x runs x 4."""
    A, B = discretise(friction)
    z = START[None] if noise is None else np.tile(START, (noise.shape[1], 1))
    costs = np.empty((steps, len(z)))
    for k in range(steps):
        u = -(z @ gain)
        costs[k] = 10.0 * (z * z).sum(axis=1) + u * u
        z = z @ A.T + u[:, None] * B[:, 0]
        if noise is not None:
            z = z + noise[k]
    return costs


@pytest.mark.parametrize("friction", BOTH)
def test_the_discrete_model_is_the_sampled_continuous_one(friction):
    A_c = np.array([motion(e, 0.0, friction) for e in np.eye(4)]).T
    B_c = motion(np.zeros(4), 1.0, friction)[:, None]
    A, B = discretise(friction)
    expected = cont2discrete((A_c, B_c, np.eye(4), np.zeros((4, 1))), 0.02, method="zoh")
    np.testing.assert_allclose(A, expected[0], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(B, expected[1], rtol=1e-12, atol=1e-15)
    path = solve_ivp(lambda _, z: motion(z, -0.7, friction), (0.0, 0.02), START, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(A @ START + B[:, 0] * -0.7, path.y[:, -1], rtol=1e-8)


def test_the_pole_falls_by_itself_and_friction_slows_the_fall():
    growth = [np.abs(np.linalg.eigvals(discretise(friction)[0])).max() for friction in (*BOTH, 10 * FRICTION)]
    assert growth[0] > growth[1] > growth[2] > 1.0


@pytest.mark.parametrize("friction", BOTH)
def test_the_expected_cost_is_the_sum_over_means_and_covariances(friction):
    A, B = discretise(friction)
    for gain in inside(4):
        F, S = A - B * gain, 10.0 * np.eye(4) + np.outer(gain, gain)
        mean, covariance, total = START, np.zeros((4, 4)), 0.0
        for _ in range(1000):
            total += mean @ S @ mean + np.trace(S @ covariance)
            mean, covariance = F @ mean, F @ covariance @ F.T + 6e-4**2 * np.eye(4)
        assert plant(friction).costs(gain[None])[0] == pytest.approx(total / 1000, rel=1e-11)


def test_the_expected_cost_is_the_mean_of_noisy_rollouts():
    gain = TASK.lqr_gain(1)
    noise = 6e-4 * np.random.default_rng(1).standard_normal((1000, 400, 4))
    # Each run has a twin with the opposite noise, which cancels what is linear in it: a sharper test.
    costs = sum(rollout(gain, FRICTION, noise=sign * noise).mean(axis=0) for sign in (1.0, -1.0)) / 2.0
    error = costs.std(ddof=1) / np.sqrt(len(costs))
    assert abs(costs.mean() - TASK.cost(gain, 1)) < 4.0 * error
    without = rollout(gain, FRICTION).mean()
    assert abs(costs.mean() - without) > 20.0 * error  # the noise is seen: this test could fail


@pytest.mark.parametrize("friction", BOTH)
def test_the_riccati_gain_minimises_the_infinite_horizon_cost(friction):
    A, B = discretise(friction)
    best = plant(friction).lqr

    def stationary(gain):  # the mean cost a step under unit noise, in the long run
        S = 10.0 * np.eye(4) + np.outer(gain, gain)
        return np.trace(S @ solve_discrete_lyapunov(A - B * gain, np.eye(4)))

    def from_start(gain):
        return rollout(gain, friction, steps=1500).sum()

    rng = np.random.default_rng(2)
    for cost in (stationary, from_start):
        least = cost(best)
        for i in range(4):
            step = 1e-4 * abs(best[i]) * np.eye(4)[i]
            assert abs(cost(best + step) - cost(best - step)) / 2e-4 < 1e-5 * least
        for _ in range(4):
            assert cost(best * (1.0 + 0.02 * rng.standard_normal(4))) > least


@pytest.mark.parametrize("t", [1, 99, 100, 300])
def test_the_lqr_gain_is_in_the_box_and_next_to_the_optimum(t):
    best, gain = TASK.optimum(t), TASK.lqr_gain(t)
    assert (gain > LOW).all()
    assert (gain < HIGH).all()
    assert 0.0 <= best - TASK.value(gain, t) < 1e-8
    np.testing.assert_allclose(gain, best.x, rtol=1e-3)
    assert TASK.value(best.x, t) == best


@pytest.mark.parametrize("t", [1, 100])
def test_no_value_is_above_the_optimum(t):
    gains = LOW + TASK.space.candidates(4096) * (HIGH - LOW)
    corners = np.array(list(itertools.product(*zip(LOW, HIGH, strict=True))))
    best = TASK.optimum(t)
    near = best.x * (1.0 + 1e-5 * np.random.default_rng(3).standard_normal((500, 4)))
    for points in (gains, corners, near):
        values = (TASK.scaling.offset - TASK.plant(t).costs(points)) / TASK.scaling.scale
        assert values.max() <= best + 1e-12


@given(st.tuples(*[st.floats(0.0, 1.0)] * 4), st.integers(1, 300))
@settings(max_examples=40, deadline=None)
def test_regret_is_never_negative(unit, t):
    assert TASK.value(TASK.space.decode(np.array(unit)), t) <= TASK.optimum(t) + 1e-12


@pytest.mark.parametrize("factor", [0.01, 4.0])
def test_the_optimum_for_other_frictions(factor):
    task = PolicySearch(factor=factor, change=1, horizon=2)
    values = [task.value(gain, 1) for gain in inside(100)]
    assert task.value(task.optimum(1).x, 1) == task.optimum(1) > max(values)
    assert task.space.encode(task.optimum(1).x).shape == (4,)


def test_every_gain_of_the_box_is_stable():
    axes = [np.linspace(low, high, 6) for low, high in zip(LOW, HIGH, strict=True)]
    gains = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 4)
    for factor in (0.01, 1.0, 2.5, 4.0):
        A, B = discretise(factor * FRICTION)
        assert np.abs(np.linalg.eigvals(A - B * gains[:, None, :])).max() < 1.0


def test_the_complex_step_is_the_derivative():
    A, B = discretise(FRICTION)
    gain, step = inside(1)[0], 1e-5
    exact = expected_costs(gain + 1e-30j * np.eye(4), A, B).imag / 1e-30
    ahead, behind = (expected_costs(gain + sign * step * np.eye(4), A, B) for sign in (1, -1))
    np.testing.assert_allclose(exact, (ahead - behind) / (2 * step), rtol=1e-5, atol=1e-8)


def test_the_change_moves_the_optimum_and_the_values():
    assert TASK.value(LOW, 99) == TASK.value(LOW, 1) != TASK.value(LOW, 100) == TASK.value(LOW, 300)
    before, after = TASK.optimum(99), TASK.optimum(100)
    seen = before - TASK.value(before.x, 100)  # the step in the observations of a converged optimiser
    lost = after - TASK.value(before.x, 100)  # what it goes on losing
    assert seen > 10.0 * np.sqrt(TASK.noise_variance)
    assert lost > np.sqrt(TASK.noise_variance)
    still = PolicySearch(factor=1.0)
    assert still.optimum(300) == still.optimum(1) == before
    assert PolicySearch(change=7).value(LOW, 7) == TASK.value(LOW, 100)
    assert PolicySearch(change=1000).value(LOW, 300) == TASK.value(LOW, 1)


def test_values_have_mean_0_and_variance_1_before_the_change():
    gains = inside(2000, seed=4)
    values = (TASK.scaling.offset - plant(FRICTION).costs(gains)) / TASK.scaling.scale
    assert abs(values.mean()) < 0.1
    assert values.std() == pytest.approx(1.0, abs=0.1)
    assert TASK.value(gains[0], 1) == pytest.approx(values[0], abs=1e-12)


def test_the_floor_cuts_off_the_worst_and_nothing_else():
    true = PolicySearch(floor=None)
    corners = np.array(list(itertools.product(*zip(LOW, HIGH, strict=True))))
    for t in (1, 100):
        values = np.array([true.value(x, t) for x in corners])
        assert values.min() == pytest.approx({1: -5.6, 100: -14.05}[t], abs=0.05)  # as documented
        assert [TASK.value(x, t) for x in corners] == np.maximum(values, -3.0).tolist()
        assert true.optimum(t) == TASK.optimum(t)
        spread = (TASK.scaling.offset - TASK.plant(t).costs(inside(20_000))) / TASK.scaling.scale
        assert (spread < -3.0).mean() == pytest.approx({1: 0.005, 100: 0.11}[t], rel=0.15)
    assert PolicySearch(factor=4.0).optimum(300) > -3.0  # never all of the box


def test_the_task_of_the_paper():
    task = wv.task("policy-search", seed=3)
    assert (task.name, task.horizon, task.change, task.factor) == ("policy-search", 300, 100, 2.5)
    assert (task.seed, task.noise_variance) == (3, 0.02)
    assert task.space == wv.Box(list(zip(LOW, HIGH, strict=True)))
    assert task.value(LOW, 5) == TASK.value(LOW, 5)  # the seed draws nothing
    widths = (HIGH - LOW) / np.array([1 / 8, 1 / 4, 3, 1 / 8])
    np.testing.assert_allclose(np.array(task.kernel.lengthscale) * widths, 4.2)  # the mode of Gamma(15, 10/3)
    assert task.search.learn == ("lengthscale",)
    prior = task.search.lengthscale_prior
    assert (prior.shape - 1) / prior.rate * 8 == pytest.approx(4.2)


def test_it_runs_with_learned_lengthscales():
    opt = wv.make(
        "gp-ucb",
        TASK.space,
        kernel=TASK.kernel,
        noise_variance=TASK.noise_variance,
        learning=wv.LearnOnline(search=TASK.search),
        seed=0,
    )
    trace = wv.simulate(opt, TASK, steps=15)
    assert (trace.regret >= 0.0).all()
    assert opt.model.kernel.variance == 1.0
    assert opt.model.kernel.lengthscale != TASK.kernel.lengthscale


def test_what_is_handed_out_cannot_spoil_the_task():
    for give in (lambda: TASK.optimum(1).x, lambda: TASK.lqr_gain(1)):
        first = give().copy()
        give()[:] = 0.0
        np.testing.assert_array_equal(give(), first)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed=-1"),
        ({"horizon": 0}, "horizon=0"),
        ({"change": 0}, "change=0"),
        ({"change": 1.5}, "change=1.5"),
        ({"factor": 0.0}, "factor=0.0"),
        ({"factor": 4.5}, "factor=4.5"),
        ({"factor": float("nan")}, "factor=nan"),
        ({"noise_variance": 0.0}, "noise_variance=0.0"),
        ({"floor": -1.0}, "floor=-1.0"),
        ({"floor": float("-inf")}, "floor=-inf"),
        ({"floor": "none"}, "floor='none'"),
        ({"rate": 0.03}, "does not use rate="),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(wv.WindvaneError, match=message):
        wv.task("policy-search", **options)


@pytest.mark.parametrize("x", [[0.0] * 4, LOW - 1.0, [np.nan] * 4, LOW[:3], "abcd", None])
def test_bad_points(x):
    with pytest.raises(wv.WindvaneError, match="x"):
        TASK.value(x, 1)


@pytest.mark.parametrize("t", [0, 301, 1.5, None])
def test_bad_times(t):
    for ask in (TASK.optimum, TASK.lqr_gain, lambda t: TASK.value(LOW, t)):
        with pytest.raises(wv.WindvaneError, match="t="):
            ask(t)
