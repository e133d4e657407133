"""Outcome constraints: what is believed of them, what may be asked for because of that, and what is told."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as SklearnRBF

import windvane as wv
from windvane import feasibility
from windvane.algorithms import ALGORITHMS
from windvane.data import Event
from windvane.feasibility import interpolated, on_grid

BOX = wv.Box([(0.0, 1.0), (0.0, 1.0)])
LINE = wv.Box([(0.0, 1.0)])
NEEDS = {
    "r-gp-ucb": {"rate": 0.03},
    "always-n-low": {"rate_bounds": (0.01, 0.05)},
    "r-gp-ucb-average": {"rate": 0.03},
    "tv-gp-ucb": {"rate": 0.05},
    "tv-gp-ucb-constant": {"rate": 0.05},
    "ui-tvbo": {"rate": 0.05},
    "sw-gp-ucb": {"window": 8},
    "br-gp-ucb": {"period": 9},
    "w-gp-ucb": {"forgetting": 0.9},
}
SPACES = {
    "box": (BOX, [0.3, 0.3]),
    "4-d": (wv.Box([(0, 1)] * 4), [0.3, 0.3, 0.4, 0.5]),
    "arms": (wv.Arms(12), 3),
    "candidates": (wv.Candidates(np.random.default_rng(0).random((40, 3))), 7),
    "mixed": (
        wv.Space(gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 4), mode=wv.Choice(["a", "b"])),
        {"gain": 1.0, "taps": 2, "mode": "a"},
    ),
    "context": (
        wv.Space(gain=wv.Real(0, 1), speed=wv.Real(0, 1), load=wv.Context(0, 100)),
        {"gain": 0.3, "speed": 0.3},
    ),
}


WITH_CONTEXT = wv.Space(a=wv.Real(0, 1), b=wv.Real(0, 1), load=wv.Context(0, 1))


def objective(x):
    """Rises towards the upper corner."""
    return float(np.sum(x))


def heat(x):
    """So does the heat: the best places are not allowed."""
    return 100.0 * float(np.linalg.norm(x)) / np.sqrt(len(x))


def told(opt, steps, *, values=heat, context=None, check=None, drift=lambda t: 0.0):
    """Run a loop; the points that were asked for, and the events."""
    rng, asked, events = np.random.default_rng(7), [], []
    for step in range(1, steps + 1):
        seen = {} if context is None else {"context": context(step)}
        x = opt.ask(**seen)
        if check is not None:
            check(opt, x)
        unit = opt.space.encode(x) / (11.0 if isinstance(opt.space, wv.Arms) else 1.0)
        asked.append(x)
        noise = rng.normal(size=2)
        events.append(
            opt.tell(x, objective(unit) + 0.02 * noise[0], heat=values(unit) + drift(step) + 0.5 * noise[1])
        )
    return asked, events


def safe_loop(space=BOX, start=(0.2, 0.2), limit=70.0, name="auto", safe=0.95, **options):
    limits = {"heat": wv.AtMost(limit, unit="°C")}
    return wv.make(name, space, constraints=limits, safe=safe, start=[start], seed=1, **options)


# -- probabilities --------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [wv.AtMost(0.4), wv.AtLeast(0.4)], ids=str)
def test_the_probability_is_that_of_another_gaussian_process(limit):
    limit = type(limit)(limit.limit, kernel=wv.RBF(0.2), noise_variance=0.05, mean=0.0)
    given = {"kernel": wv.RBF(0.3), "noise_variance": 0.02}
    opt = wv.make("gp-ucb", LINE, constraints={"g": limit}, seed=0, **given)
    rng = np.random.default_rng(1)
    X, g = rng.random((12, 1)), rng.normal(size=12)
    for x, value in zip(X, g, strict=True):
        opt.tell(x, 0.0, g=value)
    other = GaussianProcessRegressor(SklearnRBF(0.2), alpha=0.05, optimizer=None).fit(X, g)
    points = np.linspace(0, 1, 9)[:, None]
    mean, std = other.predict(points, return_std=True)
    above = norm.sf(0.4, mean, std)
    expected = above if limit.sign > 0 else 1.0 - above
    np.testing.assert_allclose(opt.feasibility(points)["g"], expected, atol=1e-8)
    np.testing.assert_allclose(opt.predict(points, of="g"), (mean, std), atol=1e-8)


def mixture(seed=0, steps=25, space=BOX):
    """The loop of a constraint of `auto`, of values with a level that moves."""
    opt = wv.make(space, constraints={"g": wv.AtLeast(0.0)}, seed=seed)
    rng = np.random.default_rng(seed)
    for t in range(steps):
        x = space.decode(space.sample(rng, 1)[0])
        opt.tell(x, rng.normal(), g=np.sin(5 * space.encode(x).sum()) + 0.03 * t + 0.05 * rng.normal())
    return opt._progress.constraints[0].surrogate


def test_the_probability_of_a_mixture_is_the_share_of_its_samples():
    surrogate = mixture()
    points, now, level = np.random.default_rng(3).random((6, 2)), 26.0, 0.3
    rng, count = np.random.default_rng(4), 40_000
    scaling = surrogate.model.scaling
    above = np.zeros(len(points))
    moment = surrogate._moment(list(zip(surrogate.weights.tolist(), surrogate.members, strict=True)), now)
    weights, means, variances = moment._members_at(points, lasting=False)
    chosen = rng.choice(len(weights), p=weights / weights.sum(), size=count)
    for row in range(len(points)):
        drawn = means[chosen, row] + np.sqrt(variances[chosen, row]) * rng.standard_normal(count)
        above[row] = (scaling.offset + scaling.scale * drawn >= level).mean()
    error = 4.0 * np.sqrt(0.25 / count) + 0.002
    np.testing.assert_allclose(norm.cdf(surrogate.scores(points, now, level)), above, atol=error)


@pytest.mark.parametrize("space", [LINE, BOX, wv.Box([(0, 1)] * 4)], ids=["line", "square", "4-d"])
def test_what_is_kept_on_candidates_is_the_probability_there(space):
    surrogate = mixture(2, 30, space)
    for member in surrogate.members:  # so that all have a say in both
        if not member.watched:
            member.watch(surrogate._cache.rows())
    assert any(member.level_variance for member in surrogate.members)
    points, now = surrogate.posterior(31.0).candidates, 31.0
    rows = np.random.default_rng(0).integers(len(points), size=60)
    kept = norm.cdf(surrogate.scores_on_candidates(now, 0.4))
    some = np.flatnonzero(surrogate.weights >= 0.001)
    left = 1.0 - surrogate.weights[some].sum()
    np.testing.assert_allclose(
        kept[rows], norm.cdf(surrogate.scores(points[rows], now, 0.4)), atol=1e-7 + 2 * left
    )


@pytest.mark.parametrize("name", ["gp-ucb", "auto"])
def test_insight_is_what_one_more_observation_does_to_the_variance(name):
    given = {"kernel": wv.RBF(0.3), "noise_variance": 0.05}
    more = (
        {"hypotheses": (wv.Hypothesis("static", wv.Static(), 1.0),), "hazard": 0.0} if name == "auto" else {}
    )
    opt = wv.make(name, LINE, seed=0, **given, **more)
    for x in (0.1, 0.3, 0.35):
        opt.tell([x], x)
    surrogate = opt._progress.surrogate
    e, z = np.array([[0.5], [0.9]]), np.array([[0.6], [0.7], [1.0]])
    noise = surrogate.model.noise_variance if name == "gp-ucb" else surrogate.heaviest.noise.value
    before = surrogate.posterior(4.0).at(z)[1]
    X = np.array([[0.1], [0.3], [0.35]])
    noises = [noise] * 3 if name == "gp-ucb" else surrogate.heaviest.noises
    for row, point in enumerate(e):
        points = np.concatenate((X, point[None]))
        K = wv.RBF(0.3).matrix(points, points) + np.diag([*noises, noise])
        k = wv.RBF(0.3).matrix(z, points)
        after = 1.0 - np.einsum("ij,ij->i", k, np.linalg.solve(K, k.T).T)
        found = surrogate.insight(e, z, 4.0)[row]
        np.testing.assert_allclose(found, 1.0 - after / before, atol=1e-6)


@given(st.integers(1, 3), st.integers(0, 100))
@settings(max_examples=30, deadline=None)
def test_interpolation_is_exact_for_what_is_linear(dim, seed):
    rng = np.random.default_rng(seed)
    slope, shape = rng.normal(size=dim), tuple(rng.integers(2, 6, size=dim).tolist())
    axes = np.meshgrid(*[np.linspace(0, 1, side) for side in shape], indexing="ij")
    values = sum(a * axis for a, axis in zip(slope, axes, strict=True))
    points = rng.random((20, dim))
    np.testing.assert_allclose(interpolated(values, points), points @ slope, atol=1e-12)


@pytest.mark.parametrize(("given_sides", "wanted"), [((5,), (9,)), ((4, 7), (7, 4)), ((3, 3, 3), (4, 2, 5))])
def test_from_grid_to_grid_it_is_the_same_interpolation(given_sides, wanted):
    values = np.random.default_rng(0).normal(size=given_sides)
    axes = [np.linspace(0.0, 1.0, side) for side in wanted]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(wanted))
    np.testing.assert_allclose(on_grid(values, wanted).ravel(), interpolated(values, points), atol=1e-12)


@pytest.mark.parametrize("count", [1, 2, 7, 300])
def test_what_is_likely_is_the_probability_to_four_digits(count):
    opt = wv.make(LINE, constraints={"g": wv.AtLeast(0.0)}, seed=0)
    for _ in range(min(count, 9)):
        opt.tell(opt.ask(), 0.0, g=1.0)
    one, loop = opt.composition.constraints.each[0], opt._progress.constraints[0].surrogate
    z = np.concatenate((np.linspace(-9.0, 9.0, 999), (-300.0, 300.0)))
    np.testing.assert_allclose(
        feasibility.likely(one, loop, z), stats.t.cdf(z, max(len(loop.data), 1)), atol=1.2e-4
    )


@pytest.mark.parametrize("name", ["gp-ucb", "auto"])
def test_the_score_of_a_forecast_is_the_score_at_its_point(name):
    told = {"kernel": wv.RBF(0.3), "noise_variance": 0.01} if name == "gp-ucb" else {}
    opt = wv.make(name, BOX, constraints={"g": wv.AtLeast(0.0)}, seed=3, **told)
    rng = np.random.default_rng(5)
    for t in range(25):
        x = rng.random(2)
        opt.tell(x, rng.normal(), g=np.sin(5 * x.sum()) + 0.03 * t)
    loop = opt._progress.constraints[0].surrogate
    for point in rng.random((5, 2)):
        there = loop.scores(point[None], 26.0, 0.3)[0]
        assert loop.score_of(loop.forecast(point, 26.0), 0.3) == pytest.approx(there, abs=1e-6)


def test_told_the_kernel_the_odds_are_even_where_nothing_was_measured():
    for limit in (wv.AtMost(90.0, kernel=wv.RBF(0.3)), wv.AtLeast(90.0, noise_variance=0.25)):
        opt = wv.make(BOX, constraints={"heat": limit}, safe=0.9, start=[[0.2, 0.2]], seed=0)
        assert opt.feasibility([[0.9, 0.9]])["heat"] == pytest.approx(0.5)


@pytest.mark.parametrize("count", [1, 3, 10, 60])
def test_a_unit_that_is_learned_from_few_values_is_not_trusted_as_one_that_is_told(count):
    opt = wv.make(LINE, constraints={"g": wv.AtLeast(0.0)}, safe=0.9, start=[[0.5]], seed=0)
    rng = np.random.default_rng(0)
    for _ in range(count):
        opt.tell(rng.random(1), 0.0, g=1.0 + 0.1 * rng.normal())
    loop = opt._progress.constraints[0].surrogate
    points = rng.random((5, 1))
    z, before = loop.scores(points, opt.time, 0.0), opt.state()
    event = opt.tell(points[0], 0.0, g=1.0)
    assert event.outcomes["g"].probability == pytest.approx(stats.t.cdf(z[0], len(loop.data)), abs=1e-9)
    opt = wv.restore(before)
    np.testing.assert_allclose(opt.feasibility(points)["g"], stats.t.cdf(z, len(loop.data)), atol=1e-9)


# -- safe -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SPACES)
def test_every_point_that_is_asked_for_is_believed_safe_or_was_measured_to_be(kind):
    space, start = SPACES[kind]
    opt = wv.make(space, constraints={"heat": wv.AtMost(70.0)}, safe=0.9, start=[start], seed=1)
    context = (lambda t: {"load": 50.0 + 10 * np.sin(t)}) if kind == "context" else None
    retreats = 0

    def check(opt, x):
        nonlocal retreats
        if opt.step == 1:
            return
        chance = float(opt.feasibility([x])["heat"][0])
        if chance < 0.9 - 1e-9:
            retreats += 1
            setting = {k: x[k] for k in start} if isinstance(start, dict) else x
            last = opt._progress.last_safe
            assert last is None or np.allclose(opt.space.encode(x), last) or np.array_equal(setting, start)

    _, events = told(opt, 25, context=context, check=check)
    assert retreats <= 8
    assert sum(bool(event.violated) for event in events) <= 4
    if kind in ("box", "mixed"):  # and it does not stay where it began
        assert np.ptp([space.encode(event.x)[0] for event in events]) > 0.1


def test_the_starts_are_asked_for_first_and_in_their_order():
    starts = [[0.2, 0.2], [0.1, 0.4], [0.3, 0.1]]
    opt = wv.make(BOX, constraints={"heat": wv.AtMost(70.0)}, safe=0.95, start=starts, seed=0)
    asked, _ = told(opt, 3)
    np.testing.assert_allclose(asked, starts, atol=1e-12)
    opt = wv.make(BOX, constraints={"heat": wv.AtMost(70.0)}, safe=0.95, start=starts, seed=0)
    np.testing.assert_allclose(opt.ask(count=3), starts, atol=1e-12)


def test_the_safe_region_grows_towards_what_is_better():
    opt = safe_loop()
    asked, events = told(opt, 60)
    assert np.mean([heat(x) > 70.0 for x in asked]) <= 0.05
    assert all(event.violated for event in events if event.outcomes["heat"].value > 70.0)
    best = opt.best()
    assert best.feasible >= 0.95
    assert objective(best.x) > 1.15  # the best allowed is near 1.4, the start 0.4
    assert max(objective(x) for x in asked) > 1.2


def test_a_violation_keeps_the_search_away_at_once_before_any_fit():
    opt = safe_loop(name="gp-ucb", kernel=wv.RBF(0.3), noise_variance=0.01)
    told(opt, 15)
    x = opt.ask()
    event = opt.tell(x, objective(x), heat=200.0)
    assert event.violated == ("heat",)
    assert opt.feasibility([x])["heat"][0] < 0.5
    assert np.linalg.norm(opt.ask() - x) > 0.02


@pytest.mark.parametrize("mode", ["safe", "soft"])
def test_told_nothing_a_violation_from_nowhere_is_not_asked_for_again(mode):
    more = {"safe": 0.95, "start": [[0.2, 0.2]]} if mode == "safe" else {}
    opt = wv.make(BOX, constraints={"heat": wv.AtMost(70.0)}, seed=1, **more)
    told(opt, 40)
    x = opt.ask()
    opt.tell(x, objective(x), heat=500.0)
    assert np.linalg.norm(opt.ask() - x) > 0.02


def test_when_the_constraint_jumps_the_safe_set_shrinks_to_what_was_measured_since():
    opt = safe_loop()
    told(opt, 40)
    assert opt.feasibility([[0.2, 0.2]])["heat"][0] > 0.95
    known = opt.best().x
    events = [opt.tell(known, objective(known), heat=heat(known) + 60.0) for _ in range(3)]
    outcome = [event.outcomes["heat"] for event in events]
    assert all(each.violated for each in outcome)
    assert any(each.reset for each in outcome)
    reset = next(each for each in outcome if each.reset)
    assert reset.kept <= 3
    assert reset.reason
    assert not any(event.reset for event in events)  # the objective has not changed
    assert events[-1].retreat is not None
    assert np.array_equal(opt.ask(), events[-1].retreat)


def test_without_anything_safe_it_goes_back_to_the_last_setting_that_was():
    opt = safe_loop(limit=5.0, start=(0.01, 0.01))
    opt.tell([0.01, 0.01], 0.0, heat=1.0)
    opt.tell([0.02, 0.01], 0.0, heat=2.0)
    event = opt.tell([0.5, 0.5], 0.0, heat=50.0)
    for _ in range(12):  # and again, until nothing carries
        event = opt.tell([0.5, 0.5], 0.0, heat=50.0)
    np.testing.assert_allclose(opt._progress.last_safe, [0.02, 0.01])
    if event.retreat is not None:
        np.testing.assert_allclose(event.retreat, [0.02, 0.01])
    event = opt.tell([0.02, 0.01], 0.0, heat=60.0)  # nor is that one any longer
    event = opt.tell([0.01, 0.01], 0.0, heat=60.0)
    assert event.retreat is not None
    asked = opt.ask()
    assert not np.allclose(asked, [0.02, 0.01])
    assert not np.allclose(asked, [0.01, 0.01])


def test_a_retreat_is_not_to_a_setting_that_was_broken_under_another_context():
    rng = np.random.default_rng(0)
    space = wv.Space(p=wv.Real(0, 1), c=wv.Context(0, 100))
    opt = wv.make(space, constraints={"heat": wv.AtMost(70)}, safe=0.95, start=[{"p": 0.2}], seed=0)
    asked, beyond = [], []
    for i in range(30):
        x = opt.ask(context={"c": 50 + float(rng.normal())})
        value = 40 + 30 * x["p"] + 0.3 * rng.normal() + (20 if i >= 10 else 0)
        beyond.append(bool(opt.tell(x, x["p"] + 0.01 * rng.normal(), heat=value).violated))
        asked.append(x["p"])
    repeated = [b and asked[i + 1] == asked[i] for i, b in enumerate(beyond[:-1])]
    assert not any(repeated)
    assert sum(beyond[12:]) <= 4


def test_a_start_that_cannot_be_reached_is_not_walked_to_through_the_unknown():
    opt = wv.make(
        LINE, constraints={"g": wv.AtMost(0.0)}, safe=0.95, start=[[0.1], [0.9]], max_step=0.1, seed=0
    )
    for step in range(8):
        x = opt.ask()
        if step:
            believed = opt.feasibility([x])["g"][0]
            assert believed >= 0.95 - 1e-9 or np.allclose(x, opt._progress.last_safe)
        opt.tell(x, -abs(x[0] - 0.5), g=10 * (0.38 - abs(x[0] - 0.5)))


def test_starts_that_fail_are_tried_in_turn():
    starts = [[0.1, 0.1], [0.2, 0.2]]
    opt = wv.make(BOX, constraints={"g": wv.AtMost(0.0)}, safe=0.95, start=starts, seed=0)
    asked = []
    for _ in range(6):
        x = opt.ask()
        asked.append(x.tolist())
        opt.fail(x)
    assert asked[:2] == starts
    assert all(x in starts for x in asked)
    assert asked.count(starts[1]) >= 2


@pytest.mark.parametrize(
    ("space", "start"),
    [
        (wv.Arms(4), 2),
        (wv.Candidates([[0.0], [1.0], [2.0], [3.0]]), 2),
        (wv.Space(n=wv.Integer(1, 6)), {"n": 2}),
        (LINE, [0.3]),
    ],
    ids=["arms", "candidates", "integers", "box"],
)
def test_neither_failures_nor_points_that_are_out_lead_to_what_is_not_safe(space, start):
    """Where only the start is safe it is asked for again, also if it failed or is being evaluated."""
    opt = wv.make(space, constraints={"heat": wv.AtMost(1)}, safe=0.9, start=[start], seed=0)
    for _ in range(4):
        opt.tell(start, 1.0, heat=0.99)
    together = opt.ask(count=4)
    assert opt.feasibility(together)["heat"].min() >= 0.9
    for _ in range(6):
        x = opt.ask()
        assert opt.feasibility([x, opt.best().x])["heat"].min() >= 0.9
        opt.fail(x)


@pytest.mark.parametrize(
    "space", [wv.Arms(20), wv.Space(n=wv.Integer(0, 19)), wv.Space(a=wv.Real(0, 1, step=0.05))], ids=str
)
def test_on_finite_spaces_as_well_a_violation_is_not_asked_for_again(space):
    opt = wv.make(space, constraints={"heat": wv.AtMost(70)}, seed=0)
    rng = np.random.default_rng(0)
    where = lambda x: float(space.encode(x)[0]) / (19.0 if isinstance(space, wv.Arms) else 1.0)  # noqa: E731
    for _ in range(30):
        x = opt.ask()
        opt.tell(x, where(x) + 0.02 * rng.normal(), heat=100 * where(x) + 0.5 * rng.normal())
    x = opt.ask()
    assert opt.tell(x, where(x), heat=500.0).violated
    assert opt.ask() != x


def test_what_was_set_aside_is_not_asked_for_again_where_a_limit_was_broken():
    opt = wv.make(
        "et-gp-ucb-confirmed", BOX, kernel=wv.RBF(0.3), noise_variance=0.01, seed=1,
        constraints={"heat": wv.AtMost(70)},
    )  # fmt: skip
    for i in range(26):
        x = opt.ask()
        event = opt.tell(x, 0.3 * float(x.sum()) + 6 * (i == 25), heat=heat(x) + 80 * (i == 25))
    assert event.set_aside
    assert event.violated
    assert not np.array_equal(opt.ask(), x)


@pytest.mark.parametrize("space", [BOX, WITH_CONTEXT], ids=["box", "context"])
def test_a_reset_that_was_asked_for_says_what_is_asked_for_next(space):
    seen = {"context": {"load": 0.4}} if space is WITH_CONTEXT else {}
    start = {"a": 0.2, "b": 0.2, "load": 0.4} if seen else (0.2, 0.2)
    opt = wv.make(space, constraints={"heat": wv.AtMost(70.0)}, safe=0.95, start=[start], seed=1)
    for _ in range(12):
        x = opt.ask(**seen)
        opt.tell(x, 0.0, heat=20.0)
    event = opt.reset("new pump")
    np.testing.assert_array_equal(space.encode(event.retreat), space.encode(opt.ask(**seen)))
    assert wv.make(BOX, seed=0).reset().retreat is None


def test_best_after_a_reset_is_not_what_was_beyond_the_limit():
    opt = safe_loop()
    told(opt, 15)
    opt.tell([1.0, 1.0], 2.0, heat=100.0)
    opt.reset("new burner")
    np.testing.assert_allclose(opt.best().x, opt.ask())


@pytest.mark.parametrize("told", [{}, {"heat": 0.5}], ids=["nothing", "a part"])
def test_best_after_a_reset_is_the_last_point_where_nothing_is_known_of_the_limits(told):
    opt = wv.make(BOX, constraints={"heat": wv.AtMost(1), "flow": wv.AtLeast(0)}, seed=0)
    x = opt.ask()
    opt.tell(x, 1.0, **told)
    opt.reset("new pump")
    np.testing.assert_array_equal(opt.best().x, x)
    opt = wv.make("r-gp-ucb", BOX, period=3, constraints={"heat": wv.AtMost(1)}, seed=0)
    for _ in range(3):
        x = opt.ask()
        opt.tell(x, 1.0)
    assert opt.size == 0
    np.testing.assert_array_equal(opt.best().x, x)


def test_when_every_known_setting_is_beyond_the_limit_it_does_not_leap_into_the_unknown():
    opt = safe_loop()
    told(opt, 30)
    for _ in range(8):
        x = opt.ask()
        event = opt.tell(x, objective(x), heat=heat(x) + 75.0)  # nothing is safe any more
    assert event.violated
    assert heat(opt.ask()) < 30.0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("dim", [1, 2])
def test_from_a_start_that_is_beyond_its_limit_it_walks_and_does_not_leap(dim, seed):
    opt = wv.make(
        wv.Box([(0, 1)] * dim),
        constraints={"heat": wv.AtMost(90.0)},
        safe=0.95,
        start=[[0.3] * dim],
        seed=seed,
    )
    beyond = []
    while opt._progress.last_safe is None:
        x = opt.ask()
        far = [np.linalg.norm(x - other) for other in beyond]
        assert not beyond or min(far) <= 0.2 * np.sqrt(dim) + 1e-9
        event = opt.tell(x, float(x.sum()), heat=85.0 + 40.0 * x.mean())
        assert event.retreat is None or np.array_equal(opt.ask(), event.retreat)
        beyond.append(x)
    assert len(beyond) <= 6


def test_where_there_is_no_hope_near_the_start_it_is_looked_for_elsewhere():
    space = wv.Space(power=wv.Real(0, 10), mode=wv.Choice(["hot", "cool"]))
    limits = {"heat": wv.AtMost(90.0)}
    opt = wv.make(space, constraints=limits, safe=0.95, start=[{"power": 2, "mode": "hot"}], seed=0)
    asked = []
    for _ in range(12):
        x = opt.ask()
        opt.tell(x, 0.0, heat=(100.0 if x["mode"] == "hot" else 70.0) + x["power"])
        asked.append(x["mode"])
    assert asked[1] == "hot"
    assert asked[-1] == "cool"


def test_a_start_that_violates_is_said_and_the_next_start_is_tried():
    opt = wv.make(
        BOX, constraints={"heat": wv.AtMost(70.0)}, safe=0.95, start=[[0.9, 0.9], [0.1, 0.1]], seed=0
    )
    x = opt.ask()
    event = opt.tell(x, 1.0, heat=99.0)
    assert event.violated == ("heat",)
    assert event.retreat is None  # there is another start to try
    np.testing.assert_allclose(opt.ask(), [0.1, 0.1])


def test_beliefs_that_fade_close_what_was_safe():
    opt = wv.make(
        "tv-gp-ucb", BOX, rate=0.05, kernel=wv.RBF(0.3), noise_variance=0.01, safe=0.95, start=[[0.2, 0.2]], seed=0,
        constraints={"g": wv.AtLeast(0.0, kernel=wv.RBF(0.3), noise_variance=0.01)},
    )  # fmt: skip
    for _ in range(4):
        opt.tell(opt.ask(), 0.0, g=2.0)
    soon, late = (opt.feasibility([[0.2, 0.2]], time=t)["g"][0] for t in (5.0, 105.0))
    assert soon > 0.99
    assert late < 0.7
    np.testing.assert_allclose(opt.ask(time=105.0), opt._progress.last_safe)


def test_beliefs_that_are_too_sure_are_trusted_less_until_the_share_is_what_was_asked_for():
    """A level that rises steadily, for which the model told has no words: it is too sure of itself."""
    told_of = {"kernel": wv.RBF(0.4), "noise_variance": 0.01}
    limit = wv.AtMost(1.0, **told_of)
    shares = {}
    for step in (0.0, feasibility.STEP):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(feasibility, "STEP", step)
            opt = wv.make(
                "gp-ucb", LINE, constraints={"g": limit}, safe=0.9, start=[[0.1]], seed=0, **told_of
            )
            beyond = []
            for t in range(120):
                x = opt.ask()
                event = opt.tell(x, float(x[0]), g=2.0 * float(x[0]) + 0.004 * t)
                beyond.append(bool(event.violated))
            shares[step] = np.mean(beyond)
    assert shares[0.0] > 0.3
    assert shares[feasibility.STEP] < 0.5 * shares[0.0]
    assert opt._progress.constraints[0].caution > 0.0
    assert wv.restore(opt.state())._progress.constraints[0].caution == opt._progress.constraints[0].caution


def test_steps_are_limited_as_well():
    opt = safe_loop(max_step=0.05)
    asked, events = told(opt, 40)
    assert np.abs(np.diff(np.array(asked), axis=0)).max() <= 0.05 + 1e-9
    assert np.mean([bool(event.violated) for event in events]) <= 0.1
    assert objective(asked[-1]) > 0.7


def test_points_that_are_out_teach_nothing_about_what_is_safe():
    opt = safe_loop()
    told(opt, 10)
    before = opt.feasibility([[0.5, 0.5]])["heat"]
    several = opt.ask(count=6)
    assert (opt.feasibility(several)["heat"] >= 0.95 - 1e-9).all()
    assert opt.feasibility([[0.5, 0.5]])["heat"] == before


def test_of_what_is_available_one_is_asked_for_even_if_none_is_safe():
    space = wv.Candidates(np.linspace(0, 1, 12)[:, None])
    opt = wv.make(space, constraints={"heat": wv.AtMost(50.0)}, safe=0.95, start=[1], seed=0)
    assert opt.ask(available=[9, 10]) in (9, 10)  # the start is not among them
    for _ in range(6):
        x = opt.ask()
        opt.tell(x, float(x), heat=10.0 * x)
    assert opt.ask(available=[9, 10]) in (9, 10)


def test_a_setting_is_measured_to_be_safe_only_if_all_constraints_were_told():
    limits = {"heat": wv.AtMost(70.0), "flow": wv.AtLeast(0.0)}
    opt = wv.make(BOX, constraints=limits, safe=0.95, start=[[0.2, 0.2]], seed=0)
    opt.tell([0.2, 0.2], 0.0, heat=20.0)
    assert opt._progress.last_safe is None
    opt.tell([0.21, 0.2], 0.0, heat=20.0, flow=1.0)
    np.testing.assert_allclose(opt._progress.last_safe, [0.21, 0.2])


def test_a_hand_on_the_wheel_forgets_the_constraints_too():
    opt = safe_loop()
    told(opt, 20)
    opt.reset("new pump")
    assert all(len(loop.surrogate.data) == 0 for loop in opt._progress.constraints)
    np.testing.assert_allclose(opt.space.encode(opt.ask()), opt._progress.last_safe)


# -- soft -----------------------------------------------------------------------------------------------


def test_soft_prefers_what_is_feasible_and_finds_the_best_of_it():
    opt = wv.make(BOX, constraints={"heat": wv.AtMost(70.0)}, seed=1)
    plain = wv.make(BOX, seed=1)
    asked, _ = told(opt, 60)
    for _ in range(60):
        x = plain.ask()
        plain.tell(x, objective(x))
    assert heat(plain.best().x) > 90.0
    best = opt.best()
    assert best.feasible >= feasibility.LIKELY - 1e-9
    assert heat(best.x) < 73.0
    assert objective(best.x) > 1.3
    assert np.mean([heat(x) > 70.0 for x in asked[20:]]) < 0.5


def test_with_nothing_feasible_known_it_goes_towards_feasibility():
    opt = wv.make(BOX, constraints={"heat": wv.AtMost(8.0)}, seed=1)
    asked, _ = told(opt, 30)
    late = [heat(x) for x in asked[15:]]
    assert np.median(late) < 25.0


def test_an_impossible_limit_is_lived_with():
    for options in ({}, {"safe": 0.95, "start": [[0.5, 0.5]]}):
        opt = wv.make(BOX, constraints={"heat": wv.AtMost(-1000.0)}, seed=1, **options)
        _, events = told(opt, 15)
        assert all(event.violated for event in events)
        assert opt.best().feasible < 0.5


def test_an_impossible_limit_is_lived_with_on_a_list_of_settings():
    rng = np.random.default_rng(4)
    space = wv.Candidates(rng.uniform(size=(6, 1)))
    opt = wv.make(space, constraints={"heat": wv.AtMost(-3.0)}, seed=4)
    for _ in range(12):
        opt.tell(opt.ask(), 0.0, heat=float(rng.normal()))
        assert len(opt.ask(count=3)) == 3


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if name != "auto"])
def test_every_algorithm_takes_constraints(name):
    for options in ({}, {"safe": 0.9, "start": [[0.2, 0.2]]}):
        opt = wv.make(
            name, BOX, constraints={"heat": wv.AtMost(70.0)}, seed=1, **NEEDS.get(name, {}), **options
        )
        _, events = told(opt, 12)
        assert all(event.outcomes["heat"].value for event in events)
        assert not any(event.set_aside for event in events if event.outcomes["heat"].violated)
        if options:
            assert sum(bool(event.violated) for event in events) <= 3
        restored = wv.restore(json.loads(json.dumps(opt.state())))
        assert np.array_equal(restored.ask(), opt.ask())


def test_several_constraints_of_which_some_are_missing():
    opt = wv.make(BOX, constraints={"heat": wv.AtMost(70.0), "flow": wv.AtLeast(0.1)}, seed=0)
    rng = np.random.default_rng(0)
    for t in range(30):
        x = opt.ask()
        some = {"heat": heat(x)} if t % 3 else {}
        some |= {"flow": x[0]} if t % 2 else {"flow": None}
        event = opt.tell(x, objective(x) + 0.01 * rng.normal(), **some)
        assert set(event.outcomes) == {name for name, value in some.items() if value is not None}
    heats, flows = (len(loop.surrogate.data) for loop in opt._progress.constraints)
    assert (heats, flows) == (20, 15)
    assert opt.size == 30
    found = opt.feasibility([[0.9, 0.9], [0.3, 0.5]])
    assert set(found) == {"heat", "flow"}
    assert found["heat"][0] < 0.1 < found["heat"][1]


# -- bad input, atomic, state ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"constraints": {}}, "constraints={}: must be a dict"),
        ({"constraints": {"heat": 90}}, "constraints['heat']=90: must be wv.AtMost"),
        ({"constraints": {"y": wv.AtMost(1)}}, "'y' has another meaning"),
        ({"constraints": {"no good": wv.AtMost(1)}}, "must be a name"),
        ({"safe": 0.95}, "safe=: belongs to constraints="),
        ({"constraints": {"h": wv.AtMost(1)}, "safe": 0.95}, "start=: needed with safe="),
        ({"constraints": {"h": wv.AtMost(1)}, "start": [[0.1, 0.1]]}, "start=: belongs to safe="),
        ({"constraints": {"h": wv.AtMost(1)}, "safe": 1.0, "start": [[0.1, 0.1]]}, "safe=1.0: must be"),
        ({"constraints": {"h": wv.AtMost(1)}, "safe": 0.3, "start": [[0.1, 0.1]]}, "safe=0.3: must be"),
        ({"constraints": {"h": wv.AtMost(1)}, "safe": 0.9, "start": []}, "start=[]: must be a list"),
        ({"constraints": {"h": wv.AtMost(1)}, "safe": 0.9, "start": np.zeros((2000, 2))}, "at most 1000"),
        ({"constraints": {f"h{i}": wv.AtMost(1) for i in range(40)}}, "constraints: must be at most 32"),
        ({"constraints": {"h": wv.AtMost(1)}, "safe": 0.9, "start": [[0.1, 7]]}, "start[0]: x"),
        (
            {"constraints": {"h": wv.AtMost(1, kernel=wv.Empirical(np.eye(3)))}},
            "constraints['h']: kernel: Empirical compares arms",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_its_name(options, said):
    with pytest.raises(wv.WindvaneError) as error:
        wv.make(BOX, **options)
    assert said in str(error.value)


@pytest.mark.parametrize("limit", [float("nan"), float("inf"), "90", None, True], ids=str)
def test_a_limit_is_a_number(limit):
    with pytest.raises(wv.WindvaneError, match="limit"):
        wv.AtMost(limit)


@pytest.mark.parametrize(
    "outcomes",
    [{"heat": float("nan")}, {"heat": "warm"}, {"heat": [1.0, 2.0]}, {"heta": 3.0}, {"heat": 1e200}],
)
def test_a_bad_outcome_changes_nothing(outcomes):
    opt = safe_loop()
    told(opt, 8)
    before, asked = opt.state(), opt.ask()
    with pytest.raises(wv.WindvaneError, match=r"heat|heta"):
        opt.tell(asked, 1.0, **outcomes)
    assert opt.state() == before
    assert np.array_equal(opt.ask(), asked)


def test_an_optimiser_without_constraints_says_so():
    opt = wv.make(BOX, seed=0)
    with pytest.raises(wv.InvalidArgument, match=r"heat=3\.0: this optimiser has no constraints"):
        opt.tell([0.1, 0.2], 1.0, heat=3.0)
    assert opt.constraints == {}
    assert opt.safe is None
    assert opt.feasibility([[0.1, 0.1]]) == {}
    assert opt.step == 1


@pytest.mark.parametrize("name", ["auto", "et-gp-ucb", "et-gp-ucb-confirmed"])
@pytest.mark.parametrize("mode", ["safe", "soft"])
def test_a_restored_state_goes_on_bit_for_bit(name, mode):
    more = {"safe": 0.95, "start": [[0.2, 0.2]]} if mode == "safe" else {}
    limits = {"heat": wv.AtMost(70.0, unit="°C"), "flow": wv.AtLeast(0.05)}
    opt = wv.make(name, BOX, constraints=limits, seed=3, **more)
    rng = np.random.default_rng(5)
    twin = None
    for t in range(40):
        if t == 17:
            twin = wv.restore(json.loads(json.dumps(opt.state(), allow_nan=False)))
            assert twin.constraints == opt.constraints
        x, noise = opt.ask(), rng.normal(size=3)
        jump = 40.0 if t > 28 else 0.0
        values = {"heat": heat(x) + jump + noise[0], "flow": x[0] + 0.01 * noise[1]}
        if t % 5 == 0:
            del values["flow"]
        event = opt.tell(x, objective(x) + 0.02 * noise[2], **values)
        if twin is not None:
            assert np.array_equal(twin.ask(), x)
            assert twin.tell(x, event.y, **values) == event
        assert Event.from_dict(json.loads(json.dumps(event.as_dict(), allow_nan=False))) == event
    assert twin is not None
    assert twin.state() == opt.state()


def test_a_state_with_other_constraints_is_refused():
    opt = safe_loop()
    told(opt, 5)
    state = opt.state()
    state["constraints"] = []
    with pytest.raises(wv.CorruptState, match="constraints"):
        wv.restore(state)


def test_whatever_is_raised_in_a_constraint_the_optimiser_is_as_it_was(monkeypatch):
    opt = safe_loop()
    told(opt, 12)
    before, asked = opt.state(), opt.ask()
    surrogate = opt._progress.constraints[0].surrogate

    def broken(*_args, **_kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(surrogate), "follow", broken)
        with pytest.raises(KeyboardInterrupt):
            opt.tell(asked, 1.0, heat=20.0)
    assert opt.state() == before
    assert np.array_equal(opt.ask(), asked)


def test_constraints_change_nothing_for_who_has_none():
    """A constraint that always holds, and is never close, leaves the objective's own loop as it is."""
    plain = wv.make(BOX, seed=4)
    asked = []
    for _ in range(15):
        x = plain.ask()
        asked.append(x)
        plain.tell(x, objective(x))
    other = wv.make(BOX, seed=4, constraints={"heat": wv.AtMost(1e6)})
    for x in asked:
        other.tell(x, objective(x), heat=heat(x))
    np.testing.assert_array_equal(plain.predict(asked), other.predict(asked))


