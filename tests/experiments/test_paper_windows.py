"""Reset windows, reset times and bounds: fabricated results with known answers, and a real run as oracle."""

import io
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

import windvane as wv
from windvane.experiments import measures
from windvane.experiments.experiment import Setting
from windvane.experiments.paper import rate_change, reset_times, theory, window_regret
from windvane.experiments.paper.windows import HORIZON, RATES, period, window
from windvane.experiments.regret_bounds import BoundProblem
from windvane.experiments.results import Group, Results

ALL = (rate_change, reset_times, theory, window_regret)


def group(*runs):
    return Group(tuple(range(len(runs))), runs)


def constant(level, horizon, runs=8, resets=(), wobble=1e-3):
    """Runs whose R_T / T is `level`, give or take the same for every algorithm."""
    return group(
        *(
            {"regret": np.full(horizon, level + wobble * run), "resets": np.array(resets, dtype=np.int64)}
            for run in range(runs)
        )
    )


def drawn(figure):
    """Whether a figure can be drawn at all."""
    page = io.BytesIO()
    figure.savefig(page, format="png", dpi=40)
    return page.tell() > 1000


def verdicts(module, results):
    return [claim.verdict for claim in module.EXPERIMENT.claims(results)]


@pytest.mark.parametrize("module", ALL)
def test_every_cell_can_be_made_and_is_named_once(module):
    cells = module.EXPERIMENT.cells(Setting())
    assert len({(cell.row, cell.column) for cell in cells}) == len(cells)
    for cell in cells:
        trial = cell.trials(range(1))[0]
        assert trial.key
        measures.optimizer_for(trial, measures._task(cell.task, 0))


# -- windows ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", RATES)
def test_windows_grow_from_the_period_to_everything(rate):
    found = [window(rate, share) for share in np.linspace(0, 1, 21)]
    assert found[0] == (period(rate),) * 2
    assert found[-1] == (1, HORIZON)
    for (low, high), (lower, higher) in pairwise(found):
        assert lower <= low <= period(rate) <= high <= higher


# -- reset times -----------------------------------------------------------------------------------------


def test_the_first_reset_equals_that_of_a_real_run_with_the_window():
    for cell in reset_times.EXPERIMENT.cells(Setting()):
        rate = cell.task.keywords()["rate"]
        trials = cell.trials(range(3))
        runs = group(*(measures.run(trial) for trial in trials))
        for share in (0.0, 0.1, 0.3, 1.0):
            limits = window(rate, share)
            steps, forced = reset_times.first_resets(runs, limits)
            for trial, step, late in zip(trials, steps, forced, strict=True):
                task = wv.task("within-model", rate=rate, horizon=HORIZON, seed=trial.seed)
                told = {"kernel": task.kernel, "noise_variance": task.noise_variance}
                real = wv.make("et-gp-ucb", task.space, reset_window=limits, seed=trial.seed, **told)
                trace = wv.simulate(real, task, seed=trial.seed, steps=int(step))
                assert trace.resets.tolist() == [step]  # at the last step and at none before
                assert trace.events[-1].reason.startswith("forced") == late


def alarms(*runs):
    return group(*({"alarms 0.1": np.array(steps, dtype=np.int64)} for steps in runs))


def test_first_resets_by_hand():
    runs = alarms([], [5, 40], [30], [12, 150])
    steps, forced = reset_times.first_resets(runs, (10, 50))
    assert steps.tolist() == [50, 40, 30, 12]
    assert forced.tolist() == [True, False, False, False]
    steps, forced = reset_times.first_resets(runs, (1, 200))
    assert steps.tolist() == [200, 5, 30, 12]
    assert forced.tolist() == [True, False, False, False]


def drawn_from(law, count=4000):
    times = law.rvs(count, random_state=np.random.default_rng(1)).round().astype(int).clip(1, None)
    runs = alarms(*([time] if time <= HORIZON else [] for time in times))
    return Results({("first reset", f"eps = {rate:g}"): runs for rate in RATES})


def test_an_inverse_gamma_is_recognised_and_a_normal_is_not():
    assert verdicts(reset_times, drawn_from(stats.invgamma(6.0, scale=200.0))) == ["holds", "holds"]
    symmetric = drawn_from(stats.norm(60.0, 10.0))
    assert verdicts(reset_times, symmetric)[1] != "holds"
    assert verdicts(reset_times, drawn_from(stats.norm(32.0, 1.0)))[0] == "does not hold"  # no tails
    apart = reset_times.distances(np.arange(40, 81).repeat(5))
    assert min(apart, key=apart.get) == "normal"


def test_reset_times_table_and_figure():
    results = drawn_from(stats.invgamma(6.0, scale=200.0), 400)
    rows = reset_times.EXPERIMENT.table(results).rows
    assert len(rows) == len(RATES) * len(reset_times.SHARES)
    assert rows[0][1:6] == ("0", "29", "29", "29.0", "29")
    assert drawn(reset_times.EXPERIMENT.figure(results))


