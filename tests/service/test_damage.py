"""One bad record, definition or receiver is the trouble of its own study: everybody else is served and told."""

import asyncio
import json
import os
import threading
import time
from contextlib import ExitStack

import pytest
from receiver import Receiver, until
from sending import PERIODIC, outcomes, reset_twice, sending

import windvane as wv
from windvane.cli import main
from windvane.errors import CorruptState
from windvane.service import sender
from windvane.service.answers import dumps
from windvane.service.config import Config
from windvane.service.metrics import Metrics
from windvane.service.streams import Streams
from windvane.storage import Database
from windvane.study import Study, studies

LONE = os.fsdecode(b"caf\xe9")  # what Python makes of a file's name that is not UTF-8
WRITTEN_BEFORE = '{"file": "caf\\udce9"}'  # as earlier versions wrote it


@pytest.fixture
def database(tmp_path):
    with Database(str(tmp_path / "studies.db"), create=True) as found:
        yield found


def alter(database, what, study="plant"):
    with database.link.writing() as connection:
        connection.exec_driver_sql(
            f"UPDATE windvane_events SET {what} WHERE study_id = "
            f"(SELECT id FROM windvane_studies WHERE name = '{study}')"
        )


def tell_until(study, resets):
    while study.summary().resets < resets:
        study.add([0.5], 0.1)


def damage_definition(database, study="plant"):
    with database.link.writing() as connection:
        connection.exec_driver_sql(
            f"UPDATE windvane_studies SET definition = 'not JSON' WHERE name = '{study}'"
        )


# -- text that is not Unicode ---------------------------------------------------------------------------


def test_a_record_with_a_lone_surrogate_is_served_and_streamed(served):
    served.create()
    served.tell(x=[0.1, 0.2], y=0.3)
    alter(served.database, f"metadata = '{WRITTEN_BEFORE}'")
    answer = served.client.get("/v1/studies/plant/events")
    assert answer.status_code == 200
    assert json.loads(answer.content)["events"][0]["metadata"] == {"file": LONE}
    assert b"caf\\udce9" in answer.content
    with served.client.stream("GET", "/v1/studies/plant/stream") as stream:
        line = next(line for line in stream.iter_lines() if line.startswith("data: "))
    assert json.loads(line.removeprefix("data: "))["metadata"] == {"file": LONE}


def test_a_record_with_a_lone_surrogate_is_sent_and_so_are_those_after_it(database):
    with Receiver() as receiver:
        database.webhooks.add(receiver.url)
        first = reset_twice(database)
        alter(database, f"metadata = '{WRITTEN_BEFORE}'")
        second = reset_twice(database, "other")
        with sending(database):
            until(lambda: len(receiver.calls) == first + second)
        bodies = [json.loads(body) for _, _, body, _ in receiver.calls]
        assert {body["study"] for body in bodies} == {"plant", "other"}
        assert bodies[0]["record"]["metadata"] == {"file": LONE}


def test_dumps_escapes_what_utf_8_cannot_carry():
    assert dumps({"file": LONE, "unit": "°C"}) == b'{"file":"caf\\udce9","unit":"\\u00b0C"}'
    assert dumps({"unit": "°C"}) == '{"unit":"°C"}'.encode()


# -- records that cannot be read ------------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["metadata = 'not JSON'", "event = '[1'", "seq = seq + 1000"])
def test_a_damaged_record_is_announced_without_it_and_the_others_with(database, damage, caplog):
    with Receiver() as receiver:
        database.webhooks.add(receiver.url)
        first = reset_twice(database)
        (seq, *_) = [record.seq for record in Study.open(database, "plant").events(resets=True)]
        alter(database, damage)
        second = reset_twice(database, "other")
        with sending(database) as metrics:
            until(lambda: outcomes(metrics).get("sent") == first + second)
        bodies = [json.loads(body) for _, _, body, _ in receiver.calls]
        damaged = [body for body in bodies if body["study"] == "plant"]
        assert len(damaged) == first
        assert damaged[0]["type"] == "reset"
        assert damaged[0]["record"]["seq"] == seq
        assert f"record {seq}: " in damaged[0]["record"]["damaged"]
        assert all("damaged" not in body["record"] for body in bodies if body["study"] == "other")
        assert f"record {seq}: " in caplog.text
        assert {each.status for each in database.deliveries.recent()} == {"sent"}


