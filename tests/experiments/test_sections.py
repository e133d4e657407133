"""Sections that are kept beside a page: taken up without a run, or run again, and it is said why."""

import json
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from matplotlib.figure import Figure

from windvane.cli import reproduce as command
from windvane.cli.main import main
from windvane.experiments import trial as trials
from windvane.experiments.claims import Claim
from windvane.experiments.experiment import Cell, Experiment
from windvane.experiments.paper import EXPERIMENTS
from windvane.experiments.reproduce import ExperimentSummary
from windvane.experiments.sections import Sections, outdated
from windvane.experiments.tables import TextTable
from windvane.experiments.trial import call

TASK = call("within-model", rate=0.03, horizon=5, dim=1)


def experiment(name, algorithms, hours=1.0):
    return Experiment(
        name,
        f"Table {name}",
        "In small",
        runs=4,
        quick=1,
        hours=hours,
        cells=lambda _: [Cell(one, "here", TASK, call(one)) for one in algorithms],
        table=lambda results: TextTable(("row", "here"), [(row, "1") for row in results.rows]),
        figure=lambda _: Figure(),
        claims=lambda results: [Claim("It runs.", "holds", f"{results.runs} runs")],
    )


class Here:
    """Workers in this process: runs of five steps are not worth another one."""

    width, renewable = 1, False

    def start(self):
        return ThreadPoolExecutor(1)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Experiments that take no time; the first in the paper's order takes the longest."""
    every = (
        experiment("long", ["gp-ucb"], 2.0),
        experiment("mixed", ["random", "auto"]),
        experiment("plain", ["random"], 0.1),
    )
    monkeypatch.setattr(command, "EXPERIMENTS", {one.name: one for one in every})
    monkeypatch.setattr(command.running, "workers_for", lambda _: Here())


@pytest.fixture
def other_code(monkeypatch):
    """As if the code behind the runs of some algorithms had been edited."""
    behind = trials.code_behind

    def edit(*algorithms):
        def code_behind(task, algorithm, measure):
            found = behind(task, algorithm, measure)
            return {**found, "code": "edited"} if algorithm in algorithms else found

        monkeypatch.setattr(trials, "code_behind", code_behind)

    return edit


@pytest.fixture
def page(tmp_path):
    return tmp_path / "docs" / "page.md"


@pytest.fixture
def reproduce(tmp_path, page, capsys):
    def reproduce(*words, out="out"):
        place = ["--out", str(tmp_path / out), "--jobs", "1", "--markdown", str(page)]
        assert main(["reproduce", *words, *place]) == 0
        return capsys.readouterr().out

    return reproduce


def made(folder):
    """How many runs a store has."""
    with sqlite3.connect(folder / "runs.sqlite") as database:
        return database.execute("SELECT count(*) FROM runs").fetchone()[0]


def alter(page, name, **changes):
    """Another summary than the one that was kept."""
    sections = Sections(page)
    sections.write(replace(sections.find(name), **changes))


def stamp_of(page, name):
    return Sections(page).find(name).stamp


def test_a_fresh_clone_runs_nothing_that_is_kept_and_loses_no_section(reproduce, page, tmp_path):
    reproduce("all")
    before = page.read_text()
    said = reproduce("all", out="fresh")
    assert made(tmp_path / "fresh") == 0
    assert said.count("not run again (4 runs per cell)") == 3
    assert page.read_text() == before
    assert "Table mixed" in (tmp_path / "fresh" / "report.html").read_text()
    reproduce("plain", out="another")  # the others stay on the page though they are not asked for
    assert page.read_text() == before
    assert before.index("Table long") < before.index("Table mixed") < before.index("Table plain")


def test_what_takes_little_time_comes_first(reproduce):
    said = reproduce("all", "--runs", "1")
    assert said.index("Table plain") < said.index("Table mixed") < said.index("Table long")


def test_more_runs_are_added_and_fewer_do_not_replace_them(reproduce, page, tmp_path):
    reproduce("plain", "--runs", "2")
    said = reproduce("plain", out="fresh")
    assert "does not count, since it has 2 of 4 runs per cell" in said
    assert made(tmp_path / "fresh") == 4
    assert "not run again (4 runs per cell)" in reproduce("plain", "--runs", "2")
    assert Sections(page).find("plain").runs == 4


@pytest.mark.parametrize("words", [["--seed", "1"], ["--quick", "--seed", "7"]])
def test_other_seeds_are_another_section(reproduce, words):
    reproduce("plain")
    assert "its cells, seeds or data were others" in reproduce("plain", *words, out="fresh")


