"""A study behind a real service passes the suite that studies on this machine pass."""

from contextlib import suppress

import pytest

from windvane.client import Client
from windvane.errors import UnknownName
from windvane.testing import StudySuite

pytest.importorskip("fastapi", reason="needs windvane[service]")
pytest.importorskip("uvicorn", reason="needs windvane[service]")


class TestRemoteStudy(StudySuite):
    @pytest.fixture
    def make_study(self, service):
        made = []
        with Client(service.url, retries=12) as client:

            def make(name, space, **options):
                made.append(client.create(name, space, **options))
                return made[-1]

            yield make
            for study in made:
                with suppress(UnknownName):  # a test may have deleted it
                    study.delete()
