"""`windvane serve`, `token` and `webhook` as they are typed: processes, signals, messages."""

import http.client
import json
import logging
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import contextmanager

import httpx
import pytest
import uvicorn

import windvane as wv
from windvane.cli import main
from windvane.service import Config, running
from windvane.service.logs import JsonLines
from windvane.storage import Database
from windvane.study import Study

ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "200"}


def run(capsys, *arguments):
    code = main(list(arguments))
    said = capsys.readouterr()
    return code, said.out, said.err


@contextmanager
def serving(folder, *arguments):
    """The process, and the address that it says."""
    command = [sys.executable, "-m", "windvane", "serve", "--port", "0", *arguments]
    process = subprocess.Popen(
        command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        said = process.stdout.readline()
        address = re.search(r"http://[\d.]+:\d+", said)
        assert address, said + process.stderr.read()
        yield process, address[0]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def ended(process, number):
    """The exit code and what was said on standard error, after a signal."""
    process.send_signal(number)
    return process.wait(120), process.stderr.read()


STUCK = """
import sys, threading, time
from windvane.cli import main
from windvane.study import Study

def never(*_, **__):
    print("begun", file=sys.stderr, flush=True)
    time.sleep(3600)

Study.create = never
if __name__ == "__main__":
    main(["serve", "--port", "0", *sys.argv[1:]])
"""


@pytest.mark.parametrize("workers", ["1", "2"])
def test_it_ends_when_told_to_whatever_is_being_computed(tmp_path, workers):
    script = tmp_path / "stuck.py"  # also read by the processes that it starts
    script.write_text(STUCK)
    command = [sys.executable, str(script), "--workers", workers]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        address = re.search(r"http://[\d.]+:\d+", process.stdout.readline())[0]
        body = {"name": "plant", "space": {"box": [[0, 1]]}}
        caller = threading.Thread(target=post_and_be_cut_off, args=(address, body))
        caller.start()
        assert "begun" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0  # not the hour that the computation takes
        caller.join()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def post_and_be_cut_off(address, body):
    with pytest.raises(httpx.HTTPError):
        httpx.post(f"{address}/v1/studies", json=body, timeout=600).raise_for_status()


def test_a_demo_that_moves_and_stops_cleanly_under_open_streams(tmp_path):
    with (
        serving(tmp_path, "--demo") as (process, address),
        httpx.Client(base_url=address, timeout=120) as client,
    ):
        with client.stream("GET", "/v1/studies/demo/stream") as stream:
            lines = stream.iter_lines()
            told = 0
            for line in lines:
                told += line == "event: told"
                if told == 2:
                    break
            assert client.get("/v1/studies/demo/surface?resolution=3").status_code == 200
            process.send_signal(signal.SIGINT)
            for _ in lines:  # the server ends the stream, and ends it well: else httpx would complain
                pass
        assert (process.wait(120), process.stderr.read()) == (0, "")
    with Study.open(str(tmp_path / "windvane.db"), "demo") as study:
        assert study.summary().tells >= 2
    with Study.open(str(tmp_path / "windvane.db"), "demo-oven") as study:
        assert study.optimizer.safe == 0.95
        told = [record for record in study.events() if record.kind == "told"]
        assert told
        assert all(set(record.event["outcomes"]) == {"heat"} for record in told)


def test_terminated_with_streams_open(tmp_path):
    with Study.create(str(tmp_path / "windvane.db"), "plant", wv.Box([(0, 1)])):
        pass
    with (
        serving(tmp_path) as (process, address),
        httpx.stream("GET", f"{address}/v1/studies/plant/stream", timeout=120) as stream,
    ):
        lines = stream.iter_lines()
        next(lines)
        assert ended(process, signal.SIGTERM) == (
            0,
            "",
        )  # had the grace for requests run out, it would say so


def test_two_processes_on_one_socket(tmp_path):
    with (
        serving(tmp_path, "--workers", "2") as (process, address),
        httpx.Client(base_url=address, timeout=120) as client,
    ):
        body = {"name": "plant", "space": {"box": [[0, 1]]}}
        assert client.post("/v1/studies", json=body).status_code == 201
        for i in range(8):  # each in a connection of its own, which belongs to one of the processes
            connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=120)
            told = json.dumps({"x": [i / 8], "y": 0.1})
            connection.request("POST", "/v1/studies/plant/tell", told, {"Content-Type": "application/json"})
            assert connection.getresponse().status == 201
            connection.close()
        steps = [e["step"] for e in client.get("/v1/studies/plant/events").json()["events"]]
        assert steps == list(range(1, 9))
        assert "windvane_tells_total 8.0" in client.get("/metrics").text  # added up over the processes
        code, _ = ended(process, signal.SIGTERM)
    assert code == 0


