"""`wv.calibrate`: what theory says comes out, the same for everyone; the report; bad input."""

import json
import math
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import windvane as wv
from windvane.calibration import Calibration, CalibrationRow

LINE = wv.Box([(0, 1)])
ARMS_KERNEL = wv.Empirical(np.cov(np.random.default_rng(0).normal(size=(6, 40))) + 0.5)
GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.02}
SMALL = {"deltas": (0.1,), "steps": 8, "jumps": (1.0,), "runs": 2}


# -- what theory says --------------------------------------------------------------------------------------


def test_false_alarms_have_the_probability_that_theory_gives_them():
    steps, runs, delta = 8, 250, 0.6
    told = {"kernel": ARMS_KERNEL, "noise_variance": 0.02}
    triggers = [wv.Likelihood(delta), wv.ExactBound(delta), wv.PosteriorBound(delta)]
    report = wv.calibrate(
        "et-gp-ucb", wv.Arms(6), **told, triggers=triggers, steps=steps, runs=runs, jumps=(1,), jump_at=steps
    )
    spent = 6 / (np.pi * np.arange(1, steps + 1)) ** 2  # 1 / pi_t
    exact = [1 - np.prod(1 - delta * spent), 1 - (1 - delta) ** spent.sum()]
    likelihood, exact_bound, posterior_bound = (row.false_alarms for row in report.rows)
    for found, truth in zip((likelihood, exact_bound), exact, strict=True):
        assert found == pytest.approx(truth, abs=4 * math.sqrt(truth * (1 - truth) / runs))
    assert 0.0 < posterior_bound <= delta  # Lemma 3
    assert posterior_bound < likelihood <= exact_bound


def test_larger_jumps_are_noticed_sooner():
    report = wv.calibrate(
        "et-gp-ucb", LINE, **GIVEN, triggers=[wv.ExactBound(0.1)], steps=24, jumps=(0.05, 0.3, 1.0), runs=40
    )
    small, middle, large = (report.rows[0].delay(jump) for jump in report.jumps)
    assert small.mean > middle.mean > large.mean
    assert small.noticed < middle.noticed < large.noticed


def test_noise_that_was_underestimated_raises_alarms():
    options = {"deltas": (0.1,), "steps": 20, "jumps": (1.0,), "runs": 15}
    right = wv.calibrate("et-gp-ucb", LINE, **GIVEN, **options)
    wrong = wv.calibrate("et-gp-ucb", LINE, **GIVEN, **options, true_noise_variance=0.2)
    assert right.rows[0].false_alarms < 0.1 < 0.5 < wrong.rows[0].false_alarms
    assert "noise variance 0.2, told noise_variance=0.02" in str(wrong)


def test_a_wrong_kernel_raises_alarms_and_a_learned_one_can_be_simulated():
    options = {"deltas": (0.1,), "steps": 10, "jumps": (1.0,), "runs": 10, "true_kernel": wv.RBF(0.2, 9.0)}
    wrong = wv.calibrate("et-gp-ucb", LINE, **GIVEN, **options)
    assert wrong.rows[0].false_alarms > 0.5
    options.update(runs=2, steps=6, true_noise_variance=0.02)
    learned = wv.calibrate("et-gp-ucb", LINE, **options)
    assert "kernel learned, noise_variance learned" in str(learned)


# -- the same for everyone, and again -------------------------------------------------------------------------


def test_processes_and_executors_give_the_same_report():
    options = {**GIVEN, "deltas": (0.1, 0.9), "steps": 12, "jumps": (0.3, 1.0), "runs": 5, "seed": 4}
    here = wv.calibrate("et-gp-ucb", LINE, **options).as_dict()
    assert wv.calibrate("et-gp-ucb", LINE, **options, jobs=2).as_dict() == here
    with ThreadPoolExecutor(2) as pool:
        assert wv.calibrate("et-gp-ucb", LINE, **options, jobs=pool).as_dict() == here
    assert wv.calibrate("et-gp-ucb", LINE, **{**options, "seed": 5}).as_dict() != here
    json.dumps(here, allow_nan=False)


def test_company_changes_nothing():
    options = {**GIVEN, "steps": 12, "jumps": (0.3, 1.0), "runs": 6}
    together = wv.calibrate("et-gp-ucb", LINE, **options, deltas=(0.9, 0.1, 0.99))
    alone = wv.calibrate("et-gp-ucb", LINE, **{**options, "jumps": (1.0,)}, deltas=(0.99,))
    assert together.rows[2].alarms == alone.rows[0].alarms
    np.testing.assert_array_equal(together.rows[2].delays[:, 1], alone.rows[0].delays[:, 0])


