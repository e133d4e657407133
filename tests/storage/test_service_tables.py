"""Tokens, webhooks and deliveries, on both databases."""

import threading

import pytest

import windvane as wv
from windvane.errors import InvalidArgument, UnknownName
from windvane.storage import Database, journal
from windvane.study import Study

BOX = wv.Box([(0.0, 1.0)])
PERIODIC = {"algorithm": "r-gp-ucb", "period": 2, "kernel": wv.RBF(0.2), "noise_variance": 0.01, "seed": 0}


@pytest.fixture
def database(database_url):
    with Database(database_url, create=True) as made:
        yield made


@pytest.fixture
def study(database, clock):
    return Study.create(database, "s", BOX, clock=clock, **PERIODIC)


def reset(study):
    """Tell until there is one."""
    while not (record := study.submit_add([0.5], 0.5)).reset:
        pass
    return record


def test_a_token_is_known_by_its_secret_which_is_nowhere(database):
    secret = database.tokens.add("robot", ["read"])
    token = database.tokens.check(secret)
    assert (token.label, token.scopes) == ("robot", ("read",))
    for wrong in ("", secret[:-1], secret + "x", secret.upper(), "\ud800", "\0", "' OR 1=1 --"):
        assert database.tokens.check(wrong) is None
    with database.link.reading() as connection:
        rows = str(connection.exec_driver_sql("SELECT * FROM windvane_tokens").all())
    assert secret not in rows
    assert secret.removeprefix("wv_") not in rows
    other = database.tokens.add("robot")
    assert database.tokens.check(other).scopes == ("read", "write")
    database.tokens.revoke(token.id)
    assert database.tokens.check(secret) is None
    assert [each.label for each in database.tokens.list()] == ["robot"]
    with pytest.raises(UnknownName, match="there is none of that number"):
        database.tokens.revoke(token.id)


def test_bad_tokens_and_webhooks(database):
    for label in ("", " ", "x" * 101, "\n", None):
        with pytest.raises(InvalidArgument, match="label="):
            database.tokens.add(label)
    with pytest.raises(InvalidArgument, match="scopes"):
        database.tokens.add("x", [])
    with pytest.raises(UnknownName, match="scope='admin'"):
        database.tokens.add("x", ["admin"])
    for url in (
        *(
            "ftp://x/",
            "http://",
            "nonsense",
            None,
            3,
            b"http://x/",
            "http://[::1",
            "http://x:99999/",
            "http://x:0/",
        ),
        *("http://x:-1/", "http://x:port/", "http://x/a b", "http://x/\n", "http://x/é", "//x/"),
    ):
        with pytest.raises(InvalidArgument, match="url="):
            database.webhooks.add(url)
    with pytest.raises(InvalidArgument, match="at most 2000"):
        database.webhooks.add(f"http://x/{'x' * 2000}")
    with pytest.raises(InvalidArgument, match="secret"):
        database.webhooks.add("http://localhost/", None, "short")
    with pytest.raises(UnknownName, match="'none'"):
        database.webhooks.add("http://localhost/", "none")
    with pytest.raises(UnknownName, match="webhook 7"):
        database.webhooks.remove(7)
    assert database.tokens.list() == database.webhooks.list() == []


def test_a_reset_leaves_a_delivery_for_each_webhook(database, study, clock):
    mine = database.webhooks.add("http://localhost/mine", "s")
    every = database.webhooks.add("http://localhost/every")
    Study.create(database, "other", BOX, clock=clock, **PERIODIC)
    database.webhooks.add("http://localhost/other", "other")
    assert database.deliveries.due(clock.now + 1e6) == []
    record = reset(study)
    due = database.deliveries.due(clock.now)
    assert sorted((d.webhook_id, d.url, d.secret) for d in due) == sorted(
        (w.id, w.url, w.secret) for w in (mine, every)
    )
    assert [(d.study, d.record, d.status) for d in due] == [("s", record, "due")] * 2


def test_a_delivery_is_written_with_the_tell_or_not_at_all(database, study, monkeypatch):
    database.webhooks.add("http://localhost/")
    announce = journal._announce

    def torn(*args):
        announce(*args)
        raise RuntimeError("pulled the plug")

    monkeypatch.setattr(journal, "_announce", torn)
    with pytest.raises(RuntimeError, match="pulled the plug"):
        reset(study)
    monkeypatch.undo()
    assert database.deliveries.recent() == []
    assert study.summary().resets == 0
    reset(study)
    assert len(database.deliveries.recent()) == study.summary().resets == 1


def test_deliveries_are_leased_retried_and_given_up(database, study, clock):
    hook = database.webhooks.add("http://localhost/")
    reset(study)
    (one,) = database.deliveries.due(clock.now, lease=60.0)
    assert database.deliveries.due(clock.now + 59.0) == []
    (again,) = database.deliveries.due(clock.now + 60.0, lease=60.0)
    assert (again.id, again.attempts) == (one.id, 2)
    database.deliveries.retry(one.id, clock.now + 500.0, "no answer")
    assert database.deliveries.due(clock.now + 499.0) == []
    (again,) = database.deliveries.due(clock.now + 500.0)
    assert (again.error, again.attempts) == ("no answer", 3)
    database.deliveries.done(one.id)
    reset(study)
    (two,) = database.deliveries.due(clock.now + 1000.0)
    database.deliveries.give_up(two.id, "gone")
    assert database.deliveries.due(clock.now + 1e6) == []
    assert [(d.id, d.status) for d in database.deliveries.recent()] == [
        (two.id, "given-up"),
        (one.id, "sent"),
    ]
    database.webhooks.remove(hook.id)
    assert database.deliveries.recent() == []


def test_two_senders_never_get_the_same_delivery(database, study, clock):
    for n in range(3):
        database.webhooks.add(f"http://localhost/{n}")
    for _ in range(4):
        reset(study)
    taken, gate = [], threading.Barrier(3)

    def send():
        gate.wait()
        while mine := database.deliveries.due(clock.now, limit=2):
            taken.extend(delivery.id for delivery in mine)

    threads = [threading.Thread(target=send) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(set(taken)) == 12


def test_a_webhook_that_goes_meanwhile_does_not_fail_the_tell(postgres_url, clock, monkeypatch):
    """On SQLite there is one writer at a time; on PostgreSQL it goes in the very moment of the reset."""
    with Database(postgres_url, create=True) as database:
        study = Study.create(database, "s", BOX, clock=clock, **PERIODIC)
        hook = database.webhooks.add("http://localhost/")
        insert, threads = journal.insert, []

        def slowly(table):
            if table is journal.deliveries:
                threads.append(threading.Thread(target=database.webhooks.remove, args=(hook.id,)))
                threads[0].start()
                threads[0].join(0.4)
            return insert(table)

        monkeypatch.setattr(journal, "insert", slowly)
        reset(study)
        threads[0].join()
        assert study.summary().resets == 1
        assert database.webhooks.list() == []
        assert database.deliveries.recent() == []


def test_a_delivery_that_failed_holds_up_none_that_came_later(database, study, clock):
    """An alarm that arrives is worth more than one that arrives in order; its record has a number."""
    database.webhooks.add("http://localhost/mine", "s")
    first = reset(study)
    (failed,) = database.deliveries.due(clock.now)
    database.deliveries.retry(failed.id, clock.now + 3600.0, "500")
    second = reset(study)
    (next_one,) = database.deliveries.due(clock.now)
    assert next_one.record == second
    assert second.seq > first.seq
    assert failed.id in [each.id for each in database.deliveries.due(clock.now + 3600.0)]
