"""A part of each place alone: against dense solves with the stated covariance, however it came to its data."""

import json

import numpy as np
import pytest
from following import Following
from scipy.stats import multivariate_normal

import windvane as wv
from windvane import Arms, Box
from windvane.codec import decode, encode
from windvane.data import Observation
from windvane.errors import InvalidType
from windvane.kernels import RBF, Empirical, Exchangeable, Markov, Static
from windvane.kernels.trends import TimeMatern32
from windvane.surrogates.mixture import LOCAL, LocalHypothesis, Mixture
from windvane.surrogates.mixture import surrogate as surrogate_module

ROOT = np.random.default_rng(5).normal(size=(7, 7))
COVARIANCE = Empirical(ROOT @ ROOT.T / 7.0)
SPACES = {
    "covariance": (Arms(7), COVARIANCE),
    "exchangeable": (Arms(7), Exchangeable(7, 0.4, 1.3)),
    "box": (Box([(0.0, 1.0)]), RBF(0.3)),
}
LOCALS = {
    "markov": LocalHypothesis("it", Markov(0.01), 1.0, local=Static(0.7) * Markov(0.2)),
    "levels": LocalHypothesis("it", Markov(0.05), 1.0, local=Static(2.0)),
    "both": LocalHypothesis(
        "it", Static(0.5) + Static(0.5) * Markov(0.03), 1.0, local=Static(0.3) + TimeMatern32(5.0)
    ),
    "level of all": LocalHypothesis("it", Static(), 1.0, level=Static(2.0) * Markov(0.1), local=Markov(0.3)),
}
LEAD = 3.0


def following(space, kernel, *hypotheses, **options):
    settings = {"hazard": 0.0, "outliers": 0.0, "lead": LEAD, **options}
    return Following(space, Mixture(kernel, 0.02, hypotheses=hypotheses, **settings))


def feed(blend, count, seed=0):
    """Few places at irregular times, so that most of them are seen again."""
    rng, data = np.random.default_rng(seed), blend.data
    time, step = (float(data.times[-1]), int(data.steps[-1])) if len(data) else (0.0, 0)
    places = blend.domain.sample(np.random.default_rng(3), 5)
    for _ in range(count):
        time, step = time + float(rng.choice((0.0, 0.5, 1.0, 1.0, 4.0))), step + 1
        x = places[rng.integers(len(places))]
        y = float(np.sin(x[0] + 0.1 * time) + 0.3 * rng.normal())
        blend.extend(blend.data + Observation(x, y, time, step))


def covariance(kernel, hypothesis, A, s, B, t, part="all"):
    """cov(f(a, s), f(b, t)) from its definition; what counts for the search has no level."""
    equal = (A[:, None, :] == B[None, :, :]).all(axis=2)
    K = kernel.matrix(A, B) * hypothesis.temporal.matrix(s, t)
    K = K + np.where(equal, kernel.diagonal(A)[:, None], 0.0) * hypothesis.local.matrix(s, t)
    return K if hypothesis.level is None or part == "shape" else K + hypothesis.level.matrix(s, t)


