"""A replay with constraints: an optimiser told by hand is the oracle, and the counts are counted anew."""

import csv
import json

import numpy as np
import pytest

import windvane as wv
from windvane.cli.main import main
from windvane.errors import InvalidArgument, InvalidType
from windvane.replay import ConstraintAccount, read_log
from windvane.theory.proportion import wilson

LINE = wv.Box([(0, 1)])
LIMIT = {"heat": wv.AtMost(90, unit="°C")}
COUNT, JUMP = 60, 40


def measured(seed=0):
    """Settings at random, and a heat that jumps."""
    rng = np.random.default_rng(seed)
    points = rng.random((COUNT, 1))
    heat = [70 + 25 * x[0] + (15 if row >= JUMP else 0) + 0.5 * rng.normal() for row, x in enumerate(points)]
    return points, [float(x[0]) for x in points], heat


@pytest.fixture
def log():
    points, values, heat = measured()
    outcomes = [{"heat": h} if row % 5 else {"heat": None} for row, h in enumerate(heat)]
    return wv.Log(points, values, outcomes=outcomes)


def test_events_and_counts_are_those_of_an_optimiser_told_by_hand(log):
    found = wv.replay(log, ["auto", "gp-ucb"], LINE, constraints=LIMIT, seed=3)
    for account in found.accounts:
        opt = wv.make(account.label, LINE, constraints=LIMIT, seed=3)
        events = [
            opt.tell(x, y, **log.outcomes[row])
            for row, (x, y) in enumerate(zip(log.points, log.values, strict=True))
        ]
        assert [e.as_dict() for e in account.events] == [e.as_dict() for e in events]
        heat = account.constraints["heat"]
        told = {e.step: e.outcomes["heat"] for e in events if e.outcomes}
        assert len(told) == COUNT - COUNT // 5
        assert heat.violations == [step for step, each in told.items() if each.value > 90]
        assert heat.violations
        assert heat.resets == [step for step, each in told.items() if each.reset]
        sure = [e for step, e in told.items() if step > found.warmup and e.probability >= 0.95]
        held = heat.held(0.95)
        assert (held.total, held.inside) == (len(sure), sum(e.value <= 90 for e in sure))
        assert (held.low, held.high) == wilson(held.inside, held.total, 0.95)
        assert held.expected >= 0.95
    assert found["auto"].constraints["heat"].resets  # else this tests little
    assert found["auto"].best.feasible is not None


def test_the_report_says_it_all(log):
    found = wv.replay(log, "auto", LINE, constraints=LIMIT)
    text = str(found)
    heat = found.accounts[0].constraints["heat"]
    assert f"heat <= 90 °C: violated at {len(heat.violations)} of 48 measurements, steps " in text
    assert f"auto, heat: {len(heat.resets)} reset" in text
    assert heat.outcomes[heat.resets[0]].reason in text
    assert "within the limits with" in text
    assert "noise included" in text
    plain = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert plain["constraints"] == {"heat": "<= 90 °C"}
    said = plain["algorithms"][0]["constraints"]["heat"]
    assert said["violations"] == heat.violations
    assert [each["level"] for each in said["held"]] == [0.0, 0.5, 0.8, 0.95]
    records = found.records()
    assert records[0]["outcome.heat"] is None
    assert records[1]["outcome.heat"] == log.outcomes[1]["heat"]
    assert records[1]["outcome.heat.probability"] == found.accounts[0].events[1].outcomes["heat"].probability
    assert len({tuple(record) for record in records}) == 1  # the same columns in all
    assert "violated at" in found._repr_html_()


def test_without_constraints_nothing_is_said_of_them(log):
    found = wv.replay(log, "gp-ucb", LINE)
    assert len(found.tables) == 2
    assert not found.violations
    assert "constraints" not in found.as_dict()["algorithms"][0]
    assert not any("outcome" in column for column in found.records()[0])


def test_a_picture_has_a_panel_for_each_constraint(log):
    pytest.importorskip("matplotlib")
    plain, limited = wv.replay(log, "gp-ucb", LINE), wv.replay(log, "gp-ucb", LINE, constraints=LIMIT)
    assert len(limited.plot().axes) == len(plain.plot().axes) + 1


def write_csv(path, column):
    points, values, heat = measured()
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["x1", "y", column])
        for row, (x, y) in enumerate(zip(points, values, strict=True)):
            table.writerow([x[0], y, heat[row] if row % 5 else ""])


