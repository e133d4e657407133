"""Two that write to one study at once: one after the other, both kept, as if one had done it all."""

import json
import subprocess
import sys
import threading

import pytest

import windvane as wv
from windvane.errors import Conflict, StorageFailure
from windvane.storage import Database, journal, turns
from windvane.storage.link import Link
from windvane.study import Study, live

BOX = wv.Box([(0.0, 1.0)])
GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.01, "seed": 3}
SCRIPT = """
import sys
from windvane.study import Study
url, me, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Study.open(url, "s") as study:
    study.pending()
    print("ready", flush=True)
    sys.stdin.readline()
    for n in range(count):
        trial = study.ask(key=f"{me}-ask-{n}")
        study.tell(trial, 0.1 * n, key=f"{me}-tell-{n}")
        study.add([0.5], 0.1 * n, key=f"{me}-add-{n}")
"""


@pytest.fixture
def database(database_url):
    with Database(database_url, create=True) as made:
        Study.create(made, "s", BOX, "et-gp-ucb", **GIVEN)
        yield made


def replayed(records):
    """A plain optimiser that is told and asked what the journal says, and must say the same."""
    opt, pending = wv.make("et-gp-ucb", BOX, **GIVEN), {}
    for seq, record in enumerate(records, start=1):
        assert record.seq == seq
        if record.kind == "asked":
            assert opt.ask(time=record.time, pending=list(pending.values())).tolist() == record.x
            pending[record.trial] = record.x
        else:
            pending.pop(record.trial, None)
        if record.kind == "told":
            assert opt.tell(record.x, record.y, record.time).as_dict() == record.event
    return opt, list(pending.values())


def check(database, told):
    """Every answer is there once; the journal is what one writer would have made of it; so is the next point."""
    study = Study.open(database, "s")
    records = study.events()
    keys = [record.key for record in records if record.kind == "told"]
    assert sorted(keys) == sorted(told)
    opt, pending = replayed(records)
    assert study.optimizer.state() == opt.state()
    assert study.summary().tells == len(told)
    assert study.ask().x == opt.ask(pending=pending).tolist()


def test_two_objects_take_turns(database):
    one, two = Study.open(database, "s"), Study.open(database, "s")
    told = []
    for n in range(6):
        for study, other in ((one, two), (two, one)):
            trial = study.ask()
            told.append(f"{n}-{study is one}")
            other.tell(trial, 0.3 * n, key=told[-1])
    check(database, told)


def test_threads_of_one_study(database):
    study = Study.open(database, "s")
    run_threads([study] * 4, database)


def test_threads_with_studies_of_their_own(database):
    run_threads([Study.open(database, "s") for _ in range(4)], database)


def run_threads(studies, database, count=4):
    told, errors, gate = [], [], threading.Barrier(len(studies))

    def work(me, study):
        try:
            gate.wait()
            for n in range(count):
                trial = study.ask()
                study.tell(trial, 0.1 * n, key=f"{me}-{n}")
                told.append(f"{me}-{n}")
        except Exception as error:  # pragma: no cover
            errors.append(error)

    threads = [threading.Thread(target=work, args=each) for each in enumerate(studies)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(told) == count * len(studies)
    check(database, told)


def test_processes(database_url, database):
    count = 5
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT, database_url, str(me), str(count)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for me in range(2)
    ]  # fmt: skip
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    check(database, [f"{me}-{verb}-{n}" for me in range(2) for verb in ("tell", "add") for n in range(count)])


def interrupt(monkeypatch, act):
    """Let somebody else act once in the middle of a step: after it was computed, before it is written.

    Returns what is written from then on, by whomever: the first number of every attempt. The other does not wait
    long for its turn, which does not come.
    """
    monkeypatch.setattr(turns, "PATIENCE", 0.02)
    commit, writes, calls, waiting = live.UnwrittenStep.commit, Link.writes, [], [act]

    def noted(step, connection, study_id):
        calls.extend(record.seq for record in step.records[:1])
        return commit(step, connection, study_id)

    def entered(link, connection):
        if waiting:
            waiting.pop()()
        return writes(link, connection)

    monkeypatch.setattr(live.UnwrittenStep, "commit", noted)
    monkeypatch.setattr(Link, "writes", entered)
    return calls