def test_what_is_told_of_a_minimum_has_the_sign_of_the_caller():
    opt = wv.make(BOX, goal="minimize", constraints={"heat": wv.AtMost(70.0)}, seed=0)
    event = opt.tell([0.5, 0.5], 3.0, heat=50.0)
    assert event.outcomes["heat"].value == 50.0
    for _ in range(8):
        x = opt.ask()
        event = opt.tell(x, -objective(x), heat=heat(x))
    mean, _ = opt.predict([x], of="heat")
    assert abs(mean[0] - heat(x)) < 15.0
    assert abs(event.outcomes["heat"].mean) < 200.0


@pytest.mark.parametrize("safe", [0.95, 0.99])
@pytest.mark.parametrize("seed", [64, 65])
def test_where_hardly_anything_is_safe_there_is_still_an_answer(safe, seed):
    """What few hypotheses believe in decides at such levels, and is left out of a quick look."""
    space = wv.Space(a=wv.Real(0.1, 10, log=True), n=wv.Integer(1, 8), m=wv.Choice(["a", "b", "c"]))
    rng = np.random.default_rng(seed)
    start = space.decode(space.sample(rng, 1)[0])
    opt = wv.make(space, constraints={"heat": wv.AtMost(0.5)}, safe=safe, start=[start], seed=seed)
    for step in range(15):
        x = opt.ask()
        z = space.encode(x)
        hot = np.sin(3 * z.sum() + step / 20) + 0.05 * rng.standard_normal()
        opt.tell(x, np.cos(4 * z[0]), heat=hot)
        assert 0.0 <= opt.best().feasible <= 1.0


