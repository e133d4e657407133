"""A real server on a real socket, in a thread, and a client for it."""

import threading
import time
from contextlib import ExitStack, contextmanager

import httpx
import pytest
import uvicorn

from windvane.service import Config, create_app
from windvane.service.running import SERVER
from windvane.storage import Database


class Running:
    """A service that runs, and how to talk to it."""

    def __init__(self, app, client, database):
        self.app, self.client, self.database = app, client, database
        self.service = app.state.service

    def create(self, name="plant", **more):
        answer = self.client.post(
            "/v1/studies", json={"name": name, "space": {"box": [[0, 1], [0, 1]]}, **more}
        )
        assert answer.status_code == 201, answer.text
        return answer.json()

    def ask(self, name="plant", **body):
        answer = self.client.post(f"/v1/studies/{name}/ask", json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def tell(self, name="plant", **body):
        return self.client.post(f"/v1/studies/{name}/tell", json=body)


@contextmanager
def running(path, **settings):
    """A service on a database, until the block ends. `database` is a second way to it, as another process has."""
    app = create_app(Config(database=str(path), **{"poll": 0.05, **settings}))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", **SERVER))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.005)
        port = server.servers[0].sockets[0].getsockname()[1]
        with (
            httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
            Database(str(path)) as database,
        ):
            yield Running(app, client, database)
    finally:
        app.state.service.streams.close()
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()


@pytest.fixture
def start(tmp_path):
    """Starts services with settings of the test's own."""
    with ExitStack() as stack:

        def enter(database=tmp_path / "studies.db", **settings):
            return stack.enter_context(running(database, **settings))

        yield enter


@pytest.fixture
def served(start):
    return start()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One service for the tests of a file that do not mind each other's studies."""
    with running(tmp_path_factory.mktemp("shared") / "studies.db") as found:
        yield found
