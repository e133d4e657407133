"""The client against a real service in a process of its own; a study in process is the oracle."""

import json
import os
import re
import signal
import stat
import threading
import time
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import windvane as wv
import windvane.client
from windvane.client import Client, RemoteStudy
from windvane.errors import Conflict, Forbidden, InvalidArgument, UnknownName
from windvane.protocol import Trial

pytest.importorskip("fastapi", reason="needs windvane[service]")
pytest.importorskip("uvicorn", reason="needs windvane[service]")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "client.md"
BLOCK = re.compile(r"(?P<skip><!-- skip: .+? -->\n)?^```python\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
OPTIONS = {"algorithm": "et-gp-ucb", "kernel": wv.RBF(0.2), "noise_variance": 0.01, "seed": 3}
ARMS = {**OPTIONS, "kernel": wv.Empirical(np.eye(5).tolist())}
SPACES = {
    "box": wv.Box([(0, 1), (-5, 5)]),
    "arms": wv.Arms(5),
    "candidates": wv.Candidates(
        [{"gain": 0.1 * 2**i, "mode": "ab"[i % 2]} for i in range(12)], scale={"gain": "log"}
    ),
    "space": wv.Space(gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 8), mode=wv.Choice(["a", "b"])),
    "stepped": wv.Space(valve=wv.Real(0, 100, step=2.5, unit="%"), mode=wv.Choice(["a", "b"])),
}


@pytest.fixture
def client(service):
    with Client(service.url, retries=12) as found:
        yield found


def objective(x):
    values = [
        value
        for value in (x.values() if isinstance(x, dict) else np.atleast_1d(x))
        if not isinstance(value, str)
    ]
    return float(np.sin(np.sum(np.asarray(values, dtype=float))))


@pytest.mark.parametrize("kind", SPACES)
def test_a_remote_study_does_what_one_in_process_does(client, kind, tmp_path):
    """Bit for bit: the same asks, events, best and predictions."""
    space, options = SPACES[kind], ARMS if kind == "arms" else OPTIONS
    remote = client.create(f"twin {kind}", space, **options)
    with wv.Study.create(tmp_path / "twin.db", "twin", space, **options) as local:
        assert remote.space == space
        for step in range(4):
            ours, theirs = local.ask(), remote.ask()
            assert (theirs.number, theirs.x) == (ours.number, ours.x)
            y = objective(ours.x)
            expected = local.tell(ours, y, float(step))
            assert remote.tell(theirs, y, float(step)) == expected
        point = local.ask().x
        remote.ask()
        assert remote.add(point, 0.5) == local.add(point, 0.5)
        ours, theirs = local.best(), remote.best()
        assert theirs.x == (ours.x.tolist() if isinstance(ours.x, np.ndarray) else ours.x)
        assert (theirs.mean, theirs.std) == (ours.mean, ours.std)
        for got, want in zip(remote.predict([point, point]), local.predict([point, point]), strict=True):
            assert np.array_equal(got, want)
        assert (
            [trial.number for trial in remote.pending()] == [trial.number for trial in local.pending()] == [5]
        )
        assert remote.summary().tells == local.summary().tells == 5


def test_the_best_point_at_a_later_time(client, tmp_path):
    remote = client.create("later", wv.Box([(0, 1)]), "tv-gp-ucb", rate=0.03, seed=0)
    with wv.Study.create(tmp_path / "s.db", "s", wv.Box([(0, 1)]), "tv-gp-ucb", rate=0.03, seed=0) as local:
        for step in range(4):
            trial = local.ask()
            local.tell(trial, objective(trial.x), float(step))
            remote.tell(remote.ask(), objective(trial.x), float(step))
        for time in (None, 1.0, 40.0):
            ours, theirs = local.best(time), remote.best(time)
            assert (list(ours.x), ours.mean, ours.std) == (list(theirs.x), theirs.mean, theirs.std)
        assert remote.best(40.0).std > remote.best().std


def test_what_is_available(client):
    study = client.create("recipes", SPACES["candidates"], seed=0)
    for some in ([3], [5, 7], [{"gain": 0.2, "mode": "b"}], np.array([2, 4])):
        numbers = SPACES["candidates"].number_many(some)
        assert study.ask(available=some).x in numbers
    with pytest.raises(InvalidArgument, match="available"):
        study.ask(available=[12])
    with pytest.raises(InvalidArgument, match="available"):
        client.create("boxed", wv.Box([(0, 1)])).ask(available=[[0.5]])
    study.delete()


