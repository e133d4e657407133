"""A list of settings over HTTP."""

import pytest

SPACE = {
    "candidates": [{"gain": 0.1 * 2**i, "mode": "ab"[i % 2]} for i in range(20)],
    "scale": {"gain": "log"},
}


def test_from_a_body_to_the_best(served):
    served.create("recipes", space=SPACE, seed=0)
    for step in range(8):
        trial = served.ask("recipes", available=list(range(step, 20)))
        assert step <= trial["x"] < 20
        assert served.tell("recipes", trial=trial["number"], y=-abs(trial["x"] - 11.0)).status_code == 201
    row = SPACE["candidates"][4]
    assert served.tell("recipes", x=row, y=-7.0).json()["x"] == 4
    client = served.client
    assert client.get("/v1/studies/recipes/best").json()["x"] in range(20)
    surface = client.get("/v1/studies/recipes/surface").json()
    assert surface["axes"] == [{"name": "candidate", "values": list(range(20))}]
    assert len(surface["mean"]) == 20
    found = client.post("/v1/studies/recipes/predict", json={"points": [3, row]})
    assert len(found.json()["mean"]) == 2
    assert "candidate" in client.get("/v1/studies/recipes/explain").json()["text"]
    assert client.get("/v1/studies/recipes").json()["definition"]["space"]["type"] == "Candidates"


def test_the_surface_of_a_long_list(served):
    space = {"candidates": [[i / 3, i % 7] for i in range(3000)]}
    served.create("long", space=space, algorithm="gp-ucb", seed=0)
    surface = served.client.get("/v1/studies/long/surface").json()
    assert len(surface["mean"]) == 1000
    assert served.ask("long", available=[2999])["x"] == 2999


@pytest.mark.parametrize(
    "space",
    [
        {"candidates": []},
        {"candidates": [[1.0], [1.0]]},
        {"candidates": [[1.0], [1.0, 2.0]]},
        {"candidates": [[1.0], {"a": 1.0}]},
        {"candidates": [[1.0], ["a"]]},
        {"candidates": [[1.0]] * 20_001},
        {"candidates": [[1.0]], "scale": {"5": "log"}},
        {"candidates": [[1.0]], "scale": {"0": "cubic"}},
    ],
)
def test_bad_lists(shared, space):
    answer = shared.client.post("/v1/studies", json={"name": "bad", "space": space})
    assert answer.status_code == 422, answer.text
    assert "candidates" in answer.text or "scale" in answer.text


@pytest.mark.parametrize("available", [[], [20], [-1], [{"gain": 3.3, "mode": "a"}], "x", [True]])
def test_bad_available(served, available):
    served.create("recipes", space=SPACE, seed=0)
    answer = served.client.post("/v1/studies/recipes/ask", json={"available": available})
    assert answer.status_code == 422, answer.text
    assert "available" in answer.text
    assert not served.client.get("/v1/studies/recipes").json()["pending"]
