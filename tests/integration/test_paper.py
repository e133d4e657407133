"""The paper's figures and claims, measured: Table 1 at eps = 0.03, the cell that does not reproduce, Lemma 3."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, Matern

import windvane as wv
from windvane.experiments.experiment import Setting
from windvane.experiments.measures import run
from windvane.experiments.paper import lemma3, table1

CELLS = {(cell.row, cell.column): cell for cell in table1.cells(Setting())}


def averages(row, column, seeds):
    return [float(run(trial)["regret"].mean()) for trial in CELLS[row, column].trials(seeds)]


@pytest.mark.parametrize("row", ["GP-UCB", "R-GP-UCB", "TV-GP-UCB", "UI-TVBO", "ET-GP-UCB"])
def test_table_1_medians(row):
    """Within 0.06 of the paper's median over fifty seeds; within half of that, twenty settle it."""
    paper = table1.PAPER[row][list(table1.COLUMNS).index("eps = 0.03")][0]
    found = []
    for runs, width in ((20, 0.03), (50, 0.06)):
        found += averages(row, "eps = 0.03", range(len(found), runs))
        median = float(np.median(found))
        print(f"{row}: paper {paper:.3f}, here {median:.3f} over {runs} runs")
        if abs(median - paper) <= width:
            return
    pytest.fail(f"{row}: the paper has {paper:.3f}, here it is {median:.3f}")


def tv_gp_ucb_by_scikit_learn(seed, told, true, horizon, ahead=0.0):
    """TV-GP-UCB as Eq. 5 says, with scikit-learn's exact GP on a grid: nothing of ours but the objective.

    `ahead=1` is the exponent as it is printed, of the age t + 1 - i.
    """
    task = wv.task("within-model", rate=true, horizon=horizon, seed=seed)
    axis = np.linspace(0.0, 1.0, 31)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    memory = 2.0 / -math.log1p(-told)  # (1 - eps)^(dt / 2) = exp(-dt / memory)
    kernel = RBF([0.2, 0.2, 1e9], "fixed") * Matern([1e9, 1e9, memory], "fixed", nu=0.5)
    noise = np.random.default_rng((seed, 2)).standard_normal(horizon) * math.sqrt(0.02)
    asked, told_values, regret = [], [], []
    for t in range(1, horizon + 1):
        now = np.column_stack([grid, np.full(len(grid), t + ahead)])
        model = GaussianProcessRegressor(kernel, alpha=0.02, optimizer=None)
        if asked:
            model.fit(np.array(asked), np.array(told_values))
        mean, std = model.predict(now, return_std=True)
        x = grid[int(np.argmax(mean + math.sqrt(0.4 * math.log(4.0 * t)) * std))]
        value = task.value(x, t)
        regret.append(task.optimum(t) - value)
        asked.append([*x, float(t)])
        told_values.append(value + noise[t - 1])
    return float(np.mean(regret))


def test_the_cell_that_does_not_reproduce_is_not_our_doing():
    """TV-GP-UCB told 0.2 at a true 0.05: the paper prints 1.223 (1.126 to 1.289), Eq. 5 gives about 0.7."""
    horizon, seeds = 200, range(3)
    independent = [tv_gp_ucb_by_scikit_learn(seed, 0.2, 0.05, horizon) for seed in seeds]
    ours = []
    for seed in seeds:
        task = wv.task("within-model", rate=0.05, horizon=horizon, seed=seed)
        optimizer = wv.make(
            "tv-gp-ucb", task.space, kernel=task.kernel, noise_variance=0.02, rate=0.2, seed=seed
        )
        ours.append(wv.simulate(optimizer, task, seed=seed).average)
    printed = [tv_gp_ucb_by_scikit_learn(seed, 0.2, 0.05, horizon, ahead=1.0) for seed in seeds]
    assert np.mean(printed) < 0.95
    print(
        f"scikit-learn {np.round(independent, 3)}, as printed {np.round(printed, 3)}, Windvane {np.round(ours, 3)}"
    )
    assert np.mean(independent) < 0.95
    assert abs(np.mean(independent) - np.mean(ours)) < 0.12


STATIC_RUNS = (150, 1000)


def most(runs, delta):
    """So few runs with an alarm that a trigger with a share of delta has no more with at most 0.5 %."""
    return int(stats.binom.ppf(0.005, runs, delta)) - 1


def test_lemma_3_holds():
    """Static runs of 200 steps: the share with any alarm is at most delta.

    The shares are far below delta (0.2 %, 0.5 % and 2.9 % of `make lemma3`): the union bound and the sum of
    two separate widths are loose. So 150 runs settle it, but for one time in thirty, and then a thousand do.
    A trigger with a share of delta passes with a probability of at most 1 %, 0.5 % at either look.
    """
    cell = next(cell for cell in lemma3.cells(Setting()) if (cell.row, cell.column) == lemma3.CELL)
    found = []
    for runs in STATIC_RUNS:
        found += [run(trial) for trial in cell.trials(range(len(found), runs))]
        alarmed = {
            delta: sum(result[f"alarms {delta:g}"].size > 0 for result in found) for delta in lemma3.DELTAS
        }
        print(f"of {runs} runs: {alarmed}")
        if all(count <= most(runs, delta) for delta, count in alarmed.items()):
            return
    pytest.fail(f"too many of {runs} runs have an alarm, by delta: {alarmed}")