def test_a_step_that_was_overtaken_is_made_again(database, monkeypatch):
    """Deterministically: the other writer comes between computing and writing."""
    one, two = Study.open(database, "s"), Study.open(database, "s")
    trial = one.ask()
    one.tell(trial, 0.5, key="a")
    calls = interrupt(monkeypatch, lambda: two.add([0.25], 0.75, key="b"))
    one.add([0.75], 0.25, key="c")
    assert calls == [
        3,
        3,
        4,
    ]  # the other's; mine in vain, under the same number; mine again
    check(database, ["a", "b", "c"])


def test_the_same_key_at_the_same_time_is_one_record(database, monkeypatch):
    one, two = Study.open(database, "s"), Study.open(database, "s")
    one.pending()
    interrupt(monkeypatch, lambda: two.add([0.25], 0.75, key="same"))
    assert one.add([0.25], 0.75, key="same").step == 1
    check(database, ["same"])


def test_the_same_trial_at_the_same_time_is_told_once(database, monkeypatch):
    one, two = Study.open(database, "s"), Study.open(database, "s")
    trial = one.ask()
    interrupt(monkeypatch, lambda: two.tell(trial, 0.75, key="first"))
    with pytest.raises(Conflict, match=r"told already, y = 0\.75"):
        one.tell(trial, 0.5, key="second")
    check(database, ["first"])


def test_deleted_in_the_middle_of_a_step(database, monkeypatch):
    study = Study.open(database, "s")
    study.pending()
    interrupt(monkeypatch, lambda: database.delete("s"))
    with pytest.raises(wv.errors.UnknownName, match="deleted"):
        study.ask()


def test_append_refuses_another_head(database):
    study = Study.open(database, "s")
    study.add([0.5], 0.5)
    record = study.events()[0]
    for before in (0, 2):
        with pytest.raises(journal.Stale), database.link.writing() as connection:
            journal.append(connection, study.id, before, [record], size=1, pending=0)
    assert study.events() == [record]


def test_a_failure_while_writing_changes_nothing(database, monkeypatch):
    study = Study.open(database, "s")
    study.add([0.5], 0.5, key="a")
    append = journal.append

    def torn(*args, **kwargs):
        append(*args, **kwargs)
        raise StorageFailure("pulled the plug")

    monkeypatch.setattr(journal, "append", torn)
    with pytest.raises(StorageFailure, match="pulled the plug"):
        study.add([0.25], 2.0, key="b")
    monkeypatch.undo()
    assert [record.key for record in study.events()] == ["a"]
    study.add([0.75], 1.0, key="c")
    check(database, ["a", "c"])


def test_a_checkpoint_is_written_with_its_tell(database, monkeypatch):
    """Every 64 tells; who opens the study later follows only what came after."""
    study = Study.open(database, "s")
    study.add_many([([n / 100], 0.01 * n, None, None) for n in range(live.SPARSE - 1)])

    def kept():
        with database.link.reading() as connection:
            return journal.checkpoint(connection, study.id)

    assert kept()[0] == 0
    study.ask()
    assert kept()[0] == 0
    study.add([0.5], 0.5)
    head, text = kept()
    assert head == live.SPARSE + 1
    assert json.loads(text)["optimizer"] == study.optimizer.state()
    for n in range(3):
        study.add([0.3 * n], 0.1 * n)
    followed = []
    apply = live.Live.apply
    monkeypatch.setattr(live.Live, "apply", lambda *a, **k: (followed.append(a[1].seq), apply(*a, **k)))
    other = Study.open(database, "s")
    assert other.optimizer.state() == study.optimizer.state()
    assert followed == [66, 67, 68]
    opt, pending = replayed(study.events())
    assert other.ask().x == opt.ask(pending=pending).tolist()


def test_a_journal_with_a_hole_is_refused(database):
    study = Study.open(database, "s")
    for n in range(4):
        study.add([n / 4], 0.1 * n)
    for seq, said in ((2, "record 2 is missing"), (4, "record 2 is missing")):
        with database.link.writing() as connection:
            connection.exec_driver_sql(f"DELETE FROM windvane_events WHERE seq = {seq}")
        with pytest.raises(wv.errors.CorruptState, match=said):
            Study.open(database, "s").ask()
    with database.link.writing() as connection:
        connection.exec_driver_sql("DELETE FROM windvane_events")
    with pytest.raises(wv.errors.CorruptState, match="records 1 to 4 are missing"):
        Study.open(database, "s").ask()
    with pytest.raises(wv.errors.CorruptState, match="records 1 to 4 are missing"):
        Study.open(database, "s").rebuild()
