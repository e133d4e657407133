"""A hand on the wheel in a shell."""

import json
import re

import pytest
from shell import reader

import windvane as wv
from windvane.cli import main
from windvane.study import Study


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WINDVANE_DB", str(tmp_path / "studies.db"))

    run = reader(capsys, "study")
    run("create mill --box 0,1 0,1 --seed 1")
    for y in (0.1, 0.2, 80.0, 0.3, 0.2):
        trial = json.loads(run("ask mill --json"))["number"]
        run(f"tell mill {trial} {y}")
    return run


def test_all_verbs(shell, tmp_path):
    assert shell('reset mill "new pump"') == "RESET after step 5: new pump; nothing told before is in use\n"
    assert "trial 3: y = 80 taken back" in shell('retract mill 3 --reason "sensor was cold"')
    assert "trial 2: y = 0.25, which was 0.2" in shell("correct mill 2 0.25")
    assert "trial 2: y = -1e-05" in shell("correct mill 2 -1e-05")
    said = shell("change-space mill --box 0,0.5 0,1 --reason 'valve replaced'")
    assert "outside left out" in said
    assert "0 to 0.5" in said or "0.5" in said
    log = shell("events mill")
    for kind in ("reset", "retracted", "corrected", "redefined"):
        assert kind in log
        assert len(shell(f"events mill --kind {kind} --json").splitlines()) == (
            2 if kind == "corrected" else 1
        )
    explained = shell("explain mill")
    assert re.search(r"A reset was asked for after step \d, none since .*: new pump", explained)
    assert "taken back (sensor was cold)" in explained
    with Study.open(tmp_path / "studies.db", "mill") as study:
        assert study.space.bounds[0] == (0.0, 0.5)
    assert "made anew" in shell("rebuild mill")


def test_repeats_and_noise_are_put_right(shell):
    said = shell("correct mill 2 0.2 0.4 --std 0.02")
    assert "trial 2: y = 0.3 ± 0.02 (mean of 2, ± of each), which was 0.2; " in said
    said = shell("correct mill 2 --noise-variance 0.01")
    assert "trial 2: y = 0.3 ± 0.1 (mean of 2, ± of each), which was 0.3; " in said


def test_a_record_that_nobody_asked_for_and_keys(shell):
    seq = json.loads(shell("tell mill --at [0.5,0.5] 9 --json"))["seq"]
    first = json.loads(shell(f"retract mill --record {seq} --key k --json"))
    assert json.loads(shell(f"retract mill --record {seq} --key k --json")) == first
    assert first["event"]["record"] == seq


def test_several_at_once_and_dates(shell):
    lines = shell("ask mill --count 3 --format values").splitlines()
    assert [line.split()[0] for line in lines] == ["6", "7", "8"]
    assert len(shell("ask mill --count 2 --json").splitlines()) == 2
    told = json.loads(shell("tell mill 6 0.4 --time 2026-03-01T12:00:00+01:00 --json"))
    assert told["time"] == 1772362800.0
    assert "time zone" in shell("tell mill 7 0.4 --time 2026-03-01T13:00:00", 2)
    assert "neither a number" in shell("tell mill 7 0.4 --time soon", 2)


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("retract mill", 2, "either TRIAL or --record"),
        ("retract mill 1 --record 2", 2, "either TRIAL or --record"),
        ("retract mill 99", 3, "trial=99"),
        ("retract mill --record 99", 3, "record=99"),
        ("correct mill 1 nan", 2, "y=nan"),
        ("correct mill 1 much", 2, "much"),
        ("correct mill 1 0.5 --std 0", 2, "std=0.0: must be a finite number above 0"),
        ("correct mill --record 1 0.5", 4, "kind 'asked'"),
        ("change-space mill", 2, "needs a space"),
        ("change-space mill --arms 3", 2, "create another study"),
        ("change-space mill --box 0,1 0,1", 2, "already"),
        ("reset nobody", 3, "nobody"),
        ("ask mill --count 0", 2, "count"),
    ],
)
def test_mistakes(shell, line, code, said):
    before = shell("show mill --json")
    assert said in shell(line, code)
    assert shell("show mill --json") == before


def test_what_was_done_twice(shell):
    shell("retract mill 3")
    assert "taken back already" in shell("retract mill 3", 4)
    assert "taken back" in shell("correct mill 3 0.5", 4)


def test_one_reset_is_not_1_resets(tmp_path, capsys):
    with Study.create(tmp_path / "s.db", "s", wv.Box([(0, 1)]), seed=0, trigger=wv.Periodic(5)) as study:
        for n in range(5):
            study.add([n / 5], float(n))
    assert main(["study", "retract", "s", "--record", "1", "--db", str(tmp_path / "s.db")]) == 0
    assert (
        capsys.readouterr().out
        == "record 1: y = 0 taken back; 4 in use\nnote: 1 reset undone by that, 0 new\n"
    )


def test_resets_that_were_undone_are_not_the_last_one(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WINDVANE_DB", str(tmp_path / "studies.db"))
    known = {"kernel": wv.RBF(0.2), "noise_variance": 0.01, "seed": 0}
    with wv.Study.create(tmp_path / "studies.db", "plant", wv.Box([(0, 1)]), "et-gp-ucb", **known) as study:
        for n in range(12):
            study.tell(study.ask(), 50.0 if n == 8 else 0.1)
        assert study.summary().resets == 2
        study.retract(9)
        assert "closest to one lately" not in str(study.explain()) or study.explain().nearest < 1.0
    assert main(["study", "show", "plant"]) == 0
    said = capsys.readouterr().out
    assert "2, of which 2 undone by hand" in said
    assert "last reset" not in said
    assert main(["study", "show", "plant", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["reset"] is None


def test_where_all_was_taken_back_there_is_no_best(shell):
    shell("create p --box 0,1 --seed 1")
    shell("tell p --at [0.5] 1")
    shell("retract p --record 1")
    assert "nothing is known before the first tell" in shell("best p", code=4)


def test_a_number_alone_is_no_point_of_a_box(shell):
    shell("create p --box 0,1 --seed 1")
    shell("create q --box 0,1 0,1 --seed 1")
    for line, said in (
        ("tell p --at 0.3 1", "--at 0.3: must be a list of 1 number, as in '[0.3]'"),
        ("tell q --at 0.3 1", "--at 0.3: must be a list of 2 numbers, as in '[0.3, 0.5]'"),
        ("predict p 0.3", "POINT 0.3: must be a list of 1 number, as in '[0.3]'"),
    ):
        assert said in shell(line, code=2)
