"""What is no database, or not one of ours, is refused with a sentence, and stays as it is to the last byte."""

import hashlib
import os
import shutil
import sqlite3
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane.errors import InvalidArgument, InvalidType, StorageFailure
from windvane.storage import Database
from windvane.storage.migrations import APPLICATION_ID, VERSION
from windvane.study import Study

BOX = wv.Box([(0.0, 1.0)])
NOBODY = 65534


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A database with a study in it, closed."""
    path = tmp_path_factory.mktemp("sound") / "sound.db"
    with Study.create(path, "s", BOX, "et-gp-ucb", kernel=wv.RBF(0.2), noise_variance=0.01, seed=0) as study:
        study.add_many([([n / 100], 0.01 * n, None, {"note": "n" * 50}) for n in range(80)])
        study.ask()
    return path


def digests(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.is_file()
    }


def refused(path, match):
    """By everything that opens a database; and neither the file nor its folder has changed."""
    before = digests(path.parent)
    for call in (
        lambda: Database(path),
        lambda: Database(path, create=True),
        lambda: Study.open(path, "s"),
        lambda: Study.create(path, "new", BOX, "random", seed=0),
    ):
        with pytest.raises(StorageFailure, match=match) as caught:
            call()
        assert str(path) in str(caught.value)
    assert digests(path.parent) == before


def test_a_text_file(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary, " * 100)
    refused(path, "not an SQLite database; left untouched")


@pytest.mark.parametrize("size", [1, 16, 99])
def test_a_file_that_is_too_short(tmp_path, sound, size):
    path = tmp_path / "short.db"
    path.write_bytes(sound.read_bytes()[:size])
    refused(path, "not an SQLite database; left untouched")


def test_an_empty_file(tmp_path):
    path = tmp_path / "empty.db"
    path.touch()
    refused(path, "an empty file, not a database; left untouched")


@pytest.mark.parametrize("share", [0.02, 0.5, 0.99])
def test_a_truncated_file(tmp_path, sound, share):
    path = tmp_path / "cut.db"
    whole = sound.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    refused(path, "damaged.*left untouched. Restore it from a backup")


def test_another_programs_database(tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE windvane_schema (version INTEGER)")
        other.execute("PRAGMA user_version = 1")
    other.close()
    refused(path, "an SQLite database, but not one of Windvane's; left untouched")


def test_a_newer_schema(tmp_path, sound):
    path = tmp_path / "newer.db"
    shutil.copy(sound, path)
    with sqlite3.connect(path) as newer:
        newer.execute(f"UPDATE windvane_schema SET version = {VERSION + 1}")
        newer.execute(f"PRAGMA user_version = {VERSION + 1}")
    newer.close()
    refused(path, rf"written by a newer Windvane \(schema {VERSION + 1}, this one knows up to {VERSION}\)")


def test_a_newer_schema_that_the_header_does_not_know_of(tmp_path, sound):
    path = tmp_path / "newer.db"
    shutil.copy(sound, path)
    with sqlite3.connect(path) as newer:
        newer.execute(f"UPDATE windvane_schema SET version = {VERSION + 1}")
    newer.close()
    refused(path, "written by a newer Windvane")


def test_a_newer_schema_on_postgresql(postgres_url):
    with (
        Study.create(postgres_url, "s", BOX, "random", seed=0) as study,
        study.database.link.writing() as connection,
    ):
        connection.exec_driver_sql(f"UPDATE windvane_schema SET version = {VERSION + 1}")
    for create in (False, True):
        with pytest.raises(StorageFailure, match="written by a newer Windvane"):
            Database(postgres_url, create=create)


def test_ours_without_its_tables(tmp_path):
    path = tmp_path / "hollow.db"
    with sqlite3.connect(path) as hollow:
        hollow.execute("CREATE TABLE other (x)")
        hollow.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    hollow.close()
    with pytest.raises(StorageFailure, match="no Windvane database yet"):
        Database(path)


def test_no_such_folder(tmp_path):
    for call in (lambda p: Database(p, create=True), lambda p: Study.create(p, "s", BOX, seed=0)):
        with pytest.raises(StorageFailure, match="cannot be made: No such file or directory"):
            call(tmp_path / "nowhere" / "s.db")
    with pytest.raises(StorageFailure, match="there is no such database; create a study there first"):
        Database(tmp_path / "nowhere" / "s.db")
    assert list(tmp_path.iterdir()) == []


def test_a_directory(tmp_path):
    (tmp_path / "folder.db").mkdir()
    for create in (False, True):
        with pytest.raises(StorageFailure, match=r"folder.db: cannot be read: Is a directory"):
            Database(tmp_path / "folder.db", create=create)
    assert list((tmp_path / "folder.db").iterdir()) == []


@pytest.mark.parametrize("name", ["x" * 5000, "file/below.db"])
def test_impossible_paths(tmp_path, name):
    (tmp_path / "file").write_text("a file")
    with pytest.raises(StorageFailure, match="cannot be read"):
        Database(tmp_path / name, create=True)


def test_a_link_to_nowhere_is_made_there(tmp_path):
    (tmp_path / "link.db").symlink_to(tmp_path / "real.db")
    with Study.create(tmp_path / "link.db", "s", BOX, "random", seed=0) as study:
        study.add([0.5], 1.0)
    with Study.open(tmp_path / "real.db", "s") as study:
        assert study.summary().tells == 1


@pytest.mark.parametrize(
    "url",
    [
        ":memory:",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "file:x.db",
        "sqlite:///x.db?mode=memory",
        "a\0b",
    ],
)
def test_memory_is_no_place_for_a_study(tmp_path, monkeypatch, url):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgument, match=r"needs a file|without options"):
        Database(url, create=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", [None, "", 3, b"s.db", ["s.db"]])
def test_no_place_at_all(url):
    with pytest.raises(InvalidType, match="url="):
        Database(url)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:hunter2@127.0.0.1:1/plant",
        "postgresql://ada@127.0.0.1:1/plant?password=hunter2",
        "postgres://ada:hunter2@127.0.0.1:1/plant?sslpassword=hunter2",
        "postgresql://ada:hunter2@127.0.0.1:port/plant",
        "mysql://ada:hunter2@localhost/plant",
    ],
)
def test_a_password_is_not_repeated(url):
    with pytest.raises((StorageFailure, InvalidArgument)) as caught:
        Database(url, create=True)
    assert "hunter2" not in str(caught.value) + repr(caught.value)
    assert "127.0.0.1" in str(caught.value) or "localhost" in str(caught.value)


def test_postgresql_that_cannot_be_reached():
    with pytest.raises(StorageFailure, match="the database cannot be reached"):
        Database("postgresql://ada@127.0.0.1:1/plant")


def test_a_wrong_password(postgres_server):
    """The server trusts everybody, so a role is made that needs a password, by a rule for it alone."""
    import psycopg

    with psycopg.connect(postgres_server, autocommit=True) as connection:
        rules = Path(connection.execute("SHOW hba_file").fetchone()[0])
        connection.execute("DROP ROLE IF EXISTS ada")
        connection.execute("CREATE ROLE ada LOGIN PASSWORD 'right'")
        before = rules.read_text()
        rules.write_text("local all ada scram-sha-256\n" + before)
        connection.execute("SELECT pg_reload_conf()")
        try:
            url = postgres_server.replace("postgres:@", "ada:hunter2@")
            with pytest.raises(StorageFailure, match="password authentication failed") as caught:
                refused_at_last(lambda: Database(url, create=True).close())
            assert "hunter2" not in str(caught.value)
        finally:
            rules.write_text(before)
            connection.execute("SELECT pg_reload_conf()")


def refused_at_last(call):
    """Call it until the server has read its new rules; for a minute at most."""
    for _ in range(1200):
        call()
        time.sleep(0.05)


def as_nobody(path):
    """What is said to somebody without rights; root has them all. Forked, because nobody may not run our Python."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = "no error"
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            with Study.open(path, "s") as study:
                study.add([0.5], 1.0)
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as file:
        said = file.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.parametrize("what", ["file", "folder"])
