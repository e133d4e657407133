"""A reset that somebody asks for: everything told before is of the past, whatever the algorithm."""

import copy
import json
import math
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane.algorithms import ALGORITHMS

BOX = wv.Box([(0.0, 1.0), (0.0, 1.0)])
TOLD = {"kernel": wv.RBF(0.3), "noise_variance": 0.02}
NEEDS = {
    "r-gp-ucb": {"rate": 0.03},
    "always-n-low": {"rate_bounds": (0.01, 0.05)},
    "r-gp-ucb-average": {"rate": 0.03},
    "tv-gp-ucb": {"rate": 0.05},
    "tv-gp-ucb-constant": {"rate": 0.05},
    "ui-tvbo": {"rate": 0.05},
    "sw-gp-ucb": {"variation": 5.0, "horizon": 60},
    "br-gp-ucb": {"variation": 5.0, "horizon": 60},
    "w-gp-ucb": {"variation": 5.0, "horizon": 60},
}
GRID = np.random.default_rng(0).uniform(size=(20, 2))


def value(x, step):
    return float(np.sin(5.0 * x[0]) + x[1] + 0.05 * np.cos(91.0 * step))


def run(opt, steps):
    return [opt.tell(x, value(x, opt.step)) for x in (opt.ask() for _ in range(steps))]


def exact(opt):
    return json.dumps(opt.state(), sort_keys=True)


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_every_algorithm_forgets_its_data_and_goes_on(name):
    opt = wv.make(name, BOX, seed=0, **NEEDS.get(name, {}))
    run(opt, 12)
    before = opt.step, opt.last_time, opt.model
    event = opt.reset("new pump")
    assert (event.reset, event.cause, event.reason) == (True, "asked", "new pump")
    assert (event.step, event.time, event.kept, event.size) == (12, 12.0, 0, 0)
    assert event.x is None
    assert math.isnan(event.y)
    assert opt.size == 0
    assert (opt.step, opt.last_time) == before[:2]
    assert not np.allclose(opt.predict(GRID)[1], 0.0)
    twin = wv.restore(json.loads(json.dumps(opt.state())))
    assert exact(twin) == exact(opt)
    assert [e.as_dict() for e in run(twin, 6)] == [e.as_dict() for e in run(opt, 6)]
    assert opt.step == 19


@pytest.mark.parametrize("name", ["et-gp-ucb", "gp-ucb", "tv-gp-ucb", "et-gp-ucb-backtracking"])
def test_where_all_is_given_the_belief_is_that_of_an_optimiser_told_only_what_came_since(name):
    opt = wv.make(name, BOX, seed=0, **TOLD, **NEEDS.get(name, {}))
    run(opt, 10)
    opt.reset()
    fresh = wv.make(name, BOX, seed=0, **TOLD, **NEEDS.get(name, {}))
    fresh_prior = fresh.predict(GRID)
    for found, wanted in zip(opt.predict(GRID), fresh_prior, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    for x, y in zip(GRID[:5], np.linspace(0.0, 0.4, 5), strict=True):
        assert not opt.tell(x, y).reset
        fresh.tell(x, y)
    for found, wanted in zip(opt.predict(GRID), fresh.predict(GRID), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-10)


def test_the_hyperparameters_of_auto_stay_as_a_first_guess_and_its_regime_is_remembered():
    opt = wv.make(BOX, seed=0)
    run(opt, 20)
    kernel, scaling = opt.model.kernel, opt.model.scaling
    assert "archive" not in opt.state()["surrogate"]
    opt.reset("new pump")
    assert opt.model.kernel == kernel
    assert opt.model.scaling == scaling
    (regime,) = opt.state()["surrogate"]["archive"]["regimes"]
    assert (regime["first"], regime["last"]) == (1, 20)


def test_what_was_there_before_a_reset_may_come_back_after_another():
    opt, random = wv.make(BOX, seed=3), np.random.default_rng(3)

    def told(steps, centre):
        found = []
        for _ in range(steps):
            x = opt.ask()
            found.append(opt.tell(x, -8.0 * float(((x - centre) ** 2).sum()) + 0.02 * random.normal()))
        return found

    told(30, np.array([0.2, 0.3]))
    opt.reset("new pump")
    told(30, np.array([0.8, 0.7]))
    opt.reset("the old pump is back")
    events = told(20, np.array([0.2, 0.3]))
    back = [event.change for event in events if event.reset]
    assert back
    assert back[0].kind == "return"
    assert back[0].regime[1] <= 30
    assert [event.cause for event in events if event.reset] == ["triggered"] * len(back)


def test_an_observation_set_aside_before_is_forgotten_too():
    opt = wv.make("et-gp-ucb-confirmed", BOX, seed=0, **TOLD)
    run(opt, 8)
    assert opt.tell(opt.ask(), 40.0).set_aside
    opt.reset()
    assert "held" not in opt.state()
    assert not opt.tell([0.5, 0.5], 0.1).outlier


def test_before_the_first_tell_and_twice_in_a_row_it_does_no_harm():
    opt = wv.make(BOX, seed=0)
    plain, x = exact(opt), opt.ask()
    event = opt.reset("to begin with")
    assert (event.step, event.size, event.cause) == (0, 0, "asked")
    assert math.isnan(event.time)
    assert exact(opt) == plain
    assert np.array_equal(opt.ask(), x)
    run(opt, 15)
    opt.reset()
    once = exact(opt)
    assert opt.reset().reason == "asked for"
    assert exact(opt) == once
    assert opt.best().x is not None


def test_causes_and_events_as_plain_json():
    opt = wv.make("et-gp-ucb", BOX, seed=0, reset_window=(1, 4), **TOLD)
    events = run(opt, 9)
    assert {event.cause for event in events} == {"", "forced"}
    assert all((event.cause == "forced") == event.reset for event in events)
    asked = opt.reset("new pump")
    again = wv.Event.from_dict(json.loads(json.dumps(asked.as_dict())))
    assert again == asked
    assert "asked for" in asked._repr_html_()
    assert "new pump" in asked._repr_html_()
    fired = wv.make("et-gp-ucb", BOX, seed=0, **TOLD)
    run(fired, 8)
    assert fired.tell([0.5, 0.5], 50.0).cause == "triggered"


@pytest.mark.parametrize("reason", [None, 5, b"pump", ["pump"], "x" * 10_001, "a\0b"])
def test_a_reason_that_is_not_text_is_refused(reason):
    opt = wv.make(BOX, seed=0)
    run(opt, 5)
    before = exact(opt)
    with pytest.raises(wv.WindvaneError, match="reason"):
        opt.reset(reason)
    assert exact(opt) == before


def test_a_lone_surrogate_in_a_reason_can_be_written():
    opt = wv.make(BOX, seed=0)
    assert opt.reset("pump \ud800").reason == "pump ?"


# -- several points at once ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "space", [BOX, wv.Arms(5), wv.Space(gain=wv.Real(0.1, 10, log=True), mode=wv.Choice(["a", "b"]))], ids=str
)
def test_several_points_are_those_of_one_ask_after_another(space):
    opt, random = wv.make(space, seed=1), np.random.default_rng(1)
    for _ in range(6):
        opt.tell(opt.ask(), random.normal())
    before, found = exact(opt), []
    for _ in range(4):
        found.append(opt.ask(pending=found))
    several = opt.ask(count=4)
    assert [np.asarray(space.encode(x)).tolist() for x in several] == [
        np.asarray(space.encode(x)).tolist() for x in found
    ]
    assert exact(opt) == before
    assert len(opt.ask(count=1)) == 1


