"""A level that moves while the shape stays: the GP of that against dense solves, and what is done about it."""

import json
import math

import numpy as np
import pytest
from following import Following

from windvane import Box
from windvane.data import Change, Dataset, Observation, Opinion, Verdict
from windvane.kernels import RBF, Markov, Static
from windvane.kernels.trends import TimeMatern32
from windvane.retention import SinceChange
from windvane.surrogates import Hypothesis, Mixture
from windvane.surrogates.mixture import surrogate as surrogate_module
from windvane.triggers import BelievedChange

LINE = Box([(0.0, 1.0)])
PARENTS = {
    "static": Hypothesis("it", Static(), 1.0),
    "markov": Hypothesis("it", Markov(0.05), 1.0),
    "trend": Hypothesis("it", TimeMatern32(20.0), 1.0),
    "half": Hypothesis("it", Static(0.5) + Static(0.5) * Markov(0.2), 1.0),
    "level": Hypothesis("it", Markov(0.02), 1.0, level=Static(0.5) * Markov(0.02)),
}


def told(hypothesis=PARENTS["static"], count=20, jump=-4.0, after=4, **options):
    """A sine whose level moves after `count` observations."""
    model = Mixture(RBF(0.25), 0.02, hypotheses=(hypothesis,), **options)
    blend, rng = Following(LINE, model), np.random.default_rng(1)
    for step in range(1, count + after + 1):
        x = rng.uniform(size=1)
        y = math.sin(6.0 * x[0]) + jump * (step > count) + 0.1 * float(rng.normal())
        blend.extend(blend.data + Observation(x, y, 1.5 * step, step))
    return blend


def moved(blend):
    return [member for member in blend.members if member.turn is not None]


def dense(blend, member, points, now):
    """k_S k_T + level + lift 1[i >= turn] 1[j >= turn], solved as it stands; with the part of the move alone."""
    X, t = blend.data.X[member.first :], blend.data.times[member.first :] / blend.model.interval
    y, at = blend.model.scaling.inward(blend.data.y)[member.first :], np.array([now])
    kernel, since = (
        blend.model.kernel,
        (np.arange(member.first, len(blend.data)) >= member.turn).astype(float),
    )
    K = kernel.matrix(X, X) * member.temporal.matrix(t, t) + member.lift * np.outer(since, since)
    k = kernel.matrix(points, X) * member.temporal.matrix(at, t) + member.lift * since
    prior = kernel.diagonal(points) * member.temporal.variance(now) + member.lift
    if member.level is not None:
        K, k = K + member.level.matrix(t, t), k + member.level.matrix(at, t)
        prior = prior + member.level.variance(now)
    for step, spread in blend.model.moves:
        old = (blend.data.steps[member.first :] < step).astype(float)
        K = K + (spread / blend.model.scaling.scale) ** 2 * np.outer(old, old)
    K = K + np.diag(member.noises)
    mean = k @ np.linalg.solve(K, y)
    return (
        mean,
        prior - np.einsum("mn,nm->m", k, np.linalg.solve(K, k.T)),
        member.lift * since @ np.linalg.solve(K, y),
    )


@pytest.mark.parametrize("refresh", [3, 256])
@pytest.mark.parametrize("name", PARENTS)
def test_a_level_that_moved_is_a_direct_solve(name, refresh, monkeypatch):
    monkeypatch.setattr(surrogate_module, "REFRESH", refresh)
    blend = told(PARENTS[name])
    points, now = np.linspace(0.0, 1.0, 6)[:, None], float(blend.data.times[-1]) / blend.model.interval
    runs = moved(blend)
    assert runs[0].born == 21
    for run in runs:
        for later in (0.0, 0.7, 5.0):
            mean, variance, move = dense(blend, run, points, now + later)
            for k, m, v in zip(blend.model.kernel.matrix(points, blend.data.X), mean, variance, strict=True):
                guess = run.guess(k, 1.0, now + later)
                assert guess.mean == pytest.approx(m, abs=1e-8)
                assert guess.variance == pytest.approx(v, abs=1e-8)
            assert run.move == pytest.approx(move, abs=1e-8)
    assert runs[0].move == pytest.approx(-4.0, abs=0.6)


