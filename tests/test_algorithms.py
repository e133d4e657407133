"""Each algorithm is the composition that the design's table says, with the numbers that the paper says."""

import math

import numpy as np
import pytest

import windvane as wv
from windvane.kernels import Markov, Static, Wiener
from windvane.theory import window_exponent

BOX = wv.Box([(0.0, 1.0), (0.0, 1.0)])
GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.02, "seed": 0}
LOG = wv.UCB(wv.LogBeta(0.4, 4.0))
IGP = wv.UCB(wv.IGPBeta(1.0, math.sqrt(0.02), 0.1))
BOUND = wv.PosteriorBound(0.1)

# name: options, temporal, forgetting, acquisition, trigger, window, kept on a trigger, limit
TABLE = {
    "gp-ucb": ({}, Static(), 1.0, LOG, wv.Never(), (1, None), None, wv.Full()),
    "r-gp-ucb": ({"rate": 0.03, "horizon": 400}, Static(), 1.0, LOG, wv.Periodic(29), (1, None), wv.Empty(), wv.Full()),
    "et-gp-ucb": ({}, Static(), 1.0, LOG, BOUND, (1, None), wv.LastPoint(), wv.Full()),
    "et-gp-ucb-confirmed": ({}, Static(), 1.0, LOG, wv.Confirmed(BOUND), (1, None), wv.LastPoint(), wv.Full()),
    "et-gp-ucb-backtracking": ({}, Static(), 1.0, LOG, BOUND, (1, None), wv.Backtracking(4), wv.Full()),
    "et-gp-ucb[0.01,0.05]": ({"horizon": 400}, Static(), 1.0, LOG, BOUND, (26, 38), wv.LastPoint(), wv.Full()),
    "et-gp-ucb[0.001,0.1]": ({"horizon": 400}, Static(), 1.0, LOG, BOUND, (22, 68), wv.LastPoint(), wv.Full()),
    "et-gp-ucb[0,1]": ({}, Static(), 1.0, LOG, BOUND, (1, None), wv.LastPoint(), wv.Full()),
    "always-n-low": ({"rate_bounds": (0.01, 0.05)}, Static(), 1.0, LOG, wv.Periodic(26), (1, None), wv.Empty(), wv.Full()),
    "r-gp-ucb-average": ({"rate": 0.03}, Static(), 1.0, LOG, wv.Periodic(45), (1, None), wv.Empty(), wv.Full()),
    "tv-gp-ucb": ({"rate": 0.03}, Markov(0.03), 1.0, LOG, wv.Never(), (1, None), None, wv.Full()),
    "tv-gp-ucb-constant": ({"rate": 0.03}, Markov(0.03), 1.0, wv.UCB(wv.ConstantBeta(3.0)), wv.Never(), (1, None), None, wv.Full()),
    "tv-gp-ucb-mle": ({}, Markov(0.01), 1.0, LOG, wv.Never(), (1, None), None, wv.Full()),
    "ui-tvbo": ({"rate": 0.03}, Wiener(0.03), 1.0, LOG, wv.Never(), (1, None), None, wv.Full()),
    "igp-ucb": ({}, Static(), 1.0, IGP, wv.Never(), (1, None), None, wv.Full()),
    "sw-gp-ucb": ({"window": 17}, Static(), 1.0, IGP, wv.Never(), (1, None), None, wv.SlidingWindow(17)),
    "sw-gp-ucb-evidence": ({"windows": [4, 8]}, Static(), 1.0, LOG, wv.Never(), (1, None), None, wv.EvidenceWindow((4, 8))),
    "w-dbo": ({"alpha": 0.5}, wv.TimeMatern32(100.0), 1.0, LOG, wv.Never(), (1, None), None, wv.Relevance(0.5)),
    "br-gp-ucb": ({"period": 17}, Static(), 1.0, IGP, wv.Periodic(17), (1, None), wv.Empty(), wv.Full()),
    "w-gp-ucb": ({"forgetting": 0.95}, Static(), 0.95, IGP, wv.Never(), (1, None), None, wv.Full()),
    "turbo-trigger": ({}, Static(), 1.0, LOG, wv.NoImprovement(2), (1, None), wv.LastPoint(), wv.Full()),
    "random": ({}, Static(), 1.0, wv.Uniform(), wv.Never(), (1, None), None, wv.Full()),
}  # fmt: skip


