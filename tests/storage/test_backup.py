"""A backup is whole while others write, and what is restored from it goes on as if nothing had been."""

import json
import shutil
import stat

import pytest

import windvane as wv
from windvane.cli import main
from windvane.errors import Conflict, InvalidArgument, StorageFailure
from windvane.storage import Database
from windvane.storage.backup import backup
from windvane.study import Study
from windvane.study.doctor import examine

SPACE = wv.Box([(0, 1)])


def made(path, name="press"):
    return Study.create(path, name, SPACE, "et-gp-ucb", kernel=wv.RBF(0.2), noise_variance=0.01, seed=0)


def test_a_backup_of_a_study_in_use_is_restored_and_goes_on(tmp_path, capsys):
    place = tmp_path / "plant.db"
    with made(place) as study:
        for i in range(5):
            study.tell(study.ask(), i / 7)
        out = study.ask()
        # much of this is in the log, which a copy of the file alone would not have
        assert (tmp_path / "plant.db-wal").stat().st_size > 0
        assert main(["backup", "--db", str(place), str(tmp_path / "monday.db")]) == 0
        assert capsys.readouterr().out.startswith(f"{tmp_path / 'monday.db'}: 1 study, ")
        before = [record.as_dict() for record in study.events()]
        study.tell(out, 0.9)
        study.tell(study.ask(), 3.0)
    assert stat.S_IMODE((tmp_path / "monday.db").stat().st_mode) == 0o600
    assert sorted(file.name for file in tmp_path.glob("monday*")) == ["monday.db"]

    for ending in ("", "-wal", "-shm"):  # as the documentation says
        place.with_name(place.name + ending).unlink(missing_ok=True)
    shutil.copyfile(tmp_path / "monday.db", place)
    assert main(["doctor", "--db", str(place), "--deep"]) == 0
    with Study.open(place, "press") as study, Study.open(tmp_path / "monday.db", "press") as twin:
        assert [record.as_dict() for record in study.events()] == before
        assert study.tell(out.number, 0.9) == twin.tell(out.number, 0.9)
        assert study.ask().x == twin.ask().x


def test_a_backup_is_as_of_one_moment_though_others_write(tmp_path, monkeypatch):
    """Another writer commits between any two pieces of the copy, if there are pieces."""
    with made(tmp_path / "a.db") as study, Database(tmp_path / "a.db") as other:
        for i in range(30):
            study.tell(study.ask(), i / 7)
        head = study.summary().head
        with other.link.reading() as connection:
            source = connection.connection.driver_connection
            source.execute("BEGIN")
            source.execute("SELECT count(*) FROM windvane_studies").fetchone()  # the moment
            study.tell(study.ask(), 5.0)
            monkeypatch.setattr(type(other.link), "reading", lambda _self: _Given(connection))
            backup(other, tmp_path / "copy.db")
            monkeypatch.undo()
            source.execute("COMMIT")
    with Database(tmp_path / "copy.db") as copy:
        assert copy.find("press").head == head
        assert [each for each in examine(copy) if each.level == "error"] == []


class _Given:
    def __init__(self, connection):
        self.connection = connection

    def __enter__(self):
        return self.connection

    def __exit__(self, *_):
        return None


def test_what_is_there_stays_unless_it_may_be_replaced(tmp_path, capsys):
    with made(tmp_path / "a.db") as study:
        (tmp_path / "old.db").write_text("mine")
        with pytest.raises(Conflict, match="is there already"):
            backup(study.database, tmp_path / "old.db")
        assert (tmp_path / "old.db").read_text() == "mine"
        with pytest.raises(InvalidArgument, match="is the database itself"):
            backup(study.database, tmp_path / "a.db", replace=True)
        with pytest.raises(InvalidArgument, match="is a folder"):
            backup(study.database, tmp_path)
        with pytest.raises(StorageFailure, match="choose another place"):
            backup(study.database, tmp_path / "none" / "a.db")
        assert backup(study.database, tmp_path / "old.db", replace=True) > 1000
    assert main(["backup", "--db", str(tmp_path / "a.db"), str(tmp_path / "old.db")]) == 2
    assert "is there already; give another name, or --replace" in capsys.readouterr().err
    assert main(["backup", "--db", str(tmp_path / "a.db"), str(tmp_path / "b.db"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["studies"] == 1


def test_postgresql_has_a_tool_of_its_own(tmp_path):
    class Elsewhere:
        kind, url = "postgresql", "postgresql://ada@db/plant"

    with pytest.raises(InvalidArgument, match="pg_dump"):
        backup(Elsewhere(), tmp_path / "copy.db")
