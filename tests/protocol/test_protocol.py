"""One protocol: studies in a database and of a service have its methods, with its arguments."""

import inspect

import pytest

from windvane.client import RemoteStudy
from windvane.protocol import Record, StudyProtocol
from windvane.protocol.corrections import Correction
from windvane.protocol.requests import UNSET, AmendRequest, AskRequest, TellRequest
from windvane.study import Study

PUBLIC = sorted(name for name in vars(StudyProtocol) if not name.startswith("_"))


def parameters(kind, name):
    found = inspect.signature(getattr(kind, name)).parameters.values()
    return [(each.name, each.kind, each.default) for each in found]


@pytest.mark.parametrize("kind", [Study, RemoteStudy])
@pytest.mark.parametrize("name", PUBLIC)
def test_methods_take_what_the_protocol_says(kind, name):
    if isinstance(getattr(StudyProtocol, name), property):
        assert isinstance(getattr(kind, name), property)
    else:
        assert parameters(kind, name) == parameters(StudyProtocol, name)


@pytest.mark.parametrize("kind", [Study, RemoteStudy])
def test_nothing_of_the_protocol_is_left_to_be_done(kind):
    empty = [name for name in PUBLIC if getattr(kind, name) is getattr(StudyProtocol, name)]
    written_once = [
        "add",
        "ask",
        "change_space",
        "correct",
        "events",
        "fail",
        "reset",
        "retract",
        "submit_add",
        "submit_reset",
        "submit_tell",
        "tell",
    ]
    assert empty == written_once


def test_records_survive_json():
    record = Record(1, "told", 2.0, y=0.5, violated=["heat"])
    assert record.violated == ("heat",)
    assert Record(**record.as_dict()) == record


def test_requests_as_json():
    asked = AskRequest.of(None, {"load": 3}, None, None, None, {"by": "ada"}, "k")
    assert asked.body == {"context": {"load": 3}, "expires_after": None, "metadata": {"by": "ada"}}
    assert AskRequest.of(4, None, [1], 2, UNSET, None, None).body == {
        "time": 4.0,
        "available": [1],
        "count": 2,
    }
    told = TellRequest.of(3, None, [1.0, 3.0], None, std=0.5, heat=84.2, x=None)
    assert told.body == {"trial": 3, "y": [1.0, 3.0], "noise_variance": 0.25, "outcomes": {"heat": 84.2}}
    right = Correction.of(None, None, None, {"heat": None}, {})
    amended = AmendRequest.of("record", 7, right, "cold", None, None)
    assert (amended.verb, amended.body) == (
        "correct",
        {"record": 7, "outcomes": {"heat": None}, "reason": "cold"},
    )
    taken_back = AmendRequest.of("trial", 7, None, "", None, None)
    assert (taken_back.verb, taken_back.body) == ("retract", {"trial": 7, "reason": ""})