def composition(name, **options):
    return wv.make(name, BOX, **{**GIVEN, **options}).composition


def test_the_table_is_complete():
    assert set(wv.algorithms()) == {"auto", *TABLE}


def test_auto_is_the_default():
    told = wv.make("auto", BOX, **GIVEN)
    assert wv.make(BOX, **GIVEN).composition == told.composition
    given = GIVEN["kernel"], GIVEN["noise_variance"]
    assert told.composition.model == wv.Mixture(*given, seeks=True, plunges=0.001, lapse=30, own_noise=1.25)
    assert told.composition.acquisition == wv.SpreadFirst(5, wv.UCB(wv.ConstantBeta(2.7)))
    assert told.composition.trigger == wv.BelievedChange()
    assert told.composition.on_trigger == wv.SinceChange()
    assert told.composition.learning.search.learn == ()  # but a season is looked for
    assert wv.make(BOX, period=9, **GIVEN).composition.learning == wv.Given()
    blind = wv.make(BOX).composition
    assert blind.rescale
    assert blind.learning.search.learn == ("lengthscale", "noise", "smoothness")
    with pytest.raises(wv.InvalidType, match="the name of the algorithm comes first"):
        wv.make(BOX, BOX)
    with pytest.raises(wv.InvalidArgument, match="finds out about time by itself"):
        wv.make("auto", BOX, kernel=wv.RBF(0.2) * wv.Markov(0.03))


@pytest.mark.parametrize("name", TABLE)
def test_compositions(name):
    options, temporal, forgetting, acquisition, trigger, window, kept, limit = TABLE[name]
    found = composition(name, **options)
    assert found.name == name
    assert found.model.kernel == wv.RBF(0.2)
    assert found.model.temporal == temporal
    assert (found.model.noise.variance, found.model.noise.forgetting) == (0.02, forgetting)
    assert found.model.scaling == wv.Scaling(0.0, 1.0)
    assert found.acquisition == acquisition
    assert found.trigger == trigger
    assert found.window == wv.ResetWindow(*window)
    assert found.limit == limit
    assert found.rescale is False
    if kept is not None:
        assert found.on_trigger == kept
    if name.startswith("et-"):
        assert found.on_forced == wv.Empty()
    if name == "tv-gp-ucb-mle":
        assert isinstance(found.learning, wv.LearnOnline)
        assert (found.learning.growth, found.learning.search.learn) == (1.0, ("rate",))
        assert found.learning.search.rate_prior is None  # maximum likelihood
    elif name == "w-dbo":
        assert isinstance(found.learning, wv.LearnOnline)
        assert found.learning.search.learn == ("rate",)
        assert found.learning.search.rate_prior is None
    else:
        assert found.learning == wv.Given()


# -- options ----------------------------------------------------------------------------------------

OPTIONS = {
    "hypotheses": (wv.Hypothesis("static", Static(), 1.0),), "hazard": 0.01, "outliers": 0.05,
    "alpha": 0.5, "windows": (4, 8),
    "bound": 2.0, "cap": 3, "cooldown": 3, "delta": 0.2, "forced": "last", "forgetting": 0.9, "horizon": 100,
    "min_samples": 3, "noise_cap": 0.5, "patience": 3, "period": 9, "rate": 0.1, "rate_bounds": (0.01, 0.1), "reset_window": (3, 9),
    "trigger": wv.Never(), "variation": 2.0, "window": 9,
}  # fmt: skip
ET_FIXED = {"delta", "noise_cap", "trigger", "horizon", "forced"}  # the window is in the name
ET = ET_FIXED | {"reset_window", "rate_bounds"}
TAKES = {
    "auto": {"hypotheses", "period", "hazard", "outliers", "trigger", "reset_window", "forced"},
    "gp-ucb": set(),
    "r-gp-ucb": {"rate", "period", "horizon"},
    "et-gp-ucb": ET,
    "et-gp-ucb-confirmed": ET | {"cooldown", "min_samples"},
    "et-gp-ucb-backtracking": ET | {"cap"},
    "et-gp-ucb[0.01,0.05]": ET_FIXED,
    "et-gp-ucb[0.001,0.1]": ET_FIXED,
    "et-gp-ucb[0,1]": ET_FIXED,
    "always-n-low": {"rate_bounds", "period", "horizon"},
    "r-gp-ucb-average": {"rate", "period", "horizon"},
    "tv-gp-ucb": {"rate"},
    "tv-gp-ucb-constant": {"rate"},
    "tv-gp-ucb-mle": {"rate"},
    "ui-tvbo": {"rate"},
    "igp-ucb": {"bound", "delta"},
    "sw-gp-ucb": {"bound", "delta", "window", "variation", "horizon"},
    "sw-gp-ucb-evidence": {"windows"},
    "w-dbo": {"alpha"},
    "br-gp-ucb": {"bound", "delta", "period", "variation", "horizon"},
    "w-gp-ucb": {"bound", "delta", "forgetting", "variation", "horizon"},
    "turbo-trigger": {"patience"},
    "random": set(),
}


