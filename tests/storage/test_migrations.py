"""A database of each earlier version, with a study in it, is brought up to date where it is opened; nothing in it changes."""

import hashlib
import threading

import pytest
from sqlalchemy import create_engine, inspect

import windvane as wv
from windvane.errors import StorageFailure
from windvane.storage import Database, migrations
from windvane.storage.link import Link
from windvane.storage.places import place
from windvane.storage.schema import tables
from windvane.study import Study

BOX = wv.Box([(0.0, 1.0)])
GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.01, "seed": 3}
LATER = {"windvane_tokens", "windvane_webhooks", "windvane_deliveries"}


def old(url, version=1):
    """A database of an earlier version, and a study in it that was written by hand."""
    engine = create_engine(place(url))
    with engine.begin() as connection:
        migrations.migrate(connection, 0, target=version)
    engine.dispose()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Link, "_prepare", lambda _self, _create: None)
        patch.setattr("windvane.storage.journal._announce", lambda *_: None)
        with Study.create(url, "old", BOX, "et-gp-ucb", **GIVEN) as study:
            for n in range(5):
                study.tell(study.ask(metadata={"n": n}), 2.0 * (n > 2), key=f"k{n}")
            study.ask()
            return study.events(), study.summary(), study.optimizer.state()


def names(database):
    with database.link.reading() as connection:
        return set(inspect(connection).get_table_names())


@pytest.mark.parametrize("version", range(1, migrations.VERSION))
def test_earlier_versions_are_migrated_with_their_data(database_url, version):
    """Versions 3 and 4 are also there as what they wrote, in SQL."""
    records, summary, state = old(database_url, version)
    with Database(database_url) as database:
        assert names(database) == set(tables.tables)
        assert names(database) >= LATER
        study = Study.open(database, "old")
        assert study.events() == records
        assert study.summary() == summary
        assert study.optimizer.state() == state
        twin = wv.restore(state)
        assert study.ask().x == twin.ask(pending=[records[-1].x]).tolist()
        database.webhooks.add("http://localhost/", "old")
        assert database.tokens.check(database.tokens.add("one")).label == "one"
        with database.link.reading() as connection:
            assert connection.exec_driver_sql("SELECT version FROM windvane_schema").scalars().all() == [
                migrations.VERSION
            ]
            if database.kind == "sqlite":
                assert connection.exec_driver_sql("PRAGMA user_version").scalar() == migrations.VERSION
                assert (
                    connection.exec_driver_sql("PRAGMA application_id").scalar() == migrations.APPLICATION_ID
                )


def test_a_migration_that_fails_changes_nothing(database_url, monkeypatch):
    records, _, _ = old(database_url)

    def torn(connection):
        migrations._access(connection)
        raise StorageFailure("pulled the plug")

    monkeypatch.setattr(migrations, "STEPS", (migrations._journal, torn))
    with pytest.raises(StorageFailure, match="pulled the plug"):
        Database(database_url)
    monkeypatch.undo()
    engine = create_engine(place(database_url))
    with engine.connect() as connection:
        assert not LATER & set(inspect(connection).get_table_names())
    engine.dispose()
    with Study.open(database_url, "old") as study:
        assert study.events() == records


def test_several_open_an_old_one_at_once(database_url):
    old(database_url)
    at_once(lambda: Database(database_url).close())
    with Database(database_url) as database:
        assert names(database) == set(tables.tables)


def test_several_make_one_at_once(database_url):
    """Threads, and on SQLite no file is left beside it."""
    at_once(lambda: Database(database_url, create=True).close())
    made = []

    def create():
        try:
            Study.create(database_url, "s", BOX, "random", seed=0).close()
            made.append(None)
        except wv.errors.Conflict:
            pass

    at_once(create)
    assert len(made) == 1


def at_once(work, count=6):
    errors, gate = [], threading.Barrier(count)

    def run():
        try:
            gate.wait()
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_no_file_is_seen_before_it_is_complete(tmp_path, monkeypatch):
    """Whoever is killed while making a database leaves none; what has the name is whole, without its log."""
    from windvane.storage import fresh

    path = tmp_path / "s.db"
    seen = []
    original = fresh.os.link

    def link(draft, target):
        seen.append((path.exists(), sorted(p.name for p in tmp_path.iterdir())))
        original(draft, target)

    monkeypatch.setattr(fresh.os, "link", link)
    with Database(path, create=True):
        pass
    ((existed, files),) = seen
    assert not existed
    assert len(files) == 1  # no -wal or -journal beside the draft: all is in it
    assert [p.name for p in tmp_path.iterdir()] == ["s.db"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_log_beside_the_file_may_be_all_there_is(tmp_path):
    """As after a kill: the file as it was made, everything acknowledged in its log."""
    path = tmp_path / "s.db"
    study = Study.create(path, "s", BOX, "et-gp-ucb", **GIVEN)
    fresh_file = hashlib.sha256(path.read_bytes()).hexdigest()
    study.tell(study.ask(), 0.5)
    copy = tmp_path / "killed"
    copy.mkdir()
    for name in ("s.db", "s.db-wal"):
        (copy / name).write_bytes((tmp_path / name).read_bytes())
    assert hashlib.sha256((copy / "s.db").read_bytes()).hexdigest() == fresh_file
    with Study.open(copy / "s.db", "s") as again:
        assert again.events() == study.events()
        assert again.summary().tells == 1
    study.close()


def test_postgresql_is_told_what_we_rely_on(postgres_server, postgres_url):
    """A server that is set up to be hasty, or to isolate more, is asked to do as we need."""
    import psycopg

    hasty = ("synchronous_commit = off", "default_transaction_isolation = 'serializable'")
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        for setting in hasty:
            connection.execute(f"ALTER ROLE postgres SET {setting}")
        try:
            with Database(postgres_url, create=True) as database, database.link.writing() as inside:
                for name, wanted in (
                    ("synchronous_commit", "on"),
                    ("transaction_isolation", "read committed"),
                ):
                    assert inside.exec_driver_sql(f"SHOW {name}").scalar() == wanted
        finally:
            connection.execute("ALTER ROLE postgres RESET ALL")


def test_sqlite_is_told_what_we_rely_on(tmp_path):
    with Database(tmp_path / "s.db", create=True) as database, database.link.reading() as connection:
        for name, wanted in (("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)):
            assert connection.exec_driver_sql(f"PRAGMA {name}").scalar() == wanted


def test_connections_that_the_server_dropped_are_replaced(postgres_server, postgres_url):
    import psycopg

    with Study.create(postgres_url, "s", BOX, "random", seed=0) as study:
        study.ask()
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = 'postgres'"
            )
        assert study.ask().number == 2
