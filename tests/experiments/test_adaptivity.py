"""Ratios, verdicts, page and heat map from fabricated results whose answers are known."""

import csv
import json
import math

import numpy as np
import pytest

from windvane.entries import Entry
from windvane.errors import StorageFailure, UnknownName
from windvane.experiments import adaptivity, adaptivity_page, leaderboard, outcome, suite
from windvane.experiments.results import Group, Results
from windvane.experiments.statistic import MEAN, MEDIAN, NINTH_DECILE, STATISTICS
from windvane.plots import leaderboard as heat_map
from windvane.plots.leaderboard import DARKEST, SUMMARY, WHITE_INK_FROM

BLIND = Entry("auto", (("blind", True),))
RUNS = range(5000, 5005)
TASKS = ("static", "jumps", "Ackley")
COMMAND = "windvane bench --suite standard"
SPREAD = (0.8, 0.9, 1.0, 1.1, 1.2)
#          static, jumps, Ackley
NOTHING = {
    "auto": (1.00, 1.60, 0.50),
    "et-gp-ucb": (1.00, 0.80, 2.00),
    "random": (9.00, 8.00, 6.00),
}
TOLD = {
    "auto (told nothing)": (1.09, 3.00, 0.90),
    "auto": (1.00, 1.60, 0.50),
    "tv-gp-ucb": (1.00, 0.80, 2.00),
    "random": (9.00, 8.00, 6.00),
}
ENTRIES = {
    "told-nothing": [Entry("auto"), Entry("et-gp-ucb"), Entry("random")],
    "told": [BLIND, Entry("auto"), Entry("tv-gp-ucb"), Entry("random")],
}


def group(median, spread=SPREAD, resets=(), jumps=()):
    runs = tuple(
        {
            "regret": np.array([median * s]),
            "resets": np.array(resets, dtype=np.int64),
            "jumps": np.array(jumps, dtype=np.int64),
        }
        for s in spread
    )
    return Group(tuple(RUNS), runs)


def results(medians=TOLD, resets=None):
    resets = resets or {}
    return Results(
        {
            (row, task): group(
                value, resets=resets.get((row, task), ()), jumps=(101, 201) if task == "jumps" else ()
            )
            for row, values in medians.items()
            for task, value in zip(TASKS, values, strict=True)
        }
    )


@pytest.fixture(scope="module")
def fields():
    found = suite.fields("standard", seed=10000, tasks=TASKS)
    return {field.table.name: field for field in found}


@pytest.fixture
def outcome_of(fields):
    def build(name="told", medians=None, entries=None, seeds=RUNS, resets=None):
        found = results(medians or {"told": TOLD, "told-nothing": NOTHING}[name], resets)
        field = fields[name]
        field = suite.Field(field.table, entries or ENTRIES[name], field.arenas, ["shares: they need data."])
        return outcome.outcome(field, found, {task: found["random", task] for task in TASKS}, seeds, 0.03)

    return build


@pytest.fixture
def both(outcome_of):
    false = {("auto", "jumps"): (102, 230), ("et-gp-ucb", "static"): (30,), ("et-gp-ucb", "jumps"): (260,)}
    return [outcome_of("told-nothing", resets=false), outcome_of("told")]


def page_of(*found):
    return adaptivity_page.page(found, COMMAND, {one.name: f"images/{one.name}.png" for one in found})


def test_a_duel_is_with_the_best_rival_of_the_task():
    static, jumps, ackley = adaptivity.duels(results(), "auto", ["tv-gp-ucb", "random"])
    assert (static.rival, static.ratio, static.close) == ("tv-gp-ucb", 1.0, True)
    assert (jumps.rival, jumps.ratio, jumps.close) == ("tv-gp-ucb", 2.0, False)
    assert (ackley.regret, ackley.rival_regret, ackley.ratio) == (0.5, 2.0, 0.25)
    assert adaptivity.losses([static, jumps, ackley]) == [jumps]
    assert adaptivity.mean_ratio([static, jumps, ackley]) == pytest.approx((1.0 * 2.0 * 0.25) ** (1 / 3))
    with pytest.raises(UnknownName, match="auto: has no rival"):
        adaptivity.duels(results(), "auto", [])


