"""Scores, ranks and files from fabricated results whose ranks are known."""

import csv
import json
import math

import numpy as np
import pytest

import windvane as wv
from windvane.errors import StorageFailure
from windvane.experiments import leaderboard
from windvane.experiments.results import Group, Results


def group(*averages):
    """Runs of two steps with these R_T / T."""
    runs = tuple(
        {"regret": np.array([0.5 * a, 1.5 * a]), "resets": np.array([], dtype=np.int64)} for a in averages
    )
    return Group(tuple(range(len(runs))), runs)


def board(table, random):
    """From {algorithm: {task: averages}} and {task: averages} of random search."""
    cells = {(row, task): group(*values) for row, tasks in table.items() for task, values in tasks.items()}
    return leaderboard.rank(Results(cells), {task: group(*values) for task, values in random.items()})


KNOWN = {
    "a": {"one": (1.0, 2.0, 3.0), "two": (30.0, 30.0, 30.0)},
    "b": {"one": (4.0, 4.0, 4.0), "two": (10.0, 20.0, 60.0)},
    "c": {"one": (8.0, 8.0, 8.0), "two": (80.0, 80.0, 80.0)},
}
RANDOM = {"one": (7.0, 8.0, 9.0), "two": (50.0, 100.0, 100.0)}


def test_scores_ranks_and_ratios_by_hand():
    found = board(KNOWN, RANDOM)
    assert found.yardsticks == {"one": 8.0, "two": 100.0}
    assert found.runs == 3
    a, b = found.line("a", "one"), found.line("b", "two")
    assert (a.regret, a.regret_low, a.regret_high) == (2.0, 1.5, 2.5)
    assert (a.score, a.score_low, a.score_high) == (0.25, 0.1875, 0.3125)
    assert (a.rank, a.ratio) == (1.0, 1.0)
    assert (b.score, b.rank, b.ratio) == (0.2, 1.0, 1.0)
    assert [line.algorithm for line in found.on("two")] == ["b", "a", "c"]
    first, second, third = found.standings
    # Both have ranks 1 and 2, so the geometric mean of the ratios decides: sqrt(1.5) against sqrt(2).
    assert [s.algorithm for s in found.standings] == ["a", "b", "c"]
    assert [s.position for s in found.standings] == [1, 2, 3]
    assert (first.mean_rank, second.mean_rank, third.mean_rank) == (1.5, 1.5, 3.0)
    assert first.ratio == pytest.approx(math.sqrt(1.5))
    assert second.ratio == pytest.approx(math.sqrt(2.0))
    assert third.ratio == pytest.approx(4.0)
    assert (second.worst_ratio, second.worst_task) == (2.0, "one")


def test_the_score_does_not_depend_on_the_unit():
    scaled = {row: {**tasks, "two": tuple(1e6 * v for v in tasks["two"])} for row, tasks in KNOWN.items()}
    there = board(scaled, {**RANDOM, "two": tuple(1e6 * v for v in RANDOM["two"])})
    for line, other in zip(board(KNOWN, RANDOM).lines, there.lines, strict=True):
        assert line.score == pytest.approx(other.score)
        assert (line.rank, line.algorithm) == (other.rank, other.algorithm)


def test_equals_share_their_ranks_and_their_place():
    same = {"t": (2.0, 2.0)}
    found = board({"a": same, "b": same, "c": {"t": (1.0, 1.0)}, "d": {"t": (9.0, 9.0)}}, {"t": (4.0,)})
    assert {line.algorithm: line.rank for line in found.lines} == {"c": 1.0, "a": 2.5, "b": 2.5, "d": 4.0}
    assert {s.algorithm: s.position for s in found.standings} == {"c": 1, "a": 2, "b": 2, "d": 4}


def test_a_perfect_algorithm_makes_the_others_infinitely_worse(tmp_path):
    found = board({"a": {"t": (0.0, 0.0)}, "b": {"t": (1.0, 1.0)}}, {"t": (2.0, 2.0)})
    assert [s.ratio for s in found.standings] == [1.0, math.inf]
    text = json.dumps(leaderboard.plain(found, [], "windvane bench"), allow_nan=False)
    assert json.loads(text)["standings"][1]["ratio"] is None
    assert "∞" in leaderboard.overall(found).markdown()
    leaderboard.write(found, tmp_path, [], "windvane bench")


def test_a_task_without_regret_is_left_out_and_said_so():
    table = {"a": {"flat": (0.0,), "t": (1.0,)}}
    found = board(table, {"flat": (0.0,), "t": (2.0,)})
    assert found.tasks == ["t"]
    assert found.left_out == ("flat",)
    assert any("flat" in line for line in leaderboard.about(found))
    with pytest.raises(wv.InvalidArgument, match="flat: random search has no regret"):
        board({"a": {"flat": (0.0,)}}, {"flat": (0.0,)})


def test_the_share_of_steps_beyond_limits_is_beside_the_score():
    def limited(average, *beyond):
        runs = [{**group(average).runs[0], "violated": np.array(flags)} for flags in beyond]
        return Group((0, 1), tuple(runs))

    cells = {
        ("a", "t"): limited(1.0, [True, False], [False, False]),
        ("b", "t"): limited(2.0, [False, False], [False, False]),
        ("a", "free"): group(1.0),
        ("b", "free"): group(2.0),
    }
    found = leaderboard.rank(Results(cells), {"t": group(4.0), "free": group(4.0)})
    assert [found.line(name, "t").violations for name in "ab"] == [0.25, 0.0]
    assert found.line("a", "free").violations is None
    shown = leaderboard.by_task(found, "t").markdown()
    assert "beyond limits" in shown
    assert "| 25.0 % |" in shown
    assert "| 0.0 % |" in shown
    assert "beyond limits" not in leaderboard.by_task(found, "free").markdown()
    assert any("Beyond limits" in line for line in leaderboard.about(found))
    plain = json.loads(json.dumps(leaderboard.plain(found, [], ""), allow_nan=False))
    told = {task["task"]: [line["violations"] for line in task["algorithms"]] for task in plain["tasks"]}
    assert told == {"t": [0.25, 0.0], "free": [None, None]}
    assert not any("Beyond limits" in line for line in leaderboard.about(board(KNOWN, RANDOM)))


def test_files(tmp_path):
    found = board(KNOWN, RANDOM)
    leaderboard.write(found, tmp_path / "new", ["Told everything: a."], "windvane bench --runs 3")
    text = (tmp_path / "new" / "leaderboard.md").read_text()
    assert "`windvane bench --runs 3`" in text
    assert "Told everything: a." in text
    assert "| a | 0.250 (0.188–0.312) | 1 | 1.00 | 2 |" in text
    with (tmp_path / "new" / "leaderboard.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 6
    assert float(rows[0]["score"]) == 0.25
    assert {row["overall_position"] for row in rows if row["algorithm"] == "c"} == {"3"}
    assert (tmp_path / "new" / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "new" / "figure.pdf").read_bytes().startswith(b"%PDF")


def test_the_figure_shows_every_task_and_algorithm():
    page = leaderboard.figure(board(KNOWN, RANDOM))
    titles = [panel.get_title(loc="left") for panel in page.axes]
    assert [title.split("\n")[0] for title in titles] == ["overall", "one", "two"]
    assert [label.get_text() for label in page.axes[0].get_yticklabels()] == ["a", "b", "c"]
    assert page.axes[1].get_xlim()[0] == 0.0


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(StorageFailure, match="finished runs are kept"):
        leaderboard.write(board(KNOWN, RANDOM), tmp_path / "taken", [], "")
