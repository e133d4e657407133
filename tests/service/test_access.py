"""Who may come in: tokens, scopes, this machine, and pages of other sites."""

import json
import os
import socket
import time
from pathlib import Path

import httpx
import pytest

from windvane.errors import InvalidArgument, StorageFailure
from windvane.service import Config, create_app, owners
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
    for path in (
        "/v1/session",
        "/v1/studies",
        "/v1/algorithms",
        "/v1/hypotheses",
        "/metrics",
        "/openapi.json",
        "/v1/nothing",
    ):
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
        ({"X-Forwarded-Port": "443"}, 403),
        ({"X-Forwarded-Server": "windvane.example"}, 403),
        ({"Via": "1.1 proxy"}, 403),
        ({"X-Real-IP": "203.0.113.9"}, 403),
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


def plain_proxy_pass(path):
    """What nginx makes of a request with nothing but `proxy_pass http://127.0.0.1:PORT;`."""
    return f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()


def raw(served, text):
    with socket.create_connection(("127.0.0.1", served.client.base_url.port), timeout=30) as connection:
        connection.sendall(text)
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
    head, _, body = b"".join(parts).partition(b"\r\n\r\n")
    return int(head.split()[1]), body


def test_behind_a_plain_proxy_it_is_closed_until_there_is_a_token(shared, tokens, start):
    status, body = raw(shared, plain_proxy_pass("/v1/studies"))
    assert status == 403
    assert b"windvane token add" in body
    assert raw(shared, plain_proxy_pass("/health"))[0] == 200
    with_tokens = start()
    header = f"\r\nAuthorization: Bearer {tokens['read']}\r\n\r\n".encode()
    asked = plain_proxy_pass("/v1/studies")
    assert raw(with_tokens, asked)[0] == 401
    assert raw(with_tokens, asked.replace(b"\r\n\r\n", header))[0] == 200


def test_a_proxy_of_another_user_is_refused_whatever_it_sends(shared, start, monkeypatch):
    asked = []

    def owner_of(client, server):
        asked.append((client, server))
        return os.getuid() + 1

    monkeypatch.setattr(owners, "owner_of", owner_of)
    with httpx.Client(base_url=shared.client.base_url) as client:
        for _ in range(3):
            answer = client.get("/v1/studies")
            assert answer.status_code == 403
            assert "only the user who runs the service" in answer.json()["detail"]
        assert client.get("/health").status_code == 200
    assert len(asked) == 1  # the connection is looked up once
    monkeypatch.setattr(owners, "owner_of", lambda *_: None)
    with httpx.Client(base_url=shared.client.base_url) as client:
        assert client.get("/v1/studies").status_code == 200


@pytest.mark.skipif(not owners.TABLES[0].exists(), reason="needs /proc/net/tcp")
@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_the_owner_of_a_connection(family, host):
    try:
        listener = socket.create_server((host, 0), family=family)
    except OSError:
        pytest.skip(f"no {host} here")
    with listener, socket.create_connection(listener.getsockname()[:2]) as made:
        assert owners.owner_of(made.getsockname()[:2], made.getpeername()[:2]) == os.getuid()
        assert owners.owner_of((host, 1), made.getpeername()[:2]) is None


def test_what_a_proxy_says_is_believed_only_if_there_is_one(start, tmp_path):
    def statuses(served, forwarded):
        return [
            served.client.get("/health", headers={"X-Forwarded-For": each}).status_code for each in forwarded
        ]

    made_up = [f"203.0.113.{i}" for i in range(6)]
    assert statuses(start(rate=0.01, burst=4.0), made_up) == [200] * 4 + [429] * 2
    behind = start(tmp_path / "other.db", rate=0.01, burst=4.0, behind_proxy=True)
    assert statuses(behind, made_up) == [200] * 6
    assert statuses(behind, [f"{each}, 198.51.100.7" for each in made_up]) == [200] * 4 + [429] * 2
    assert (
        behind.client.get("/v1/studies").status_code == 403
    )  # without a token, there is nobody on this machine


def test_a_token_that_was_seen_is_counted_by_itself_though_it_is_looked_up_again(start):
    served = start(rate=0.001, burst=3.0, remember=0.0)
    headers = bearer(served.database.tokens.add("press"))
    assert served.client.get("/v1/session", headers=headers).status_code == 200
    assert [served.client.get("/health").status_code for _ in range(3)] == [200, 200, 429]
    assert [served.client.get("/v1/session", headers=headers).status_code for _ in range(4)] == [200] * 3 + [
        429
    ]


def test_with_the_database_down_a_stranger_is_told_nothing_about_it(served, monkeypatch, caplog):
    where = "postgresql://windvane@db.internal:5432/plant: the database cannot be reached"

    def away(_):
        raise StorageFailure(where)

    monkeypatch.setattr(served.service.database.tokens, "check", away)
    answer = served.client.get("/v1/studies", headers=bearer("wv_made_up"))
    assert answer.status_code == 503
    assert "db.internal" not in answer.text
    assert "the database cannot be reached" in answer.json()["detail"]
    assert where in caplog.text


def all_of(lines):
    """What a stream says until it ends; it fails if it says instead that it goes on."""
    said = []
    for line in lines:
        assert line != ": still here", f"it did not end: {said}"
        said.append(line)
    return said


def test_a_stream_ends_when_its_token_is_revoked(start):
    served = start(remember=0.05)
    mine, other = served.database.tokens.add("mine"), served.database.tokens.add("other")
    served.client.post("/v1/studies", json=BODY, headers=bearer(mine))
    with (
        served.client.stream("GET", "/v1/studies/plant/stream", headers=bearer(mine)) as stream,
        served.client.stream("GET", "/v1/studies/plant/stream", headers=bearer(other)) as stays,
    ):
        lines, others = stream.iter_lines(), stays.iter_lines()
        next(lines), next(others)
        (number,) = [token.id for token in served.database.tokens.list() if token.label == "mine"]
        served.database.tokens.revoke(number)
        assert ": the token was revoked" in all_of(lines)
        assert served.service.streams.count == 1
        served.client.post("/v1/studies/plant/ask", headers=bearer(other))
        assert any(line == "event: asked" for line in others)


def test_a_stream_without_a_token_ends_when_there_are_some(start):
    served = start(remember=0.05)
    served.client.post("/v1/studies", json=BODY)
    with served.client.stream("GET", "/v1/studies/plant/stream") as stream:
        lines = stream.iter_lines()
        next(lines)
        served.database.tokens.add("first")
        assert ": the token was revoked" in all_of(lines)


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