def test_few_places_that_seem_safe_at_a_quick_look_are_looked_at_exactly(monkeypatch):
    opt = safe_loop(safe=0.99)
    told(opt, 8)
    seen = opt._chooser(opt.time).feasibility
    region, posterior = wv.Region.all_of(BOX), opt._progress.surrogate.posterior(opt.time)
    points = posterior.candidates
    kind = np.full((1, len(points)), 0.5)
    kind[0, :7] = 1.0  # too kind
    monkeypatch.setattr(type(seen), "quick", lambda self, some, grid=None: kind[:, : len(some)].copy())
    found = seen._survey(region, posterior)
    exact = seen._chances(seen._all_exact(points[:7]), feasibility.likely)
    np.testing.assert_array_equal(found.chances[:, :7], exact)


def test_a_start_that_is_believed_to_be_broken_is_no_retreat():
    known = {"kernel": wv.RBF(0.1), "noise_variance": 0.01}
    limit = {"g": wv.AtMost(0.0, **known)}
    opt = wv.make("gp-ucb", LINE, constraints=limit, safe=0.95, start=[[0.2]], seed=0, **known)
    for place, value in ((0.2, -1.0), (0.2, 3.0), (0.8, -0.1), (0.8, 0.5)):
        event = opt.tell([place], 0.0, g=value)  # since 0.8 was within, 0.2 is no longer among the broken
    assert opt.feasibility([[0.2]])["g"][0] < 0.01
    assert opt.feasibility([event.retreat])["g"][0] > 0.25
    np.testing.assert_array_equal(opt.ask(), event.retreat)
    again = wv.restore(json.loads(json.dumps(opt.state())))
    np.testing.assert_array_equal(again.ask(), event.retreat)


def test_only_what_was_called_safe_counts_against_a_belief():
    known = {"kernel": wv.RBF(0.1), "noise_variance": 0.01}
    limit = {"g": wv.AtMost(0.0, **known)}
    opt = wv.make("gp-ucb", LINE, constraints=limit, safe=0.95, start=[[0.2]], seed=0, **known)
    cautions = []
    for place, value in ((0.2, -1.0), (0.8, 0.5), (0.8, 0.5), (0.2, 1.0)):
        opt.tell([place], 0.0, g=value)  # nothing was said of 0.8; 0.2 was believed to be safe
        cautions.append(opt._progress.constraints[0].caution)
    np.testing.assert_allclose(cautions, [-0.05, -0.1, -0.15, 0.8])


def test_retreats_do_not_lead_to_more_and_more_retreats():
    task = wv.task("guarded", horizon=200, seed=30000)  # where the start is, nothing stays allowed
    opt = wv.make(task.space, constraints=task.constraints, safe=0.95, start=task.start, seed=30000)
    trace = wv.simulate(opt, task, seed=30000)
    assert sum(event.retreat is not None for event in trace.events) <= 60  # 188 when each raised the caution
    assert sum(trace.violated) <= 14  # 20
