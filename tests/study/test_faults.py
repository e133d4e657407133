"""Faults at every call inside a step, and at every statement of a write: nothing is lost, nothing is there twice."""

import linecache
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import windvane as wv
from windvane.storage import Database
from windvane.study import Study

BOX = wv.Box([(0.0, 1.0)])
GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.01, "seed": 3}
HOLDING = ("link.py", "turns.py", "session.py")  # where locks are taken: interrupted at every line
OTHERS = 20  # interrupts elsewhere
LONG = 40  # seconds after which a test has failed: less than a turn is waited for


class Interrupt(BaseException):
    """As Ctrl-C: it may come wherever Python looks for signals."""


def calls(act, fail_at=None):
    """The files of each call and line of storage and studies inside `act`; at `fail_at` it is interrupted."""
    seen, over = [], False

    def watch(frame, event, _argument):
        if over or event not in ("call", "line", "c_return"):
            return watch
        file = frame.f_code.co_filename
        if event == "line" and linecache.getline(file, frame.f_lineno).strip() == "try:":
            return (
                watch  # does nothing, so that no signal is looked for there, and is not covered by a `with`
            )
        outer = frame
        while outer is not None:
            if outer.f_code.co_name in ("__del__", "_finalize_fairy"):
                return watch
            outer = outer.f_back
        seen.append(Path(file).name)
        if len(seen) == fail_at:
            sys.settrace(None)
            raise Interrupt
        return watch

    def trace(frame, event, argument):
        ours = "windvane" in frame.f_code.co_filename and "tests" not in frame.f_code.co_filename
        if not ours or not any(part in frame.f_code.co_filename for part in ("/storage/", "/study/")):
            return None  # what an interrupt inside a library leaves of its locks is not ours to mend
        return watch(frame, event, argument)

    sys.settrace(trace)
    try:
        act()
        over = True
    finally:
        sys.settrace(None)
    return seen


def elsewhere(act):
    """The same in another thread, which a lock that is left behind keeps out; its own thread it does not."""
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    thread.join(LONG)
    assert not thread.is_alive(), "something is locked still"


@pytest.fixture
def database(database_url):
    with Database(database_url, create=True) as made:
        Study.create(made, "s", BOX, "et-gp-ucb", **GIVEN)
        yield made


def twin_of(values):
    opt = wv.make("et-gp-ucb", BOX, **GIVEN)
    for y in values:
        opt.tell([0.5], y)
    return opt


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_anywhere_leaves_a_study_that_goes_on(database, monkeypatch):
    """What the interrupt left on the stack is kept, as an interactive Python keeps it: nothing stays locked."""
    monkeypatch.setattr("windvane.storage.link.WAIT", 2.0)
    study, values, kept = Study.open(database, "s"), [], []
    study.add([0.5], 0.0), values.append(0.0)
    study.add([0.5], 0.0), values.append(0.0)
    files = calls(lambda: study.add([0.5], 0.0))
    values.append(0.0)
    raised = 0
    others = np.unique(np.linspace(1, len(files), OTHERS).astype(int))
    spots = {*others.tolist(), *(n for n, name in enumerate(files, start=1) if name in HOLDING)}
    for spot in sorted(spots):
        y = float(spot)
        try:
            calls(lambda y=y: study.add([0.5], y), fail_at=spot)
        except Interrupt as error:
            raised += 1
            kept.append(error)
        told = study.events(newest=True, limit=1)[0].y
        if told == y:
            values.append(y)
        assert study.summary().tells == len(values)
        elsewhere(lambda y=y: study.add([0.5], -y))
        values.append(-y)
    assert raised > len(spots) / 2
    study.add([0.5], 0.5)
    values.append(0.5)
    assert [record.y for record in study.events()] == values
    assert study.optimizer.state() == Study.open(database, "s").optimizer.state() == twin_of(values).state()
    assert study.ask().x == twin_of(values).ask().tolist()


def statements(monkeypatch, database, fail_at=None):
    """Count what the driver is told; at `fail_at` it fails, before or after the database heard of it."""
    from windvane.storage import prepared

    heard = []
    error = database.link._engine.dialect.dbapi.OperationalError
    execute, commit = prepared._execute, database.link._engine.dialect.do_commit

    def fail(when):
        heard.append(when)
        if fail_at is not None and len(heard) - 1 == fail_at:
            raise error(f"failed at statement {fail_at}")

    def executed(connection, how, text, values):
        from sqlalchemy.exc import DBAPIError

        try:
            fail("before")
            found = execute(connection, how, text, values)
            fail("after")
        except error as raised:
            raise DBAPIError(text, None, raised) from raised
        return found

    def committed(connection):
        fail("before commit")
        commit(connection)
        fail("after commit")

    def cursor(_connection, _cursor, _text, _values, _context, _many):
        fail("before")

    monkeypatch.setattr(prepared, "_execute", executed)
    monkeypatch.setattr(database.link._engine.dialect, "do_commit", committed)
    return cursor


@pytest.mark.parametrize("verb", ["ask", "tell", "add", "fail", "retract"])
def test_a_fault_at_every_statement_of_a_write(database, verb):
    from sqlalchemy import event

    study, twin, engine = (
        Study.open(database, "s"),
        Study.create(database, "twin", BOX, "et-gp-ucb", **GIVEN),
        None,
    )
    for each in (study, twin):
        each.ask(), each.ask()
        each.tell(1, 0.3), each.add([0.5], 0.7)
    acts = {
        "ask": lambda each: each.ask(),
        "tell": lambda each: each.tell(2, 0.25),
        "add": lambda each: each.add([0.25], 0.5),
        "fail": lambda each: each.fail(2, "broke"),
        "retract": lambda each: each.retract(1),
    }
    engine, act, before = database.link._engine, acts[verb], len(study.events())
    outcome = "failed"
    for spot in range(200):
        with pytest.MonkeyPatch.context() as patch:
            cursor = statements(patch, database, fail_at=spot)
            event.listen(engine, "before_cursor_execute", cursor)
            try:
                act(study)
                outcome = "done"
            except (wv.StorageFailure, engine.dialect.dbapi.OperationalError):
                outcome = "failed"
            finally:
                event.remove(engine, "before_cursor_execute", cursor)
        assert len(study.events()) == before + (outcome == "done")  # what is said is what is so
        if outcome == "done":
            break
    assert outcome == "done"
    assert spot >= 4
    act(twin)
    assert study.optimizer.state() == twin.optimizer.state()
    plain = [[(r.seq, r.kind, r.trial, r.x, r.y) for r in each.events()] for each in (study, twin)]
    assert plain[0] == plain[1]
    assert study.ask().x == twin.ask().x
