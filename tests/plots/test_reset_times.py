"""Ridges of reset times."""

import numpy as np
import pytest
from scipy.stats import gaussian_kde, norm

import windvane as wv
from windvane import plots
from windvane.plots.reset_times import density


def ridges(page):
    """The lines of the ridges, from the top."""
    return [each for each in page.axes[0].lines if len(each.get_xdata()) > 2]


def test_inside_the_range_it_is_scipys_estimate():
    every = np.random.default_rng(0).normal(500.0, 30.0, 50)
    steps = np.linspace(300.0, 700.0, 101)
    ours = density(every, steps, 12.0, 1000.0)
    theirs = gaussian_kde(every, bw_method=12.0 / every.std(ddof=1))(steps)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_at_the_ends_what_would_leave_is_reflected():
    steps = np.linspace(1.0, 100.0, 5001)
    found = density(np.array([1.0, 99.0]), steps, 5.0, 100.0)
    assert np.trapezoid(found, steps) == pytest.approx(1.0, abs=1e-6)
    assert found[0] == pytest.approx(norm(1.0, 5.0).pdf(1.0))  # half of it twice, from one of two resets


def test_ticks_and_counts(traces, jumps):
    page = plots.reset_times(traces, changes=jumps)
    (panel,) = page.axes
    every = [step for trace in traces["et-gp-ucb"] for step in trace.resets.tolist()]
    segments = panel.collections[1].get_segments()
    assert [segment[0][0] for segment in segments] == every
    assert [text.get_text() for text in panel.texts] == [f"{len(every) / 2:.1f} per run", "0.0 per run"]
    assert [label.get_text() for label in panel.get_yticklabels()] == ["et-gp-ucb", "gp-ucb"]
    assert panel.get_xlim() == (0.0, 61.0)
    quiet = ridges(page)[1].get_ydata()
    assert set(quiet) == {0.0}  # nothing: a flat line at its base
    page.draw_without_rendering()


def test_the_first_of_each_run_only():
    page = plots.reset_times({"a": [[9, 30], [50, 12], []]}, first=True, horizon=60)
    assert [segment[0][0] for segment in page.axes[0].collections[1].get_segments()] == [9, 12]
    assert page.axes[0].texts[0].get_text() == "67 % of runs"


def test_rates_are_put_in_order_and_coloured_as_one():
    page = plots.reset_times({0.1: [[5]], 0.01: [[40]], 0.03: [[20]]})
    assert [label.get_text() for label in page.axes[0].get_yticklabels()] == ["0.01", "0.03", "0.1"]
    peaks = [each.get_xdata()[int(np.argmax(each.get_ydata()))] for each in ridges(page)]
    np.testing.assert_allclose(peaks, [40, 20, 5], atol=0.2)
    assert ridges(page)[0].get_color() == plots.style.ramp(0.0)
    assert ridges(page)[-1].get_color() == plots.style.ramp(1.0)


def test_a_change_and_a_bandwidth():
    page = plots.reset_times({"a": [[30]]}, changes=[25], bandwidth=3.0, horizon=50)
    (ridge,) = ridges(page)
    at = ridge.get_ydata()
    x = ridge.get_xdata()
    width = x[at >= at.max() * np.exp(-0.5)]
    assert width[-1] - width[0] == pytest.approx(6.0, abs=0.1)  # two standard deviations
    assert 25 in [each.get_xdata()[0] for each in page.axes[0].lines]


@pytest.mark.parametrize(
    ("runs", "options", "says"),
    [
        ({}, {}, "must not be empty"),
        ([[3]], {}, "must be a dict by name"),
        ({"a": []}, {}, "at least one run"),
        ({"a": 3}, {}, r"runs\['a'\]=3"),
        ({"a": [3]}, {}, r"runs\['a'\]\[0\]=3"),
        ({"a": [[0]]}, {}, r"runs\['a'\]\[0\]=0"),
        ({"a": [[1.5]]}, {}, "must be an integer"),
        ({"a": [[30]]}, {"horizon": 20}, "horizon=20"),
        ({"a": [[30]]}, {"bandwidth": 0}, "bandwidth=0"),
        ({0.1: [[30]]}, {"colours": {0.2: "red"}}, "0.2 is not drawn"),
    ],
)
def test_bad_input(runs, options, says):
    with pytest.raises(wv.WindvaneError, match=says):
        plots.reset_times(runs, **options)