def test_progress():
    seen = []
    wv.calibrate(
        "et-gp-ucb", LINE, **GIVEN, **SMALL, on_progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(0, 2), (1, 2), (2, 2)]


# -- the report -----------------------------------------------------------------------------------------------

INF = math.inf


def row(label, alarmed, delays, runs=100):
    alarms = tuple((3, 9) if run < alarmed else () for run in range(runs))
    choice = float(label)
    return CalibrationRow(choice, label, alarms, np.array(delays, dtype=float), (0.3, 1.0), 50)


def report_of(*rows):
    return Calibration("et-gp-ucb", "a line", "delta", rows, (0.3, 1.0), 100, 51, 100, 0)


MADE_UP = report_of(
    row("0.01", 0, [[INF, 4]] * 60 + [[30, 2]] * 40),
    row("0.1", 4, [[20, 2]] * 100),
    row("0.5", 30, [[5, 3]] * 100),
)


def test_summaries():
    first, second, _ = MADE_UP.rows
    assert first.delay(0.3) == (INF, 30, INF, 0.4, 0.4 * 30 + 0.6 * 50)
    assert first.delay(1.0) == (4, 2, 4, 1.0, 0.4 * 2 + 0.6 * 4)
    assert (second.false_alarms, second.alarms_per_run) == (0.04, 0.08)
    z, p, n = stats.norm.ppf(0.975), 0.04, 100  # Wilson (1927)
    centre, half = (p + z * z / (2 * n)), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    wilson = [(centre + side * half) / (1 + z * z / n) for side in (-1, 1)]
    assert second.false_alarms_interval == pytest.approx(wilson)
    assert first.false_alarms_interval[0] == 0.0
    counts = [2] * 4 + [0] * 96
    assert second.alarms_per_run_error == pytest.approx(z * stats.sem(counts))


def test_choose():
    assert MADE_UP.choose(0.05) == 0.1
    assert MADE_UP.choose(0.03) == 0.01
    assert MADE_UP.choose(1.0) == 0.5  # mean delays 36.6 (0.01), 11 (0.1) and 4
    assert MADE_UP.choose(1.0, jump=1.0) == 0.1
    assert MADE_UP.choose(0.05, cautious=True) == 0.01  # 4 of 100: up to 9.8 %
    tie = report_of(row("0.2", 5, [[1, 1]] * 100), row("0.1", 0, [[1, 1]] * 100))
    assert tie.choose(0.05) == 0.1


def test_nothing_to_choose():
    strict = report_of(*MADE_UP.rows[1:])
    with pytest.raises(
        wv.InvalidArgument, match=r"false_alarms=0.01: no delta .* 4.0% of runs, with 0.1. Try"
    ):
        strict.choose(0.01)
    with pytest.raises(wv.InvalidArgument, match="more runs"):
        MADE_UP.choose(0.001, cautious=True)
    for bad in (-0.1, 1.5, math.nan, "0.1", True):
        with pytest.raises(wv.WindvaneError, match="false_alarms"):
            MADE_UP.choose(bad)
    with pytest.raises(wv.InvalidArgument, match=r"jump=0.7: must be one of the simulated jumps, 0.3, 1"):
        MADE_UP.choose(0.5, jump=0.7)


def test_printing():
    expected = """\
et-gp-ucb on a line

             false alarms                           jump 0.3          jump 1
delta       runs with any  number per run     delay, noticed  delay, noticed
-----  ------------------  --------------  -----------------  --------------
0.01      0.0% (0.0–3.7%)     0.00 ± 0.00  >50 (30–>50), 40%   4 (2–4), 100%
0.1       4.0% (1.6–9.8%)     0.08 ± 0.08   20 (20–20), 100%   2 (2–2), 100%
0.5    30.0% (21.9–39.6%)     0.60 ± 0.18      5 (5–5), 100%   3 (3–3), 100%

False alarms: in 100 steps while nothing changes; 95 % intervals of 100 runs.
Delay: observations from a jump at step 51 to the reset, median (quartiles); and the share of runs in which it came.
A jump of size s replaces a share s of the function's variance; 1 is an entirely new function."""
    assert str(MADE_UP) == expected


