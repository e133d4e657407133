"""Reset windows, reset times and bounds: fabricated results with known answers, and a real run as oracle."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from verdicts import drawn, verdicts

import windvane as wv
from windvane.experiments import measures
from windvane.experiments.experiment import Setting
from windvane.experiments.observed import run as observed
from windvane.experiments.paper import comparators, lemma3, rate_change, reset_times, theory, window_regret
from windvane.experiments.paper.windows import HORIZON, RATES, period, window
from windvane.experiments.regret_bounds import BoundProblem
from windvane.experiments.results import Group, Results
from windvane.experiments.trial import RunSpec, call

ALL = (comparators, lemma3, rate_change, reset_times, theory, window_regret)


def group(*runs):
    return Group(tuple(range(len(runs))), runs)


def constant(level, horizon, runs=24, resets=(), wobble=1e-3):
    """Runs whose R_T / T is `level`, give or take the same for every algorithm."""
    return group(
        *(
            {"regret": np.full(horizon, level + wobble * run), "resets": np.array(resets, dtype=np.int64)}
            for run in range(runs)
        )
    )


@pytest.mark.parametrize("module", ALL)
def test_every_cell_can_be_made_and_is_named_once(module):
    cells = module.cells(Setting())
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
    for cell in reset_times.cells(Setting()):
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
    return Results({("first reset", f"eps = {rate:g}"): runs for rate in reset_times.RATES})


def test_an_inverse_gamma_is_recognised_and_a_normal_is_not():
    assert verdicts(reset_times, drawn_from(stats.invgamma(5.0, scale=160.0), 12_000)) == ["holds", "holds"]
    symmetric = drawn_from(stats.norm(60.0, 10.0))
    assert verdicts(reset_times, symmetric)[1] != "holds"
    assert verdicts(reset_times, drawn_from(stats.norm(36.0, 1.0)))[0] == "does not hold"  # no tails
    assert verdicts(reset_times, drawn_from(stats.invgamma(6.0, scale=200.0), 19)) == ["undecided"] * 2
    assert verdicts(reset_times, drawn_from(stats.invgamma(6.0, scale=200.0), 200))[1] == "undecided"
    apart = reset_times.distances(np.arange(40, 81).repeat(5))
    assert min(apart, key=apart.get) == "normal"


def test_reset_times_table_and_figure():
    results = drawn_from(stats.invgamma(6.0, scale=200.0), 400)
    rows = reset_times.table(results).rows
    assert len(rows) == len(reset_times.RATES) * len(reset_times.SHARES)
    assert rows[0][1:6] == ("0", "38", "38", "38.0", "38")
    assert "our guess" in reset_times.table(results).notes[0]
    assert drawn(reset_times.figure(results))


def test_reset_times_without_a_single_alarm():
    results = Results({("first reset", f"eps = {rate:g}"): alarms([], []) for rate in reset_times.RATES})
    assert reset_times.table(results).rows[-1][-1] == "100.0%"
    assert verdicts(reset_times, results)[1] == "not tested"
    assert drawn(reset_times.figure(results))


# -- regret by window ------------------------------------------------------------------------------------


def by_window(ours, lows, fixed=0.8):
    found = {}
    for cell in window_regret.cells(Setting()):
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
    rows = window_regret.table(results).rows
    assert [row[1] for row in rows[:7]] == ["0", "10", "20", "40", "79", "140", "199"]
    assert rows[0][3] == "**0.811 (0.806–0.817)**"
    assert drawn(window_regret.figure(results))


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
    _, falls, best, rises = verdicts(window_regret, by_window(flat, flat))
    assert falls == rises == "holds in part"  # not at all from end to end, but it goes up and down by no step
    assert best == "holds"


def test_window_regret_with_few_runs():
    results = by_window(np.linspace(0.8, 0.6, 7), np.linspace(0.8, 1.9, 7))
    few = Results({cell: Group(g.seeds[:6], g.runs[:6]) for cell, g in results.items()})
    assert verdicts(window_regret, few) == ["undecided"] * 4


# -- a rate that changes ---------------------------------------------------------------------------------

FIRST, SECOND, THIRD = rate_change.PAIRS


def changed(slope, resets, runs=24):
    """TV-GP-UCB's regret a step rises after the change."""
    steps = np.arange(1, rate_change.HORIZON + 1)
    rising = 0.5 + slope * np.maximum(steps - rate_change.CHANGE, 0)
    found = {}
    for column in rate_change.PAIRS:
        for row in rate_change.ROWS:
            found[row, column] = constant(0.5, rate_change.HORIZON, runs)
        lines = [
            {"regret": rising + 1e-4 * run, "resets": np.array([], dtype=np.int64)} for run in range(runs)
        ]
        found["TV-GP-UCB", column] = group(*lines)
        found["ET-GP-UCB", column] = constant(0.5, rate_change.HORIZON, runs, resets, wobble=1e-4)
    return Results(found)


