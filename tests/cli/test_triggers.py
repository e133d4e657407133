"""`windvane triggers`: a tiny real study, its files, mistakes."""

import json

import pytest
import shell
from inline import Inline

from windvane.cli import running, triggers
from windvane.experiments.executors import Borrowed
from windvane.experiments.triggers import TriggerStudyPlan


def run(capsys, *arguments):
    return shell.run(capsys, "triggers", *arguments)


def test_a_tiny_study(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "workers_for", lambda given: Borrowed(Inline()))
    monkeypatch.setattr(triggers, "QUICK", TriggerStudyPlan(static=2, moving=1, lengths=1))
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "--quick", "--seed", "3", "--out", "out", "--markdown", "page.md")
    assert (code, err) == (0, "")
    for text in ("While nothing changes", "After a jump", "Under slow drift", "ExactBound", "triggers.json"):
        assert text in out
    assert "`windvane triggers --quick --seed 3 --markdown page.md`" in (tmp_path / "page.md").read_text()
    assert (tmp_path / "images" / "triggers.png").is_file()
    assert (tmp_path / "out" / "figure.pdf").read_bytes().startswith(b"%PDF")
    assert len(json.loads((tmp_path / "out" / "triggers.json").read_text())["first alarms"]["static"]) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--seed", "-1"), "--seed=-1: must be an integer at least 0"),
        (("--jobs", "0"), "--jobs=0: must be an integer at least 1"),
        (("--out", "taken"), "choose a folder you can write to"),
        (("--markdown", "."), "is a folder; must be a file"),
    ],
)
def test_mistakes(capsys, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("")
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert says in err
