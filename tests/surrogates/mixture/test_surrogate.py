"""The weights of a mixture against Bayes' rule by hand, and the data that hypotheses were drawn from."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from following import Following
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

import windvane as wv
from windvane import Arms, Box
from windvane.codec import decode, encode
from windvane.data import Dataset, Observation
from windvane.kernels import RBF, Empirical, Markov, Static, TimeRBF
from windvane.kernels.trends import TimeMatern32
from windvane.surrogates import Hypothesis, Mixture, Scaling, Search
from windvane.surrogates.mixture import surrogate as surrogate_module
from windvane.surrogates.mixture.weights import reweigh

LINE = Box([(0.0, 1.0)])
ARMS = Arms(8)
PLACES = np.arange(8.0)
COVARIANCE = np.exp(-0.5 * np.subtract.outer(PLACES, PLACES) ** 2 / 4.0)
HYPOTHESES = (
    Hypothesis("static", Static(), 3.0),
    Hypothesis("slow", Markov(0.01), 1.0),
    Hypothesis("fast", Markov(0.2), 1.0),
    Hypothesis("half", Static(0.5) + Static(0.5) * Markov(0.2), 0.5),
    Hypothesis("trend", TimeMatern32(10.0), 1.0),
)


def mixture(**options):
    return Mixture(**{"kernel": RBF(0.25), "noise_variance": 0.02, "hypotheses": HYPOTHESES, **options})


def observe(blend, x, y, time=None):
    step = int(blend.data.steps[-1]) + 1 if len(blend.data) else 1
    time = float(step) if time is None else time
    blend.extend(blend.data + Observation(np.atleast_1d(np.asarray(x, dtype=float)), float(y), time, step))


def feed(blend, count, seed=0, noise=0.1, f=lambda x, t: math.sin(6.0 * x[0])):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        x = blend.domain.sample(rng, 1)[0]
        observe(blend, x, f(x, len(blend.data)) + noise * rng.normal())


def density(residual, variance, noise, outliers, extra):
    usual = stats.norm.pdf(residual, scale=math.sqrt(variance + noise))
    wide = stats.norm.pdf(residual, scale=math.sqrt(variance + noise + extra))
    return (1.0 - outliers) * usual + outliers * wide


def dense(blend, first, noises, temporal, points, now, turn=None, lift=0.0):
    """Mean and variance of f given the observations from `first` on; its level moved with number `turn`."""
    kernel, X, t = blend.model.kernel, blend.data.X[first:], blend.data.times[first:]
    y = blend.model.scaling.inward(blend.data.y)[first:]
    K = kernel.matrix(X, X) * temporal.matrix(t, t) + np.diag(noises)
    k = kernel.matrix(points, X) * temporal.matrix(np.array([now]), t)
    prior = kernel.diagonal(points) * temporal.variance(now)
    if turn is not None:
        since = (np.arange(first, len(blend.data)) >= turn).astype(float)
        K, k, prior = K + lift * np.outer(since, since), k + lift * since, prior + lift
    return k @ np.linalg.solve(K, y), prior - np.einsum("mn,nm->m", k, np.linalg.solve(K, k.T))


# -- Bayes' rule ------------------------------------------------------------------------------------

weights = st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=8)


@settings(max_examples=80)
@given(weights, st.data(), st.floats(0.0, 0.5))
def test_reweighing_is_bayes_and_then_the_fixed_share(raw, data, share):
    w = np.array(raw) / np.sum(raw)
    logs = np.array(data.draw(st.lists(st.floats(-300.0, 300.0), min_size=len(w), max_size=len(w))))
    permanent = data.draw(st.integers(1, len(w)))
    prior = np.full(permanent, 1.0 / permanent)
    update = reweigh(w, logs, prior, share)
    bayes = np.exp(np.log(w) + logs - special.logsumexp(logs, b=w))
    expected = (1.0 - share) * bayes + share * np.concatenate((prior, np.zeros(len(w) - permanent)))
    np.testing.assert_allclose(update.weights, expected, atol=1e-12)
    assert update.weights.sum() == pytest.approx(1.0)
    assert (update.weights >= 0.0).all()
    assert (update.weights[:permanent] >= share / permanent * (1.0 - 1e-9)).all()
    assert update.log_density == pytest.approx(special.logsumexp(logs, b=w), abs=1e-9)


def test_densities_beyond_any_float_do_no_harm():
    update = reweigh(np.array([0.5, 0.5]), np.array([-1e200, -2e200]), np.array([0.5, 0.5]), 0.01)
    np.testing.assert_allclose(update.weights, [0.995, 0.005])
    update = reweigh(np.array([1.0, 0.0]), np.array([-3.0, 5.0]), np.array([1.0]), 0.0)
    assert update.weights.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("hazard", [0.0, 0.02])
@pytest.mark.parametrize("outliers", [0.0, 0.05])
def test_the_weights_are_products_of_densities(hazard, outliers):
    """Everything by hand, with the members' predictions from dense solves: Bayes, hazard, share, the best few."""
    model = mixture(hazard=hazard, outliers=outliers, share=0.01, runs=3, noise_variance=0.05)
    blend, rng = Following(LINE, model), np.random.default_rng(0)
    prior, moved = np.array([3.0, 1.0, 1.0, 0.5, 1.0]) / 6.5, 0
    for step in range(1, 31):
        x, y, time = rng.uniform(size=1), float(rng.normal()), float(step)
        members, w = list(blend.members), blend.weights.copy()
        residual, variance, noise = [], [], []
        for member in members:
            mean, spread = (
                dense(
                    blend,
                    member.first,
                    member.noises,
                    member.temporal,
                    x[None],
                    time,
                    member.turn,
                    member.lift,
                )
                if len(member)
                else (np.zeros(1), np.ones(1))
            )
            residual.append(y - mean[0])
            variance.append(spread[0])
            noise.append(member.noise.b / member.noise.a)
        labels = [(member.born, member.turn is not None) for member in members]
        if hazard and step > 1:
            top = int(np.argmax(w[:5]))
            off, known, usual = residual[top], variance[top], noise[top]
            # only the level: three standard deviations off and one of the prior, where half of it was known
            moves = step > 10 and known < 0.5 and off**2 > max(9.0 * (known + usual), 1.0)
            w = np.append((1.0 - (1.03 if moves else 1.0) * hazard) * w, hazard)
            pooled = blend.weights @ [[m.noise.a, m.noise.b] for m in members]
            residual, variance, noise = [*residual, y], [*variance, 1.0], [*noise, pooled[1] / pooled[0]]
            labels.append((step, False))
            if moves:
                w, moved = np.append(w, 0.03 * hazard), moved + 1
                lift = next(4.0**power for power in range(9) if 4.0**power >= off**2)
                residual, variance, noise = [*residual, off], [*variance, known + lift], [*noise, usual]
                labels.append((step, True))
        extra = model.outlier_size
        p = w * [density(r, v, s, outliers, extra) for r, v, s in zip(residual, variance, noise, strict=True)]
        total = p.sum()
        expected = 0.99 * p / total
        expected[:5] += 0.01 * prior
        for kind, most in ((False, 3), (True, 2)):
            own = [number for number in range(5, len(labels)) if labels[number][1] is kind]
            if len(own) > most:
                least = min(own, key=lambda number: expected[number])
                expected = np.delete(expected, least)
                del labels[least]
        expected /= expected.sum()
        observe(blend, x, y)
        np.testing.assert_allclose(blend.weights, expected, atol=1e-7)
        assert [(member.born, member.turn is not None) for member in blend.members] == labels
        assert blend.opinion.log_density == pytest.approx(math.log(total), abs=1e-6)
    assert bool(moved) == bool(hazard)


