"""Known noise and repeats in a study: in the journal, after a crash, exported, imported, replayed."""

import json
import math

import numpy as np
import pytest

import windvane as wv
from windvane.errors import Conflict, InvalidArgument
from windvane.replay import read_log
from windvane.study import Study

BOX = wv.Box([(0, 1)])
TOLD = [
    {"y": 0.3},
    {"y": 0.5, "noise_variance": 0.02},
    {"y": [0.4, 0.6, 0.5]},
    {"y": 0.1, "std": 0.3},
    {"y": [0.2, 0.3], "std": 0.1},
    {"y": [0.7]},
]


def lived(path, algorithm="auto"):
    study = Study.create(path, "s", BOX, algorithm, seed=3)
    for number in range(24):
        told = TOLD[number % len(TOLD)]
        if number % 5 == 4:
            study.add([0.04 * number], **told)
        else:
            study.tell(study.ask(), **told)
    return study


@pytest.mark.parametrize("algorithm", ["auto", "et-gp-ucb"])
def test_a_journal_tells_the_same_again(tmp_path, algorithm):
    with lived(tmp_path / "a.db", algorithm) as study:
        state = study.optimizer.state()
        study.forget()  # as after a crash
        assert study.optimizer.state() == state
        study.rebuild()
        assert study.optimizer.state() == state
        events = study.events(kinds=["told"])
    twin = wv.make(algorithm, BOX, seed=3)
    for number, record in enumerate(events):
        event = twin.tell(np.array(record.x), **TOLD[number % len(TOLD)])
        assert json.loads(json.dumps(event.as_dict())) == record.event
        assert record.y == event.y
    assert twin.state() == state


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_what_was_exported_is_imported_and_replayed_with_its_noise(tmp_path, kind):
    path = tmp_path / f"out.{kind}"
    with lived(tmp_path / "a.db") as study, Study.create(tmp_path / "b.db", "s", BOX, seed=3) as other:
        study.export(path)
        assert other.import_log(path) == 24
        records = study.events(kinds=["told"])
        assert [r.event for r in other.events(kinds=["told"])] == [r.event for r in records]
        assert other.optimizer.state() == study.optimizer.state()
    events = wv.replay(path, "auto", BOX, seed=3)["auto"].events
    assert [event.told_variance for event in events] == [r.event["told_variance"] for r in records]
    assert [list(event.values) for event in events] == [r.event["values"] for r in records]


def test_the_table_says_what_was_told(tmp_path):
    import csv

    with lived(tmp_path / "a.db") as study:
        study.export(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "told"][:6]
    assert [row["repeats"] for row in rows] == ["", "", "3", "", "2", "1"]
    assert [row["values"] for row in rows[2:3]] == ["[0.4,0.6,0.5]"]
    assert [float(row["noise_variance"] or "nan") for row in rows[1:5:2]] == [0.02, 0.3**2]


def test_a_log_by_hand_may_have_noise(tmp_path):
    table = tmp_path / "log.csv"
    table.write_text("x1,y,std\n0.1,1.0,0.5\n0.4,1.5,\n0.9,2.0,0.1\n")
    log = read_log(table)
    assert log.points[0] == [0.1]
    assert log.noise == (0.25, None, 0.1**2)
    lines = tmp_path / "log.jsonl"
    lines.write_text('{"x": [0.1], "y": [1.0, 2.0], "std": 0.5}\n{"x": [0.4], "y": 1.5}\n')
    log = read_log(lines)
    assert log.values == (1.5, 1.5)
    assert log.told(0) == {"y": [1.0, 2.0], "noise_variance": 0.25}
    assert wv.replay(lines, "gp-ucb", BOX)["gp-ucb"].events[0].repeats == 2
    with Study.create(tmp_path / "a.db", "s", BOX) as study:
        assert study.import_log(table) == 3
        assert [r.event["told_variance"] for r in study.events()] == [0.25, None, 0.1**2]


def test_a_parameter_called_std_is_a_parameter(tmp_path):
    table = tmp_path / "log.csv"
    table.write_text("std,y\n0.1,1.0\n0.4,1.5\n")
    log = read_log(table, wv.Space(std=wv.Real(0, 1)))
    assert log.points[1] == {"std": 0.4}
    assert log.noise == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x1,y,std\n0.1,1.0,-0.5\n", "line 2: std=-0.5: must be a finite number above 0"),
        ("x1,y,std\n0.1,1.0,much\n", "line 2: std='much': must be a finite number"),
        ("x1,y,std,noise_variance\n0.1,1.0,0.5,0.5\n", "line 2: noise_variance=0.5 with std=0.5"),
        ("x1,y,values\n0.1,1.0,1;2\n", "line 2: values='1;2': must be a list of repeats"),
        ('x1,y,values\n0.1,1.0,"[1.0, null]"\n', r"line 2: values\[1\]=None"),
    ],
)
def test_bad_noise_in_a_log_is_named_with_its_line(tmp_path, text, said):
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(InvalidArgument, match=said):
        read_log(tmp_path / "log.csv", BOX)


def test_a_key_stands_for_the_noise_and_the_repeats_too(tmp_path):
    with Study.create(tmp_path / "a.db", "s", BOX, seed=0) as study:
        trial = study.ask()
        event = study.tell(trial, [1.0, 2.0], std=0.5, key="k")
        assert study.tell(trial, [1.0, 2.0], noise_variance=0.25, key="k") == event
        for other in ({"y": [1.0, 2.0]}, {"y": 1.5, "std": 0.5}, {"y": [2.0, 1.0], "std": 0.5}):
            with pytest.raises(Conflict, match="used before"):
                study.tell(trial, **other, key="k")
        assert study.summary().tells == 1


@pytest.mark.parametrize(
    "told",
    [
        {"y": []},
        {"y": [1.0, math.nan]},
        {"y": 1.0, "std": 0.0},
        {"y": 1.0, "std": 1.0, "noise_variance": 1.0},
        {"y": 1.0, "noise_variance": math.inf},
    ],
)
def test_bad_noise_changes_nothing(tmp_path, told):
    with Study.create(tmp_path / "a.db", "s", BOX, seed=0) as study:
        trial = study.ask()
        with pytest.raises(InvalidArgument):
            study.tell(trial, **told)
        assert study.summary().head == 1


def test_records_of_old_without_these_fields_are_a_value(tmp_path):
    with Study.create(tmp_path / "a.db", "s", BOX, seed=0) as study:
        study.tell(study.ask(), 0.7)
        (record,) = study.events(kinds=["told"])
    event = {name: value for name, value in record.event.items() if name not in ("told_variance", "values")}
    assert type(record)(**{**record.as_dict(), "event": event}).told == {"y": 0.7, "noise_variance": None}
    assert wv.Event.from_dict(event).values == ()
