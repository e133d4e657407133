"""Steps as they count after amendments: few bytes and a search, and the same as a count of every record."""

import json
import sqlite3
from contextlib import closing
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane.protocol import Record
from windvane.storage import Database
from windvane.study import Study, left_out
from windvane.study.amendments import resets_now
from windvane.study.numbering import Numbering, packed, unpacked


def change(seq, outside, **event):
    said = {"space": None, "left_out": len(outside), "outside": outside, "undone": [], "new": [], "from": 0}
    return Record(seq, "redefined", 0.0, event=said | event)


def taken_back(seq, record, **event):
    said = {"record": record, "undone": [], "new": [], "from": record - 1}
    return Record(seq, "retracted", 0.0, event=said | event)


def gone(amending):
    """The records that do not count, one by one."""
    taken, outside = set(), set()
    for each in amending:
        if each.kind == "retracted":
            taken.add(each.event["record"])
        else:
            outside = set(unpacked(each.event["outside"]).tolist())
    return taken | outside


def word(amending, seq):
    covering = [each for each in amending if each.event["from"] < seq < each.seq]
    return max(covering, key=lambda each: each.seq, default=None)


@st.composite
def journals(draw):
    """Records of tells, resets among them, and what amends them, with lists of numbers as they used to be."""
    told, amending = [], []
    for seq in range(1, draw(st.integers(1, 40)) + 1):
        kind = draw(st.sampled_from(["told", "told", "told", "reset", "taken", "space"])) if told else "told"
        start = draw(st.integers(0, seq - 1))
        undone = draw(st.lists(st.sampled_from(told), max_size=3)) if told else []
        fates = {"from": start, "undone": sorted({each.seq for each in undone})}
        fates["new"] = [
            {"record": each.seq, "step": 1, "time": 1.0, "x": 0, "y": 0.0, "reason": ""}
            for each in undone[:1]
        ]
        if kind == "taken":
            amending.append(taken_back(seq, draw(st.sampled_from(told)).seq, **fates))
        elif kind == "space":
            outside = sorted({each.seq for each in draw(st.lists(st.sampled_from(told), max_size=20))})
            amending.append(change(seq, outside, **fates))
        else:
            step = sum(each.kind == "told" for each in told) + (kind == "told") - len(gone(amending))
            time = draw(st.sampled_from([None, float(step), 7.5]))
            event = {"step": step, "time": float(step) if time is None else time, "reset": True}
            told.append(Record(seq, kind, 0.0, x=0, y=0.0, step=step, time=time, reset=True, event=event))
    return [each for each in told if each.kind in ("told", "reset")], amending


@given(journals())
def test_steps_are_those_of_a_count(journal):
    told, amending = journal
    compact = [
        Record(each.seq, each.kind, 0.0, event=each.event | {"outside": packed(each.event["outside"])})
        if each.kind == "redefined"
        else each
        for each in amending
    ]
    now = gone(amending)
    for numbering in (Numbering(amending), Numbering(compact)):
        for record in told:
            then = gone([each for each in amending if each.seq < record.seq])
            earlier = sum(seq < record.seq for seq in now) - sum(seq < record.seq for seq in then)
            assert numbering.earlier(record.seq) == earlier
            moved = numbering.now(record)
            assert moved.step == moved.event["step"] == record.step - earlier
            assert moved.event["time"] == (record.time if record.time is not None else moved.step)
    assert resets_now(told, amending) == resets_now(told, compact)
    kept = {
        each.seq
        for each in told
        if each.seq not in ((word(amending, each.seq) or each).event.get("undone") or ())
    }
    new = {e["record"] for each in amending for e in each.event["new"] if word(amending, e["record"]) is each}
    assert {each.seq for each in resets_now(told, amending)} == kept | new


@given(st.sets(st.integers(1, 5000)))
@settings(max_examples=50)
def test_numbers_come_back(numbers):
    text = json.loads(json.dumps(packed(list(numbers))))
    assert unpacked(text).tolist() == sorted(numbers)
    assert unpacked(sorted(numbers)).tolist() == sorted(numbers)


def test_many_take_little_room_and_time():
    """A list of 50,000 numbers was 350 KB, and looking up one reset in it took 1.6 ms."""
    rng = np.random.default_rng(0)
    last = 200_000
    told = np.arange(2, last, 2)  # each was asked for before it was told
    some = rng.choice(told, 50_000, replace=False).tolist()
    assert len(packed(some)) < 25_000
    assert len(packed(told[:50_000].tolist())) < 1_000
    amending = [change(last + 1, packed(some))]
    resets = [Record(int(seq), "told", 0.0, step=int(seq) // 2, event={}) for seq in told[::100]]
    begun = perf_counter()
    found = resets_now(resets, amending)
    assert perf_counter() - begun < 0.2  # 1.6 s before
    assert found[-1].step == resets[-1].step - sum(seq < resets[-1].seq for seq in some)


def test_a_change_of_the_space_has_the_numbers_of_what_it_leaves_out(tmp_path):
    with Study.create(tmp_path / "s.db", "s", wv.Box([(0, 1)]), "random", seed=0) as study:
        for number in range(8):
            study.add([number / 8], 0.5)
        record = study.change_space(wv.Box([(0, 0.5)]))
        assert left_out(record).tolist() == [6, 7, 8]
        assert left_out(study.events()[-1]).tolist() == [6, 7, 8]


def altered(path, outside):
    with closing(sqlite3.connect(path)) as connection, connection:
        chosen = "FROM windvane_events WHERE kind = 'redefined'"
        event = json.loads(connection.execute(f"SELECT event {chosen}").fetchone()[0]) | {"outside": outside}
        connection.execute(
            "UPDATE windvane_events SET event = ? WHERE kind = 'redefined'", (json.dumps(event),)
        )


@pytest.mark.parametrize("outside", [[6, 7, 8], None])
def test_records_of_earlier_versions_are_read(tmp_path, outside):
    """They have a list of the numbers, or none at all."""
    with Study.create(tmp_path / "s.db", "s", wv.Box([(0, 1)]), "random", seed=0) as study:
        for number in range(8):
            study.add([number / 8], 0.5)
        study.reset("new pump")
        study.change_space(wv.Box([(0, 0.5)]))
        assert study.explain().reset.step == 5
    altered(tmp_path / "s.db", outside or [])
    with Study.open(tmp_path / "s.db", "s") as study:
        assert study.explain().reset.step == (5 if outside else 8)


def test_numbers_that_cannot_be_read_are_an_error_that_the_doctor_finds(tmp_path):
    from windvane.study.doctor import examine

    with Study.create(tmp_path / "s.db", "s", wv.Box([(0, 1)]), "random", seed=0) as study:
        study.add([0.75], 0.5)
        study.reset()
        study.change_space(wv.Box([(0, 0.5)]))
    for damaged in ("#", "AAAA", 5, {"a": 1}, ["x"]):
        altered(tmp_path / "s.db", damaged)
        with Study.open(tmp_path / "s.db", "s") as study, pytest.raises(wv.CorruptState, match="record 3"):
            study.explain()
        with Database(tmp_path / "s.db") as database:
            errors = [each.what for each in examine(database) if each.level == "error"]
        assert len(errors) == 1
        assert "record 3: damaged" in errors[0]