@pytest.mark.parametrize("where", SPACES)
@pytest.mark.parametrize("name", LOCALS)
def test_step_by_step_it_is_a_direct_solve(name, where):
    hypothesis, (space, kernel) = LOCALS[name], SPACES[where]
    blend = following(space, kernel, hypothesis)
    for _ in range(3):
        feed(blend, 14, seed=len(blend.data))
        member, first, unit = blend.members[0], blend.members[0].first, blend.model.interval
        X, t = blend.data.X[first:], blend.data.times[first:] / unit
        y = blend.model.scaling.inward(blend.data.y)[first:]
        K = covariance(kernel, hypothesis, X, t, X, t) + np.diag(member.noises)
        points = np.concatenate((X[-3:], space.sample(np.random.default_rng(8), 4)))
        for dt in (0.0, 0.4, 6.0):
            now = float(t[-1]) + dt
            at = np.full(len(points), now)
            k = covariance(kernel, hypothesis, points, at, X, t)
            mean = k @ np.linalg.solve(K, y)
            spread = covariance(kernel, hypothesis, points, at, points, at) - k @ np.linalg.solve(K, k.T)
            shape = covariance(kernel, hypothesis, points, at, X, t, "shape") @ np.linalg.solve(K, y)
            told = [blend.forecast(x, now * unit).prediction for x in points]
            np.testing.assert_allclose([each.mean for each in told], mean, atol=1e-8)
            np.testing.assert_allclose([each.std**2 for each in told], np.diag(spread), atol=1e-8)
            predicted = blend.predict(points, now * unit)
            np.testing.assert_allclose(predicted[0], mean, atol=1e-8)
            np.testing.assert_allclose(predicted[1] ** 2, np.diag(spread), atol=1e-8)
            posterior = blend.posterior(now * unit)
            np.testing.assert_allclose(posterior.mean(points), shape, atol=1e-8)
            np.testing.assert_allclose(posterior.at(points)[0], shape, atol=1e-8)
            np.testing.assert_allclose(
                np.diag(posterior.covariance(points)), posterior.at(points)[1], atol=1e-8
            )
        residual, variance = member.innovations()
        total = variance + member.noises
        evidence = -0.5 * float(np.sum(residual**2 / total + np.log(2.0 * np.pi * total)))
        assert evidence == pytest.approx(multivariate_normal(np.zeros(len(y)), K).logpdf(y), abs=1e-7)


def test_what_is_explored_is_the_part_that_lasts():
    """By Markov(e), a part of the variance (1 - e)^lead is left; all of it counts as much as a prior."""
    hypothesis = LOCALS["markov"]
    blend = following(*SPACES["covariance"], hypothesis)
    feed(blend, 30)
    member, points = blend.members[0], blend.domain.everything()
    X, t, now = blend.data.X, blend.data.times / blend.model.interval, float(blend.data.times[-1]) + 2.0
    shared, own = (0.99 ** (LEAD / 2.0)), (0.8 ** (LEAD / 2.0))
    equal = (points[:, None, :] == X[None, :, :]).all(axis=2) * COVARIANCE.diagonal(points)[:, None]
    ages = np.array([now / blend.model.interval]), t
    k = COVARIANCE.matrix(points, X) * hypothesis.temporal.matrix(*ages) * shared
    k = (k + equal * hypothesis.local.matrix(*ages) * own) / np.sqrt(1.7)
    K = covariance(COVARIANCE, hypothesis, X, t, X, t) + np.diag(member.noises)
    prior = COVARIANCE.diagonal(points) * (shared**2 + 0.7 * own**2) / 1.7
    expected = prior - np.einsum("mn,nm->m", k, np.linalg.solve(K, k.T))
    posterior = blend.posterior(now)
    np.testing.assert_allclose(posterior.on_candidates()[1], expected, atol=1e-8)
    np.testing.assert_allclose(posterior.at(points)[1], expected, atol=1e-8)
    joint = posterior.covariance(points)
    np.testing.assert_allclose(np.diag(joint), expected, atol=1e-8)
    assert np.linalg.eigvalsh(joint)[0] > -1e-9


def test_kept_step_by_step_it_is_what_a_fresh_start_gives(monkeypatch):
    """However often everything is factored again, and with observations that were taken out."""
    blends = []
    for often in (3, 1000):
        monkeypatch.setattr(surrogate_module, "REFRESH", often)
        blend = following(*SPACES["covariance"], LOCALS["both"])
        feed(blend, 40)
        blend.extend(blend.data.take(np.arange(5, 40)))
        feed(blend, 10, seed=2)
        blends.append(blend)
    one, two = (blend.posterior(float(blend.data.times[-1]) + 1.0).on_candidates() for blend in blends)
    np.testing.assert_allclose(one[0], two[0], atol=1e-8)
    np.testing.assert_allclose(one[1], two[1], atol=1e-8)


