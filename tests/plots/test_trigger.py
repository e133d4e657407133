"""The trace of a trigger: measurements, predictions, statistic, threshold, data in use, beliefs."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import windvane as wv
from windvane import plots
from windvane.plots.beliefs import CHANGE, OTHERS, weights

WIDE = 1.959963984540054


def line(panel, label):
    (found,) = [each for each in panel.lines if each.get_label() == label]
    return np.asarray(found.get_xydata(), dtype=float)


def lines_at(panel):
    """The steps that have a vertical line through the whole panel."""
    return sorted({each.get_xdata()[0] for each in panel.lines if list(each.get_ydata()) == [0, 1]})


def told(panel):
    return "\n".join(text.get_text() for text in panel.texts)


def test_real_events(traces, jumps):
    events = traces["et-gp-ucb"][0].events
    page = plots.trigger(events, changes=jumps)
    above, test, sizes, reasons = page.axes
    np.testing.assert_array_equal(
        line(test, "threshold"), [(event.step, event.threshold) for event in events]
    )
    np.testing.assert_array_equal(
        line(test, "statistic"), [(event.step, event.statistic) for event in events]
    )
    crossed = [(e.step, e.statistic) for e in events if e.monitored and e.statistic > e.threshold]
    assert crossed
    np.testing.assert_array_equal(line(test, "above"), crossed)
    np.testing.assert_array_equal(
        line(above, "mean predicted"), [(event.step, event.mean) for event in events]
    )
    shown = np.concatenate([line(above, "measured"), line(above, "outside")])
    assert {tuple(row) for row in shown} == {(event.step, event.y) for event in events}
    resets = traces["et-gp-ucb"][0].resets.tolist()
    for panel in (above, test, sizes):
        assert lines_at(panel) == sorted({*resets, *jumps.steps})
    np.testing.assert_array_equal(sizes.lines[0].get_ydata(), [event.size for event in events])
    assert all(event.reason[:20] in told(reasons) for event in events if event.reset)
    page.draw_without_rendering()


def test_the_band_is_that_of_the_measurement(event):
    page = plots.trigger([event(1), event(2, mean=1.0, std=0.0, noise_variance=4.0)])
    vertices = page.axes[0].collections[0].get_paths()[0].vertices
    assert vertices[:, 1].max() == pytest.approx(1.0 + WIDE * 2.0)
    assert vertices[:, 1].min() == pytest.approx(1.0 - WIDE * 2.0)
    at_first = vertices[vertices[:, 0] == 1.0][:, 1]
    np.testing.assert_allclose(np.abs(at_first), WIDE * 0.5, rtol=1e-6)
    assert at_first.min() < 0.0 < at_first.max()


def test_infinite_thresholds_are_gaps(event):
    events = [event(1, threshold=math.inf, monitored=False), event(2), event(3, statistic=math.nan)]
    _, test, _ = plots.trigger(events).axes
    np.testing.assert_array_equal(line(test, "threshold")[:, 1], [math.nan, 1.0, 1.0])
    np.testing.assert_array_equal(line(test, "statistic")[:, 1], [0.5, 0.5, math.nan])
    assert "learning" in test.get_title(loc="left")
    (grey,) = test.patches
    assert (grey.get_x(), grey.get_x() + grey.get_width()) == (1.0, 1.5)


def test_what_is_never_tested_has_no_panel(event):
    events = [event(step, threshold=math.inf) for step in (1, 2)]
    assert [panel.get_title(loc="left") for panel in plots.trigger(events).axes] == [
        "2 measurements, no reset",
        "measurements in use",
    ]


def test_what_is_not_monitored_is_no_crossing(event):
    events = [event(1, statistic=3.0, monitored=False), event(2, statistic=2.0)]
    test = plots.trigger(events).axes[1]
    assert line(test, "above").tolist() == [[2.0, 2.0]]


def test_a_statistic_that_dwarfs_its_threshold_gets_a_log_scale(event):
    assert plots.trigger([event(1), event(2, statistic=1e6)]).axes[1].get_yscale() == "log"
    assert plots.trigger([event(1), event(2, statistic=5.0)]).axes[1].get_yscale() == "linear"


def test_what_was_set_aside_and_outliers(event):
    events = [
        event(1),
        event(2, y=9.0, set_aside=True),
        event(3, outlier=2, reason="outlier at step 2"),
        event(4, y=-9.0, set_aside=True),
        event(5, y=7.0, outlier=5),
    ]
    above = plots.trigger(events).axes[0]
    assert line(above, "outlier").tolist() == [[2.0, 9.0], [5.0, 7.0]]
    assert line(above, "set aside").tolist() == [[4.0, -9.0]]
    assert line(above, "measured")[:, 0].tolist() == [1.0, 3.0]


def test_the_last_reasons_are_listed_under_their_numbers(event):
    events = [event(step, reset=True, reason=f"cause ${step}$", kept=1) for step in range(1, 10)]
    page = plots.trigger(events, reasons=2)
    assert told(page.axes[-1]).splitlines() == [
        r"8  step 8, kept 1: cause \$8\$",
        r"9  step 9, kept 1: cause \$9\$",
    ]
    assert [text.get_text() for text in page.axes[0].texts] == ["8", "9"]
    assert not plots.trigger(events, reasons=0).axes[0].texts
    page.draw_without_rendering()


def test_against_time(event):
    first = 7e6
    events = [event(step, time=first + 60.0 * step) for step in (1, 2, 3)]
    page = plots.trigger(events, against="time", changes=[2])
    assert line(page.axes[0], "mean predicted")[:, 0].tolist() == [0.0, 60.0, 120.0]
    assert page.axes[-1].get_xlabel() == "time since 7000060"
    assert lines_at(page.axes[0]) == [60.0]


def test_against_dates(event):
    """Seconds since 1970 are drawn as days, which is how matplotlib counts dates."""
    events = [event(step, time=1.7e9 + 60.0 * step) for step in (1, 2, 3)]
    page = plots.trigger(events, against="time")
    expected = [(1.7e9 + 60.0 * step) / 86_400.0 for step in (1, 2, 3)]
    assert line(page.axes[0], "mean predicted")[:, 0].tolist() == expected
    assert page.axes[-1].get_xlabel() == "time (UTC)"


def test_beliefs_are_stacked_to_one():
    opt = wv.make(wv.Box([(0, 1)]), seed=0)
    values = np.random.default_rng(0).normal(0.0, 0.1, 30)
    values[24:] += 5.0
    events = [opt.tell(opt.ask(), value) for value in values]
    page = plots.trigger(events)
    panel = next(panel for panel in page.axes if panel.get_title(loc="left") == "what is believed")
    areas = [area.get_paths()[0].vertices for area in panel.collections]
    for place, event in enumerate(events, start=1):
        tops = [area[area[:, 0] == place][:, 1].max() for area in areas]
        assert tops[-1] == pytest.approx(1.0)
        change = sum(weight for name, weight in event.beliefs.items() if name.startswith("changed at"))
        assert 1.0 - tops[-2] == pytest.approx(change, abs=1e-9)
    found = weights(events)
    assert list(found)[-2:] == [OTHERS, CHANGE]
    np.testing.assert_allclose(sum(found.values()), 1.0)
    page.draw_without_rendering()


def test_minimisation_keeps_the_callers_units():
    opt = wv.make("et-gp-ucb", wv.Box([(0, 1)]), goal="minimize", kernel=wv.RBF(0.2), noise_variance=0.01)
    events = [opt.tell([0.1 * step], 100.0 + step) for step in range(5)]
    above = plots.trigger(events).axes[0]
    shown = np.concatenate(
        [np.asarray(each.get_xydata()) for each in above.lines if each.get_label() in ("measured", "outside")]
    )
    assert sorted(shown[:, 1].tolist()) == [100.0, 101.0, 102.0, 103.0, 104.0]
    assert line(above, "mean predicted")[1:, 1].min() > 0.0


def test_the_journal_of_a_study(tmp_path):
    with wv.Study.create(tmp_path / "s.db", "s", wv.Box([(0, 1)]), seed=0) as study:
        for value in (0.1, 0.4, 0.3):
            study.tell(study.ask(), value)
        study.fail(study.ask(), "broke")
        page = plots.trigger(study.events())
    assert page.axes[0].get_title(loc="left") == "3 measurements, no reset"


def test_one_event_and_dicts(event):
    plots.trigger([event(1)]).draw_without_rendering()
    plots.trigger([event(1, threshold=math.inf).as_dict(), event(2).as_dict()]).draw_without_rendering()


@pytest.mark.parametrize(
    ("events", "kind", "says"),
    [
        ([], wv.InvalidArgument, "at least one event"),
        (3, wv.InvalidType, "events=3: must be a sequence"),
        ("events", wv.InvalidType, "must be a sequence"),
        ([3], wv.InvalidType, r"events\[0\]=3: must be an event"),
        ([{"step": 1}], wv.InvalidType, r"events\[0\]=.*must be an event"),
        ([SimpleNamespace(event=None, kind="asked")], wv.InvalidArgument, "at least one event"),
    ],
)
def test_bad_events(events, kind, says):
    with pytest.raises(kind, match=says):
        plots.trigger(events)


def test_events_of_two_runs_are_refused(event):
    with pytest.raises(wv.InvalidArgument, match="steps do not rise"):
        plots.trigger([event(1), event(2), event(1)])


@pytest.mark.parametrize(
    "options", [{"reasons": -1}, {"reasons": 1.5}, {"against": "date"}, {"changes": "a"}]
)
def test_bad_options(options, event):
    with pytest.raises(wv.WindvaneError, match=next(iter(options))):
        plots.trigger([event(1)], **options)