def test_read_only(tmp_path, sound, what):
    for folder in [tmp_path, *tmp_path.parents]:
        if "pytest" in str(folder):  # all that pytest made, and nothing above
            folder.chmod(0o755)
    folder = tmp_path / "kept"
    folder.mkdir()
    path = folder / "s.db"
    shutil.copy(sound, path)
    path.chmod(0o444 if what == "file" else 0o666)
    folder.chmod(0o777 if what == "file" else 0o555)
    before = digests(folder)
    try:
        said = as_nobody(path)
    finally:
        folder.chmod(0o755)
    assert said.startswith(f"StorageFailure: {path}")
    assert "Check" in said
    assert digests(folder) == before


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    flips=st.lists(
        st.tuples(st.floats(0.0, 1.0, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=40
    )
)
def test_flipped_bytes(tmp_path, sound, flips):
    """Whatever was flipped: an error of ours or an answer, never another error, and reading writes nothing."""
    folder = tmp_path / "flipped"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    path = folder / "s.db"
    content = bytearray(sound.read_bytes())
    for where, mask in flips:
        content[int(where * len(content))] ^= mask
    path.write_bytes(content)
    before = digests(folder)
    try:
        with Study.open(path, "s") as study:
            study.events()
            study.pending()
    except wv.WindvaneError:
        pass
    assert digests(folder) == before


def test_a_damaged_header_page(tmp_path, sound):
    path = tmp_path / "s.db"
    content = bytearray(sound.read_bytes())
    content[100:4096] = bytes(3996)
    path.write_bytes(content)
    refused(path, "damaged")


@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_a_file_that_goes_while_it_is_open(tmp_path, sound, how):
    """SQLite would go on in a file without a name, and everything acknowledged from then on would be lost."""
    path, aside = tmp_path / "s.db", tmp_path / "aside.db"
    shutil.copy(sound, path)
    with Study.open(path, "s") as study:
        study.add([0.5], 1.0)
        path.rename(aside)
        if how == "replaced":
            shutil.copy(sound, path)
        for call in (lambda: study.add([0.5], 2.0), study.ask):
            with pytest.raises(StorageFailure, match="the file was removed or replaced while it was open"):
                call()
        aside.rename(path)
        study.add([0.5], 3.0)  # as if nothing had been
        assert [record.y for record in study.events(after=81)] == [1.0, 3.0]
