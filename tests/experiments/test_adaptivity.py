"""Ratios, verdicts, page and heat map from fabricated results whose answers are known."""

import json
import math

import numpy as np
import pytest

from windvane.entries import Entry
from windvane.errors import StorageFailure, UnknownName
from windvane.experiments import adaptivity, adaptivity_page, heatmap, leaderboard, suite
from windvane.experiments.adaptivity_page import Terms
from windvane.experiments.results import Group, Results

ENTRIES = [Entry("auto"), Entry("auto", (("blind", True),)), Entry("tv-gp-ucb"), Entry("random")]
RUNS = range(4000, 4005)
#          static, jumps, Ackley
MEDIANS = {
    "auto": (1.00, 1.60, 0.50),
    "auto (told nothing)": (1.09, 3.00, 0.90),
    "tv-gp-ucb": (1.00, 0.80, 2.00),
    "random": (9.00, 8.00, 6.00),
}
TASKS = ("static", "jumps", "Ackley")
SPREAD = (0.8, 0.9, 1.0, 1.1, 1.2)


def group(median, spread=SPREAD):
    runs = tuple({"regret": np.array([median * s]), "resets": np.array([], dtype=np.int64)} for s in spread)
    return Group(tuple(RUNS), runs)


def results(medians=MEDIANS):
    return Results(
        {
            (row, task): group(value)
            for row, values in medians.items()
            for task, value in zip(TASKS, values, strict=True)
        }
    )


@pytest.fixture(scope="module")
def arenas():
    found, _ = suite.arenas(seed=4000, data=None)
    return [arena for arena in found if arena.label in TASKS]


@pytest.fixture
def outcome_of(arenas):
    def build(medians=MEDIANS, entries=ENTRIES, seeds=RUNS):
        found = results(medians)
        terms = Terms(
            entries, arenas, seeds, ["shares: they need data."], 0.03, "windvane bench --suite standard"
        )
        return adaptivity_page.outcome(found, {task: found["random", task] for task in TASKS}, terms)

    return build


def test_a_duel_is_with_the_best_rival_of_the_task():
    static, jumps, ackley = adaptivity.duels(results(), "auto", ["tv-gp-ucb", "random"])
    assert (static.rival, static.ratio, static.close) == ("tv-gp-ucb", 1.0, True)
    assert (jumps.rival, jumps.ratio, jumps.close) == ("tv-gp-ucb", 2.0, False)
    assert (ackley.regret, ackley.rival_regret, ackley.ratio) == (0.5, 2.0, 0.25)
    assert adaptivity.losses([static, jumps, ackley]) == [jumps]
    with pytest.raises(UnknownName, match="auto: has no rival"):
        adaptivity.duels(results(), "auto", [])


def test_ten_per_cent_is_ten_per_cent():
    for ratio, close in ((1.0999, True), (1.10, True), (1.1001, False)):
        assert adaptivity.Duel("t", ratio, "r", 1.0, ratio, 1.0, 2.0).close is close


def test_the_interval_is_paired_by_seed():
    """Twice the rival in every run: whatever seeds are drawn, the ratio is 2."""
    assert adaptivity.ratio_with_interval(group(2.0), group(1.0)) == pytest.approx((2.0, 2.0, 2.0))
    turned = group(2.0, SPREAD[::-1])
    ratio, low, high = adaptivity.ratio_with_interval(turned, group(1.0))
    assert ratio == 2.0
    assert low < 1.7
    assert high > 2.3


def test_the_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(3)
    seen = 0
    for _ in range(60):
        luck = rng.lognormal(0.0, 0.3, size=40)
        own, other = (group(1.0, tuple(luck * rng.lognormal(m, 0.2, size=40))) for m in (math.log(1.3), 0.0))
        own, other = (Group(tuple(range(40)), one.runs) for one in (own, other))
        _, low, high = adaptivity.ratio_with_interval(own, other)
        seen += low <= 1.3 <= high
    assert 50 <= seen <= 60  # 57 expected, with a standard deviation of 1.7


def test_no_regret_at_all_is_a_ratio_of_one_or_of_infinity():
    assert adaptivity.ratio_with_interval(group(0.0), group(0.0)) == (1.0, 1.0, 1.0)
    assert adaptivity.ratio_with_interval(group(1.0), group(0.0)) == (math.inf, math.inf, math.inf)


def test_the_order_is_by_the_worst_ratio(outcome_of):
    board = outcome_of().board
    # To the best of all: auto 1, 2, 1; told nothing 1.09, 3.75, 1.8; tv-gp-ucb 1, 1, 4; random 9, 10, 12.
    found = [(s.position, s.algorithm, round(s.worst_ratio, 2), s.worst_task) for s in board.standings]
    assert found == [
        (1, "auto", 2.0, "jumps"),
        (2, "auto (told nothing)", 3.75, "jumps"),
        (3, "tv-gp-ucb", 4.0, "Ackley"),
        (4, "random", 12.0, "Ackley"),
    ]
    by_rank = leaderboard.rank(results(), {task: results()["random", task] for task in TASKS})
    assert [s.algorithm for s in by_rank.standings][:2] == ["auto", "tv-gp-ucb"]


