"""PostgreSQL: nothing is waited for for ever, and what took too long is said in words."""

import pytest

import windvane as wv
from windvane.errors import StorageFailure
from windvane.storage import Database
from windvane.study import Study

BOX = wv.Box([(0.0, 1.0)])


def settings(connection, *names):
    return [connection.exec_driver_sql(f"SHOW {name}").scalar() for name in names]


def test_every_connection_has_limits(postgres_url):
    with Database(postgres_url, create=True) as database, database.link.reading() as connection:
        names = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
        assert settings(connection, *names) == ["30s", "5min", "10min"]


def test_a_limit_of_the_server_stays(postgres_url):
    url = f"{postgres_url}%20-clock_timeout%3D7s"
    with Database(url, create=True) as database, database.link.reading() as connection:
        assert settings(connection, "lock_timeout") == ["7s"]


def test_a_study_that_somebody_holds(postgres_url):
    """By hand, in the middle of a transaction: the tell fails in words, and can be made again."""
    url = f"{postgres_url}%20-clock_timeout%3D50ms"
    with Study.create(url, "s", BOX, "random", seed=0) as study:
        with Database(postgres_url) as other, other.link.as_of_now() as connection:
            connection.exec_driver_sql("SELECT * FROM windvane_studies FOR UPDATE")
            with pytest.raises(StorageFailure, match="holds the database for too long; nothing of this step"):
                study._link.write(
                    lambda inside: inside.exec_driver_sql("UPDATE windvane_studies SET head = 5")
                )
        study.add([0.5], 1.0)
        assert study.summary().tells == 1


def test_a_statement_that_takes_too_long(postgres_url):
    url = f"{postgres_url}%20-cstatement_timeout%3D50ms"
    with Database(url, create=True) as database:
        with pytest.raises(StorageFailure, match="took too long"), database.link.reading() as connection:
            connection.exec_driver_sql("SELECT pg_sleep(30)")
        assert database.studies() == []
