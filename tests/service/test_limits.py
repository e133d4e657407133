"""Too large, too often, too many, and not a number."""

import http.client
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane import checks
from windvane.errors import InvalidArgument
from windvane.service import limits
from windvane.service.answers import dumps, loads
from windvane.service.limits import Buckets
from windvane.study import Study

JSON = {"Content-Type": "application/json"}


def post(served, path, body, **headers):
    return served.client.post(path, content=body, headers={**JSON, **headers})


@pytest.mark.parametrize(
    "number", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"nan", b'"NaN"', b"null", b"true"]
)
def test_what_is_not_a_number_is_not_told(shared, number):
    name = "numbers"
    if shared.client.get(f"/v1/studies/{name}").status_code == 404:
        shared.create(name)
    for body in (b'{"x": [0.1, 0.1], "y": %s}' % number, b'{"x": [0.1, %s], "y": 0.1}' % number):
        answer = post(shared, f"/v1/studies/{name}/tell", body)
        assert answer.status_code in (400, 422), answer.text
    assert shared.client.get(f"/v1/studies/{name}").json()["head"] == 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"0",
        b'"y"',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"y": "\\ud800"}',
        b'{"metadata": {"a": "\\u0000"}}',
    ],
)
def test_bodies_that_are_not_what_they_should_be(shared, body):
    if shared.client.get("/v1/studies/bodies").status_code == 404:
        shared.create("bodies")
    assert post(shared, "/v1/studies/bodies/tell", body).status_code in (400, 422)
    assert post(shared, "/v1/studies", body).status_code in (400, 422)


@pytest.mark.parametrize("body", [b"{", b'{"reason": "\\u0000"}', b'{"reason": NaN}', b'{"reason": 1e999}'])
def test_every_route_says_what_is_wrong_with_a_body(shared, body):
    told, reset = (post(shared, f"/v1/studies/bodies/{verb}", body) for verb in ("tell", "reset"))
    assert (reset.status_code, reset.json()) == (told.status_code, told.json())
    assert reset.json()["detail"].startswith("body: ")


def test_the_declared_type(shared):
    shared.create("typed")
    body = b'{"x": [0.1, 0.1], "y": 0.5}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        assert post(shared, "/v1/studies/typed/tell", body, **{"Content-Type": kind}).status_code == 415
    assert (
        post(
            shared, "/v1/studies/typed/tell", body, **{"Content-Type": "Application/JSON; charset=utf-8"}
        ).status_code
        == 201
    )


def test_a_body_of_more_than_the_limit(start):
    served = start(body_limit=2000)
    served.create()
    large = json.dumps({"trial": 1, "y": 1, "metadata": {"a": "x" * 2000}}).encode()
    assert post(served, "/v1/studies/plant/tell", large).status_code == 413
    chunks = (large[i : i + 100] for i in range(0, len(large), 100))  # no Content-Length
    assert served.client.post("/v1/studies/plant/tell", content=chunks, headers=JSON).status_code == 413
    connection = http.client.HTTPConnection("127.0.0.1", served.client.base_url.port, timeout=60)
    connection.putrequest("POST", "/v1/studies")
    connection.putheader("Content-Length", str(10**12))
    connection.endheaders()
    assert connection.getresponse().status == 413  # before a byte of it was sent
    connection.close()
    assert served.client.get("/v1/studies/plant").json()["head"] == 0


def test_too_often(start):
    served = start(rate=0.01, burst=5.0)
    answers = [served.client.get("/health") for _ in range(7)]
    assert [a.status_code for a in answers] == [200] * 5 + [429] * 2
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 100
    assert answers[-1].json()["error"] == "TooManyRequests"


def test_a_token_has_a_bucket_of_its_own(start):
    served = start(rate=0.01, burst=5.0)
    headers = {"Authorization": f"Bearer {served.database.tokens.add('press')}"}
    first = served.client.get("/v1/session", headers=headers)  # counted by address, the token being new
    others = [served.client.get("/v1/session", headers=headers).status_code for _ in range(6)]
    assert [first.status_code, *others] == [200] * 6 + [429]
    assert [served.client.get("/health").status_code for _ in range(5)] == [200] * 4 + [429]


def test_too_many_points(shared):
    shared.create("crowd")
    body = {"points": [[0.5, 0.5]] * 10_001}
    answer = shared.client.post("/v1/studies/crowd/predict", json=body)
    assert answer.status_code == 422
    assert "10000" in answer.json()["detail"]


@given(st.floats(0.1, 100), st.floats(1, 50), st.lists(st.floats(0, 5), min_size=1, max_size=40))
def test_no_more_than_the_burst_and_the_rate(rate, burst, gaps):
    now = 0.0
    buckets = Buckets(rate, burst, clock=lambda: now)
    passed = 0
    for gap in gaps:
        now += gap
        wait = buckets.wait("ada")
        passed += wait == 0.0
        assert passed <= burst + rate * now + 1e-6
        if wait > 0.0:  # and who waits as long as told to, passes
            now += wait * (1 + 1e-9) + 1e-9
            assert buckets.wait("ada") == 0.0
            passed += 1
    assert buckets.wait("another") == 0.0


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON_VALUES)
def test_json_survives_both_ways(value):
    text = dumps(value)
    assert loads(text) == value == json.loads(text)


@given(st.lists(st.floats() | st.dictionaries(st.text("ab", max_size=2), st.floats())))
def test_answers_never_contain_what_is_not_json(value):
    text = dumps(value)
    for word in (b"NaN", b"Infinity"):
        assert word not in text
    plain = [v if isinstance(v, dict) else {"only": v} for v in value]
    given = [v if isinstance(v, dict) else {"only": v} for v in json.loads(text)]
    for had, got in zip(plain, given, strict=True):
        assert {k: v if math.isfinite(v) else None for k, v in had.items()} == got


def test_a_number_beyond_double_precision():
    with pytest.raises(InvalidArgument, match="double precision"):
        loads(b'{"a": [{"b": -1e400}]}')


def test_limits_of_a_study_are_the_same_over_http(served):
    served.create()
    assert (
        served.client.post("/v1/studies/plant/reset", json={"reason": "x" * checks.LONGEST}).status_code
        == 201
    )
    answer = served.client.post("/v1/studies/plant/reset", json={"reason": "x" * (checks.LONGEST + 1)})
    assert answer.status_code == 422
    assert str(checks.LONGEST) in answer.json()["detail"]
    study = Study.open(served.database, "plant")
    assert study.reset("x" * checks.LONGEST).reset
    for length, status in ((limits.KEY, 201), (limits.KEY + 1, 422)):
        headers = {"Idempotency-Key": "k" * length}
        assert served.client.post("/v1/studies/plant/ask", headers=headers).status_code == status
