"""One file, two paths: each would have its own log, so what is told by one would be lost by the other."""

import os
import shutil
import subprocess

import pytest

import windvane as wv
from windvane.errors import StorageFailure
from windvane.storage import Database, places
from windvane.study import Study

BOX = wv.Box([(0.0, 1.0)])


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "s.db"
    Study.create(path, "s", BOX, "random", seed=0).close()
    return path


def mounted(*command):
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount")
    if subprocess.run(["mount", *map(str, command)], capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")


def test_a_hard_link_is_refused(path, tmp_path, monkeypatch):
    monkeypatch.setattr(places, "MOMENT", 0.02)
    os.link(path, tmp_path / "other.db")
    for each in (path, tmp_path / "other.db"):
        with pytest.raises(StorageFailure, match=r"2 names .hard links.*Delete the other"):
            Database(each)
    (tmp_path / "other.db").unlink()
    with Study.open(path, "s") as study:
        study.add([0.5], 1.0)


def test_a_file_that_is_being_made_is_waited_for(path, tmp_path, monkeypatch):
    """Or its maker was killed, and the name it had before is still there."""
    os.link(path, tmp_path / ".s.db.0123456789abcdef")
    with Study.open(path, "s") as study:
        study.add([0.5], 1.0)
    assert not (tmp_path / ".s.db.0123456789abcdef").exists()
    monkeypatch.setattr(places, "MOMENT", 0.0)
    os.link(path, tmp_path / ".s.db.backup")
    with pytest.raises(StorageFailure, match="2 names"):
        Database(path)
    assert (tmp_path / ".s.db.backup").exists()


def test_a_file_that_is_mounted_is_refused(path, tmp_path):
    (tmp_path / "in a box").mkdir()
    other = tmp_path / "in a box" / "s.db"
    other.touch()
    mounted("--bind", path, other)
    try:
        with pytest.raises(StorageFailure, match="Mount the folder instead"):
            Database(other)
    finally:
        subprocess.run(["umount", "-l", str(other)], check=True)


def test_a_folder_that_is_mounted_is_one_place(path, tmp_path):
    other = tmp_path / "mounted"
    other.mkdir()
    (tmp_path / "folder").mkdir()
    shutil.move(path, tmp_path / "folder" / "s.db")
    mounted("--bind", tmp_path / "folder", other)
    try:
        with Study.open(tmp_path / "folder" / "s.db", "s") as one, Study.open(other / "s.db", "s") as two:
            for y in (1.0, 2.0):
                one.add([0.5], y)
                two.add([0.5], -y)
            assert [record.y for record in one.events()] == [1.0, -1.0, 2.0, -2.0]
    finally:
        subprocess.run(["umount", "-l", str(other)], check=True)


def test_a_symbolic_link_leads_to_the_same_log(path, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.db"
    link.symlink_to(path)
    with Study.open(path, "s") as one, Study.open(link, "s") as two:
        one.add([0.5], 1.0)
        two.add([0.5], 2.0)
        one.add([0.5], 3.0)
        assert [record.y for record in two.events()] == [1.0, 2.0, 3.0]
    assert [each.name for each in (tmp_path / "elsewhere").iterdir()] == ["link.db"]


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_a_helper_file_that_was_removed_is_noticed(path, suffix):
    with Study.open(path, "s") as study:
        study.add([0.5], 1.0)
        path.with_name(f"s.db{suffix}").unlink()
        with pytest.raises(
            StorageFailure, match=r"log of the file was removed .* nothing of this step was kept"
        ):
            study.add([0.5], 2.0)
        assert [record.y for record in study.events()] in ([1.0], [])  # the log itself may be gone


@pytest.mark.parametrize("logged", [False, True])
def test_on_a_read_only_file_system_one_can_read(tmp_path, logged):
    folder, other = tmp_path / "folder", tmp_path / "mounted"
    folder.mkdir(), other.mkdir()
    study = Study.create(folder / "s.db", "s", BOX, "random", seed=0)
    study.add([0.5], 1.0)
    if not logged:
        study.close()
    mounted("--bind", folder, other)
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(other)], check=True)
        with Study.open(other / "s.db", "s") as read_only:
            assert read_only.summary().tells == 1
            assert read_only.optimizer.size == 1
            if logged:  # beside one who writes
                study.add([0.5], 2.0)
                assert read_only.summary().tells == 2
            for act in (read_only.ask, read_only.delete):
                with pytest.raises(StorageFailure, match="cannot be written to; nothing was changed"):
                    act()
        with pytest.raises(StorageFailure, match="cannot be made"):
            Study.create(other / "new.db", "s", BOX, "random", seed=0)
    finally:
        subprocess.run(["umount", "-l", str(other)], check=True)
        study.close()
