"""A database that 0.1 wrote, as SQL: constraints, contexts, failures, lists, repeats and amendments are as they were."""

import json
import sqlite3
from pathlib import Path

import pytest

import windvane as wv
from windvane.options.auto_model import BETA, LAPSE, OWN_NOISE, PLUNGES
from windvane.storage import Database
from windvane.study import Study

WRITTEN = Path(__file__).with_name("version_4.sql").read_text(encoding="utf-8")
STUDIES = {  # tells, failed, resets, violations, observations in use
    "limited": (5, 0, 1, 1, 5),
    "following": (4, 0, 0, 0, 4),
    "failing": (5, 2, 2, 0, 1),
    "listed": (1, 0, 0, 0, 1),
    "auto": (3, 0, 0, 0, 3),
}


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "old.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(WRITTEN)
    connection.close()
    return file


def test_it_is_of_version_4(path):
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (4,)
    connection.close()


@pytest.mark.parametrize("name", STUDIES)
def test_each_study_goes_on(path, name):
    with Study.open(path, name) as study:
        summary = study.summary()
        assert summary.damaged is None
        counts = (summary.tells, summary.failed, summary.resets, summary.violations, summary.size)
        assert counts == STUDIES[name]
        assert study.optimizer.size == summary.size
        state = study.optimizer.state()
        assert study.rebuild() == summary.head  # from the journal alone, by what the name means today
        anew = study.optimizer.state()
        if name == "auto":  # since then it has learned more, which a study that goes on does not know
            model, schedule = state["composition"]["model"], state["composition"]["acquisition"]["then"]
            assert model["plunges"] == 0.0
            assert not {"lapse", "own_noise"} & set(model)
            assert schedule["schedule"]["type"] == "LogBeta"
            model |= {"plunges": PLUNGES, "lapse": LAPSE, "own_noise": OWN_NOISE}
            schedule["schedule"] = {"type": "ConstantBeta", "beta": BETA}
            assert state.pop("surrogate") != anew.pop("surrogate")
        assert json.dumps(anew) == json.dumps(state)
        context = {"context": {"load": 50.0}} if name == "following" else {}
        outcomes = {"heat": 80.0} if name == "limited" else {}
        event = study.tell(study.ask(**context), 1.0, **outcomes)
        assert event.step == study.optimizer.step - 1
        assert study.explain().text


def test_what_is_special_of_each(path):
    with Study.open(path, "limited") as study:
        assert study.constraints["heat"].unit == "°C"
        assert study.optimizer.safe == 0.9
        (violation,) = study.events(violations=True)
        assert violation.violated == ("heat",)
        assert [record.kind for record in study.events()].count("corrected") == 1
    with Study.open(path, "following") as study:
        assert study.optimizer.last_context == {"load": 60.0}
        assert study.optimizer.data.accuracy is not None
        assert study.trial(5).x["load"] == 33.0  # asked for, and never told
    with Study.open(path, "failing") as study:
        assert "new pump" in study.explain().text
    with Study.open(path, "listed") as study:
        assert isinstance(study.space, wv.Candidates)


def test_its_webhook_hears_of_violations(path):
    with Database(path) as database:
        (hook,) = database.webhooks.list()
        assert hook.on == ("reset", "violation")
        assert {each.kind for each in database.deliveries.recent()} >= {"violation"}