def test_the_way_of_a_study(client, tmp_path):
    study = client.create("plant", wv.Box([(0, 1)]), **OPTIONS, metadata={"line": 3})
    assert "plant" in [summary.name for summary in client.studies()]
    assert client.study("plant").summary().definition["metadata"] == {"line": 3}
    first, second = study.ask(metadata={"shift": "late"}), study.ask()
    assert isinstance(first, Trial)
    assert first.metadata == {"shift": "late"}
    study.tell(second, 0.5)
    failed = study.fail(first, "no power")
    assert (failed.kind, failed.reason) == ("failed", "no power")
    assert [record.kind for record in study.events()] == ["asked", "asked", "told", "failed"]
    assert [record.kind for record in study.events(after=2, limit=1)] == ["told"]
    assert [record.seq for record in study.events(kinds=["asked"])] == [1, 2]
    assert [record.seq for record in study.events(kinds=["told", "failed"])] == [3, 4]
    assert [record.seq for record in study.events(newest=True, limit=2)] == [3, 4]
    assert study.events(resets=True) == []
    study.export(tmp_path / "plant.jsonl")
    lines = (tmp_path / "plant.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["seq"] for line in lines] == [1, 2, 3, 4]
    assert str(study.explain()) == study.explain().figures["text"]
    study.delete()
    with pytest.raises(UnknownName, match="plant"):
        study.ask()


def test_a_study_that_may_be_there_already(client):
    space, options = wv.Space(gain=wv.Real(0.1, 10, log=True)), {**OPTIONS, "exist_ok": True}
    first = client.create("restarted", space, **options)
    first.tell(first.ask(), 0.5)
    assert client.create("restarted", space, **options).summary() == first.summary()
    assert first.summary().tells == 1
    with pytest.raises(Conflict, match="goal: there is a study of that name with another"):
        client.create("restarted", space, goal="minimize", **options)
    first.delete()


def test_a_goal_in_british_spelling(client):
    study = client.create("filter", wv.Box([(0, 1)]), goal="minimise")
    assert study.summary().goal == study.summary().definition["goal"] == "minimize"
    study.delete()


def test_a_seed_that_nobody_gave_survives_a_reader_that_has_only_floats(client):
    study = client.create("seeded", wv.Box([(0, 1)]))
    seed = study.summary().definition["seed"]
    assert int(float(seed)) == seed < 2**53
    study.delete()


def test_errors_are_those_of_a_study_in_process(client):
    study = client.create("mistakes", wv.Box([(0, 1)]), **OPTIONS)
    with pytest.raises(Conflict, match="mistakes"):
        client.create("mistakes", wv.Box([(0, 1)]))
    with pytest.raises(UnknownName, match="nobody"):
        client.study("nobody")
    with pytest.raises(UnknownName, match="trial=7"):
        study.tell(7, 0.5)
    with pytest.raises(InvalidArgument):
        study.add([2.0], 0.5)
    with pytest.raises(InvalidArgument):
        client.create("wrong", {"box": [[1, 0]]})
    with pytest.raises(InvalidArgument):
        client.create("wrong", wv.Arms(3), algorithm="gp-ucp")
    trial = study.ask()
    study.tell(trial, 0.5)
    with pytest.raises(Conflict, match="told already"):
        study.tell(trial, 0.5)
    assert study.summary().tells == 1


def test_a_key_makes_a_second_call_harmless(client):
    study = client.create("keys", wv.Box([(0, 1)]), **OPTIONS)
    assert study.ask(key="monday") == study.ask(key="monday")
    assert study.tell(1, 0.5, key="tuesday") == study.tell(1, 0.5, key="tuesday")
    assert study.summary().head == 2
    with pytest.raises(Conflict, match="key"):
        study.tell(1, 0.6, key="tuesday")


def test_names_that_need_quoting(client):
    for name in ("größe 3.5", "a b-c_d.e"):
        client.create(name, wv.Arms(5), **ARMS)
        assert client.study(name).ask().number == 1


def test_pages_of_events_join(client, monkeypatch):
    from windvane.client import remote

    monkeypatch.setattr(remote, "PAGE", 3)
    study = client.create("pages", wv.Arms(5), **ARMS)
    for arm in (0, 1, 2, 0, 1, 2, 0):
        study.add(arm, 0.5)
    assert [record.seq for record in study.events()] == [1, 2, 3, 4, 5, 6, 7]
    assert [record.seq for record in study.events(after=1, limit=5)] == [2, 3, 4, 5, 6]


def test_threads_tell_at_once_and_all_is_kept(client):
    study = client.create("crowd", wv.Box([(0, 1)]), **OPTIONS)

    def work():
        for _ in range(5):
            study.tell(study.ask(), 0.5)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [record.trial for record in study.events(kinds=["asked"])] == list(range(1, 21))
    assert sorted(record.trial for record in study.events(kinds=["told"])) == list(range(1, 21))


def test_the_code_on_the_page_runs(service, capsys):
    text = PAGE.read_text(encoding="utf-8")
    blocks = [found["code"] for found in BLOCK.finditer(text) if not found["skip"]]
    assert len(blocks) == 3
    names = {}
    for block in blocks:
        exec(compile(block.replace("http://127.0.0.1:8000", service.url), str(PAGE), "exec"), names)
    assert capsys.readouterr().out.endswith("True\n")
    assert names["study"].summary().tells == 4


def test_a_service_that_is_killed_and_comes_back(service, client):
    """Under way while it is down: the tell and the stream wait for it, and nothing is lost or doubled."""
    study = client.create("phoenix", wv.Box([(0, 1)]), **OPTIONS)
    seen = []
    reader = threading.Thread(target=lambda: seen.extend(record.seq for record in islice(study.stream(), 6)))
    reader.start()
    study.tell(study.ask(), 0.1)
    service.stop(signal.SIGKILL)
    starter = threading.Timer(0.3, service.start)
    starter.start()
    study.tell(study.ask(), 0.2)
    starter.join()
    study.tell(study.ask(), 0.3)
    reader.join(120)
    assert seen == [1, 2, 3, 4, 5, 6]
    assert [record.y for record in study.events(kinds=["told"])] == [0.1, 0.2, 0.3]


def test_tokens(own_service):
    """Once there is a token, one is needed."""
    from windvane.storage import Database

    url = own_service.url
    with Client(url) as client:
        study = client.create("locked", wv.Arms(5), **ARMS)
        with Database(own_service.database) as database:
            reading, writing = database.tokens.add("r", ["read"]), database.tokens.add("w", ["read", "write"])
        with pytest.raises(Forbidden, match="token"):
            refused_at_last(study.summary)
    with Client(url, token="wv_wrong") as wrong, pytest.raises(Forbidden, match="token"):
        wrong.studies()
    with Client(url, token=reading) as reader:
        study = reader.study("locked")
        assert study.summary().head == 0
        with pytest.raises(Forbidden, match="write"):
            study.ask()
    with Client(url, token=writing) as writer:
        assert writer.study("locked").ask().number == 1


def refused_at_last(call):
    """Call it until the service has noticed the token: it looks for one every two seconds."""
    until = time.monotonic() + 60.0
    while time.monotonic() < until:
        call()
        time.sleep(0.1)


def test_the_page_lists_everything():
    text = PAGE.read_text(encoding="utf-8")
    for kind in (Client, RemoteStudy):
        for name in dir(kind):
            if not name.startswith("_") and name not in ("close", "space"):
                assert re.search(rf"\b{name}\b", text), name
    for name in windvane.client.__all__:
        assert name in text


def test_known_noise_and_repeats_are_told_as_in_process(client, tmp_path):
    remote = client.create("noisy", SPACES["box"], **OPTIONS)
    with wv.Study.create(tmp_path / "twin.db", "twin", SPACES["box"], **OPTIONS) as local:
        for told in ({"y": 0.3, "std": 0.2}, {"y": [0.1, 0.4]}, {"y": (0.1, 0.2), "noise_variance": 0.3}):
            ours, theirs = local.ask(), remote.ask()
            event = remote.tell(theirs, **told)
            assert event == local.tell(ours, **told)
            assert remote.add(ours.x, **told) == local.add(ours.x, **told)
        for bad in ({"y": []}, {"y": 1.0, "std": 0.0}, {"y": 1.0, "std": 1.0, "noise_variance": 1.0}):
            with pytest.raises(InvalidArgument):
                remote.add(ours.x, **bad)


def test_an_export_is_its_owners_alone(client, tmp_path):
    study = client.create("for me", wv.Box([(0, 1)]), **OPTIONS)
    before = os.umask(0o022)
    try:
        study.export(tmp_path / "mine.csv")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "mine.csv").stat().st_mode) == 0o600


