"""Exports, read back by csv, json, pandas and pyarrow, which know nothing of Windvane."""

import csv
import io
import json
import os
import stat
import tracemalloc

import pandas as pd
import pyarrow.parquet as pq
import pytest
from sqlalchemy import update

import windvane as wv
from windvane.errors import CorruptState, InvalidArgument, InvalidType, StorageFailure, UnknownName
from windvane.storage.schema import checkpoints
from windvane.study import Study, export

AFTER = [
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
    "metadata",
    "noise_variance",
    "repeats",
    "values",
]
MIXED = wv.Space(
    {
        "gain": wv.Real(0.1, 10, log=True),
        "step": wv.Integer(1, 8),  # called like a column
        "x.step": wv.Real(0, 1),
        "mode": wv.Choice(["a, b", 'say "c"', "line\rbreak\n"]),
        "any": wv.Choice([2, 0.5, True, "word"]),
    }
)
FAST = {"algorithm": "et-gp-ucb", "noise_variance": 0.01, "seed": 1}


def lived(tmp_path, space=MIXED, kernel=None, name="study"):
    """A study in which everything has happened once."""
    now = [1000.0]
    study = Study.create(
        tmp_path / f"{name}.db", name, space, clock=lambda: now[0], expires_after=60.0, **FAST, kernel=kernel
    )
    for number in range(6):
        study.tell(study.ask(), 0.1 + number / 3, metadata={"nr": number} if number % 2 else None)
    study.tell(study.ask(), 1e-300, 50.25)
    study.tell(study.ask(), -1.5, 7.0)  # late
    study.fail(study.ask(), "pump off,\nagain")
    study.ask()
    now[0] += 100.0
    study.tell(study.ask(), 0.7)  # the one before has expired
    return study


@pytest.fixture
def study(tmp_path):
    with lived(tmp_path, kernel=wv.RBF([0.3])) as study:
        yield study


def expected(record):
    event = record.event or {}
    return {
        **{name: getattr(record, name) for name in ("seq", "kind", "at", "trial", "y", "time", "step")},
        **{name: event.get(name) for name in ("mean", "std", "statistic", "threshold", "kept", "size")},
        "reset": record.reset,
        "reason": record.reason,
        "metadata": dict(record.metadata),
    }


def test_csv(study, tmp_path):
    count = study.export(tmp_path / "out.csv")
    records = study.events()
    assert {record.kind for record in records} == {"asked", "told", "failed", "expired"}
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert count == len(found) == len(records)
    assert list(found[0]) == [
        "seq",
        "kind",
        "at",
        "trial",
        "gain",
        "x.step",
        "x.x.step",
        "mode",
        "any",
        *AFTER,
    ]
    for row, record in zip(found, records, strict=True):
        for name, value in expected(record).items():
            if name == "metadata":
                assert (json.loads(row[name]) if row[name] else {}) == value
            elif name == "reset":
                assert row[name] == json.dumps(value)
            elif value is None:
                assert row[name] == ""
            else:
                assert type(value)(row[name]) == value  # floats bit for bit
        assert float(row["gain"]) == record.x["gain"]
        assert int(row["x.step"]) == record.x["step"]
        assert float(row["x.x.step"]) == record.x["x.step"]
        assert row["mode"] == record.x["mode"]


def test_json_lines(study, tmp_path):
    study.export(tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [record.as_dict() for record in study.events()]


def test_parquet(study, tmp_path):
    study.export(tmp_path / "out.parquet")
    table, records = pq.read_table(tmp_path / "out.parquet"), study.events()
    kinds = {field.name: str(field.type) for field in table.schema}
    assert kinds["gain"] == kinds["y"] == "double"
    assert kinds["x.step"] == kinds["seq"] == "int64"
    assert kinds["mode"] == kinds["any"] == kinds["metadata"] == "string"
    assert kinds["reset"] == "bool"
    for row, record in zip(table.to_pylist(), records, strict=True):
        row["metadata"] = json.loads(row["metadata"] or "{}")
        assert {name: row[name] for name in expected(record)} == expected(record)
        assert row["mode"] == record.x["mode"]


def test_parquet_after_an_option_was_taken_out_of_the_space(tmp_path):
    space, smaller = (wv.Space(m=wv.Choice(options)) for options in ([1, 2, "off"], [1, 2]))
    with Study.create(tmp_path / "s.db", "s", space, "random", seed=0) as study:
        for option in (1, "off"):
            study.add({"m": option}, 1.0)
        study.change_space(smaller)
        study.add({"m": 2}, 1.0)
        study.export(tmp_path / "out.parquet")
        assert pq.read_table(tmp_path / "out.parquet")["m"].to_pylist() == ["1", "off", None, "2"]
    with Study.create(tmp_path / "t.db", "t", smaller, "random", seed=0) as other:
        assert other.import_log(tmp_path / "out.parquet") == 2
        assert [record.x for record in other.events(kinds=["told"])] == [{"m": 1}, {"m": 2}]


def test_pandas_reads_both_alike(study, tmp_path):
    study.export(tmp_path / "out.csv")
    study.export(tmp_path / "out.parquet")
    floats = dict.fromkeys(("at", "gain", "y", "mean", "std"), lambda text: float(text or "nan"))
    table = pd.read_csv(tmp_path / "out.csv", converters=floats)  # its own reading may miss the last digit
    other = pd.read_parquet(tmp_path / "out.parquet")
    for name in ("seq", "at", "gain", "y", "mean", "std"):
        pd.testing.assert_series_equal(table[name], other[name], check_exact=True)


@pytest.mark.parametrize(
    ("space", "names"),
    [(wv.Box([(0, 1), (-5, 5)]), ["x1", "x2"]), (wv.Arms(5), ["arm"])],
    ids=["box", "arms"],
)
def test_columns_without_names(tmp_path, space, names):
    kernel = wv.RBF([0.3]) if names != ["arm"] else None
    with Study.create(tmp_path / "s.db", "s", space, "random" if kernel is None else "auto", seed=0) as study:
        point = study.ask().x
        study.export(tmp_path / "out.csv")
        study.export(tmp_path / "out.parquet")
    (row,) = csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text()))
    (typed,) = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert list(row) == ["seq", "kind", "at", "trial", *names, *AFTER]
    wanted = [point] if names == ["arm"] else point
    assert [typed[name] for name in names] == wanted
    assert [float(row[name]) for name in names] == wanted


