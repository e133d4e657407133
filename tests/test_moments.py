"""Times are written in one way: the caller's, as dates in UTC where they are dates."""

import time as clocks
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import windvane as wv
from windvane.moments import NamedSteps, in_words, is_date, place_text, span_text, time_text, utc, with_steps

START = datetime(2026, 3, 1, tzinfo=UTC)
TASK = wv.task("jumps", horizon=60, seed=4)


def run(when, **options):
    opt, events = wv.make(TASK.space, seed=0, **options), []
    for step in range(1, 51):
        x = opt.ask(time=when(step))
        events.append(opt.tell(x, TASK.value(x, step), time=when(step)))
    return events


def test_reasons_speak_of_the_time_that_was_told():
    """And only of steps where none was; a change has its time as well."""
    steps, hours, dates = (
        [event for event in run(when) if event.reset]
        for when in (
            lambda step: None,
            lambda step: step / 2,
            lambda step: START + timedelta(minutes=10 * step),
        )
    )
    for plain, half, date in zip(steps, hours, dates, strict=True):
        step = plain.change.step
        assert f"at step {step}" in plain.reason
        assert f"at time {step / 2:g} (step {step})" in half.reason
        moment = START + timedelta(minutes=10 * step)
        assert f"at {moment:%Y-%m-%d %H:%M:%S} UTC (step {step})" in date.reason
        assert (plain.change.time, half.change.time) == (step, step / 2)
        assert date.change.time == moment.timestamp()
        assert wv.Event.from_dict(date.as_dict()) == date


def test_an_outlier_that_was_set_aside_has_its_time():
    opt = wv.make("et-gp-ucb-confirmed", wv.Box([(0, 1)]), kernel=wv.RBF(0.3), noise_variance=0.01, seed=0)
    for step in range(1, 11):
        opt.tell([step / 10], 0.0, time=100.0 + step / 2)
    opt.tell([0.5], 9.0, time=106.0)
    assert "outlier at time 106 (step 11): y = 9" in opt.tell([0.5], 0.0, time=107.0).reason


def test_an_error_writes_a_date_like_everybody():
    opt = wv.make(wv.Box([(0, 1)]), seed=0)
    opt.tell([0.5], 1.0, time=START)
    with pytest.raises(wv.InvalidArgument, match="last observation at 2026-03-01 00:00:00 UTC"):
        opt.tell([0.5], 1.0, time=START - timedelta(hours=1))


@pytest.mark.parametrize(
    ("step", "time", "text"),
    [
        (7, 7.0, "step 7"),
        (7, None, "step 7"),
        (7, float("nan"), "step 7"),
        (7, 1.7e12, "time 1.7e+12 (step 7)"),
        (7, 1741002600.0, "2025-03-03 11:50:00 UTC (step 7)"),
    ],
)
def test_places(step, time, text):
    assert place_text(step, time) == text


def test_whatever_the_clock_on_the_wall_says(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    clocks.tzset()
    try:
        assert utc(0.0) == "1970-01-01 00:00:00 UTC"
    finally:
        monkeypatch.undo()
        clocks.tzset()


def test_what_is_a_date():
    assert [is_date(time) for time in (1.0, 1e9, 1.7e9, 4e9, 1e10, -1.0, float("nan"))] == [
        False, True, True, True, False, False, False,
    ]  # fmt: skip
    assert time_text(12.25) == "time 12.25"
    said = ("the regime of ", NamedSteps(1, last=9), " is back")

    def told(time_of):
        return in_words(with_steps(said, lambda named: named.at(time_of)))

    assert told({1: 0.5, 9: 4.5}.get) == "the regime of time 0.5 to time 4.5 (steps 1 to 9) is back"
    for unknown in ({}, {1: 0.5}, {1: 1.0, 9: 9.0}, {1: 0.5, 9: float("nan")}):
        assert told(unknown.get) == in_words(said) == "the regime of steps 1 to 9 is back"
    assert [span_text(each, True) for each in (45.0, 600.0, 7200.0, 864000.0)] == [
        "45 s",
        "10 min",
        "2 h",
        "10 days",
    ]


@pytest.fixture(scope="module")
def replayed():
    rng = np.random.default_rng(0)
    points = rng.random((60, 1))
    values = np.sin(5 * points[:, 0]) + 0.05 * rng.normal(size=60) + 3.0 * (np.arange(60) >= 30)
    first = datetime(2025, 3, 3, 11, 50, tzinfo=UTC).timestamp()
    log = wv.Log(points.tolist(), values.tolist(), times=[first + 600.0 * i for i in range(60)])
    return wv.replay(log, ["auto"], space=wv.Box([(0, 1)]), seed=0)


def test_a_replay_of_dates_says_dates(replayed):
    text = str(replayed)
    assert "from 2025-03-03 11:50:00 UTC to 2025-03-03 21:40:00 UTC" in text
    assert "The usual time between measurements is 10 min" in text
    assert "UTC (step 3" in text
    assert "17410" not in text


def test_the_axis_of_a_replay_has_dates(replayed):
    pytest.importorskip("matplotlib")
    page = replayed.plot() if hasattr(replayed, "plot") else replayed.figure()
    page.canvas.draw()
    bottom = page.axes[-1]
    assert bottom.get_xlabel() == "time (UTC)"
    assert "12:00" in [label.get_text() for label in bottom.get_xticklabels()]
