"""Turns with a study: first come, first served, among threads and processes, with the database free meanwhile."""

import os
import subprocess
import sys
import threading
import time

import pytest

import windvane as wv
from windvane.storage import Database, turns
from windvane.study import Study
from windvane.study.live import Live

BOX = wv.Box([(0.0, 1.0)])
GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.01, "seed": 3}
LINUX = pytest.mark.skipif(turns.fcntl is None, reason="no locks of open file descriptions here")


@pytest.fixture
def database(database_url):
    with Database(database_url, create=True) as made:
        for name in ("slow", "quick"):
            Study.create(made, name, BOX, "et-gp-ucb", **GIVEN)
        yield made


class Held:
    """The steps of one study stop in the middle of being computed until they are let go."""

    def __init__(self, monkeypatch):
        self.inside, self.go, self.computed = threading.Event(), threading.Event(), []
        ask = Live.ask

        def slowly(live, *args):
            if threading.current_thread().name != "quick":
                self.computed.append(threading.current_thread().name)
                self.inside.set()
                assert self.go.wait(60)
            return ask(live, *args)

        monkeypatch.setattr(Live, "ask", slowly)


def start(act, name):
    errors = []

    def run():
        try:
            act()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name=name)
    thread.start()

    def done(timeout=60):
        thread.join(timeout)
        assert not thread.is_alive()
        assert errors == []

    return done


def test_the_database_is_free_while_a_step_is_computed(database, monkeypatch):
    """Also for who has rivals: another study, and another program, write meanwhile."""
    held = Held(monkeypatch)
    one, two = Study.open(database, "slow"), Study.open(database, "slow")
    held.go.set()
    for study in (one, two, one, two):  # they know of each other
        study.ask()
    held.go.clear()
    held.inside.clear()
    done = start(two.ask, "first")
    assert held.inside.wait(60)
    with Database(database.link._place.render_as_string(False)) as other:
        quick = start(lambda: Study.open(other, "quick").add([0.5], 1.0), "quick")
        quick()  # while the slow one is being computed
        assert other.find("quick").tells == 1
    held.go.set()
    done()
    assert one.summary().trials == 5


@LINUX
def test_nobody_computes_what_another_is_computing(database, monkeypatch):
    held = Held(monkeypatch)
    studies = [Study.open(database, "slow") for _ in range(3)]
    ends = [start(studies[0].ask, "0")]
    assert held.inside.wait(60)
    for number in (1, 2):
        ends.append(start(studies[number].ask, str(number)))
        until(lambda n=number: standing(database, studies[0].id) > n)
    assert held.computed == ["0"]
    held.go.set()
    for end in ends:
        end()
    assert held.computed == ["0", "1", "2"]  # in the order in which they came, nothing twice
    assert studies[0].summary().trials == 3


def until(true):
    deadline = time.monotonic() + 30
    while not true() and time.monotonic() < deadline:
        time.sleep(0.002)
    assert true()


def standing(database, study):
    """How many stand in the queue of a study, with the one whose turn it is."""
    if database.kind == "sqlite":
        return places(database.link._path, study)
    with database.link.reading() as connection:
        asked = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND objsubid = 2"
        return connection.exec_driver_sql(asked, (study,)).scalar()


@LINUX
def test_places_are_given_in_order_and_go_with_who_leaves(tmp_path):
    path = tmp_path / "s.db"
    path.touch()
    order, gates, entered = [], [threading.Event() for _ in range(4)], [threading.Event() for _ in range(4)]

    def act(number):
        order.append(number)
        entered[number].set()
        assert gates[number].wait(60)

    ends = []
    for number in range(4):
        ends.append(start(lambda n=number: turns.in_turn(path, 7, lambda: act(n)), str(number)))
        assert number > 0 or entered[0].wait(60)
        until(lambda n=number: places(path, 7) > n)
    assert turns.in_turn(path, 8, lambda: "another study") == "another study"
    assert order == [0]
    for number in range(4):
        gates[number].set()
        ends[number]()
    assert order == [0, 1, 2, 3]
    assert places(path, 7) == 0


def places(path, study):
    """How many stand in a queue."""
    handle = os.open(turns.queue_file(path), os.O_RDWR)
    try:
        first = place = (study + 1) * turns.PLACES
        while (found := turns._held(handle, place, first + turns.PLACES - place)) is not None:
            place = found[0] + found[1]
        return place - first
    finally:
        os.close(handle)


