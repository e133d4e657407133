"""The database goes away in the moment of the commit: whether it was kept is found out, never guessed."""

import pytest

import windvane as wv
from windvane.errors import StorageFailure, UncertainWrite
from windvane.storage import Database
from windvane.storage.link import Link
from windvane.study import Study

BOX = wv.Box([(0.0, 1.0)])
GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.01, "seed": 3}


@pytest.fixture
def database(database_url):
    with Database(database_url, create=True) as made:
        Study.create(made, "s", BOX, "et-gp-ucb", **GIVEN)
        yield made


def cut_at_commit(monkeypatch, database, *, before, times=1):
    """The next commit raises as a cut line does, `before` the server heard of it or after."""
    engine, left = database.link._engine, [times]
    commit = engine.dialect.do_commit

    def cut(connection):
        if not left[0]:
            return commit(connection)
        left[0] -= 1
        if before:
            engine.dialect.do_rollback(connection)
        else:
            commit(connection)
        raise engine.dialect.dbapi.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(engine.dialect, "do_commit", cut)


def twin_of(values):
    opt = wv.make("et-gp-ucb", BOX, **GIVEN)
    for y in values:
        opt.tell([0.5], y)
    return opt


def check(database, study, values):
    assert [record.y for record in study.events()] == values
    again = Study.open(database, "s")
    assert study.optimizer.state() == again.optimizer.state() == twin_of(values).state()
    assert study.ask().x == twin_of(values).ask().tolist()


def test_it_was_kept(database, monkeypatch):
    study = Study.open(database, "s")
    study.add([0.5], 1.0)
    cut_at_commit(monkeypatch, database, before=False)
    assert study.add([0.5], 2.0).step == 2  # as if nothing had been
    check(database, study, [1.0, 2.0])


def test_it_was_not_kept(database, monkeypatch):
    study = Study.open(database, "s")
    study.add([0.5], 1.0)
    cut_at_commit(monkeypatch, database, before=True)
    with pytest.raises(StorageFailure, match="server closed the connection") as caught:
        study.add([0.5], 2.0)
    assert not isinstance(caught.value, UncertainWrite)
    check(database, study, [1.0])


@pytest.mark.parametrize("before", [True, False])
def test_it_cannot_be_found_out(database, monkeypatch, before):
    study = Study.open(database, "s")
    study.add([0.5], 1.0)
    cut_at_commit(monkeypatch, database, before=before)
    reading = Link.reading

    def gone(_link):
        raise StorageFailure("the server is gone")

    monkeypatch.setattr(Link, "reading", gone)
    with pytest.raises(UncertainWrite, match="not certain that this step was kept"):
        study.add([0.5], 2.0, key="k")
    monkeypatch.setattr(Link, "reading", reading)
    study.add([0.5], 2.0, key="k")  # under its key it may be repeated, whichever it was
    check(database, study, [1.0, 2.0])


@pytest.mark.parametrize("before", [True, False])
def test_a_study_that_was_made_in_that_moment(database, monkeypatch, before):
    cut_at_commit(monkeypatch, database, before=before)
    if before:
        with pytest.raises(StorageFailure):
            Study.create(database, "new", BOX, "random", seed=0)
        assert [each.name for each in database.studies()] == ["s"]
    else:
        Study.create(database, "new", BOX, "random", seed=0).ask()
        assert database.find("new").trials == 1


def test_the_check_after_the_commit(tmp_path, monkeypatch):
    """The log was there before the commit, and is not after it: what has the name now is asked."""
    with Study.create(tmp_path / "s.db", "s", BOX, "et-gp-ucb", **GIVEN) as study:
        study.add([0.5], 1.0)
        refuse, calls = Link._refuse_ghost, []

        def late(link, connection):
            calls.append(connection)
            if len(calls) == 2:
                raise StorageFailure("the log was removed")
            return refuse(link, connection)

        monkeypatch.setattr(Link, "_refuse_ghost", late)
        study.add([0.5], 2.0)
        assert len(calls) == 2
        check(study.database, study, [1.0, 2.0])


def test_a_server_that_ends_the_connection_at_the_commit(postgres_url, monkeypatch):
    """For real: the server's process dies when it is told to commit, and has not kept it."""
    import psycopg

    with Study.create(postgres_url, "s", BOX, "et-gp-ucb", **GIVEN) as study:
        study.add([0.5], 1.0)
        dialect = study.database.link._engine.dialect
        commit, left = dialect.do_commit, [1]

        def killed(connection):
            if left:
                left.pop()
                pid = connection.driver_connection.info.backend_pid
                with psycopg.connect(postgres_url.partition("&options")[0], autocommit=True) as other:
                    other.execute("SELECT pg_terminate_backend(%s)", (pid,))
            return commit(connection)

        monkeypatch.setattr(dialect, "do_commit", killed)
        with pytest.raises(StorageFailure) as caught:
            study.add([0.5], 2.0)
        assert not isinstance(caught.value, UncertainWrite)
        check(study.database, study, [1.0])
