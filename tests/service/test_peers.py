"""Several processes of one service: each study is at home in one of them, and any can do without the others."""

import asyncio
import time

import httpx
import pytest

from windvane.service import peers
from windvane.service.peers import Peers, RelayedAnswer, home

LONG = 60


@pytest.fixture
def two(start, tmp_path_factory):
    """Two services as `--workers 2` starts them, here in threads of one process."""
    folder = str(tmp_path_factory.mktemp("p"))
    return [start(workers=2, folder=folder) for _ in range(2)]


def at_home(number):
    """A study that belongs to the process of this number."""
    return next(name for i in range(100) if home(name := f"plant-{i}", 2) == number)


def opened(served):
    return set(served.service.studies._open)


def test_a_study_is_in_the_memory_of_one_process_only(two):
    for number in (0, 1):
        name, away = at_home(number), two[1 - number]
        away.create(name, seed=1)
        trial = away.ask(name)
        assert away.tell(name, trial=trial["number"], y=0.5).status_code == 201
        assert away.client.get(f"/v1/studies/{name}/best").json()["x"] == trial["x"]
        assert away.client.get(f"/v1/studies/{name}").json()["tells"] == 1
        points = {"points": [[0.1, 0.2]]}
        found = [each.client.post(f"/v1/studies/{name}/predict", json=points).json() for each in two]
        assert found[0] == found[1]
        assert name in opened(two[number])
        assert name not in opened(away)


def test_errors_and_keys_are_as_at_home(two):
    name = at_home(0)
    two[0].create(name, seed=1)
    for served in two:
        assert served.tell(name, trial=7, y=0.5).status_code == 404
        assert served.client.get(f"/v1/studies/{name}/best").status_code == 409
        assert served.client.post(f"/v1/studies/{name}/tell", json={"y": "x"}).status_code == 422
        assert served.client.get("/v1/studies/nobody/best").status_code == 404
        assert served.client.get(f"/v1/studies/{name}/surface?resolution=4").json()["mean"]
    same = [
        served.client.post(f"/v1/studies/{name}/ask", headers={"Idempotency-Key": "k"}).json()
        for served in two
    ]
    assert same[0] == same[1]
    answer = two[1].client.get(f"/v1/studies/{name}/trials")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"] == "application/json"


def test_the_one_that_let_a_request_in_decides_who_may(two):
    secret = two[0].database.tokens.add("page", ("read",))
    name = at_home(0)
    away = httpx.Client(base_url=two[1].client.base_url, timeout=LONG)
    with away:
        until = time.monotonic() + LONG
        while away.get("/v1/studies").status_code != 401 and time.monotonic() < until:
            time.sleep(0.05)
        headers = {"Authorization": f"Bearer {secret}"}
        assert away.post(f"/v1/studies/{name}/ask").status_code == 401
        assert away.post(f"/v1/studies/{name}/ask", headers=headers).status_code == 403
        assert away.get(f"/v1/studies/{name}/best", headers=headers).status_code == 404


def test_a_stream_here_hears_at_once_what_was_written_there_through_here(start, tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("p"))
    two = [start(workers=2, folder=folder, poll=LONG) for _ in range(2)]
    name = at_home(0)
    two[1].create(name)
    with two[1].client.stream("GET", f"/v1/studies/{name}/stream") as stream:
        lines = stream.iter_lines()
        next(lines)
        with httpx.Client(base_url=two[1].client.base_url, timeout=LONG) as client:
            assert client.post(f"/v1/studies/{name}/ask").status_code == 201
        assert next(line for line in lines if line.startswith("event")) == "event: asked"


def test_without_the_other_it_is_carried_out_here(start, tmp_path_factory):
    alone = start(workers=2, folder=str(tmp_path_factory.mktemp("p")))
    for number in (0, 1):
        alone.create(at_home(number))
        assert (
            alone.tell(at_home(number), trial=alone.ask(at_home(number))["number"], y=1.0).status_code == 201
        )
        assert alone.client.get(f"/v1/studies/{at_home(number)}/best").status_code == 200


# -- one that goes away in the middle -----------------------------------------------------------------


def asked(folder, scope, carry_out):
    """What process 1 makes of a request for process 0, which carries it out in this way."""

    async def run():
        zero, one = Peers(str(folder), 2), Peers(str(folder), 2)
        zero.carry_out = carry_out
        await zero.start()
        await one.start()
        try:
            return await asyncio.wait_for(one.ask(0, scope, b"{}"), LONG)
        finally:
            await one.close()
            await zero.close()

    return asyncio.run(run())


def request(method="POST", verb="tell", headers=()):
    identity = peers.Identity(("read", "write"), authentication=False)
    return {
        "method": method,
        "path": f"/v1/studies/s/{verb}",
        "query_string": b"a=b",
        "headers": [(b"host", b"x"), (b"authorization", b"Bearer wv_1"), *headers],
        "state": {"identity": identity},
    }


async def gone(_scope, _body):
    raise ConnectionResetError("killed")


def test_a_request_arrives_as_it_was_sent_without_secrets(tmp_path):
    seen = []

    async def carry_out(scope, body):
        seen.append((scope, body))
        return RelayedAnswer(201, [(b"x", b"\xe9")], b"\x00answer")

    key = (b"idempotency-key", b"k")
    assert asked(tmp_path, request(headers=[key]), carry_out) == (201, [(b"x", b"\xe9")], b"\x00answer")
    ((scope, body),) = seen
    assert (scope["method"], scope["path"], scope["query_string"], body) == (
        "POST",
        "/v1/studies/s/tell",
        b"a=b",
        b"{}",
    )
    assert scope["headers"] == [key]
    assert scope["state"]["identity"] == request()["state"]["identity"]


@pytest.mark.parametrize(
    "scope",
    [request("GET", "best"), request("POST", "predict"), request(headers=[(b"idempotency-key", b"k")])],
)
def test_what_may_be_repeated_is(tmp_path, scope):
    assert asked(tmp_path, scope, gone) is None


def test_what_may_not_be_repeated_is_not(tmp_path):
    with pytest.raises(peers.Refused, match="not known") as refused:
        asked(tmp_path, request(), gone)
    assert refused.value.status == 503


def test_a_number_is_taken_over_from_one_that_has_gone(tmp_path):
    async def carry_out(_scope, _body):
        return RelayedAnswer(200, [], b"")

    async def run():
        first, second, third = (Peers(str(tmp_path), 2) for _ in range(3))
        for each in (first, second, third):
            each.carry_out = carry_out
            await each.start()
        numbers = [each._own for each in (first, second, third)]
        assert await third.ask(0, request(), b"") == (200, [], b"")
        await first.close()
        assert await second.ask(0, request(), b"") is None
        assert await third.ask(0, request(), b"") is None  # and takes the number
        assert await second.ask(0, request(), b"") == (200, [], b"")
        for each in (second, third):
            await each.close()
        return numbers, third._own

    assert asyncio.run(run()) == ([0, 1, None], 0)


def test_a_folder_that_is_too_deep_for_sockets_costs_speed_only(start, tmp_path):
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    served = start(workers=2, folder=str(folder))
    served.create()
    assert served.ask()["number"] == 1


def test_every_study_has_one_home():
    counts = [0, 0, 0]
    for i in range(3000):
        counts[home(f"study-{i}", 3)] += 1
    assert min(counts) > 800
