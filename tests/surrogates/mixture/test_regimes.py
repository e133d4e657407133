"""Regimes that come back: the evidence for that against dense normal densities, the archive, and the whole loop."""

import copy
import json
import math

import numpy as np
import pytest
from scipy import stats

import windvane as wv
from windvane.data import Change, Dataset
from windvane.kernels import RBF
from windvane.surrogates import Hypothesis, Mixture, Scaling
from windvane.surrogates.mixture import regimes
from windvane.surrogates.mixture.member import Member
from windvane.surrogates.mixture.outliers import NoiseEstimate
from windvane.surrogates.mixture.regimes import Archive, Regime, telling
from windvane.surrogates.mixture.tuning import KEPT, MOST_SINCE, REGIMES, RETURNING

LINE = wv.Box([(0.0, 1.0)])
GIVEN = {"kernel": wv.RBF(0.15), "noise_variance": 0.01}
SUMMIT = max(math.sin(9.0 * x) + x for x in np.linspace(0.0, 1.0, 1001))  # of the first function of `value`
STATIC = Hypothesis("static", wv.Static(), 1.0)


def rows(count, seed=0, first=1, f=lambda x: np.sin(7.0 * x)):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(count, 1))
    y = f(X[:, 0]) + 0.1 * rng.normal(size=count)
    return Dataset(X, y, np.arange(first, first + count, dtype=float), np.arange(first, first + count))


def model(**options):
    return Mixture(RBF(0.2), 0.02, hypotheses=(STATIC,), outliers=0.0, **options)


def regime(data, scaling=None):
    scaling = scaling or Scaling(0.4, 1.7)
    return Regime(int(data.steps[0]), int(data.steps[-1]), data, RBF(0.3), 0.03, scaling)


def log_density(known, own, lift):
    """ln p(own | regime) in the caller's units: the quotient of two normal densities, with a common level of `own`."""
    X = np.concatenate((known.data.X, own.X))
    since = np.concatenate((np.zeros(len(known.data)), np.ones(len(own))))
    unit, noise = known.scaling.scale**2, known.noise_variance
    K = unit * (known.kernel.matrix(X, X) + noise * np.eye(len(X)) + lift * np.outer(since, since))
    y = np.concatenate((known.data.y, own.y)) - known.scaling.offset
    joint = stats.multivariate_normal.logpdf(y, cov=K)
    past = len(known.data)
    return joint - (stats.multivariate_normal.logpdf(y[:past], cov=K[:past, :past]) if past else 0.0)


def test_probabilities_are_bayes_rule_for_dense_densities():
    """Two regimes, each as it was or at another level, or a function that is new."""
    known = [regime(rows(25)), regime(rows(20, 1, 31, lambda x: np.cos(9.0 * x)), Scaling(-0.2, 0.8))]
    own = rows(5, 2, 61, lambda x: np.sin(7.0 * x) + 0.3)
    present = model(scaling=Scaling(0.1, 1.3))
    found = Archive(tuple(known), 61, True).returns(present, 0.05, own)
    logs = []
    for kind in (
        Regime(0, 0, own, present.kernel, 0.05, present.scaling),
        *known,
    ):  # a new function of any kind
        logs += both(kind._replace(data=own.take(slice(0))), own, (1.0 - RETURNING) / 3.0)
    for each in known:
        logs += both(each, own, RETURNING / 2.0)
    expected = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
    np.testing.assert_allclose([change.probability for change in found], expected[6:], atol=1e-9)
    assert [change.kind for change in found] == ["return"] * 4
    assert [change.regime for change in found] == [(1, 25)] * 2 + [(31, 50)] * 2
    assert all(change.past is each.data for change, each in zip(found[::2], known, strict=True))
    assert {change.step for change in found} == {61}
    assert sum(change.probability for change in found[:2]) > 0.9
    assert found[1].level == pytest.approx(0.3, abs=0.25)


def both(each, own, chance):
    """Log joint densities: as it was, and at another level."""
    return [
        math.log(0.7 * chance) + log_density(each, own, 0.0),
        math.log(0.3 * chance) + log_density(each, own, _lift(each, own)),
    ]


