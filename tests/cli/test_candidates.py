"""`--candidates`: a list of settings from a file, and what a shell sees of it."""

import argparse
import json
import shlex

import pytest
from shell import reader

import windvane as wv
from windvane.cli.spaces import add_space_arguments, space_from

TEXT = "gain, mode,hot,n\n0.1,a,true,1\n1.0,b,false,2\n\n10,a,true,3\n"


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WINDVANE_DB", str(tmp_path / "studies.db"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipes.csv").write_text(TEXT)
    return reader(capsys, "study")


def parsed(line):
    parser = argparse.ArgumentParser()
    add_space_arguments(parser)
    return space_from(parser.parse_args(shlex.split(line)))


def test_a_file_is_the_list_in_python(tmp_path):
    (tmp_path / "recipes.csv").write_text(TEXT)
    rows = [
        {"gain": 0.1, "mode": "a", "hot": True, "n": 1},
        {"gain": 1.0, "mode": "b", "hot": False, "n": 2},
        {"gain": 10.0, "mode": "a", "hot": True, "n": 3},
    ]
    line = f"--candidates {tmp_path / 'recipes.csv'}"
    assert parsed(line) == wv.Candidates(rows)
    found = parsed(f"{line} --log-scale gain")
    assert found == wv.Candidates(rows, scale={"gain": "log"})
    assert type(found.row(2)["n"]) is int
    (tmp_path / "numbers.csv").write_text("1,2.5\n2,3.5\n")
    assert parsed(f"--candidates {tmp_path / 'numbers.csv'}") == wv.Candidates(
        {"x1": [1, 2], "x2": [2.5, 3.5]}
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("gain,mode\n", "no settings"),
        ("gain,mode\n1\n", "line 2: must have a value for each of gain, mode"),
        ("gain,mode\n1,\n", "line 2"),
        ("gain,gain\n1,2\n", "no name of its own"),
        ("gain,\n1,2\n", "no name of its own"),
        ("gain\n1\n1\n", "rows[1]: equals rows[0]"),
        ("gain\n1\nnan\n", "finite"),
    ],
)
def test_files_that_are_no_list(tmp_path, text, said):
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(wv.WindvaneError) as caught:
        parsed(f"--candidates {tmp_path / 'bad.csv'}")
    assert str(caught.value).startswith(f"--candidates {tmp_path / 'bad.csv'}")
    assert said in str(caught.value)


def test_from_a_file_to_the_best(shell):
    assert "3 candidates, 0 to 2: gain, mode, hot, n" in shell(
        "create recipes --candidates recipes.csv --seed 1"
    )
    assert shell("ask recipes --available '[1]'") == "trial 1: candidate=1 (gain=1 mode=b hot=False n=2)\n"
    assert shell("ask recipes --format values --available '[2]'") == "2 2 10.0 a True 3\n"
    assert "candidate=1 (gain=1 mode=b" in shell("tell recipes 1 0.5")
    assert "candidate=0 (gain=0.1" in shell(
        """tell recipes --at '{"gain": 0.1, "mode": "a", "hot": true, "n": 1}' 0.1"""
    )
    assert shell("best recipes").startswith("candidate=")
    assert json.loads(shell("ask recipes --json"))["x"] in (0, 1, 2)
    assert "candidate=1 (" in shell("events recipes")
    assert "candidate=2 (" in shell("predict recipes 2")
    assert "candidate=" in shell("show recipes")
    assert "candidate" in shell("explain recipes")


def test_what_is_refused(shell):
    shell("create recipes --candidates recipes.csv --seed 1")
    assert "available" in shell("ask recipes --available '[7]'", 2)
    assert "--available" in shell("ask recipes --available 'x'", 2)
    assert "give one of" in shell("create other --candidates recipes.csv --arms 3", 2)
    assert "--log-scale" in shell("create other --arms 3 --log-scale gain", 2)
    assert "missing.csv" in shell("create other --candidates missing.csv", 1)