HOLD = """
import sys
from pathlib import Path
from windvane.storage import turns
turns.in_turn(Path(sys.argv[1]), 7, lambda: (print("in", flush=True), sys.stdin.readline()))
"""


@LINUX
def test_a_process_that_dies_loses_its_turn(tmp_path):
    path = tmp_path / "s.db"
    path.touch()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout.readline() == "in\n"
        assert places(path, 7) == 1
        done = start(lambda: turns.in_turn(path, 7, lambda: None), "next")
        holder.kill()
        done()


@LINUX
def test_who_does_not_move_is_not_waited_for_for_ever(tmp_path, monkeypatch):
    path = tmp_path / "s.db"
    path.touch()
    monkeypatch.setattr(turns, "PATIENCE", 0.02)
    inner = turns.in_turn(path, 7, lambda: turns.in_turn(path, 7, lambda: "out of turn"))
    assert inner == "out of turn"


@LINUX
def test_a_fork_does_not_keep_the_turn(tmp_path):
    path = tmp_path / "s.db"
    path.touch()
    read, write = os.pipe()

    def act():
        child = os.fork()
        if child == 0:
            os.close(write)
            os.read(read, 1)  # lives on
            os._exit(0)
        return child

    child = turns.in_turn(path, 7, act)
    try:
        assert places(path, 7) == 0
    finally:
        os.close(write)
        os.close(read)
        os.waitpid(child, 0)


FORK_AND_HOLD = """
import os, sys, time
from pathlib import Path
from windvane.storage import turns

def act():
    if os.fork() == 0:
        print("forked", flush=True)
        sys.stdin.readline()
        os._exit(0)
    time.sleep(600)

turns.in_turn(Path(sys.argv[1]), 7, act)
"""


@LINUX
def test_a_fork_does_not_keep_the_turn_of_a_process_that_died(tmp_path):
    path = tmp_path / "s.db"
    path.touch()
    holder = subprocess.Popen(
        [sys.executable, "-c", FORK_AND_HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout.readline() == "forked\n"
        assert places(path, 7) == 1
        holder.kill()
        holder.wait()
        assert places(path, 7) == 0  # though the other lives on


@pytest.mark.parametrize("why", ["a folder in its place", "no locks"])
def test_without_a_queue_steps_are_made_all_the_same(tmp_path, monkeypatch, why):
    """They overtake each other then, and what was computed in vain is computed again."""
    twin, path = wv.make("et-gp-ucb", BOX, **GIVEN), tmp_path / "s.db"
    if why == "no locks":
        monkeypatch.setattr(turns, "_lock", refuse)
    else:
        turns.queue_file(path).mkdir()
    with Study.create(path, "s", BOX, "et-gp-ucb", **GIVEN) as one, Study.open(path, "s") as two:
        commit, waiting, attempts = type(one._link).commit, [0.1, 0.2, 0.3], []

        def overtaken(link, connection, act, wrote):
            attempts.append(link)
            if link is one._link and waiting:
                two.add([0.25], waiting.pop())
            return commit(link, connection, act, wrote)

        monkeypatch.setattr(type(one._link), "commit", overtaken)
        one.add([0.5], 1.0)
        assert attempts == [one._link, two._link] * 3 + [one._link]
        for x, y in ((0.25, 0.3), (0.25, 0.2), (0.25, 0.1), (0.5, 1.0)):
            twin.tell([x], y)
        assert two.optimizer.state() == one.optimizer.state() == twin.state()


def test_who_is_always_overtaken_is_told_so(tmp_path, monkeypatch):
    monkeypatch.setattr(turns, "_lock", refuse)
    with Study.create(tmp_path / "s.db", "s", BOX, "random", seed=0) as one:
        with Study.open(tmp_path / "s.db", "s") as two:
            commit = type(one._link).commit

            def overtaken(link, connection, act, wrote):
                if link is one._link:
                    two.add([0.25], 0.5)
                return commit(link, connection, act, wrote)

            monkeypatch.setattr(type(one._link), "commit", overtaken)
            with pytest.raises(
                wv.StorageFailure, match="were faster 50 times; nothing of this step was kept"
            ):
                one.add([0.5], 1.0)
        assert {record.y for record in one.events()} == {0.5}


def refuse(*_):
    raise OSError(38, "Function not implemented")