def test_a_port_that_is_taken(capsys, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, out, err = run(capsys, "serve", "--db", str(tmp_path / "a.db"), "--port", port)
    assert (code, out) == (1, "")
    assert port in err
    assert "--port" in err


def test_not_open_to_everybody(capsys, tmp_path):
    path = str(tmp_path / "a.db")
    code, _, err = run(capsys, "serve", "--db", path, "--host", "0.0.0.0", "--port", "0")
    assert code == 2
    assert f"windvane token add LABEL --db sqlite+pysqlite:///{path}" in err or f"--db {path}" in err


@pytest.mark.parametrize(
    "bad", [("--rate", "0"), ("--workers", "0"), ("--port", "70000"), ("--db", "mysql://x/y")]
)
def test_settings_that_cannot_be(capsys, tmp_path, bad):
    code, _, err = run(capsys, "serve", "--db", str(tmp_path / "a.db"), *bad)
    assert code == 2
    assert err.startswith("windvane: ")


@pytest.mark.parametrize("name", ["demo", "demo-oven"])
def test_a_demo_keeps_its_hands_off_a_study_of_ours(capsys, tmp_path, name):
    path = str(tmp_path / "a.db")
    with Study.create(path, name, wv.Box([(0, 1)])) as study:
        code, _, err = run(capsys, "serve", "--db", path, "--demo", "--port", "0")
        assert code == 2
        assert "of yours" in err
        assert study.summary().head == 0


def test_tokens(capsys, tmp_path):
    path = str(tmp_path / "a.db")
    code, secret, _ = run(capsys, "token", "add", "press", "--db", path)
    assert code == 0
    with Database(path) as database:
        assert database.tokens.check(secret.strip()).scopes == ("read", "write")
    _, out, _ = run(capsys, "token", "add", "page", "--read-only", "--json", "--db", path)
    assert json.loads(out)["scopes"] == ["read"]
    _, out, _ = run(capsys, "token", "list", "--db", path)
    assert "press" in out
    assert "page" in out
    assert secret.strip() not in out
    _, out, _ = run(capsys, "token", "list", "--json", "--db", path)
    assert [(t["id"], t["label"]) for t in json.loads(out)] == [(1, "press"), (2, "page")]
    assert run(capsys, "token", "revoke", "1", "--db", path)[0] == 0
    with Database(path) as database:
        assert database.tokens.check(secret.strip()) is None
    assert run(capsys, "token", "revoke", "1", "--db", path)[0] == 2
    assert "last token" in run(capsys, "token", "revoke", "2", "--db", path)[1]
    assert "open to this machine" in run(capsys, "token", "list", "--db", path)[1]


def test_webhooks(capsys, tmp_path):
    path = str(tmp_path / "a.db")
    assert run(capsys, "webhook", "add", "ftp://example.org", "--db", path)[0] == 2
    assert run(capsys, "webhook", "add", "http://example.org", "--study", "none", "--db", path)[0] == 2
    code, out, _ = run(capsys, "webhook", "add", "https://example.org/hook", "--json", "--db", path)
    assert code == 0
    secret = json.loads(out)["secret"]
    _, out, _ = run(capsys, "webhook", "list", "--db", path)
    assert "https://example.org/hook" in out
    assert secret not in out
    _, out, _ = run(capsys, "webhook", "list", "--json", "--db", path)
    assert [(hook["id"], hook["study"], hook["deliveries"]) for hook in json.loads(out)] == [(1, None, [])]
    assert secret not in out
    assert run(capsys, "webhook", "remove", "1", "--db", path)[0] == 0
    assert run(capsys, "webhook", "remove", "1", "--db", path)[0] == 2
    assert "no webhooks" in run(capsys, "webhook", "list", "--db", path)[1]


@pytest.mark.parametrize("time", ["''", "1e300", "-1e20", "9e999"])
def test_a_token_or_a_webhook_whose_time_is_none_hides_no_other(capsys, tmp_path, time):
    path = str(tmp_path / "a.db")
    for label in ("press", "page"):
        run(capsys, "token", "add", label, "--db", path)
        run(capsys, "webhook", "add", f"https://example.org/{label}", "--db", path)
    with sqlite3.connect(path) as connection:
        for table in ("windvane_tokens", "windvane_webhooks"):
            connection.execute(f"UPDATE {table} SET created = {time} WHERE id = 1")
    connection.close()
    for verb in ("token", "webhook"):
        code, out, _ = run(capsys, verb, "list", "--db", path)
        assert code == 0
        _, first, second = out.splitlines()
        assert "no date" in first
        assert "UTC" in second
        code, out, _ = run(capsys, verb, "list", "--json", "--db", path)
        assert code == 0
        assert [each["id"] for each in json.loads(out, parse_constant=pytest.fail)] == [1, 2]


def test_the_log_as_json(tmp_path):
    with serving(tmp_path, "--log-format", "json", "--log-level", "info") as (process, address):
        assert httpx.get(f"{address}/health").status_code == 200
        code, said = ended(process, signal.SIGTERM)
    assert code == 0
    lines = [json.loads(line) for line in said.splitlines()]
    assert lines
    assert {"time", "level", "logger", "message", "process", "thread"} <= set(lines[0])
    assert lines[0]["level"] == "info"


def test_a_traceback_is_one_line_of_json():
    try:
        raise RuntimeError("a fault\nof ours")
    except RuntimeError:
        record = logging.LogRecord("windvane", logging.ERROR, "", 0, "%s went wrong", ("it",), sys.exc_info())
    line = JsonLines().format(record)
    assert "\n" not in line
    found = json.loads(line)
    assert (found["message"], found["error"]) == ("it went wrong", "RuntimeError")
    assert "of ours" in found["traceback"]


def test_older_supervisors_are_told_what_to_run(monkeypatch):
    """uvicorn up to 0.35 has another signature."""
    made = []

    class Older:
        def __init__(self, config, target, sockets):
            made.append((config, target, sockets))

    class Newer:
        def __init__(self, config, sockets):
            made.append((config, None, sockets))

    with socket.socket() as sock:
        for kind in (Older, Newer):
            monkeypatch.setattr(running, "Multiprocess", kind)
            settings = uvicorn.Config("windvane.service.running:worker", factory=True, workers=2)
            running._supervisor(settings, sock)
    assert callable(made[0][1])
    assert made[1][1] is None
    assert [each[2] for each in made] == [[sock], [sock]]


def test_processes_have_time_to_start(monkeypatch, tmp_path):
    """After five seconds without a word they were killed and started again, on a busy machine for ever."""
    made = []

    class Supervisor:
        def __init__(self, config, sockets):
            made.append(config)

        def run(self):
            """Nothing: it is never started."""

    monkeypatch.setattr(running, "Multiprocess", Supervisor)
    for name in (running.CONFIG, running.SHARED):
        monkeypatch.setenv(name, "")
    config = Config(database=str(tmp_path / "s.db"), port=0)
    before = signal.getsignal(signal.SIGTERM)
    try:
        running.run(config, running.listening(config), workers=2)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert made[0].timeout_worker_healthcheck == running.PATIENCE >= 30


def test_an_older_uvicorn_is_not_told_how_long_to_wait(monkeypatch):
    monkeypatch.setattr(uvicorn, "Config", lambda app, workers=1: None)
    assert running._patience() == {}