def test_work_on_one_algorithm_makes_only_the_sections_old_that_have_a_row_of_it(reproduce, page, other_code):
    reproduce("all")
    before = {name: stamp_of(page, name) for name in ("mixed", "plain")}
    assert before["mixed"].code != before["plain"].code
    other_code("auto")
    assert outdated(Sections(page).find("plain")) == ""
    assert outdated(Sections(page).find("mixed")) == "1 of 2 cells are of other code (auto)"


def test_other_code_that_computes_the_same_is_found_out_by_one_run_of_each_cell(
    reproduce, page, other_code, tmp_path
):
    reproduce("mixed")
    before = stamp_of(page, "mixed")
    other_code("auto")
    said = reproduce("mixed", out="fresh")
    assert made(tmp_path / "fresh") == 1  # that of auto
    assert "not run again" in said
    assert "Of its runs 4 were made by earlier code" in said
    assert stamp_of(page, "mixed").code != before.code
    assert outdated(Sections(page).find("mixed")) == ""
    assert "Of its runs 4 were made by earlier code" in page.read_text()
    reproduce("mixed", out="third")
    assert made(tmp_path / "third") == 0


def test_other_code_that_computes_something_else_is_run_again(reproduce, page, other_code, tmp_path):
    reproduce("mixed")
    cells = Sections(page).find("mixed").cells
    alter(page, "mixed", cells=(cells[0], replace(cells[1], first="another")))
    other_code("auto")
    said = reproduce("mixed", out="fresh")
    assert (
        "does not count, since with the present code other figures come out: auto() on within-model" in said
    )
    assert made(tmp_path / "fresh") == 8
    assert "earlier code" not in page.read_text()


def test_runs_of_earlier_code_in_the_store_are_taken_over_if_one_of_each_cell_is_the_same(
    reproduce, page, other_code, tmp_path
):
    reproduce("mixed")
    shutil.rmtree(page.parent)  # no section is kept
    other_code("auto")
    said = reproduce("mixed")
    assert "mixed: 3 runs of earlier code taken over, 1 cell checked by runs made anew." in said
    assert made(tmp_path / "out") == 12  # four of auto by each code
    assert Sections(page).find("mixed").earlier == 3
    reproduce("mixed")
    assert Sections(page).find("mixed").earlier == 3  # that is not forgotten


def test_runs_of_earlier_code_that_come_out_otherwise_are_not_taken_over(
    reproduce, page, other_code, tmp_path
):
    reproduce("mixed")
    shutil.rmtree(page.parent)
    with sqlite3.connect(tmp_path / "out" / "runs.sqlite") as database:
        database.execute(
            "UPDATE runs SET result = (SELECT result FROM runs WHERE trial LIKE '%\"random\"%' LIMIT 1) "
            "WHERE trial LIKE '%\"auto\"%'"
        )
    other_code("auto")
    said = reproduce("mixed")
    assert "mixed: 0 runs of earlier code taken over, 1 cell checked" in said
    assert "comes out otherwise now: auto() on within-model" in said
    assert Sections(page).find("mixed").earlier == 0


def test_runs_in_the_store_are_evaluated_anew(reproduce, page):
    reproduce("plain")
    alter(page, "plain", claims=(Claim("In other words.", "holds", "as before"),))
    assert "not run again" not in reproduce("plain")
    assert "In other words" not in page.read_text()


def test_a_section_without_its_figure_is_not_there(reproduce, page):
    reproduce("plain")
    (page.parent / "images" / "reproduction" / "plain.png").unlink()
    assert Sections(page).find("plain") is None
    assert "not run again" not in reproduce("plain", out="fresh")


def test_a_damaged_section_is_named_before_anything_runs(reproduce, page, tmp_path, capsys):
    reproduce("plain")
    (page.parent / "evidence" / "reproduction" / "plain.json").write_text("{")
    assert main(["reproduce", "long", "--out", str(tmp_path / "fresh"), "--markdown", str(page)]) == 2
    assert "plain.json: not a summary of this version" in capsys.readouterr().err
    assert not (tmp_path / "fresh" / "runs.sqlite").exists()


def test_a_summary_of_before_is_read_and_counts_as_old(reproduce, page, tmp_path):
    reproduce("plain")
    file = page.parent / "evidence" / "reproduction" / "plain.json"
    plain = json.loads(file.read_text())
    for field in ("plan", "cells", "earlier"):
        del plain[field]
    file.write_text(json.dumps(plain))
    assert outdated(ExperimentSummary.read(file)) == "no record of the code that computed it"
    assert "does not count" in reproduce("plain", out="fresh")


def test_every_experiment_says_how_long_it_takes():
    assert all(one.hours > 0.0 for one in EXPERIMENTS.values())
