"""A replay says what an optimiser says that is told by hand; its scores are those of SciPy."""

import dataclasses
import json
import math

import numpy as np
import pytest
from scipy import stats

import windvane as wv
from windvane.errors import WindvaneError
from windvane.replay import Account, read_log

BOX = wv.Box([(0, 1), (0, 1)])
PRIOR = {"kernel": wv.RBF(0.3), "noise_variance": 0.05}


def made_up(count=60, jump=40, seed=0, times=True):
    """A surface that changes at a step, measured at random."""
    rng = np.random.default_rng(seed)
    points = rng.random((count, 2))
    values = [
        math.sin(5 * x[0]) * (1 if row < jump else -1) + x[1] + 0.2 * rng.normal()
        for row, x in enumerate(points)
    ]
    return wv.Log(points, values, np.cumsum(rng.random(count)) + 100.0 if times else None)


@pytest.mark.parametrize("times", [True, False])
@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_events_are_those_of_an_optimiser_told_by_hand(times, goal):
    log = made_up(times=times)
    names = {"et-gp-ucb:delta=0.2": {"delta": 0.2}, "tv-gp-ucb:rate=0.05": {"rate": 0.05}}
    found = wv.replay(log, list(names), BOX, goal=goal, seed=3, **PRIOR)
    for label, options in names.items():
        opt = wv.make(label.split(":")[0], BOX, goal=goal, seed=3, **PRIOR, **options)
        for row, (x, y) in enumerate(zip(log.points, log.values, strict=True)):
            event = opt.tell(x, y, time=log.times[row] if times else None)
            assert found[label].events[row].as_dict() == event.as_dict()
        assert found[label].resets.tolist() == [e.step for e in found[label].events if e.reset]
        best = opt.best()
        np.testing.assert_array_equal(found[label].best.x, best.x)
        assert (found[label].best.mean, found[label].best.std) == (best.mean, best.std)
    assert len(found["et-gp-ucb:delta=0.2"].resets) > 0  # else this tests little


def test_spellings_of_algorithms():
    log = made_up(12)
    found = wv.replay(
        log, ["r-gp-ucb:period=5,gp-ucb", "et-gp-ucb:trigger=exact-bound,reset_window=[2,4]"], BOX
    )
    assert [account.label for account in found.accounts] == [
        "r-gp-ucb:period=5", "gp-ucb", "et-gp-ucb:trigger=exact-bound,reset_window=[2,4]",
    ]  # fmt: skip
    assert found["r-gp-ucb:period=5"].resets.tolist() == [5, 10]
    assert all("forced" in event.reason for event in found.accounts[2].reset_events)
    assert found.accounts[2].resets.tolist() == [4, 8, 12]


def test_an_optimiser_of_ones_own_is_copied():
    log = made_up(8)
    mine = wv.make("gp-ucb", BOX, kernel=wv.Matern32(0.5), noise_variance=0.1, seed=0)
    found = wv.replay(log, [mine, "random"], BOX)
    assert mine.step == 1
    assert len(found["gp-ucb"].events) == 8
    mine.tell([0.5, 0.5], 1.0)
    for bad, said in (
        ([mine], "give a fresh one"),
        ([wv.make("gp-ucb", wv.Box([(0, 2)] * 2))], "another space or goal"),
        ([wv.make("gp-ucb", BOX, goal="minimize")], "another space or goal"),
        (["gp-ucb", "gp-ucb"], "gp-ucb is there twice"),
    ):
        with pytest.raises(WindvaneError, match=said):
            wv.replay(log, bad, BOX)


def test_what_is_asked_amiss_is_named():
    log = made_up(8)
    for call, said in (
        (lambda: wv.replay(log, "gp-ucp", BOX), "did you mean 'gp-ucb'"),
        (lambda: wv.replay(log, "gp-ucb:rate=1", BOX), "algorithms: gp-ucb: option='rate'"),
        (lambda: wv.replay(log, "tv-gp-ucb", BOX), "algorithms: tv-gp-ucb: "),
        (lambda: wv.replay(log, "et-gp-ucb:trigger=nose", BOX), "trigger='nose'"),
        (lambda: wv.replay(log, [], BOX), "algorithms="),
        (lambda: wv.replay(log, [3], BOX), "algorithms: 3"),
        (lambda: wv.replay(log, "gp-ucb", "box"), "space='box'"),
        (lambda: wv.replay(log, "gp-ucb", wv.Box([(0, 0.1)] * 2)), "log, observation 1: x[0]="),
        (lambda: wv.replay(log, "gp-ucb", wv.Box([(0, 1)])), "log, observation 1: x: must have shape 1"),
        (lambda: wv.replay(log, "gp-ucb", BOX, warmup=8), "warmup=8"),
        (lambda: wv.replay(log, "gp-ucb", BOX, goal="up"), "goal='up'"),
        (lambda: wv.replay(log, "gp-ucb", BOX, seed=-1), "seed=-1"),
        (lambda: wv.replay(log, "gp-ucb", BOX, on_progress=3), "on_progress=3"),
        (lambda: wv.replay(3), "log=3"),
        (lambda: wv.replay(wv.Log([[0.5], [0.6]], [1.0, 1e200]), "gp-ucb"), "log, observation 2: gp-ucb: y="),
    ):
        with pytest.raises(WindvaneError) as caught:
            call()
        assert said in str(caught.value)