def test_old_data_leave_once_both_parts_have_forgotten_them():
    blend = following(
        *SPACES["covariance"], LocalHypothesis("it", Markov(0.5), 1.0, local=Markov(0.4)), outliers=0.01
    )
    feed(blend, 90)
    assert blend.members[0].first > 0
    slow = following(*SPACES["covariance"], LocalHypothesis("it", Markov(0.5), 1.0, local=Markov(0.001)))
    feed(slow, 90)
    assert slow.members[0].first == 0


def local_table(seed, rows=120):
    """Arms that each go their own way, unknown to the covariance: all are thought to be nearly one."""
    rng = np.random.default_rng(seed)
    own = rng.normal(size=(rows, 5))
    for t in range(1, rows):
        own[t] = 0.95 * own[t - 1] + np.sqrt(1.0 - 0.95**2) * own[t]
    return own, Empirical(0.9 + 0.1 * np.eye(5))


@pytest.mark.parametrize("seed", [10300, 10301, 10302])
def test_change_of_one_arm_alone_is_not_taken_for_noise(seed):
    rows, kernel = local_table(seed)
    rng = np.random.default_rng(seed)
    opts = [
        wv.make(Arms(5), kernel=kernel, seed=seed),
        wv.make(Arms(5), kernel=kernel, seed=seed, hypotheses=wv.HYPOTHESES[:-1]),
    ]
    for row in rows:
        x = int(rng.integers(5)) if rng.random() < 0.5 else int(np.argmax(row))
        y = float(row[x] + 0.03 * rng.normal())
        events = [opt.tell(x, y) for opt in opts]
    beliefs = events[0].beliefs
    assert sum(weight for label, weight in beliefs.items() if label.startswith("each arm drifts alone")) > 0.5
    assert events[0].noise_variance < 0.8 * events[1].noise_variance


def test_a_season_taken_up_by_mistake_leaves_the_noise_alone_where_no_fit_would_mend_it():
    rows, kernel = local_table(10301)
    rng = np.random.default_rng(10301)
    opt = wv.make(Arms(5), kernel=kernel, seed=10301)
    seasons, noises = [], []
    for row in rows[:40]:
        x = int(rng.integers(5)) if rng.random() < 0.5 else int(np.argmax(row))
        event = opt.tell(x, float(row[x] + 0.03 * rng.normal()))
        seasons.append(opt.model.period)
        noises.append(event.noise_variance)
    assert any(seasons)
    assert seasons[-1] is None  # taken up, and dropped
    assert max(noises) < 2.0 * opt.model.noise_variance


def test_on_arms_whose_kernel_is_told_and_nowhere_else():
    labels = {each.label for each in LOCAL}

    def weighed(*given, **told):
        return {each.label for each in wv.make(*given, **told).model.hypotheses}

    assert labels <= weighed(Arms(7), kernel=COVARIANCE)
    assert not labels & weighed(Arms(7))
    assert not labels & weighed(Box([(0.0, 1.0)]), kernel=RBF(0.3))
    assert "local" not in json.dumps(wv.make(Arms(7)).state()["surrogate"])


def test_a_state_continues_bit_for_bit():
    rows, kernel = local_table(3)
    opt = other = wv.make(Arms(5), kernel=kernel, seed=1)
    for step, row in enumerate(rows[:60]):
        x = opt.ask()
        event = opt.tell(x, float(row[x]))
        if step > 40:
            assert other.ask() == x
            assert other.tell(x, float(row[x])) == event
        if step >= 40:
            other = wv.restore(json.loads(json.dumps((opt if step == 40 else other).state())))
    assert other.state() == opt.state()


def test_it_is_a_component():
    for each in (*LOCAL, *LOCALS.values()):
        assert decode(json.loads(json.dumps(encode(each)))) == each


def test_what_is_no_temporal_kernel_is_refused():
    with pytest.raises(InvalidType, match="local"):
        LocalHypothesis("it", Static(), 1.0, local=0.3)