def test_rate_change():
    results = changed(0.002, resets=[100, 200, 300, 400, 500])
    assert verdicts(rate_change, results) == ["holds"] * 6
    before, after = rate_change.frequencies(results["ET-GP-UCB", FIRST])
    assert before == pytest.approx([100 / 174] * 24)
    assert after == pytest.approx([400 / 326] * 24)
    assert len(rate_change.table(results).rows) == 15
    assert drawn(rate_change.figure(results))
    assert verdicts(rate_change, changed(-0.001, resets=[50, 100])) == ["does not hold"] * 6
    assert verdicts(rate_change, changed(0.002, resets=[100, 200, 300], runs=19)) == ["undecided"] * 6


def test_the_rates_that_algorithms_are_told_are_the_first():
    told = {(c.row, c.column): c.algorithm.keywords().get("rate") for c in rate_change.cells(Setting())}
    assert [told["TV-GP-UCB", column] for column in (FIRST, SECOND, THIRD)] == [0.01, 0.001, 0.01]
    assert told["ET-GP-UCB", FIRST] is None


def test_trend_is_a_slope_in_hundred_steps():
    lines = np.outer([1.0, 3.0], np.arange(rate_change.HORIZON))
    assert rate_change.trend(lines) == pytest.approx([100.0, 300.0])


# -- theory ----------------------------------------------------------------------------------------------


def powers(exponent, widest=1.0):
    found = {}
    for cell in theory.cells(Setting()):
        rate = cell.task.keywords()["rate"]
        level = rate**exponent
        if cell.column.endswith(f"lambda = {theory.LAMBDAS[-1]}"):
            level *= widest
        found[cell.row, cell.column] = constant(level, theory.HORIZON, wobble=0.0)
    return Results(found)


def test_theory_reads_the_exponent():
    results = powers(0.25, widest=0.9)
    assert theory.exponents(results, "R-GP-UCB") == pytest.approx([0.25] * 24)
    assert verdicts(theory, results)[:6] == ["holds"] * 6
    assert drawn(theory.figure(results))
    rows = theory.table(results).rows
    assert len(rows) == 2 * len(theory.RATES) + len(theory.LAMBDAS) - 1 + len(theory.FREE)


def test_theory_sees_what_does_not_hold():
    found = verdicts(theory, powers(0.05, widest=1.1))
    assert found[1:4] == ["does not hold", "holds", "does not hold"]  # the bound is a computation


def test_blocks_are_what_lies_between_resets():
    assert theory.blocks(np.array([], dtype=np.int64)) == [theory.HORIZON]
    assert theory.blocks(np.array([theory.HORIZON])) == [theory.HORIZON]
    assert sum(theory.blocks(np.array([3, 4, 100]))) == theory.HORIZON


def test_the_bound_of_measured_blocks():
    """Of equal blocks it is Theorem 1 but for the block that is added there; of unequal ones it is lower."""
    whole, equal = theory.bound(0.03, (40, 40)), theory.measured_bound(0.03, [40] * 10)
    assert equal.mean_mismatch == pytest.approx(whole.mean_mismatch)
    assert equal.variance_mismatch == pytest.approx(whole.variance_mismatch)
    assert equal.exploration == pytest.approx(whole.exploration * (10 / 11) ** 0.5)
    unequal = theory.measured_bound(0.03, [10] * 20 + [200])
    assert unequal.total < theory.bound(0.03, (10, 200)).total


# -- false alarms, from the start and after a reset ------------------------------------------------------


def after(share, kept, emptied, runs=100):
    """So many runs of a hundred with an alarm from the start; of all, with another one after a reset."""
    some = np.array([3])
    none = np.array([], dtype=np.int64)
    static = [
        {f"alarms {d:g}": some if i < share * d * runs else none for d in lemma3.DELTAS} for i in range(runs)
    ]
    found = {lemma3.CELL: group(*static)}
    for name in lemma3.AFTER:
        found[lemma3.ROW, name] = group(
            *(
                {"first": some, "kept": some if i < kept else none, "emptied": some if i < emptied else none}
                for i in range(runs)
            )
        )
    return Results(found)


