"""Where things are printed: nothing but results on standard output, and no traceback whatever it can show."""

import csv
import os
import subprocess
import sys

import pytest

from windvane.cli import main, running
from windvane.study.importing import tell_all


def shell(*words, **more):
    return subprocess.run(
        [sys.executable, "-m", "windvane", *words], capture_output=True, text=True, check=False, **more
    )


@pytest.fixture
def log(tmp_path):
    with (tmp_path / "log.csv").open("w") as file:
        csv.writer(file).writerows([("x1", "y"), *((i / 9, i % 3) for i in range(10))])
    return str(tmp_path / "log.csv")


def test_replay_into_a_pipe_that_nobody_reads_ends_quietly(log):
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "windvane", "replay", log, "--algorithm", "random"],
            stdout=write, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_an_ascii_terminal_gets_letters_spelt_out(tmp_path, log):
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    place = str(tmp_path / "s.db")
    words = [
        "study",
        "create",
        "press",
        "--param",
        "gain=real:0:1",
        "--constraint",
        "heat<=90 °C",
        "--db",
        place,
    ]
    for arguments, said in (
        (words, "heat"),
        (["study", "show", "press", "--db", place], "heat"),
        (["replay", log, "--algorithm", "random"], "random"),
    ):
        done = shell(*arguments, env=ascii_only)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
        assert done.stdout.isascii()
        assert said in done.stdout
    assert shell("study", "ask", "nõne", "--db", place, env=ascii_only).returncode == 3


def test_columns_stay_where_they_are_on_an_ascii_terminal(tmp_path, log):
    """± is two letters there, and was four: \\xb1."""
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = shell("replay", log, "--algorithm", "random", "--algorithm", "gp-ucb", env=ascii_only)
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    edges = {tuple(place for place, letter in enumerate(line) if letter == "|") for line in rows}
    assert len(edges) == 2, rows  # of two tables
    assert "+- " in done.stdout
    assert "\\x" not in done.stdout
    latin = shell(
        "replay",
        log,
        "--algorithm",
        "random",
        env={**ascii_only, "PYTHONIOENCODING": "latin-1"},
        encoding="latin-1",
    )
    assert "±" in latin.stdout
    assert "–" not in latin.stdout  # which it does not have


def test_an_export_to_standard_output_is_utf_8_whatever_the_terminal(tmp_path, capsysbinary):
    place = str(tmp_path / "s.db")
    assert main(["study", "create", "press", "--param", "mode=choice:é,b", "--db", place]) == 0
    capsysbinary.readouterr()
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    main(["study", "tell", "press", "--at", '{"mode": "é"}', "1", "--db", place])
    command = [sys.executable, "-m", "windvane", "study", "export", "press", "-", "--db", place]
    done = subprocess.run(command, capture_output=True, check=True, env=ascii_only)
    assert "é".encode() in done.stdout


def test_progress_is_not_on_standard_output(tmp_path, capsys, log):
    assert main(["replay", log, "--algorithm", "random"]) == 0
    shown = capsys.readouterr()
    assert "0:00:" not in shown.out  # no time that is left
    assert not shown.err


def test_whoever_interrupts_a_benchmark_hears_that_it_can_be_continued(tmp_path, capsys, monkeypatch):
    def interrupted(*_args, **_more):
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "execute", interrupted)
    words = ["bench", "--algorithms", "random", "--tasks", "within-model", "--runs", "1", "--jobs", "1"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 130
    said = capsys.readouterr().err
    assert f"kept in {tmp_path / 'out' / 'runs.sqlite'}; the same command continues" in said


def test_whoever_interrupts_an_import_hears_that_it_can_be_continued(tmp_path, capsys, monkeypatch, log):
    place = str(tmp_path / "s.db")
    assert main(["study", "create", "press", "--box", "0,1", "--db", place]) == 0

    def interrupted(*_args, **_more):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"{tell_all.__module__}.tell_all", interrupted)
    assert main(["study", "import", "press", log, "--db", place]) == 130
    assert "the same command goes on from there" in capsys.readouterr().err
