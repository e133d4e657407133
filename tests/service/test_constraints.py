"""Constraints over HTTP: created, told, predicted, streamed, announced; errors change nothing."""

import json

import pytest
from receiver import Receiver, until, verified

import windvane as wv
from windvane.storage import Database

OVEN = {
    "space": {"parameters": {"power": {"real": [0, 10], "unit": "kW"}}},
    "algorithm": "et-gp-ucb",
    "seed": 1,
}
LIMITS = {"heat": {"at_most": 0.9, "unit": "°C"}, "purity": {"at_least": -0.8}}
KNOWN = {
    "kernel": {"type": "RBF", "lengthscale": [0.3], "variance": 1.0},
    "noise_variance": 0.01,
}
SOFT = {**KNOWN, "constraints": {name: {**limit, **KNOWN} for name, limit in LIMITS.items()}}
SAFE = {**SOFT, "safe": 0.9, "start": [{"power": 2}]}


def create(served, name="oven", options=SOFT, **more):
    return served.create(name, **{**OVEN, **more}, options=options)


def told(served, steps=4, name="oven"):
    for step in range(steps):
        trial = served.ask(name)
        answer = served.tell(name, trial=trial["number"], y=0.1 * step, outcomes={"heat": 0.5, "purity": 0.1})
        assert answer.status_code == 201, answer.text
    return answer.json()


def test_a_study_with_constraints(served):
    made = create(served, options=SAFE)
    assert made["constraints"]["heat"] == {"at_most": 0.9, "unit": "°C", **KNOWN}
    assert made["constraints"]["purity"]["at_least"] == -0.8
    assert (made["safe"], made["violations"], made["last_violation"], made["last_retreat"]) == (
        0.9,
        0,
        None,
        None,
    )
    assert served.ask("oven")["x"] == {"power": 2.0}
    assert served.client.get("/v1/studies/oven").json()["constraints"] == made["constraints"]
    (listed,) = served.client.get("/v1/studies").json()["studies"]
    assert listed["safe"] == 0.9


def test_what_is_told_is_in_the_record(served):
    create(served)
    record = told(served)
    assert (record["violated"], record["outcome_resets"], record["event"]["violated"]) == ([], [], [])
    outcome = record["event"]["outcomes"]["heat"]
    assert (outcome["value"], outcome["violated"]) == (0.5, False)
    assert 0.0 < outcome["probability"] < 1.0
    broken = served.tell("oven", x={"power": 9}, y=0.3, outcomes={"heat": 1.5, "purity": None}).json()
    assert broken["violated"] == ["heat"]
    assert list(broken["event"]["outcomes"]) == ["heat"]
    events = served.client.get("/v1/studies/oven/events?violations=true").json()["events"]
    assert events == [broken]
    summary = served.client.get("/v1/studies/oven").json()
    assert (summary["violations"], summary["last_violation"]) == (1, broken["step"])


def test_a_retry_gives_the_same_and_other_values_are_a_conflict(served):
    create(served)
    post = served.client.post
    body = {"x": {"power": 3}, "y": 0.1, "outcomes": {"heat": 0.2}}
    key = {"Idempotency-Key": "k"}
    first = post("/v1/studies/oven/tell", json=body, headers=key)
    assert post("/v1/studies/oven/tell", json=body, headers=key).json() == first.json()
    other = post("/v1/studies/oven/tell", json={**body, "outcomes": {"heat": 0.3}}, headers=key)
    assert (other.status_code, other.json()["error"]) == (409, "Conflict")
    assert served.client.get("/v1/studies/oven").json()["head"] == 1


