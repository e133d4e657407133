"""Text is checked on its way in: what UTF-8 cannot carry is refused, and nothing is changed."""

import os

import pytest

import windvane as wv
from windvane.errors import InvalidArgument
from windvane.study import Study

LONE = os.fsdecode(b"caf\xe9")
NOTES = {"flat": {"file": LONE}, "nested": {"files": [{"name": LONE}]}, "key": {LONE: 1}}


@pytest.fixture
def study(tmp_path):
    space = wv.Space(gain=wv.Real(0, 1), mode=wv.Choice(["a", "b"]))
    with Study.create(tmp_path / "studies.db", "plant", space, seed=0) as found:
        yield found


@pytest.mark.parametrize("notes", NOTES.values(), ids=NOTES)
def test_metadata_with_a_lone_surrogate_is_refused(study, notes):
    trial = study.ask()
    calls = [
        lambda: study.ask(metadata=notes),
        lambda: study.tell(trial, 0.5, metadata=notes),
        lambda: study.add({"gain": 0.5, "mode": "a"}, 0.5, metadata=notes),
        lambda: study.fail(trial, metadata=notes),
        lambda: study.reset(metadata=notes),
        lambda: study.add_many([({"gain": 0.5, "mode": "a"}, 0.5, None, notes)]),
    ]
    for call in calls:
        with pytest.raises(InvalidArgument, match=r"metadata: .* lone surrogate"):
            call()
    assert study.summary().head == 1


def test_what_is_whole_is_kept(study):
    study.ask(metadata={"file": "café", "face": "😀"})
    assert study.events()[0].metadata == {"file": "café", "face": "😀"}


def test_definitions_are_checked_as_well(tmp_path, study):
    odd = wv.Space(mode=wv.Choice(["a", LONE]))
    with pytest.raises(InvalidArgument, match=r"space: .* lone surrogate"):
        Study.create(study.database, "odd", odd)
    with pytest.raises(InvalidArgument, match=r"space: .* lone surrogate"):
        study.change_space(wv.Space(gain=wv.Real(0, 1), mode=wv.Choice(["a", "b", LONE])))
    with pytest.raises(InvalidArgument, match=r"metadata: .* lone surrogate"):
        Study.create(study.database, "odd", wv.Box([(0, 1)]), metadata={"file": LONE})
    assert [each.name for each in study.database.studies()] == ["plant"]


def test_a_reason_is_prose_and_is_kept_with_a_question_mark(study):
    assert study.fail(study.ask(), f"no file {LONE}").reason == "no file caf?"


def test_addresses_of_webhooks_are_text(study):
    with pytest.raises(InvalidArgument, match=r"url=.*http:// or https://"):
        study.database.webhooks.add(f"http://localhost/{LONE}")