@pytest.mark.parametrize("name", TABLE)
def test_options_that_are_not_used_are_refused(name):
    for option, value in OPTIONS.items():
        if option not in TAKES[name]:
            with pytest.raises(wv.InvalidArgument, match=f"does not use {option}="):
                composition(name, **{**TABLE[name][0], option: value})


@pytest.mark.parametrize("name", [name for name in TABLE if "[" in name])
def test_variants_named_after_their_bounds_take_no_other_window(name):
    for option, value in {"reset_window": (3, 9), "rate_bounds": (0.02, 0.03)}.items():
        with pytest.raises(wv.InvalidArgument, match=option):
            composition(name, horizon=400, **{option: value})


def test_options_reach_their_part():
    assert composition("et-gp-ucb", delta=0.3, noise_cap=0.5).trigger == wv.PosteriorBound(0.3, 0.5)
    assert composition("et-gp-ucb", trigger=wv.Likelihood(0.2)).trigger == wv.Likelihood(0.2)
    confirmed = composition("et-gp-ucb-confirmed", delta=0.3, cooldown=4, min_samples=2).trigger
    assert confirmed == wv.Confirmed(wv.PosteriorBound(0.3), cooldown=4, min_samples=2)
    assert composition("et-gp-ucb-confirmed", trigger=wv.Likelihood()).trigger == wv.Confirmed(
        wv.Likelihood()
    )
    assert composition("et-gp-ucb", forced="last").on_forced == wv.LastPoint()
    assert composition("et-gp-ucb", reset_window=(3, 9)).window == wv.ResetWindow(3, 9)
    assert composition("et-gp-ucb-backtracking", cap=7).on_trigger == wv.Backtracking(7)
    assert composition("turbo-trigger", patience=9).trigger == wv.NoImprovement(9)
    assert composition("gp-ucb", max_points=30).limit == wv.Budget(30)
    assert composition("gp-ucb", beta=3.0).acquisition.schedule == wv.ConstantBeta(3.0)
    assert composition("gp-ucb", beta=(0.8, 0.4)).acquisition.schedule == wv.LogBeta(0.8, 0.4)
    assert composition("igp-ucb", beta=(0.8, 0.4)).acquisition.schedule == wv.LogBeta(0.8, 0.4)
    schedule = wv.LogBeta(since_reset=True)
    assert composition("et-gp-ucb", beta=schedule).acquisition.schedule is schedule
    assert composition("igp-ucb", bound=3.0, delta=0.2).acquisition.schedule == wv.IGPBeta(
        3.0, math.sqrt(0.02), 0.2
    )
    assert composition("gp-ucb", scaling=wv.Scaling(3.0, 2.0)).model.scaling == wv.Scaling(3.0, 2.0)
    assert composition("gp-ucb", goal="minimize", scaling=wv.Scaling(3.0, 2.0)).model.scaling == wv.Scaling(
        -3.0, 2.0
    )
    assert composition("tv-gp-ucb-mle", rate=0.2).model.temporal == Markov(0.2)
    assert composition("tv-gp-ucb-constant", rate=0.2, beta=1.0).acquisition == wv.UCB(wv.ConstantBeta(1.0))
    in_time = composition("w-dbo", kernel=wv.Matern52(0.2) * wv.TimeRBF(9.0))
    assert (in_time.model.temporal, in_time.learning) == (wv.TimeRBF(9.0), wv.Given())
    assert composition("gp-ucb", kernel=wv.RBF(0.2) * wv.Markov(0.1)).model.temporal == Markov(0.1)
    learning = wv.LearnOnline(growth=1.5)
    assert composition("gp-ucb", learning=learning).learning is learning


