"""On PostgreSQL each statement is a way to the server and back, so a step has few; connections may be old."""

from __future__ import annotations

import pytest

import windvane as wv
from windvane.errors import Conflict, UnknownName
from windvane.study import Study
from windvane.study.session import QUIET

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


@pytest.fixture
def quiet(study, monkeypatch):
    """A study to which nobody else has written for long, and the statements of its steps."""
    import psycopg

    while study._session._quiet < QUIET:
        study.tell(study.ask(), 1.0)
    statements, execute = [], psycopg.Cursor.execute

    def counted(cursor, text, *arguments, **options):
        statements.append(str(text).split()[0])
        return execute(cursor, text, *arguments, **options)

    monkeypatch.setattr(psycopg.Cursor, "execute", counted)
    return study, statements


def twin_of(study):
    """One that hears of the same records in one go."""
    opt = wv.make("et-gp-ucb", BOX, **GIVEN)
    for record in study.events(kinds=["told"], limit=None):
        opt.tell(record.x, record.y)
    return opt


def test_where_nobody_else_writes_a_step_is_one_write_and_the_commit(quiet):
    study, statements = quiet
    trial = study.ask(key="c")
    study.tell(trial, 2.0, key="d")
    study.fail(study.ask(), "no water")
    study.reset("new pump")
    assert statements == ["WITH"] * 5 + ["SELECT"]  # after the reset: who is to be called?
    assert [record.seq for record in study.events(limit=None)] == list(range(1, study.summary().head + 1))


def test_what_somebody_else_writes_in_between_is_followed(quiet, postgres_url):
    study, statements = quiet
    with Study.open(postgres_url, "s") as other:
        other.add([0.3], 3.0)
        statements.clear()
        assert study.add([0.4], 4.0).step == study.optimizer.step - 1
        assert statements[:4] == ["WITH", "SELECT", "SELECT", "SELECT"]  # in vain; turn, look, what is new
        assert study._session._quiet == 0
        assert [record.y for record in study.events(newest=True, limit=2)] == [3.0, 4.0]
        trial = other.ask()
        study.tell(trial.number, 5.0)
    assert study.optimizer.state() == twin_of(study).state()


def test_whoever_has_a_turn_is_waited_for(quiet, postgres_url):
    import threading

    study, _ = quiet
    inside, go_on = threading.Event(), threading.Event()

    def slow(step, _connection):
        inside.set()
        assert go_on.wait(60)
        return step.tell([0.7], measured, None)

    from windvane.protocol.measured import Measured

    measured = Measured.of(7.0, None, None, None, {})
    with Study.open(postgres_url, "s") as other:
        first = threading.Thread(target=other._session.write, args=(slow,))
        second = threading.Thread(target=study.add, args=([0.8], 8.0))
        first.start()
        assert inside.wait(60)
        second.start()
        second.join(0.3)
        assert second.is_alive()
        go_on.set()
        first.join(60)
        second.join(60)
    assert [record.y for record in study.events(newest=True, limit=2)] == [7.0, 8.0]
    assert study.optimizer.state() == twin_of(study).state()


def test_a_key_that_was_used_gives_what_it_gave(quiet):
    study, _ = quiet
    trial = study.ask(key="c")
    assert study.ask(key="c") == trial
    told = study.tell(trial, 2.0, key="d")
    assert study.tell(trial, 2.0, key="d") == told
    added = study.add([0.2], 3.0, key="e")
    assert study.add([0.2], 3.0, key="e") == added
    with pytest.raises(Conflict, match="told already"):
        study.tell(trial, 2.0)
    with pytest.raises(Conflict, match="used before for something else"):
        study.ask(key="e")
    assert [record.key for record in study.events(newest=True, limit=3)] == ["c", "d", "e"]
    assert study.optimizer.state() == twin_of(study).state()


@pytest.fixture
def refused(monkeypatch):
    """What the server has answered with an error, and logged as one."""
    import psycopg

    found = []

    def watch(name):
        carry_out = getattr(psycopg.Cursor, name)

        def watched(*arguments, **options):
            try:
                return carry_out(*arguments, **options)
            except psycopg.Error as error:
                found.append(error)
                raise

        monkeypatch.setattr(psycopg.Cursor, name, watched)

    watch("execute")
    watch("executemany")
    return found


def test_a_key_that_was_used_is_no_error_of_the_database(quiet, refused, clock):
    study, _ = quiet
    study._session._clock = clock
    told = study.add([0.2], 3.0, key="e")
    assert study.add([0.2], 3.0, key="e") == told
    for _ in range(QUIET):
        study.add([0.4], 4.0)
    assert study._session._quiet >= QUIET
    study.ask(expires_after=1.0)
    clock.now += 2.0
    assert study.add([0.2], 3.0, key="e") == told  # with the record of a trial that has expired beside it
    assert study.events(newest=True, limit=1)[0].kind == "asked"
    assert study.add([0.5], 5.0).step == told.step + QUIET + 1
    assert [each.kind for each in study.events(newest=True, limit=2)] == ["expired", "told"]
    assert refused == []
    assert study.optimizer.state() == twin_of(study).state()


def test_a_name_that_is_taken_in_this_very_moment_is_none_either(study, refused, monkeypatch):
    from windvane.storage import journal

    monkeypatch.setattr(journal, "exists", lambda *_: False)  # as one sees it who looked before
    with pytest.raises(Conflict, match="there is a study of that name already"):
        Study.create(study.database, "s", BOX, "et-gp-ucb", **GIVEN)
    assert refused == []


def test_a_connection_that_was_closed_is_noticed_by_nobody_out_of_turn_either(quiet, postgres_url):
    study, _ = quiet
    for value in range(3):
        assert others_ended(postgres_url) >= 1
        study.add([0.5], float(value))
    assert [record.y for record in study.events(newest=True, limit=3)] == [0.0, 1.0, 2.0]


def test_who_only_looks_leaves_prepared_statements_alone(study):
    """A rollback would have the driver forget them, and the server plan each statement of a step anew."""
    for _ in range(6):  # the driver prepares what it has seen five times
        study.tell(study.ask(), 1.0)

    def prepared():
        with study.database.link.reading() as connection:
            return connection.exec_driver_sql("SELECT count(*) FROM pg_prepared_statements").scalar()

    there = prepared()
    assert there >= 2
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