def test_progress_and_warmup():
    seen = []
    found = wv.replay(made_up(8), ["gp-ucb", "random"], BOX, on_progress=lambda *at: seen.append(at), **PRIOR)
    assert seen == [(done, 16) for done in range(17)]
    assert found.warmup == 2  # a quarter
    assert wv.replay(made_up(60), "random", BOX, **PRIOR).warmup == 10
    assert wv.replay(made_up(8), "random", BOX, warmup=0, **PRIOR).warmup == 0


# -- scores against SciPy ----------------------------------------------------------------------------------


def account(errors, stds, noises, warmup=0):
    """Made-up events: y is off by so much of what was predicted."""
    events = []
    densities = stats.norm.logpdf(errors, 0.0, np.sqrt(np.square(stds) + noises))
    for step, (error, std, noise, density) in enumerate(
        zip(errors, stds, noises, densities, strict=True), start=1
    ):
        events.append(
            wv.Event(step, float(step), 0, 10.0 + error, 10.0, std, noise, density, 0.0, 1.0, True, step, False, "", 0, step)
        )  # fmt: skip
    return Account("made up", tuple(events), wv.Best(0, 1.0, 0.1), np.full(len(events), 0.001), warmup)


def test_scores_are_those_of_scipy():
    rng = np.random.default_rng(5)
    stds, noises = rng.uniform(0.1, 2.0, 300), rng.uniform(0.01, 1.0, 300)
    errors = 1.3 * rng.normal(size=300) * np.sqrt(stds**2 + noises) + 0.1
    found = account(errors, stds, noises, warmup=40)
    spread = np.sqrt(stds**2 + noises)[40:]
    scored = errors[40:]
    for level in (0.5, 0.8, 0.95):
        low, high = stats.norm.interval(level, loc=10.0, scale=spread)
        inside = int(((10.0 + scored >= low) & (10.0 + scored <= high)).sum())
        expected = stats.binomtest(inside, 260).proportion_ci(0.95, method="wilson")
        share = found.coverage(level)
        assert (share.inside, share.total) == (inside, 260)
        np.testing.assert_allclose((share.low, share.high), (expected.low, expected.high))
    assert found.log_density.value == pytest.approx(stats.norm.logpdf(scored, 0.0, spread).mean())
    assert found.log_density.error == pytest.approx(stats.sem(stats.norm.logpdf(scored, 0.0, spread)))
    assert found.rmse == pytest.approx(math.sqrt((scored**2).mean()))
    assert found.residual_mean.value == pytest.approx((scored / spread).mean())
    assert found.residual_mean.error == pytest.approx(stats.sem(scored / spread))
    assert found.residual_variance.value == pytest.approx(np.var(scored / spread, ddof=1))


def test_the_error_of_the_variance_is_that_of_many_samples():
    rng = np.random.default_rng(7)
    ones, zeros = np.ones(200), np.zeros(200)
    found = [account(rng.normal(size=200), zeros, ones).residual_variance for _ in range(400)]
    truth = np.std([each.value for each in found])
    assert np.mean([each.error for each in found]) == pytest.approx(truth, rel=0.1)
    with pytest.raises(WindvaneError, match="level=1"):
        account([1.0], [1.0], [1.0]).coverage(1.0)


def test_a_right_model_is_calibrated():
    """Drawn from the very model that the algorithm is told, its residuals are standard normal."""
    rng = np.random.default_rng(11)
    points = rng.random((250, 2))
    kernel = wv.RBF(0.3)
    covariance = kernel.matrix(points, points) + 0.05 * np.eye(250)
    log = wv.Log(points, np.linalg.cholesky(covariance) @ rng.normal(size=250))
    found = wv.replay(log, "gp-ucb", BOX, kernel=kernel, noise_variance=0.05, warmup=0)["gp-ucb"]
    assert stats.kstest(found.residuals, "norm").pvalue > 0.01
    for level in (0.5, 0.8, 0.95):
        share = found.coverage(level)
        assert share.low <= level <= share.high


def test_ahead_is_paired():
    log = made_up(40)
    found = wv.replay(log, ["gp-ucb", "tv-gp-ucb:rate=0.1"], BOX, **PRIOR)
    one, other = found.accounts
    difference = np.array(
        [b.log_density - a.log_density for a, b in zip(one.events, other.events, strict=True)]
    )[10:]
    assert other.ahead_of(one).value == pytest.approx(difference.mean())
    assert other.ahead_of(one).error == pytest.approx(stats.sem(difference))


