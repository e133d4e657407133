"""`windvane bench`: tiny real runs, algorithms of one's own, tables of one's own, mistakes."""

import json
import sqlite3
import sys

import pyarrow.parquet
import pytest
import shell
from inline import Inline

from windvane.cli import running
from windvane.experiments.executors import Borrowed

TASK = "deng-slow:horizon=12"

MODULE = """
import numpy as np

class Wanderer:
    def __init__(self, space, seed=0):
        self.space, self.rng, self.told = space, np.random.default_rng(seed), 0

    def ask(self):
        return self.space.decode(self.space.sample(self.rng, 1)[0])

    def tell(self, x, y):
        self.told += 1

class Picky(Exception):
    def __init__(self, one, two):  # cannot be unpickled
        super().__init__(one + two)

class Raises(Wanderer):
    def tell(self, x, y):
        super().tell(x, y)
        if self.told == 5:
            raise Picky("the battery ", "is flat")

class Quits(Wanderer):
    def ask(self):
        raise SystemExit(3)

class Outside(Wanderer):
    def ask(self):
        return [1.5]

def informed(space, kernel, noise_variance, horizon, rate, seed, gain=1.0):
    assert kernel is not None and noise_variance > 0 and (horizon, rate, gain) == (12, 0.03, 2)
    return Wanderer(space, seed)

def uninformed(space, kernel, noise_variance):
    assert kernel is None and noise_variance is None
    return Wanderer(space)

class Obedient(Wanderer):
    def __init__(self, space, constraints, start, seed=0):
        super().__init__(space, seed)
        assert list(constraints) == ["heat"] and constraints["heat"].limit == 90 and "power" in start[0]
        self.constraints, self.start, self.hottest = constraints, start, 0.0

    def ask(self):
        return {"power": 60.0, "speed": 3.0} if self.told % 4 == 0 else self.start[0]

    def tell(self, x, y, heat):
        assert (heat > 90) == (x["power"] == 60.0)
        super().tell(x, y)

def either_way(space, constraints):
    assert constraints is None
    return Wanderer(space)

def demanding(space, battery):
    return Wanderer(space)

def lazy(space):
    return None

number = 3
"""


@pytest.fixture
def inline(monkeypatch):
    """No processes: each costs more than the runs of these tests."""
    executor = Inline()
    monkeypatch.setattr(running, "workers_for", lambda given: Borrowed(executor, width=1))
    return executor


@pytest.fixture
def mine(tmp_path, monkeypatch, request):
    """A module of one's own in the present folder; a new name each time, since modules are imported once."""
    name = "mine_" + "".join(c for c in request.node.name if c.isalnum())
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    yield name
    sys.modules.pop(name, None)


def bench(capsys, tmp_path, *arguments):
    return shell.run(capsys, "bench", "--out", tmp_path / "out", *arguments)


def kept(tmp_path):
    with sqlite3.connect(tmp_path / "out" / "runs.sqlite") as database:
        return database.execute("SELECT count(*) FROM runs").fetchone()[0]


def test_a_leaderboard_with_processes_and_what_is_left_behind(capsys, tmp_path, mine):
    command = ("--algorithms", "gp-ucb", f"{mine}:Wanderer", "--tasks", TASK, "--runs", "2", "--jobs", "1")
    code, out, err = bench(capsys, tmp_path, *command)
    assert (code, err) == (0, "")
    for text in ("gp-ucb", "Wanderer", "deng-slow", "mean", "stand-in", "leaderboard.md"):
        assert text in out
    assert kept(tmp_path) == 6  # random is the yardstick without being ranked
    for name in ("leaderboard.md", "leaderboard.csv", "figure.png", "figure.pdf", "records.parquet"):
        assert (tmp_path / "out" / name).stat().st_size > 100
    assert "random" not in (tmp_path / "out" / "leaderboard.csv").read_text()
    assert str(tmp_path) not in (tmp_path / "out" / "leaderboard.md").read_text()
    records = pyarrow.parquet.read_table(tmp_path / "out" / "records.parquet").to_pylist()
    assert len(records) == 6
    assert {row["row"] for row in records} == {"gp-ucb", f"{mine}:Wanderer", "random"}


def test_a_second_call_runs_nothing_and_more_runs_only_what_is_missing(capsys, tmp_path, inline):
    command = ("--algorithms", "gp-ucb,random", "--tasks", TASK, "--runs")
    bench(capsys, tmp_path, *command, "2")
    assert (len(inline.ran), kept(tmp_path)) == (4, 4)
    first = (tmp_path / "out" / "leaderboard.csv").read_bytes()
    code, _, _ = bench(capsys, tmp_path, *command, "2")
    assert (code, len(inline.ran), kept(tmp_path)) == (0, 4, 4)
    assert (tmp_path / "out" / "leaderboard.csv").read_bytes() == first
    bench(capsys, tmp_path, *command, "3")
    assert (len(inline.ran), kept(tmp_path)) == (6, 6)