def test_a_forecast_is_the_moments_of_the_mixture():
    model = mixture(scaling=Scaling(10.0, 3.0), hazard=0.02)
    blend = Following(LINE, model)
    feed(blend, 20, f=lambda x, t: 10.0 + 3.0 * math.sin(6.0 * x[0] + 0.3 * t))
    x, now = np.array([0.37]), 21.0
    parts = [dense(blend, m.first, m.noises, m.temporal, x[None], now) for m in blend.members]
    means, variances = (np.array([part[i][0] for part in parts]) for i in range(2))
    mean = blend.weights @ means
    prediction = blend.forecast(x, now).prediction
    assert prediction.mean == pytest.approx(10.0 + 3.0 * mean)
    variance = blend.weights @ (variances + means**2) - mean**2
    assert prediction.std == pytest.approx(3.0 * math.sqrt(variance), rel=1e-6)
    noise = blend.weights @ [m.noise.b / m.noise.a for m in blend.members]
    assert prediction.noise_variance == pytest.approx(9.0 * noise)


def test_information_gain_is_its_definition():
    blend = Following(LINE, mixture(hazard=0.0, doubt=1e12, outliers=0.0))
    feed(blend, 15)
    heaviest = blend.members[int(np.argmax(blend.weights))]
    X, t = blend.data.X, blend.data.times
    K = blend.model.kernel.matrix(X, X) * heaviest.temporal.matrix(t, t)
    exact = 0.5 * np.linalg.slogdet(np.eye(15) + K / 0.02)[1]
    assert blend.information_gain() == pytest.approx(exact, abs=1e-6)