def test_the_dimension_is_the_number_of_parameters():
    """Alg. 2's 2d and the TuRBO trigger's d count parameters, not the coordinates of their encoding."""
    space = wv.Space(mode=wv.Choice(["a", "b", "c", "d"]), k=wv.Integer(1, 5))
    assert wv.make("et-gp-ucb-backtracking", space, **GIVEN).composition.on_trigger == wv.Backtracking(4)
    assert wv.make("turbo-trigger", space, **GIVEN).composition.trigger == wv.NoImprovement(2)


# -- lengths ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rate", "steps"), [(0.01, 38), (0.03, 29), (0.05, 26), (0.001, 68)])
def test_the_period_of_r_gp_ucb(rate, steps):
    assert steps == math.ceil(12.0 * rate**-0.25)
    assert composition("r-gp-ucb", rate=rate).trigger == wv.Periodic(steps)
    assert composition("r-gp-ucb", rate=rate, horizon=20).trigger == wv.Periodic(20)
    assert composition("r-gp-ucb", period=5).trigger == wv.Periodic(5)
    assert composition("always-n-low", rate_bounds=(0.0, rate)).trigger == wv.Periodic(steps)


@pytest.mark.parametrize(
    ("bounds", "horizon", "window"),
    [
        ((0.01, 0.05), 400, (26, 38)),
        ((0.001, 0.03), 400, (29, 68)),
        ((0.001, 0.1), 50, (22, 50)),
        ((0.0, 0.05), None, (26, None)),
        ((0.0, 1.0), 400, (1, 400)),
    ],
)
def test_windows_from_rate_bounds(bounds, horizon, window):
    assert composition("et-gp-ucb", rate_bounds=bounds, horizon=horizon).window == wv.ResetWindow(*window)


def test_windows_of_matern_kernels():
    """Corollary 1 with xi = d (d + 1) / (2 nu + d (d + 1)), nu = 5/2, d = 2."""
    matern = {"kernel": wv.Matern52(0.2), "rate_bounds": (0.01, 0.05)}
    exponent = 1.0 / (4.0 - 6.0 / 11.0)
    assert window_exponent(2.5, 2) == pytest.approx(exponent)
    low, high = math.ceil(12.0 * 0.05**-exponent), math.ceil(12.0 * 0.01**-exponent)
    assert composition("et-gp-ucb", **matern).window == wv.ResetWindow(low, high)
    assert composition(
        "et-gp-ucb", **{**matern, "kernel": wv.Matern52(0.2) * wv.Static()}
    ).window == wv.ResetWindow(low, high)
    assert composition("always-n-low", **matern).trigger == wv.Periodic(low)  # it resets whenever ET may


@pytest.mark.parametrize(("rate", "steps"), [(0.01, 100), (0.03, 45), (0.05, 32)])
def test_the_average_reset_time_of_et(rate, steps):
    assert composition("r-gp-ucb-average", rate=rate).trigger == wv.Periodic(steps)


def test_the_average_reset_time_between_the_papers_rates():
    periods = [
        composition("r-gp-ucb-average", rate=rate).trigger.period
        for rate in (0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.2)
    ]
    assert periods == sorted(periods, reverse=True)
    assert 45 < periods[2] < 100
    assert composition("r-gp-ucb-average", rate=0.02, period=7).trigger == wv.Periodic(7)