def test_json(capsys, tmp_path, inline):
    code, out, _ = bench(
        capsys, tmp_path, "--json", "--runs", "2", "--algorithms", "random", "tv-gp-ucb:rate=0.1",
        "--tasks", TASK, "within-model:horizon=8,grid=20",
    )  # fmt: skip
    found = json.loads(out)
    assert code == 0
    assert {s["algorithm"] for s in found["standings"]} == {"random", "tv-gp-ucb:rate=0.1"}
    assert [task["task"] for task in found["tasks"]] == [TASK, "within-model:horizon=8,grid=20"]
    for task in found["tasks"]:
        (line,) = [line for line in task["algorithms"] if line["algorithm"] == "random"]
        assert line["score"] == 1.0
        assert line["regret"] == task["random"]
    assert found["runs"] == 2
    assert found["command"].startswith("windvane bench --algorithms random tv-gp-ucb:rate=0.1")


def test_an_algorithm_is_told_what_its_signature_names(capsys, tmp_path, inline, mine):
    code, _, err = bench(
        capsys, tmp_path, "--runs", "1", "--algorithms", f"{mine}:informed:gain=2", "--tasks", TASK
    )
    assert (code, err) == (0, "")
    code, _, err = bench(
        capsys,
        tmp_path,
        "--runs",
        "1",
        "--algorithms",
        f"{mine}:uninformed",
        "--tasks",
        "ackley-shift:horizon=4",
    )
    assert (code, err) == (0, "")


@pytest.mark.parametrize(
    ("function", "says"),
    [
        ("Outside", ("ask() returned [1.5], which is not in Box", "at most 1", TASK.split(":")[0], "seed 0")),
        ("Quits", ("ask() raised SystemExit: 3", "seed 0")),
        ("lazy", ("returned None", "ask() and tell(x, y)")),
        (
            "demanding",
            ("nobody tells it 'battery'", "kernel, noise_variance, horizon, rate, seed", "battery=1"),
        ),
        ("number", ("must be a function",)),
        ("wanderer", ("has no 'wanderer'; did you mean 'Wanderer'?",)),
        ("Wanderer:speed=1", ("option='speed'", "seed")),
    ],
)
def test_mistakes_in_an_algorithm_of_one_s_own(capsys, tmp_path, inline, mine, function, says):
    code, _, err = bench(
        capsys, tmp_path, "--runs", "1", "--algorithms", f"{mine}:{function}", "--tasks", TASK
    )
    assert code == 2
    assert err.startswith("windvane: ")
    assert mine in err
    assert "Traceback" not in err
    for text in says:
        assert text in err


def test_an_exception_in_a_worker_is_told_in_a_sentence(capsys, tmp_path, mine):
    """Its class cannot be unpickled, which would break the pool."""
    code, _, err = bench(
        capsys,
        tmp_path,
        "--runs",
        "2",
        "--jobs",
        "1",
        "--algorithms",
        "gp-ucb",
        f"{mine}:Raises",
        "--tasks",
        TASK,
    )
    assert code == 2
    assert f"{mine}:Raises: tell(x, y) raised Picky: the battery is flat ({mine}.py, line" in err
    assert f"in {mine}:Raises() on deng-slow(horizon=12), seed 0" in err
    assert len(err.splitlines()) == 3
    assert "raise Picky" in (tmp_path / "out" / "traceback.txt").read_text()
    assert kept(tmp_path) >= 1
    assert not (tmp_path / "out" / "leaderboard.md").exists()


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("no_such_module_here:build", None, "there is no module 'no_such_module_here'"),
        ("broken_on_import:build", "import does_not_exist_anywhere", "ModuleNotFoundError: No module named"),
        ("broken_syntax:build", "def build(:", "raised SyntaxError"),
    ],
)
def test_modules_that_cannot_be_imported(capsys, tmp_path, mine, name, text, says):
    if text is not None:
        (tmp_path / f"{name.split(':')[0]}.py").write_text(text)
    code, _, err = bench(capsys, tmp_path, "--algorithms", name, "--tasks", TASK)
    assert code == 2
    assert says in err
    assert "Traceback" not in err


def test_a_table_of_one_s_own(capsys, tmp_path, inline):
    rows = ["a,b,c"] + [f"{(7 * i) % 5},{(3 * i) % 4},{i % 3}" for i in range(20)]
    (tmp_path / "prices.csv").write_text("\n".join(rows))
    command = ("--table", str(tmp_path / "prices.csv"), "--train-rows", "12", "--algorithms", "et-gp-ucb")
    code, out, _ = bench(capsys, tmp_path, *command, "--runs", "2", "--json")
    found = json.loads(out)
    assert code == 0
    assert [task["task"] for task in found["tasks"]] == ["table prices.csv"]
    assert found["command"].count(str(tmp_path)) == 0
    code, out, _ = bench(capsys, tmp_path, *command, "--runs", "1", "--json", "--tasks", TASK)
    assert [task["task"] for task in json.loads(out)["tasks"]] == [TASK, "table prices.csv"]
    assert kept(tmp_path) == 6  # those of the table were there already
    rows[15] = "9,9,9"
    (tmp_path / "prices.csv").write_text("\n".join(rows))
    bench(capsys, tmp_path, *command, "--runs", "1")
    assert kept(tmp_path) == 8  # another content is another task


