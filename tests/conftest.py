"""What all tests share: a known terminal, and databases (SQLite in a file, and a real PostgreSQL server, one for
each process that runs tests).
"""

import atexit
import gc
import os
import shutil
import tempfile
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

NUMBERS = count(1)
# Hundreds of thousands of objects come with the tests and with what they import: none of it is garbage.
gc.set_threshold(20_000, *gc.get_threshold()[1:])
# How fast an example runs says more about the machine than about the code: speed is measured in bench/.
settings.register_profile("windvane", deadline=None)
settings.load_profile("windvane")
# How wide and how colourful the output is depends on the test, not on where the suite was started.
os.environ.update(COLUMNS="80", LINES="25", TERM="xterm-256color")
for name in ("FORCE_COLOR", "NO_COLOR", "CLICOLOR_FORCE", "PY_COLORS"):
    os.environ.pop(name, None)


def pytest_collection_finish():
    """Nor to be looked through whenever Python looks for garbage."""
    gc.freeze()


class Clock:
    """Time that passes when a test says so."""

    def __init__(self, now=1_700_000_000.0):
        self.now = now

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(scope="session")
def postgres_server():
    """The URL of a server that lives as long as the tests of this process."""
    folder = Path(
        tempfile.mkdtemp(prefix="windvane-")
    )  # short: the path of a socket has 107 characters at most
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # after that of pgserver, which writes there
    folder.chmod(0o755)  # a server that root starts runs as somebody else
    runtime = folder / "run"
    runtime.mkdir(mode=0o700)
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    server = None
    try:
        pgserver = pytest.importorskip(
            "pgserver", reason="pgserver is not installed: no PostgreSQL to test with"
        )
        try:
            server = pgserver.get_server(folder / "data")
        except Exception as error:
            pytest.skip(f"PostgreSQL could not be started here: {error!r}")
        yield server.get_uri()
    finally:
        if server is not None:
            server.cleanup()
        if before is None:
            os.environ.pop("XDG_RUNTIME_DIR", None)
        else:
            os.environ["XDG_RUNTIME_DIR"] = before
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server):
    """A schema of its own on the server, empty."""
    import psycopg

    name = f"test_{next(NUMBERS)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{postgres_server}&options=-csearch_path%3D{name}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request, tmp_path):
    """An empty database of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "studies.db")
    return request.getfixturevalue("postgres_url")