def greedy_gain(kernel, points, noise, count):
    """gamma_T by always observing where the posterior variance is largest, each time from a dense solve."""
    chosen, K = [], kernel.matrix(points, points)
    for _ in range(count):
        if chosen:
            inner = K[np.ix_(chosen, chosen)] + noise * np.eye(len(chosen))
            variance = np.diag(K) - np.einsum("mn,nm->m", K[:, chosen], np.linalg.solve(inner, K[chosen]))
        else:
            variance = np.diag(K)
        chosen.append(int(np.argmax(variance)))
    return 0.5 * np.linalg.slogdet(np.eye(count) + K[np.ix_(chosen, chosen)] / noise)[1]


@pytest.mark.parametrize(("variation", "horizon"), [(2.0, 60), (10.0, 40)])
def test_lengths_from_the_budget_of_variation(variation, horizon):
    gain = greedy_gain(wv.RBF(0.2), BOX.candidates(256), 0.02, horizon)
    length = gain**0.25 * math.sqrt(horizon / variation)
    options = {"variation": variation, "horizon": horizon}
    assert composition("sw-gp-ucb", **options).limit == wv.SlidingWindow(math.ceil(length))
    assert composition("br-gp-ucb", **options).trigger == wv.Periodic(math.ceil(length))
    forgetting = composition("w-gp-ucb", **options).model.noise.forgetting
    assert forgetting == pytest.approx(1.0 - gain**-0.25 * math.sqrt(variation / horizon), abs=1e-6)


# -- what is not given is learned -------------------------------------------------------------------


def learner(name="et-gp-ucb", space=BOX, **options):
    return wv.make(name, space, seed=0, **options)


@pytest.mark.parametrize(
    ("options", "learn", "rescale"),
    [
        ({}, ("lengthscale", "noise"), True),
        ({"kernel": wv.RBF(0.2)}, ("noise",), False),
        ({"noise_variance": 0.1}, ("lengthscale", "variance"), False),
        ({"scaling": wv.Scaling(5.0, 2.0)}, ("lengthscale", "noise"), False),
    ],
)
def test_what_is_learned(options, learn, rescale):
    triggered, never = learner(**options).composition, learner("gp-ucb", **options).composition
    assert isinstance(triggered.learning, wv.LearnThenMonitor)
    assert isinstance(never.learning, wv.LearnOnline)
    for found in (triggered, never):
        assert found.learning.search.learn == learn
        assert found.rescale is rescale


def test_nothing_is_learned_if_all_is_given():
    assert learner(kernel=wv.RBF(0.2), noise_variance=0.1).composition.learning == wv.Given()


