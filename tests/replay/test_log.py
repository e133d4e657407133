"""Logs in files: written by the csv module, pandas and pyarrow, and read back; and what is wrong with some."""

import csv
import gzip
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane.errors import WindvaneError
from windvane.replay import infer_space, read_log
from windvane.storage import Record

SPACE = wv.Space(gain=wv.Real(0.1, 10), taps=wv.Integer(1, 8), mode=wv.Choice(["a", 2, True]))
finite = st.floats(-1e9, 1e9)


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def plain(points):
    return [point.tolist() if isinstance(point, np.ndarray) else point for point in points]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.lists(st.tuples(finite, finite, finite), min_size=1, max_size=8))
def test_what_the_csv_module_writes_is_read_bit_for_bit(tmp_path, rows):
    path = tmp_path / "log.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["x1", "note", "x2", "y"])
        lines.writerows([x1, 'a "note", with\nall sorts', x2, y] for x1, x2, y in rows)
    log = read_log(path, wv.Box([(-1e9, 1e9)] * 2))
    assert plain(log.points) == [[x1, x2] for x1, x2, _ in rows]
    assert list(log.values) == [y for *_, y in rows]
    assert log.times is None


@pytest.mark.parametrize("name", ["log.csv", "log.tsv", "log.csv.gz", "log.parquet"])
def test_what_pandas_writes_is_read(tmp_path, name):
    table = pd.DataFrame(
        {
            "time": [1.0, 2.5, 2.5],
            "gain": [0.5, 1.0, 10.0],
            "taps": [1, 8, 3],
            "mode": ["a", "2", "True"],
            "value": [1.0, -2.0, 1e-300],
            "who": ["x", "y", "z"],
        }
    )
    path = tmp_path / name
    if name == "log.parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, sep="\t" if "tsv" in name else ",")
    log = read_log(path, SPACE, metadata=["who"])
    assert log.points == (
        {"gain": 0.5, "taps": 1, "mode": "a"},
        {"gain": 1.0, "taps": 8, "mode": 2},
        {"gain": 10.0, "taps": 3, "mode": True},
    )
    assert [type(point["mode"]) for point in log.points] == [str, int, bool]
    assert log.values == (1.0, -2.0, 1e-300)
    assert log.times == (1.0, 2.5, 2.5)
    assert [dict(row) for row in log.metadata] == [{"who": "x"}, {"who": "y"}, {"who": "z"}]


def test_json_lines(tmp_path):
    rows = [{"x": [0.25, 1], "y": 1.5, "time": 3}, {"x": [0.5, 2.0], "value": 2, "time": 3.5}]
    path = write(tmp_path / "log.jsonl", "\n\n".join(map(json.dumps, rows)) + "\n")
    log = read_log(path)
    assert (log.points, log.values, log.times) == (([0.25, 1.0], [0.5, 2.0]), (1.5, 2.0), (3.0, 3.5))
    assert infer_space(log) == wv.Box([(0.25, 0.5), (1, 2)])
    packed = tmp_path / "log.jsonl.gz"
    with gzip.open(packed, "wt", encoding="utf-8") as file:
        file.write(path.read_text())
    assert read_log(packed).points == log.points

    arms = write(tmp_path / "arms.jsonl", '{"x": 3, "y": 1}\n{"x": 0, "y": 2}\n')
    assert read_log(arms).points == (3, 0)
    assert infer_space(read_log(arms)) == wv.Arms(4)
    assert read_log(arms, wv.Arms(9)).points == (3, 0)
    named = write(tmp_path / "named.ndjson", '{"x": {"gain": 3, "taps": 2, "mode": true}, "y": 1}\n')
    assert read_log(named, SPACE).points == ({"gain": 3.0, "taps": 2, "mode": True},)


RECORDS = [
    Record(1, "asked", 100.0, trial=1, x=[0.1]),
    Record(2, "told", 101.0, trial=1, x=[0.1], y=1.0, time=50.0, step=1, event={"time": 50.0}),
    Record(3, "asked", 102.0, trial=2, x=[0.7]),
    Record(4, "failed", 103.0, trial=2, x=[0.7], reason="tripped"),
    Record(5, "told", 104.0, x=[0.9], y=2.0, time=40.0, step=2, event={"time": 50.0}),  # late
    Record(6, "told", 105.0, x=[0.3], y=3.0, time=None, step=3, event={"time": 51.0}),
]
HEADER = [
    "seq",
    "kind",
    "at",
    "trial",
    "x1",
    "y",
    "time",
    "step",
    "mean",
    "std",
    "statistic",
    "threshold",
    "reset",
    "reason",
    "kept",
    "size",
]