# -- the report --------------------------------------------------------------------------------------------


def test_a_guessed_space_is_said_loudly(tmp_path):
    log = made_up(20, times=False)
    guessed = wv.replay(log, "random", **PRIOR)
    assert guessed.guessed
    assert "SPACE GUESSED" in str(guessed)
    assert "SPACE GUESSED" in " ".join(guessed.as_dict()["warnings"])
    bounds = np.array(guessed.space.bounds)
    np.testing.assert_array_equal(bounds[:, 0], np.min(log.points, axis=0))
    np.testing.assert_array_equal(bounds[:, 1], np.max(log.points, axis=0))
    assert "SPACE GUESSED" not in str(wv.replay(log, "random", BOX, **PRIOR))


def test_text_says_all_and_never_regret():
    found = wv.replay(made_up(), ["et-gp-ucb:delta=0.2", "gp-ucb"], BOX, **PRIOR)
    text = str(found)
    for account_ in found.accounts:
        assert f"{account_.label}: best at [" in text
        for event in account_.reset_events[:12]:
            assert f"  time {event.time:.10g} (step {event.step}): {event.reason}" in text
    assert "gp-ucb: no reset" in text
    assert "no regret can be had" in text
    assert "all but the first 10" in text

    def names(value):
        if isinstance(value, dict):
            return set(value) | {name for item in value.values() for name in names(item)}
        return {name for item in value for name in names(item)} if isinstance(value, list) else set()

    assert not [name for name in names(found.as_dict()) if "regret" in name]


def test_times_far_from_one_are_pointed_out():
    log = made_up(20, times=False)
    slow = dataclasses.replace(log, times=[600.0 * row for row in range(20)])
    assert "usual time between measurements is 600" in str(wv.replay(slow, "random", BOX, **PRIOR))
    assert "usual time" not in str(wv.replay(slow.without_times(), "random", BOX, **PRIOR))


@pytest.mark.parametrize(
    ("space", "points"),
    [
        (wv.Arms(3), [0, 1, 2, 1, 1, 0]),
        (
            wv.Space(gain=wv.Real(0.1, 10, log=True), mode=wv.Choice(["a", "b"])),
            [{"gain": 0.5 + row, "mode": "ab"[row % 2]} for row in range(6)],
        ),
        (wv.Box([(0, 10)]), [[row] for row in range(6)]),
    ],
)
def test_every_space_becomes_json_records_and_a_picture(space, points):
    log = wv.Log(points, [0.1, 0.5, 0.2, 0.4, 0.6, 0.0], metadata=[{"who": row} for row in range(6)])
    found = wv.replay(log, ["auto", "r-gp-ucb:period=3"], space, seed=1)
    whole = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert [entry["observations"] for entry in whole["algorithms"]] == [6, 6]
    assert [reset["step"] for reset in whole["algorithms"][1]["resets"]] == [3, 6]
    assert len(whole["algorithms"][0]["events"]) == 6
    assert "events" not in found.as_dict(events=False)["algorithms"][0]
    records = found.records()
    assert len(records) == 12
    assert [record["metadata.who"] for record in records] == [*range(6)] * 2
    assert len({tuple(record) for record in records}) == 1  # the same columns
    figure = found.plot()
    assert len(figure.axes) == 2 + 3
    figure.draw_without_rendering()


def test_the_picture_shows_what_was_measured_and_where_it_reset():
    found = wv.replay(made_up(times=False), ["et-gp-ucb:delta=0.2"], BOX, **PRIOR)
    top, alarms, sizes = found.plot().axes
    shown = np.concatenate([line.get_xydata() for line in top.lines if line.get_marker() in (".", "o")])
    expected = {(event.time, event.y) for event in found.accounts[0].events}
    assert {tuple(row) for row in shown.tolist()} == expected
    marks = [
        line.get_xdata()[0]
        for line in top.lines
        if len(line.get_xdata()) == 2 and line.get_marker() == "None"
    ]
    assert marks == found.accounts[0].resets.tolist()
    (size,) = sizes.lines
    assert size.get_ydata().tolist() == [event.size for event in found.accounts[0].events]
    assert alarms.get_yscale() == "log"


def test_one_measurement():
    found = wv.replay(wv.Log([[0.5]], [1.0]), "auto", wv.Box([(0, 1)]))
    assert "–" in str(found)
    json.dumps(found.as_dict(), allow_nan=False)
    found.plot().draw_without_rendering()


def test_a_path_is_read(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("x1,y\n0.1,1\n0.7,2\n0.4,1.5\n")
    found = wv.replay(path, "random", **PRIOR)
    assert found.log.source == str(path)
    assert found.accounts[0].events[1].y == 2.0
    assert len(wv.replay(read_log(path), "random", **PRIOR)) == 3
