"""Regret over time: what is drawn is what was measured."""

from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest

import windvane as wv
from windvane import plots


def made_up(regret, resets=()):
    """A run with this regret, reset at these steps; figures ask for no more."""
    return SimpleNamespace(regret=np.asarray(regret, dtype=float), resets=np.array(resets, dtype=int))


RUNS = np.random.default_rng(0).gamma(1.0, 1.0, (7, 40))
CURVES = {
    "regret": RUNS,
    "cumulative": np.cumsum(RUNS, axis=1),
    "average": np.cumsum(RUNS, axis=1) / np.arange(1, 41),
}


def band(panel):
    """The ends of the one band in a panel, by step: its outline goes along the lower end and back."""
    (shape,) = panel.collections
    steps, ends = {}, shape.get_paths()[0].vertices
    for step, value in ends:
        steps.setdefault(step, []).append(value)
    return np.array([[min(steps[t]), max(steps[t])] for t in sorted(steps)]).T


@pytest.mark.parametrize("what", CURVES)
def test_median_and_quartiles(what):
    page = plots.regret({"mine": [made_up(run) for run in RUNS]}, what=what)
    (panel,) = page.axes  # nobody reset
    (line,) = panel.lines
    low, middle, high = np.percentile(CURVES[what], (25, 50, 75), axis=0)
    np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 41))
    np.testing.assert_allclose(line.get_ydata(), middle)
    np.testing.assert_allclose(band(panel), [low, high])
    page.draw_without_rendering()


def test_one_run_has_a_line_and_no_band():
    panel = plots.regret({"mine": made_up([3.0, 2.0, 1.0])}).axes[0]
    assert panel.lines[0].get_ydata().tolist() == [3.0, 2.0, 1.0]
    assert not panel.collections


def test_runs_of_different_lengths_count_while_they_last():
    runs = [made_up([1.0, 2.0, 3.0, 4.0]), made_up([3.0, 4.0]), made_up([5.0, 6.0, 7.0])]
    panel = plots.regret({"mine": runs, "short": made_up([1.0])}).axes[0]
    assert panel.lines[0].get_ydata().tolist() == [3.0, 4.0, 5.0, 4.0]
    assert panel.get_xlim() == (0.5, 4.5)


def test_a_dash_for_each_reset_and_a_line_for_each_run():
    runs = {"a": [made_up(np.ones(9), [3, 7]), made_up(np.ones(9), [5])], "quiet": made_up(np.ones(9))}
    page = plots.regret(runs)
    _, strip = page.axes
    assert [shape.get_positions() for shape in strip.collections] == [[3.0, 7.0], [5.0]]
    assert [label.get_text() for label in strip.get_yticklabels()] == ["a"]
    assert len(plots.regret(runs, resets=False).axes) == 1


def test_real_runs(traces, jumps):
    page = plots.regret(traces, what="cumulative", changes=jumps)
    above, strip = page.axes
    drawn = [line for line in above.lines if line.get_label() in traces]
    for line, runs in zip(drawn, traces.values(), strict=True):
        np.testing.assert_allclose(line.get_ydata(), np.mean([run.cumulative for run in runs], axis=0))
    found = [shape.get_positions() for shape in strip.collections]
    assert found == [run.resets.tolist() for run in traces["et-gp-ucb"]]
    assert jumps.steps == (31,)
    assert [line.get_xdata()[0] for line in strip.lines] == [31]
    page.draw_without_rendering()


def test_spikes_of_the_first_steps_leave_the_panel_of_averages():
    regret = np.ones(50)
    regret[0] = 100.0
    panel = plots.regret({"mine": made_up(regret)}, what="average").axes[0]
    assert panel.get_ylim()[1] == pytest.approx(1.06 * (100 + 10) / 11)


def test_negative_regret_is_seen():
    panel = plots.regret({"mine": made_up([1.0, -2.0])}).axes[0]
    assert panel.get_ylim()[0] < -2.0


def test_settings_of_matplotlib_stay_as_they_were(traces):
    before = dict(matplotlib.rcParams)
    plots.regret(traces).draw_without_rendering()
    assert dict(matplotlib.rcParams) == before


def test_letters_follow_the_users_size():
    with matplotlib.rc_context({"font.size": 20}):
        page = plots.regret({"mine": made_up([1.0, 2.0])})
    assert page.legends[0].get_texts()[0].get_fontsize() == 18.0


TRACE = made_up([1.0])


@pytest.mark.parametrize(
    ("traces", "kind", "says"),
    [
        ({}, wv.InvalidArgument, "must not be empty"),
        (TRACE, wv.InvalidType, "must be a dict by name"),
        ([TRACE], wv.InvalidType, "must be a dict by name"),
        ({"a": []}, wv.InvalidArgument, r"traces\['a'\]: must have at least one trace"),
        ({"a": 3}, wv.InvalidType, r"traces\['a'\]=3: must be a trace or a list"),
        ({"a": "abc"}, wv.InvalidType, "must be a trace or a list"),
        ({"a": [TRACE, 3]}, wv.InvalidType, r"traces\['a'\]\[1\]=3: must be a trace"),
        ({"a": made_up([1.0, np.nan])}, wv.InvalidArgument, "must be finite"),
        ({"a": made_up([])}, wv.InvalidArgument, "one number per step"),
        ({"": TRACE}, wv.InvalidArgument, "the name '' is empty"),
    ],
)
def test_bad_traces(traces, kind, says):
    with pytest.raises(kind, match=says):
        plots.regret(traces)


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"what": "regrets"}, wv.UnknownName, "did you mean 'regret'"),
        ({"changes": 3}, wv.InvalidType, "changes=3: must be steps"),
        ({"changes": [0]}, wv.InvalidArgument, r"changes\[0\]=0"),
        ({"colours": {"b": "red"}}, wv.InvalidArgument, "'b' is not drawn; allowed: 'a'"),
        ({"colours": {"a": "reddish"}}, wv.InvalidArgument, r"colours\['a'\]='reddish': must be a colour"),
        ({"colours": "red"}, wv.InvalidType, "colours='red': must be a dict"),
    ],
)
def test_bad_options(options, kind, says):
    with pytest.raises(kind, match=says):
        plots.regret({"a": TRACE}, **options)


def test_changes_that_tasks_know():
    first, second = (wv.task("within-model", horizon=20, seed=seed) for seed in (0, 1))
    from windvane.plots.inputs import changes_of
    from windvane.tasks.wrappers import jump, noise, shift

    assert changes_of(noise(shift(jump(first, second, at=11), by=0.5, at=5), 0.1)) == (5, 11)
    assert changes_of(first) == ()
