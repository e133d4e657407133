"""`make crash` in small: kill -9 under four writers; and its verdict does see what is wrong."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import windvane as wv
from windvane.study import Study

BENCH = Path(__file__).parents[2] / "bench"
BOX = wv.Box([(0.0, 1.0)])
GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.01, "seed": 3}

pytest.importorskip("psutil", reason="psutil finds the processes of a server that is to be killed")
pytest.importorskip("rich", reason="the table of counts is printed by rich")


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_killed_at_random_moments(request, kind):
    if kind == "postgresql":
        request.getfixturevalue("postgres_server")  # or the reason why there is none
    command = [
        sys.executable,
        str(BENCH / "crash.py"),
        "--kills",
        "6",
        "--database",
        kind,
        "--pause",
        "0.2",
        "0.5",
    ]
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "200"}
    done = subprocess.run([*command, "--seed", "5"], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = dict(line.strip("│ \n").split("│") for line in done.stdout.splitlines() if line.startswith("│"))
    counts = {name.strip(): int(value) for name, value in counts.items()}
    assert counts["kills"] == 6
    assert counts["processes killed"] >= 6
    assert counts["records"] > 0
    assert counts["faults"] == counts["lost"] == counts["twice"] == 0


@pytest.fixture(scope="module")
def verdict():
    spec = importlib.util.spec_from_file_location("crash_verdict", BENCH / "crash_verdict.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def story(tmp_path):
    """A study, and the log of who wrote it."""
    lines = []
    with Study.create(tmp_path / "s.db", "s", BOX, "et-gp-ucb", **GIVEN) as study:
        for n in range(4):
            trial = study.ask(key=f"a{n}")
            lines += [{"verb": "ask", "key": f"a{n}", "study": "s", "time": None}]
            lines += [{"done": f"a{n}", "trial": trial.number, "x": trial.x}]
            lines += [
                {
                    "verb": "tell",
                    "key": f"t{n}",
                    "study": "s",
                    "trial": trial.number,
                    "y": 0.1 * n,
                    "time": 2.0,
                }
            ]
            lines += [{"done": f"t{n}", "seq": study.submit_tell(trial, 0.1 * n, 2.0, key=f"t{n}").seq}]
        yield study, lines


def found(verdict, study, lines):
    return verdict.faults(study, wv.make("et-gp-ucb", BOX, **GIVEN), [lines])


def test_the_verdict_finds_nothing_where_nothing_is_wrong(verdict, story):
    study, lines = story
    assert found(verdict, study, lines) == []


def test_the_verdict_misses_what_was_acknowledged(verdict, story):
    study, lines = story
    lines += [
        {"verb": "add", "key": "gone", "study": "s", "x": [0.5], "y": 1.0, "time": None},
        {"done": "gone", "seq": 9},
    ]
    assert found(verdict, study, lines) == ["s: gone: acknowledged, and 0 times in the journal"]


def test_the_verdict_sees_what_nobody_wanted(verdict, story):
    study, lines = story
    study.add([0.5], 1.0, key="stray")
    assert found(verdict, study, lines) == ["s: 'stray': in the journal, and nobody wanted it"]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE windvane_studies SET tells = tells + 1", "tells is 5, and 4 by the journal"),
        ("UPDATE windvane_studies SET pending = 1", "pending is 1, and 0 by the journal"),
        ("UPDATE windvane_events SET y = 0.7 WHERE seq = 4", "wanted"),
        ("UPDATE windvane_events SET x = '[0.123]' WHERE seq = 5", "the twin"),
        ("UPDATE windvane_events SET trial = 1 WHERE seq = 4", "trial 1 was answered 2 times"),
        ("DELETE FROM windvane_events WHERE seq = 8", "t3: acknowledged, and 0 times"),
        (
            "UPDATE windvane_events SET event = replace(event, '\"std\":', '\"std\":1') WHERE seq = 6",
            "are not the twin's",
        ),
    ],
)
def test_the_verdict_sees_what_was_altered(verdict, story, statement, said):
    study, lines = story
    with study.database.link.writing() as connection:
        connection.exec_driver_sql(statement)
    assert any(said in fault for fault in found(verdict, study, lines))
