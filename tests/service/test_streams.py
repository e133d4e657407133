"""Live streams: nothing missed, nothing twice, whoever writes; and they end when they should."""

import json
import threading
import time

import windvane as wv
from windvane.study import Study


def events(lines):
    """The events of a stream, parsed as the standard says: fields until an empty line."""
    fields = {}
    for line in lines:
        if not line:
            if "data" in fields:
                yield fields
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value


def collect(stream, count):
    found = []
    for event in events(stream.iter_lines()):
        found.append(event)
        if len(found) == count:
            break
    return found


def test_records_of_this_and_of_another_process(served):
    served.create()
    served.tell(x=[0.1, 0.1], y=0.1)
    other = Study.open(served.database, "plant")
    with served.client.stream("GET", "/v1/studies/plant/stream?after=0") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")

        def write():
            served.tell(x=[0.2, 0.2], y=0.2)
            other.add([0.3, 0.3], 0.3)
            trial = other.ask()
            served.tell(trial=trial.number, y=0.4)

        writer = threading.Thread(target=write)
        writer.start()
        found = collect(stream, 5)
        writer.join()
    assert [(e["id"], e["event"]) for e in found] == [
        ("1", "told"), ("2", "told"), ("3", "told"), ("4", "asked"), ("5", "told"),
    ]  # fmt: skip
    pages = served.client.get("/v1/studies/plant/events").json()["events"]
    assert [json.loads(e["data"]) for e in found] == pages


def test_from_where_it_was_left(served):
    served.create()
    for i in range(4):
        served.tell(x=[0.1 * i, 0.1], y=0.1)
    with served.client.stream("GET", "/v1/studies/plant/stream?after=2") as stream:
        assert [e["id"] for e in collect(stream, 2)] == ["3", "4"]
    headers = {"Last-Event-ID": "3"}
    with served.client.stream("GET", "/v1/studies/plant/stream?after=2", headers=headers) as stream:
        assert [e["id"] for e in collect(stream, 1)] == ["4"]
    assert served.client.get("/v1/studies/plant/stream", headers={"Last-Event-ID": "x"}).status_code == 422
    assert served.client.get("/v1/studies/nothing/stream").status_code == 404


def test_quick_about_what_this_process_writes(start):
    served = start(poll=3600.0, heartbeat=3600.0)  # so that only the bell can wake it
    served.create()
    with served.client.stream("GET", "/v1/studies/plant/stream") as stream:
        lines = stream.iter_lines()
        next(lines)
        teller = threading.Timer(0.1, lambda: served.tell(x=[0.2, 0.2], y=0.2))
        teller.start()
        assert next(events(lines))["id"] == "1"
        teller.join()  # its answer may come after the event


def test_heartbeats(start):
    served = start(heartbeat=0.1)
    served.create()
    with served.client.stream("GET", "/v1/studies/plant/stream") as stream:
        comments = []
        for line in stream.iter_lines():
            comments += [line] if line.startswith(":") else []
            if len(comments) == 4:
                break
    assert comments[1:] == [": still here"] * 3


def test_ends_with_the_study(served):
    served.create()
    Study.create(served.database, "other", wv.Box([(0, 1)]))
    for name, delete in (
        ("plant", lambda: served.client.delete("/v1/studies/plant")),
        ("other", lambda: served.database.delete("other")),  # as another process would
    ):
        with served.client.stream("GET", f"/v1/studies/{name}/stream") as stream:
            lines = stream.iter_lines()
            next(lines)
            delete()
            assert ": the study was deleted" in list(lines)
    assert served.service.streams.count == 0


def test_no_more_than_so_many(start):
    served = start(streams=1)
    served.create()
    with served.client.stream("GET", "/v1/studies/plant/stream") as stream:
        lines = stream.iter_lines()  # kept: httpx hangs up when this is forgotten
        next(lines)
        refused = served.client.get("/v1/studies/plant/stream")
        assert refused.status_code == 429
        assert refused.json()["error"] == "TooManyStreams"
    deadline = time.monotonic() + 60
    while served.service.streams.count and time.monotonic() < deadline:  # who left is noticed
        served.tell(x=[0.2, 0.2], y=0.2)
        time.sleep(0.02)
    with served.client.stream("GET", "/v1/studies/plant/stream") as stream:
        assert stream.status_code == 200