@pytest.mark.parametrize(
    ("text", "train", "says"),
    [
        ("a,b\n1,2\n3\n4,5\n6,7\n", "2", "line 3: has 1 columns; must have 2"),
        ("", "2", "is empty"),
        ("a,b\n1,2\n3,x\n4,5\n", "2", "line 3, column 2: 'x'; must be a finite number"),
        ("a,b\n1,2\n3,nan\n4,5\n", "2", "must be a finite number"),
        ("a,b\n1,2\n3,4\n4,1\n", "1", "train_rows=1: must be an integer at least 2"),
        ("a,b\n1,2\n3,4\n4,1\n", "3", "leaves no test rows"),
        ("a,b\n1,2\n1,2\n4,5\n3,3\n", "2", "no arm changes"),
        (None, "2", "there is no such file"),
        ("a,b\n1,2\n3,4\n4,1\n", None, "needs --train-rows"),
    ],
)
def test_tables_that_will_not_do(capsys, tmp_path, text, train, says):
    if text is not None:
        (tmp_path / "table.csv").write_text(text)
    rows = () if train is None else ("--train-rows", train)
    code, _, err = bench(capsys, tmp_path, "--table", str(tmp_path / "table.csv"), *rows)
    assert code == 2
    assert err.startswith("windvane: ")
    assert says in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--tasks", "ackley"), "did you mean 'ackley-shift'"),
        (("--algorithms", "tv-gp-ucp"), "did you mean 'tv-gp-ucb'"),
        (("--tasks", "temperature"), "--data FOLDER"),
        (("--algorithms", "sw-gp-ucb", "--tasks", "within-model"), "needs the budget of variation"),
        (("--algorithms", "always-n-low", "--tasks", TASK), "rate_bounds"),
        (("--runs", "0"), "--runs=0"),
        (("--jobs", "0", "--tasks", TASK), "--jobs=0"),
        (("--seed", "-1"), "--seed=-1"),
        (("--rate", "2"), "--rate=2.0"),
        (("--train-rows", "3", "--tasks", TASK), "belongs to --table"),
        (("--data", "no/such/folder"), "no such file or folder"),
    ],
)
def test_mistakes_show_before_anything_runs(capsys, tmp_path, arguments, says):
    code, out, err = bench(capsys, tmp_path, *arguments)
    assert code == 2
    assert out == ""
    assert says in err
    assert err.count("\n") == 1
    assert not (tmp_path / "out" / "runs.sqlite").exists()


def test_a_folder_that_cannot_be_written(capsys, tmp_path):
    (tmp_path / "out").write_text("")
    code, _, err = bench(capsys, tmp_path, "--tasks", TASK)
    assert code == 2
    assert "choose a folder you can write to" in err


def test_help_teaches(capsys, tmp_path):
    code, out, _ = bench(capsys, tmp_path, "--help")
    assert code == 0
    for text in ("mine:Greedy", "--train-rows", "examples:", "ask()", "random search"):
        assert text in out


def test_the_example_in_the_help_works(capsys, tmp_path, inline, monkeypatch):
    _, out, _ = bench(capsys, tmp_path, "--help")
    code = out[out.index("    import numpy") : out.index("    windvane bench --algorithms mine:Greedy")]
    (tmp_path / "helped.py").write_text("\n".join(line[4:] for line in code.splitlines()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    code, _, err = bench(capsys, tmp_path, "--algorithms", "helped:Greedy", "--tasks", TASK, "--runs", "1")
    assert (code, err) == (0, "")


def test_tasks_with_constraints(capsys, tmp_path, inline, mine):
    command = (
        "--algorithms",
        f"{mine}:Obedient",
        "auto",
        "random",
        "--tasks",
        "oven:horizon=12",
        "--runs",
        "2",
    )
    code, out, _ = bench(capsys, tmp_path, *command, "--json")
    assert code == 0
    (task,) = json.loads(out)["tasks"]
    share = {line["algorithm"]: line["violations"] for line in task["algorithms"]}
    assert share[f"{mine}:Obedient"] == 0.25
    assert 0.0 < share["random"] < 1.0
    assert 0.0 <= share["auto"] < 1.0
    records = pyarrow.parquet.read_table(tmp_path / "out" / "records.parquet").to_pylist()
    assert all(min(record["regret"]) >= 0.0 for record in records)  # beyond a limit nothing is gained
    own = next(record for record in records if "Obedient" in record["algorithm"])
    assert own["violated"] == [True, False, False, False] * 3
    assert [regret == 0.0 for regret in own["regret"]] == own["violated"]  # more was earned than is allowed
    code, out, err = bench(capsys, tmp_path, *command)
    assert (code, err) == (0, "")
    assert "25.0 %" in out
    assert "Told them" in out


def test_constraints_are_none_on_other_tasks(capsys, tmp_path, inline, mine):
    code, _, err = bench(
        capsys, tmp_path, "--algorithms", f"{mine}:either_way", "--tasks", TASK, "--runs", "1"
    )
    assert (code, err) == (0, "")