def _lift(each, own):
    """The next power of 4 above the mean squared distance, one by one, from what the regime expects; at least 1."""
    residuals = []
    for count in range(len(own)):
        past = each.data.joined(own.take(slice(count)))
        K = each.kernel.matrix(past.X, past.X) + each.noise_variance * np.eye(len(past))
        k = each.kernel.matrix(own.X[count : count + 1], past.X)
        inward = (
            np.concatenate((past.y, own.y[count : count + 1])) - each.scaling.offset
        ) / each.scaling.scale
        residuals.append(inward[-1] - float((k @ np.linalg.solve(K, inward[:-1]))[0]))
    off = max(abs(float(np.mean(residuals))), 1.0)
    return 4.0 ** math.ceil(math.log(off * off, 4.0))


def test_what_says_most_is_what_was_known_least():
    data, kernel = rows(40, 3), RBF(0.1)
    chosen = []
    for _ in range(12):
        X = data.X[chosen]
        K = kernel.matrix(X, X) + 0.02 * np.eye(len(X))
        k = kernel.matrix(data.X, X)
        left = 1.0 - np.einsum("mn,nm->m", k, np.linalg.solve(K, k.T))
        left[chosen] = -1.0
        chosen.append(int(np.argmax(left)))
    assert telling(kernel, data, 0.02, 12).tolist() == sorted(chosen)
    assert telling(kernel, data, 0.02, 40).tolist() == list(range(40))


def member(data, present, hypothesis=STATIC):
    found = Member(hypothesis, NoiseEstimate.about(0.02, 3.0), lead=6.0)
    found.noises = np.full(len(data), 0.02)
    times = data.times / present.interval
    found.rebuild(present.kernel.matrix(data.X, data.X), data.y, times, float(times[-1]))
    return found


def test_the_archive_is_bounded():
    archive, present = Archive(), model()
    for turn in range(7):
        data = rows(80, turn, 1 + 100 * turn)
        change = Change(71 + 100 * turn, 0.95)
        archive = archive.closed(change, data, present, member(data, present))
        assert archive.unknown
        assert archive.since == change.step
    assert len(archive.regimes) == REGIMES
    spans = [(each.first, each.last) for each in archive.regimes]
    assert spans == [(301, 370), (401, 470), (501, 570), (601, 670)]
    assert all(len(each.data) == KEPT for each in archive.regimes)
    json.dumps(archive.plain(), allow_nan=False)


def test_what_had_faded_is_not_kept_and_too_little_is_no_regime():
    present, data = model(), rows(60)
    drift = Hypothesis("drift", wv.Markov(0.01), 1.0)
    archive = Archive().closed(Change(61, 0.95), data, present, member(data, present, drift))
    assert archive.regimes[0].data.steps.tolist() == list(range(40, 61))  # 0.99^(20 / 2) is just above 0.9
    fast = Hypothesis("drift", wv.Markov(0.1), 1.0)
    assert not Archive().closed(Change(61, 0.95), data, present, member(data, present, fast)).regimes
    assert not Archive().closed(Change(61, 0.95), data, present, member(data, present, fast)).unknown
    few = rows(9)
    assert not Archive().closed(Change(10, 0.95), few, present, member(few, present)).regimes


def test_it_is_asked_only_while_the_data_since_a_change_are_few():
    known = regime(rows(25))
    for count, asked in ((3, False), (4, True), (MOST_SINCE, True), (MOST_SINCE + 1, False)):
        own = rows(count, 2, 61)
        assert bool(Archive((known,), 61, True).returns(model(), 0.02, own)) == asked
        assert not Archive((known,), 61, False).returns(model(), 0.02, own)


# -- the loop --------------------------------------------------------------------------------------------


def value(x, step, third=0, level=0.0):
    """Two functions in turn; the third time another, if asked for."""
    era = (step - 1) // 40
    which = (0, 1, third)[min(era, 2)]
    f = (
        lambda x: math.sin(9.0 * x) + x,
        lambda x: 1.2 * math.cos(12.0 * x) - 0.8,
        lambda x: 1.5 * math.cos(9.0 * x + 2.5),
    )[which]
    return f(float(x[0])) + level * (era == 2) + 0.05 * math.cos(77.0 * step)


def run(steps=110, seed=0, **how):
    opt = wv.make(LINE, seed=seed, **GIVEN)
    events = []
    for step in range(1, steps + 1):
        x = opt.ask()
        events.append(opt.tell(x, value(x, step, **how)))
    return opt, [event for event in events if event.reset]


