"""Who may come in: tokens, scopes, this machine, and pages of other sites."""

import json
import time
from pathlib import Path

import httpx
import pytest

from windvane.errors import InvalidArgument
from windvane.service import Config, create_app
from windvane.service.access import Known
from windvane.service.config import is_loopback
from windvane.storage import Database, Token

BODY = {"name": "plant", "space": {"box": [[0, 1]]}}


def bearer(secret):
    return {"Authorization": f"Bearer {secret}"}


@pytest.fixture
def tokens(tmp_path):
    with Database(str(tmp_path / "studies.db"), create=True) as database:
        yield {"read": database.tokens.add("page", ["read"]), "write": database.tokens.add("press")}


def test_scopes(tokens, start):
    served = start()
    read, write = (
        httpx.Client(base_url=served.client.base_url, headers=bearer(tokens[s])) for s in ("read", "write")
    )
    assert write.post("/v1/studies", json=BODY).status_code == 201
    trial = write.post("/v1/studies/plant/ask").json()["number"]
    before = read.get("/v1/studies/plant/events").json()
    attempts = [
        read.post("/v1/studies/plant/tell", json={"trial": trial, "y": 1.0}),
        read.post("/v1/studies/plant/tell", json={"trial": trial, "y": "not even valid"}),
        read.post("/v1/studies/plant/ask"),
        read.post("/v1/studies/plant/fail", json={"trial": trial}),
        read.post("/v1/studies", json={**BODY, "name": "other"}),
        read.delete("/v1/studies/plant"),
    ]
    assert [(a.status_code, a.json()["error"]) for a in attempts] == [(403, "Forbidden")] * 6
    assert read.get("/v1/studies/plant/events").json() == before
    assert len(read.get("/v1/studies").json()["studies"]) == 1
    assert read.get("/v1/session").json()["scopes"] == ["read"]
    assert (
        read.post("/v1/studies/plant/predict", json={"points": [[0.5]]}).status_code == 200
    )  # changes nothing
    assert write.post("/v1/studies/plant/tell", json={"trial": trial, "y": 1.0}).status_code == 201
    read.close()
    write.close()


def test_what_needs_a_token(tokens, start):
    served = start()
    for path in ("/v1/session", "/v1/studies", "/v1/algorithms", "/metrics", "/openapi.json", "/v1/nothing"):
        answer = served.client.get(path)
        assert answer.status_code == 401, path
        assert answer.headers["www-authenticate"] == "Bearer"
    for path in ("/health", "/", "/studies/plant", "/static/plotly.min.js"):
        assert served.client.get(path).status_code == 200, path
    for header in (
        "wv_wrong",
        "Bearer wv_wrong",
        "Bearer",
        "Basic dXNlcjpwYXNz",
        f"Bearer {tokens['read'][:-1]}",
    ):
        assert served.client.get("/v1/session", headers={"Authorization": header}).status_code == 401
    assert (
        served.client.get("/v1/session", headers={"Authorization": f"bearer {tokens['read']}"}).status_code
        == 200
    )
    assert served.client.get("/metrics", headers=bearer(tokens["read"])).status_code == 200


def test_a_revoked_token_stops_working_soon(tokens, start):
    served = start(remember=0.2)
    headers = bearer(tokens["read"])
    assert served.client.get("/v1/session", headers=headers).status_code == 200
    for token in served.database.tokens.list():
        served.database.tokens.revoke(token.id)
    time.sleep(0.25)
    assert served.client.get("/v1/session", headers=headers).status_code == 401
    assert served.client.get("/v1/session").status_code == 401  # not open either, though none is left


def test_the_first_token_closes_the_door(start):
    served = start(remember=0.1)
    assert served.client.get("/v1/studies").status_code == 200
    secret = served.database.tokens.add("first")
    time.sleep(0.15)
    assert served.client.get("/v1/studies").status_code == 401
    assert served.client.get("/v1/studies", headers=bearer(secret)).status_code == 200


def test_tokens_are_nowhere_on_disk(tokens, start, tmp_path):
    served = start()
    served.client.get("/v1/session", headers=bearer(tokens["write"]))
    for file in Path(tmp_path).iterdir():
        assert tokens["write"].encode() not in file.read_bytes()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 201),
        ({"Host": "localhost"}, 201),
        ({"Host": "LOCALHOST:8000"}, 201),
        ({"Host": "[::1]:8000"}, 201),
        ({"Host": "evil.example"}, 403),  # DNS rebinding: the name of another site that leads here
        ({"Host": "127.0.0.1.evil.example:8000"}, 403),
        ({"Host": "localhost.evil.example"}, 403),
        ({"Host": "evil.example:80@localhost"}, 403),
        ({"Host": ""}, 403),
        ({"Host": "[::1"}, 403),
        ({"Host": "localhost:8000", "Origin": "http://localhost:8000"}, 201),
        ({"Host": "localhost:8000", "Origin": "http://localhost:9000"}, 403),
        ({"Host": "localhost:8000", "Origin": "http://evil.example"}, 403),
        ({"Host": "localhost:8000", "Origin": "null"}, 403),
        ({"Host": "localhost:8000", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Host": "localhost:8000", "Sec-Fetch-Site": "same-origin"}, 201),
        ({"X-Forwarded-For": "203.0.113.9"}, 403),  # through a proxy, which would open it to everybody
        ({"Forwarded": "for=203.0.113.9"}, 403),
    ],
)
def test_this_machine_only(shared, headers, status):
    answer = shared.client.post("/v1/studies", json=BODY, headers=headers)
    assert answer.status_code == status, answer.text
    if status == 201:
        shared.client.delete("/v1/studies/plant")
    else:
        assert shared.client.get("/v1/studies").json() == {"studies": []}


def test_reading_needs_the_right_host_too(shared):
    assert shared.client.get("/v1/studies", headers={"Host": "evil.example"}).status_code == 403
    assert shared.client.get("/v1/studies", headers={"Origin": "http://evil.example"}).status_code == 200
    assert "access-control-allow-origin" not in shared.client.get("/v1/studies").headers


def test_with_a_token_the_host_may_be_anything(tokens, start):
    served = start()
    headers = {**bearer(tokens["read"]), "Host": "windvane.example", "X-Forwarded-For": "203.0.113.9"}
    assert served.client.get("/v1/studies", headers=headers).status_code == 200


def test_refuses_to_be_open_to_everybody(tmp_path):
    path = str(tmp_path / "studies.db")
    with pytest.raises(InvalidArgument, match=r"windvane token add"):
        create_app(Config(database=path, host="0.0.0.0"))
    with Database(path) as database:
        database.tokens.add("one")
    create_app(Config(database=path, host="0.0.0.0")).state.service.close()


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("", False),
        ("localhost.evil.example", False),
        ("2130706433", False),
    ],
)
def test_loopback(host, loopback):
    assert is_loopback(host) is loopback


def test_what_is_known_is_forgotten():
    now = 0.0
    known = Known(2.0, clock=lambda: now)
    token = Token(1, "press", ("read",), 0.0)
    assert known.get("wv_a") is None
    known.put("wv_a", token)
    assert known.get("wv_a") is token
    assert known.get("wv_b") is None
    now = 2.0
    assert known.get("wv_a") is None


def test_errors_are_json_everywhere(shared):
    for answer in (
        shared.client.get("/v1/studies", headers={"Host": "evil.example"}),
        shared.client.get("/v1/studies/none"),
        shared.client.get("/static/none"),
    ):
        assert answer.headers["content-type"] == "application/json"
        assert set(json.loads(answer.text)) == {"error", "detail"}
