"""`windvane replay`: what it prints and writes is what `wv.replay` computes."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
import shell

import windvane as wv
from windvane.replay import read_log


def run(capsys, *arguments):
    return shell.run(capsys, "replay", *arguments)


@pytest.fixture
def log(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "log.csv"
    rows = [f"{step},{x},{np.sin(6 * x) + 0.1 * rng.normal()},ann" for step, x in enumerate(rng.random(16))]
    path.write_text("\n".join(["time,x1,y,who", *rows]) + "\n")
    return path


def timeless(found):
    """Without what differs from run to run."""
    for entry in found["algorithms"]:
        del entry["seconds_a_step"]
    return found


def test_json_and_options(capsys, log):
    code, out, _ = run(
        capsys, log, "--algorithm", "r-gp-ucb:period=5", "--algorithm", "gp-ucb", "--box", "0,1", "--goal", "minimize",
        "--seed", "4", "--warmup", "3", "--json",
    )  # fmt: skip
    space = wv.Box([(0, 1)])
    found = wv.replay(
        read_log(log, space), ["r-gp-ucb:period=5", "gp-ucb"], space, goal="minimize", seed=4, warmup=3
    )
    assert code == 0
    assert timeless(json.loads(out)) == timeless(json.loads(json.dumps(found.as_dict())))
    assert len(found["r-gp-ucb:period=5"].resets) == 3


def test_a_space_is_told_in_words(capsys, log):
    code, out, _ = run(
        capsys, log, "--algorithm", "random", "--param", "x1=real:0:1:unit=bar", "--metadata", "who"
    )
    assert code == 0
    assert "maximize; x1: real, 0 to 1 bar\n" in out


def test_tables_and_files(capsys, log, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    folder = tmp_path / "new" / "folder"
    code, out, err = run(
        capsys,
        log,
        "--algorithm",
        "r-gp-ucb:period=9",
        "--algorithm",
        "random",
        "--metadata",
        "who",
        "--out",
        folder,
    )
    assert (code, err) == (0, "")
    for text in (
        "SPACE GUESSED",
        "ahead of",
        "95 % interval",
        "time 8 (step 9): period over",
        "random: no reset",
        "no regret",
    ):
        assert text in out
    names = ["events.csv", "figure.pdf", "figure.png", "replay.json", "replay.txt"]
    assert sorted(file.name for file in folder.iterdir()) == names
    whole = json.loads((folder / "replay.json").read_text())
    with (folder / "events.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 32
    events = [event for entry in whole["algorithms"] for event in entry["events"]]
    for line, event in zip(lines, events, strict=True):
        assert float(line["mean"]) == event["mean"]
        assert float(line["x1"]) == event["x"][0]
        assert (line["reset"] == "True") is event["reset"]
        assert line["metadata.who"] == "ann"
    assert (folder / "figure.png").read_bytes()[:4] == b"\x89PNG"
    again = read_log(folder / "events.csv", wv.Box([(0, 1)]), sort=True)  # a replay can be replayed
    assert len(again) == 32


def test_each_value_is_in_the_column_of_its_name(capsys, tmp_path):
    log = tmp_path / "log.jsonl"
    points = [{"gain": 1, "flow": 100}, {"flow": 120, "gain": 2}, {"gain": 3, "flow": 110}]
    log.write_text("".join(json.dumps({"x": x, "y": 0.5}) + "\n" for x in points))
    assert run(capsys, log, "--algorithm", "random", "--out", tmp_path)[0] == 0
    with (tmp_path / "events.csv").open(encoding="utf-8") as file:
        lines = [(float(line["x.gain"]), float(line["x.flow"])) for line in csv.DictReader(file)]
    assert lines == [(1, 100), (2, 120), (3, 110)]


def test_a_narrow_terminal(capsys, log, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(capsys, log, "--algorithm", "random", "--algorithm", "gp-ucb", "--box", "0,1")
    assert code == 0
    table = [line for line in out.splitlines() if line[:1] in "┏┃┡│└"]
    assert table
    assert max(map(len, table)) <= 80
    assert "covers" in out


def test_auto_is_the_default_and_times_can_be_ignored(capsys, log):
    code, out, _ = run(capsys, log, "--box", "0,1", "--ignore-times", "--json")
    found = json.loads(out)
    assert code == 0
    assert [entry["algorithm"] for entry in found["algorithms"]] == ["auto"]
    assert [event["time"] for event in found["algorithms"][0]["events"]] == [float(n) for n in range(1, 17)]


def test_sort_skip_and_format(capsys, log, tmp_path):
    table = pd.read_csv(log).sample(frac=1.0, random_state=0)
    table.loc[table.index[3], "y"] = None
    path = tmp_path / "shuffled.dat"
    table.to_csv(path, index=False)
    common = (path, "--algorithm", "random", "--box", "0,1", "--json")
    code, _, err = run(capsys, *common)
    assert code == 2
    assert "--format" in err
    code, _, err = run(capsys, *common, "--format", "csv")
    assert code == 2
    assert "--skip-missing" in err
    code, _, err = run(capsys, *common, "--format", "csv", "--skip-missing")
    assert code == 2
    assert "--sort" in err
    code, out, _ = run(capsys, *common, "--format", "csv", "--skip-missing", "--sort")
    assert code == 0
    assert json.loads(out)["observations"] == 15


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--algorithm", "nobody"], "nobody"),
        (["--box", "0,0.5"], "log.csv, line "),
        (["--arms", "3"], "must be a whole number"),
        (["--box", "0,1", "--arms", "3"], "give one of"),
        (["--warmup", "16"], "warmup=16"),
        (["--goal", "sideways"], "goal='sideways'"),
        (["--metadata", "when"], "'when'"),
    ],
)
def test_mistakes_are_named(capsys, log, arguments, said):
    code, out, err = run(capsys, log, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("windvane: ")
    assert said in err


def test_a_folder_that_cannot_be_written_is_found_out_first(capsys, log):
    code, _, err = run(capsys, log, "--algorithm", "random", "--box", "0,1", "--out", "/proc/nowhere")
    assert code == 2
    assert "choose a folder you can write to" in err