def test_the_sender_goes_on_whatever_is_raised(database, monkeypatch, caplog):
    with Receiver() as receiver:
        database.webhooks.add(receiver.url)
        expected = reset_twice(database)
        truly, left = database.deliveries.backlog, [RuntimeError("a fault of ours"), MemoryError()]

        def backlog(now):
            if left and threading.current_thread().name == "windvane-webhooks":  # the metrics ask as well
                raise left.pop()
            return truly(now)

        monkeypatch.setattr(database.deliveries, "backlog", backlog)
        with sending(database) as metrics:
            until(lambda: outcomes(metrics).get("sent") == expected)
        assert "a fault of ours" in caplog.text


def test_a_call_that_fails_in_an_unforeseen_way_is_tried_again(database, monkeypatch):
    truly, left = sender.post, [RuntimeError("a fault of ours")]

    def post(*arguments):
        if left:
            raise left.pop()
        return truly(*arguments)

    monkeypatch.setattr(sender, "post", post)
    with Receiver() as receiver:
        database.webhooks.add(receiver.url)
        expected = reset_twice(database)
        with sending(database) as metrics:
            until(lambda: outcomes(metrics).get("sent") == expected)
        assert outcomes(metrics)["retried"] == 1


def test_the_watch_of_the_streams_goes_on_whatever_is_raised():
    asyncio.run(watched())


async def watched():
    streams, calls = Streams(Config(poll=0.001)), []

    async def heads(names):
        calls.append(names)
        if len(calls) == 1:
            raise RuntimeError("a fault of ours")
        return {}

    async def tokens():
        return set()

    async def nothing(after, limit):
        return []

    lines = streams.stream("plant", 0, nothing)
    await anext(lines)
    watch = asyncio.create_task(streams.watch(heads, tokens))
    deadline = time.monotonic() + 30
    while len(calls) < 3 and not watch.done() and time.monotonic() < deadline:
        await asyncio.sleep(0.001)
    assert not watch.done()
    watch.cancel()
    await lines.aclose()
    assert len(calls) >= 3


# -- receivers that do not answer -----------------------------------------------------------------------


def test_receivers_that_hang_leave_threads_for_those_that_answer(database, monkeypatch):
    monkeypatch.setattr(sender, "TIMEOUT", 600.0)
    monkeypatch.setattr(sender, "AT_ONCE", 4)
    with ExitStack() as stack:
        quick = stack.enter_context(Receiver())
        hanging = [stack.enter_context(Receiver(holds=True)) for _ in range(6)]
        database.webhooks.add(quick.url)
        study = Study.create(database, "plant", wv.Box([(0, 1)]), seed=0, **PERIODIC)
        tell_until(study, resets=1)
        with sending(database) as metrics:
            until(lambda: outcomes(metrics).get("sent") == 1)
            for each in hanging:
                database.webhooks.add(each.url)
            tell_until(study, resets=2)
            until(lambda: sum(len(each.calls) for each in hanging) == 2)  # half of the threads
            tell_until(study, resets=5)
            try:
                until(lambda: len(quick.calls) == 5)
                assert sum(len(each.calls) for each in hanging) == 2
            finally:
                for each in hanging:
                    each.release.set()


def test_a_receiver_gets_one_call_at_a_time(database):
    with Receiver(holds=True) as receiver, Receiver() as quick:
        database.webhooks.add(receiver.url)
        database.webhooks.add(quick.url)
        study = Study.create(database, "plant", wv.Box([(0, 1)]), seed=0, **PERIODIC)
        tell_until(study, resets=4)
        with sending(database):
            until(lambda: len(quick.calls) == 4)
            assert len(receiver.calls) == 1
            receiver.release.set()
            until(lambda: len(receiver.calls) == 4)


