"""Seasons: the evidence against dense densities, periods of samples whose period is known, and auto with one."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import windvane as wv
from windvane.data import Dataset
from windvane.kernels import RBF, Markov, Static, TimeMatern32, TimePeriodic
from windvane.surrogates import HYPOTHESES, Mixture
from windvane.surrogates.mixture import periods, tuning
from windvane.surrogates.mixture.learning import with_season
from windvane.surrogates.mixture.member import Member
from windvane.surrogates.mixture.outliers import NoiseEstimate
from windvane.surrogates.mixture.periods import FREE, Found, Scan, promising, sought
from windvane.surrogates.mixture.seasons import recurrence, season, swing

LINE = wv.Box([(0.0, 1.0)])
NOISE = 0.02


def drawn(temporal, n, seed, gaps=(1.0,)):
    """Values at random points, from the Gaussian process itself."""
    rng = np.random.default_rng(seed)
    X, t = rng.uniform(size=(n, 1)), np.cumsum(rng.choice(gaps, size=n))
    K = RBF(0.25).matrix(X, X) * temporal.matrix(t, t) + NOISE * np.eye(n)
    return X, np.linalg.cholesky(K) @ rng.normal(size=n), t


def sample(temporal, n, seed, **options):
    X, y, t = drawn(temporal, n, seed, **options)
    return Scan(RBF(0.25), X, y, t, NOISE)


# -- the evidence ---------------------------------------------------------------------------------------


def dense(X, y, t, temporal, noise, level=None):
    K = RBF(0.25).matrix(X, X) * temporal.matrix(t, t) + noise * np.eye(len(y))
    if level is not None:
        K += level.matrix(t, t)
    return stats.multivariate_normal(np.zeros(len(y)), K).logpdf(y)


def test_the_evidence_is_the_density_but_for_a_constant():
    X, y, t = drawn(Markov(0.05), 30, seed=0, gaps=(0.5, 1.0, 4.0))
    some, constant = Scan(RBF(0.25), X, y, t, NOISE), -0.5 * 30 * math.log(2.0 * math.pi)
    for temporal in (Static(), season(9.0), swing(9.0), TimeMatern32(5.0)):
        for louder in (1.0, 4.0):
            for level in (None, Static(4.0) * Markov(0.03)):
                expected = dense(X, y, t, temporal, louder * NOISE, level) - constant
                assert some.evidence(some.covariance(temporal, level), louder) == pytest.approx(
                    expected, abs=1e-7
                )


def test_the_slope_is_that_of_the_evidence():
    X, y, t = drawn(season(12.0), 40, seed=1, gaps=(0.5, 1.0, 2.0))
    frequencies = np.array([0.01, 1.0 / 12.0, 0.13])
    found = Scan(RBF(0.25), X, y, t, NOISE).slopes(frequencies)
    for f, slope in zip(frequencies, found, strict=True):
        wave = TimePeriodic(1.0 / f, (0.0, 1.0))
        up, down = (dense(X, y, t, FREE + Static(c) * wave, NOISE) for c in (2e-5, 1e-5))
        assert slope == pytest.approx((up - down) / 1e-5, rel=5e-3, abs=0.02)


def test_many_data_are_looked_at_in_part():
    X, y, t = drawn(Static(), 300, seed=2)
    some = Scan(RBF(0.25), X, y, t, NOISE)
    assert len(some.y) == tuning.MOST_TO_SEEK
    assert some.span == t[-1] - t[0]
    assert len(promising(some)) <= tuning.PROMISING


# -- periods in samples ----------------------------------------------------------------------------------


@pytest.mark.parametrize("period", [12.0, 40.0, 71.3])
@pytest.mark.parametrize("weights", [(0.4, 0.4, 0.2), (0.0, 1.0), (0.2, 0.6, 0.2)])
def test_a_period_is_found_to_three_per_cent(period, weights):
    for seed in (0, 2, 3):
        found = sought(sample(TimePeriodic(period, weights), 170, seed), HYPOTHESES, None)
        assert found is not None
        assert found.period == pytest.approx(period, rel=0.03)


@pytest.mark.parametrize("period", [60.0, 100.0])
def test_three_quarters_of_a_swing_are_enough(period):
    for seed in range(4):
        found = sought(sample(TimePeriodic(period, (0.0, 1.0)), int(0.75 * period), seed), HYPOTHESES, None)
        assert found is not None
        assert found.swings
        assert found.period == pytest.approx(period, rel=0.1)


@pytest.mark.parametrize(
    ("temporal", "seldom"),
    [
        (Static(), 0),
        (Markov(0.01), 0),
        (Markov(0.1), 0),
        (TimeMatern32(15.0), 0),
        (TimeMatern32(40.0), 2),  # no hypothesis has trends as long as these: some look like a swing
        (Static(0.5) + Static(0.5) * Markov(0.2), 0),
    ],
    ids=repr,
)
def test_where_there_is_none_none_is_found(temporal, seldom):
    found = [sought(sample(temporal, n, seed), HYPOTHESES, None) for n in (45, 90, 180) for seed in range(4)]
    assert sum(each is not None for each in found) <= seldom


def test_too_short_a_time_says_nothing():
    X, y, t = drawn(season(100.0), 200, seed=3)
    assert sought(Scan(RBF(0.25), X[:110], y[:110], t[:110], NOISE), HYPOTHESES, None) is None
    few = Scan(RBF(0.25), X[:15], y[:15], t[:15], NOISE)
    assert sought(few, HYPOTHESES, None) is None
    for before in (Found(100.0), Found(100.0, swings=True), Found(5.0)):
        assert sought(few, HYPOTHESES, before) == before  # what was found before stands
    some = Scan(RBF(0.25), X[:30], y[:30], t[:30], NOISE)
    assert sought(some, HYPOTHESES, Found(100.0)) == Found(100.0)
    assert sought(Scan(RBF(0.25), X[:1], y[:1], t[:1], NOISE), HYPOTHESES, None) is None


def test_at_one_moment_nothing_is_looked_for():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(30, 1))
    assert sought(Scan(RBF(0.25), X, X[:, 0], np.ones(30), NOISE), HYPOTHESES, None) is None
    opt = wv.make(LINE, seed=0)
    for x in X:
        event = opt.tell(x, float(x[0] + 0.1 * rng.normal()), time=5.0)
    assert event.size == 30


def test_what_was_seen_of_a_season_is_more_than_of_a_swing():
    some = sample(Static(), 101, seed=0)  # 100 steps
    assert [some.seen(1.0 / period, swings=False) for period in (76.0, 78.0)] == [True, False]
    assert [some.seen(1.0 / period, swings=True) for period in (199.0, 201.0)] == [True, False]
    shapes = {period: [peak.swings for peak in some.peaks(1.0 / period)] for period in (50.0, 90.0, 250.0)}
    assert shapes == {50.0: [False, True], 90.0: [True], 250.0: []}


def test_a_period_stays_unless_another_one_is_better_and_goes_if_refuted():
    some = sample(season(40.0), 170, seed=4)
    found = sought(some, HYPOTHESES, None)
    assert not found.swings
    assert sought(some, HYPOTHESES, found)[:2] == found[:2]
    assert sought(some, HYPOTHESES, Found(44.0)).period == pytest.approx(40.0, rel=0.03)
    assert sought(some, HYPOTHESES, Found(40.0, swings=True)).swings is False
    assert sought(sample(Static(), 170, seed=4), HYPOTHESES, Found(40.0)) is None


def test_a_noise_that_is_too_small_hides_nothing():
    X, y, t = drawn(season(40.0), 170, seed=5)
    found = sought(Scan(RBF(0.25), X, y, t, NOISE / 6.0), HYPOTHESES, None)
    assert found.period == pytest.approx(40.0, rel=0.03)
    assert found.louder == 4.0


# -- auto with a season ----------------------------------------------------------------------------------


def value(x, t, period=24.0):
    """One setting is the best by day, and another by night."""
    best = 0.5 + 0.3 * math.sin(2.0 * math.pi * t / period)
    return 10.0 + 4.0 * math.exp(-(((x[0] - best) / 0.2) ** 2))


def ran(opt, steps, seed=0, unit=1.0):
    rng, regret, event = np.random.default_rng(seed), [], None
    for t in range(1, steps + 1):
        x = opt.ask()
        regret.append(14.0 - value(x, t))
        event = opt.tell(x, value(x, t) + 0.1 * rng.normal(), **({} if unit == 1.0 else {"time": unit * t}))
    return np.array(regret), event


def believed(event):
    return max(event.beliefs, key=event.beliefs.get)


def test_auto_finds_the_season_and_uses_it():
    opt = wv.make(LINE, seed=0)
    assert (opt.model.seeks, opt.model.period) == (True, None)
    regret, event = ran(opt, 120)
    assert opt.model.period == pytest.approx(24.0, rel=0.03)
    assert believed(event).startswith(("season of 2", "swing of 2"))
    assert regret[96:].mean() < 0.5 * regret[:24].mean()
    assert len(opt.model.permanent) == len(HYPOTHESES) + 1
    assert opt.composition.model.period is None  # what was told stays what it was


def test_bit_for_bit_after_a_season_was_found():
    opt = wv.make(LINE, seed=0)
    ran(opt, 80, seed=0)
    assert opt.model.period is not None
    twin = wv.restore(json.loads(json.dumps(opt.state(), allow_nan=False)))
    assert twin.model == opt.model
    for t in range(81, 100):
        x = opt.ask()
        np.testing.assert_array_equal(x, twin.ask())
        y = value(x, t)
        assert opt.tell(x, y) == twin.tell(x, y)
    assert json.dumps(opt.state()) == json.dumps(twin.state())


def test_told_the_period_in_the_callers_clock():
    opt = wv.make(LINE, period=24 * 900.0, seed=0)
    _, event = ran(opt, 60, seed=0, unit=900.0)
    assert opt.model.period == 24 * 900.0
    assert [one.temporal for one in opt.model.permanent[-2:]] == [season(24.0), swing(24.0)]
    assert [one.weight for one in opt.model.permanent[-2:]] == [tuning.TOLD / 2] * 2
    assert event.beliefs["season of 24 steps"] + event.beliefs["swing of 24 steps"] > 0.9
    assert not event.reset


def test_told_the_period_of_what_goes_to_the_opposite_and_back():
    """A season has a mean that stays; half a period on, everything speaks against that."""
    lost, swings = {}, 0
    for told in ({}, {"period": 80.0}):
        for seed in range(20400, 20406):
            task = wv.task("seasonal", period=80.0, horizon=60, seed=seed)
            opt = wv.make(task.space, seed=seed, **told)
            trace = wv.simulate(opt, task, seed=seed)
            lost.setdefault(bool(told), []).append(trace.regret.mean())
            swings += bool(told) and believed(trace.events[-1]) == "swing of 80 steps"
    assert swings >= 5
    assert np.mean(lost[True]) < 0.95 * np.mean(lost[False])


def test_a_state_that_was_told_a_period_before_goes_on_with_a_season_alone():
    opt = wv.make(LINE, period=24, seed=0)
    state = opt.state()

    def older(part):
        if isinstance(part, dict):
            return {name: older(each) for name, each in part.items() if name != "both"}
        return [older(each) for each in part] if isinstance(part, list) else part

    before = wv.restore(older(state))
    assert before.model == replace(opt.model, both=False)
    assert before.model.permanent[len(HYPOTHESES) :] == (recurrence(24.0, False, tuning.TOLD),)
    ran(before, 30)


def test_found_in_the_callers_clock():
    opt = wv.make(LINE, seed=0)
    _, event = ran(opt, 90, unit=900.0)
    assert opt.model.period == pytest.approx(24 * 900.0, rel=0.03)
    assert believed(event).startswith(("season of 2", "swing of 2"))


def test_a_swing_is_found_on_the_way_and_its_state_goes_on_bit_for_bit():
    task = wv.task("seasonal", period=80.0, horizon=100, seed=20400)
    opt = wv.make(task.space, seed=20400)
    rng, found, before = np.random.default_rng(0), 0, None
    for t in range(1, 100):
        x = opt.ask()
        event = opt.tell(x, task.value(x, t) + 0.14 * rng.normal())
        if opt.model.swings and not found:
            found, before = t, wv.restore(json.loads(json.dumps(opt.state(), allow_nan=False)))
        elif before is not None:
            assert event == before.tell(before.ask(), event.y)
    assert 0 < found < 1.3 * 80.0
    assert believed(event).startswith("swing of ")
    assert opt.model.period == pytest.approx(80.0, rel=0.1)


def test_found_where_the_kernel_is_told():
    opt = wv.make(LINE, kernel=RBF(0.2, 4.0), scaling=wv.Scaling(11.0, 1.0), seed=3)
    ran(opt, 100, seed=3)
    assert opt.model.kernel == RBF(0.2, 4.0)
    assert opt.model.period == pytest.approx(24.0, rel=0.03)


def test_a_season_outlives_a_reset():
    opt = wv.make(LINE, seed=0)
    ran(opt, 120)
    period = opt.model.period
    restarted = opt._progress.surrogate.restart(opt.data.take(slice(-3, None)))
    assert restarted.model.period == period
    assert len(restarted.members) == len(HYPOTHESES) + 1


def test_nothing_is_looked_for_where_the_hypotheses_are_told():
    opt = wv.make(LINE, hypotheses=HYPOTHESES[:2], seed=0)
    assert opt.model.seeks is False
    both = wv.make(LINE, hypotheses=HYPOTHESES[:2], period=24, seed=0)
    assert [one.label for one in both.model.permanent] == [
        "static",
        "drifts 0.3 % per step",
        "season of 24 steps",
        "swing of 24 steps",
    ]
    assert both.model.prior.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("period", [0.0, -1.0, math.nan, math.inf, "24"])
def test_a_mixture_refuses_a_bad_period(period):
    with pytest.raises(wv.WindvaneError, match=r"Mixture\(period\)"):
        Mixture(RBF(0.2), 0.01, period=period)
    with pytest.raises(wv.WindvaneError, match="period"):
        wv.make(LINE, period=period)
    for name in ("seeks", "swings", "both"):
        with pytest.raises(wv.WindvaneError, match=rf"Mixture\({name}\)"):
            Mixture(RBF(0.2), 0.01, **{name: 1})


def test_a_model_of_before_has_a_season_and_one_that_swings_another_name():
    model = Mixture(RBF(0.2), 0.01, period=24.0)
    assert model.permanent[-1] == recurrence(24.0, False, tuning.TOLD)
    assert (model.permanent[-1].label, model.permanent[-1].temporal) == ("season of 24 steps", season(24.0))
    swings = Mixture(RBF(0.2), 0.01, period=24.0, seeks=True, swings=True).permanent[-1]
    assert (swings.label, swings.temporal, swings.weight) == (
        "swing of 24 steps",
        swing(24.0),
        tuning.ADOPTED,
    )


# -- what a model makes of it -----------------------------------------------------------------------------


@pytest.mark.parametrize("rivals", [HYPOTHESES[:1], HYPOTHESES])
def test_a_season_has_to_be_clearly_better(rivals, monkeypatch):
    """By how much it is, from dense densities around the period that is known."""
    X, y, t = drawn(season(40.0), 100, seed=6)
    with_it = max(dense(X, y, t, season(40.0 * by), NOISE) for by in np.linspace(0.97, 1.03, 121))
    gain = with_it - max(
        dense(X, y, t, one.temporal, louder * NOISE, one.level) for one in rivals for louder in (1.0, 4.0)
    )
    for margin, found in ((gain - 0.5, True), (gain + 0.5, False)):
        monkeypatch.setattr(periods, "CLEARLY", margin)
        assert (sought(Scan(RBF(0.25), X, y, t, NOISE), rivals, None) is not None) is found


def test_the_period_is_kept_by_the_callers_clock_and_the_noise_grows_with_it():
    X, y, t = drawn(season(40.0), 120, seed=5)
    data = Dataset(X, y, 900.0 * t, np.arange(1, 121))
    model = Mixture(RBF(0.25), NOISE / 6.0, interval=900.0, seeks=True)
    noise = NoiseEstimate.about(NOISE / 6.0, 3.0)
    member = Member(HYPOTHESES[0], noise, lead=6.0)
    after, louder = with_season(model, data, member, model.prior, noise)
    assert after.period == pytest.approx(40.0 * 900.0, rel=0.03)
    assert (louder.a, louder.b) == (noise.a, 4.0 * noise.b)
    again, same = with_season(after, data, member, model.prior, noise)
    assert again is after
    assert same == noise
    still = Dataset(X, drawn(Static(), 120, seed=5)[1], 900.0 * t, np.arange(1, 121))
    assert with_season(after, still, member, model.prior, noise)[0] == model


def test_a_look_that_finds_nothing_is_not_repeated_at_every_step():
    opt = wv.make(LINE, kernel=RBF(0.2), noise_variance=0.01, seed=0)
    rng, looks = np.random.default_rng(0), 0
    for _ in range(60):
        opt.tell(opt.ask(), rng.normal())
        looks += opt._progress.age == 0
    assert 10 < looks < 30
    assert opt.model == opt.composition.model


@pytest.mark.parametrize(
    ("period", "clock"), [(5e-324, 1.0), (1e-300, 1e9), (1e-200, 1e200), (1e300, 1e-9), (1.7e308, 1.0)]
)
def test_a_period_of_any_length_is_no_reason_to_fail(period, clock):
    opt = wv.make(LINE, period=period, seed=0)
    for step in range(1, 16):
        opt.tell(opt.ask(time=step * clock), math.sin(step), time=step * clock)
    other = wv.restore(json.loads(json.dumps(opt.state(), allow_nan=False)))
    assert other.ask(time=1e6 * clock) == opt.ask(time=1e6 * clock)
