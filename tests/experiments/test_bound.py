"""Theorem 1 in figures: against the functions of `theory`, against a calculation by hand, against samples."""

import json
import math

import numpy as np
import pytest

import windvane as wv
from windvane import theory
from windvane.errors import UnknownName
from windvane.experiments import bound, regret_bounds
from windvane.experiments.regret_bounds import BoundProblem, assumption3

ONES = {"a0": 1.0, "b0": 1.0, "a1": 1.0, "b1": 1.0}


def test_by_hand():
    """eps = 0.03, T = 100: N = ceil(12 * 0.03^-1/4) = 29, and every term written out."""
    problem = BoundProblem.of(
        rate=0.03, horizon=100, noise_variance=0.5, delta=0.2, dim=1, lengthscale=0.3, **ONES
    )
    assert problem.window() == (29, 29)
    found = problem.bound()
    t, d = 100, 0.2
    events = 2 * math.pi**2 * t**2 / (3 * d)
    beta = 2 * math.log(events) + 2 * math.log(t**2 * math.sqrt(math.log(events)))
    assert found.beta == pytest.approx(beta)
    gamma = problem.gain(29) / (1 - math.exp(-1))
    c1 = 8 / math.log(1 + 1 / 0.5)
    assert found.exploration == pytest.approx(math.sqrt(c1 * t * beta * (t / 29 + 1) * gamma))
    assert found.variance_mismatch == pytest.approx(t * 2 * math.sqrt(beta * (3 * 2 + 4) * 29**3 * 0.03))
    y_bar = (1 + math.sqrt(2 * 0.5)) * math.sqrt(math.log(4 * (1 + 1) * math.pi**2 * t**2 / (3 * d)))
    assert found.mean_mismatch == pytest.approx(t * 2 * (2 + 4) * 29**3 * 0.03 * y_bar)
    assert problem.trivial() == pytest.approx(2 * t * math.sqrt(math.log(math.pi**2 * t**2 / (6 * d))))
    assert bound.plain(problem)["total"] == pytest.approx(
        2 + found.exploration + found.variance_mismatch + found.mean_mismatch
    )


@pytest.mark.parametrize(("kernel", "smoothness"), [("rbf", {}), ("matern52", {"nu": 2.5, "dim": 2})])
def test_the_same_as_the_theory(kernel, smoothness):
    problem = BoundProblem.of(rate=0.02, rates=(0.01, 0.06), horizon=300, kernel=kernel)
    window = theory.reset_window((0.01, 0.06), 300, **smoothness)
    assert problem.window() == window
    assert problem.order == theory.corollary1_order(0.02, 300, 0.5, 3.0, **smoothness)
    assert problem.region == theory.sublinear_region(300, 0.5, 3.0, **smoothness)
    points = wv.Box([(0, 1)] * 2).candidates(regret_bounds.POINTS)
    gram = {"rbf": wv.RBF, "matern52": wv.Matern52}[kernel](0.2).matrix(points, points)
    gain = theory.greedy_information_gain(gram, 0.02, window[1]).gain
    assert problem.gain(window[1]) == pytest.approx(gain)
    constants = assumption3(kernel, 0.2, 2)
    expected = theory.theorem1_bound(
        300, 0.02, window, theory.gain_upper_bound(gain), 0.02, 0.1, 2,
        a0=constants.a0, b0=constants.b0, a1=constants.a1, b1=constants.b1,
    )  # fmt: skip
    assert problem.bound().total == pytest.approx(expected.total)


def test_assumption_3_holds_for_samples():
    """sup |f| and sup |df/dx| of 4000 samples of the squared exponential on [0, 1]^2, l = 0.2."""
    rng = np.random.default_rng(0)
    axis = np.linspace(0.0, 1.0, 41)
    gram = wv.RBF(0.2).matrix(axis[:, None], axis[:, None])
    root = np.linalg.cholesky(gram + 1e-9 * np.eye(41))
    fields = root @ rng.standard_normal((4000, 41, 41)) @ root.T
    slopes = np.gradient(fields, axis, axis=1)
    found = assumption3("rbf", 0.2, 2)
    for values, a, b in ((fields, found.a0, found.b0), (slopes, found.a1, found.b1)):
        highest = np.abs(values).max(axis=(1, 2))
        tightest = math.inf
        for level in np.quantile(highest, (0.02, 0.2, 0.5, 0.8, 0.95, 0.99, 0.998)):
            share = float((highest > level).mean())
            assert share <= a * math.exp(-((level / b) ** 2))
            tightest = min(tightest, a * math.exp(-((level / b) ** 2)) / max(share, 1e-9))
        assert tightest < 2.0  # at its closest; where two tails are about to add up to 1 they overlap