def test_what_waits_for_a_receiver_is_bounded(database, monkeypatch, caplog):
    monkeypatch.setattr(sender, "MOST_WAITING", 2)
    with Receiver(holds=True) as receiver:
        database.webhooks.add(receiver.url)
        study = Study.create(database, "plant", wv.Box([(0, 1)]), seed=0, **PERIODIC)
        tell_until(study, resets=6)
        with sending(database) as metrics:
            until(lambda: outcomes(metrics).get("given-up") == 4)
            receiver.release.set()
            until(lambda: outcomes(metrics).get("sent") == 2)
        errors = [each.error for each in database.deliveries.recent() if each.status == "given-up"]
        assert len(errors) == 4
        assert all("more than 2 wait" in error for error in errors)
        assert "given up" in caplog.text
        sent = [json.loads(body)["record"]["seq"] for _, _, body, _ in receiver.calls]
        newest = [record.seq for record in study.events(resets=True)][-2:]
        assert sent == newest


def test_the_queue_and_its_age_are_told(database):
    hook = database.webhooks.add("http://127.0.0.1:9/nobody-listens-here")
    figures = Metrics(database).text().decode()
    assert f'windvane_webhook_queue{{webhook="{hook.id}"}} 0.0' in figures
    assert f'windvane_webhook_lag_seconds{{webhook="{hook.id}"}} 0.0' in figures
    waiting = reset_twice(database)
    figures = Metrics(database).text().decode()
    assert f'windvane_webhook_queue{{webhook="{hook.id}"}} {float(waiting)}' in figures
    (lag,) = [line for line in figures.splitlines() if line.startswith("windvane_webhook_lag_seconds{")]
    assert float(lag.split()[-1]) > 0.0


# -- definitions that cannot be read --------------------------------------------------------------------


def test_a_damaged_study_is_listed_as_damaged(served):
    served.create("plant", metadata={"line": 3})
    served.create("other")
    damage_definition(served.database)
    found = served.client.get("/v1/studies")
    assert found.status_code == 200
    listed = {each["name"]: each for each in found.json()["studies"]}
    assert "its definition was altered" in listed["plant"]["damaged"]
    assert listed["plant"]["definition"] == {}
    assert listed["other"]["damaged"] is None
    assert listed["other"]["definition"]
    figures = served.client.get("/metrics")
    assert figures.status_code == 200
    assert 'windvane_study_steps{study="plant"} 0.0' in figures.text
    assert "windvane_damaged_studies 1.0" in figures.text
    one = served.client.get("/v1/studies/plant")
    assert one.status_code == 500
    assert one.json()["error"] == "CorruptState"
    assert "its definition was altered" in one.json()["detail"]
    assert served.client.delete("/v1/studies/plant").status_code == 204
    assert [each["name"] for each in served.client.get("/v1/studies").json()["studies"]] == ["other"]


def test_a_damaged_study_is_listed_in_the_shell(database, capsys):
    reset_twice(database)
    reset_twice(database, "other")
    damage_definition(database)
    main(["study", "list", "--db", database.link.where])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if "damaged" in line] == ["plant"]
    assert any(line.startswith("other") for line in lines)


def test_a_damaged_study_is_listed_by_the_library_and_opened_by_nobody(database):
    reset_twice(database)
    damage_definition(database)
    (found,) = studies(database)
    assert found.tells == 4
    assert "its definition was altered" in found.damaged
    with pytest.raises(CorruptState, match="its definition was altered"):
        Study.open(database, "plant")


@pytest.mark.parametrize(
    "definition", ["[]", "3", "null", '{"options": 3}', '{"options": {"constraints": 3}}']
)
def test_a_definition_of_another_form_is_damaged_too(served, definition):
    served.create("plant")
    with served.database.link.writing() as connection:
        connection.exec_driver_sql("UPDATE windvane_studies SET definition = ?", (definition,))
    found = served.client.get("/v1/studies").json()["studies"]
    assert found[0]["damaged"]
    assert served.client.get("/metrics").status_code == 200