# -- sudden changes ---------------------------------------------------------------------------------


def test_a_newborn_is_a_static_gp_on_the_data_since_its_birth():
    blend = Following(LINE, mixture(hazard=0.1, runs=4))
    feed(blend, 12)
    feed(blend, 9, f=lambda x, t: -1.5 * math.sin(6.0 * x[0] + 1.0), seed=1)
    runs = [run for run in blend.members[blend.permanent :] if run.turn is None]
    assert len(runs) == 4
    assert max(len(member) for member in runs) > 3
    points, now = np.linspace(0.0, 1.0, 9)[:, None], 22.0
    for member in runs:
        since = blend.data.steps >= member.born
        assert len(member) == since.sum() == len(blend.data) - member.first
        mean, variance = dense(blend, member.first, member.noises, Static(), points, now)
        for i, k in enumerate(blend.model.kernel.matrix(points, blend.data.X)):
            guess = member.guess(k, 1.0, now)
            assert guess.mean == pytest.approx(mean[i], abs=1e-9)
            assert guess.variance == pytest.approx(variance[i], abs=1e-9)
        if member.watched:
            expected = dense(blend, member.first, member.noises, Static(), blend._cache.points, now)
            for got, want in zip(member.on_candidates(blend._cache.prior, now), expected, strict=True):
                np.testing.assert_allclose(got, want, atol=1e-9)


def test_without_a_hazard_nothing_is_born():
    blend = Following(LINE, mixture(hazard=0.0))
    feed(blend, 6)
    feed(blend, 4, f=lambda x, t: 9.0)
    assert set(blend.beliefs()) == {"static", "slow", "fast", "half", "trend"}
    assert blend.verdict().fired is False
    assert blend.verdict().statistic == 0.0


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 7), st.floats(-50.0, 50.0), st.floats(0.0, 9.0)), min_size=1, max_size=14
    ),
    st.sampled_from([0.0, 0.003, 0.3]),
    st.sampled_from([0.0, 0.01]),
    st.integers(1, 4),
)
def test_beliefs_are_a_distribution(rows, hazard, outliers, runs):
    model = mixture(kernel=Empirical(COVARIANCE), hazard=hazard, outliers=outliers, runs=runs, share=0.003)
    blend, time = Following(ARMS, model), 0.0
    for arm, y, dt in rows:
        time += dt
        observe(blend, [arm], y, time)
        beliefs = blend.beliefs()
        assert len(beliefs) == len(blend.members) <= len(HYPOTHESES) + runs + 2  # and moves of the level
        assert sum(beliefs.values()) == pytest.approx(1.0)
        assert all(beliefs[one.label] > 0.0 for one in HYPOTHESES)
        assert min(beliefs.values()) >= 0.0
        assert 0.0 <= blend.opinion.outlier <= 1.0 + 1e-9
        assert math.isfinite(blend.opinion.log_density)
        assert any(member.watched for member in blend.members)
        assert sum(weight for weight, _ in blend._acting()) == pytest.approx(1.0)


def test_after_a_jump_the_change_is_believed_and_named_by_its_step():
    """The whole function turns over at step 26: one of the steps around it carries the blame."""
    blamed = 0
    for seed in range(6):
        blend = Following(LINE, mixture(hazard=0.01))
        feed(blend, 25, seed=seed)
        for step in range(6):
            feed(blend, 1, seed=100 * seed + step, f=lambda x, t: -1.5 * math.cos(6.0 * x[0]))
            if blend.verdict().fired:
                break
        verdict, since = blend.verdict(), blend.since_change()
        if verdict.fired:
            blamed += 25 <= since.steps[0] <= 28
            assert re.search(rf"change at step {since.steps[0]}( or later)? is believed", verdict.reason)
            blend.now = blend.restart(since, blend.opinion)
            assert blend.data.steps.tolist() == since.steps.tolist()
            assert set(blend.beliefs()) == {one.label for one in HYPOTHESES}
            assert sum(blend.beliefs().values()) == pytest.approx(1.0)
    assert blamed >= 4


