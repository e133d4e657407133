"""The routes, beside the same calls on a Study of the library with the same seed."""

import json
from urllib.parse import quote

import numpy as np
import pytest

import windvane as wv
from windvane.study import Study

PARAMETERS = {
    "gain": {"real": [0.1, 10], "log": True},
    "taps": {"integer": [1, 8]},
    "mode": {"choice": ["fast", "safe"]},
}


def value(x):
    return float(np.sin(3 * x[0]) + x[1])


def test_the_same_points_and_records_as_a_study_in_the_library(shared, tmp_path):
    shared.create("twin", seed=3)
    twin = Study.create(tmp_path / "twin.db", "twin", wv.Box([(0, 1), (0, 1)]), seed=3)
    for _ in range(6):
        trial, expected = shared.ask("twin"), twin.ask()
        assert (trial["number"], trial["x"], trial["status"]) == (expected.number, expected.x, "pending")
        told = shared.tell("twin", trial=trial["number"], y=value(trial["x"]))
        assert told.status_code == 201
        record = twin.submit_tell(expected, value(expected.x)).as_dict()
        given = told.json()
        assert given.pop("at") > 0
        assert given == json.loads(json.dumps({name: record[name] for name in record if name != "at"}))
    best = shared.client.get("/v1/studies/twin/best").json()
    assert best["x"] == twin.best().x.tolist()
    assert (best["mean"], best["std"]) == (twin.best().mean, twin.best().std)
    points = [[0.1, 0.2], [0.8, 0.9]]
    predicted = shared.client.post("/v1/studies/twin/predict", json={"points": points}).json()
    mean, std = twin.predict(points)
    assert predicted == {"mean": mean.tolist(), "std": std.tolist()}
    assert shared.client.get("/v1/studies/twin/explain").json()["text"]
    twin.close()


def test_told_twice_is_a_conflict_that_changes_nothing(shared):
    shared.create("twice")
    number = shared.ask("twice")["number"]
    assert shared.tell("twice", trial=number, y=1.0).status_code == 201
    before = shared.client.get("/v1/studies/twice/events").json()
    again = shared.tell("twice", trial=number, y=2.0)
    assert again.status_code == 409
    assert again.json()["error"] == "Conflict"
    assert shared.client.get("/v1/studies/twice/events").json() == before


def test_a_key_makes_a_retry_harmless(shared):
    shared.create("retry")
    key = {"Idempotency-Key": "a-1"}
    first, second = (
        shared.client.post("/v1/studies/retry/ask", json={}, headers=key).json() for _ in range(2)
    )
    assert first == second
    tells = [
        shared.client.post(
            "/v1/studies/retry/tell",
            json={"trial": first["number"], "y": 0.5},
            headers={"Idempotency-Key": "t-1"},
        )
        for _ in range(2)
    ]
    assert [answer.status_code for answer in tells] == [201, 201]
    assert tells[0].json() == tells[1].json()
    assert shared.client.get("/v1/studies/retry").json()["tells"] == 1


def test_fail_and_what_is_pending(shared):
    shared.create("broken")
    one, two = shared.ask("broken"), shared.ask("broken")
    assert one["x"] != two["x"]
    failed = shared.client.post(
        "/v1/studies/broken/fail", json={"trial": one["number"], "reason": "no power"}
    )
    assert failed.status_code == 201
    assert failed.json()["reason"] == "no power"
    waiting = shared.client.get("/v1/studies/broken/trials?status=pending").json()["trials"]
    assert [trial["number"] for trial in waiting] == [two["number"]]
    summary = shared.client.get("/v1/studies/broken").json()
    assert (summary["failed"], summary["pending"], summary["tells"]) == (1, 1, 0)


def test_a_point_that_nobody_asked_for(shared):
    shared.create("volunteer")
    told = shared.tell("volunteer", x=[0.25, 0.5], y=0.3, metadata={"by": "hand"})
    assert told.status_code == 201
    assert (told.json()["trial"], told.json()["x"], told.json()["metadata"]) == (
        None,
        [0.25, 0.5],
        {"by": "hand"},
    )
    outside = shared.tell("volunteer", x=[0.25, 1.5], y=0.3)
    assert outside.status_code == 422
    assert "x[1]=1.5" in outside.json()["detail"]
    assert shared.client.get("/v1/studies/volunteer").json()["head"] == 1