def test_learn_then_monitor():
    """Learn for 2d steps after a start or reset, freeze, then monitor (Section 6.3)."""
    opt = learner(learning=wv.LearnThenMonitor())
    rng, offsets, resets = np.random.default_rng(0), [], []
    for t in range(60):
        x, before = rng.uniform(size=2), opt.model
        jump = 900.0 * (t // 20)  # in odd units
        event = opt.tell(x, 300.0 + jump + 40.0 * math.sin(4.0 * x[0] + 3.0 * x[1]))
        assert event.monitored == (event.elapsed > 4)
        if event.reset:
            assert event.monitored
            assert opt.model is before  # one point says nothing about a lengthscale
            resets.append(t)
        elif t == 0:
            assert opt.model.scaling.offset == event.y  # centred, so that units do not matter
            assert opt.model.kernel is before.kernel
        elif event.monitored or event.size < 2:
            assert opt.model is before  # frozen
        else:
            assert opt.model is not before
            assert event.elapsed <= 4
        offsets.append(opt.model.scaling.offset)
    assert {20, 40} <= set(resets)  # each jump is seen at once
    assert offsets[19] == pytest.approx(300.0, abs=60.0)
    assert offsets[39] == pytest.approx(1200.0, abs=60.0)
    assert offsets[59] == pytest.approx(2100.0, abs=60.0)


def test_a_jump_while_learning_is_not_judged():
    opt = learner()
    for t in range(4):
        event = opt.tell(BOX.decode(np.array([0.2 * t, 0.3])), 1e6 * (t == 3))
        assert (event.monitored, event.reset) == (False, False)


@pytest.mark.parametrize("dim", [1, 2, 15])
def test_by_default_nothing_is_judged_for_at_least_2d_steps(dim):
    opt = learner(space=wv.Box([(0.0, 1.0)] * dim))
    steps = opt.composition.learning.steps or 2 * dim
    assert steps >= 2 * dim
    rng = np.random.default_rng(0)
    events = [opt.tell(rng.uniform(size=dim), float(rng.normal())) for _ in range(steps + 1)]
    assert [event.monitored for event in events] == [False] * steps + [True]
    assert not any(event.reset for event in events[:steps])


def test_learning_steps_are_settable():
    opt = learner(learning=wv.LearnThenMonitor(steps=7))
    events = [opt.tell(opt.ask(), math.sin(t)) for t in range(9)]
    assert [event.monitored for event in events] == [False] * 7 + [True] * 2


@pytest.mark.parametrize("name", ["r-gp-ucb", "br-gp-ucb", "always-n-low"])
def test_a_period_is_kept_while_learning(name):
    """The clock looks for no mismatch that a fit could explain away: nothing to postpone."""
    opt = learner(name, period=3)
    assert [opt.tell(opt.ask(), math.sin(t)).reset for t in range(9)] == [False, False, True] * 3


def test_a_forced_reset_is_not_postponed_by_learning():
    opt = learner(reset_window=(1, 3))
    assert [opt.tell(opt.ask(), 0.01 * math.sin(t)).reset for t in range(6)] == [False, False, True] * 2


@pytest.mark.parametrize(
    ("name", "options"), [("et-gp-ucb", {}), ("gp-ucb", {}), ("tv-gp-ucb", {"rate": 0.03})]
)
@pytest.mark.parametrize("told", [0, 2])
def test_units_do_not_matter_if_nothing_is_given(name, options, told):
    """y in other units and with another zero gives the same points, from the first on."""
    plain, odd = learner(name, **options), learner(name, **options)
    rng = np.random.default_rng(0)
    for t in range(12):
        x = rng.uniform(size=2) if t < told else plain.ask()
        if t >= told:
            np.testing.assert_allclose(odd.ask(), x, atol=2e-3)
        y = math.sin(5.0 * x[0]) + math.cos(4.0 * x[1])
        one, other = plain.tell(x, y), odd.tell(x, 1000.0 * y + 5000.0)
        assert one.reset == other.reset
        if t >= 2:
            assert other.mean == pytest.approx(1000.0 * one.mean + 5000.0, abs=5.0)
            assert other.std == pytest.approx(1000.0 * one.std, abs=5.0)


def test_online_learning_refits_as_the_data_grow():
    opt = learner("gp-ucb")
    refits, model = [], opt.model
    for t in range(40):
        opt.tell(opt.ask(), math.sin(t))
        if opt.model is not model:
            refits.append(t + 1)
            model = opt.model
    assert refits[:4] == [1, 2, 3, 4]  # the first only centres y
    gaps = np.diff(refits)
    assert gaps.max() >= 3  # every tenth of n: less and less often
    assert (np.diff(gaps) >= 0).all()


def test_maximum_likelihood_of_the_rate_at_every_step():
    opt = wv.make("tv-gp-ucb-mle", BOX, **GIVEN)
    rates = []
    for t in range(10):
        x = opt.ask()
        opt.tell(x, math.sin(5 * x[0] + 0.5 * t))
        rates.append(opt.model.temporal.rate)
        assert opt.model.kernel == wv.RBF(0.2)
        assert opt.model.noise.variance == 0.02
    assert rates[0] == 0.01
    assert len(set(rates)) >= 5


def test_maximum_likelihood_of_the_rate_learns_what_else_is_open():
    """Told nothing, it must not run on the first guesses of lengthscale, noise and units."""
    opt = wv.make("tv-gp-ucb-mle", BOX, seed=0)
    first = opt.model
    for t in range(8):
        x = opt.ask()
        opt.tell(x, 500.0 + 40.0 * math.sin(5 * x[0] + 0.2 * t))
    assert set(opt.composition.learning.search.learn) == {"rate", "lengthscale", "noise"}
    assert opt.model.kernel != first.kernel
    assert opt.model.noise != first.noise
    assert 400.0 < opt.model.scaling.offset < 600.0
