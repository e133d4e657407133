"""Faults at every call inside a step, and at every statement of a write: nothing is lost, nothing is there twice."""

import sys

import numpy as np
import pytest

import windvane as wv
from windvane.storage import Database
from windvane.study import Study

BOX = wv.Box([(0.0, 1.0)])
GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.01, "seed": 3}
MOST = 60  # interrupts: all of them where there are fewer


class Interrupt(BaseException):
    """As Ctrl-C: it may come wherever Python looks for signals."""


def calls(act, fail_at=None):
    """How many calls and lines of storage and studies there are inside `act`; at `fail_at` it is interrupted."""
    count, over = 0, False

    def watch(frame, event, _argument):
        nonlocal count
        if over or event not in ("call", "line", "c_return"):
            return watch
        while frame is not None:
            if frame.f_code.co_name in ("__del__", "_finalize_fairy"):
                return watch
            frame = frame.f_back
        count += 1
        if count == fail_at:
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
    return count


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
    most = calls(lambda: study.add([0.5], 0.0))
    values.append(0.0)
    raised = 0
    for spot in np.unique(np.linspace(1, most, MOST).astype(int)):
        y = float(spot)
        try:
            calls(lambda y=y: study.add([0.5], y), fail_at=int(spot))
        except Interrupt as error:
            raised += 1
            kept.append(error)
        told = study.events(newest=True, limit=1)[0].y
        if told == y:
            values.append(y)
        assert study.summary().tells == len(values)
        if spot % 5 == 0:
            study.add([0.5], -y)
            values.append(-y)
    assert raised > 30
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
