"""One hypothesis of a mixture against dense solves and scikit-learn, however it came to its data."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from following import Following
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

from windvane import Arms, Box, Choice, Integer, Real, Space
from windvane.data import Observation
from windvane.errors import InvalidArgument
from windvane.kernels import RBF, Empirical, Markov, Matern52, Static, TimeMatern52
from windvane.kernels.state_space import VANISHED
from windvane.kernels.trends import TimeMatern32
from windvane.surrogates import Hypothesis, Mixture
from windvane.surrogates.mixture import surrogate as surrogate_module
from windvane.surrogates.mixture.hypotheses import CHANGED
from windvane.surrogates.mixture.member import Member
from windvane.surrogates.mixture.outliers import NoiseEstimate
from windvane.surrogates.mixture.seasons import season

BOX = Box([(0.0, 1.0), (0.0, 1.0)])
TEMPORALS = {
    "static": Static(),
    "markov": Markov(0.03),
    "fast": Markov(0.3),
    "larger": Static(9.0) * Markov(0.01),
    "trend": TimeMatern32(10.0),
    "half": Static(0.5) + Static(0.5) * Markov(0.2),
    "static + trend": Static(0.4) + TimeMatern32(5.0),
    "smooth trend": TimeMatern52(8.0),
    "a trend that fades": TimeMatern32(6.0) * Markov(0.05),
    "season": season(13.0),
}


def alone(temporal, space=BOX, kernel=None, **options):
    """A mixture with one hypothesis: its member is an exact GP, whatever the weights do."""
    settings = {"hazard": 0.0, "outliers": 0.02, "lead": 3.0, **options}
    model = Mixture(
        kernel or RBF([0.3, 0.4]), 0.02, hypotheses=(Hypothesis("it", temporal, 1.0),), **settings
    )
    return Following(space, model)


def value(x, t):
    return float(np.sin(4.0 * x[0] + 0.05 * t) + np.cos(3.0 * x[-1] - 0.02 * t))


def feed(blend, count, seed=0, gaps=(0.0, 0.25, 1.0, 1.0, 3.7)):
    """Random points at irregular times, some of them equal."""
    rng, dim = np.random.default_rng(seed), blend.domain.dim
    data = blend.data
    time, step = (float(data.times[-1]), int(data.steps[-1])) if len(data) else (0.0, 0)
    for _ in range(count):
        time, step = time + float(rng.choice(gaps)), step + 1
        x = blend.domain.sample(rng, 1)[0]
        y = value(x, time) + 0.1 * float(rng.normal())
        blend.extend(blend.data + Observation(x, y, time, step))
    assert dim == blend.data.dim


def clock(blend):
    """The times of the data in steps, as the hypotheses have them."""
    return blend.data.times / blend.model.interval


def dense(blend, member, points, now, lasting=False):
    """The posterior from its definition: the kernel, the noises as they were taken in, one solve.

    `now` is in steps. Either all of f, or what counts for the search: no common level, and the variance of what lasts.
    """
    kernel, temporal, first = blend.model.kernel, member.temporal, member.first
    X, t, y = blend.data.X[first:], clock(blend)[first:], blend.model.scaling.inward(blend.data.y)[first:]
    level = member.level
    K = kernel.matrix(X, X) * temporal.matrix(t, t) + np.diag(member.noises)
    if level is not None:
        K += level.matrix(t, t)
    cross, at = kernel.matrix(points, X), np.array([now])
    k = cross * temporal.matrix(at, t)
    if level is not None and not lasting:
        k = k + level.matrix(at, t)
    mean = k @ np.linalg.solve(K, y)
    prior = kernel.diagonal(points) * temporal.variance(now)
    if level is not None:
        prior = prior + level.variance(now)
    if lasting:
        state = member.dynamics
        tau = [member.lasting @ state.transition(now - s) @ state.stationary @ state.loading for s in t]
        k = cross * np.array(tau)
        prior = kernel.diagonal(points) * float(member.lasting @ state.stationary @ member.lasting)
    return mean, prior - np.einsum("mn,nm->m", k, np.linalg.solve(K, k.T))


def agrees(blend, member, later=(0.0, 0.4, 6.0), atol=1e-8):
    """Candidates, points anywhere, and one guess, at the last time and after it."""
    points = blend.domain.sample(np.random.default_rng(99), 7)
    X, last = blend.data.X, float(clock(blend)[-1])
    for dt in later:
        now = last + dt
        mean, variance = dense(blend, member, points, now)
        prior = blend.model.kernel.diagonal(points)
        for i, k in enumerate(blend.model.kernel.matrix(points, X)):
            guess = member.guess(k, float(prior[i]), now)
            assert guess.mean == pytest.approx(mean[i], abs=atol)
            assert guess.variance == pytest.approx(variance[i], abs=atol)
        if member.watched:
            cache = blend._cache
            got = member.on_candidates(cache.prior, now)
            mean, variance = dense(blend, member, cache.points, now, lasting=True)
            np.testing.assert_allclose(got[0], mean, atol=atol)
            np.testing.assert_allclose(got[1], np.maximum(variance, 0.0), atol=atol)


@pytest.mark.parametrize("name", TEMPORALS)
def test_kept_step_by_step_it_is_a_direct_solve(name):
    blend = alone(TEMPORALS[name])
    for _ in range(3):
        feed(blend, 14, seed=len(blend.data))
        agrees(blend, blend.members[0])
    assert len(set(blend.members[0].noises.tolist())) > 20  # each observation has its own noise


@pytest.mark.parametrize(
    ("space", "kernel"),
    [
        (Box([(0.0, 1.0)]), Matern52(0.3)),
        (Box([(0.0, 1.0)] * 3), RBF(0.5)),
        (Box([(0.0, 1.0)] * 4), RBF(0.5, 2.0)),
        (Space(gain=Real(0.1, 10, log=True), taps=Integer(1, 4), mode=Choice(["a", "b"])), Matern52(0.4)),
        (Arms(6), Empirical(np.exp(-np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))) * 2.0)),
    ],
    ids=["line", "cube", "4-d", "mixed", "arms"],
)
@pytest.mark.parametrize("name", ["markov", "static + trend"])
def test_on_every_kind_of_space(space, kernel, name):
    blend = alone(TEMPORALS[name], space, kernel)
    feed(blend, 20)
    agrees(blend, blend.members[0])


def test_scikit_learn_agrees_on_the_static_member():
    blend = alone(Static(), kernel=RBF(0.3), outliers=0.0, doubt=1e12)  # the noise told is the noise used
    feed(blend, 35)
    oracle = GaussianProcessRegressor(sk.RBF(0.3), alpha=0.02, optimizer=None).fit(blend.data.X, blend.data.y)
    mean, std = oracle.predict(blend._cache.points, return_std=True)
    got = blend.members[0].on_candidates(blend._cache.prior, 1e6)
    np.testing.assert_allclose(got[0], mean, atol=1e-8)
    np.testing.assert_allclose(np.sqrt(got[1]), std, atol=1e-8)


@pytest.mark.parametrize("name", TEMPORALS)
def test_unwatched_for_a_while(name):
    """What it keeps on the candidates after it was watched again is what it would have kept."""
    blend, twin = alone(TEMPORALS[name]), alone(TEMPORALS[name])
    for each in (blend, twin):
        feed(each, 12)
    member = blend.members[0]
    member.unwatch()
    assert not member.watched
    agrees(blend, member)
    member.watch(blend._cache.rows())
    agrees(blend, member)
    feed(blend, 9, seed=5)
    feed(twin, 9, seed=5)
    member = blend.members[0]
    agrees(blend, member)
    now = float(clock(blend)[-1]) + 1.0
    for one, other in zip(
        member.on_candidates(blend._cache.prior, now),
        twin.members[0].on_candidates(twin._cache.prior, now),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_unwatched_while_observations_come_in():
    """With two hypotheses one can be left unwatched; it goes on learning."""
    hypotheses = (Hypothesis("static", Static(), 1.0), Hypothesis("trend", TimeMatern32(8.0), 1e-3))
    blend = Following(BOX, Mixture(RBF(0.3), 0.02, hypotheses=hypotheses, hazard=0.0, share=0.0))
    seen = set()
    for seed in range(6):
        feed(blend, 5, seed=seed)
        light = blend.members[1]
        if seed % 2 and not light.watched:
            light.watch(blend._cache.rows())
        elif light.watched:
            light.unwatch()
        for member in blend.members:
            seen.add((member.label, member.watched))
            agrees(blend, member)
    assert {("trend", True), ("trend", False)} <= seen


@pytest.mark.parametrize("name", TEMPORALS)
def test_looking_ahead_changes_nothing(name):
    curious, quiet = alone(TEMPORALS[name]), alone(TEMPORALS[name])
    rng = np.random.default_rng(0)
    for step in range(1, 16):
        x, time = rng.uniform(size=2), 0.7 * step
        for later in (30.0, 2.0):
            curious.posterior(time + later).on_candidates()
            curious.forecast(x, time + later)
        for each in (curious, quiet):
            each.extend(each.data + Observation(x, value(x, time), time, step))
    now = 0.7 * 15 + 1.0
    for one, other in zip(
        curious.posterior(now).on_candidates(), quiet.posterior(now).on_candidates(), strict=True
    ):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("name", ["fast", "trend"])
def test_old_observations_are_left_out_within_what_vanished_means(name):
    """The mean and variance without them, against a dense solve that has all the data."""
    temporal = {"fast": Markov(0.3), "trend": TimeMatern32(4.0)}[name]
    blend = alone(temporal, outliers=0.0, doubt=1e12)
    feed(blend, 130, gaps=(1.0, 2.0))
    member = blend.members[0]
    assert member.first > 20  # some are gone
    assert len(member) == len(member.noises) == 130 - member.first
    agrees(blend, member)  # exact for the data it has
    everything = SimpleNamespace(**vars(member))
    everything.first, everything.noises = 0, np.full(130, 0.02)
    now = float(clock(blend)[-1]) + 1.0
    for lasting in (False, True):
        mean, variance = dense(blend, member, blend._cache.points, now, lasting)
        full = dense(blend, everything, blend._cache.points, now, lasting)
        np.testing.assert_allclose(mean, full[0], atol=20.0 * VANISHED * np.abs(blend.data.y).max())
        np.testing.assert_allclose(variance, full[1], atol=20.0 * VANISHED)


def test_what_is_left_keeps_its_own_noise():
    blend, given = alone(Markov(0.3)), {}
    for seed in range(110):
        feed(blend, 1, seed=seed, gaps=(1.0,))
        member = blend.members[0]
        given[int(blend.data.steps[-1])] = float(member.noises[-1])
    assert member.first > 0
    assert len(set(given.values())) > 80
    assert member.noises.tolist() == [given[step] for step in blend.data.steps[member.first :].tolist()]


def test_what_never_fades_is_never_left_out():
    for name in ("static", "half", "static + trend"):
        blend = alone(TEMPORALS[name])
        feed(blend, 70, gaps=(30.0,))
        assert blend.members[0].first == 0


@pytest.mark.parametrize("name", TEMPORALS)
def test_after_observations_were_dropped(name):
    """follow() with any subset, twice, and with a new observation on top."""
    blend, rng = alone(TEMPORALS[name]), np.random.default_rng(3)
    feed(blend, 30)
    for drop in (7, 11):
        noises = dict(
            zip(blend.data.steps.tolist()[blend.members[0].first :], blend.members[0].noises, strict=True)
        )
        last = blend.data[-1]
        new = Observation(rng.uniform(size=2), 0.3, last.time + 1.0, last.step + 1)
        kept = np.sort(rng.choice(len(blend.data), len(blend.data) - drop, replace=False))
        blend.follow(blend.data.take(kept) + new)
        member = blend.members[0]
        assert len(blend.data) == len(kept) + 1
        own = blend.data.steps.tolist()[member.first :]
        assert all(noises.get(step, noise) == noise for step, noise in zip(own, member.noises, strict=True))
        agrees(blend, member)
        feed(blend, 5, seed=drop)
        agrees(blend, blend.members[0])


def test_follow_with_nothing_dropped_is_extend():
    one, other = alone(TEMPORALS["half"]), alone(TEMPORALS["half"])
    for each in (one, other):
        feed(each, 10)
    new = Observation(np.array([0.2, 0.9]), 0.5, 40.0, 11)
    one.follow(one.data + new)
    other.extend(other.data + new)
    for a, b in zip(one.posterior(41.0).on_candidates(), other.posterior(41.0).on_candidates(), strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("name", TEMPORALS)
def test_past_fresh_starts(name, monkeypatch):
    monkeypatch.setattr(surrogate_module, "REFRESH", 7)
    blend, plain = alone(TEMPORALS[name]), alone(TEMPORALS[name])
    feed(blend, 30)
    agrees(blend, blend.members[0])
    assert len(blend._journal) < 7
    monkeypatch.setattr(surrogate_module, "REFRESH", 1000)
    feed(plain, 30)
    now = float(plain.data.times[-1]) + 2.0
    for a, b in zip(blend.posterior(now).on_candidates(), plain.posterior(now).on_candidates(), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_innovations_are_the_one_step_predictions():
    blend, rng = alone(TEMPORALS["half"], outliers=0.0), np.random.default_rng(0)
    expected = []
    for step in range(1, 25):
        x, time = rng.uniform(size=2), 1.3 * step
        guess = blend.forecast(x, time).projection[0]
        y = value(x, time)
        blend.extend(blend.data + Observation(x, y, time, step))
        expected.append((y - guess.mean, guess.variance))
    off, variance = blend.members[0].innovations()
    np.testing.assert_allclose(off, [pair[0] for pair in expected], atol=1e-9)
    np.testing.assert_allclose(variance, [pair[1] for pair in expected], rtol=1e-9, atol=1e-9)


def test_left_out_is_what_all_others_say():
    blend = alone(TEMPORALS["half"])
    feed(blend, 20)
    member, t, y = blend.members[0], clock(blend), blend.data.y
    K = blend.model.kernel.matrix(blend.data.X, blend.data.X) * member.temporal.matrix(t, t)
    residual, variance = member.left_out(np.array([3, 11]))
    for i, row in enumerate((3, 11)):
        rest = np.delete(np.arange(20), row)
        solved = np.linalg.solve(
            K[np.ix_(rest, rest)] + np.diag(member.noises[rest]), np.stack((y[rest], K[rest, row]), axis=1)
        )
        assert residual[i] == pytest.approx(y[row] - K[row, rest] @ solved[:, 0])
        assert variance[i] == pytest.approx(K[row, row] - K[row, rest] @ solved[:, 1])


def test_at_its_own_data_the_static_posterior_is_exact():
    blend = alone(Static())
    feed(blend, 25)
    member, prior = blend.members[0], blend.model.kernel.diagonal(blend.data.X)
    got = member.on_data(blend._y, prior, 100.0)
    expected = dense(blend, member, blend.data.X, 100.0)
    np.testing.assert_allclose(got[0], expected[0], atol=1e-9)
    np.testing.assert_allclose(got[1], expected[1], atol=1e-9)


def test_at_its_own_data_what_fades_goes_back_to_the_prior():
    blend = alone(Markov(0.1))
    feed(blend, 10)
    member = blend.members[0]
    mean, variance = member.on_data(blend._y, np.ones(10), float(clock(blend)[-1]) + 500.0)
    np.testing.assert_allclose(mean, 0.0, atol=1e-9)
    np.testing.assert_allclose(variance, 1.0, atol=1e-9)


def test_an_empty_member_is_the_prior():
    for name, temporal in TEMPORALS.items():
        blend = alone(temporal)
        member = blend.members[0]
        mean, variance = member.on_candidates(blend._cache.prior, 3.0)
        assert (mean == 0.0).all(), name
        np.testing.assert_allclose(variance, member.lasting @ member.dynamics.stationary @ member.lasting)
        guess = member.guess(np.empty(0), 1.0, 3.0)
        assert (guess.mean, guess.variance) == (0.0, pytest.approx(temporal.variance(3.0)))


@pytest.mark.parametrize("noise", [1e-10, 1e-7])
def test_duplicates_and_tiny_noise_stay_finite(noise):
    rng = np.random.default_rng(0)
    for name in ("static", "trend", "half"):
        model = Mixture(RBF(0.3), noise, hypotheses=(Hypothesis("it", TEMPORALS[name], 1.0),), hazard=0.0)
        blend, sites = Following(BOX, model), rng.uniform(size=(3, 2))
        for step in range(1, 61):
            x = np.clip(sites[step % 3] + rng.choice([0.0, 1e-9]) * rng.normal(size=2), 0.0, 1.0)
            blend.extend(blend.data + Observation(x, math.sin(5.0 * x[0]), float(step), step))
        mean, variance = blend.posterior(61.0).on_candidates()
        assert np.isfinite(mean).all()
        assert np.isfinite(variance).all()
        assert variance.min() >= 0.0
        off = 0.2 if name == "trend" else 0.05  # of two or three steps ago, and it does not stand still
        got = blend.predict(sites, 61.0)[0]
        np.testing.assert_allclose(got, np.sin(5.0 * sites[:, 0]), atol=off, err_msg=name)


def test_a_covariance_that_cholesky_refuses():
    """Copies of a point with noise at rounding level: the rebuild goes row by row."""
    member, n = alone(Static()).members[0], 120
    member.noises = np.full(n, 1e-17)
    member.rebuild(np.ones((n, n)), np.ones(n), np.arange(1.0, n + 1.0), float(n))
    guess = member.guess(np.ones(n), 1.0, 200.0)
    assert guess.mean == pytest.approx(1.0, abs=1e-3)
    assert 0.0 <= guess.variance < 1e-6


# -- a level that moves as a whole --------------------------------------------------------------------

LEVELS = {
    "static": Static(2.0),
    "markov": Markov(0.1),
    "larger": Static(4.0) * Markov(0.03),
}


def levelled(temporal, level):
    hypothesis = Hypothesis("it", temporal, 1.0, level=level)
    model = Mixture(RBF([0.3, 0.4]), 0.02, hypotheses=(hypothesis,), hazard=0.0, outliers=0.02, lead=3.0)
    return Following(BOX, model)


@pytest.mark.parametrize(
    "level",
    LEVELS,
)
@pytest.mark.parametrize("name", ["static", "markov", "half"])
def test_with_a_level_it_is_a_direct_solve(name, level, monkeypatch):
    blend = levelled(TEMPORALS[name], LEVELS[level])
    feed(blend, 15)
    agrees(blend, blend.members[0])
    monkeypatch.setattr(surrogate_module, "REFRESH", 6)
    feed(blend, 8, seed=2)
    agrees(blend, blend.members[0])
    last = blend.data[-1]
    new = Observation(np.array([0.3, 0.3]), 0.1, last.time + 1.0, last.step + 1)
    blend.follow(blend.data.take(np.arange(4, len(blend.data))) + new)
    agrees(blend, blend.members[0])


def test_a_level_that_lasts_longer_than_the_shape_is_not_forgotten():
    """The shape is lost in some 25 steps, the level never: what is old still tells the level."""
    blend = levelled(Markov(0.5), Static(4.0))
    feed(blend, 90, gaps=(1.0,))
    member = blend.members[0]
    everything = SimpleNamespace(**vars(member))
    everything.first = 0
    everything.noises = np.concatenate((np.full(member.first, 0.02), member.noises))
    now, points = float(clock(blend)[-1]) + 1.0, blend.domain.sample(np.random.default_rng(0), 5)
    _, variance = dense(blend, member, points, now)
    np.testing.assert_allclose(variance, dense(blend, everything, points, now)[1], rtol=0.02)


@pytest.mark.parametrize("level", [TimeMatern32(6.0), Static(0.5) + Markov(0.2)])
def test_a_level_with_more_than_one_state_is_refused(level):
    with pytest.raises(InvalidArgument, match="level"):
        Hypothesis("it", Static(), 1.0, level=level)


@pytest.mark.parametrize("lift", [1e20, 1e40, 1e100])
@pytest.mark.parametrize("noise", [1e-10, 1e-2])
def test_a_level_so_far_away_that_rounding_is_larger_than_noise(lift, noise):
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 2)), rng.normal(size=40)
    K = RBF(0.5).matrix(X, X)
    member = Member(CHANGED, NoiseEstimate.about(0.01, 10.0), lead=1.0).moved(lift, 20, 1)
    member.noises = np.full(38, noise)
    member.noises[5] = 1e100
    member.rebuild(K[:38, :38], y[:38], np.arange(38.0), 38.0)
    for row in (38, 39):
        guess = member.guess(K[row, :row], 1.0, float(row))
        assert math.isfinite(guess.mean)
        assert 0.0 <= guess.variance <= lift + 1.0
        _, pivot, step = member.weights_for(guess, float(y[row]), noise)
        member.absorb(None, np.empty(0), pivot, step, float(row))
    assert np.isfinite(member.alpha).all()
