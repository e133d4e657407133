"""What a study promises, on SQLite and on PostgreSQL. Points and events are compared with a plain optimiser."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import windvane as wv
from windvane.errors import Conflict, InvalidArgument, InvalidType, StorageFailure, UnknownName
from windvane.storage import Database
from windvane.study import Study, live

BOX = wv.Box([(0.0, 1.0)])
GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.01, "seed": 3}
HUGE = 10**30
NEEDS = {
    **{name: {"rate": 0.05} for name in ("tv-gp-ucb", "ui-tvbo", "tv-gp-ucb-constant")},
    **{name: {"period": 5} for name in ("r-gp-ucb", "always-n-low", "r-gp-ucb-average", "br-gp-ucb")},
    "sw-gp-ucb": {"window": 4},
    "w-gp-ucb": {"forgetting": 0.9},
}


@pytest.fixture
def study(database_url, clock):
    with Study.create(database_url, "line 3", BOX, "et-gp-ucb", clock=clock, **GIVEN) as made:
        yield made


@pytest.fixture
def twin():
    return wv.make("et-gp-ucb", BOX, **GIVEN)


def untouched(study, call, error, match):
    """The call is refused, and nothing has changed, on disk or in what comes next."""
    before, summary = study.events(), study.summary()
    with pytest.raises(error, match=match):
        call()
    assert (study.events(), study.summary()) == (before, summary)


def test_ask_and_tell_are_those_of_the_optimiser(study, twin):
    for step in range(12):
        trial, x = study.ask(), twin.ask()
        assert trial.x == x.tolist()
        event = study.tell(trial, math.sin(7 * x[0]) + step // 6)
        assert event.as_dict() == twin.tell(x, math.sin(7 * x[0]) + step // 6).as_dict()
    assert study.best().x.tolist() == twin.best().x.tolist()
    mean, std = study.predict([[0.1], [0.9]])
    for found, wanted in zip((mean, std), twin.predict([[0.1], [0.9]]), strict=True):
        np.testing.assert_array_equal(found, wanted)
    summary = study.summary()
    assert (summary.head, summary.trials, summary.tells, summary.pending) == (24, 12, 12, 0)
    assert summary.size == twin.size


def test_several_trials_are_out_and_answered_in_any_order(study, twin):
    trials = [study.ask() for _ in range(5)]
    points = []
    for trial in trials:
        assert trial.x == twin.ask(pending=points).tolist()
        points.append(trial.x)
    assert len({trial.x[0] for trial in trials}) == 5
    assert [trial.number for trial in study.pending()] == [1, 2, 3, 4, 5]
    for number in (4, 1, 5, 2):
        told = study.tell(number, float(number))
        assert told.as_dict() == twin.tell(trials[number - 1].x, float(number)).as_dict()
    assert [trial.number for trial in study.pending()] == [3]
    assert study.ask().x == twin.ask(pending=[trials[2].x]).tolist()
    assert [study.trial(number).status for number in range(1, 7)] == [
        "told",
        "told",
        "pending",
        "told",
        "told",
        "pending",
    ]


def test_an_answer_that_never_comes_expires(study, twin, clock):
    first = study.ask(expires_after=10.0)
    second = study.ask(expires_after=None)
    assert (first.expires_at, second.expires_at) == (clock.now + 10.0, None)
    clock.now += 9.999
    assert len(study.pending()) == 2
    clock.now += 0.001
    assert [trial.number for trial in study.pending()] == [2]
    assert study.trial(1).status == "expired"
    assert study.summary().head == 2  # nothing is written by looking
    third = study.ask()
    assert third.x == twin.ask(pending=[second.x]).tolist()
    assert [(r.kind, r.trial) for r in study.events(after=2)] == [("expired", 1), ("asked", 3)]
    clock.now += 1e9
    assert [trial.number for trial in study.pending()] == [2]  # the default is a day


def test_a_late_answer_is_welcome(study, twin, clock):
    trials = [study.ask(expires_after=1.0) for _ in range(2)]
    clock.now += 5.0
    study.ask()
    assert study.tell(1, 0.5).as_dict() == twin.tell(trials[0].x, 0.5).as_dict()
    assert study.fail(2, "too late").kind == "failed"
    assert [study.trial(n).status for n in (1, 2)] == ["told", "failed"]
    untouched(study, lambda: study.tell(1, 0.5), Conflict, "told already")


def test_a_trial_whose_time_is_up_may_be_told_before_anybody_notices(study, clock):
    study.ask(expires_after=1.0)
    study.ask(expires_after=1.0)
    clock.now += 5.0
    study.tell(2, 1.0)
    assert [(r.kind, r.trial) for r in study.events(after=2)] == [("expired", 1), ("told", 2)]


def test_a_failure_is_recorded_and_not_told(study, twin):
    trial = study.ask()
    record = study.fail(trial, "valve stuck", metadata={"shift": 2})
    assert (record.kind, record.reason, record.y, record.metadata) == (
        "failed",
        "valve stuck",
        None,
        {"shift": 2},
    )
    assert study.optimizer.step == 1
    twin.fail(trial.x)
    assert study.ask().x == twin.ask().tolist() != trial.x
    assert (study.summary().failed, study.summary().tells) == (1, 0)
    untouched(study, lambda: study.tell(trial, 1.0), Conflict, "failed already")
    untouched(study, lambda: study.fail(trial), Conflict, "failed already")


def test_a_value_told_twice_changes_nothing(study, twin):
    trial = study.ask()
    study.tell(trial, 0.25)
    twin.tell(trial.x, 0.25)
    for y in (0.25, 0.5):
        untouched(
            study, lambda y=y: study.tell(trial, y), Conflict, r"trial=1: told already, y = 0.25 \(record 2\)"
        )
    untouched(study, lambda: study.fail(trial), Conflict, "told already")
    assert study.ask().x == twin.ask().tolist()


def test_a_key_makes_repetition_harmless(study):
    trial = study.ask(key="a")
    assert study.ask(key="a") == trial
    event = study.tell(trial, 0.5, key="b")
    assert study.tell(trial, 0.5, key="b") == event
    added = study.submit_add([0.25], 0.75, key="c")
    assert study.submit_add([0.25], 0.75, key="c") == added
    failed = study.fail(study.ask(), "x", key="d")
    assert study.fail(failed.trial, "x", key="d") == failed
    assert study.summary().head == 5
    untouched(
        study, lambda: study.tell(trial, 0.75, key="b"), Conflict, "key='b': used before for something else"
    )
    untouched(study, lambda: study.add([0.25], 0.5, key="c"), Conflict, "used before")
    untouched(study, lambda: study.add([0.75], 0.75, key="c"), Conflict, "used before")
    untouched(study, lambda: study.ask(key="d"), Conflict, "used before")
    with Study.open(study.database, study.name) as other:  # known to whoever opens the study
        assert other.ask(key="a") == replace(trial, status="told")
        assert other.tell(trial, 0.5, key="b") == event


def test_keys_belong_to_a_study(study, clock):
    with Study.create(study.database, "other", BOX, "et-gp-ucb", clock=clock, **GIVEN) as other:
        assert study.ask(key="same").number == other.ask(key="same").number == 1


@pytest.mark.parametrize("key", ["", "x" * 201, "tab\t", "é", 7, b"x"])
def test_a_bad_key(study, key):
    untouched(study, lambda: study.ask(key=key), InvalidArgument, "key: must be")


def test_what_nobody_asked_for(study, twin):
    trial = study.ask()
    assert study.add([0.5], 2.0, 7.0).as_dict() == twin.tell([0.5], 2.0, 7.0).as_dict()
    record = study.events(after=1)[0]
    assert (record.trial, record.x, record.y, record.time) == (None, [0.5], 2.0, 7.0)
    assert study.pending() == [trial]
    untouched(study, lambda: study.add([1.5], 2.0), InvalidArgument, ".")
    untouched(study, lambda: study.add("west", 2.0), InvalidType, ".")
    assert study.ask().x == twin.ask(pending=[trial.x]).tolist()


def test_many_at_once_are_all_or_none(study, twin):
    rows = [([0.1 * n], float(n), None, {"n": n}) for n in range(8)]
    assert study.add_many(rows) == 8
    for x, y, _, _ in rows:
        twin.tell(x, y)
    assert study.add_many([]) == 0
    untouched(study, lambda: study.add_many([*rows, ([2.0], 0.0, None, None)]), InvalidArgument, ".")
    assert [record.metadata for record in study.events()] == [{"n": n} for n in range(8)]
    assert study.ask().x == twin.ask().tolist()


def test_the_callers_clock_may_go_back(study, twin):
    given = [100.0, 103.5, 101.0, None, 50.0, 200.0]
    models = [100.0, 103.5, 103.5, 104.5, 104.5, 200.0]
    for n, (time, model) in enumerate(zip(given, models, strict=True)):
        event = study.add([n / 10], 0.1 * n, time)
        assert event.time == model
        assert event.as_dict() == twin.tell([n / 10], 0.1 * n, model).as_dict()
    assert [record.time for record in study.events()] == given
    with Study.open(study.database, study.name) as again:
        assert again.ask(3.0).x == twin.ask(time=200.0).tolist()  # the model's time does not go back
    assert study.best(1.0).mean == twin.best(200.0).mean


def test_metadata_comes_back(study):
    notes = {"operator": "Ada", "nested": {"list": [1, 2.5, None, True]}, "text": "\0 é \U0001f980"}
    trial = study.ask(metadata=notes)
    study.tell(trial, 1.0, metadata={"room": 21.5})
    study.add([0.5], 1.0, metadata={})
    with Study.open(study.database, study.name) as again:
        assert [record.metadata for record in again.events()] == [notes, {"room": 21.5}, {}]
        assert again.trial(1).metadata == notes
    for bad in ({1: 2}, [1], "text"):
        untouched(study, lambda bad=bad: study.ask(metadata=bad), InvalidType, "metadata: must be a dict")
    for bad in ({"x": math.nan}, {"x": object()}, {"x": "y" * 20_000}):
        untouched(study, lambda bad=bad: study.ask(metadata=bad), InvalidArgument, "metadata: ")


def test_what_the_caller_changes_later_is_not_changed_here(study):
    notes, x = {"list": [1]}, np.array([0.5])
    study.add(x, 1.0, metadata=notes)
    notes["list"].append(2)
    x[0] = 0.75
    assert study.events()[0].metadata == {"list": [1]}
    assert study.events()[0].x == [0.5]
    assert study.optimizer.data.X[0, 0] == 0.5


@pytest.mark.parametrize("y", [math.nan, math.inf, -math.inf, 1e308, "1", None, True, []])
def test_not_a_number(study, y):
    trial = study.ask()
    with pytest.raises((InvalidArgument, InvalidType), match="y=") as caught:
        study.tell(trial, y)
    if y != 1e308:
        assert "fail(trial, reason)" in " ".join(caught.value.__notes__)
    untouched(study, lambda: study.add([0.5], y), (InvalidArgument, InvalidType), "y=")
    assert study.tell(trial, 0.5).step == 1


@pytest.mark.parametrize(
    "y", [-0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, 1e100, -1e100, 0.1, 1 / 3]
)
def test_numbers_survive_bit_for_bit(study, twin, y):
    for _ in range(3):
        study.add([0.5], y, y)
        twin.tell([0.5], y + 0.0, max(y + 0.0, twin.last_time or y))
    with Study.open(study.database, study.name) as again:
        records = again.events()
        assert [(r.y.hex(), r.time.hex()) for r in records] == [((y + 0.0).hex(), (y + 0.0).hex())] * 3
        assert again.ask().x == twin.ask().tolist()
    assert study.optimizer.state() == twin.state()


def test_points_survive_bit_for_bit(database_url):
    space = wv.Space(gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 4), mode=wv.Choice(["a", 2, True]))
    points = [
        {"gain": np.float64(1 / 3), "taps": np.int64(2), "mode": True},
        {"gain": np.float32(0.3), "taps": 3, "mode": 2},
        {"gain": 10, "taps": 4, "mode": np.str_("a")},
    ]
    opt = wv.make("et-gp-ucb", space, **GIVEN)
    with Study.create(database_url, "s", space, "et-gp-ucb", **GIVEN) as study:
        for n, x in enumerate(points):
            study.add(x, float(n))
            opt.tell(x, float(n))
        with Study.open(study.database, "s") as again:
            assert again.optimizer.state() == opt.state()
            assert again.ask().x == opt.ask()
            assert [type(r.x["mode"]) for r in again.events(kinds=["told"])] == [bool, int, str]


def test_names(database_url):
    for name in ("a", "Straße 7", "x" * 100, "0.1_b-c", "控制"):
        Study.create(database_url, name, BOX, "random", seed=0).close()
        with Study.open(database_url, name) as study:
            assert study.name == name
    for name in (
        "",
        " a",
        "a ",
        "_a",
        "a/b",
        "a'b",
        'a"b',
        "a\n",
        "a\0",
        "\ud800",
        "x" * 101,
        "x" * 10_000,
        None,
        3,
    ):
        with pytest.raises(InvalidArgument, match="name="):
            Study.create(database_url, name, BOX)
        with pytest.raises(InvalidArgument, match="name="):
            Study.open(database_url, name)
    with Database(database_url) as database:
        assert len(database.studies()) == 5
        for name in ("b", "a\0", "\ud800", "x" * 10_000, "a' OR '1'='1"):
            for verb in (database.find, database.delete):
                with pytest.raises(UnknownName, match="there is no study of that name"):
                    verb(name)


def test_a_study_is_made_once(study):
    untouched(
        study,
        lambda: Study.create(study.database, "line 3", BOX),
        Conflict,
        "there is a study of that name already",
    )
    with pytest.raises(UnknownName, match="'line 4'"):
        Study.open(study.database, "line 4")


def test_bad_arguments_leave_no_database(tmp_path):
    for call in (
        lambda url: Study.create(url, "s", BOX, "no-such"),
        lambda url: Study.create(url, "s", BOX, expires_after=-1.0),
        lambda url: Study.create(url, "s", BOX, metadata={"x": math.inf}),
        lambda url: Study.create(url, "s", "box"),
    ):
        with pytest.raises(wv.WindvaneError):
            call(tmp_path / "s.db")
    with pytest.raises(StorageFailure, match="no such database"):
        Study.open(tmp_path / "s.db", "s")
    assert list(tmp_path.iterdir()) == []


def test_bad_numbers(study):
    study.ask()
    for trial in (0, -1, HUGE, 2**31):
        untouched(study, lambda trial=trial: study.tell(trial, 1.0), InvalidArgument, "trial=")
        untouched(study, lambda trial=trial: study.trial(trial), InvalidArgument, "trial=")
    for trial in ("1", 1.0, None, True):
        untouched(study, lambda trial=trial: study.fail(trial), InvalidType, "trial=")
    untouched(
        study,
        lambda: study.tell(2, 1.0),
        UnknownName,
        "trial=2: study 'line 3' has none .*its trials are 1 to 1",
    )
    untouched(study, lambda: study.trial(2), UnknownName, "trial=2")
    for number in (-1, HUGE):
        untouched(study, lambda number=number: study.events(after=number), InvalidArgument, "after=")
        untouched(study, lambda number=number: study.events(limit=number), InvalidArgument, "limit=")
    for time in ("noon", True):
        for call in (study.ask, study.best):
            untouched(study, lambda call=call, time=time: call(time), InvalidType, "time=")
        untouched(study, lambda time=time: study.predict([[0.5]], time), InvalidType, "time=")
    untouched(study, lambda: study.ask(math.nan), InvalidArgument, "time=")
    untouched(study, lambda: study.ask(expires_after=0.0), InvalidArgument, "expires_after=")
    untouched(study, lambda: study.fail(1, "x\0"), InvalidArgument, "reason: ")
    untouched(study, lambda: study.fail(1, 7), InvalidType, "reason=")
    assert study.fail(1, "half \ud800 a pair").reason == "half ? a pair"


def test_the_journal_can_be_read_in_parts(study):
    for n in range(6):
        study.tell(study.ask(), float(n))
    assert [r.seq for r in study.events()] == list(range(1, 13))
    assert [r.seq for r in study.events(after=9)] == [10, 11, 12]
    assert [r.seq for r in study.events(after=2, limit=2)] == [3, 4]
    assert [r.seq for r in study.events(limit=2, newest=True)] == [11, 12]
    assert [r.y for r in study.events(kinds=["told"], limit=3, newest=True)] == [3.0, 4.0, 5.0]
    assert study.events(after=99) == []
    assert study.events(kinds=["failed"]) == []
    resets = [r.seq for r in study.events() if r.reset]
    assert resets
    assert [r.seq for r in study.events(resets=True)] == resets
    assert study.summary().resets == len(resets)
    assert study.summary().last_reset == study.events(resets=True)[-1].step
    with pytest.raises(UnknownName, match="kinds='new'"):
        study.events(kinds=["new"])
    for record in study.events():
        json.dumps(record.as_dict(), allow_nan=False)


def test_deleted_while_open(study, clock):
    trial = study.ask()
    study.database.delete("line 3")
    with Study.create(
        study.database, "line 3", wv.Arms(3), clock=clock, seed=0
    ) as other:  # the name is free again
        other.ask()
        for call in (
            study.ask, lambda: study.tell(trial, 1.0), lambda: study.add([0.5], 1.0), lambda: study.fail(trial),
            study.pending, study.best, study.summary, study.events, lambda: study.trial(1), lambda: study.optimizer,
        ):  # fmt: skip
            with pytest.raises(UnknownName, match=r"deleted|has none of that number"):
                call()
        assert other.summary().head == 1


def test_another_process_deletes_and_nothing_stays_behind(study):
    study.tell(study.ask(), 1.0)
    study.database.webhooks.add("http://localhost/", "line 3")
    study.database.delete("line 3")
    assert study.database.studies() == []
    assert study.database.webhooks.list() == []
    with study.database.link.reading() as connection:
        for table in ("studies", "events", "checkpoints", "deliveries"):
            assert connection.exec_driver_sql(f"SELECT count(*) FROM windvane_{table}").scalar() == 0


@pytest.mark.parametrize("algorithm", wv.algorithms())
def test_every_algorithm_comes_back_from_its_checkpoint(tmp_path, monkeypatch, algorithm):
    monkeypatch.setattr(live, "SPARSE", 3)
    opt = wv.make(algorithm, BOX, **(options := {**GIVEN, **NEEDS.get(algorithm, {})}))
    with Database(tmp_path / "s.db", create=True) as database:
        Study.create(database, "s", BOX, algorithm, **options)
        for n in range(8):
            study = Study.open(database, "s")
            trial, x = study.ask(), opt.ask()
            assert trial.x == np.asarray(x).tolist()
            y = math.sin(9 * x[0]) + 3.0 * (n > 4)
            assert study.tell(trial, y).as_dict() == {**opt.tell(x, y).as_dict(), "x": trial.x}


def test_failed_trials_are_kept_away_from(database_url):
    box = wv.Box([(0, 1), (0, 1)])
    with wv.Study.create(
        database_url, "walls", box, "gp-ucb", kernel=wv.RBF(0.3), noise_variance=0.01, seed=3
    ) as study:
        asked, failed = [], 0
        for _ in range(24):
            trial = study.ask()
            asked.append(tuple(trial.x))
            if trial.x[0] > 0.6:
                study.fail(trial, "alarm")
                failed += 1
            else:
                study.tell(trial, trial.x[0])
        assert len(set(asked)) == 24
        assert 0 < failed < 12
        state = study.optimizer.state()
        assert sum(state["failures"]["failed"]) == failed
        study.forget()
        assert study.optimizer.state() == state
        study.rebuild()
        assert study.optimizer.state() == state


def test_moves_are_options_of_a_study(tmp_path):
    space = wv.Space(gain=wv.Real(0, 10), flow=wv.Real(0, 1, step=0.25))
    with wv.Study.create(
        tmp_path / "moves.db", "a", space, max_step={"gain": 0.5}, move_cost=0.1, seed=0
    ) as study:
        study.add({"gain": 9.0, "flow": 0.25}, 1.0)
        for _ in range(4):
            study.add({"gain": 1.0, "flow": 0.5}, 0.0)
        trial = study.ask()
        assert abs(trial.x["gain"] - 1.0) <= 0.5
        assert trial.x["flow"] in (0.0, 0.25, 0.5, 0.75, 1.0)
        steps = study.best().steps
        assert steps is not None
        assert study.explain().belief.steps == steps
        state = study.optimizer.state()
        study.rebuild()
        assert study.optimizer.state() == state
