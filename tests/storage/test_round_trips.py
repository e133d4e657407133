"""On PostgreSQL each statement is a way to the server and back, so a step has few; connections may be old."""

from __future__ import annotations

import pytest

import windvane as wv
from windvane.errors import UnknownName
from windvane.study import Study

BOX = wv.Box([(0, 1)])
GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.02, "seed": 0}


@pytest.fixture
def study(postgres_url):
    with Study.create(postgres_url, "s", BOX, "et-gp-ucb", **GIVEN) as study:
        yield study


def others_ended(url: str) -> int:
    """The server ends every connection but the one that tells it to; how many there were."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        ended = connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND datname = current_database() AND backend_type = 'client backend'"
        )
        return len(ended.fetchall())


def test_a_step_is_its_turn_one_look_one_write_and_the_commit(study, monkeypatch):
    import psycopg

    study.tell(study.ask(key="a"), 1.0, key="b")
    statements = []
    execute = psycopg.Cursor.execute

    def counted(cursor, text, *arguments, **options):
        statements.append(str(text).split()[0])
        return execute(cursor, text, *arguments, **options)

    monkeypatch.setattr(psycopg.Cursor, "execute", counted)
    trial = study.ask(key="c")
    assert statements == ["SELECT", "SELECT", "WITH"]
    statements.clear()
    study.tell(trial, 2.0, key="d")
    assert statements == ["SELECT", "SELECT", "WITH"]


def test_who_only_looks_leaves_prepared_statements_alone(study):
    """A rollback would have the driver forget them, and the server plan each statement of a step anew."""
    for _ in range(6):  # the driver prepares what it has seen five times
        study.tell(study.ask(), 1.0)

    def prepared():
        with study.database.link.reading() as connection:
            return connection.exec_driver_sql("SELECT count(*) FROM pg_prepared_statements").scalar()

    there = prepared()
    assert there >= 3
    study.summary()
    study.best()
    assert prepared() == there


@pytest.mark.parametrize("connections", [1, 3])
def test_connections_that_the_server_has_closed_are_noticed_by_nobody(study, postgres_url, connections):
    trial = study.ask()
    held = [study.database.link._engine.connect() for _ in range(connections)]
    for each in held:
        each.close()  # so many are kept
    assert others_ended(postgres_url) >= connections
    study.tell(trial, 1.0)
    assert others_ended(postgres_url) >= 1
    assert study.summary().tells == 1
    assert others_ended(postgres_url) >= 1
    trial = study.ask()
    assert others_ended(postgres_url) >= 1
    study.retract(1, reason="no good")  # begun out of turn
    assert [record.kind for record in study.events()] == ["asked", "told", "asked", "retracted"]


def test_a_study_that_is_deleted_while_a_step_is_made(study, postgres_url, monkeypatch):
    from windvane.storage import journal

    append = journal.append

    def late(connection, study_id, *arguments, **options):
        monkeypatch.setattr(journal, "append", append)
        with Study.open(postgres_url, "s") as other:
            other.delete()
        return append(connection, study_id, *arguments, **options)

    monkeypatch.setattr(journal, "append", late)
    with pytest.raises(UnknownName, match="deleted"):
        study.ask()


def test_what_is_longer_than_its_column_is_not_cut_off(study):
    from windvane.errors import StorageFailure
    from windvane.study.live import UnwrittenStep

    def work(step: UnwrittenStep, _connection):
        return step.tell([0.5], measured, None, key="k" * 201)

    from windvane.protocol.measured import Measured

    measured = Measured.of(1.0, None, None, None, {})
    with pytest.raises(StorageFailure, match="too long"):
        study._session.write(work)
    assert study.events() == []
