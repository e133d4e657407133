"""Studies in a database and of a service take the same arguments, those of the protocol."""

from __future__ import annotations

import inspect

import pytest

from windvane.client.remote import RemoteStudy
from windvane.protocol import StudyProtocol
from windvane.study import Study

METHODS = sorted(
    name
    for name, value in vars(StudyProtocol).items()
    if not name.startswith("_") and inspect.isfunction(value)
)


def parameters(kind: type, name: str) -> list[tuple[str, object, object]]:
    found = inspect.signature(getattr(kind, name)).parameters.values()
    return [(each.name, each.kind, each.default) for each in found]


@pytest.mark.parametrize("kind", [Study, RemoteStudy])
@pytest.mark.parametrize("name", METHODS)
def test_every_method_takes_what_the_protocol_says(kind, name):
    assert parameters(kind, name) == parameters(StudyProtocol, name)