def test_best_predictions_and_surfaces(served):
    create(served)
    told(served)
    client = served.client
    twin = wv.make(
        "et-gp-ucb",
        wv.Space(power=wv.Real(0, 10, unit="kW")),
        kernel=wv.RBF(0.3),
        noise_variance=0.01,
        seed=1,
        constraints={
            "heat": wv.AtMost(0.9, unit="°C", kernel=wv.RBF(0.3), noise_variance=0.01),
            "purity": wv.AtLeast(-0.8, kernel=wv.RBF(0.3), noise_variance=0.01),
        },
    )
    for record in client.get("/v1/studies/oven/events?kind=told").json()["events"]:
        twin.tell(record["x"], record["y"], heat=0.5, purity=0.1)
    best = client.get("/v1/studies/oven/best").json()
    assert (best["x"], best["feasible"]) == (twin.best().x, twin.best().feasible)
    assert best["outcomes"]["heat"]["mean"] == float(twin.predict([best["x"]], of="heat")[0][0])
    assert best["outcomes"]["purity"]["probability"] == float(twin.feasibility([best["x"]])["purity"][0])
    points = [{"power": 1.0}, {"power": 7.0}]
    answer = client.post(
        "/v1/studies/oven/predict", json={"points": points, "of": "heat", "feasibility": True}
    ).json()
    mean, std = twin.predict(points, of="heat")
    chances = twin.feasibility(points)
    assert (answer["mean"], answer["std"]) == (mean.tolist(), std.tolist())
    assert answer["feasibility"] == {name: each.tolist() for name, each in chances.items()}
    assert answer["feasible"] == (chances["heat"] * chances["purity"]).tolist()
    plain = client.post("/v1/studies/oven/predict", json={"points": points}).json()
    assert plain == {"mean": twin.predict(points)[0].tolist(), "std": twin.predict(points)[1].tolist()}
    grid = client.get("/v1/studies/oven/surface?of=heat&feasibility=true&resolution=5").json()
    at = [{"power": power} for power in grid["axes"][0]["values"]]
    assert grid["of"] == "heat"
    assert grid["mean"] == twin.predict(at, of="heat")[0].tolist()
    assert grid["feasibility"]["purity"] == twin.feasibility(at)["purity"].tolist()
    assert len(grid["feasible"]) == 5
    objective = client.get("/v1/studies/oven/surface?resolution=5").json()
    assert objective["of"] is None
    assert "feasible" not in objective
    assert objective["mean"] == twin.predict(at)[0].tolist()


def test_a_surface_of_two_axes_has_feasibility_in_its_shape(served):
    served.create("plain", options={"constraints": {"heat": {"at_most": 1}}})
    grid = served.client.get("/v1/studies/plain/surface?feasibility=true&resolution=3").json()
    assert [len(row) for row in grid["feasible"]] == [3, 3, 3]
    assert [len(row) for row in grid["feasibility"]["heat"]] == [3, 3, 3]


