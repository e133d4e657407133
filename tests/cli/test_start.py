"""The shell starts fast: a verb is loaded when it is called, and without a verb there is help."""

import argparse
import gc
import json
import subprocess
import sys

import pytest

from windvane.cli import main
from windvane.cli.main import COLLECT_EVERY, VERBS, parser
from windvane.cli.study import VERBS as STUDY_VERBS
from windvane.cli.verbs import VerbParser

HEAVY = (
    "windvane.experiments",
    "windvane.cli.bench",
    "windvane.cli.spaces",
    "scipy.linalg",
    "matplotlib",
    "rich",
)


def loaded_by(*words):
    """What the shell has imported once these words were parsed."""
    code = (
        "import json, sys\nfrom windvane.cli.main import parser\n"
        f"try:\n    parser().parse_args({list(words)!r})\nexcept SystemExit:\n    pass\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("words", [("--help",), ("study", "ask", "press"), ("serve", "--port", "0")])
def test_a_verb_brings_no_other_verb(words):
    loaded = loaded_by(*words)
    assert not loaded & set(HEAVY)
    others = {f"windvane.cli.{verb.module or verb.word}" for verb in VERBS}
    others |= {f"windvane.cli.studies.{verb.module or verb.word}" for verb in STUDY_VERBS}
    called = {f"windvane.cli.{words[0]}", f"windvane.cli.studies.{words[1]}" if len(words) > 1 else ""}
    assert not (loaded & others) - called


def test_only_the_parsers_that_are_needed_are_made(monkeypatch):
    made, init = [], argparse.ArgumentParser.__init__

    def counted(self, *args, **keywords):
        init(self, *args, **keywords)
        made.append(self.prog)

    monkeypatch.setattr(argparse.ArgumentParser, "__init__", counted)
    given = parser().parse_args(["study", "ask", "press", "--count", "2"])
    assert made == ["windvane", "windvane study", "windvane study ask"]
    assert (given.name, given.count) == ("press", 2)


def test_a_parser_that_is_not_made_yet_knows_what_it_has():
    verb = VerbParser(prog="press", description="Ask.")
    with pytest.raises(AttributeError, match="'VerbParser' object has no attribute 'nothing'"):
        _ = verb.nothing
    verb = VerbParser(prog="press", description="Ask.")
    verb.add_argument("--count", type=int)
    assert verb.parse_args(["--count", "3"]).count == 3
    assert verb.description == "Ask."


def test_the_program_does_not_take_its_modules_apart_when_it_ends():
    code = (
        "import atexit, gc, sys\n"
        "atexit.register(lambda: print(gc.isenabled(), gc.get_threshold()[0], gc.get_freeze_count() > 10_000))\n"
        "from windvane.cli import main\n"
        "sys.argv[1:] = ['list', 'tasks']\n"
        "sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == f"True {COLLECT_EVERY} True"


def test_a_program_that_calls_the_shell_keeps_its_own_ways(capsys):
    before = gc.get_threshold(), gc.get_freeze_count()
    assert main(["list", "tasks"]) == 0
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


@pytest.mark.parametrize("words", [(), ("study",), ("token",), ("webhook",)])
def test_without_a_verb_there_is_help(capsys, words):
    assert main(words) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith(f"usage: {' '.join(('windvane', *words))}")
    assert "--help" in shown.out
    assert not shown.err


@pytest.mark.parametrize(
    "words", [(verb.word,) for verb in VERBS] + [("study", verb.word) for verb in STUDY_VERBS], ids=" ".join
)
def test_every_verb_has_help_with_its_own_arguments(capsys, words):
    with pytest.raises(SystemExit) as done:
        parser().parse_args([*words, "--help"])
    assert done.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: windvane {' '.join(words)}")
    assert words == ("study",) or shown.count("\n") > 8


def test_asking_needs_no_model_to_know_its_space(tmp_path, capsys, monkeypatch):
    from windvane.study import Study

    place = str(tmp_path / "s.db")
    assert main(["study", "create", "press", "--param", "gain=real:0:1", "--db", place]) == 0

    def nobody(self):
        raise AssertionError("the model was restored to look at its space")

    monkeypatch.setattr(Study, "optimizer", property(nobody))
    for words in (["ask", "press"], ["ask", "press", "--format", "values"], ["tell", "press", "1", "0.5"]):
        assert main(["study", *words, "--db", place]) == 0