def test_pages_of_events(shared):
    shared.create("long")
    for i in range(7):
        shared.tell("long", x=[0.1, i / 10], y=0.1)

    def get(query):
        return [e["seq"] for e in shared.client.get(f"/v1/studies/long/events?{query}").json()["events"]]

    assert get("limit=3") == [1, 2, 3]
    assert get("after=3&limit=3") == [4, 5, 6]
    assert get("newest=true&limit=2") == [6, 7]
    assert get("kind=asked") == []
    assert get("resets=true") == []
    assert shared.client.get("/v1/studies/long/events?limit=1001").status_code == 422


def test_surfaces(shared):
    shared.create("map", seed=1)
    shared.create("named", space={"parameters": PARAMETERS}, seed=1)
    shared.create("bandit", space={"arms": 3}, seed=1)
    assert shared.client.get("/v1/studies/map/best").status_code == 409
    flat = shared.client.get("/v1/studies/map/surface?resolution=5").json()
    assert flat["at"] == [0.5, 0.5]
    for i in range(4):
        shared.tell("map", x=[0.2 * i, 0.9 - 0.2 * i], y=value([0.2 * i, 0.9 - 0.2 * i]))
    grid = shared.client.get("/v1/studies/map/surface?axes=x2,x1&resolution=4").json()
    assert [axis["name"] for axis in grid["axes"]] == ["x2", "x1"]
    (columns, rows) = (axis["values"] for axis in grid["axes"])
    assert columns == rows == np.linspace(0, 1, 4).tolist()
    points = [[x1, x2] for x1 in rows for x2 in columns]
    direct = shared.client.post("/v1/studies/map/predict", json={"points": points}).json()
    np.testing.assert_allclose(np.ravel(grid["mean"]), direct["mean"], rtol=1e-12)
    np.testing.assert_allclose(np.ravel(grid["std"]), direct["std"], rtol=1e-12)

    shared.tell("named", x={"gain": 1.0, "taps": 3, "mode": "safe"}, y=1.0)
    best = shared.client.get("/v1/studies/named/best").json()["x"]
    mixed = shared.client.get("/v1/studies/named/surface?axes=taps,mode&resolution=50").json()
    assert [axis["values"] for axis in mixed["axes"]] == [list(range(1, 9)), ["fast", "safe"]]
    assert mixed["at"] == best
    assert np.shape(mixed["mean"]) == (2, 8)
    points = [{**best, "mode": m, "taps": t} for m in ("fast", "safe") for t in range(1, 9)]
    direct = shared.client.post("/v1/studies/named/predict", json={"points": points}).json()
    np.testing.assert_allclose(np.ravel(mixed["mean"]), direct["mean"], rtol=1e-12)
    line = shared.client.get("/v1/studies/named/surface?axes=gain&resolution=3").json()
    np.testing.assert_allclose(line["axes"][0]["values"], [0.1, 1.0, 10.0])

    bars = shared.client.get("/v1/studies/bandit/surface").json()
    assert bars["axes"] == [{"name": "arm", "values": [0, 1, 2]}]
    assert len(bars["mean"]) == len(bars["std"]) == 3
    for query in ("axes=x3", "axes=x1,x1", "axes=x1,x2,x1", "resolution=101", "resolution=1"):
        assert shared.client.get(f"/v1/studies/map/surface?{query}").status_code == 422


def test_what_cannot_be_created(shared):
    def refused(**body):
        answer = shared.client.post("/v1/studies", json=body)
        assert answer.status_code == 422, answer.text
        return answer.json()["detail"]

    box = {"box": [[0, 1]]}
    assert "lo=1.0 must be below hi=0.0" in refused(name="no", space={"box": [[1, 0]]})
    assert "did you mean 'auto'?" in refused(name="no", space=box, algorithm="autoo")
    assert "does not use rate=" in refused(name="no", space=box, algorithm="gp-ucb", options={"rate": 0.1})
    assert "options.kernel" in refused(name="no", space=box, options={"kernel": {"type": "Nonsense"}})
    sum_of_nothing = {"type": "Sum", "left": True, "right": 1.0}
    assert "options" in refused(name="no", space=box, algorithm="gp-ucb", options={"kernel": sum_of_nothing})
    assert "space" in refused(name="no", space={"spam": 1})
    refused(name="no", space={"arms": 1001})
    refused(name="no", space={"box": [[0, 1]] * 101})
    refused(name="no", space={"parameters": {"": {"real": [0, 1]}}})
    refused(name="no", space=box, metadata={"long": "x" * 20_000})
    refused(name="no", space=box, spam=1)
    refused(name="no", space={"box": [["0", "1"]]})
    assert shared.client.get("/v1/studies/no").status_code == 404
    made = shared.create(
        "kernel", options={"kernel": {"type": "RBF", "lengthscale": [0.2, 0.2]}, "noise_variance": 0.1}
    )
    assert made["definition"]["options"]["kernel"]["type"] == "RBF"
    assert shared.client.post("/v1/studies", json={"name": "kernel", "space": box}).status_code == 409


