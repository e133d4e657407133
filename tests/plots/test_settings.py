"""Settings tried and believed best over time: from a trace, from events, and from the journal of a study."""

import numpy as np
import pytest

import windvane as wv
from windvane import plots

pytest.importorskip("matplotlib")
SPACE = wv.Space(
    gain=wv.Real(0.1, 10, log=True, unit="dB"), taps=wv.Integer(1, 8), mode=wv.Choice(["slow", "fast"])
)


def value(x):
    return -((np.log10(x["gain"]) - 0.2) ** 2) - 0.1 * (x["taps"] - 3) ** 2 + 0.3 * (x["mode"] == "fast")


@pytest.fixture(scope="module")
def run():
    opt = wv.make(SPACE, seed=0)
    events, best = [], []
    for _ in range(12):
        x = opt.ask()
        events.append(opt.tell(x, value(x)))
        best.append(opt.best().x)
    return opt, events, best


def line(panel, label):
    return next(each for each in panel.lines if each.get_label() == label)


def test_all_parameters_with_their_units(run):
    opt, events, best = run
    page = plots.settings(events, optimizer=opt)
    assert [panel.get_ylabel() for panel in page.axes] == ["gain (dB)", "taps", "mode"]
    assert page.axes[-1].get_xlabel() == "step"
    gain, taps, mode = page.axes
    assert gain.get_yscale() == "log"
    assert [each.get_text() for each in gain.get_yticklabels()] == ["0.1", "0.2", "0.5", "1", "2", "5", "10"]
    tried = gain.collections[0].get_offsets()
    np.testing.assert_array_equal(tried, [(event.step, event.x["gain"]) for event in events])
    np.testing.assert_array_equal(line(gain, "believed best").get_ydata(), [x["gain"] for x in best])
    np.testing.assert_array_equal(
        line(mode, "believed best").get_ydata(), [["slow", "fast"].index(x["mode"]) for x in best]
    )
    assert all(float(tick).is_integer() for tick in taps.get_yticks())
    assert [label.get_text() for label in mode.get_yticklabels()] == ["slow", "fast"]
    assert opt.step == 13  # it has been told nothing


def test_of_events_alone_there_is_no_belief(run):
    page = plots.settings(run[1])
    assert [panel.get_ylabel() for panel in page.axes] == ["gain", "taps", "mode"]
    assert not [each for each in page.axes[0].lines if each.get_label() == "believed best"]


def test_a_trace_of_a_box_and_of_arms():
    task = wv.task("jumps", horizon=20, seed=0)
    opt = wv.make(task.space, seed=0)
    page = plots.settings(wv.simulate(opt, task, seed=0), optimizer=opt, changes=[11])
    assert [panel.get_ylabel() for panel in page.axes] == ["x1", "x2"]
    arms = wv.make(wv.Arms(3), seed=0)
    page = plots.settings([arms.tell(arms.ask(), y) for y in (0.1, 0.4, 0.2)], optimizer=arms)
    assert [panel.get_ylabel() for panel in page.axes] == ["arm"]


def test_the_journal_of_a_study(tmp_path):
    pytest.importorskip("sqlalchemy")
    with wv.Study.create(tmp_path / "s.db", "press", SPACE, seed=0) as study:
        best = []
        for number in range(8):
            trial = study.ask()
            study.tell(trial, value(trial.x))
            best.append(study.best().x)
            if number == 3:
                study.reset("new pump")
        page = plots.settings(study)
        believed = line(page.axes[0], "believed best").get_ydata()
    np.testing.assert_allclose(believed, [x["gain"] for x in best])


@pytest.mark.parametrize("given", [[], 3, "events"])
def test_what_is_refused(given):
    with pytest.raises((wv.InvalidArgument, wv.InvalidType), match="source"):
        plots.settings(given)


def test_slices_have_whole_numbers_units_and_a_label(run):
    opt = run[0]
    page = plots.slices(opt, along="taps")
    page.canvas.draw()
    panel = page.axes[0]
    ticks = set(panel.get_xticks())
    assert set(range(1, 9)) <= ticks == {round(tick) for tick in ticks}
    assert panel.get_ylabel() == "objective"
    assert plots.slices(opt, along="gain").axes[0].get_xlabel() == "gain (dB)"
    box = wv.make(wv.Box([(0, 1)]), seed=0)
    box.tell([0.2], 1.0)
    assert plots.slices(box).axes[0].get_xlabel() == "x1"


def test_old_points_are_paler_than_new_ones_and_lie_beneath_the_mean():
    opt = wv.make(wv.Box([(0, 1)]), seed=0)
    for _ in range(5):
        opt.tell([0.4], 1.0)
    panel = plots.slices(opt).axes[0]
    dots = next(each for each in panel.collections if len(each.get_offsets()) == 5)
    shades = dots.get_facecolors()[:, 3]
    assert (np.diff(shades) > 0.05).all()
    assert dots.get_zorder() < line(panel, "mean").get_zorder()
