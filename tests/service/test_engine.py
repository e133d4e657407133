"""Short steps of many studies, carried out together in one transaction."""

import asyncio
import threading

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
    """Outcomes of jobs that wait when the engine begins: it is held up by the first one."""

    async def run():
        engine, gate = Engine(database), threading.Event()
        first = asyncio.ensure_future(engine.run(jobs[0][0], lambda: gate.wait(10)))
        await asyncio.sleep(0)
        rest = [asyncio.ensure_future(engine.run(study, work)) for study, work in jobs]
        await asyncio.sleep(0)
        gate.set()
        await first
        found = await asyncio.gather(*rest, return_exceptions=True)
        await asyncio.to_thread(engine.close)
        return found

    return asyncio.run(run())
