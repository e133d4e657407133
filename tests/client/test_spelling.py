"""What is sent and what comes back: the service's own reading of it is the oracle."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windvane as wv
from windvane import errors
from windvane.client import Client
from windvane.client.address import Address
from windvane.client.problems import SAME, error_of
from windvane.client.remote import RemoteStudy
from windvane.client.spelling import options_json
from windvane.errors import Forbidden, InvalidArgument, InvalidType, Unavailable, UnknownName
from windvane.protocol.requests import space_json
from windvane.spelling import plain

SPACES = [
    wv.Box([(0, 1), (-5, 5)]),
    wv.Arms(7),
    wv.Space(gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 8), mode=wv.Choice(["a", "b", 3])),
]


@pytest.mark.parametrize("space", SPACES, ids=repr)
def test_a_space_arrives_as_it_was(space):
    spelling = pytest.importorskip("windvane.spelling")
    assert spelling.space_from_json(json.loads(json.dumps(space_json(space)))) == space


def test_options_arrive_as_they_were():
    spelling = pytest.importorskip("windvane.spelling")
    options = {"kernel": wv.RBF(0.2), "delta": 0.1, "max_points": np.int64(5), "trigger": None}
    sent = json.loads(json.dumps(options_json(options)))
    assert spelling.options_from_json(sent) == {"kernel": wv.RBF(0.2), "delta": 0.1, "max_points": 5}


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_points_of_numpy_are_those_of_python(values):
    assert plain(np.array(values)) == values
    assert plain({"x": np.float64(values[0]), "n": np.int64(3), "m": "a"}) == {
        "x": values[0],
        "n": 3,
        "m": "a",
    }


@pytest.mark.parametrize("name", SAME)
def test_errors_keep_their_class(name):
    found = error_of(422, json.dumps({"error": name, "detail": "why"}).encode(), "here")
    assert type(found) is getattr(errors, name)
    assert str(found) == "why"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidArgument),
        (401, Forbidden),
        (403, Forbidden),
        (404, UnknownName),
        (405, Unavailable),
        (409, errors.Conflict),
        (413, InvalidArgument),
        (422, InvalidArgument),
        (429, Unavailable),
        (500, Unavailable),
    ],
)
def test_the_status_decides_where_the_kind_is_unknown(status, kind):
    found = error_of(status, b'{"error": "SomethingNew", "detail": "why"}', "here")
    assert type(found) is kind


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b'{"error": 3, "detail": []}', b"\xff", b"[" * 100_000]
)
def test_a_stranger_on_the_line_is_no_missing_study(body):
    assert type(error_of(404, body, "here")) is Unavailable


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8000",
        "ftp://host",
        "http://",
        "http://host:99999",
        "http://a b",
        "http://host?x=1",
        None,
        8000,
    ],
)
def test_bad_addresses(url):
    with pytest.raises(InvalidArgument, match="url"):
        Client(url)


def test_a_password_in_the_address_is_refused_and_not_repeated():
    with pytest.raises(InvalidArgument) as caught:
        Client("http://ada:hush@host")
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000", "https://lab.example/wind/vane", "http://[::1]:8000"]
)
def test_an_address_is_spelt_as_it_was_given(url):
    assert str(Address.of(url + "/")) == url


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"token": ""}, InvalidArgument),
        ({"token": "wv_ü"}, InvalidArgument),
        ({"token": "wv_a\r\nX: y"}, InvalidArgument),
        ({"timeout": 0}, InvalidArgument),
        ({"timeout": "1"}, InvalidType),
        ({"retries": -1}, InvalidArgument),
        ({"retries": 1.5}, InvalidType),
    ],
)
def test_bad_settings(given, kind):
    with pytest.raises(kind, match=next(iter(given))):
        Client(**given)


@pytest.mark.parametrize("name", ["", "a/b", "..", "../x", "a\\b", "a\0b", "_x", None, 3])
def test_a_name_that_would_change_the_path(name):
    with pytest.raises(InvalidArgument, match="name"):
        Client().study(name)


@pytest.mark.parametrize(
    "call",
    [
        lambda study: study.tell(1, float("nan")),
        lambda study: study.tell(1, float("inf")),
        lambda study: study.tell(1, "3"),
        lambda study: study.tell(0, 1.0),
        lambda study: study.tell(1.5, 1.0),
        lambda study: study.tell(1, 1.0, time=float("nan")),
        lambda study: study.tell(1, 1.0, key=""),
        lambda study: study.tell(1, 1.0, key="a\nb"),
        lambda study: study.tell(1, 1.0, key="ü"),
        lambda study: study.tell(1, 1.0, metadata=3),
        lambda study: study.tell(1, 1.0, metadata={"a": float("nan")}),
        lambda study: study.tell(1, 1.0, metadata={"a": object()}),
        lambda study: study.add([float("nan")], 1.0),
        lambda study: study.add(object(), 1.0),
        lambda study: study.predict([[float("inf")]]),
        lambda study: study.events(after=-1),
        lambda study: study.events(limit=0),
        lambda study: study.events(newest=True),
        lambda study: study.stream(patience=-1),
    ],
)
def test_mistakes_are_found_before_anything_is_sent(call):
    study = RemoteStudy(Client("http://127.0.0.1:9", retries=0)._transport, "plant")  # nobody is there
    with pytest.raises((InvalidArgument, InvalidType)):
        call(study)


def test_unknown_names_are_found_before_anything_is_sent(tmp_path):
    study = RemoteStudy(Client("http://127.0.0.1:9", retries=0)._transport, "plant")
    with pytest.raises(UnknownName, match="kinds"):
        study.events(kinds=["tell"])
    with pytest.raises(InvalidArgument, match="must end in"):
        study.export(tmp_path / "journal.xls")
    with pytest.raises(UnknownName, match="format"):
        study.export(tmp_path / "journal", "xls")


def test_a_number_that_is_none_mentions_fail():
    study = RemoteStudy(Client("http://127.0.0.1:9", retries=0)._transport, "plant")
    with pytest.raises(InvalidArgument) as caught:
        study.tell(1, float("nan"))
    assert "fail(" in caught.value.__notes__[0]


def test_spaces_of_other_kinds():
    with pytest.raises(InvalidType, match="space"):
        space_json([(0, 1)])