def test_the_journal_of_a_study_as_json_lines(tmp_path):
    path = write(tmp_path / "s.jsonl", "".join(json.dumps(record.as_dict()) + "\n" for record in RECORDS))
    log = read_log(path)
    assert log.points == ([0.1], [0.9], [0.3])
    assert log.values == (1.0, 2.0, 3.0)
    assert log.times == (50.0, 50.0, 51.0)  # those of the model
    assert list(log.places) == ["line 2", "line 5", "line 6"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_journal_of_a_study_as_a_table(tmp_path, ending):
    rows = []
    for record in RECORDS:
        known = {**record.as_dict(), "x1": record.x[0]}
        rows.append({name: known.get(name) for name in HEADER})
    table = pd.DataFrame(rows, columns=HEADER)
    path = tmp_path / f"s.{ending}"
    if ending == "csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path)
    log = read_log(path, wv.Box([(0, 1)]))
    assert plain(log.points) == [[0.1], [0.9], [0.3]]
    assert log.values == (1.0, 2.0, 3.0)
    assert log.times == (50.0, 50.0, 51.0)
    assert "A time was before the one above" in log.notes[0]
    assert plain(read_log(path).points) == [[0.1], [0.9], [0.3]]


def test_a_parameter_whose_name_is_taken(tmp_path):
    header = "seq,kind,at,trial,x.mean,x.y,y,time,step,mean,std"
    path = write(
        tmp_path / "s.csv", f"{header}\n1,told,9,1,0.25,0.5,7,,1,6.5,0.1\n2,told,9,1,0.5,1,8,,2,6,0.1\n"
    )
    space = wv.Space({"mean": wv.Real(0, 1), "y": wv.Real(0, 1)})
    log = read_log(path, space)
    assert log.points == ({"mean": 0.25, "y": 0.5}, {"mean": 0.5, "y": 1.0})
    assert log.values == (7.0, 8.0)
    assert log.times is None
    assert [set(point) for point in read_log(path).points] == [{"mean", "y"}] * 2


def test_times_as_dates_and_what_a_spreadsheet_writes(tmp_path):
    text = "\ufefftime;x;y\n2026-01-31T12:00:00;0,5;1\n"
    with pytest.raises(WindvaneError, match=r"line 2: x\[0\]='0,5': must be a finite number"):
        read_log(write(tmp_path / "log.csv", text))
    text = "\ufefftime;x;y\n2026-01-31T12:00:00;0.5;1\n2026-01-31 12:01:00+00:00;0.6;1\n"
    log = read_log(write(tmp_path / "log.csv", text))
    noon = pd.Timestamp("2026-01-31 12:00", tz="UTC").timestamp()
    assert log.times == (noon, noon + 60.0)
    table = pd.DataFrame({"time": pd.to_datetime(["2026-01-31 12:00"]), "x": [0.5], "y": [1.0]})
    table.to_parquet(tmp_path / "log.parquet")
    assert read_log(tmp_path / "log.parquet").times == (noon,)


def test_sorting_is_stable_and_said(tmp_path):
    path = write(tmp_path / "log.csv", "time,x1,y\n3,0.1,1\n1,0.2,2\n3,0.3,3\n1,0.4,4\n")
    with pytest.raises(
        WindvaneError, match=r"log\.csv, line 3: time=1\.0: is before the one above it, 3\.0.*--sort"
    ):
        read_log(path)
    log = read_log(path, sort=True)
    assert (log.values, log.times) == ((2.0, 4.0, 1.0, 3.0), (1.0, 1.0, 3.0, 3.0))
    assert list(log.places) == ["line 3", "line 5", "line 2", "line 4"]
    assert "sorted" in log.notes[0]


def test_missing_values_are_skipped_only_if_asked(tmp_path):
    path = write(tmp_path / "log.csv", "x1,y\n0.1,1\n0.2,\n0.3,NaN\n0.4,2\n")
    with pytest.raises(WindvaneError, match=r"line 3: y is missing or NaN.*--skip-missing"):
        read_log(path)
    log = read_log(path, skip_missing=True)
    assert log.values == (1.0, 2.0)
    assert log.notes == ("Skipped: 2 observations without a value.",)


def test_an_arm_in_a_table(tmp_path):
    path = write(tmp_path / "log.csv", "arm,y\n3,1\n0,2\n")
    assert read_log(path).points == (3, 0)
    assert infer_space(read_log(path)) == wv.Arms(4)
    with pytest.raises(WindvaneError, match=r"line 2: x=3: must be an integer at least 0 and at most 2"):
        read_log(path, wv.Arms(3))
    with pytest.raises(WindvaneError, match=r"line 2: arm='0\.5': must be a whole number"):
        read_log(write(tmp_path / "log.csv", "arm,y\n0.5,1\n"))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("log.csv", "", "line 1 must be a header"),
        ("log.csv", "x1,y\n", "has no observations"),
        ("log.csv", "0.1,2\n0.2,3\n", "line 1 must be a header that names the columns, not numbers"),
        ("log.csv", "x1,z\n1,2\n", "there is no column y (or value)"),
        ("log.csv", "y,time\n1,2\n", "there is no column but y and time"),
        ("log.csv", "x1,x3,y\n1,2,3\n", "there is x3, but no column x2"),
        ("log.csv", "x1,x1,y\n1,2,3\n", "two columns are called 'x1'"),
        ("log.csv", "x1,y\n1,2\n1\n", "log.csv, line 3: has 1 cells, but the header names 2"),
        ("log.csv", "x1,y\n1,2\none,2\n", "log.csv, line 3: x[0]='one': must be a finite number"),
        ("log.csv", "x1,y\n1,2\n\n1,inf\n", "log.csv, line 4: y='inf': must be a finite number"),
        ("log.csv", "x1,y,time\n1,2,soon\n", "log.csv, line 2: time='soon': must be a finite number"),
        ("log.csv", "x1,y,time\n1,2,12-13\n", "log.csv, line 2: time='12-13': must be a number, or a date"),
        (
            "log.csv",
            "x1,y,time\n1,2,02.03.2026\n",
            "line 2: time='02.03.2026': must be a number, or a date with the year",
        ),
        ("log.csv", "x1,y,time\n1,2,02/03/26 06:00\n", "must be a number, or a date with the year first"),
        ("log.csv", "x1,y,time\n1,2,\n", "log.csv, line 2: time is missing"),
        ("log.csv", b"x1,y\n\xff\xfe,2\n", "cannot be read as csv"),
        ("log.csv.gz", b"no gzip at all", "cannot be read as csv"),
        ("log.parquet", b"PAR1 it is not", "cannot be read as parquet"),
        ("log.jsonl", "{\n", "log.jsonl, line 1: is not JSON"),
        ("log.jsonl", "[" * 100_000, "log.jsonl, line 1: is not JSON"),
        ("log.jsonl", "[1, 2]\n", "log.jsonl, line 1: must be an object with x and y"),
        ("log.jsonl", '{"x": [1]}\n', "log.jsonl, line 1: has no y (or value)"),
        ("log.jsonl", '{"y": 1}\n', "log.jsonl, line 1: has no x"),
        ("log.jsonl", '{"x": null, "y": 1}\n', "log.jsonl, line 1: x=None: must be"),
        ("log.jsonl", '{"x": [true], "y": 1}\n', "log.jsonl, line 1: x[0]=True: must be a finite number"),
        ("log.jsonl", '{"x": [1], "y": NaN}\n', "log.jsonl, line 1: y is missing or NaN"),
        ("log.jsonl", '{"x": [1], "y": "a"}\n', "log.jsonl, line 1: y='a': must be a finite number"),
        ("log.jsonl", '{"x": [1], "y": 1e999}\n', "log.jsonl, line 1: y=inf: must be a finite number"),
        ("log.jsonl", '{"x":[1],"y":1,"time":1}\n{"x":[1],"y":1}\n', "line 2: give a time to all"),
        ("log.json", "[]", "must end in .csv"),
        ("log", "x1,y\n1,2\n", "must end in .csv"),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path, name, text, said):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(WindvaneError) as caught:
        read_log(path)
    assert said in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("space", "header", "said"),
    [
        (wv.Box([(0, 1)] * 2), "x1,y", "there is no column x2: a Box of 2 needs x1, x2"),
        (wv.Box([(0, 1)]), "x1,x2,y", "x2 is one too many"),
        (wv.Box([(0, 1)]), "gain,y", "there is no column x: a Box of 1 needs x"),
        (SPACE, "gain,mode,y", "there is no column taps"),
        (wv.Arms(3), "gain,y", "there is no column arm"),
    ],
)
def test_columns_that_a_space_needs(tmp_path, space, header, said):
    path = write(tmp_path / "log.csv", f"{header}\n")
    with pytest.raises(WindvaneError) as caught:
        read_log(path, space)
    assert said in str(caught.value)