def test_a_study_that_may_be_there_already(shared):
    asked = {
        "name": "restarted",
        "space": {"box": [[0, 1]]},
        "goal": "minimise",
        "options": {"kernel": {"type": "RBF", "lengthscale": [0.2]}, "noise_variance": 0.1},
        "exist_ok": True,
    }
    made = shared.client.post("/v1/studies", json=asked)
    assert (made.status_code, made.json()["tells"]) == (201, 0)
    assert shared.tell("restarted", x=[0.5], y=1.0).status_code == 201
    again = shared.client.post("/v1/studies", json=asked)
    assert (again.status_code, again.json()["tells"]) == (200, 1)
    assert again.json()["definition"] == made.json()["definition"]
    for other, named in (
        ({"goal": "maximize"}, "goal"),
        ({"seed": 5}, "seed"),
        ({"exist_ok": False}, "name"),
    ):
        refused = shared.client.post("/v1/studies", json=asked | other)
        assert refused.status_code == 409
        assert refused.json()["detail"].startswith(named)
    assert shared.client.post("/v1/studies", json=asked | {"exist_ok": "yes"}).status_code == 422
    assert shared.client.get("/v1/studies/restarted").json() == again.json()


def test_the_document_says_what_exist_ok_does(shared):
    document = shared.client.get("/openapi.json").json()
    field = document["components"]["schemas"]["CreateBody"]["properties"]["exist_ok"]
    assert (field["type"], field["default"]) == ("boolean", False)
    assert "same arguments" in field["description"]
    assert {"200", "201", "409"} <= document["paths"]["/v1/studies"]["post"]["responses"].keys()


@pytest.mark.parametrize(
    "name",
    [
        "a/b",
        "../../etc/passwd",
        'quo"te',
        "quo'te; DROP TABLE windvane_studies",
        "<b>",
        "x" * 10_000,
        "",
        "\u202e",
        "a\nb",
    ],
)
def test_names_that_do_no_harm(shared, name):
    answer = shared.client.post("/v1/studies", json={"name": name, "space": {"box": [[0, 1]]}})
    assert answer.status_code == 422
    assert answer.json()["error"] == "InvalidArgument"
    for path in (f"/v1/studies/{quote(name, safe='')}", f"/v1/studies/{quote(name, safe='')}/events"):
        answer = shared.client.get(path)
        assert answer.status_code in (404, 422)
        assert set(answer.json()) == {"error", "detail"}
    assert shared.client.get("/health").status_code == 200


def test_a_name_in_another_alphabet(shared):
    shared.create("Größe 3")
    assert shared.ask("Größe 3")["number"] == 1
    answer = shared.client.get("/v1/studies/Größe 3/export?format=jsonl")
    assert "Gr%C3%B6%C3%9Fe" in answer.headers["content-disposition"]
    assert json.loads(answer.text.splitlines()[0])["kind"] == "asked"


def test_deleted_and_made_anew_by_another_process(shared):
    shared.create("phoenix")
    shared.tell("phoenix", x=[0.1, 0.1], y=0.1)
    shared.database.delete("phoenix")
    assert shared.client.post("/v1/studies/phoenix/ask", json={}).status_code == 404
    Study.create(shared.database, "phoenix", wv.Box([(5, 6)]))
    assert 5 <= shared.ask("phoenix")["x"][0] <= 6
    assert shared.client.get("/v1/studies/phoenix/events").json()["head"] == 1
    assert shared.client.delete("/v1/studies/phoenix").status_code == 204
    assert shared.client.get("/v1/studies/phoenix/events").status_code == 404


def test_another_process_writes_to_the_same_study(shared):
    shared.create("both", seed=5)
    other = Study.open(shared.database, "both")
    for i in range(3):
        shared.tell("both", x=[0.1 * i, 0.5], y=0.1 * i)
        other.add([0.9, 0.1 * i], -0.1 * i)
    summary = shared.client.get("/v1/studies/both").json()
    assert summary["tells"] == 6
    steps = [e["step"] for e in shared.client.get("/v1/studies/both/events").json()["events"]]
    assert steps == [1, 2, 3, 4, 5, 6]