def test_reset_times_without_a_single_alarm():
    results = Results({("first reset", f"eps = {rate:g}"): alarms([], []) for rate in RATES})
    assert reset_times.EXPERIMENT.table(results).rows[-1][-1] == "100.0%"
    assert verdicts(reset_times, results)[1] == "not tested"
    assert drawn(reset_times.EXPERIMENT.figure(results))


# -- regret by window ------------------------------------------------------------------------------------


def by_window(ours, lows, fixed=0.8):
    found = {}
    for cell in window_regret.EXPERIMENT.cells(Setting()):
        number = next(
            i
            for rate in RATES
            for i, share in enumerate(window_regret.SHARES)
            if window_regret._column(rate, share) == cell.column
        )
        level = {"ET-GP-UCB": ours, "always N_low": lows}.get(cell.row, [fixed] * 7)[number]
        found[cell.row, cell.column] = constant(level, HORIZON)
    return Results(found)


def test_window_regret_as_the_paper_says():
    down, up = np.linspace(0.8, 0.6, 7), np.linspace(0.8, 1.9, 7)
    results = by_window(down, up)
    assert verdicts(window_regret, results) == ["holds"] * 4
    rows = window_regret.EXPERIMENT.table(results).rows
    assert [row[1] for row in rows[:7]] == ["0", "10", "20", "40", "79", "140", "199"]
    assert rows[0][3] == "**0.804 (0.802–0.805)**"
    assert drawn(window_regret.EXPERIMENT.figure(results))


def test_window_regret_the_other_way_round():
    up, down = np.linspace(0.81, 1.9, 7), np.linspace(0.8, 0.6, 7)
    assert verdicts(window_regret, by_window(up, down)) == [
        "does not hold",
        "does not hold",  # although the bound rises all the same
        "does not hold",
        "does not hold",
    ]


def test_window_regret_that_is_flat_neither_falls_nor_rises():
    flat = np.full(7, 0.7)
    _, falls, _, rises = verdicts(window_regret, by_window(flat, flat))
    assert falls == rises == "does not hold"


# -- a rate that changes ---------------------------------------------------------------------------------


def changed(slope, resets):
    """TV-GP-UCB's regret a step rises after the change."""
    steps = np.arange(1, rate_change.HORIZON + 1)
    found = {(row, rate_change.COLUMN): constant(0.5, rate_change.HORIZON) for row in rate_change.ROWS}
    rising = 0.5 + slope * np.maximum(steps - rate_change.CHANGE, 0)
    runs = [{"regret": rising + 1e-4 * run, "resets": np.array([], dtype=np.int64)} for run in range(4)]
    found["TV-GP-UCB", rate_change.COLUMN] = group(*runs)
    found["ET-GP-UCB", rate_change.COLUMN] = constant(0.5, rate_change.HORIZON, 4, resets)
    return Results(found)


def test_rate_change():
    results = changed(0.002, resets=[100, 200, 300, 400, 500])
    assert verdicts(rate_change, results) == ["holds", "holds"]
    before, after = rate_change.frequencies(results["ET-GP-UCB", rate_change.COLUMN])
    assert before == pytest.approx([100 / 174] * 4)
    assert after == pytest.approx([400 / 326] * 4)
    assert len(rate_change.EXPERIMENT.table(results).rows) == 5
    assert drawn(rate_change.EXPERIMENT.figure(results))
    assert verdicts(rate_change, changed(-0.001, resets=[50, 100])) == ["does not hold", "does not hold"]


def test_trend_is_a_slope_in_hundred_steps():
    lines = np.outer([1.0, 3.0], np.arange(rate_change.HORIZON))
    slope, error = rate_change.trend(lines)
    assert slope == pytest.approx(200.0)
    assert error == pytest.approx(100.0)


# -- theory ----------------------------------------------------------------------------------------------


def powers(exponent, widest=1.0):
    found = {}
    for cell in theory.EXPERIMENT.cells(Setting()):
        rate = cell.task.keywords()["rate"]
        level = rate**exponent
        if cell.column.endswith(f"lambda = {theory.LAMBDAS[-1]}"):
            level *= widest
        found[cell.row, cell.column] = constant(level, theory.HORIZON, wobble=0.0)
    return Results(found)


def test_theory_reads_the_exponent():
    results = powers(0.25, widest=0.9)
    assert theory.exponent(results, "R-GP-UCB")[0] == pytest.approx(0.25)
    assert verdicts(theory, results) == ["holds"] * 6
    assert drawn(theory.EXPERIMENT.figure(results))
    rows = theory.EXPERIMENT.table(results).rows
    assert len(rows) == 2 * len(theory.RATES) + len(theory.LAMBDAS) - 1


def test_theory_sees_what_does_not_hold():
    found = verdicts(theory, powers(0.05, widest=1.1))
    assert found[1:4] == ["does not hold", "holds", "does not hold"]  # the bound is a computation


def test_the_bound_grows_with_the_window_and_the_rate():
    problem = BoundProblem.of()
    assert problem.gain(50) > problem.gain(10) > 0
    narrow, wide = problem.within((29, 29), 0.03, 400), problem.within((13, 69), 0.03, 400)
    assert wide.total > narrow.total > problem.within((29, 29), 0.01, 400).total
    assert problem.within((400, 400), 0.0, 400).mean_mismatch == 0.0