def test_a_hand_on_the_wheel(client, tmp_path):
    """Bit for bit what a study in process does."""
    box = SPACES["box"]
    remote = client.create("wheel", box, **OPTIONS)
    with wv.Study.create(tmp_path / "twin.db", "twin", box, **OPTIONS) as local:
        ours, theirs = local.ask(count=4), remote.ask(count=4)
        assert [trial.x for trial in theirs] == [trial.x for trial in ours]
        for n, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            local.tell(one, 0.1 * n)
            remote.tell(other, 0.1 * n)
        assert remote.reset("new pump") == local.reset("new pump")
        added = [study.add([0.5, 0.5], 7.0) for study in (local, remote)]
        assert added[0] == added[1]
        wider = wv.Box([(0, 2), (-5, 5)])
        for study, trials in ((local, ours), (remote, theirs)):
            study.retract(trials[1], "cold", key="once")
            study.retract(study.events(kinds=["told"])[-1])
            study.correct(trials[2], 0.25)
            study.correct(trials[3], [0.2, 0.4])
            assert study.change_space(wider).event["left_out"] == 0
        assert [r.kind for r in remote.events()] == [r.kind for r in local.events()]
        assert remote.space == wider
        assert remote.ask().x == local.ask().x
        assert str(remote.explain()).split("\n")[1:] != []
        with pytest.raises(Conflict, match="taken back already"):
            remote.retract(theirs[1])
        with pytest.raises(InvalidArgument, match="create another study"):
            remote.change_space(wv.Arms(3))
        with pytest.raises(UnknownName):
            remote.correct(99, 1.0)
