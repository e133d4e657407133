"""Simulated runs: functions with the right law, and what each contestant alone would do."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sklearn_kernels

import windvane as wv
from windvane.calibration.functions import Objective, Sample
from windvane.calibration.runs import CalibrationPlan, Luck, one_run

LINE = wv.Box([(0, 1)])
MIXED = wv.Space(gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 4), mode=wv.Choice(["a", "b"]))
ARMS_KERNEL = wv.Empirical(np.cov(np.random.default_rng(0).normal(size=(6, 40))) + 0.5)
GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.02}


# -- functions drawn where they are looked at ----------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "points"),
    [
        (wv.RBF(0.2), np.random.default_rng(1).uniform(size=(12, 2))),
        (wv.Matern32([0.2, 0.5], variance=3.0), np.random.default_rng(2).uniform(size=(40, 2))),
        (wv.Matern52(0.3) + wv.RBF(1.0), MIXED.sample(np.random.default_rng(3), 15)),
        (ARMS_KERNEL, np.arange(6.0)[:, None]),
    ],
    ids=["rbf", "matern", "mixed", "arms"],
)
def test_values_are_the_cholesky_factor_times_the_draws(kernel, points):
    draws = np.random.default_rng(4).standard_normal(len(points))
    sample = Sample(kernel)
    values = [sample.value(x, z) for x, z in zip(points, draws, strict=True)]
    factor = np.linalg.cholesky(kernel.matrix(points, points))
    np.testing.assert_allclose(values, factor @ draws, rtol=0, atol=1e-6)


def test_the_covariance_of_the_values():
    points = np.array([[0.1], [0.2], [0.5], [0.55]])
    rng, count = np.random.default_rng(5), 2000
    found = np.empty((count, 4))
    for row in found:
        sample, order = Sample(wv.RBF(0.2, variance=2.0)), rng.permutation(4)
        for i in order:
            row[i] = sample.value(points[i], rng.standard_normal())
    truth = 2.0 * sklearn_kernels.RBF(0.2)(points)
    np.testing.assert_allclose(np.cov(found.T), truth, atol=4 * 2.0 * math.sqrt(2 / count))
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=4 * math.sqrt(2.0 / count))


def test_drift_is_the_markov_chain_of_the_paper():
    rate, points = 0.3, np.array([[0.1], [0.2], [0.5], [0.2]])
    draws, objective = np.random.default_rng(7).standard_normal(4), Objective(wv.RBF(0.2), rate)
    values = [objective.value(x, (z, 0.0)) for x, z in zip(points, draws, strict=True)]
    steps = np.arange(4.0)
    ages = np.abs(steps[:, None] - steps)
    covariance = wv.RBF(0.2).matrix(points, points) * (1.0 - rate) ** (ages / 2.0)
    np.testing.assert_allclose(values, np.linalg.cholesky(covariance) @ draws, rtol=0, atol=1e-9)


def test_a_static_function_has_one_value_a_point_even_where_points_crowd():
    rng = np.random.default_rng(6)
    points = np.concatenate((rng.uniform(size=(100, 2)), 0.5 + 1e-3 * rng.normal(size=(200, 2))))
    sample = Sample(wv.RBF(0.3))
    first = [sample.value(x, rng.standard_normal()) for x in points]
    again = [sample.value(x, rng.standard_normal()) for x in points[::-1]]
    np.testing.assert_allclose(again[::-1], first, rtol=0, atol=1e-4)
    assert np.ptp(first[:100]) > 1.0


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_a_jump_replaces_a_share_of_the_variance(share):
    rng, count, x = np.random.default_rng(7), 2000, np.array([0.4])
    pairs = np.empty((count, 2))
    for row in pairs:
        objective = Objective(wv.RBF(0.2))
        row[0] = objective.value(x, tuple(rng.standard_normal(2)))
        objective.jump(share)
        row[1] = objective.value(x, tuple(rng.standard_normal(2)))
        assert abs(objective.value(x, (9.0, 9.0)) - row[1]) < 1e-6
    np.testing.assert_allclose(pairs.var(axis=0), 1.0, atol=4 * math.sqrt(2 / count))
    assert np.corrcoef(pairs.T)[0, 1] == pytest.approx(math.sqrt(1 - share), abs=4 / math.sqrt(count))


# -- the shortcut through a silent run -------------------------------------------------------------------


def plainly(plan, run):
    """What `one_run` gives, with an optimiser for each contestant and world, run from the first step."""
    luck = Luck(plan, run)
    sign = 1.0 if plan.goal == "maximize" else -1.0

    def events(composition, share):
        optimizer = wv.Optimizer(plan.space, composition, goal=plan.goal, seed=luck.seed)
        objective, scaling = Objective(plan.kernel), composition.model.scaling
        for t, (old, new, noise) in enumerate(luck.draws, start=1):
            if t == plan.jump_at and share is not None:
                objective.jump(share)
            x = optimizer.ask()
            f = objective.value(plan.space.encode(x), (old, new)) + math.sqrt(plan.noise_variance) * noise
            yield optimizer.tell(x, sign * (scaling.offset + scaling.scale * f))

    alarms, delays = [], []
    for one in plan.contestants:
        alarms.append(
            tuple(e.step for e in events(one, None) if e.reset and not e.reason.startswith("forced"))
        )
        resets = [[e.step for e in events(one, s) if e.reset and e.step >= plan.jump_at] for s in plan.jumps]
        delays.append(tuple(steps[0] - plan.jump_at + 1 if steps else None for steps in resets))
    return tuple(alarms), tuple(delays)


@dataclass(frozen=True)
class Once:
    """Fires at one step only, which it has to count itself."""

    at: int

    def start(self):
        return (0,)

    def test(self, memory, prediction, y, elapsed):
        count = memory[0] + 1
        fired = count == self.at
        return wv.Verdict(fired, float(fired), 0.5, "now" if fired else ""), (count,)


LOOSE = [
    wv.PosteriorBound(0.99),
    wv.Likelihood(0.9),
    wv.ExactBound(0.5),
    wv.EDetector(delta=0.9),
    wv.Periodic(7),
]


@pytest.mark.parametrize(
    ("name", "space", "triggers", "options"),
    [
        ("et-gp-ucb", LINE, [*LOOSE, wv.Confirmed(wv.ExactBound(0.9)), Once(20)], {}),
        ("et-gp-ucb-backtracking", LINE, LOOSE, {"goal": "minimize", "scaling": wv.Scaling(50.0, 3.0)}),
        ("et-gp-ucb", LINE, LOOSE, {"reset_window": (4, 9), "forced": "last"}),
        ("et-gp-ucb", MIXED, LOOSE[1:3], {}),
        ("et-gp-ucb", wv.Arms(6), LOOSE, {"kernel": ARMS_KERNEL, "max_points": 5}),
        ("et-gp-ucb", LINE, [wv.ExactBound(0.9), wv.Periodic(7)], {"noise_variance": None}),
    ],
    ids=["plain", "minimize", "window", "mixed", "arms", "learned"],
)
def test_a_run_is_what_each_contestant_alone_would_do(name, space, triggers, options):
    given = {**GIVEN, **options}
    made = [wv.make(name, space, trigger=trigger, seed=0, **given) for trigger in triggers]
    plan = CalibrationPlan(
        space=space,
        goal=made[0].goal,
        contestants=tuple(optimizer.composition for optimizer in made),
        kernel=given["kernel"],
        noise_variance=0.02,
        steps=26,
        jump_at=14,
        jumps=(0.3, 1.0),
        seed=3,
    )
    runs = range(1 if space is MIXED or given["noise_variance"] is None else 2)  # these are slow
    found = [one_run(plan, run) for run in runs]
    assert found == [plainly(plan, run) for run in runs]
    assert any(any(row) for record in found for row in record.alarms)
    assert any(delay for record in found for row in record.delays for delay in row)
