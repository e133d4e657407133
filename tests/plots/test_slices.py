"""The posterior through time: what is drawn is what the optimiser said."""

import numpy as np
import pytest

import windvane as wv
from windvane import plots
from windvane.plots.lines import line

PRIOR = {"kernel": wv.RBF(0.2), "noise_variance": 0.02}
MIXED = wv.Space(gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 4), mode=wv.Choice(["a", "b"]))


@pytest.fixture(scope="module")
def drift():
    return wv.task("within-model", dim=1, rate=0.03, horizon=24, seed=0)


@pytest.fixture(scope="module")
def past(drift):
    opt = wv.make("et-gp-ucb", drift.space, **PRIOR, seed=0)
    found = plots.Snapshots(opt, every=4, points=21)
    wv.simulate(opt, drift, on_step=found)
    return found


def labelled(panel, label):
    (found,) = [each for each in panel.lines if each.get_label() == label]
    return found.get_ydata()


def test_snapshots_are_what_a_fresh_optimiser_says(drift, past):
    """An oracle that keeps nothing: told the same events, it predicts the same at each step."""
    fresh = wv.make("et-gp-ucb", drift.space, **PRIOR, seed=0)
    grid = np.linspace(0.0, 1.0, 21)[:, None]
    kept = {each.step: each for each in past}
    assert sorted(kept) == [5, 9, 13, 17, 21, 25]
    for event in past.events:
        fresh.tell(event.x, event.y)
        if fresh.step in kept:
            mean, std = fresh.predict(grid)
            np.testing.assert_array_equal(kept[fresh.step].mean, mean)
            np.testing.assert_array_equal(kept[fresh.step].std, std)
            in_use = past.events[fresh.step - 1 - fresh.size : fresh.step - 1]
            np.testing.assert_allclose(kept[fresh.step].places, [float(each.x[0]) for each in in_use])
            np.testing.assert_allclose(kept[fresh.step].values, [each.y for each in in_use])


def test_watching_changes_nothing(drift):
    def asked(watch):
        opt = wv.make("auto", drift.space, seed=0)
        return [event.x.tolist() for event in wv.simulate(opt, drift, on_step=watch(opt), steps=8).events]

    assert asked(plots.Snapshots) == asked(lambda _: None)


def test_lines(drift, past):
    page = plots.slices(past, task=drift)
    assert [panel.get_title(loc="left") for panel in page.axes] == [
        f"before step {step}" for step in (5, 9, 13, 17, 21, 25)
    ]
    for panel, each in zip(page.axes, past, strict=True):
        np.testing.assert_array_equal(labelled(panel, "mean"), each.mean)
        at = min(each.step, 24)
        truth = [drift.value([x], at) for x in np.linspace(0.0, 1.0, 21)]
        np.testing.assert_allclose(labelled(panel, "truth"), truth)
        band, dots = panel.collections
        vertices = band.get_paths()[0].vertices
        assert vertices[:, 1].max() == pytest.approx((each.mean + 1.959964 * each.std).max())
        np.testing.assert_allclose(dots.get_offsets()[:, 1], each.values)
    page.draw_without_rendering()


def test_chosen_steps(past):
    page = plots.slices(past, steps=[21, 5])
    assert [panel.get_title(loc="left") for panel in page.axes] == ["before step 21", "before step 5"]
    with pytest.raises(wv.InvalidArgument, match="no snapshot for step 6; there are 6: 5, 9, 13"):
        plots.slices(past, steps=[6])


def test_map(drift, past):
    page = plots.slices(past, kind="map", task=drift)
    above, below = page.axes[:2]
    np.testing.assert_array_equal(above.collections[0].get_array(), np.array([each.mean for each in past]).T)
    truth = [[drift.value([x], min(each.step, 24)) for x in np.linspace(0, 1, 21)] for each in past]
    np.testing.assert_allclose(below.collections[0].get_array(), np.array(truth).T)
    assert above.collections[0].get_clim() == below.collections[0].get_clim()
    np.testing.assert_array_equal(
        next(each.get_xydata() for each in above.lines if each.get_label() == "measured"),
        [(event.step, event.x[0]) for event in past.events],
    )
    page.draw_without_rendering()


def test_resets_are_lines_on_the_map():
    opt = wv.make("r-gp-ucb", wv.Box([(0, 1)]), period=3, **PRIOR)
    past = plots.Snapshots(opt, points=5)
    for value in range(7):
        past(opt.tell([0.5], value))
    above = plots.slices(past, kind="map").axes[0]
    assert [each.get_xdata()[0] for each in above.lines if list(each.get_ydata()) == [0, 1]] == [3, 6]


@pytest.mark.parametrize(("along", "count"), [("gain", 101), ("taps", 4), ("mode", 2)])
def test_every_kind_of_parameter_minimised(along, count):
    opt = wv.make("et-gp-ucb", MIXED, goal="minimize", seed=0)
    past = plots.Snapshots(opt, along=along)
    for value in (5.0, 4.0, 6.0):
        past(opt.tell(opt.ask(), value))
    last = list(past)[-1]
    assert len(last.mean) == count
    assert sorted(last.values) == [4.0, 5.0, 6.0]
    best = opt.best()
    points = [{**best.x, along: value} for value in past.line.values]
    np.testing.assert_allclose(last.mean, opt.predict(points)[0])
    assert last.best == (["a", "b"].index(best.x[along]) if along == "mode" else best.x[along])
    plots.slices(past).draw_without_rendering()
    plots.slices(past, kind="map").draw_without_rendering()