def test_without_constraints_nothing_is_in_the_way(served):
    served.create()
    assert served.tell(x=[0.5, 0.5], y=1.0).json()["violated"] == []
    best = served.client.get("/v1/studies/plant/best").json()
    assert (best["feasible"], best["outcomes"]) == (None, {})
    found = served.client.post(
        "/v1/studies/plant/predict", json={"points": [[0.1, 0.1]], "feasibility": True}
    ).json()
    assert (found["feasible"], found["feasibility"]) == ([1.0], {})
    answer = served.tell(x=[0.5, 0.5], y=1.0, outcomes={"heat": 3})
    assert answer.status_code == 422
    assert "has no constraints" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("outcomes", "words"),
    [
        ({"heta": 1.0}, "did you mean 'heat'"),
        ({"heat": "1"}, "outcomes.heat"),
        ({"heat": [1.0]}, "outcomes.heat"),
        ({"heat": True}, "outcomes.heat"),
        ({"heat": 1e200}, "heat=1e+200"),
        ([1.0], "outcomes"),
        ({"": 1.0}, "outcomes"),
        ({"h" * 101: 1.0}, "outcomes"),
        ({"<script>": 1.0}, "outcomes='<script>'"),
    ],
)
def test_what_cannot_be_told(shared, outcomes, words):
    if "oven" not in {study["name"] for study in shared.client.get("/v1/studies").json()["studies"]}:
        create(shared)
        shared.ask("oven")
    head = shared.client.get("/v1/studies/oven").json()["head"]
    for target in ({"trial": 1}, {"x": {"power": 3}}):
        answer = shared.tell("oven", **target, y=0.1, outcomes=outcomes)
        assert answer.status_code == 422, answer.text
        assert words in answer.json()["detail"]
    assert shared.client.get("/v1/studies/oven").json()["head"] == head


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_numbers_that_are_none(shared, number):
    text = f'{{"x": {{"power": 3}}, "y": 0.1, "outcomes": {{"heat": {number}}}}}'
    answer = shared.client.post(
        "/v1/studies/oven/tell", content=text, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 400


def test_names_that_are_unknown_to_the_model(served):
    create(served)
    for answer in (
        served.client.post("/v1/studies/oven/predict", json={"points": [{"power": 1}], "of": "heta"}),
        served.client.get("/v1/studies/oven/surface?of=heta"),
    ):
        assert (answer.status_code, answer.json()["error"]) == (422, "UnknownName")
        assert "did you mean 'heat'" in answer.json()["detail"]
        assert answer.json()["detail"].startswith("of='heta'")
    served.client.post(
        "/v1/studies", json={"name": "plain", "space": {"box": [[0, 1]]}, "algorithm": "random"}
    )
    none = served.client.post("/v1/studies/plain/predict", json={"points": [[0.5]], "of": "heat"})
    said = "of='heat': this study has no constraints; leave it out for the objective"
    assert (none.status_code, none.json()["detail"]) == (422, said)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"safe": 0.9}, "safe=: belongs to constraints="),
        ({**SOFT, "safe": 0.9}, "start=: needed with safe="),
        ({**SAFE, "start": [{"power": 11}]}, "start[0]"),
        ({**SAFE, "start": [{"powre": 1}]}, "start[0]"),
        ({**SAFE, "start": {"power": 1}}, "start="),
        ({**SAFE, "safe": 1}, "safe=1"),
        ({"constraints": {"he at": {"at_most": 1}}}, "'he at' must be a name"),
        ({"constraints": {"heat": {"atmost": 1}}}, "options.constraints.heat: has atmost"),
        ({"constraints": {"heat": {"at_most": 1, "at_least": 0}}}, "options.constraints.heat"),
        ({"constraints": {"heat": {"at_most": "1"}}}, "options.constraints.heat"),
        ({"constraints": {"heat": {"at_most": 1, "unit": 5}}}, "options.constraints.heat"),
        ({"constraints": {"heat": {"at_most": 1, "unit": "a\nb"}}}, "options.constraints.heat"),
        (
            {"constraints": {"heat": {"at_most": 1, "kernel": {"type": "RFB"}}}},
            "options.constraints.heat: cannot rebuild 'RFB'",
        ),
        ({"constraints": {"heat": {"at_most": 1, "noise_variance": -1}}}, "options.constraints.heat"),
        ({"constraints": {"heat": 1}}, "options.constraints.heat"),
        ({"constraints": [1]}, "constraints="),
        ({"constraints": {}}, "constraints="),
        ({"constraints": {"time": {"at_most": 1}}}, "another meaning"),
    ],
)
def test_what_cannot_work_is_refused(shared, options, words):
    answer = shared.client.post("/v1/studies", json={"name": "none", **OVEN, "options": options})
    assert answer.status_code == 422, answer.text
    assert words in answer.json()["detail"]
    assert shared.client.get("/v1/studies/none").status_code == 404


def test_values_are_put_right(served):
    create(served)
    told(served, 2)
    post = served.client.post
    record = post("/v1/studies/oven/correct", json={"trial": 2, "outcomes": {"heat": 1.5}}).json()
    assert record["event"]["outcomes"]["heat"] == {"value": 1.5, "violated": True, "was": 0.5}
    assert record["y"] == 0.1
    explained = served.client.get("/v1/studies/oven/explain").json()
    assert [one["violations"] for one in explained["constraints"]] == [1, 0]
    assert "heat must be at most 0.9 °C." in explained["text"]
    taken = post("/v1/studies/oven/correct", json={"trial": 2, "outcomes": {"heat": None}}).json()
    assert taken["event"]["outcomes"]["heat"] == {"value": None, "violated": False, "was": 1.5}
    for body, status, words in (
        ({"trial": 2}, 422, "y: must be the right value"),
        ({"trial": 2, "outcomes": {"heta": 1}}, 422, "did you mean 'heat'"),
    ):
        answer = post("/v1/studies/oven/correct", json=body)
        assert (answer.status_code, words in answer.json()["detail"]) == (status, True)
    narrow = {"space": {"parameters": {"power": {"real": [3, 10], "unit": "kW"}}}}
    create(served, "safe", options=SAFE)
    answer = post("/v1/studies/safe/space", json=narrow)
    assert answer.status_code == 422
    assert "start[0]" in answer.json()["detail"]


