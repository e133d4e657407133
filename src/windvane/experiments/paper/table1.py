"""Table 1 and the figure of its curves: dynamic regret within the model, R_T / T after 400 steps."""

from __future__ import annotations

from typing import Any

from windvane.experiments.claims import Check, Claim, close, judged
from windvane.experiments.experiment import Cell, Setting
from windvane.experiments.figures import curves, reset_strip
from windvane.experiments.paper.comparison import Paper, against, against_paper, beats
from windvane.experiments.paper.rates import HORIZON, objective
from windvane.experiments.results import Results
from windvane.experiments.tables import TextTable
from windvane.experiments.trial import TOLD, call
from windvane.plots.style import legend, sheet
from windvane.triggers import EDetector, ExactBound

COLUMNS = {  # column: (true rate, the rate that algorithms are told)
    "eps = 0.01": (0.01, 0.01),
    "eps = 0.03": (0.03, 0.03),
    "eps = 0.05": (0.05, 0.05),
    "told 0.001, true 0.05": (0.05, 0.001),
    "told 0.2, true 0.05": (0.05, 0.2),
}
RIGHT = list(COLUMNS)[:3]
WRONG = list(COLUMNS)[3:]
STATIC = {  # row: the algorithm and the options that depend on neither rate
    "GP-UCB": call("gp-ucb"),
    "ET-GP-UCB [0.01, 0.05]": call("et-gp-ucb[0.01,0.05]", horizon=HORIZON),
    "ET-GP-UCB [0.001, 0.1]": call("et-gp-ucb[0.001,0.1]", horizon=HORIZON),
    "ET-GP-UCB": call("et-gp-ucb"),
}
ROWS = ("GP-UCB", "R-GP-UCB", *list(STATIC)[1:], "TV-GP-UCB", "UI-TVBO")
BEYOND = {  # not in the paper, and told no rate either
    "ET-GP-UCB, ExactBound": call("et-gp-ucb", trigger=ExactBound(0.1)),
    "ET-GP-UCB, EDetector": call("et-gp-ucb", trigger=EDetector(0.1)),
    "auto": call("auto"),
}
TOLD_BEYOND = {"auto": ("kernel",)}  # it learns the noise, whatever it is told
NEAR = 0.15  # of the paper's median; its quartiles are about so far away
PAPER = {  # median, lower and upper quartile
    "GP-UCB": ((0.748, 0.610, 0.904), (1.051, 0.924, 1.243), *[(1.276, 1.088, 1.377)] * 3),
    "R-GP-UCB": (
        (0.622, 0.571, 0.681),
        (0.831, 0.770, 0.894),
        (0.985, 0.899, 1.035),
        (0.902, 0.829, 0.985),
        (1.054, 0.995, 1.119),
    ),
    "ET-GP-UCB [0.01, 0.05]": ((0.604, 0.531, 0.682), (0.778, 0.720, 0.841), *[(0.879, 0.824, 0.966)] * 3),
    "ET-GP-UCB [0.001, 0.1]": ((0.507, 0.448, 0.581), (0.688, 0.654, 0.782), *[(0.866, 0.806, 0.927)] * 3),
    "ET-GP-UCB": ((0.483, 0.407, 0.571), (0.686, 0.639, 0.738), *[(0.849, 0.748, 0.899)] * 3),
    "TV-GP-UCB": (
        (0.299, 0.258, 0.365),
        (0.500, 0.447, 0.565),
        (0.622, 0.582, 0.686),
        (0.960, 0.854, 1.036),
        (1.223, 1.126, 1.289),
    ),
    "UI-TVBO": (
        (0.351, 0.311, 0.376),
        (0.647, 0.600, 0.678),
        (0.868, 0.833, 0.904),
        (0.953, 0.839, 1.072),
        (1.381, 1.340, 1.417),
    ),
}


def cells(_: Setting) -> list[Cell]:
    """Every row on every column; where a row is told no rate, the last three columns are the same runs."""
    found = []
    for row in ROWS:
        for column, (true, told) in COLUMNS.items():
            algorithm = STATIC.get(row)
            if row == "R-GP-UCB":
                algorithm = call("r-gp-ucb", rate=told, horizon=HORIZON)
            elif algorithm is None:
                algorithm = call({"TV-GP-UCB": "tv-gp-ucb", "UI-TVBO": "ui-tvbo"}[row], rate=told)
            found.append(Cell(row, column, objective(true), algorithm))
    return found + [
        Cell(row, column, objective(true), algorithm, told=TOLD_BEYOND.get(row, TOLD))
        for row, algorithm in BEYOND.items()
        for column, (true, _) in COLUMNS.items()
    ]


