"""A hand on the wheel over HTTP."""

import pytest

SPACE = {"box": [[0, 1], [0, 1]]}


@pytest.fixture
def client(served):
    return served.client


@pytest.fixture
def plant(client):
    """A study that was told six values, the third of them wrong."""
    client.post("/v1/studies", json={"name": "plant", "space": SPACE, "seed": 1})
    for n in range(6):
        trial = client.post("/v1/studies/plant/ask").json()
        client.post(
            "/v1/studies/plant/tell", json={"trial": trial["number"], "y": 80.0 if n == 2 else 0.1 * n}
        )
    return client


def post(client, verb, body, key=None):
    return client.post(
        f"/v1/studies/plant/{verb}", json=body, headers={"Idempotency-Key": key} if key else {}
    )


def test_each_is_a_record(plant):
    reset = post(plant, "reset", {"reason": "new pump", "metadata": {"by": "ada"}}, "k1")
    assert reset.status_code == 201
    assert (reset.json()["kind"], reset.json()["reset"], reset.json()["reason"]) == (
        "reset",
        True,
        "new pump",
    )
    assert reset.json()["event"]["cause"] == "asked"
    assert post(plant, "reset", {"reason": "new pump"}, "k1").json()["seq"] == reset.json()["seq"]
    back = post(plant, "retract", {"trial": 3, "reason": "cold"}).json()
    assert (back["kind"], back["y"], back["event"]["observations"]) == ("retracted", 80.0, 5)
    right = post(plant, "correct", {"trial": 2, "y": 0.2}).json()
    assert (right["kind"], right["y"], right["event"]["was"]) == ("corrected", 0.2, 0.1)
    assert post(plant, "correct", {"trial": 2, "y": [0.1, 0.3], "std": 0.1}).json()["event"]["values"] == [
        0.1,
        0.3,
    ]
    moved = post(plant, "space", {"space": {"box": [[0, 2], [0, 1]]}, "reason": "longer arm"}).json()
    assert (moved["kind"], moved["event"]["left_out"]) == ("redefined", 0)
    assert plant.get("/v1/studies/plant").json()["definition"]["space"]["bounds"][0] == [0.0, 2.0]
    kinds = [r["kind"] for r in plant.get("/v1/studies/plant/events", params={"after": 12}).json()["events"]]
    assert kinds == ["reset", "retracted", "corrected", "corrected", "redefined"]
    assert (
        "By hand: the value of trial 3, 80, was taken back (cold)"
        in (plant.get("/v1/studies/plant/explain").json()["text"])
    )
    found = plant.get("/v1/studies/plant/events", params={"kind": "retracted"}).json()["events"]
    assert [r["seq"] for r in found] == [back["seq"]]


def test_a_value_that_nobody_asked_for(plant):
    record = plant.post("/v1/studies/plant/tell", json={"x": [0.5, 0.5], "y": 7.0}).json()
    assert post(plant, "retract", {"record": record["seq"]}).json()["event"]["record"] == record["seq"]
    assert post(plant, "retract", {"record": 999}).status_code == 404
    assert post(plant, "retract", {"record": 1}).status_code == 409


@pytest.mark.parametrize(
    ("verb", "body", "status"),
    [
        ("reset", {"reason": 5}, 400),
        ("reset", {"why": "x"}, 400),
        ("retract", {}, 400),
        ("retract", {"trial": 1, "record": 2}, 400),
        ("retract", {"trial": 99}, 404),
        ("retract", {"trial": "1"}, 400),
        ("correct", {"trial": 1}, 400),
        ("correct", {"trial": 1, "y": None}, 400),
        ("correct", {"trial": 1, "y": []}, 400),
        ("correct", {"trial": 1, "y": 1.0, "std": 0}, 400),
        ("correct", {"trial": 1, "y": 1.0, "std": 0.1, "noise_variance": 0.1}, 400),
        ("space", {}, 400),
        ("space", {"space": {"arms": 3}}, 400),
        ("space", {"space": {"box": [[0, 1]]}}, 400),
        ("space", {"space": SPACE}, 400),
        ("ask", {"count": 0}, 400),
        ("ask", {"count": 5000}, 400),
    ],
)
def test_bad_bodies(plant, verb, body, status):
    before = plant.get("/v1/studies/plant").json()
    answer = post(plant, verb, body)
    assert answer.status_code in ((status, 422) if status == 400 else (status,)), answer.text
    assert plant.get("/v1/studies/plant").json() == before


def test_twice_is_a_conflict_unless_the_key_is_the_same(plant):
    assert post(plant, "retract", {"trial": 3}, "k").status_code == 201
    assert post(plant, "retract", {"trial": 3}, "k").status_code == 201
    assert post(plant, "retract", {"trial": 3}).status_code == 409
    assert post(plant, "tell", {"trial": 3, "y": 1.0}).status_code == 409


def test_several_trials_at_once(plant):
    answer = post(plant, "ask", {"count": 3}, "three")
    assert answer.status_code == 201
    assert [trial["number"] for trial in answer.json()["trials"]] == [7, 8, 9]
    assert post(plant, "ask", {"count": 3}, "three").json() == answer.json()


def test_it_is_in_the_document(client):
    paths = client.get("/openapi.json").json()["paths"]
    assert {f"/v1/studies/{{name}}/{verb}" for verb in ("reset", "retract", "correct", "space")} <= set(paths)
