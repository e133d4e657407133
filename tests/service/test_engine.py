"""Short steps of many studies, carried out together in one transaction."""

import asyncio
import json
import threading

import numpy as np
import pytest

import windvane as wv
from windvane.service.engine import Engine
from windvane.storage import Database
from windvane.study import Study

OPTIONS = {"kernel": wv.RBF(0.2), "noise_variance": 0.01}


@pytest.fixture
def database(tmp_path):
    with Database(tmp_path / "studies.db", create=True) as made:
        yield made


@pytest.fixture
def studies(database):
    return [
        Study.create(database, f"s{i}", wv.Box([(0, 1)]), "et-gp-ucb", seed=i, **OPTIONS) for i in range(6)
    ]


def together(database, jobs):
    """Outcomes of jobs that wait when the engine turns to them: it is held up by another before."""

    async def run():
        engine, gate = Engine(database), threading.Event()
        first = asyncio.ensure_future(engine.run(jobs[0][0], lambda: gate.wait(60)))
        await asyncio.sleep(0)
        rest = [asyncio.ensure_future(engine.run(study, work)) for study, work in jobs]
        await asyncio.sleep(0)
        gate.set()
        await first
        found = await asyncio.gather(*rest, return_exceptions=True)
        await asyncio.to_thread(engine.close)
        return found

    return asyncio.run(run())


def telling(study, y, **options):
    return study, lambda: study.tell(1, y, **options)


def test_they_give_what_they_would_give_one_by_one(database, studies):
    twins = [wv.make("et-gp-ucb", wv.Box([(0, 1)]), seed=i, **OPTIONS) for i in range(6)]
    for turn in range(5):
        trials = together(database, [(study, study.ask) for study in studies])
        points = [twin.ask() for twin in twins]
        assert [trial.x for trial in trials] == [point.tolist() for point in points]
        values = [float(np.sin(turn) * point[0]) for point in points]
        pairs = list(zip(studies, trials, values, strict=True))
        events = together(database, [(s, lambda s=s, t=t, y=y: s.tell(t, y)) for s, t, y in pairs])
        expected = [twin.tell(x, y) for twin, x, y in zip(twins, points, values, strict=True)]
        assert [event.as_dict() for event in events] == [event.as_dict() for event in expected]
    for study, twin in zip(studies, twins, strict=True):
        again = Study.open(database, study.name)  # from the disk
        assert json.dumps(again.optimizer.state()) == json.dumps(twin.state())


def test_they_are_one_transaction(database, studies, monkeypatch):
    begun = []
    writes = type(database.link).writes

    def counted(link, connection):
        if connection is not link._batch:
            begun.append(connection)
        return writes(link, connection)

    monkeypatch.setattr(type(database.link), "writes", counted)
    together(database, [(study, study.ask) for study in studies])
    assert len(begun) == 1
    for study in studies:
        study.ask()
    assert len(begun) == 1 + len(studies)


def test_a_mistake_of_one_is_its_own(database, studies):
    for study in studies:
        study.ask()
    jobs = [telling(study, 0.5) for study in studies]
    jobs[2] = (studies[2], lambda: studies[2].tell(99, 0.5))
    jobs[4] = telling(studies[4], float("nan"))
    found = together(database, jobs)
    assert isinstance(found[2], wv.UnknownName)
    assert isinstance(found[4], wv.InvalidArgument)
    assert [Study.open(database, study.name).summary().tells for study in studies] == [1, 1, 0, 1, 0, 1]


def test_if_the_transaction_fails_each_is_made_by_itself(database, studies):
    """One step that comes to grief: nothing of the others is lost, and nothing is written twice."""
    for study in studies:
        study.ask()

    def broken():
        studies[3].tell(1, 0.5)
        raise RuntimeError("after it was written")

    jobs = [telling(study, 0.25) for study in studies]
    jobs[3] = (studies[3], broken)
    found = together(database, jobs)
    assert isinstance(found[3], RuntimeError)
    for study in studies:
        told = Study.open(database, study.name).events(kinds=["told"])
        assert [record.y for record in told] == [0.5 if study is studies[3] else 0.25]
        assert study.ask().x == Study.open(database, study.name).pending()[-1].x
        assert json.dumps(study.optimizer.state()) == json.dumps(
            Study.open(database, study.name).optimizer.state()
        )


def test_a_full_disk_loses_nothing(database, studies):
    for study in studies:
        study.ask()

    def on_all_connections(statement):
        held = [database.link._engine.connect() for _ in range(10)]
        found = [connection.exec_driver_sql(statement).scalar() for connection in held]
        for connection in held:
            connection.close()
        return found[0]

    on_all_connections(f"PRAGMA max_page_count = {on_all_connections('PRAGMA page_count')}")
    notes = {"text": "x" * 15_000}
    found = together(database, [telling(study, 0.5, metadata=notes) for study in studies])
    assert all(isinstance(each, wv.StorageFailure) for each in found)
    assert [study.summary().tells for study in studies] == [0] * 6
    assert [len(Study.open(database, study.name).pending()) for study in studies] == [1] * 6
    on_all_connections("PRAGMA max_page_count = 1000000")
    found = together(database, [telling(study, 0.5) for study in studies])
    assert [event.y for event in found] == [0.5] * 6
    assert [study.summary().tells for study in studies] == [1] * 6


def test_what_sqlite_has_undone_by_itself_is_not_added_to(database, studies):
    """A full disk ends the transaction; what another step wrote then would be half a record on its own."""

    def undone():
        database.link._batch.connection.cursor().execute("ROLLBACK")
        studies[0].ask()

    with database.link.batch(), pytest.raises(wv.StorageFailure, match="undone"):
        undone()
    assert studies[0].summary().head == 0
