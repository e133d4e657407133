"""Studies in a file and on a server pass the suite, and so does whatever happens to them in any order."""

import tempfile
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from windvane.storage import Database
from windvane.study import Study
from windvane.testing import StudySuite
from windvane.testing.machine import SPACE, StudyMachine


class TestSQLite(StudySuite):
    @pytest.fixture
    def make_study(self, tmp_path):
        with Database(tmp_path / "s.db", create=True) as database:
            yield lambda name, space, **options: Study.create(database, name, space, **options)


class TestPostgreSQL(StudySuite):
    @pytest.fixture
    def make_study(self, postgres_url):
        with Database(postgres_url, create=True) as database:
            yield lambda name, space, **options: Study.create(database, name, space, **options)


class OnDisk(StudyMachine):
    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "s.db"

    def create(self, **options):
        return Study.create(self.path, "s", SPACE, clock=self.clock, **options)

    def reopen(self, study):
        return Study.open(self.path, "s", clock=self.clock)

    def teardown(self):
        super().teardown()
        self.folder.cleanup()


class Auto(OnDisk):
    algorithm = "auto"
    options: ClassVar = {"seed": 4}


@pytest.mark.parametrize(("machine", "stories"), [(OnDisk, 8), (Auto, 4)])
def test_whatever_happens_to_a_study(machine, stories):
    short = settings(max_examples=stories, stateful_step_count=20, deadline=None, derandomize=True)
    run_state_machine_as_test(machine, settings=short)


class Forgetful(OnDisk):
    """Loses the last record in a crash, as a study must not."""

    def reopen(self, study):
        from sqlalchemy import delete, update

        from windvane.storage.schema import events, studies

        head = study.summary().head
        with study.database.link.writing() as connection:
            connection.execute(delete(events).where(events.c.seq == head, events.c.seq > 0))
            connection.execute(update(studies).values(head=max(0, head - 1)))
        return super().reopen(study)


def test_the_machine_finds_a_study_that_forgets():
    short = settings(
        max_examples=30,
        stateful_step_count=10,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Forgetful, settings=short)