def test_the_level_of_the_opinion_is_that_of_the_dense_solve_after_it():
    blend = told()
    change = next(change for change in blend.opinion.changes if change.kind == "level")
    run = moved(blend)[0]
    now = float(blend.data.times[-1]) / blend.model.interval
    _, _, move = dense(blend, run, np.zeros((1, 1)), now)
    assert change.step == run.born == 21
    assert change.level == pytest.approx(move, abs=1e-8)
    since = (np.arange(len(blend.data)) >= run.turn).astype(float) * run.lift
    K = blend.model.kernel.matrix(blend.data.X, blend.data.X) + np.outer(since, since) / run.lift
    left = run.lift - since @ np.linalg.solve(K + np.diag(run.noises), since)
    assert change.spread == pytest.approx(math.sqrt(left), abs=1e-8)


def test_a_value_that_is_near_bears_no_move():
    assert not moved(told(jump=0.0))
    assert not moved(told(count=8, after=2))  # nor do so few


def levelled(blend, believed=0.5):
    verdict = blend.verdict(believed)
    assert verdict.change is not None
    assert verdict.change.kind == "level"
    data = SinceChange().keep(blend.data, lambda data, new: False, verdict)
    before = told(after=3)
    opinion = before.weigh(blend.data[-1], before.forecast(blend.data.X[-1], float(blend.data.times[-1])))
    return verdict, data, before.restart(data, opinion, verdict.change)


def test_once_it_is_believed_nothing_is_dropped_and_the_past_is_at_the_new_level():
    blend = told()
    verdict, data, after = levelled(blend)
    assert verdict.since == 21
    assert len(data) == len(blend.data) == 24
    np.testing.assert_allclose(data.y[:20], blend.data.y[:20] + verdict.change.level)
    np.testing.assert_array_equal(data.y[20:], blend.data.y[20:])
    assert after.model.moves == ((21, verdict.change.spread),)
    assert after.model.scaling.offset == pytest.approx(verdict.change.level)
    mean, std = after.predict(np.array([[0.26], [0.785]]), 40.0)
    np.testing.assert_allclose(mean, [-3.0, -5.0], atol=0.3)
    assert (std < 0.2).all()
    # what all observations from before have in common is uncertain, and no other covariance has changed
    member = after.members[0]
    K = np.linalg.inv(member.factor.W.T @ member.factor.W)
    expected = after.model.kernel.matrix(data.X, data.X) + np.diag(member.noises)
    expected[:20, :20] += verdict.change.spread**2
    np.testing.assert_allclose(K, expected, atol=1e-9)


def test_that_everything_has_changed_stays_possible():
    blend = told()
    _, _, after = levelled(blend)
    kept = {name: weight for name, weight in after.beliefs().items() if name.startswith("changed at")}
    assert set(kept) <= set(blend.beliefs())
    assert kept
    assert all(weight > 0.0 for weight in kept.values())
    assert not any(name.startswith("level") for name in after.beliefs())
    assert sum(after.beliefs().values()) == pytest.approx(1.0)


def test_what_is_in_doubt_and_what_is_believed_are_restored_to_the_bit():
    blend = told()
    assert moved(blend)
    for surrogate in (blend.now, levelled(blend)[2]):
        state = json.loads(json.dumps(surrogate.state()))
        again = surrogate.model.restored(LINE, state)
        assert again.state() == surrogate.state()
        assert again.beliefs() == surrogate.beliefs()
        points = np.linspace(0.0, 1.0, 5)[:, None]
        np.testing.assert_array_equal(again.predict(points, 40.0), surrogate.predict(points, 40.0))