def test_a_violation_is_announced_signed_and_counted(served):
    with Receiver() as both, Receiver() as resets, Receiver() as broken:
        create(served)
        add = served.database.webhooks.add
        hook = add(both.url, "oven")
        assert hook.on == ("reset", "violation")
        add(resets.url, "oven", on=["reset"])
        add(broken.url, on=["violation"])
        assert served.tell("oven", x={"power": 1}, y=0.1, outcomes={"heat": 0.5}).json()["violated"] == []
        record = served.tell("oven", x={"power": 9}, y=0.1, outcomes={"heat": 1.5}).json()
        until(lambda: both.calls and broken.calls)
        _, headers, body, _ = both.calls[0]
        assert verified(hook.secret, headers, body)
        sent = json.loads(body)
        assert (sent["type"], sent["study"], sent["record"]) == ("violation", "oven", record)
        until(lambda: {d.status for d in served.database.deliveries.recent()} == {"sent"})
        assert (len(both.calls), len(broken.calls), resets.calls) == (1, 1, [])
        served.client.post("/v1/studies/oven/reset", json={"reason": "new pump"})
        until(lambda: len(both.calls) == 2 and resets.calls)
        assert json.loads(both.calls[1][2])["type"] == "reset"
        assert len(broken.calls) == 1
    figures = served.client.get("/metrics").text.splitlines()
    assert "windvane_violations_total 1.0" in figures
    assert 'windvane_study_violations{study="oven"} 1.0' in figures


def test_a_reset_with_a_violation_is_announced_as_both(tmp_path):
    from windvane.study import Study

    with Database(tmp_path / "s.db", create=True) as database:
        database.webhooks.add("http://127.0.0.1:9/")
        study = Study.create(
            database, "s", wv.Box([(0, 1)]), "r-gp-ucb", period=2, seed=0, constraints={"heat": wv.AtMost(1)}
        )
        while not study.summary().resets:
            study.add([0.5], 0.1, heat=2.0)
        last = study.summary().head
        kinds = sorted(d.kind for d in database.deliveries.recent() if d.record.seq == last)
        assert kinds == ["reset", "violation"]


@pytest.mark.parametrize(
    ("on", "words"), [(["violations"], "did you mean"), ([], "at least one"), ("reset", "list")]
)
def test_what_a_webhook_cannot_be_called_on(tmp_path, on, words):
    with Database(tmp_path / "s.db", create=True) as database:
        with pytest.raises(wv.errors.WindvaneError, match=words):
            database.webhooks.add("http://127.0.0.1:9/", on=on)
        assert database.webhooks.list() == []


def test_the_stream_has_violations(served):
    create(served)
    served.tell("oven", x={"power": 9}, y=0.1, outcomes={"heat": 1.5})
    with served.client.stream("GET", "/v1/studies/oven/stream") as answer:
        for line in answer.iter_lines():
            if line.startswith("data: "):
                record = json.loads(line.removeprefix("data: "))
                break
    assert record["violated"] == ["heat"]


def test_the_document_describes_them(shared):
    schemas = shared.client.get("/openapi.json").json()["components"]["schemas"]
    assert "outcomes" in schemas["TellBody"]["properties"]
    assert "outcomes" in schemas["CorrectBody"]["properties"]
    assert {"of", "feasibility"} <= set(schemas["PredictBody"]["properties"])
    assert {"violated", "outcome_resets"} <= set(schemas["RecordShape"]["properties"])
    assert {"constraints", "safe", "violations", "last_retreat"} <= set(schemas["SummaryShape"]["properties"])
    assert "feasible" in schemas["BestShape"]["properties"]
