"""A full disk fails the tell and loses nothing; when there is room again the study goes on as if nothing had been."""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import windvane as wv
from windvane.errors import StorageFailure
from windvane.study import Study

BOX = wv.Box([(0.0, 1.0)])
GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.01, "seed": 3}
NOTE = {"note": "x" * 8000}


def fill(study, twin, most=2000):
    """Tell until it fails; what was acknowledged."""
    for told in range(most):
        try:
            study.add([0.37], told / most, metadata=NOTE)
        except StorageFailure as error:
            assert told > 0
            return told, str(error)
        twin.tell([0.37], told / most)
    raise AssertionError("the disk is never full")


def check(study, twin, told):
    """All that was acknowledged and no more, also for who opens it now."""
    assert [record.y for record in study.events()] == [n / 2000 for n in range(told)]
    assert study.summary().tells == told
    assert study.optimizer.state() == twin.state()


def go_on(study, twin):
    for y in (0.1, 0.2, 0.3):
        trial = study.ask()
        assert trial.x == twin.ask().tolist()
        assert study.tell(trial, y, metadata=NOTE).as_dict() == twin.tell(trial.x, y).as_dict()


@pytest.fixture
def twin():
    return wv.make("et-gp-ucb", BOX, **GIVEN)


def test_a_real_disk(tmp_path, twin):
    small = tmp_path / "small"
    small.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)]
    if (
        os.geteuid() != 0
        or shutil.which("mount") is None
        or subprocess.run(command, capture_output=True).returncode
    ):
        pytest.skip("a disk can be mounted by root only, and not everywhere")
    try:
        ballast = small / "ballast"
        ballast.write_bytes(bytes(200_000))
        with Study.create(small / "s.db", "s", BOX, "et-gp-ucb", **GIVEN) as study:
            told, said = fill(study, twin)
            assert "nothing of this step was kept" in said
            for _ in range(2):  # still full
                with pytest.raises(StorageFailure, match="nothing of this step was kept"):
                    study.add([0.5], 1.0, metadata=NOTE)
            check(study, twin, told)
            ballast.unlink()
            go_on(study, twin)
        with Study.open(small / "s.db", "s") as study:
            assert study.summary().tells == told + 3
            assert study.optimizer.state() == twin.state()
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


def test_a_disk_that_is_full_from_the_start(tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=24k", "tmpfs", str(small)]
    if (
        os.geteuid() != 0
        or shutil.which("mount") is None
        or subprocess.run(command, capture_output=True).returncode
    ):
        pytest.skip("a disk can be mounted by root only, and not everywhere")
    try:
        with pytest.raises(StorageFailure, match=r"s\.db: .*full"):
            Study.create(small / "s.db", "s", BOX, "et-gp-ucb", **GIVEN)
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


LIMITED = """
import resource, sys
import windvane as wv
from windvane.errors import StorageFailure
from windvane.study import Study
with Study.open(sys.argv[1], "s") as study:
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
    told = 0
    try:
        while True:
            study.add([0.37], told / 2000, metadata={"note": "x" * 8000})
            told += 1
    except StorageFailure as error:
        assert "nothing of this step was kept" in str(error), error
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert study.summary().tells == told
    study.add([0.37], told / 2000, metadata={"note": "x" * 8000})
    print(told + 1)
"""


def test_a_file_that_may_not_grow(tmp_path, twin):
    """The limit of a process on the size of its files."""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    Study.create(tmp_path / "s.db", "s", BOX, "et-gp-ucb", **GIVEN).close()
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "s.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = int(done.stdout)
    assert told > 5
    for n in range(told):
        twin.tell([0.37], n / 2000)
    with Study.open(tmp_path / "s.db", "s") as study:
        check(study, twin, told)
        go_on(study, twin)


def test_a_database_that_may_not_grow(tmp_path, twin):
    """SQLite's own limit, which it reports as a full disk; at every possible page, so in every statement of a step."""
    from sqlalchemy import event

    with Study.create(tmp_path / "s.db", "s", BOX, "et-gp-ucb", **GIVEN) as study:
        study.add([0.37], 0.0, metadata=NOTE)
        twin.tell([0.37], 0.0)
        told, limit = 1, [0]
        engine = study.database.link._engine
        event.listen(engine, "begin", lambda c: c.exec_driver_sql(f"PRAGMA max_page_count = {limit[0]}"))
        with study.database.link.reading() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        said = []
        for room in range(12):
            limit[0] = pages + room
            try:
                study.add([0.37], told / 2000, metadata=NOTE)
            except StorageFailure as error:
                said.append(str(error))
            else:
                twin.tell([0.37], told / 2000)
                told += 1
            check(study, twin, told)
        assert len(said) > 2
        assert all("the disk is full; nothing of this step was kept" in each for each in said)
        assert told > 2
        limit[0] = 1_000_000
        go_on(study, twin)
    with Study.open(Path(tmp_path / "s.db"), "s") as study:
        assert study.optimizer.state() == twin.state()
