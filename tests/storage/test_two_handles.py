"""Several handles on one SQLite file in one process, and other processes beside them."""

import os
import shutil
import subprocess
import sys

import pytest

import windvane as wv
from windvane.storage import Database
from windvane.study import Study

LOOK = "import sys; from windvane.study import Study; print(Study.open(sys.argv[1], 'a').summary().tells)"


def seen_by_another_process(path):
    """What another process counts. It opens and closes the file, as `windvane study list` does."""
    found = subprocess.run(
        [sys.executable, "-c", LOOK, str(path)], capture_output=True, text=True, check=True
    )
    return int(found.stdout)


def made(path):
    return Study.create(path, "a", wv.Box([(0, 1)]), "random", seed=0)


def test_a_second_handle_does_not_take_the_locks_of_the_first(tmp_path):
    """To open and close the file by hand would: then the other process clears away the log that is in use."""
    path = tmp_path / "s.db"
    first = made(path)
    first.add([0.5], 1.0)
    second = Study.open(path, "a")
    with Database(path) as third:
        assert third.find("a").tells == 1
    assert seen_by_another_process(path) == 1
    assert (tmp_path / "s.db-wal").exists()
    for _ in range(3):
        first.add([0.5], 1.0)
        second.add([0.5], 1.0)
    assert seen_by_another_process(path) == 7
    first.close()
    second.close()
    assert seen_by_another_process(path) == 7


def test_a_log_that_was_cleared_away_is_noticed(tmp_path):
    """A copy made by this very process takes the locks; SQLite cannot know. Nothing is acknowledged and lost."""
    path = tmp_path / "s.db"
    with made(path) as study:
        study.add([0.5], 1.0)
        shutil.copy(path, tmp_path / "backup.db")
        assert seen_by_another_process(path) == 1  # and believed to be alone
        assert not (tmp_path / "s.db-wal").exists()
        with pytest.raises(wv.StorageFailure, match="log of the file was removed"):
            study.add([0.5], 2.0)
        study.add([0.5], 3.0)  # on what has the name now
        assert [record.y for record in study.events()] == [1.0, 3.0]
        assert seen_by_another_process(path) == 2
    assert seen_by_another_process(path) == 2


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="there is no /proc to look at")
def test_files_are_not_left_open(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        with (
            made(tmp_path / "s.db")
            if not (tmp_path / "s.db").exists()
            else Study.open(tmp_path / "s.db", "a")
        ) as study:
            study.add([0.5], 1.0)
    assert len(os.listdir("/proc/self/fd")) == before