@pytest.mark.parametrize(
    ("new", "level", "kind"),
    [
        (0.95, 0.03, "new"),
        (0.05, 0.9, "level"),
        (0.3, 0.65, "level"),
        (0.55, 0.4, "level"),
        (0.65, 0.3, "new"),
        (0.4, 0.3, None),
    ],
)
def test_all_is_new_if_that_is_twice_as_probable(new, level, kind):
    changes = (Change(3, new), Change(4, level, -2.0, "level", 0.1))
    verdict, _ = BelievedChange(0.9).test((), None, 0.0, 9, Opinion(0.0, changes=changes))
    assert verdict.fired == (kind is not None)
    assert verdict.fired == (verdict.statistic > verdict.threshold)
    if kind is not None:
        assert verdict.change.kind == kind
        assert ("shape" in verdict.reason) == (kind == "level")


def test_a_verdict_without_a_change_keeps_what_came_since():
    data = Dataset(np.zeros((4, 1)), np.ones(4), np.arange(4.0), np.arange(1, 5))
    kept = SinceChange().keep(data, lambda kept, new: False, Verdict(True, 0.95, 0.9, since=3))
    assert kept.steps.tolist() == [3, 4]


def test_fits_while_a_move_is_in_doubt_see_the_shape_alone():
    """The heaviest hypothesis is that the level moved: lengthscale and noise are as if it had not."""
    from windvane.surrogates import Search

    blend, still = told(after=12, hazard=0.05), told(after=12, jump=0.0, hazard=0.05)
    assert blend.heaviest.turn is not None
    fitted, reference = (each.now.learn(Search(), True, 0) for each in (blend, still))
    assert fitted.model.scaling.offset == pytest.approx(reference.model.scaling.offset, abs=0.2)
    assert fitted.model.scaling.scale == pytest.approx(reference.model.scaling.scale, rel=0.2)
    assert fitted.model.noise_variance < 3.0 * reference.model.noise_variance
    run = next(member for member in fitted.members if member.turn is not None)
    assert fitted.model.scaling.scale * run.move == pytest.approx(-4.0, abs=0.4)


def test_in_dispute_levels_count_and_the_derivatives_know():
    """Between a level that moved and everything new, variance by hand; gradients by differences; `local` agrees."""
    blend, now = told(after=2), 40.0
    runs = blend.members[blend.permanent :]
    level = next(member for member in runs if member.turn is not None)
    new = next(member for member in runs if member.turn is None and len(member))
    acting = disputed = [(0.25, blend.members[0]), (0.4, level), (0.35, new)]
    moment, points = now / blend.model.interval, np.linspace(0.07, 0.93, 5)[:, None]
    posterior = blend._moment(acting, now)
    within, means = np.zeros(5), []
    for weight, member in acting:
        view, k = member.at(moment), blend.model.kernel.matrix(points, blend.data.X[member.first :])
        v = (k * view.lasting) @ member.factor.W.T
        within += weight * (member.lasting_variance - (v * v).sum(axis=1))
        if weight >= 0.1:
            means.append((k * view.fading + view.level) @ member.alpha)
    weights = np.array([weight for weight, _ in disputed])
    off = np.array(means) - weights @ np.array(means) / weights.sum()
    expected = within + weights @ off**2
    np.testing.assert_allclose(posterior.at(points)[1], expected, atol=1e-9)
    surface = posterior.surface(points)
    np.testing.assert_allclose(surface.variance, expected, atol=1e-9)
    np.testing.assert_allclose(np.diagonal(posterior.covariance(points)), expected, atol=1e-9)
    step = 1e-5
    slope = (posterior.at(points + step)[1] - posterior.at(points - step)[1]) / (2.0 * step)
    np.testing.assert_allclose(surface.variance_gradient[:, 0], slope, atol=1e-5)
    for row, x in enumerate(points):
        local = posterior.local(x)
        assert local.prior - local.gram[0][0] == pytest.approx(expected[row], abs=1e-9)
        assert -2.0 * local.gram[0][1] == pytest.approx(slope[row], abs=1e-5)
