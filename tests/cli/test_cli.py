"""The command line: list, demo, and what is said when something is wrong."""

import argparse
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from shell import run

import windvane as wv
from windvane.algorithms import ALGORITHMS
from windvane.cli import main, terminal
from windvane.cli.main import parser
from windvane.cli.verbs import VerbParser
from windvane.errors import MissingExtra
from windvane.experiments import demo
from windvane.experiments.paper import EXPERIMENTS
from windvane.options.declared import OPTIONS


def test_list(capsys):
    code, out, err = run(capsys, "list")
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    names = {words[0] for words in lines if words}
    assert (
        set(wv.algorithms()) | set(wv.tasks()) | {"PosteriorBound", "Never", "Periodic", "NoImprovement"}
        <= names
    )
    headings = [line for line in out.splitlines() if line and not line.startswith(" ")]
    assert headings == ["algorithms", "triggers", "tasks", "experiments"]
    assert set(EXPERIMENTS) <= names
    assert all(
        len(words) > 1 for words in lines if words and words != ["algorithms"] and words[0] not in headings
    )


def test_list_json(capsys):
    code, out, _ = run(capsys, "list", "--json")
    found = json.loads(out)
    assert code == 0
    assert set(found) == {"algorithms", "triggers", "tasks", "experiments"}
    assert set(found["algorithms"]) == set(wv.algorithms())
    assert all(isinstance(line, str) and line for lines in found.values() for line in lines.values())


def test_list_one_kind_with_options(capsys):
    code, out, _ = run(capsys, "list", "tasks", "--options")
    assert code == 0
    assert "lengthscale" in out
    assert "et-gp-ucb" not in out
    code, out, _ = run(capsys, "list", "triggers", "--json")
    assert set(json.loads(out)) == {"triggers"}
    assert "ResetWindow" not in json.loads(out)["triggers"]


