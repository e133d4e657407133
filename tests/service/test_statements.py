"""What a step over HTTP asks PostgreSQL: no more than the same step in the library."""

import psycopg
import pytest

STEP = ["SELECT", "SELECT", "WITH"]  # its turn, one look, one write


@pytest.mark.parametrize("key", [None, "once"])
def test_a_step_over_http_is_a_step(start, postgres_url, monkeypatch, key):
    served = start(postgres_url, webhooks=False)
    served.create(algorithm="et-gp-ucb", options={"noise_variance": 0.01})
    served.tell(x=[0.2, 0.2], y=0.1)
    statements, execute = [], psycopg.Cursor.execute

    def counted(cursor, text, *arguments, **options):
        if "windvane_studies" in str(text):  # others are about tokens and webhooks
            statements.append(str(text).split()[0])
        return execute(cursor, text, *arguments, **options)

    trial = served.ask()["number"]
    headers = {} if key is None else {"Idempotency-Key": key}
    monkeypatch.setattr(psycopg.Cursor, "execute", counted)
    told = served.client.post("/v1/studies/plant/tell", json={"trial": trial, "y": 0.3}, headers=headers)
    assert told.status_code == 201
    assert statements == STEP


def test_what_is_repeated_under_its_key_is_counted_once(served):
    served.create(algorithm="et-gp-ucb", options={"noise_variance": 0.01})
    heard, ring = [], served.service.streams.ring
    served.service.streams.ring = lambda name: (heard.append(name), ring(name))
    for _ in range(2):
        told = served.client.post(
            "/v1/studies/plant/tell", json={"x": [0.5, 0.5], "y": 1.0}, headers={"Idempotency-Key": "k"}
        )
        assert (told.status_code, told.json()["seq"]) == (201, 1)
    assert heard == ["plant"]