def test_about_the_service(shared):
    assert shared.client.get("/health").json() == {
        "status": "ok",
        "writer": "ok",
        "webhooks": "ok",
        "version": wv.__version__,
    }
    assert shared.client.get("/ready").json() == {
        "status": "ok",
        "writer": "ok",
        "webhooks": "ok",
        "database": "ok",
        "stopping": False,
        "version": wv.__version__,
    }
    assert shared.client.get("/v1/session").json() == {
        "version": wv.__version__,
        "scopes": ["read", "write"],
        "authentication": False,
    }
    listed = shared.client.get("/v1/algorithms").json()["algorithms"]
    assert [each["name"] for each in listed] == wv.algorithms()
    meanings = shared.client.get("/v1/hypotheses").json()["hypotheses"]
    assert {one.label for one in wv.HYPOTHESES} <= set(meanings)
    assert meanings["season of {} steps"].format("48") == wv.describe_hypothesis("season of 48 steps")
    missing = shared.client.get("/v1/nothing")
    assert (missing.status_code, set(missing.json())) == (404, {"error", "detail"})
    wrong = shared.client.put("/v1/studies", json={})
    assert wrong.status_code == 405
    assert wrong.headers["allow"]


def test_known_noise_and_repeats_are_told_as_in_the_library(shared, tmp_path):
    shared.create("noisy", seed=3)
    told = [
        {"y": 0.3, "std": 0.2},
        {"y": [0.1, 0.4, 0.2]},
        {"y": [0.1, 0.4], "noise_variance": 0.09},
        {"x": [0.2, 0.3], "y": 0.1, "noise_variance": 0.5},
    ]
    with Study.create(tmp_path / "twin.db", "twin", wv.Box([(0, 1), (0, 1)]), seed=3) as twin:
        for each in told:
            if "x" in each:
                answer, expected = shared.tell("noisy", **each), twin.submit_add(**each)
            else:
                answer = shared.tell("noisy", trial=shared.ask("noisy")["number"], **each)
                expected = twin.submit_tell(twin.ask(), **each)
            assert answer.status_code == 201, answer.text
            assert answer.json()["event"] == json.loads(json.dumps(expected.event))


@pytest.mark.parametrize(
    "bad",
    [
        {"y": []},
        {"y": [0.1, "2"]},
        {"y": [[0.1]]},
        {"y": 0.1, "std": 0},
        {"y": 0.1, "std": -1.0},
        {"y": 0.1, "noise_variance": "1"},
        {"y": 0.1, "std": 0.1, "noise_variance": 0.01},
        {"y": [0.1] * 1001},
    ],
)
def test_bad_noise_is_refused(shared, bad):
    if shared.client.get("/v1/studies/refused").status_code == 404:
        shared.create("refused")
    assert shared.tell("refused", x=[0.1, 0.2], **bad).status_code == 422
    assert shared.client.get("/v1/studies/refused").json()["tells"] == 0


def test_a_real_with_a_step(served):
    space = {"parameters": {"valve": {"real": [0, 100], "step": 2.5, "unit": "%"}, "gain": {"real": [0, 1]}}}
    served.create("stepped", space=space, seed=0)
    twin = wv.make(wv.Space(valve=wv.Real(0, 100, step=2.5, unit="%"), gain=wv.Real(0, 1)), seed=0)
    assert served.ask("stepped")["x"] == twin.ask()
    wider = {"parameters": {**space["parameters"], "valve": {"real": [0, 120], "step": 2.5, "unit": "%"}}}
    answer = served.client.post("/v1/studies/stepped/space", json={"space": wider})
    assert answer.status_code == 201
    assert answer.json()["event"]["space"]["parameters"][0][1]["step"] == 2.5


@pytest.mark.parametrize(
    ("space", "detail"),
    [
        ({"a": {"real": [0, 1], "step": 0}}, "space.parameters.a.step=0: must be above 0"),
        ({"a": {"choice": ["x"], "step": 5}}, "space.parameters.a.step: is not known here; leave it out"),
        ({"float": {"real": [0, "x"]}}, 'space.parameters.float.real[1]="x": must be a number'),
        (
            {"a": {"real": [0, 1], "step": 5}},
            "space.parameters.a.real: Real(lo=0.0, hi=1.0, step=5.0): does not",
        ),
    ],
)
def test_errors_name_the_place_as_the_caller_wrote_it(served, space, detail):
    answer = served.client.post("/v1/studies", json={"name": "s", "space": {"parameters": space}})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(detail)