def test_assumption_3_in_the_limit_of_one_point():
    """With an endless lengthscale f is one normal number: 2 P{Z > L} <= exp(-L^2 / 4)."""
    assert assumption3("rbf", 1e3, 3).a0 == pytest.approx(1.0, abs=0.01)


def test_given_constants_are_used():
    problem = BoundProblem.of(a0=3.0, b1=7.0)
    own = assumption3("rbf", 0.2, 2)
    assert (problem.constants.a0, problem.constants.b1) == (3.0, 7.0)
    assert (problem.constants.b0, problem.constants.a1) == (own.b0, own.a1)


def test_where_the_bound_begins_to_say_something():
    problem = BoundProblem.of(rate=0.03)
    assert bound.plain(problem)["vacuous"] is True
    assert "VACUOUS" in bound.verdicts(problem)[0]
    edge = problem.informative
    for factor, vacuous in ((0.5, False), (2.0, True)):
        assert bound.plain(BoundProblem.of(rate=factor * edge))["vacuous"] is vacuous
    assert "says something here" in bound.verdicts(BoundProblem.of(rate=0.0))[0]
    assert BoundProblem.of(horizon=5).informative is None


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rate": 0.0}, "the rate is 0"),
        ({"rates": (0.0, 0.1)}, "lower bound on the rate is 0"),
        ({"rates": (0.01, 1.0)}, "upper bound on the rate is 1"),
        ({"rate": 1.0}, "upper bound on the rate is 1"),
    ],
)
def test_where_corollary_1_does_not_apply_the_rest_still_comes(options, says):
    problem = BoundProblem.of(horizon=60, **options)
    assert problem.order is None
    assert says in " ".join(bound.verdicts(problem))
    assert json.dumps(bound.plain(problem), allow_nan=False)
    assert "Theorem 1 at" in bound.markdown(problem)
    assert len(bound.figure(problem).axes) == 2


def test_gains_beyond_the_greedy_choice_are_bounded_by_its_last_increment(monkeypatch):
    problem = BoundProblem.of(horizon=200)
    points = wv.Box([(0, 1)] * 2).candidates(regret_bounds.POINTS)
    curve = theory.greedy_information_gain(wv.RBF(0.2).matrix(points, points), 0.02, 150).curve
    assert problem.gain(150) == pytest.approx(curve[149])
    monkeypatch.setattr(regret_bounds, "MOST_STEPS", 64)
    assert problem.gain(64) == pytest.approx(curve[63])
    assert problem.gain(65) == pytest.approx(curve[63] + (curve[63] - curve[62]))
    assert problem.gain(150) == pytest.approx(curve[63] + 86 * (curve[63] - curve[62]))
    assert problem.gain(150) > curve[149]  # increments fall, so the last one bounds those that follow


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"kernel": "matern32"}, wv.InvalidArgument, "need nu > 2"),
        ({"kernel": "mattern52"}, UnknownName, "did you mean 'matern52'"),
        ({"rate": 0.03, "rates": (0.04, 0.05)}, wv.InvalidArgument, "must enclose the rate"),
        ({"rate": 0.03, "rates": (0.05, 0.01)}, wv.InvalidArgument, "lowest first"),
        ({"rate": -1.0}, wv.InvalidArgument, "rate=-1"),
        ({"rate": math.nan}, wv.InvalidArgument, "rate=nan"),
        ({"horizon": 0}, wv.InvalidArgument, "horizon=0"),
        ({"delta": 1.0}, wv.InvalidArgument, "delta=1"),
        ({"noise_variance": 0.0}, wv.InvalidArgument, "noise_variance=0"),
        ({"lengthscale": 0.0}, wv.InvalidArgument, "lengthscale=0"),
        ({"dim": 0}, wv.InvalidArgument, "dim=0"),
        ({"a0": -1.0}, wv.InvalidArgument, "a0=-1"),
        ({"a1": 0.5}, wv.InvalidArgument, "a1=0.5"),
        ({"b0": 0.0}, wv.InvalidArgument, "b0=0"),
    ],
)
def test_mistakes(options, error, says):
    with pytest.raises(error) as caught:
        BoundProblem.of(**options)
    assert says in str(caught.value)


def test_the_figure():
    page = bound.figure(BoundProblem.of(rates=(0.01, 0.05), horizon=100))
    left, right = page.axes
    names = {"exploration", "variance mismatch", "mean mismatch", "Theorem 1", "trivial bound"}
    assert set(left.get_legend_handles_labels()[1]) == names
    assert (left.get_xscale(), left.get_yscale(), right.get_xscale()) == ("log", "log", "log")