@pytest.mark.parametrize("count", [0, -1, 1.5, "4", True, math.nan, 10**9])
def test_counts_that_are_none(count):
    with pytest.raises(wv.WindvaneError, match="count"):
        wv.make(BOX, seed=0).ask(count=count)


# -- datetimes -------------------------------------------------------------------------------------------------

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(0.0, 5000.0), min_size=3, max_size=6), st.integers(-12, 12))
def test_a_datetime_is_its_seconds_since_1970(gaps, hours):
    zone = timezone(timedelta(hours=hours))
    dated, counted = (wv.make("tv-gp-ucb", BOX, rate=0.05, seed=0, **TOLD) for _ in range(2))
    moment = START
    for gap in gaps:
        moment += timedelta(seconds=gap)
        x = dated.ask(time=moment.astimezone(zone))
        event = dated.tell(x, value(x, dated.step), time=moment.astimezone(zone))
        assert event == counted.tell(x, value(x, counted.step), time=moment.timestamp())
    assert exact(dated) == exact(counted)
    assert dated.best(moment) == counted.best(moment.timestamp())


def test_messages_about_datetimes_are_in_dates():
    opt = wv.make(BOX, seed=0)
    opt.tell([0.5, 0.5], 1.0, time=START)
    before = exact(opt)
    with pytest.raises(wv.InvalidArgument, match="before the last observation at 2026-03-01 12:00:00 UTC"):
        opt.tell([0.5, 0.5], 1.0, time=START - timedelta(hours=1))
    for naive in (datetime(2026, 3, 2), datetime(2026, 3, 2, 12)):
        with pytest.raises(wv.InvalidArgument, match=r"time=.*time zone"):
            opt.tell([0.5, 0.5], 1.0, time=naive)
    with pytest.raises(wv.InvalidType, match="time"):
        opt.tell([0.5, 0.5], 1.0, time=np.datetime64("2026-03-02"))
    assert exact(opt) == before


def test_a_reset_that_fails_half_way_changes_nothing(monkeypatch):
    opt = wv.make(BOX, seed=0)
    run(opt, 8)
    twin, before = copy.deepcopy(opt), exact(opt)
    monkeypatch.setattr("windvane.optimizer.asked_event", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        opt.reset()
    monkeypatch.undo()
    assert exact(opt) == before
    assert [e.as_dict() for e in run(opt, 3)] == [e.as_dict() for e in run(twin, 3)]


def test_since_when_it_is_the_present_regime_survives_even_where_none_before_it_was_worth_keeping():
    opt = wv.make(wv.Box([(0, 1)]), seed=0)
    for y in (0.1, 0.2, 0.3):
        opt.tell(opt.ask(), y)
    opt.reset("new pump")
    before = opt._progress.surrogate.archive
    assert before.since > 1
    assert not before.regimes
    assert wv.restore(json.loads(json.dumps(opt.state())))._progress.surrogate.archive == before
