"""`fail`: what is learned from evaluations that gave no value, and what is asked for after them."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane import failures
from windvane.algorithms import ALGORITHMS
from windvane.choosing import region_of
from windvane.failures import Evaluation, Evaluations, FailureProbability

BOX = wv.Box([(0.0, 1.0), (0.0, 1.0)])
MIXED = wv.Space(gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 4), mode=wv.Choice(["a", "b"]))
GIVEN = {"kernel": wv.RBF(0.3), "noise_variance": 0.02, "seed": 0}
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


def same(a, b):
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b


def evaluations(rows, dim=1):
    found = Evaluations.empty(dim)
    for step, (x, failed) in enumerate(rows, 1):
        found += Evaluation(np.atleast_1d(np.asarray(x, dtype=float)), failed, float(step), step)
    return found


def by_hand(rows, shapes, x):
    """The probability, one sum at a time, from the formula at the top of `failures`."""
    answers = []
    for k in shapes:
        for life in failures.HALF_LIVES:

            def chance(x, past, k=k, life=life):
                n, top, bottom = len(past), failures.STRENGTH * failures.PRIOR, failures.STRENGTH
                for i, (xi, failed) in enumerate(past):
                    weight = k(x, xi) * 0.5 ** ((n - 1 - i) / life)
                    top, bottom = top + weight * failed, bottom + weight
                return top / bottom

            likelihood = 1.0
            for i, (xi, failed) in enumerate(rows):
                p = chance(xi, rows[:i])
                likelihood *= p if failed else 1.0 - p
            answers.append((likelihood, chance(x, rows)))
    total = sum(weight for weight, _ in answers)
    kept = [(weight, p) for weight, p in answers if weight >= failures.NEGLIGIBLE * total]
    return sum(weight * p for weight, p in kept) / sum(weight for weight, _ in kept)


def test_the_probability_is_the_formula():
    rows = [(0.8, True), (0.1, False), (0.75, True), (0.5, False), (0.95, True), (0.6, False)]
    shapes = [
        lambda a, b, power=power: np.exp(-0.5 * ((a - b) / 0.2) ** 2) ** power for power in failures.POWERS
    ]
    shapes += [lambda a, b, s=share: np.exp(-0.5 * ((a - b) / s) ** 2) for share in failures.REACHES]
    chance = FailureProbability(evaluations(rows), wv.RBF(0.2), wv.Box([(0, 1)]), np.ones(len(rows)))
    for x in (0.0, 0.55, 0.7, 0.9):
        assert chance(np.array([[x]]))[0] == pytest.approx(by_hand(rows, shapes, x), rel=1e-9)


def test_how_far_it_reaches_is_learned():
    places, kernel, box = np.random.default_rng(0).random(40), wv.RBF(0.2), wv.Box([(0, 1)])
    wide = [(x, x > 0.5) for x in places]
    narrow = [(x, abs(x - 0.7) < 0.04) for x in places]
    beside, ones = np.array([[0.8]]), np.ones(41)
    far = FailureProbability(evaluations([*wide, (0.7, True)]), kernel, box, ones)
    near = FailureProbability(evaluations([*narrow, (0.7, True)]), kernel, box, ones)
    assert far(beside)[0] > 0.8
    assert far(np.array([[0.2]]))[0] < 0.1
    assert near(beside)[0] < 0.3
    assert near(np.array([[0.7]]))[0] > 0.4


def test_what_is_not_carried_over_is_forgotten():
    seen, box = evaluations([(0.5, True), (0.5, True)]), wv.Box([(0, 1)])
    at = np.array([[0.5]])
    chances = [
        FailureProbability(seen, wv.RBF(0.2), box, np.full(2, left))(at)[0] for left in (1.0, 0.3, 0.05, 0.0)
    ]
    assert chances == sorted(chances, reverse=True)
    assert chances[0] > 0.5
    assert chances[-1] == pytest.approx(failures.PRIOR)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    bad=st.lists(st.booleans(), min_size=1, max_size=12),
    space=st.sampled_from([BOX, MIXED, wv.Arms(3), wv.Space(k=wv.Integer(0, 2)), wv.Box([(0, 1)])]),
    name=st.sampled_from(["auto", "gp-ucb", "random", "et-gp-ucb-confirmed"]),
)
def test_a_failed_point_is_never_asked_twice_in_a_row(seed, bad, space, name):
    opt = wv.make(name, space, seed=seed)
    for number, failed in enumerate(bad):
        x = opt.ask()
        if failed:
            opt.fail(x)
            assert not same(opt.ask(), x)
        else:
            opt.tell(x, float(np.sin(17.0 * number)))


def test_where_there_is_one_point_it_is_asked_again():
    for space in (wv.Arms(1), wv.Space(mode=wv.Choice(["a"])), wv.Space(k=wv.Integer(2, 2))):
        opt = wv.make(space, seed=0)
        x = opt.ask()
        opt.fail(x)
        assert opt.ask() == x


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_every_algorithm_keeps_away_and_is_restored(name):
    opt = wv.make(name, BOX, **GIVEN, **NEEDS.get(name, {}))
    failed, late = 0, 0
    for step in range(36):
        x = opt.ask()
        if x[0] > 0.6:
            failed += 1
            late += step >= 18
            record = opt.fail(x)
            assert (record.step, record.time, record.failed) == (opt.step, opt.time, True)
        else:
            opt.tell(x, 2.0 * x[0] + float(np.sin(6.0 * x[1])))
        if step in (2, 20):
            twin = wv.restore(json.loads(json.dumps(opt.state())))
            assert np.array_equal(twin.ask(), opt.ask())
            assert twin.state() == opt.state()
    assert failed <= 16  # 40 % of the box, where the objective is highest
    twin = wv.restore(json.loads(json.dumps(opt.state())))
    for _ in range(3):
        x = opt.ask()
        assert np.array_equal(twin.ask(), x)
        assert twin.fail(x) == opt.fail(x)


def test_without_failures_nothing_is_written():
    opt = wv.make(BOX, seed=0)
    opt.tell(opt.ask(), 1.0)
    assert "failures" not in opt.state()
    opt.fail(opt.ask())
    assert len(opt.state()["failures"]["X"]) == 2


def test_the_clock_of_observations_does_not_move():
    opt = wv.make("gp-ucb", BOX, **GIVEN)
    opt.tell([0.5, 0.5], 1.0, time=10.0)
    record = opt.fail([0.2, 0.2], time=12.5, reason="no vacuum")
    assert (opt.time, opt.step, opt.size) == (11.0, 2, 1)
    assert record == wv.Failure(2, 12.5, np.array([0.2, 0.2]), "no vacuum", failures.PRIOR)
    assert record.as_dict()["x"] == [0.2, 0.2]
    with pytest.raises(wv.InvalidArgument, match="time"):
        opt.fail([0.2, 0.2], time=9.0)


def test_a_reset_that_drops_data_drops_failures():
    opt = wv.make("br-gp-ucb", BOX, period=5, **GIVEN)
    opt.fail([0.9, 0.9])
    for _ in range(5):
        event = opt.tell(opt.ask(), 0.0)
    assert event.reset
    assert "failures" not in opt.state()


def test_a_point_set_aside_is_not_insisted_on_if_it_fails():
    opt = wv.make("et-gp-ucb-confirmed", BOX, **GIVEN)
    for x in ([0.1, 0.1], [0.5, 0.5], [0.9, 0.1]):
        opt.tell(x, 0.0)
    assert opt.tell([0.5, 0.5], 5.0).set_aside
    assert np.array_equal(opt.ask(), [0.5, 0.5])
    opt.fail([0.5, 0.5])
    assert not np.array_equal(opt.ask(), [0.5, 0.5])
    assert opt.tell([0.5, 0.5], 5.0).reset


def test_all_has_failed():
    """Then the least likely to fail is asked for: every arm has its turn."""
    opt = wv.make(wv.Arms(4), seed=0)
    seen = []
    for _ in range(12):
        seen.append(opt.ask())
        opt.fail(seen[-1])
    assert set(seen) == {0, 1, 2, 3}


def test_pending_points_keep_away_from_failures():
    opt = wv.make(BOX, seed=3)
    for _ in range(8):
        x = opt.ask()
        opt.tell(x, float(x.sum())) if x[0] < 0.5 else opt.fail(x)
    out = []
    for _ in range(5):
        out.append(opt.ask(pending=out))
    region = opt._chooser(9.0).working(region_of(opt.space, None))
    assert region.contains(np.array(out)).all()
    assert len({tuple(x) for x in out}) == 5


def test_best_is_not_where_it_fails():
    opt = wv.make("gp-ucb", BOX, **GIVEN)
    for x in ([0.5, 0.5], [0.6, 0.5], [0.55, 0.4]):
        opt.tell(x, 5.0 * x[0])
    free = opt.best().x
    opt.fail(free)
    assert np.abs(opt.best().x - free).max() > 0.005


@pytest.mark.parametrize(
    ("x", "time", "reason", "match"),
    [
        ([0.5], None, "", "x"),
        ([0.5, np.nan], None, "", r"x\[1\]"),
        ([0.5, 2.0], None, "", r"x\[1\]"),
        ("ab", None, "", "x"),
        ([0.5, 0.5], np.nan, "", "time"),
        ([0.5, 0.5], "now", "", "time"),
        ([0.5, 0.5], None, 5, "reason"),
        ([0.5, 0.5], None, None, "reason"),
    ],
)
def test_bad_input_changes_nothing(x, time, reason, match):
    opt = wv.make("gp-ucb", BOX, **GIVEN)
    opt.tell([0.5, 0.5], 1.0)
    opt.fail([0.2, 0.2])
    before = json.dumps(opt.state())
    with pytest.raises(wv.WindvaneError, match=match):
        opt.fail(x, time, reason=reason)
    assert json.dumps(opt.state()) == before


def test_an_altered_state_is_refused():
    opt = wv.make("gp-ucb", BOX, **GIVEN)
    opt.fail([0.2, 0.2])
    for key, value in (
        ("X", [[0.5]]),
        ("X", [[0.5, 7.0]]),
        ("failed", [0]),
        ("failed", [2]),
        ("times", []),
        ("steps", ["a"]),
    ):
        state = json.loads(json.dumps(opt.state()))
        state["failures"][key] = value
        with pytest.raises(wv.CorruptState):
            wv.restore(state)


def test_the_memory_is_bounded():
    found = evaluations([(0.5, True)] * (failures.MOST + 20))
    assert len(found) == failures.MOST
    assert found.steps[-1] == failures.MOST + 20


def test_failures_that_are_no_longer_remembered_leave_no_trace():
    opt = wv.make("gp-ucb", BOX, **GIVEN, max_points=5)
    opt.fail([0.2, 0.2])
    for number in range(failures.MOST - 1):
        opt.tell([number / failures.MOST, 0.5], 0.0)
    assert "failures" in wv.restore(json.loads(json.dumps(opt.state()))).state()
    opt.tell([0.5, 0.5], 0.0)
    state = json.loads(json.dumps(opt.state()))
    assert "failures" not in state
    np.testing.assert_array_equal(wv.restore(state).ask(), opt.ask())


def test_a_region_that_moves_is_forgotten():
    opt = wv.make("gp-ucb", BOX, **GIVEN)  # whose objective never changes
    rng = np.random.default_rng(0)
    again = 0
    for step in range(1, 181):
        x = opt.ask() if step % 2 else rng.random(2)
        if x[0] > 0.7 if step <= 90 else x[0] < 0.3:
            opt.fail(x)
        else:
            again += step > 120 and step % 2 and x[0] > 0.7
            opt.tell(x, float(np.cos(6.0 * (x[0] - 0.85)) + np.cos(3.0 * (x[1] - 0.5))))
    assert again > 5