# -- following a dataset ----------------------------------------------------------------------------


def test_changes_keep_what_is_left_of_their_data():
    blend = Following(LINE, mixture(hazard=0.2, runs=4))
    feed(blend, 10)
    assert len(blend.members) == 9
    born = [member.born for member in blend.members]
    weights = blend.weights.copy()
    blend.follow(blend.data.take(np.array([0, 1, 4, 9])))
    assert [member.born for member in blend.members] == born
    np.testing.assert_allclose(blend.weights, weights)
    for member in blend.members:
        assert len(member) == len(member.noises) == int((blend.data.steps >= member.born).sum())
    blend.follow(Dataset.empty(1))
    assert [member.born for member in blend.members] == [0] * 5
    assert blend.weights.sum() == pytest.approx(1.0)


def test_follow_to_nothing_and_on():
    blend = Following(LINE, mixture())
    feed(blend, 5)
    blend.follow(Dataset.empty(1))
    assert len(blend.data) == 0
    feed(blend, 3, seed=2)
    assert len(blend.data) == 3
    mean, std = blend.predict(np.array([[0.5]]), 4.0)
    assert np.isfinite([mean, std]).all()


def test_weights_after_a_restart_are_those_of_all_the_data():
    """The same fixed share, with the densities of dense solves."""
    blend = Following(LINE, mixture(outliers=0.0, share=0.01))
    feed(blend, 14)
    blend.now = blend.restart(blend.data)
    blend.now.model = replace(blend.model, noise_variance=blend.members[0].noise.value)
    np.testing.assert_allclose(blend.weights, by_hand(blend), atol=1e-9)


def by_hand(blend):
    data, model = blend.data, blend.model
    w = model.prior
    logs = []
    for hypothesis in model.hypotheses:
        K = model.kernel.matrix(data.X, data.X) * hypothesis.temporal.matrix(data.times, data.times)
        L = np.linalg.cholesky(K + model.noise_variance * np.eye(len(data)))
        off = np.linalg.solve(L, data.y) * np.diag(L)
        logs.append(stats.norm.logpdf(off, scale=np.diag(L)))
    for row in np.transpose(logs):
        w = w * np.exp(row - row.max())
        w = (1.0 - model.share) * w / w.sum() + model.share * model.prior
    return w


def test_weights_after_a_restart_count_what_is_forgotten_by_now():
    """Sixty observations, long past for the fast hypothesis after a pause, and two new ones."""
    rng, n = np.random.default_rng(2), 62
    steps = np.arange(1, n + 1)
    X, times = rng.uniform(size=(n, 1)), np.where(steps <= 60, steps, steps + 200).astype(float)
    data = Dataset(X, 3.0 * np.sin(6.0 * X[:, 0]) + 0.1 * rng.normal(size=n), times, steps)
    model = mixture(
        hypotheses=(HYPOTHESES[2], Hypothesis("slower", Markov(0.02), 1.0)), outliers=0.0, share=1e-3
    )
    blend = Following(LINE, model)
    blend.now = blend.restart(data)
    assert blend.members[0].first > 0
    np.testing.assert_allclose(blend.weights, by_hand(blend), atol=0.02)


# -- what it finds out ------------------------------------------------------------------------------


def drawn(temporal, count, seed, noise=0.02):
    """A table of values of all arms at all times, from the hypothesis itself."""
    rng, times = np.random.default_rng(seed), np.arange(1.0, count + 1.0)
    left = np.linalg.cholesky(temporal.matrix(times, times) + 1e-9 * np.eye(count))
    right = np.linalg.cholesky(COVARIANCE + 1e-9 * np.eye(8))
    table = left @ rng.normal(size=(count, 8)) @ right.T
    arms = rng.integers(8, size=count)
    return arms, table[np.arange(count), arms] + math.sqrt(noise) * rng.normal(size=count)


