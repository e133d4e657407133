"""One meaning everywhere: of `expires_after`, of a retry, of what a trial has become."""

import time

import pytest

import windvane as wv
from windvane.client import Client
from windvane.study import Study


@pytest.fixture
def client(shared):
    with Client(str(shared.client.base_url)) as found:
        yield found


def figure(served, name):
    lines = served.client.get("/metrics").text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(f"{name} "))


@pytest.mark.parametrize(
    ("study", "trial", "expected"), [(60, "left out", 60), (60, None, None), (None, 5, 5)]
)
def test_none_is_never_and_left_out_is_as_the_study_says(shared, client, tmp_path, study, trial, expected):
    given = {} if trial == "left out" else {"expires_after": trial}
    space = wv.Box([(0, 1)])
    with Study.create(tmp_path / "own.db", "own", space, expires_after=study) as local:
        asked = local.ask(**given)
        assert (asked.expires_at and round(asked.expires_at - asked.asked_at)) == expected
    remote = client.create(f"remote {study} {trial}", space, expires_after=study)
    assert remote.summary().definition["expires_after"] == study
    found = remote.ask(**given)
    assert (found.expires_at and round(found.expires_at - found.asked_at)) == expected
    shared.create(f"http {study} {trial}", expires_after=study)
    answer = shared.ask(f"http {study} {trial}", **given)
    assert (answer["expires_at"] and round(answer["expires_at"] - answer["asked_at"])) == expected


def test_a_retry_is_counted_once(served):
    served.create(algorithm="r-gp-ucb", options={"period": 1})
    for number in (1, 2):
        served.ask()
        for _ in range(3):
            answer = served.client.post(
                "/v1/studies/plant/tell",
                json={"trial": number, "y": 0.5},
                headers={"Idempotency-Key": f"tell {number}"},
            )
            assert answer.status_code == 201
    resets = served.client.get("/v1/studies/plant").json()["resets"]
    assert resets
    assert figure(served, "windvane_tells_total") == 2
    assert figure(served, "windvane_resets_total") == resets
    served.ask()
    for _ in range(2):
        body, headers = {"trial": 3, "reason": "pump"}, {"Idempotency-Key": "fail"}
        served.client.post("/v1/studies/plant/fail", json=body, headers=headers)
    assert figure(served, "windvane_failures_total") == 1
    for _ in range(2):
        served.client.post("/v1/studies/plant/reset", json={}, headers={"Idempotency-Key": "reset"})
    assert figure(served, "windvane_resets_total") == resets + 1


def test_an_ask_that_is_repeated_says_what_has_become_of_the_trial(tmp_path):
    now = 1000.0
    with Study.create(tmp_path / "own.db", "own", wv.Box([(0, 1)]), seed=0, clock=lambda: now) as study:
        first = study.ask(key="a")
        assert study.ask(key="a") == first
        study.tell(first, 0.5)
        assert study.ask(key="a").status == "told"
        together = study.ask(count=3, key="b", expires_after=10)
        study.fail(together[1])
        assert [trial.status for trial in study.ask(count=3, key="b")] == ["pending", "failed", "pending"]
        now = 1011.0
        assert [trial.status for trial in study.ask(count=3, key="b")] == ["expired", "failed", "expired"]


def test_a_summary_does_not_count_trials_whose_time_is_up(tmp_path):
    now = 1000.0
    with Study.create(tmp_path / "own.db", "own", wv.Box([(0, 1)]), seed=0, clock=lambda: now) as study:
        study.ask(expires_after=10)
        study.ask(expires_after=None)
        assert study.summary().pending == 2
        now = 1011.0
        assert study.summary().pending == len(study.pending()) == 1
    with Study.open(tmp_path / "own.db", "own", clock=lambda: now) as again:
        assert again.summary().pending == 1


def test_a_summary_over_http_does_not_count_them_either(served):
    served.create()
    served.ask()
    served.ask(expires_after=0.05)
    remote = Client(str(served.client.base_url)).study("plant")
    time.sleep(0.1)
    assert served.client.get("/v1/studies/plant").json()["pending"] == 1
    assert remote.summary().pending == len(remote.pending()) == 1


def test_records_are_documented_as_they_are(shared):
    shared.create("documented")
    shared.ask("documented")
    (record,) = shared.client.get("/v1/studies/documented/events").json()["events"]
    shapes = shared.client.get("/openapi.json").json()["components"]["schemas"]
    assert set(record) == set(shapes["RecordShape"]["properties"])
    summary = shared.client.get("/v1/studies/documented").json()
    assert set(summary) == set(shapes["SummaryShape"]["properties"])
    trial = shared.ask("documented")
    assert set(trial) == set(shapes["TrialShape"]["properties"])


def test_studies_come_in_pages_for_who_wants_them(served):
    for name in ("c", "a", "e", "b", "d"):
        served.create(name)

    def names(query=""):
        return [each["name"] for each in served.client.get(f"/v1/studies{query}").json()["studies"]]

    assert names() == ["a", "b", "c", "d", "e"]
    assert names("?limit=2") == ["a", "b"]
    assert names("?limit=2&after=b") == ["c", "d"]
    assert names("?limit=2&after=d") == ["e"]
    assert names("?after=e") == []
    assert served.client.get("/v1/studies?limit=1001").status_code == 422
    assert served.client.get("/v1/studies?after=%00").status_code == 422
