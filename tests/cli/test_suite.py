"""`windvane bench --suite standard`, with a suite of two short tasks in its place."""

import json
from concurrent.futures import Executor, Future

import pytest

from windvane.cli import main, running
from windvane.experiments import suite
from windvane.experiments.executors import Borrowed
from windvane.experiments.suite import SuiteTask

SHORT = (
    SuiteTask("still", "within-model:rate=0.0,horizon=6,grid=8", "nothing changes"),
    SuiteTask("line", "deng-slow:horizon=6", "a slow turn"),
)


class Inline(Executor):
    """Runs at once, in this thread: processes cost more than these runs."""

    def submit(self, function, trial):
        future: Future = Future()
        future.set_result(function(trial))
        return future


@pytest.fixture
def short(monkeypatch, tmp_path):
    monkeypatch.setattr(suite, "TASKS", SHORT)
    monkeypatch.setattr(suite, "PREFERRED", ("gp-ucb", "tv-gp-ucb", "random"))
    monkeypatch.setattr(suite, "SUBJECT", "gp-ucb")
    monkeypatch.setattr(running, "workers_for", lambda given: Borrowed(Inline(), width=1))
    monkeypatch.chdir(tmp_path)


def bench(capsys, *arguments):
    """Exit code, standard output, standard error."""
    try:
        code = main(["bench", "--runs", "2", *arguments])
    except SystemExit as stop:
        code = stop.code
    said = capsys.readouterr()
    return code, said.out, said.err


def test_it_runs_and_writes_the_page(capsys, short, tmp_path):
    code, out, err = bench(capsys, "--suite", "standard", "--markdown", "docs/adaptivity.md")
    assert (code, err) == (0, "")
    for said in ("worst", "within", "seeds 4000 to 4001", "gp-ucb is within 10 %", "Left out: lab days 7-8"):
        assert said in " ".join(out.split())
    page = (tmp_path / "docs" / "adaptivity.md").read_text()
    command = "`windvane bench --suite standard --runs 2 --markdown docs/adaptivity.md`"
    assert command in page
    assert str(tmp_path) not in page
    assert (tmp_path / "docs" / "images" / "adaptivity.png").is_file()
    code, out, _ = bench(
        capsys, "--suite", "standard", "--json", "--seed", "7", "--algorithms", "gp-ucb", "random"
    )
    found = json.loads(out)
    assert [s["algorithm"] for s in found["standings"]] == ["gp-ucb", "random"]
    assert found["seeds"] == [7, 8]
    assert "--seed 7" in found["command"]
    assert [task["task"] for task in found["tasks"]] == ["still", "line"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--suite", "standard", "--tasks", "deng-slow"), "--tasks: a suite has its own tasks"),
        (("--suite", "standard", "--table", "x.csv"), "--table: a suite has its own tasks"),
        (("--suite", "standard", "--train-rows", "3"), "--train-rows: a suite has its own tasks"),
        (("--suite", "standard", "--slow", "--algorithms", "gp-ucb"), "--slow: adds to"),
        (("--suite", "standard", "--algorithms", "no-such"), "--algorithms='no-such'"),
        (("--suite", "standard", "--markdown", "."), "is a folder"),
        (("--suite", "other"), "invalid choice: 'other'"),
        (("--slow",), "--slow: belongs to --suite"),
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