@pytest.mark.parametrize(
    ("y", "detail"),
    [
        ([], "y: must be a list of at least 1"),
        ([1, None], "y[1]=null: must be a number"),
        ("a", 'y="a": must be a number'),
    ],
)
@pytest.mark.parametrize("verb", ["tell", "correct"])
def test_errors_of_a_value_or_repeats(served, verb, y, detail):
    served.create()
    answer = served.client.post(f"/v1/studies/plant/{verb}", json={"trial": 1, "y": y})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(detail)


def test_the_course_has_the_extremes_of_all_tells_and_every_reset(shared):
    path = "/v1/studies/course"
    known = {"kernel": {"type": "RBF", "lengthscale": [0.2]}, "noise_variance": 0.01}
    body = {"name": "course", "space": {"box": [[0, 1]]}, "algorithm": "et-gp-ucb", "options": known}
    assert shared.client.post("/v1/studies", json=body).status_code == 201
    for i in range(60):
        y = 9.0 if i == 40 else -0.3 if i == 20 else 0.01 * (i % 5)
        shared.client.post(f"{path}/tell", json={"x": [(7 * i % 20) / 20], "y": y})
    every = shared.client.get(f"{path}/events").json()["events"]
    resets = [each["seq"] for each in every if each["reset"]]
    assert resets
    course = shared.client.get(f"{path}/course", params={"points": 10}).json()
    seqs = [each["seq"] for each in course["events"]]
    assert seqs == sorted(seqs)
    assert {21, 41, 60, *resets} <= set(seqs)
    assert len(seqs) <= 11 + len(resets)
    assert course["head"] == 60
    assert course["events"] == [each for each in every if each["seq"] in seqs]
    assert shared.client.get(f"{path}/course").json()["events"] == every
    assert shared.client.get(f"{path}/course?points=2001").status_code == 422
    assert shared.client.get("/v1/studies/nowhere/course").status_code == 404


def test_records_can_be_had_without_the_weights_of_hypotheses(shared):
    shared.client.post("/v1/studies", json={"name": "light", "space": {"box": [[0, 1]]}})
    for i in range(6):
        shared.client.post("/v1/studies/light/tell", json={"x": [i / 6], "y": i / 6})
    every = shared.client.get("/v1/studies/light/events").json()["events"]
    assert every[-1]["event"]["beliefs"]
    light = shared.client.get("/v1/studies/light/events?beliefs=false").json()["events"]
    for record in every:
        record["event"].pop("beliefs", None)
    for record in light:
        record["event"].pop("beliefs", None)  # none yet at the first
    assert light == every
    assert "beliefs" not in light[-1]["event"]


def test_what_was_believed_best_is_worked_out_from_the_journal(shared):
    path = "/v1/studies/tracked"
    shared.client.post("/v1/studies", json={"name": "tracked", "space": {"box": [[0, 1]]}, "seed": 3})
    then = {}
    for i in range(12):
        record = shared.client.post(f"{path}/tell", json={"x": [(5 * i % 12) / 12], "y": i / 12}).json()
        then[record["seq"]] = shared.client.get(f"{path}/best").json()
    track = shared.client.get(f"{path}/track", params={"last": 8, "points": 4}).json()["track"]
    assert [each["seq"] for each in track] == [6, 8, 10, 12]
    assert [each["step"] for each in track] == [6, 8, 10, 12]
    for each in track:
        assert {name: each[name] for name in ("x", "mean", "std")} == {
            name: then[each["seq"]][name] for name in ("x", "mean", "std")
        }
    again = shared.client.get(f"{path}/track", params={"last": 8, "points": 4}).json()["track"]
    assert again == track
    shared.client.post(f"{path}/correct", json={"record": 12, "y": -5.0})
    now = shared.client.get(f"{path}/track", params={"last": 8, "points": 4}).json()["track"]
    assert now[:3] == track[:3]
    best = shared.client.get(f"{path}/best").json()
    assert (now[3]["x"], now[3]["mean"]) == (best["x"], best["mean"])
    assert shared.client.get(f"{path}/track?last=301").status_code == 422
    assert shared.client.get("/v1/studies/nowhere/track").status_code == 404
    shared.client.post("/v1/studies", json={"name": "untold", "space": {"box": [[0, 1]]}})
    assert shared.client.get("/v1/studies/untold/track").json() == {"track": []}