def test_the_page_says_it_all(outcome_of):
    text = adaptivity_page.page(outcome_of(), "images/adaptivity.png")
    for said in (
        "`auto` is within 10 % of the best rival on 2 of 3 tasks. It is ahead of all rivals on 1 (Ackley).",
        "Its worst ratio is 2.00 (2.00 to 2.00), on jumps.",
        "| jumps | 2.00 (2.00 to 2.00) | 1.6 | 0.8 | tv-gp-ucb |",
        "seeds 4000 to 4004",
        suite.TUNING,
        "`auto` is told the kernel, where the task has one. It is told neither noise, nor rate, nor horizon.",
        "auto (told nothing): the space is all it gets.",
        "tv-gp-ucb: told a rate of change",
        "On Ackley there is no true kernel",
        "| static | 300 | 0 | nothing changes | `within-model:rate=0.0,horizon=300` |",
        "| Ackley | 100 | (0.03) |",
        "![Ratios to the best, tasks by algorithms](images/adaptivity.png)",
        "shares: they need data.",
        "| auto | 2.00 | jumps | 2 of 3 |",
        "| jumps | 1.6 | 3 | **0.8** | 8 |",
    ):
        assert said in text
    lost, close = (
        text.split("## auto (told nothing)")[1].split("## Regrets")[0].split("Within 10 %, or ahead:")
    )
    assert "| jumps |" in lost
    assert "| jumps |" not in close
    assert "| static |" in close


def test_a_page_on_the_seeds_of_the_design_admits_it(outcome_of):
    text = adaptivity_page.page(outcome_of(seeds=range(2008, 2013)), "figure.png")
    assert "Of these seeds 2 were used while `auto` was designed" in text
    assert suite.TUNING not in text


def test_without_the_subject_there_is_no_word_of_it(outcome_of):
    medians = {name: MEDIANS[name] for name in ("tv-gp-ucb", "random")}
    text = adaptivity_page.page(outcome_of(medians, ENTRIES[2:]), "figure.png")
    assert "auto" not in text
    assert "| tv-gp-ucb | 1.00 | – | 3 of 3 |" in text


def test_stand_ins_are_called_so(outcome_of, monkeypatch):
    found = outcome_of()
    real, _ = suite.arenas(seed=4000, data=None)
    shown = adaptivity_page.tasks(
        adaptivity_page.Outcome(Terms(ENTRIES, real, RUNS, [], 0.03, ""), found.board, found.duels)
    )
    marked = {row[0] for row in shown.rows if "stand-in" in row[3]}
    assert marked == {"Deng abrupt", "Deng slow", "lab stand-in"}


def test_json_has_the_duels_and_no_infinity(outcome_of):
    perfect = {**MEDIANS, "tv-gp-ucb": (0.0, 0.8, 2.0)}
    plain = json.loads(json.dumps(adaptivity_page.plain(outcome_of(perfect)), allow_nan=False))
    assert plain["seeds"] == list(RUNS)
    static, jumps, _ = plain["subjects"]["auto"]
    assert (static["ratio"], static["close"], static["rival"]) == (None, False, "tv-gp-ucb")
    assert (jumps["ratio"], jumps["task"]) == (2.0, "jumps")


def test_files(outcome_of, tmp_path):
    adaptivity_page.write(outcome_of(), tmp_path / "out", tmp_path / "docs" / "adaptivity.md")
    for name in ("leaderboard.md", "leaderboard.csv", "figure.png", "figure.pdf"):
        assert (tmp_path / "out" / name).stat().st_size > 100
    assert "(figure.png)" in (tmp_path / "out" / "leaderboard.md").read_text()
    assert "(images/adaptivity.png)" in (tmp_path / "docs" / "adaptivity.md").read_text()
    assert (tmp_path / "docs" / "images" / "adaptivity.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(StorageFailure, match="finished runs are kept"):
        adaptivity_page.write(outcome_of(), tmp_path / "out" / "figure.png", None)


def test_the_heat_map_has_a_number_in_every_cell(outcome_of):
    page = heatmap.figure(outcome_of().board, bold=("auto",))
    panel = page.axes[0]
    numbers = [text.get_text() for text in panel.texts]
    assert numbers[:4] == ["1.00", "1.09", "1.00", "9.00"]
    assert numbers[-4:] == ["2.00", "3.75", "4.00", "12.0"]
    assert len(numbers) == 4 * (3 + 1)
    labels = {label.get_text(): label.get_fontweight() for label in panel.get_xticklabels()}
    assert labels == {
        "auto": "bold",
        "auto (told nothing)": "normal",
        "tv-gp-ucb": "normal",
        "random": "normal",
    }
    assert [label.get_text() for label in panel.get_yticklabels()] == [*TASKS, heatmap.SUMMARY]
    assert len(panel.patches) == 4  # the best of each task, of which one has two


def test_ink_and_paper_are_far_apart(outcome_of):
    """The contrast of every number with its cell is at least 4.5, as the WCAG ask for small text."""
    page = heatmap.figure(outcome_of().board)
    mesh = page.axes[0].collections[0]

    def light(colour):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for ratio in np.geomspace(1.0, 12.0, 60):
        paper = light(mesh.cmap(mesh.norm(min(ratio, heatmap.DARKEST))))
        ink = 1.0 if ratio > heatmap.WHITE_INK_FROM else 0.0
        assert (max(paper, ink) + 0.05) / (min(paper, ink) + 0.05) >= 4.5
