"""`windvane calibrate`: what it prints and writes is what `wv.calibrate` computes."""

import csv
import json

import pytest
import shell

import windvane as wv
from windvane.cli import calibrate as verb

SMALL = ("--dim", "1", "--steps", "10", "--runs", "3", "--jobs", "1", "--seed", "2")


def run(capsys, *arguments):
    return shell.run(capsys, "calibrate", *arguments)


def test_json_and_options(capsys):
    code, out, _ = run(
        capsys, *SMALL, "--kernel", "matern52", "--lengthscale", "0.4", "--noise", "0.05", "--true-noise", "0.5",
        "--deltas", "0.05", "0.9", "--jumps", "0.5", "1", "--jump-at", "4", "--algorithm", "et-gp-ucb-backtracking",
        "--json",
    )  # fmt: skip
    report = wv.calibrate(
        "et-gp-ucb-backtracking", wv.Box([(0, 1)]), kernel=wv.Matern52(0.4), noise_variance=0.05,
        true_noise_variance=0.5, deltas=(0.05, 0.9), jumps=(0.5, 1.0), jump_at=4, steps=10, runs=3, seed=2,
    )  # fmt: skip
    assert code == 0
    assert json.loads(out) == report.as_dict()


def test_tables_and_files(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    folder = tmp_path / "new" / "folder"
    code, out, err = run(
        capsys, *SMALL, "--trigger", "posterior-bound", "exact-bound", "--deltas", "0.1", "0.9",
        "--out", str(folder), "--allow", "1",
    )  # fmt: skip
    assert (code, err) == (0, "")
    for text in (
        "PosteriorBound(delta=0.1)",
        "ExactBound(delta=0.9)",
        "jump 0.3",
        "95 % intervals of 3 runs",
    ):
        assert text in out
    assert "Soonest to notice with at most 100.0% of runs in alarm: trigger " in out
    with (folder / "calibration.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    whole = json.loads((folder / "calibration.json").read_text())
    assert len(lines) == len(whole["summary"]) == 4 * 3
    for line, record in zip(lines, whole["summary"], strict=True):
        assert float(line["false_alarms"]) == record["false_alarms"]
        assert line["delay_median"] == ("" if record["delay_median"] is None else str(record["delay_median"]))
    assert "PosteriorBound(delta=0.1)" in (folder / "calibration.txt").read_text(encoding="utf-8")
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "figure.pdf").read_bytes().startswith(b"%PDF")


def test_jobs_do_not_matter(capsys):
    small = (*SMALL, "--deltas", "0.9", "--jumps", "1", "--json")
    _, alone, _ = run(capsys, *small)
    code, shared, _ = run(capsys, *small, "--jobs", "2")
    assert code == 0
    assert shared == alone


def test_every_trigger_that_needs_a_delta_only_can_be_typed():
    assert {"posterior-bound", "exact-bound", "likelihood", "e-detector"} <= set(verb.TRIGGERS)
    for kind in verb.TRIGGERS.values():
        assert kind(delta=0.2).delta == 0.2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--kernel", "matern"), "--kernel='matern': unknown; did you mean"),
        (("--trigger", "exact"), "did you mean 'exact-bound'?"),
        (("--deltas", "2"), "deltas=2.0"),
        (("--jumps", "0"), "jumps=0.0"),
        (("--steps", "1"), "steps=1"),
        (("--jump-at", "11"), "jump_at=11"),
        (("--runs", "0"), "runs=0"),
        (("--jobs", "0"), "--jobs=0"),
        (("--dim", "0"), "--dim=0"),
        (("--noise", "0"), "noise_variance=0.0"),
        (("--true-noise", "nan"), "true_noise_variance=nan"),
        (("--lengthscale", "0.1", "0.2", "0.3"), "3 lengthscales for 1"),
        (("--allow", "2"), "--allow=2.0"),
        (("--algorithm", "gp-ucb"), "has no trigger to calibrate"),
        (("--seed", "x"), "invalid int value"),
    ],
)
def test_mistakes(capsys, tmp_path, arguments, says):
    code, out, err = run(capsys, *SMALL, "--out", str(tmp_path / "out"), *arguments)
    assert code == 2
    assert out == ""
    assert says in err
    assert not (tmp_path / "out").exists()


def test_nothing_to_recommend(capsys):
    code, out, err = run(
        capsys, *SMALL, "--true-noise", "5", "--deltas", "0.9", "--jumps", "1", "--allow", "0"
    )
    assert code == 2
    assert "number per run" in out  # the table is shown all the same
    assert "false_alarms=0.0: no delta keeps to it" in err


def test_a_folder_that_cannot_be_written(capsys, tmp_path):
    (tmp_path / "taken").write_text("")
    code, _, err = run(capsys, *SMALL, "--out", str(tmp_path / "taken"))
    assert code == 2
    assert "choose a folder you can write to" in err