def test_the_best_rival_depends_on_the_statistic():
    """`steady` has the worse median and the better mean and ninth decile."""
    found = Results(
        {
            ("auto", "static"): group(1.0),
            ("steady", "static"): group(1.0, (1.1,) * 5),
            ("wild", "static"): group(1.0, (1.0, 1.0, 1.0, 1.0, 9.0)),
        }
    )
    rivals = {
        one.name: adaptivity.duels(found, "auto", ["steady", "wild"], one)[0].rival for one in STATISTICS
    }
    assert rivals == {"median": "wild", "mean": "steady", "ninth decile": "steady"}
    # The ninth decile of five: 0.6 of the way from the fourth to the fifth.
    (duel,) = adaptivity.duels(found, "auto", ["wild"], NINTH_DECILE)
    assert (duel.regret, duel.rival_regret) == pytest.approx((1.16, 5.8))
    board = leaderboard.rank(found, {"static": found["wild", "static"]}, statistic=MEAN)
    assert [(line.algorithm, line.regret) for line in board.on("static")] == [
        ("auto", pytest.approx(1.0)),
        ("steady", pytest.approx(1.1)),
        ("wild", pytest.approx(2.6)),
    ]


def test_ten_per_cent_is_ten_per_cent():
    for ratio, close in ((1.0999, True), (1.10, True), (1.1001, False)):
        assert adaptivity.Duel("t", ratio, "r", 1.0, ratio, 1.0, 2.0).close is close
    for low, high, finding in ((0.5, 1.1, "yes"), (1.1, 1.2, "undecided"), (1.11, 1.2, "no")):
        assert adaptivity.Duel("t", 1.0, "r", 1.0, 1.15, low, high).finding == finding


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


def test_the_page_says_it_all(both):
    text = page_of(*both)
    for said in (
        "`auto` is within 10 % of the best rival on 2 of 3 worlds. By the intervals this is certain on 2, "
        "refuted on 1 and undecided on 0. It is ahead of all rivals on 1. Its worst ratio is 2.00 (2.00 to "
        "2.00), on jumps; the geometric mean is 0.79. By the mean: within 10 % on 2. Its worst ratio",
        "| jumps | no | 2.00 (2.00 to 2.00) | et-gp-ucb | 2.00 (2.00 to 2.00) | et-gp-ucb | 2.00",
        "| jumps | no | 3.75 (3.75 to 3.75) | tv-gp-ucb |",
        "seeds 5000 to 5004",
        suite.TUNING,
        "In the first table everyone is made with the space and nothing else",
        "`auto` is told the kernel, where the world has one. It is told neither noise, nor rate, nor horizon.",
        "auto (told nothing): the space is all it gets.",
        "tv-gp-ucb: told a rate of change",
        "On Ackley there is no true kernel",
        "| static | 300 | 0 | nothing changes | `within-model:rate=0.0,horizon=300` |",
        "| Ackley | 100 | (0.03) |",
        "(images/told-nothing.png)",
        "(images/told.png)",
        "shares: they need data.",
        "| auto | 2.00 | jumps | 2 of 3 |",
        "| jumps | 1.6 | 3 | **0.8** | 8 |",
        "| static | 0 of 5 (0 to 43 %) | 5 of 5 (57 to 100 %) |",
        "The others, random, never reset.",
        "| et-gp-ucb | ∞ | 0% | 50% |",  # 201 -> 260, and nothing before
        "| auto | 16 | 50% | 100% |",  # 101 -> 102 and 201 -> 230: 2 and 30 observations
    ):
        assert said in text, said
    order = ["# Adaptivity", "## Told nothing", "## Rivals are told", "## auto, told nothing"]
    order += [
        "## auto (told nothing), beside",
        "## auto, beside",
        "## False resets",
        "## Delays",
        "## Regrets",
    ]
    order += ["## Regrets where", "## Worlds", "## What each was told", "## Left out"]
    places = [text.index(f"\n{heading}" if number else heading) for number, heading in enumerate(order)]
    assert places == sorted(places)
    assert text.count("shares: they need data.") == 1


def test_mean_and_ninth_decile_stand_beside_each_other(outcome_of):
    found = outcome_of()
    table = adaptivity.tails(found.boards)
    assert table.header[1] == "mean: worst ratio"
    assert table.header[5] == "ninth decile: worst ratio"
    assert table.rows[0] == ("auto", "2.00", "jumps", "1.26", "1.5", "2.00", "jumps", "1.26", "1.5")
    assert [row[0] for row in table.rows] == [s.algorithm for s in found.board.standings]


def test_one_table_alone_is_a_page(outcome_of):
    nothing, told = (page_of(outcome_of(name)) for name in ("told-nothing", "told"))
    assert "## Rivals are told" not in nothing
    assert "| static | 300 | – |" in nothing
    assert "## Told nothing" not in told
    assert "## False resets" not in told