@pytest.mark.parametrize(
    ("share", "kept", "runs", "expected"),
    [
        (0.0, 1, 100, ["holds", "holds"]),
        (3.0, 90, 100, ["does not hold", "does not hold"]),
        (1.0, 10, 100, ["undecided", "holds in part"]),  # half of the deltas are 0.5
        (0.01, 1, 19, ["undecided", "undecided"]),
    ],
)
def test_lemma_3_is_judged_by_shares(share, kept, runs, expected):
    results = after(share, kept, 0, runs)
    assert verdicts(lemma3, results) == expected
    assert drawn(lemma3.figure(results))
    assert len(lemma3.table(results).rows) == len(lemma3.DELTAS) + len(lemma3.AFTER)


def test_an_alarm_is_followed_up_with_the_kept_point_and_without():
    """Oracle: a real run with the trigger, whose resets are the first alarm and, with the point, the next."""
    steps, since, horizon = 15, 31, 60
    how = call("et-gp-ucb", trigger=wv.PosteriorBound(0.99))
    measure = call("after alarm", since=since, steps=steps)
    follow = []
    for seed in range(8):
        found = observed(
            RunSpec(call("jumps", count=1, horizon=horizon, grid=20), how, seed, measure=measure)
        )
        task = wv.task("jumps", count=1, horizon=horizon, grid=20, seed=seed)
        told = {"kernel": task.kernel, "noise_variance": task.noise_variance}
        real = wv.make("et-gp-ucb", task.space, seed=seed, **told, **how.keywords())
        resets = [int(step) for step in wv.simulate(real, task, seed=seed).resets if step >= since]
        if found["first"].size:
            assert found["first"][0] == resets[0]
            later = [step - resets[0] for step in resets[1:2] if step - resets[0] <= steps]
            assert found["kept"].tolist() == later
            follow.append(bool(later))
        else:
            assert not resets or resets[0] > horizon - steps
    assert len(follow) >= 4


# -- comparators that stay -------------------------------------------------------------------------------


def test_what_a_fixed_point_loses_by_hand():
    cell = next(c for c in comparators.cells(Setting()) if c.row == comparators.LOSS)
    task = wv.task("within-model", rate=0.5, horizon=7, grid=5, seed=2)
    fields = np.array([task.field(t) for t in range(1, 8)])
    spec = RunSpec(
        call("within-model", rate=0.5, horizon=7, grid=5),
        cell.algorithm,
        2,
        measure=call("comparators", windows=(1, 3, 7)),
    )
    found = observed(spec)
    best = fields.max(axis=(1, 2)).sum()
    assert found["loss 1"] == pytest.approx([0.0])
    parts = [fields[a:b].sum(axis=0).max() for a, b in ((0, 3), (3, 6), (6, 7))]
    assert found["loss 3"] == pytest.approx([best - sum(parts)])
    assert found["loss 7"] == pytest.approx([best - fields.sum(axis=0).max()])


def stays(ours, rival, loss):
    found = {}
    for cell in comparators.cells(Setting()):
        level = ours if cell.row == "ET-GP-UCB" else rival
        found[cell.row, cell.column] = constant(level, comparators.HORIZON)
        if cell.row == comparators.LOSS:
            total = loss * comparators.HORIZON
            runs = [{f"loss {w}": np.array([total * (w > 1)]) for w in comparators.WINDOWS}] * 24
            found[cell.row, cell.column] = group(*runs)
    return Results(found)


def test_comparators_that_stay():
    results = stays(0.5, 0.8, 0.6)
    assert verdicts(comparators, results) == ["holds", "holds"]
    assert verdicts(comparators, stays(0.9, 0.8, 0.6)) == ["does not hold", "does not hold"]
    assert verdicts(comparators, stays(0.8, 0.8, 0.6))[0] == "undecided"
    rows = comparators.table(results).rows
    assert len(rows) == 3 * len(comparators.ROWS)
    assert drawn(comparators.figure(results))


def test_the_bound_grows_with_the_window_and_the_rate():
    problem = BoundProblem.of()
    assert problem.gain(50) > problem.gain(10) > 0
    narrow, wide = problem.within((29, 29), 0.03, 400), problem.within((13, 69), 0.03, 400)
    assert wide.total > narrow.total > problem.within((29, 29), 0.01, 400).total
    assert problem.within((400, 400), 0.0, 400).mean_mismatch == 0.0