@pytest.mark.parametrize("column", ["heat", "outcome.heat"])
def test_columns_of_a_table(tmp_path, log, column):
    write_csv(tmp_path / "log.csv", column)
    read = read_log(tmp_path / "log.csv", LINE, outcomes=["heat"])
    assert read.outcomes == log.outcomes
    assert wv.replay(tmp_path / "log.csv", "gp-ucb", LINE, constraints=LIMIT).accounts[0].constraints


def test_what_is_measured_is_no_parameter_of_a_guessed_space(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("gain,heat,outcome.flow,y\n1,80,2,3\n2,95,3,4\n3,90,4,5\n")
    found = wv.replay(path, "gp-ucb", constraints={"heat": wv.AtMost(90)})
    assert [name for name, _ in found.space.parameters] == ["gain"]
    assert found.accounts[0].constraints["heat"].violations == [2]


def test_lines_of_json(tmp_path):
    path = tmp_path / "log.jsonl"
    lines = [
        {"x": [0.1], "y": 1, "outcomes": {"heat": 80}},
        {"x": [0.2], "y": 1, "heat": 95.5},
        {"x": [0.3], "y": 1},
        {"x": [0.4], "y": 1, "outcomes": {"heat": None}},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    read = read_log(path, LINE, outcomes=["heat"])
    assert read.outcomes == ({"heat": 80.0}, {"heat": 95.5}, {}, {})
    assert read.measured == ("heat",)


def test_the_journal_of_a_study_with_what_was_corrected(tmp_path):
    path = tmp_path / "log.jsonl"

    def told(seq, value, kind="told", **more):
        event = {"time": None, "outcomes": {"heat": {"value": value, "violated": False}}, **more}
        return {"seq": seq, "kind": kind, "x": [0.1 * seq], "y": 1.0, "time": None, "event": event}

    lines = [told(1, 80.0), told(2, 81.0), told(3, 99.0, "corrected", record=2)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_log(path, LINE, outcomes=["heat"]).outcomes == ({"heat": 80.0}, {"heat": 99.0})


def test_mistakes_are_named(tmp_path, log):
    write_csv(tmp_path / "log.csv", "heat")
    with pytest.raises(
        InvalidArgument, match=r"there is no column flow \(or outcome.flow\); has x1, y, heat"
    ):
        wv.replay(tmp_path / "log.csv", "gp-ucb", LINE, constraints={"flow": wv.AtMost(1)})
    with pytest.raises(InvalidArgument, match="has no value of 'flow'; has heat"):
        wv.replay(log, "gp-ucb", LINE, constraints={"flow": wv.AtMost(1)})
    with pytest.raises(InvalidArgument, match=r"Log\(outcomes="):
        wv.replay(wv.Log([[0.1]], [1.0]), "gp-ucb", LINE, constraints=LIMIT)
    with pytest.raises(InvalidType, match="observation 1: outcomes=3"):
        wv.Log([[0.1]], [1.0], outcomes=[3])
    with pytest.raises(InvalidArgument, match="observation 1: heat=nan"):
        wv.Log([[0.1]], [1.0], outcomes=[{"heat": float("nan")}])
    (tmp_path / "bad.csv").write_text("x1,y,heat\n0.1,1,hot\n")
    with pytest.raises(InvalidArgument, match="line 2: heat='hot'"):
        read_log(tmp_path / "bad.csv", LINE, outcomes=["heat"])


def test_in_the_shell(tmp_path, capsys):
    write_csv(tmp_path / "log.csv", "heat")
    command = ["replay", str(tmp_path / "log.csv"), "--box", "0,1", "--algorithm", "gp-ucb"]
    assert main([*command, "--constraint", "heat<=90 °C"]) == 0
    shown = capsys.readouterr().out
    assert "heat <= 90 °C: violated at" in shown
    assert main([*command, "--constraint", "heat<=90", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["constraints"] == {"heat": "<= 90"}
    assert main([*command, "--constraint", "heat"]) == 2
    assert '"heat<=90 °C"' in capsys.readouterr().err
    assert main([*command, "--constraint", "heat<=90", "--constraint", "heat>=9"]) == 2
    assert "'heat' is there twice" in capsys.readouterr().err


def test_where_nothing_was_believed_there_is_no_share():
    account = ConstraintAccount.of("heat", wv.AtMost(1), [], 0)
    assert account.held(0.95).total == 0
    assert account.as_dict()["held"][0]["share"] is None