def test_a_page_on_the_seeds_of_the_design_admits_it(outcome_of):
    text = page_of(outcome_of(seeds=range(2008, 2013)))
    assert "Of these seeds 2 were used while `auto` was designed" in text
    assert suite.TUNING not in text


def test_without_the_subject_there_is_no_word_of_it(outcome_of):
    medians = {name: TOLD[name] for name in ("tv-gp-ucb", "random")}
    text = page_of(outcome_of("told", medians, ENTRIES["told"][2:]))
    assert "auto" not in text
    assert "| tv-gp-ucb | 1.00 | – | 3 of 3 |" in text


def test_few_runs_are_called_so(outcome_of):
    assert "So few runs show shapes" in page_of(outcome_of())


def test_stand_ins_are_called_so(outcome_of):
    found = outcome_of()
    (real,) = suite.fields("told", seed=10000, tasks=["Deng*", "lab stand-in", "static"])
    shown = adaptivity_page.worlds(
        [outcome.TableOutcome(real, RUNS, 0.03, found.results, found.boards, found.duels)]
    )
    marked = {row[0] for row in shown.rows if "stand-in" in row[3]}
    assert marked == {"Deng abrupt", "Deng slow", "lab stand-in"}


def test_json_has_the_duels_and_no_infinity(outcome_of):
    perfect = {**TOLD, "tv-gp-ucb": (0.0, 0.8, 2.0)}
    found = [outcome_of("told-nothing"), outcome_of("told", perfect)]
    plain = json.loads(json.dumps(adaptivity_page.as_json(found, COMMAND), allow_nan=False))
    assert (plain["command"], list(plain["tables"])) == (COMMAND, ["told-nothing", "told"])
    told = plain["tables"]["told"]
    assert told["seeds"] == list(RUNS)
    static, jumps, _ = told["subjects"]["auto"]["median"]
    assert (static["ratio"], static["close"], static["rival"]) == (None, False, "tv-gp-ucb")
    assert (jumps["ratio"], jumps["task"], jumps["within_10_percent"]) == (2.0, "jumps", "no")
    assert set(told["by"]) == {one.name for one in STATISTICS}
    assert [s["algorithm"] for s in told["standings"]] == [s["algorithm"] for s in told["by"]["median"]]


def test_files(both, tmp_path):
    adaptivity_page.write(both, tmp_path / "out", tmp_path / "docs" / "adaptivity.md", COMMAND)
    for name in (
        "leaderboard.md",
        "told.csv",
        "told.png",
        "told.pdf",
        "told-nothing.csv",
        "told-nothing.png",
    ):
        assert (tmp_path / "out" / name).stat().st_size > 100
    assert "(told.png)" in (tmp_path / "out" / "leaderboard.md").read_text()
    for name in ("told", "told-nothing"):
        assert f"(images/adaptivity-{name}.png)" in (tmp_path / "docs" / "adaptivity.md").read_text()
        image = tmp_path / "docs" / "images" / f"adaptivity-{name}.png"
        assert image.read_bytes().startswith(b"\x89PNG")
    with (tmp_path / "out" / "told.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["statistic"] for row in rows] == [one.name for one in STATISTICS for _ in range(4 * 3)]
    assert {row["regret"] for row in rows if (row["algorithm"], row["task"]) == ("auto", "jumps")} == {
        str(group(1.6).by(one)) for one in (MEDIAN, MEAN, NINTH_DECILE)
    }
    with pytest.raises(StorageFailure, match="finished runs are kept"):
        adaptivity_page.write(both, tmp_path / "out" / "told.png", None, COMMAND)


def test_the_heat_map_has_a_number_in_every_cell(outcome_of):
    page = heat_map(outcome_of().board, bold=("auto",))
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
    assert [label.get_text() for label in panel.get_yticklabels()] == [*TASKS, SUMMARY]
    assert len(panel.patches) == 4  # the best of each task, of which one has two


def test_ink_and_paper_are_far_apart(outcome_of):
    """The contrast of every number with its cell is at least 4.5, as the WCAG ask for small text."""
    page = heat_map(outcome_of().board)
    mesh = page.axes[0].collections[0]

    def light(colour):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for ratio in np.geomspace(1.0, 12.0, 60):
        paper = light(mesh.cmap(mesh.norm(min(ratio, DARKEST))))
        ink = 1.0 if ratio > WHITE_INK_FROM else 0.0
        assert (max(paper, ink) + 0.05) / (min(paper, ink) + 0.05) >= 4.5