def _paper(row: str, column: str) -> Paper | None:
    return None if row in BEYOND else Paper(*PAPER[row][list(COLUMNS).index(column)])


def table(results: Results) -> TextTable:
    """The paper's median and ours, cell by cell."""
    return against_paper(
        results,
        _paper,
        notes=(
            "The cell TV-GP-UCB, told 0.2 at a true rate of 0.05, does not reproduce. Eq. 5 with the "
            "exponent as derived gives about 0.70 and not 1.223, and so does scikit-learn's exact GP with "
            "the same kernel; with t + 1 as printed it gives about as little (both in "
            "tests/integration/test_paper.py). What else was tried is in the last section.",
            f"The last {len(BEYOND)} rows are not in the paper: ET-GP-UCB with the exact bound in place of "
            "Lemma 3's, with a trigger that adds up evidence over many steps (the paper's conclusion "
            "suggests one), and Windvane's default, which is told the kernel but neither noise nor rate. "
            + "; ".join(against(results, row, ["ET-GP-UCB"], RIGHT) for row in BEYOND)
            + ".",
        ),
    )


def figure(results: Results) -> Any:
    """Regret per step above, the resets of R-GP-UCB and ET-GP-UCB below, one column per rate."""
    shown = ("GP-UCB", "R-GP-UCB", "TV-GP-UCB", "UI-TVBO", "ET-GP-UCB", "ET-GP-UCB, EDetector", "auto")
    page, axes = sheet(2, len(COLUMNS), (15.0, 5.8), sharex=True, height_ratios=(3, 1.4))
    for number, column in enumerate(COLUMNS):
        curves(axes[0, number], {row: results[row, column] for row in shown}, column)
        reset_strip(axes[1, number], {row: results[row, column] for row in ("R-GP-UCB", "ET-GP-UCB")})
        axes[1, number].set_xlabel("step t")
        if number:
            axes[1, number].set_yticks([])
    top = max(panel.get_ylim()[1] for panel in axes[0])
    for panel in axes[0]:
        panel.set_ylim(0.0, top)
    axes[0, 0].set_ylabel("regret per step, $R_t / t$")
    legend(page, axes[0, 0], columns=len(shown))
    return page


def claims(results: Results) -> list[Claim]:
    """What Section 6.2.1 says of this table."""
    printed = {(row, column): Paper(*PAPER[row][i]) for row in ROWS for i, column in enumerate(COLUMNS)}
    near: dict[tuple[str, str], Check] = {
        cell: close(results[cell].average, paper.median, NEAR) for cell, paper in printed.items()
    }
    off = [f"{row}, {column}" for (row, column), fits in near.items() if fits is False]
    fit = sum(paper.low <= results[cell].median <= paper.high for cell, paper in printed.items())
    static = ("GP-UCB", "R-GP-UCB", "ET-GP-UCB [0.01, 0.05]", "ET-GP-UCB [0.001, 0.1]")
    varying = ("TV-GP-UCB", "UI-TVBO")
    others = [row for row in ROWS if row != "TV-GP-UCB"]
    return [
        judged(
            f"The medians of Table 1, within {NEAR:.0%} of the paper's.",
            near.values(),
            f"{fit} of {len(near)} medians lie within the paper's quartiles"
            + (f"; further off than {NEAR:.0%}: {'; '.join(off)}" if off else ""),
        ),
        judged(
            "ET-GP-UCB without bounds on the rate beats every algorithm with a static model, at every rate.",
            beats(results, "ET-GP-UCB", static, RIGHT),
            against(results, "ET-GP-UCB", static, RIGHT),
        ),
        judged(
            "Adaptive resets always beat periodic ones.",
            beats(results, "ET-GP-UCB", ["R-GP-UCB"], list(COLUMNS)),
            against(results, "ET-GP-UCB", ["R-GP-UCB"], list(COLUMNS)),
        ),
        judged(
            "TV-GP-UCB is the best of all when it is told the right rate.",
            beats(results, "TV-GP-UCB", others, RIGHT),
            against(results, "TV-GP-UCB", others, RIGHT),
        ),
        judged(
            "With the rate misjudged, ET-GP-UCB beats TV-GP-UCB and UI-TVBO.",
            beats(results, "ET-GP-UCB", varying, WRONG),
            against(results, "ET-GP-UCB", varying, WRONG),
        ),
    ]