@pytest.mark.parametrize(
    ("truth", "allowed"),
    [
        (Static(), {"static", "slow"}),
        (Markov(0.2), {"fast", "trend"}),
        (TimeMatern32(10.0), {"trend"}),
        (Static(0.5) + Static(0.5) * Markov(0.2), {"half"}),
    ],
    ids=["static", "fast", "trend", "half"],
)
def test_the_weights_find_the_hypothesis_that_the_data_came_from(truth, allowed):
    found = 0
    for seed in range(8):
        blend = Following(ARMS, mixture(kernel=Empirical(COVARIANCE), hazard=0.0))
        for arm, y in zip(*drawn(truth, 80, seed), strict=True):
            observe(blend, [arm], y)
        beliefs = blend.beliefs()
        found += max(beliefs, key=beliefs.get) in allowed
    assert found >= 6


@pytest.mark.parametrize("factor", [0.25, 4.0])
def test_the_noise_is_learned_when_told_four_times_wrong(factor):
    truth = 0.04
    blend = Following(LINE, mixture(hypotheses=HYPOTHESES[:2], noise_variance=factor * truth, hazard=0.0))
    feed(blend, 120, noise=math.sqrt(truth), seed=3)
    assert abs(math.log(blend.noise_variance / truth)) < 0.45 * math.log(4.0)


@pytest.mark.parametrize("size", [5.0, -10.0])
def test_one_gross_value_hardly_moves_the_prediction(size):
    moved = {}
    x = np.array([0.5])
    for outliers in (0.0, 0.01):
        blend = Following(LINE, mixture(outliers=outliers, hazard=0.0, doubt=20.0))
        feed(blend, 30)
        before = blend.predict(x[None], 31.0)[0][0]
        observe(blend, x, math.sin(3.0) + size)
        moved[outliers] = abs(blend.predict(x[None], 32.0)[0][0] - before)
        assert (blend.opinion.outlier > 0.5) == (outliers > 0.0)
    assert moved[0.01] < 0.1 * moved[0.0]
    assert moved[0.01] < 0.05


def test_an_outlier_stays_one_when_the_mixture_starts_again():
    blend = Following(LINE, mixture(hazard=0.0))
    feed(blend, 20)
    x = np.array([0.5])
    observe(blend, x, 9.0)
    before = blend.predict(x[None], 22.0)[0][0]
    after = blend.learn(Search(learn=("noise",)), rescale=False, seed=0)
    assert after.members[0].suspects.keys() == {21}
    assert after.predict(x[None], 22.0)[0][0] == pytest.approx(before, abs=0.1)


@pytest.mark.parametrize("size", [100.0, -1000.0, 1e6])
def test_an_absurd_value_is_an_outlier_and_no_change(size):
    blend = Following(LINE, mixture(hazard=0.003))
    feed(blend, 30)
    before = blend.beliefs()
    observe(blend, [0.5], size)
    assert blend.opinion.outlier > 0.5
    assert not blend.verdict().fired
    for label, weight in blend.beliefs().items():
        assert weight < 0.1 or before.get(label, 0.0) > 0.01  # one value from nowhere decides nothing