@pytest.mark.parametrize("width", [80, 120])
def test_list_says_what_each_option_is_for(capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, err = run(capsys, "list", "--options")
    assert (code, err) == (0, "")
    said = " ".join(out.split())
    for name, about in OPTIONS.items():
        assert f" {name} {about.purpose} allowed {about.allowed} default" in said
    for entry in ALGORITHMS.values():
        for option, about in entry.options.items():
            assert f" {option} {about.purpose} allowed {about.allowed} default" in said
            assert about.default_text in said
    assert max(map(len, out.splitlines())) <= width
    assert "no limit; in auto: 300" in said
    assert "taken by all but random" in said


def test_list_the_options_of_one_algorithm(capsys):
    code, out, _ = run(capsys, "list", "--options", "tv-gp-ucb")
    assert code == 0
    options = [line.split()[0] for line in out.partition("options\n")[2].splitlines() if line[2:3] != " "]
    assert options == list(ALGORITHMS["tv-gp-ucb"].options)
    assert "taken by" not in out


def test_list_one_option(capsys):
    code, out, _ = run(capsys, "list", "--options", "delta")
    assert code == 0
    assert out.count("  delta  ") == 2  # of a trigger, and of IGP-UCB
    assert "kernel" not in out


@pytest.mark.parametrize("name", ["PosteriorBound", "within-model"])
def test_list_the_options_of_a_trigger_or_a_task(capsys, name):
    code, out, _ = run(capsys, "list", "--options", name)
    assert code == 0
    assert {"PosteriorBound": "delta, noise_cap", "within-model": "rate, horizon"}[name] in out
    assert "allowed" not in out


def test_list_options_of_a_kind_in_either_order(capsys):
    assert run(capsys, "list", "--options", "tasks") == run(capsys, "list", "tasks", "--options")


def test_list_options_for_scripts(capsys):
    _, out, _ = run(capsys, "list", "--options", "--json")
    found = json.loads(out)
    assert found["algorithms"]["tv-gp-ucb"]["options"] == list(ALGORITHMS["tv-gp-ucb"].options)
    assert {row["name"] for row in found["options"]} == set(OPTIONS)
    _, out, _ = run(capsys, "list", "--options", "et-gp-ucb", "--json")
    (delta,) = [row for row in json.loads(out)["options"] if row["name"] == "delta"]
    assert (delta["allowed"], delta["default"]) == ("a number above 0 and below 1", "0.1")


def test_list_options_of_what_there_is_not(capsys):
    code, _, err = run(capsys, "list", "--options", "detla")
    assert code == 2
    assert "--options='detla': unknown; did you mean 'delta'?" in err


@pytest.mark.parametrize(
    "arguments", [("dance",), ("list", "nothing"), ("demo", "--seeds", "x"), ("list", "--jsn")]
)
def test_mistakes_exit_with_2(capsys, arguments):
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert "usage: windvane" in err


@pytest.mark.parametrize("verb", ["study", "replay", "serve", "bench", "study ask"])
def test_sentences_of_help_are_broken_between_words(capsys, monkeypatch, verb):
    monkeypatch.setenv("COLUMNS", "200")
    wide = run(capsys, *verb.split(), "--help")[1]
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(capsys, *verb.split(), "--help")[1].splitlines()
    assert all(len(line) < 80 for line in lines if line[:1] != " ")
    pasted = " ".join(" ".join(lines).replace("\\ ", " ").split())
    for line in wide.splitlines():
        if line.startswith("  windvane"):  # each can still be pasted, and its remark stands above it
            command, *remark = re.split(r"(?<=\S) {2,}", line.rstrip("\\ "))
            assert " ".join([f"# {each}" for each in remark] + [command.strip()]) in pasted
    assert max(map(len, wide.splitlines())) > 80


def test_demo(capsys, tmp_path):
    out_folder = tmp_path / "new" / "folder"
    code, out, err = run(
        capsys,
        "demo",
        "--seeds",
        "1",
        "--steps",
        "30",
        "--rate",
        "0.2",
        "--jobs",
        "1",
        "--out",
        str(out_folder),
    )
    assert (code, err) == (0, "")
    for name in ("auto", "static", "GP-UCB", "TV-GP-UCB", "ET-GP-UCB"):
        assert f"│ {name} " in out
    assert "kernel, noise, rate" in out
    for does in ("stands still", "drifts", "jumps"):
        assert f"Where the world {does}, " in out
    assert "Resets of auto in run 0 of the world that jumps (at 11 and 21), and why:" in out
    assert "windvane serve --demo" in out
    assert str(out_folder / "demo.png") in out
    assert (out_folder / "demo.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("columns", [80, 100])
def test_the_table_of_the_demo_fits(capsys, monkeypatch, tmp_path, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    made = [run_of_the_demo(world, name) for world in demo.WORLDS for name in demo.RIVALS for _ in range(2)]
    monkeypatch.setattr(demo, "execute", lambda *_, **__: iter(made))
    _, out, _ = run(capsys, "demo", "--seeds", "2", "--steps", "4", "--out", str(tmp_path))
    table = [line for line in out.splitlines() if line.startswith(("┃", "│", "└"))]
    assert len(table) == 2 + 2 * len(demo.RIVALS)
    assert all(len(line) <= columns for line in table)
    for cell in ("0.25–0.25", "0.25", "1000.0", "kernel, noise, rate", "TV-GP-UCB", "jumps", "ms"):
        assert any(cell in line for line in table), cell
    assert "Where the world drifts, nobody was ahead of auto." in out


def run_of_the_demo(world, name):
    """A run that never was: a regret of 1/4 at each of four steps, a second per step."""
    return demo.DemoRun(world, name, 0, np.full(4, 0.25), (), (2, 3) if world == "jumps" else (), 4.0)


def test_the_demo_names_who_was_ahead():
    medians = {"auto": 0.5, "static": 0.6, "gp-ucb": 0.4, "tv-gp-ucb": 0.3, "et-gp-ucb": 0.5}
    runs = {
        ("drift", name): [demo.DemoRun("drift", name, 0, np.full(3, regret), (), (), 1.0)]
        for name, regret in medians.items()
    }
    assert demo.ahead(runs, "drift") == ["tv-gp-ucb", "gp-ucb"]


def test_nobody_in_the_demo_is_told_more_than_the_table_says(monkeypatch):
    monkeypatch.setattr(demo, "make", lambda _name, _space, seed, **options: options)
    world = demo.objective(demo.DemoPlan(steps=20), "drift", 0)
    told = {name: set(demo.optimiser(name, world, 0)) for name in demo.RIVALS}
    assert told == {
        "auto": set(),
        "static": {"hypotheses", "hazard", "outliers"},
        "gp-ucb": {"kernel", "noise_variance"},
        "tv-gp-ucb": {"kernel", "noise_variance", "rate"},
        "et-gp-ucb": {"kernel", "noise_variance"},
    }
    assert [hypothesis.label for hypothesis in demo.NEVER_CHANGES["hypotheses"]] == ["static"]


def test_a_short_demo(capsys, tmp_path):
    code, _, err = run(capsys, "demo", "--seeds", "1", "--steps", "5", "--jobs", "1", "--out", str(tmp_path))
    assert (code, err) == (0, "")
    assert (tmp_path / "demo.png").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--seeds", "0"),
        ("--steps", "1"),
        ("--steps", "-3"),
        ("--jobs", "0"),
        ("--rate", "7"),
        ("--rate", "nan"),
    ],
)
def test_demo_names_the_wrong_argument(capsys, tmp_path, option, value):
    settings = {"--seeds": "1", "--steps": "12", "--jobs": "1", "--out": str(tmp_path), option: value}
    code, _, err = run(capsys, "demo", *(word for pair in settings.items() for word in pair))
    assert code == 2
    assert err.startswith("windvane: ")
    assert option.removeprefix("--") in err
    assert value in err
    assert err.count("\n") == 1
    assert not (tmp_path / "demo.png").exists()


def test_a_folder_that_is_a_file(capsys, tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("")
    code, _, err = run(capsys, "demo", "--seeds", "1", "--steps", "12", "--jobs", "1", "--out", str(taken))
    assert code == 1
    assert err.startswith("windvane: ")
    assert str(taken) in err


def test_a_missing_extra_says_how_to_get_it(capsys, monkeypatch, tmp_path):
    def absent(module, extra):
        raise MissingExtra(f"this needs {module}: pip install 'windvane[{extra}]'")

    monkeypatch.setattr(terminal, "require", absent)
    code, _, err = run(capsys, "demo", "--out", str(tmp_path))
    assert code == 2
    assert "pip install 'windvane[demo]'" in err


def test_interrupted(capsys, monkeypatch, tmp_path):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("windvane.experiments.demo.execute", stopped)
    code, _, err = run(capsys, "demo", "--out", str(tmp_path))
    assert (code, err) == (130, "windvane: interrupted\n")


def test_as_a_module():
    found = subprocess.run(
        [sys.executable, "-m", "windvane", "list", "tasks"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (found.returncode, found.stderr) == (0, "")
    assert "within-model" in found.stdout


@pytest.mark.parametrize("words", [("bench",), ("study", "list"), ("study", "ask", "press"), ("study",), ()])
def test_an_unknown_option_is_told_with_the_usage_of_its_verb(words, capsys):
    with pytest.raises(SystemExit) as raised:
        main([*words, "--bogus"])
    assert raised.value.code == 2
    said = capsys.readouterr().err
    called = " ".join(["windvane", *[word for word in words if word != "press"]])
    assert said.startswith(f"usage: {called} [-h]")
    assert f"{called}: error: unrecognized arguments: --bogus" in said


def every_verb(top, words=()):
    """The words of each verb that does something, and of each that has verbs of its own."""
    yield words
    if isinstance(top, VerbParser):
        top.load()
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                yield from every_verb(below, (*words, name))


@pytest.mark.parametrize("width", [80, 120])
def test_every_help_fits_the_terminal(capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    verbs = list(every_verb(parser()))
    assert ("study", "tell") in verbs
    for words in verbs:
        with pytest.raises(SystemExit):
            parser().parse_args([*words, "--help"])
        out = capsys.readouterr().out
        wide = [line for line in out.splitlines() if len(line) > width and not line.startswith("    ")]
        assert wide == [], words


def test_an_example_of_a_help_can_be_pasted_from_a_narrow_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        parser().parse_args(["study", "tell", "--help"])
    out = capsys.readouterr().out
    assert "  # measured three times\n  windvane study tell filter 7 0.93 0.88 0.91\n" in out