def test_now_through_a_chosen_point():
    opt = wv.make("gp-ucb", wv.Box([(0, 1), (10, 20)]), **PRIOR, seed=0)
    for x, y in (([0.2, 12.0], 1.0), ([0.9, 19.0], 2.0)):
        opt.tell(x, y)
    page = plots.slices(opt, along=1, through=[0.9, 15.0])
    (panel,) = page.axes
    expected, _ = opt.predict([[0.9, y] for y in np.linspace(10.0, 20.0, 101)])
    np.testing.assert_allclose(labelled(panel, "mean"), expected)
    alpha = panel.collections[1].get_facecolors()[:, 3]
    assert alpha[1] == pytest.approx(1.0)  # on the line
    assert alpha[0] < 0.2  # far from it
    assert panel.get_xlabel() == "x2"
    np.testing.assert_allclose(panel.collections[1].get_offsets(), [[12.0, 1.0], [19.0, 2.0]])


def test_before_anything_is_told_and_arms():
    plots.slices(wv.make("gp-ucb", wv.Box([(0, 1)]), **PRIOR)).draw_without_rendering()
    arms = wv.make("gp-ucb", wv.Arms(3), kernel=wv.Empirical(np.eye(3)), noise_variance=0.1)
    arms.tell(1, 2.0)
    (panel,) = plots.slices(arms).axes
    np.testing.assert_allclose(labelled(panel, "mean"), arms.predict([0, 1, 2])[0])


def test_a_study(tmp_path):
    with wv.Study.create(tmp_path / "s.db", "s", MIXED, seed=0) as study:
        study.tell(study.ask(), 0.1)
        page = plots.slices(study, along="taps")
        best = study.best().x
        expected, _ = study.predict([{**best, "taps": taps} for taps in (1, 2, 3, 4)])
    np.testing.assert_allclose(labelled(page.axes[0], "mean"), expected)


OPT = wv.make("gp-ucb", wv.Box([(0, 1), (0, 1)]), **PRIOR)


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: plots.slices(3), wv.InvalidType, "optimizer=3"),
        (lambda: plots.slices(OPT, kind="map"), wv.InvalidArgument, "needs Snapshots"),
        (lambda: plots.slices(OPT, kind="area"), wv.UnknownName, "kind='area'"),
        (lambda: plots.slices(OPT, along=2), wv.InvalidArgument, "along=2: must be an integer"),
        (lambda: plots.slices(OPT, along="gain"), wv.InvalidType, "along='gain'"),
        (lambda: plots.slices(OPT, through=[2.0, 0.0]), wv.InvalidArgument, r"x\[0\]"),
        (lambda: plots.slices(OPT, task=3), wv.InvalidType, "task=3"),
        (
            lambda: plots.slices(OPT, task=wv.task("within-model", dim=1)),
            wv.InvalidArgument,
            "task: lives in",
        ),
        (lambda: plots.slices(plots.Snapshots(OPT)), wv.InvalidArgument, "at least one snapshot"),
        (lambda: plots.slices(plots.Snapshots(OPT), along=1), wv.InvalidArgument, "give them to Snapshots"),
        (lambda: plots.Snapshots(OPT, every=0), wv.InvalidArgument, "every=0"),
        (lambda: plots.Snapshots(OPT, points=1), wv.InvalidArgument, "points=1"),
        (lambda: plots.Snapshots(OPT, through=[2.0, 0.0]), wv.InvalidArgument, r"x\[0\]"),
        (lambda: plots.Snapshots(OPT)(3), wv.InvalidType, "event=3"),
        (lambda: line(MIXED, "gian"), wv.UnknownName, "did you mean 'gain'"),
        (lambda: line(wv.Arms(3), 0), wv.InvalidArgument, "arms have no parameters"),
        (lambda: line(wv.Arms(1000)), wv.InvalidArgument, "1000 arms are more than"),
    ],
)
def test_bad_input(call, kind, says):
    with pytest.raises(kind, match=says):
        call()


def test_one_snapshot_is_no_map():
    opt = wv.make("gp-ucb", wv.Box([(0, 1)]), **PRIOR)
    past = plots.Snapshots(opt)
    past(opt.tell([0.5], 1.0))
    with pytest.raises(wv.InvalidArgument, match="at least two snapshots, got 1"):
        plots.slices(past, kind="map")


def test_contexts_stay_at_what_they_were_last():
    space = wv.Space(gain=wv.Real(0, 1), load=wv.Context(0, 100), hour=wv.Context(0, 24, period=True))
    opt = wv.make(space, seed=0)
    past = plots.Snapshots(opt, every=1)
    for step in range(6):
        x = opt.ask(context={"load": 10.0 * step, "hour": 3.0 * step})
        past(opt.tell(x, -((x["gain"] - 0.5) ** 2)))
    assert [round(each.base["load"]) for each in past] == [0, 10, 20, 30, 40, 50]
    assert [round(each.base["hour"]) for each in past] == [0, 3, 6, 9, 12, 15]
    for along in ("gain", "load", "hour"):
        assert plots.slices(opt, along=along).axes[0].get_xlabel() == along