def test_plot(tmp_path):
    figure = MADE_UP.plot()
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    left, right = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()] == [
        f"$\\delta$ = {d}" for d in (0.01, 0.1, 0.5)
    ]
    dots = [line for line in left.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(dots[0].get_xdata(), [0.0, 4.0, 30.0])
    late = [
        line.get_xydata().tolist()
        for line in right.lines
        if line.get_marker() == ">" and len(line.get_xdata())
    ]
    assert late == [[[1.35 * 50, -0.25]]]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["jump 0.3", "jump 1"]
    joined = [line for line in right.lines if line.get_linestyle() == "-" and len(line.get_xdata()) == 3]
    assert len(joined) == 2
    triggers = replace(MADE_UP, kind="trigger").plot()  # which have no order
    assert not [
        line for line in triggers.axes[1].lines if line.get_linestyle() == "-" and len(line.get_xdata()) == 3
    ]
    assert [label.get_text() for label in triggers.axes[0].get_yticklabels()] == ["0.01", "0.1", "0.5"]


# -- bad input --------------------------------------------------------------------------------------------------

NAN = math.nan
COUNTS = [0, -1, 1, 1.5, "3", NAN, True, None]
BAD = {
    "algorithm": ["gp-ucb", "et", 5, None, "igp-ucb"],
    "space": [None, 5, [(0, 1)], wv.Box],
    "kernel": [5, "rbf", wv.RBF, wv.RBF([0.1, 0.2]), wv.RBF(0.2) * wv.Markov(0.1), None, wv.Markov(0.1)],
    "noise_variance": [0.0, -1.0, NAN, "0.1", True, None],
    "deltas": [[], 0.1, "0.1", [0.0], [1.0], [NAN], ["a"], [0.1, 0.1], [True], {0.1, 0.2}],
    "triggers": [[], 5, [5], [wv.PosteriorBound], ["never"], [wv.Likelihood(0.1)] * 2],
    "steps": COUNTS,
    "jumps": [[], 0.5, "a", [0.0], [1.5], [-0.1], [NAN], ["a"], [1.0, 1.0], None],
    "jump_at": [0, 1, 9, -3, 2.5, "3", NAN, True],
    "runs": COUNTS,
    "seed": [-1, 1.5, "0", NAN, True, None],
    "true_kernel": [5, "rbf", wv.RBF, wv.RBF([0.1, 0.2]), wv.RBF(0.2) * wv.Markov(0.1), ARMS_KERNEL],
    "true_noise_variance": [-0.1, NAN, INF, "0.1", True],
    "jobs": [0, -1, 1.5, "2", NAN, True, None],
    "on_progress": [5, "bar"],
    "delta": [0.1],
    "trigger": [wv.Likelihood(0.1)],
    "beta": ["x", -1.0],
    "colour": ["red"],
    "rate": [0.1],
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_are_named_before_anything_runs(name, monkeypatch):
    def started(*_):
        raise AssertionError("a run was started")

    monkeypatch.setattr(sys.modules["windvane.calibration.calibrate"], "one_run", started)
    for value in BAD[name]:
        given = {"algorithm": "et-gp-ucb", "space": LINE, **GIVEN, **SMALL, name: value}
        if name == "triggers":
            del given["deltas"]
        with pytest.raises(wv.WindvaneError, match=name) as error:
            wv.calibrate(given.pop("algorithm"), given.pop("space"), **given)
        assert len(str(error.value)) > len(name) + 10


def test_deltas_or_triggers():
    with pytest.raises(wv.InvalidArgument, match="give one of the two"):
        wv.calibrate("et-gp-ucb", LINE, **GIVEN, **SMALL, triggers=[wv.Likelihood(0.1)])


def test_what_is_to_be_learned_must_be_told_as_the_truth():
    with pytest.raises(wv.InvalidArgument, match=r"kernel: needed to draw functions from.*true_kernel="):
        wv.calibrate("et-gp-ucb", LINE, **SMALL)
    with pytest.raises(wv.InvalidArgument, match=r"noise_variance: needed.*true_noise_variance="):
        wv.calibrate("et-gp-ucb", LINE, kernel=wv.RBF(0.2), **SMALL)


def test_the_options_of_a_fit_can_be_handed_on():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(40, 1))
    fit = wv.fit(LINE, X, 100 + 5 * np.sin(9 * X[:, 0]) + rng.normal(size=40))
    report = wv.calibrate("et-gp-ucb", LINE, **fit.options, **SMALL)
    assert report.rows[0].false_alarms == 0.0