def test_out_of_bounds_and_wrong_kinds_name_the_line(tmp_path):
    path = write(tmp_path / "log.csv", "x1,y\n0.5,1\n1.5,1\n")
    with pytest.raises(WindvaneError, match=r"log\.csv, line 3: x\[0\]=1\.5: must be .* at most 1"):
        read_log(path, wv.Box([(0, 1)]))
    path = write(tmp_path / "log.csv", "gain,taps,mode,y\n1,2.5,a,1\n")
    with pytest.raises(WindvaneError, match=r"line 2: taps='2\.5': must be a whole number"):
        read_log(path, SPACE)
    path = write(tmp_path / "log.csv", "gain,taps,mode,y\n1,2.0,b,1\n")
    with pytest.raises(WindvaneError, match=r"line 2: x\['mode'\]='b': must be one of 'a', 2, True"):
        read_log(path, SPACE)


def test_progress_of_a_long_log(tmp_path):
    path = write(tmp_path / "log.csv", "x1,y\n" + "".join(f"{row % 7},{row}\n" for row in range(4_500)))
    seen = []
    log = read_log(path, on_progress=seen.append)
    assert seen == [2_000, 4_000]
    assert len(log) == 4_500
    assert log.places[-1] == "line 4501"


def test_paths(tmp_path):
    with pytest.raises(WindvaneError, match="is a folder"):
        read_log(tmp_path)
    with pytest.raises(WindvaneError, match="there is no such file"):
        read_log(tmp_path / "none.csv")
    with pytest.raises(WindvaneError, match="must be a path"):
        read_log(3)
    path = write(tmp_path / "log.dat", "x1,y\n1,2\n")
    assert read_log(path, format="csv").values == (2.0,)
    with pytest.raises(WindvaneError, match="format='xml'"):
        read_log(path, format="xml")
    with pytest.raises(WindvaneError, match="metadata 'who'"):
        read_log(path, format="csv", metadata=["who"])