def test_an_empty_journal(tmp_path):
    with Study.create(tmp_path / "s.db", "s", wv.Box([(0, 1)]), seed=0) as study:
        assert [study.export(tmp_path / f"out.{kind}") for kind in ("csv", "jsonl", "parquet")] == [0, 0, 0]
    assert (tmp_path / "out.jsonl").read_bytes() == b""
    assert (tmp_path / "out.csv").read_text().count("\n") == 1
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 0


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_batches_join_without_a_seam(study, tmp_path, monkeypatch, kind):
    study.export(tmp_path / "one", kind)
    monkeypatch.setattr(export, "BATCH", 3)
    study.export(tmp_path / "many", kind)
    if kind == "parquet":
        assert pq.ParquetFile(tmp_path / "many").num_row_groups > 3
        assert pq.read_table(tmp_path / "one").equals(pq.read_table(tmp_path / "many"))
    else:
        assert (tmp_path / "one").read_bytes() == (tmp_path / "many").read_bytes()


def test_memory_does_not_grow_with_the_journal(study, tmp_path, monkeypatch):
    """The journal is one batch again and again, so that its length costs nothing to make."""
    batch = study.events()
    monkeypatch.setattr(export, "BATCH", len(batch))

    def peak(repeats):
        monkeypatch.setattr(export, "_batches", lambda _: (batch for _ in range(repeats)))
        tracemalloc.start()
        study.export(tmp_path / "out.csv")
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(1)
    assert peak(200) < 2 * peak(10)


def test_whole_or_not_at_all(study, tmp_path, monkeypatch):
    (tmp_path / "out.csv").write_text("the one before")

    def broken(_):
        yield study.events()[:2]
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export, "_batches", broken)
    with pytest.raises(StorageFailure, match=r"out\.csv: No space left on device"):
        study.export(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "the one before"
    assert sorted(file.name for file in tmp_path.glob("*out*")) == ["out.csv"]


def test_deleted_meanwhile_is_not_half_an_export(study, tmp_path, monkeypatch):
    monkeypatch.setattr(export, "BATCH", 3)
    events = study.events

    def vanishing(after=0, limit=None, **more):
        return events(after, limit, **more) if after == 0 else []

    monkeypatch.setattr(study, "events", vanishing)
    with pytest.raises(UnknownName, match="deleted while it was read"):
        study.export(tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("path", "format", "error", "said"),
    [
        ("out.txt", None, InvalidArgument, "must end in .csv"),
        ("out", None, InvalidArgument, "must end in .csv"),
        ("out.csv", "xml", UnknownName, "format='xml'"),
        ("no/such/folder/out.csv", None, StorageFailure, "No such file"),
        ("", "csv", StorageFailure, "is a folder"),
    ],
)
def test_mistakes(study, tmp_path, path, format, error, said):
    with pytest.raises(error) as caught:
        study.export(tmp_path / path, format)
    assert said in str(caught.value)


def test_a_path_that_is_none(study):
    with pytest.raises(InvalidType, match="path=3"):
        study.export(3)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_damaged_checkpoint_does_not_keep_the_journal_from_being_exported(tmp_path, kind):
    with lived(tmp_path) as study:
        study.export(tmp_path / f"before.{kind}")
        with study.database.link.writing() as connection:
            connection.execute(update(checkpoints).values(state="no state"))
    with Study.open(tmp_path / "study.db", "study") as study:
        with pytest.raises(CorruptState):
            study.ask()
        study.export(tmp_path / f"after.{kind}")
    before, after = ((tmp_path / f"{when}.{kind}").read_bytes() for when in ("before", "after"))
    assert before == after


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_an_export_is_its_owners_alone(tmp_path, kind):
    file = tmp_path / f"log.{kind}"
    before = os.umask(0o022)
    try:
        with lived(tmp_path) as study:
            study.export(file)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_nobody_else_reads_while_it_is_written(tmp_path, monkeypatch):
    seen = []
    with lived(tmp_path) as study:
        batches = export._batches

        def watched(found):
            seen.extend(stat.S_IMODE(file.stat().st_mode) for file in tmp_path.glob(".*log.csv"))
            return batches(found)

        monkeypatch.setattr(export, "_batches", watched)
        study.export(tmp_path / "log.csv")
    assert seen == [0o600]