@pytest.mark.parametrize("interval", [3600.0, 1e-3])
def test_a_step_may_be_of_any_length(interval):
    """With the step told, hours are steps; with it left open, it is found after a few observations."""
    steps, scaled, found = (Following(LINE, mixture(interval=each)) for each in (1.0, interval, 1.0))
    rng = np.random.default_rng(0)
    for step in range(1, 19):
        x, y = rng.uniform(size=1), float(rng.normal())
        observe(steps, x, y, float(step))
        for each in (scaled, found):
            observe(each, x, y, interval * step)
    np.testing.assert_allclose(scaled.weights, steps.weights, rtol=1e-6)
    assert found.model.interval == pytest.approx(interval)
    points = np.linspace(0.0, 1.0, 7)[:, None]
    for one, other in zip(steps.predict(points, 20.0), scaled.predict(points, 20.0 * interval), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_pairs_of_observations_a_moment_apart():
    """Two readings a millisecond apart, once a minute: a step is not a millisecond."""
    blend, rng = Following(LINE, mixture()), np.random.default_rng(0)
    for step in range(17):
        observe(blend, rng.uniform(size=1), float(rng.normal()), 60.0 * (step // 2) + 1e-3 * (step % 2))
    assert blend.model.interval > 1.0


# -- what it is made of -----------------------------------------------------------------------------


def test_a_mixture_through_json():
    model = mixture(scaling=Scaling(1.0, 2.0), hazard=0.01, runs=2)
    assert decode(encode(model)) == model
    assert model.prior.sum() == pytest.approx(1.0)
    assert model.prior[0] == pytest.approx(3.0 / 6.5)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"kernel": 5}, r"Mixture\(kernel\)"),
        ({"kernel": Static()}, r"Mixture\(kernel\)"),
        ({"noise_variance": 0.0}, r"Mixture\(noise_variance\)"),
        ({"noise_variance": math.nan}, r"Mixture\(noise_variance\)"),
        ({"hazard": 0.6}, r"Mixture\(hazard\)"),
        ({"hazard": "x"}, r"Mixture\(hazard\)"),
        ({"share": -0.1}, r"Mixture\(share\)"),
        ({"outliers": math.inf}, r"Mixture\(outliers\)"),
        ({"outlier_size": 0.0}, r"Mixture\(outlier_size\)"),
        ({"runs": 0}, r"Mixture\(runs\)"),
        ({"runs": 1.5}, r"Mixture\(runs\)"),
        ({"doubt": -1.0}, r"Mixture\(doubt\)"),
        ({"lead": -1.0}, r"Mixture\(lead\)"),
        ({"hypotheses": ()}, r"Mixture\(hypotheses\)"),
        ({"hypotheses": (Static(),)}, r"Mixture\(hypotheses\)"),
    ],
    ids=str,
)
def test_what_a_mixture_refuses(options, match):
    with pytest.raises(wv.WindvaneError, match=match):
        mixture(**options)


def test_hypotheses_that_are_no_sequence():
    with pytest.raises(wv.WindvaneError, match="hypotheses"):
        mixture(hypotheses=5)


def test_two_hypotheses_of_one_name_are_refused():
    with pytest.raises(wv.WindvaneError, match="same"):
        mixture(hypotheses=(Hypothesis("same", Static(), 1.0), Hypothesis("same", Markov(0.1), 1.0)))


@pytest.mark.parametrize("weight", [0.0, -1.0, math.nan, "x"])
def test_a_weight_that_is_none(weight):
    with pytest.raises(wv.WindvaneError, match=r"Hypothesis\(weight\)"):
        Hypothesis("it", Static(), weight)


def test_a_hypothesis_about_space_is_refused():
    with pytest.raises(wv.InvalidType, match=r"Hypothesis\(temporal\)"):
        Hypothesis("it", RBF(0.2), 1.0)


def test_a_kernel_without_a_state_is_refused_before_anything_is_told():
    with pytest.raises(wv.InvalidArgument, match="no finite state"):
        Following(LINE, mixture(hypotheses=(Hypothesis("smooth", TimeRBF(10.0), 1.0),)))


# -- state ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("refresh", [4, 1000])
def test_a_restored_mixture_is_the_same_to_the_last_bit(refresh, monkeypatch):
    monkeypatch.setattr(surrogate_module, "REFRESH", refresh)
    blend = Following(LINE, mixture(hazard=0.05))
    for seed in range(5):
        feed(blend, 6, seed=seed, f=lambda x, t: math.sin(6.0 * x[0] + t // 11))
        twin = blend.model.restored(LINE, blend.state())
        assert twin.beliefs() == blend.beliefs()
        assert [m.watched for m in twin.members] == [m.watched for m in blend.members]
        for got, want in zip(
            twin.posterior(40.0).on_candidates(), blend.posterior(40.0).on_candidates(), strict=True
        ):
            assert np.array_equal(got, want)
        assert twin.state() == blend.state()


def test_a_weight_of_nothing_is_restored():
    blend = Following(
        LINE, mixture(hypotheses=HYPOTHESES[:3], share=0.0, hazard=0.0, outliers=0.0, doubt=1e9)
    )
    for _ in range(3):
        feed(blend, 10, f=lambda x, t: 400.0 * (-1.0) ** t)
    assert min(blend.weights) == 0.0
    blend.follow(blend.data.take(np.arange(5, 30)))  # any fresh start
    assert blend.model.restored(LINE, blend.state()).beliefs() == blend.beliefs()


def test_a_model_of_its_own_is_kept():
    model = replace(mixture(), hazard=0.02, lead=2.0)
    blend = Following(LINE, model)
    feed(blend, 4)
    assert blend.model.restored(LINE, blend.state()).model == model