@pytest.mark.parametrize("level", [0.0, -1.5])
def test_a_regime_that_is_back_is_recognised_and_its_data_used_again(level):
    recognised = 0
    for seed in range(4):
        opt, resets = run(seed=seed, level=level)
        back = [event for event in resets if event.change.kind == "return"]
        if not back:
            continue
        event = back[0]
        assert event.step < 81 + MOST_SINCE
        assert event.change.step in (80, 81, 82)
        assert event.change.regime[1] in (39, 40, 41)
        assert event.change.past is None
        assert event.change.level == pytest.approx(level, abs=0.5)
        assert event.reason.startswith("the regime of steps 1 to")
        assert event.kept == event.size > 35
        assert opt.data.steps[0] < 10  # what was measured in the first regime counts again
        assert not ((opt.data.steps > 42) & (opt.data.steps < 80)).any()
        recognised += 1
        best = opt.best()
        true = math.sin(9.0 * best.x[0]) + best.x[0] + level
        assert best.mean == pytest.approx(true, abs=0.1)
        assert true == pytest.approx(SUMMIT + level, abs=0.1)
    assert recognised >= 3


def test_a_regime_that_is_back_is_told_by_the_clock_of_the_caller():
    opt = wv.make(LINE, seed=1, **GIVEN)
    for step in range(1, 81 + MOST_SINCE):
        x = opt.ask()
        event = opt.tell(x, value(x, step), time=2.0 * step)
        if event.reset and event.change.kind == "return":
            break
    first, last = event.change.regime
    times = f"time {2 * first} to time {2 * last}"
    assert event.reason.startswith(f"the regime of {times} (steps {first} to {last}) is back since time ")


def test_what_is_new_is_not_taken_for_what_was_there():
    assert not [
        event for seed in range(4) for event in run(seed=seed, third=2)[1] if event.change.kind == "return"
    ]


def test_a_twin_goes_on_bit_for_bit_across_a_recognition():
    opt, twin, recognised = wv.make(LINE, seed=0, **GIVEN), None, False
    for step in range(1, 111):
        x = opt.ask()
        if step in (41, 60, 81, 83, 100):
            twin = wv.restore(json.loads(json.dumps(opt.state(), allow_nan=False)))
        event = opt.tell(x, value(x, step))
        if twin is not None:
            assert twin.tell(x, value(x, step)) == event
            assert json.dumps(twin.state()) == json.dumps(opt.state())
        recognised |= event.reset and event.change.kind == "return"
    assert recognised


def test_the_limit_holds_when_data_come_back():
    opt = wv.make(LINE, seed=0, max_points=20, **GIVEN)
    for step in range(1, 111):
        x = opt.ask()
        assert opt.tell(x, value(x, step)).size == opt.size <= 20


@pytest.fixture(scope="module")
def written():
    state = json.loads(json.dumps(run(steps=60)[0].state()))
    assert len(state["surrogate"]["archive"]["regimes"]) == 1
    wv.restore(state)
    return state


@pytest.mark.parametrize(
    ("path", "new"),
    [
        (("regimes",), None),
        (("regimes",), 5),
        (("since",), 0),
        (("since",), "x"),
        (("unknown",), 1),
        (("regimes", 0, "data"), [[[7.0], 1.0, 1.0, 1]]),
        (("regimes", 0, "data", 0, 1), math.nan),
        (("regimes", 0, "kernel"), {"type": "Noise", "variance": 0.1}),
        (("regimes", 0, "scaling"), None),
        (("regimes", 0, "noise_variance"), 0.0),
        (("regimes", 0, "first"), 0),
        (("regimes", 0, "last"), 0),
    ],
    ids=str,
)
def test_an_altered_archive_is_refused(written, path, new):
    state = copy.deepcopy(written)
    node = state["surrogate"]["archive"]
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = new
    with pytest.raises(wv.CorruptState, match="state"):
        wv.restore(state)


def test_more_regimes_than_are_kept_are_refused(written):
    state = copy.deepcopy(written)
    state["surrogate"]["archive"]["regimes"] *= REGIMES + 1
    with pytest.raises(wv.CorruptState, match="regimes"):
        wv.restore(state)


def test_other_triggers_notice_nothing():
    opt = wv.make(LINE, seed=0, trigger=wv.ExactBound(0.05), **GIVEN)
    resets = 0
    for step in range(1, 90):
        x = opt.ask()
        event = opt.tell(x, value(x, step))
        resets += event.reset
        assert event.change is None
        assert "archive" not in opt.state()["surrogate"]
    assert resets


def test_the_regime_of_a_change_is_found():
    one, other = regime(rows(12)), regime(rows(12, 1))
    assert regimes.found((one, other), Change(5, 0.9, past=other.data)) is other
