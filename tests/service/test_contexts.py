"""Contexts over HTTP; an optimiser in process is the oracle."""

import json

import pytest

import windvane as wv
from windvane.client import Client
from windvane.errors import InvalidArgument, InvalidType

SPACE = {
    "parameters": {
        "gain": {"real": [0, 1], "unit": "dB"},
        "load": {"real": [0, 100], "unit": "%", "context": True},
        "hour": {"real": [0, 24], "context": True, "period": True},
        "flow": {"real": [0, 9], "context": True, "clip": True},
        "crew": {"choice": ["a", "b"], "context": True},
    }
}
SEEN = {"load": 37, "hour": 23.5, "flow": 11, "crew": "b"}
KNOWN = {**SEEN, "flow": 9.0}


def test_ask_best_and_surface(served):
    served.create("mill", space=SPACE, seed=3)
    twin = wv.make(
        wv.Space(
            gain=wv.Real(0, 1, unit="dB"),
            load=wv.Context(0, 100, unit="%"),
            hour=wv.Context(0, 24, period=True),
            flow=wv.Context(0, 9, clip=True),
            crew=wv.Context(wv.Choice(["a", "b"])),
        ),
        seed=3,
    )
    get = served.client.get
    for step in range(6):
        trial = served.ask("mill", context=SEEN)
        x = twin.ask(context=SEEN)
        assert trial["x"] == x
        served.tell("mill", trial=trial["number"], y=0.1 * step)
        twin.tell(x, 0.1 * step)
    best = get("/v1/studies/mill/best", params={"context": json.dumps(SEEN)}).json()
    assert best["x"] == twin.best(context=SEEN).x
    surface = get("/v1/studies/mill/surface", params={"axes": "gain"}).json()
    assert {name: surface["at"][name] for name in KNOWN} == pytest.approx(KNOWN)
    moved = get("/v1/studies/mill/surface", params={"axes": "gain", "context": '{"load": 90}'}).json()
    assert moved["at"]["load"] == 90
    along = get("/v1/studies/mill/surface", params={"axes": "gain,hour"}).json()
    assert len(along["axes"][1]["values"]) == 41
    assert "follows" in get("/v1/studies/mill/explain").json()


@pytest.mark.parametrize(
    ("context", "says"),
    [
        (None, "is missing"),
        ({}, "missing 'load'"),
        ({**SEEN, "load": 101}, "at most 100"),
        ({**SEEN, "load": "x"}, "finite number"),
        ({**SEEN, "lod": 1}, "unexpected 'lod'"),
    ],
)
def test_bad_contexts(served, context, says):
    served.create("mill", space=SPACE, seed=3)
    served.tell("mill", x={"gain": 0.5, **SEEN}, y=1.0)
    asked = served.client.post("/v1/studies/mill/ask", json={} if context is None else {"context": context})
    query = {} if context is None else {"context": json.dumps(context)}
    best = served.client.get("/v1/studies/mill/best", params=query)
    for answer in (asked, best):
        assert answer.status_code == 422, answer.text
        assert says in answer.text.replace('\\"', '"')


def test_bad_spaces_and_texts(served):
    for parameter in (
        {"real": [0, 1], "period": True},
        {"real": [0, 1], "context": True, "period": True, "clip": True},
        {"choice": ["a"], "context": True, "period": True},
        {"real": [0, 1], "context": "yes"},
        {"real": [0, 1], "unit": 3},
    ):
        space = {"parameters": {"gain": {"real": [0, 1]}, "load": parameter}}
        answer = served.client.post("/v1/studies", json={"name": "bad", "space": space})
        assert answer.status_code == 422, answer.text
    only = {"parameters": {"load": {"real": [0, 1], "context": True}}}
    answer = served.client.post("/v1/studies", json={"name": "bad", "space": only})
    assert "nothing to choose" in answer.text
    served.create("mill", space=SPACE, seed=3)
    served.tell("mill", x={"gain": 0.5, **SEEN}, y=1.0)
    assert served.client.get("/v1/studies/mill/best", params={"context": "load"}).status_code == 422
    served.create("plain")
    assert "no contexts" in served.client.post("/v1/studies/plain/ask", json={"context": {"a": 1}}).text


def test_the_client(served):
    space = wv.Space(gain=wv.Real(0, 1), load=wv.Context(0, 100, unit="%"))
    with Client(str(served.client.base_url)) as client:
        study = client.create("mill", space, seed=3)
        assert study.space == space
        twin = wv.make(space, seed=3)
        for _ in range(3):
            trial, x = study.ask(context={"load": 37}), twin.ask(context={"load": 37})
            assert trial.x == x
            assert study.tell(trial, 0.5) == twin.tell(x, 0.5)
        assert study.best(context={"load": 50}) == twin.best(context={"load": 50})
        with pytest.raises(InvalidArgument, match="is missing"):
            study.best()
        with pytest.raises(InvalidArgument, match="at most 100"):
            study.ask(context={"load": 101})
        with pytest.raises(InvalidType, match="must be a dict"):
            study.ask(context=37)
        with pytest.raises(InvalidArgument, match="NaN"):
            study.best(context={"load": float("nan")})
