"""A database that the version before constraints wrote, as SQL: opened, everything in it is as it was."""

import sqlite3
from pathlib import Path

import pytest

import windvane as wv
from windvane.storage import Database, migrations
from windvane.study import Study

WRITTEN = Path(__file__).with_name("version_3.sql").read_text(encoding="utf-8")


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "old.db"
    with sqlite3.connect(file) as connection:
        connection.executescript(WRITTEN)
    connection.close()
    return file


def test_it_is_of_version_3(path):
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (3,)
    names = {row[1] for row in connection.execute("PRAGMA table_info(windvane_events)")}
    assert not names & {"violated", "outcome_resets"}
    connection.close()


def test_its_study_goes_on(path):
    with Study.open(path, "old") as study:
        summary, records = study.summary(), study.events()
        assert (summary.tells, summary.trials, summary.violations, summary.last_retreat) == (5, 6, 0, None)
        assert summary.constraints == {}
        assert (summary.as_dict()["constraints"], summary.as_dict()["safe"]) == ({}, None)
        assert {(record.violated, record.outcome_resets) for record in records} == {((), ())}
        state = study.optimizer.state()
        assert study.rebuild() == summary.head
        assert study.optimizer.state() == state
        assert study.tell(6, 1.0).step == 6
        assert study.events(violations=True) == []
        assert study.retract(3).event["outcomes"] == {}
        assert "sensor was cold" in study.explain().text


def test_its_webhooks_are_called_on_resets_as_before(path):
    with Database(path) as database:
        (hook,) = database.webhooks.list()
        assert hook.on == ("reset",)
        waiting = database.deliveries.recent()
        assert waiting
        assert {delivery.kind for delivery in waiting} == {"reset"}
        study = Study.create(
            database, "new", wv.Box([(0, 1)]), "random", seed=0, constraints={"heat": wv.AtMost(90)}
        )
        study.add([0.5], 1.0, heat=99.0)
        assert study.summary().violations == 1
        assert len(database.deliveries.recent()) == len(waiting)  # nobody asked to hear of violations


def test_a_new_database_and_an_old_one_have_the_same_tables(path, tmp_path):
    with Database(path), Database(tmp_path / "new.db", create=True):
        found = []
        for file in (path, tmp_path / "new.db"):
            connection = sqlite3.connect(file)
            assert connection.execute("PRAGMA user_version").fetchone() == (migrations.VERSION,)
            tables = [
                row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            ]
            found.append(
                {
                    table: sorted(row[1:5] for row in connection.execute(f"PRAGMA table_info({table})"))
                    for table in tables
                }
            )
            indexes = connection.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'index'"
            ).fetchall()
            found[-1]["indexes"] = sorted(row for row in indexes if row[1])
            connection.close()
        assert found[0] == found[1]
