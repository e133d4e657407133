"""Contexts in a study: durable, and those of the optimiser."""

import math

import pytest

import windvane as wv
from windvane.errors import InvalidArgument, InvalidType, WindvaneError
from windvane.study import Study

SPACE = wv.Space(
    gain=wv.Real(0, 1), load=wv.Context(0, 100, unit="%"), crew=wv.Context(wv.Choice(["early", "late"]))
)


def objective(x):
    return -((x["gain"] - x["load"] / 100) ** 2) + (0.1 if x["crew"] == "late" else 0.0)


def seen(step):
    return {"load": (37.5 * step) % 100, "crew": "early" if step % 3 else "late"}


def test_a_study_is_the_optimiser_also_after_it_was_opened_again(database_url):
    twin = wv.make(SPACE, seed=3)
    with Study.create(database_url, "mill", SPACE, seed=3) as study:
        for step in range(12):
            trial = study.ask(context=seen(step))
            assert trial.x == twin.ask(context=seen(step))
            assert study.tell(trial, objective(trial.x)) == twin.tell(trial.x, objective(trial.x))
    with Study.open(database_url, "mill") as study:
        assert study.space == SPACE
        study.forget()
        one = study.ask(context=seen(20))
        assert one.x == twin.ask(context=seen(20))
        two = study.ask(context=seen(21))  # beside one that is out, under another context
        assert two.x == twin.ask(context=seen(21), pending=[one.x])
        assert study.best(context=seen(5)) == twin.best(context=seen(5))
        study.tell(two, 0.3)
        study.rebuild()
        twin.tell(two.x, 0.3)
        assert study.best(context=seen(5)) == twin.best(context=seen(5))
        assert study.trial(one.number).x == one.x


def test_what_is_wrong_is_refused_and_nothing_is_written(database_url):
    with Study.create(database_url, "mill", SPACE, seed=3) as study:
        study.tell(study.ask(context=seen(0)), 1.0)
        before = study.events()
        for context in (None, {}, {"load": 3}, {**seen(1), "load": 101}, {**seen(1), "load": math.nan}, 3):
            for call in (study.ask, study.best):
                with pytest.raises((InvalidArgument, InvalidType), match="context"):
                    call(context=context)
        with pytest.raises(WindvaneError, match="load"):
            study.add({"gain": 0.5, "load": -1, "crew": "late"}, 1.0)
        assert study.events() == before
    with (
        Study.create(database_url, "plain", wv.Box([(0, 1)]), seed=3) as study,
        pytest.raises(InvalidArgument, match="no contexts"),
    ):
        study.ask(context={"load": 3})


def test_the_same_key_gives_the_same_trial(database_url):
    with Study.create(database_url, "mill", SPACE, seed=3) as study:
        one = study.ask(context=seen(1), key="k")
        assert study.ask(context=seen(1), key="k") == one


def test_it_is_explained(database_url):
    with Study.create(database_url, "mill", SPACE, seed=3) as study:
        for step in range(40):
            trial = study.ask(context=seen(step))
            study.tell(trial, objective(trial.x))
        found = study.explain()
        assert found.follows[0] == "load"
        assert "The change follows `load`" in found.text
        assert found.belief.x["load"] == pytest.approx(seen(39)["load"])
        assert found.as_dict()["follows"][0] == "load"


def test_logs_have_contexts_as_columns(database_url, tmp_path):
    with Study.create(database_url, "mill", SPACE, seed=3) as study:
        for step in range(8):
            trial = study.ask(context=seen(step))
            study.tell(trial, objective(trial.x))
        for ending in ("csv", "jsonl"):
            path = tmp_path / f"log.{ending}"
            study.export(path)
            with Study.create(database_url, f"again {ending}", SPACE, seed=3) as other:
                assert other.import_log(path) == 8
                assert other.best(context=seen(3)) == study.best(context=seen(3))
    replayed = wv.replay(tmp_path / "log.csv", "auto", space=SPACE)
    assert len(replayed.accounts[0].events) == 8
    assert "load" in replayed.accounts[0].best.x
