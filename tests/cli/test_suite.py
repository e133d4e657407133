"""`windvane bench --suite standard`, with a suite of two short tasks in its place."""

import json

import pytest
import shell
from inline import Inline

from windvane.cli import running
from windvane.experiments import race, suite
from windvane.experiments.executors import Borrowed
from windvane.experiments.worlds import SuiteTask

SHORT = (
    SuiteTask("still", "within-model:rate=0.0,horizon=6,grid=8", "nothing changes"),
    SuiteTask("line", "deng-slow:horizon=6", "a slow turn"),
)


@pytest.fixture
def short(monkeypatch, tmp_path):
    nothing = suite.SuiteTable("told-nothing", False, SHORT, ("gp-ucb", "et-gp-ucb", "random"))
    told = suite.SuiteTable("told", True, SHORT[:1], ("gp-ucb:blind=true", "gp-ucb", "tv-gp-ucb", "random"))
    suites = {"standard": (nothing, told), "told-nothing": (nothing,), "told": (told,)}
    monkeypatch.setattr(suite, "SUITES", suites)
    monkeypatch.setattr(suite, "SUBJECT", "gp-ucb")
    monkeypatch.setattr(suite, "FIRST_SEED", 10200)  # tests keep away from the seeds of the page
    monkeypatch.setattr(running, "workers_for", lambda given: Borrowed(Inline(), width=1))
    monkeypatch.chdir(tmp_path)


def bench(capsys, *arguments):
    return shell.run(capsys, "bench", "--runs", "2", *arguments)


def test_it_runs_and_writes_the_page(capsys, short, tmp_path):
    code, out, err = bench(capsys, "--suite", "standard", "--markdown", "docs/adaptivity.md")
    assert (code, err) == (0, "")
    for said in (
        "told-nothing: 3 algorithms on 2 worlds; told: 4 algorithms on 1 world; 2 seeds. 18 runs.",
        "Told nothing",
        "Rivals are told kernel, noise and rate",
        "By mean and ninth decile",
        "seeds 10200 to 10201",
        "gp-ucb is within 10 %",
        "gp-ucb (told nothing) is within 10 %",
        "Left out: lab days 7-8",
        "told-nothing.csv, .png, .pdf, .parquet",
    ):
        assert said in " ".join(out.split()), said
    page = (tmp_path / "docs" / "adaptivity.md").read_text()
    command = "`windvane bench --suite standard --runs 2 --markdown docs/adaptivity.md`"
    assert command in page
    assert str(tmp_path) not in page
    for name in ("told-nothing", "told"):
        assert (tmp_path / "docs" / "images" / f"adaptivity-{name}.png").is_file()
        assert (tmp_path / "out" / "bench" / f"{name}.parquet").is_file()


def test_pieces_go_into_one_store_and_the_whole_then_only_reads(capsys, short, monkeypatch):
    def ran(*arguments):
        code, out, _ = bench(capsys, "--suite", "standard", *arguments)
        assert code == 0
        (said,) = [
            line for line in " ".join(out.split()).split(". ") if " runs" in line and "seeds" not in line
        ][:1]
        return said

    assert ran("--tasks", "line", "--algorithms", "gp-ucb", "random").startswith("4 runs")
    assert ran("--tasks", "STILL", "--algorithms", "gp-ucb").startswith("8 runs")
    assert ran("--algorithms", "et-gp-ucb", "tv-gp-ucb", "random").startswith(
        "14 runs, 6 of them done before"
    )
    assert ran() == "18 runs, 18 of them done before: 0 to go"


def test_evidence_goes_to_another_machine_and_gives_the_same_tables(capsys, short, tmp_path):
    kept = ("--suite", "told-nothing", "--json", "--evidence", str(tmp_path / "kept" / "runs.jsonl.gz"))
    code, first, _ = bench(capsys, *kept, "--out", "here")
    assert code == 0
    code, again, said = bench(capsys, *kept, "--out", "there")
    assert code == 0
    assert "runs.jsonl.gz: 12 runs of it taken up." in " ".join(said.split())
    assert "12 of them done before: 0 to go" in " ".join(said.split())
    assert json.loads(again)["tables"] == json.loads(first)["tables"]


def test_evidence_belongs_to_a_suite(capsys):
    code, _, said = bench(capsys, "--evidence", "runs.jsonl.gz")
    assert code == 2
    assert "--evidence: belongs to --suite" in said


def test_json_of_a_part(capsys, short):
    code, out, err = bench(
        capsys, "--suite", "told-nothing", "--json", "--seed", "7", "--algorithms", "gp-ucb", "random"
    )
    assert code == 0
    assert "2 algorithms on 2 worlds" in " ".join(err.split())
    found = json.loads(out)
    table = found["tables"]["told-nothing"]
    assert {s["algorithm"] for s in table["standings"]} == {"gp-ucb", "random"}
    assert table["seeds"] == [7, 8]
    assert "--suite told-nothing --algorithms gp-ucb random --runs 2 --seed 7" in found["command"]
    assert [task["task"] for task in table["tasks"]] == ["still", "line"]


def test_an_algorithm_of_ones_own_is_told_nothing_too(capsys, short, tmp_path):
    (tmp_path / "own_in_suite.py").write_text(
        "import windvane as wv\n"
        "def build(space, kernel, noise_variance, horizon, seed, rate=None):\n"
        "    if rate == 0.03:\n"
        "        assert kernel is None and noise_variance is None and horizon is None\n"
        "    return wv.make('random', space, seed=seed)\n"
    )
    code, _, err = bench(capsys, "--suite", "told-nothing", "--algorithms", "own_in_suite:build", "gp-ucb")
    assert (code, err) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--suite", "standard", "--tasks", "stil"), "did you mean 'still'?"),
        (("--suite", "told-nothing", "--algorithms", "tv-gp-ucb"), "nothing of it is left"),
        (("--suite", "standard", "--table", "x.csv"), "--table: a suite has its own tasks"),
        (("--suite", "standard", "--train-rows", "3"), "--train-rows: a suite has its own tasks"),
        (("--suite", "standard", "--algorithms", "no-such"), "--algorithms='no-such'"),
        (("--suite", "standard", "--markdown", "."), "is a folder"),
        (("--suite", "other"), "invalid choice: 'other'"),
        (("--markdown", "page.md"), "--markdown: belongs to --suite"),
    ],
)
def test_mistakes_show_before_anything_runs(capsys, short, tmp_path, arguments, says):
    code, out, err = bench(capsys, *arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert not (tmp_path / "out").exists()


def test_the_plain_bench_still_starts_at_seed_0(capsys, short):
    code, out, _ = bench(capsys, "--tasks", "deng-slow:horizon=6", "--algorithms", "gp-ucb", "--json")
    assert code == 0
    assert (
        json.loads(out)["command"]
        == "windvane bench --algorithms gp-ucb --tasks deng-slow:horizon=6 --runs 2"
    )


def test_who_is_far_behind_is_not_run_further(capsys, short, monkeypatch, tmp_path):
    monkeypatch.setattr(race, "FIRST", 1)
    monkeypatch.setattr(race, "FAR", 0.0)  # so that every rival is
    code, out, _ = bench(capsys, "--suite", "told-nothing", "--json")
    assert code == 0
    table = json.loads(out)["tables"]["told-nothing"]
    for world in table["tasks"]:
        runs = {line["algorithm"]: line["runs"] for line in world["algorithms"]}
        assert runs == {"gp-ucb": 2, "et-gp-ucb": 1, "random": 2}
    assert "was not run further" in (tmp_path / "out" / "bench" / "leaderboard.md").read_text()