def test_a_log_made_by_hand_is_checked():
    for points, values, times, said in (
        ([], [], None, "has no observations"),
        ([[1.0]], [1.0, 2.0], None, "1 points, but 2 values"),
        ([[1.0]], [1.0], [1.0, 2.0], "1 points, but 2 times"),
        ([[1.0]], [math.nan], None, "observation 1: y=nan"),
        ([[1.0]], [1.0], [math.inf], "observation 1: time=inf"),
        ([[1.0]], ["a"], None, "observation 1: y='a'"),
        ("ab", [1.0], None, "must be a list"),
    ):
        with pytest.raises(WindvaneError) as caught:
            wv.Log(points, values, times)
        assert said in str(caught.value)


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([[0.5], [0.5]], "x1 is 0.5 throughout"),
        ([{"a": 1.0}, {"a": "on"}], "a='on': is no number"),
        ([{"a": 1.0}, {"b": 2.0}], "has no 'a'"),
        ([{"a": 1.0}, {"a": 2.0, "b": 2.0}], "must have a"),
        ([1, -1], "must be an arm"),
        ([1, 1.5], "must be an arm"),
        ([[1.0], [1.0, 2.0]], "must have 1 numbers"),
        ([[1.0], 7], "must be a list of numbers"),
        ([[1.0], ["a"]], "must be a finite number"),
    ],
)
def test_what_cannot_be_guessed(points, said):
    with pytest.raises(WindvaneError) as caught:
        infer_space(wv.Log(points, [1.0] * len(points)))
    assert said in str(caught.value)
