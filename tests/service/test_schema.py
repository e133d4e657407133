"""Schemathesis makes up requests from the service's own OpenAPI document: no 500, and answers as documented."""

import tempfile

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from windvane.service import Config, create_app

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


def create_paths():
    """The paths of the document; a database is opened with the application, so it gets one for a moment."""
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Config(database=f"{folder}/studies.db"))
        app.state.service.close()
        return app.openapi()["paths"]


def test_the_document_is_complete():
    for path, methods in create_paths().items():
        for method, operation in methods.items():
            where = f"{method} {path}"
            assert operation["summary"], where
            statuses = set(operation["responses"])
            assert statuses & {"200", "201", "204"}, where
            assert "429" in statuses, where
            if path not in ("/health", "/ready"):
                assert {"401", "403", "503"} <= statuses, where
                assert operation["security"], where
            if "{name}" in path:
                assert "404" in statuses, where
            if "requestBody" in operation:
                assert {"400", "413", "415", "422"} <= statuses, where


OPERATIONS = [
    (method, path)
    for path, methods in create_paths().items()
    for method in methods
    if not path.endswith("/stream")  # which has no end
]


@pytest.fixture(scope="module")
def api(shared):
    for name, space in (("box", {"box": [[0, 1], [0, 1]]}), ("bandit", {"arms": 3})):
        shared.create(name, space=space, seed=0)
        for point in [0, 1, 2] if name == "bandit" else [[0.1, 0.2], [0.7, 0.4], [0.5, 0.9]]:
            shared.tell(name, x=point, y=0.5)
        shared.ask(name)
    document = shared.client.get("/openapi.json").json()
    for methods in document["paths"].values():
        for operation in methods.values():
            operation.pop("security", None)  # this service is open; test_access.py has those with tokens
    schema = schemathesis.openapi.from_dict(document)
    schema.config.update(base_url=str(shared.client.base_url))
    return schema


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_made_up_requests(api, method, path):
    """Half of them are for studies that exist, as random names hardly ever do.

    That bad data are refused is checked of bodies: a query that is too much is ignored, as everywhere.
    """
    made_up = st.one_of(api[path][method].as_strategy(generation_mode=mode) for mode in GenerationMode)

    @settings(
        max_examples=30,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        phases=[Phase.generate],
    )
    @given(made_up, st.sampled_from([None, None, "box", "bandit"]))
    def check(case, name):
        if name is not None and "name" in case.path_parameters and method != "delete":
            case.path_parameters["name"] = name
        case.call_and_validate(checks=CHECKS if method == "post" else CHECKS[:-1])

    check()
