"""A hand on the wheel: resets, values taken back or corrected, another space. Each is a record of its own, and the
optimiser is equal, bit for bit, to one that was told the right values at these times.
"""

import json
import math
import threading
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

import windvane as wv
from windvane.protocol import Record
from windvane.storage import Database, journal
from windvane.study import Study
from windvane.study.amendments import resets_now
from windvane.study.numbering import Numbering

BOX = wv.Box([(0.0, 1.0), (0.0, 1.0)])
MIXED = wv.Space(gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 4), mode=wv.Choice(["a", "b"]))
GIVEN = {"kernel": wv.RBF(0.3), "noise_variance": 0.02}
ALGORITHMS = {
    "et-gp-ucb": ("et-gp-ucb", GIVEN),
    "auto": ("auto", {}),
    "confirmed": ("et-gp-ucb-confirmed", GIVEN),
    "sliding": ("sw-gp-ucb", {"window": 12, **GIVEN}),
}
LATE = 1_700_000_000.0


def exact(optimizer):
    return json.dumps(optimizer.state(), sort_keys=True)


def measure(x, n):
    x = [*list(x.values())[:1], 0.5] if isinstance(x, dict) else x
    return float(np.sin(4.0 * x[0]) + 0.3 * x[1] + 0.05 * np.cos(37.0 * n))


def told(study, count, *, timed=False, wrong=None, bad=40.0):
    """Tell values; `wrong` numbers get `bad`. Returns the trials."""
    trials = []
    for n in range(1, count + 1):
        trial = study.ask()
        y = bad if n == wrong else measure(trial.x, n)
        study.tell(trial, y, 10.0 * n if timed else None)
        trials.append(trial)
    return trials


def oracle(study, algorithm, options, values, resets=()):
    """An optimiser of the library that is told the journal's points, by hand: {seq: y} replaces, None drops."""
    optimizer = wv.make(algorithm, study.space, seed=study.definition["seed"], **options)
    for record in study.events():
        if record.kind == "reset":
            optimizer.reset(record.reason)
        if record.kind != "told":
            continue
        y = values.get(record.seq, record.y)
        if y is not None:
            optimizer.tell(record.x, y, record.event["time"])
    return optimizer


def seq_of(study, trial):
    return next(r.seq for r in study.events() if r.kind == "told" and r.trial == trial.number)


@pytest.fixture(params=ALGORITHMS)
def algorithm(request):
    return ALGORITHMS[request.param]


def made(url, algorithm, space=BOX, **more):
    name, options = algorithm
    return Study.create(url, "line", space, name, seed=3, **options, **more)


def rebuilt(study):
    before = exact(study.optimizer)
    study.rebuild()
    assert exact(study.optimizer) == before
    with Study.open(study.database, study.name) as other:
        assert exact(other.optimizer) == before
        return other.ask()


# -- reset ---------------------------------------------------------------------------------------------------------


def test_a_reset_is_a_record_and_survives(database_url, algorithm):
    with made(database_url, algorithm) as study:
        told(study, 8)
        event = study.reset("new pump", metadata={"by": "ada"}, key="pump")
        assert (event.cause, event.reason, event.reset, event.size) == ("asked", "new pump", True, 0)
        assert study.reset("new pump", key="pump") == event
        told(study, 5)
        record = next(r for r in study.events() if r.kind == "reset")
        assert (record.reason, record.step, record.reset, record.metadata) == (
            "new pump",
            8,
            True,
            {"by": "ada"},
        )
        assert record in study.events(resets=True)
        summary = study.summary()
        assert summary.tells == 13
        assert summary.size == study.optimizer.size
        assert summary.resets == len(study.events(resets=True))
        assert exact(study.optimizer) == exact(oracle(study, *algorithm, {}))
        assert "A reset was asked for after step 8, 5 observations since" in str(study.explain())
        rebuilt(study)


def test_a_reset_before_anything_is_told(tmp_path):
    with made(tmp_path / "s.db", ALGORITHMS["auto"]) as study:
        event = study.reset()
        assert (event.step, event.reason) == (0, "asked for")
        assert math.isnan(event.time)
        assert study.summary().last_reset == 0
        assert "Nothing has been told yet" in str(study.explain())
        told(study, 3)
        assert study.optimizer.size == 3


# -- retract and correct -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("timed", [False, True], ids=["steps", "times"])
def test_a_value_that_is_taken_back_was_never_told(database_url, algorithm, timed):
    with made(database_url, algorithm) as study:
        trials = told(study, 12, timed=timed, wrong=6)
        other = Study.open(database_url, "line")  # has it in memory as it was
        assert other.optimizer.step == 13
        record = study.retract(trials[5], "sensor was cold", key="back")
        assert (record.kind, record.trial, record.y, record.reason) == (
            "retracted", 6, 40.0, "sensor was cold",
        )  # fmt: skip
        assert record == study.events()[-1]
        assert study.retract(trials[5], "sensor was cold", key="back") == record
        wanted = oracle(study, *algorithm, {seq_of(study, trials[5]): None})
        assert exact(study.optimizer) == exact(wanted)
        assert study.optimizer.step == 12
        assert study.summary().size == study.optimizer.size
        assert study.trial(6).status == "retracted"
        told(other, 4)  # somebody else goes on from there
        study.tell(study.ask(), 0.4)
        assert exact(study.optimizer) == exact(oracle(study, *algorithm, {seq_of(study, trials[5]): None}))
        assert "the value of trial 6, 40, was taken back (sensor was cold)" in str(study.explain())
        other.close()
        rebuilt(study)


def test_a_value_that_is_corrected_was_told_right(database_url, algorithm):
    with made(database_url, algorithm) as study:
        trials = told(study, 12, wrong=6)
        right = measure(trials[5].x, 6)
        record = study.correct(6, right)
        assert (record.kind, record.y, record.event["was"]) == ("corrected", right, 40.0)
        assert study.trial(6).status == "told"
        seq = seq_of(study, trials[5])
        assert exact(study.optimizer) == exact(oracle(study, *algorithm, {seq: right}))
        study.correct(trials[5], 0.25)  # again
        assert exact(study.optimizer) == exact(oracle(study, *algorithm, {seq: 0.25}))
        study.retract(trials[5])
        study.correct(trials[2], 0.75)
        wanted = {seq: None, seq_of(study, trials[2]): 0.75}
        assert exact(study.optimizer) == exact(oracle(study, *algorithm, wanted))
        told(study, 3)
        assert exact(study.optimizer) == exact(oracle(study, *algorithm, wanted))
        rebuilt(study)


def test_beyond_the_last_checkpoint_it_is_the_same(tmp_path):
    with made(tmp_path / "s.db", ALGORITHMS["sliding"]) as study:
        trials = told(study, 80, wrong=5)
        seen = []
        study.retract(trials[70], on_progress=lambda done, total: seen.append((done, total)))
        assert seen[-1][0] == seen[-1][1] < 40  # from the checkpoint at the 64th tell
        study.retract(trials[4], on_progress=lambda done, total: seen.append((done, total)))
        assert seen[-1][0] > 70  # from the beginning
        wanted = {seq_of(study, trials[70]): None, seq_of(study, trials[4]): None}
        assert exact(study.optimizer) == exact(oracle(study, *ALGORITHMS["sliding"], wanted))
        rebuilt(study)


def test_older_checkpoints_make_it_short_and_those_of_another_history_go(tmp_path):
    with made(tmp_path / "s.db", ALGORITHMS["sliding"]) as study:
        for n in range(700):
            study.add([(0.37 * n) % 1.0, (0.73 * n) % 1.0], measure([0.3, 0.4], n))
        records, wanted, totals = study.events(), {}, []
        for back in (2, 3, 60, 70, 130, 5, 300, 2):
            record = records[-back - 1]
            right = None if back not in (2, 300) else 0.1 * back
            last = []
            if right is None:
                study.retract(record, on_progress=lambda done, total, last=last: last.append(total))
            else:
                study.correct(record, right, on_progress=lambda done, total, last=last: last.append(total))
            wanted[record.seq] = right
            totals.append((back, last[-1]))
            assert exact(study.optimizer) == exact(oracle(study, *ALGORITHMS["sliding"], wanted))
        assert all(total <= 4 * back + 4 * 64 + 8 for back, total in totals), totals
        with study.database.link.reading() as connection:
            count = connection.exec_driver_sql("SELECT count(*) FROM windvane_checkpoints").scalar()
        assert count <= 12
        rebuilt(study)


def test_a_reset_that_a_wrong_value_made_is_undone_and_explained(tmp_path):
    with made(tmp_path / "s.db", ALGORITHMS["et-gp-ucb"]) as study:
        trials = told(study, 9, wrong=8)
        assert next(r.step for r in study.events(resets=True)) == 8
        record = study.retract(trials[7], "cable loose")
        assert record.event["undone"]
        assert exact(study.optimizer) == exact(
            oracle(study, *ALGORITHMS["et-gp-ucb"], {seq_of(study, trials[7]): None})
        )
        explained = study.explain()
        assert explained.reset is None
        assert "and 2 resets with it" in str(explained) or "and 1 reset with it" in str(explained)
        told(study, 2)
        study.correct(trials[3], 30.0)  # now another one was
        assert study.explain().reset.step in (4, 5)  # there, and perhaps on the way back
        study.correct(trials[3], 0.5)
        assert study.explain().reset is None


def test_a_time_that_was_wrong_goes_with_its_value(tmp_path):
    with made(tmp_path / "s.db", ALGORITHMS["et-gp-ucb"]) as study:
        for n in (1, 2):
            study.tell(study.ask(), 0.1 * n, 10.0 * n)
        typo = study.ask()
        study.tell(typo, 0.3, 1e9)
        late = study.tell(study.ask(), 0.4, 30.0)
        assert late.time == 1e9
        study.retract(typo)
        assert study.optimizer.last_time == 30.0
        study.tell(study.ask(), 0.5, 40.0)
        wanted = wv.make("et-gp-ucb", BOX, seed=3, **GIVEN)
        for record in study.events(kinds=["told"]):
            if record.trial != typo.number:
                wanted.tell(record.x, record.y, record.time)
        assert exact(study.optimizer) == exact(wanted)
        rebuilt(study)


def test_a_value_that_nobody_asked_for_is_named_by_its_record(tmp_path):
    with made(tmp_path / "s.db", ALGORITHMS["et-gp-ucb"]) as study:
        told(study, 3)
        record = study.submit_add([0.5, 0.5], 9.0)
        study.retract(record)
        study.correct(study.submit_add([0.4, 0.5], 9.0), 0.4)
        assert exact(study.optimizer) == exact(
            oracle(study, *ALGORITHMS["et-gp-ucb"], {record.seq: None, record.seq + 2: 0.4})
        )


def test_what_cannot_be_changed_is_refused_and_nothing_changes(tmp_path, algorithm):
    with made(tmp_path / "s.db", algorithm) as study:
        told(study, 4)
        out, failed = study.ask(), study.ask()
        study.fail(failed)
        study.retract(2)
        before, head = exact(study.optimizer), study.summary().head
        refused = {
            "trial=99": lambda: study.retract(99),
            "trial=0": lambda: study.retract(0),
            "trial='x'": lambda: study.retract("x"),
            "not been told yet": lambda: study.retract(out),
            "recorded as failed": lambda: study.correct(failed, 1.0),
            "taken back already": lambda: study.retract(2),
            "taken back already; nothing": lambda: study.correct(2, 1.0),
            "its value was taken back": lambda: study.tell(2, 1.0),
            "kind 'retracted'": lambda: study.retract(study.events(kinds=["retracted"])[0].__class__(head, "told", 0.0)),
            "y=nan": lambda: study.correct(1, math.nan),
            "y=inf": lambda: study.correct(1, math.inf),
            "y=1e+200": lambda: study.correct(1, 1e200),
            "y='0.5'": lambda: study.correct(1, "0.5"),
            "reason=5": lambda: study.retract(1, 5),
            "reason=None": lambda: study.reset(None),
            "reason: must": lambda: study.reset("x" * 20_000),
            "key": lambda: study.retract(1, key=""),
            "metadata": lambda: study.correct(1, 0.5, metadata=[1]),
        }  # fmt: skip
        for said, call in refused.items():
            with pytest.raises(wv.WindvaneError, match=said.replace("+", r"\+")):
                call()
        assert exact(study.optimizer) == before
        assert study.summary().head == head
        assert study.reset("pump \ud800").reason == "pump ?"


def test_a_key_stands_for_one_request(tmp_path):
    with made(tmp_path / "s.db", ALGORITHMS["et-gp-ucb"]) as study:
        told(study, 4)
        study.retract(1, "cold", key="k1")
        study.correct(2, 0.5, key="k2")
        study.reset("pump", key="k3")
        study.change_space(wv.Box([(0.0, 2.0), (0.0, 1.0)]), key="k4")
        head = study.summary().head
        for call in (
            lambda: study.retract(2, "cold", key="k1"),
            lambda: study.retract(1, "warm", key="k1"),
            lambda: study.correct(2, 0.6, key="k2"),
            lambda: study.correct(1, 0.5, key="k2"),
            lambda: study.reset("fan", key="k3"),
            lambda: study.change_space(wv.Box([(0.0, 3.0), (0.0, 1.0)]), key="k4"),
            lambda: study.ask(key="k1"),
        ):
            with pytest.raises(wv.Conflict, match="used before"):
                call()
        assert study.correct(2, 0.5, key="k2").kind == "corrected"
        assert study.change_space(wv.Box([(0.0, 2.0), (0.0, 1.0)]), key="k4").kind == "redefined"
        assert study.summary().head == head


def test_while_others_write(database_url):
    with made(database_url, ALGORITHMS["et-gp-ucb"]) as study:
        trials = told(study, 20)
        problems = []

        def write(n):
            try:
                with Study.open(database_url, "line") as own:
                    for i in range(6):
                        if n:
                            own.tell(own.ask(), 0.1 * i)
                        else:
                            own.retract(trials[2 * i])
                            own.correct(trials[2 * i + 1], 0.01 * i)
            except BaseException as error:
                problems.append(error)

        threads = [threading.Thread(target=write, args=(n,)) for n in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not problems
        wanted = {seq_of(study, trials[2 * i]): None for i in range(6)}
        wanted |= {seq_of(study, trials[2 * i + 1]): 0.01 * i for i in range(6)}
        assert exact(study.optimizer) == exact(oracle(study, *ALGORITHMS["et-gp-ucb"], wanted))
        rebuilt(study)


def test_while_another_corrects_between_two_reads(database_url, monkeypatch):
    """Whoever catches up reads the head, the records and the checkpoint one after another: the journal may grow."""
    with made(database_url, ALGORITHMS["et-gp-ucb"]) as study, Study.open(database_url, "line") as other:
        trials = told(study, 8)
        other.retract(trials[2])  # so that this process needs the checkpoint
        read, corrected = journal.read, []

        def read_and_be_overtaken(*args, **options):
            records = read(*args, **options)
            if not corrected:
                corrected.append(True)
                other.correct(trials[4], 0.25)
            return records

        monkeypatch.setattr(journal, "read", read_and_be_overtaken)
        assert study.best().mean == other.best().mean
        monkeypatch.undo()
        assert corrected
        wanted = {seq_of(study, trials[2]): None, seq_of(study, trials[4]): 0.25}
        assert exact(study.optimizer) == exact(oracle(study, *ALGORITHMS["et-gp-ucb"], wanted))


# -- the space -----------------------------------------------------------------------------------------------------


def inside_only(study, algorithm, space):
    name, options = algorithm
    optimizer = wv.make(name, space, seed=3, **options)
    for record in study.events(kinds=["told"]):
        try:
            space.encode(record.x)
        except wv.WindvaneError:
            continue
        optimizer.tell(record.x, record.y, record.event["time"])
    return optimizer


def test_another_space_leaves_out_what_lies_outside_and_says_so(database_url, algorithm):
    with made(database_url, algorithm) as study:
        told(study, 10)
        out = study.ask()
        smaller = wv.Box([(0.0, 0.45), (0.0, 1.0)])
        outside = sum(r.x[0] > 0.45 for r in study.events(kinds=["told"]))
        assert 0 < outside < 10
        other = Study.open(database_url, "line")
        assert other.space == BOX
        record = study.change_space(smaller, "valve replaced")
        assert record.event["left_out"] == outside
        assert study.space == other.space == smaller
        assert exact(study.optimizer) == exact(inside_only(study, algorithm, smaller))
        assert all(study.ask().x[0] <= 0.45 for _ in range(3))
        assert (out.x[0] > 0.45) == (study.trial(out.number).status == "expired")
        assert "outside it left out (valve replaced)" in str(study.explain())
        wider = wv.Box([(0.0, 2.0), (-1.0, 1.0)])
        assert other.change_space(wider).event["left_out"] == 0
        assert exact(study.optimizer) == exact(inside_only(study, algorithm, wider))
        told(study, 3)
        assert (
            wv.make(study.summary().definition["algorithm"], wider, seed=3, **algorithm[1]).space
            == study.space
        )
        other.close()
        rebuilt(study)
    with Study.create(database_url, "line", wider, algorithm[0], exist_ok=True, **algorithm[1]) as again:
        assert again.space == wider


def test_an_option_more_and_ranges_of_all_kinds(tmp_path):
    wider = wv.Space(gain=wv.Real(0.01, 5, log=True), taps=wv.Integer(1, 9), mode=wv.Choice(["a", "b", "c"]))
    with made(tmp_path / "s.db", ALGORITHMS["auto"], MIXED) as study:
        for n in range(8):
            study.tell(study.ask(), 0.1 * n)
        study.change_space(wider)
        assert exact(study.optimizer) == exact(inside_only(study, ALGORITHMS["auto"], wider))
        study.add({"gain": 0.02, "taps": 9, "mode": "c"}, 0.5)
        rebuilt(study)


def test_a_late_answer_outside_the_space_is_refused(tmp_path):
    with made(tmp_path / "s.db", ALGORITHMS["et-gp-ucb"]) as study:
        told(study, 3)
        out = study.ask(count=5)
        study.change_space(wv.Box([(0.0, 1e-3), (0.0, 1e-3)]))
        assert not study.pending()
        with pytest.raises(wv.InvalidArgument):
            study.tell(out[0], 0.5)
        study.fail(out[0], "the valve does not go there any longer")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (BOX, MIXED, "create another study"),
        (BOX, wv.Arms(3), "create another study"),
        (BOX, wv.Box([(0.0, 1.0)]), "2 coordinates"),
        (BOX, wv.Box([(0.0, 1.0), (0.0, 1.0)]), "already"),
        (BOX, "box", "space='box'"),
        (BOX, None, "space=None"),
        (MIXED, wv.Space(gain=wv.Real(1, 2)), "'mode' is missing, 'taps' is missing"),
        (MIXED, wv.Space(**dict(MIXED.parameters), fan=wv.Real(0, 1)), "'fan' is new"),
        (MIXED, wv.Space(**{**dict(MIXED.parameters), "taps": wv.Real(1, 4)}), "'taps' is Integer and cannot become Real"),
        (MIXED, wv.Space(**{**dict(MIXED.parameters), "mode": wv.Integer(0, 1)}), "'mode' is Choice"),
    ],
)  # fmt: skip
def test_spaces_that_do_not_fit(tmp_path, old, new, said):
    with made(tmp_path / "s.db", ALGORITHMS["auto"], old) as study:
        study.tell(study.ask(), 0.5)
        before = exact(study.optimizer), study.summary()
        with pytest.raises(wv.WindvaneError, match=said):
            study.change_space(new)
        assert (exact(study.optimizer), study.summary()) == before


def test_a_list_of_settings_may_become_longer(tmp_path):
    rows = [{"gain": 0.1 * n, "mode": "ab"[n % 2]} for n in range(1, 7)]
    with made(tmp_path / "s.db", ALGORITHMS["auto"], wv.Candidates(rows[:4])) as study:
        for n in range(5):
            study.tell(study.ask(), 0.1 * n)
        for wrong in (rows[1:5], rows[:3], rows[:3] + rows[4:]):
            with pytest.raises(wv.InvalidArgument, match="begin with the 4 settings"):
                study.change_space(wv.Candidates(wrong))
        study.change_space(wv.Candidates(rows))
        assert exact(study.optimizer) == exact(inside_only(study, ALGORITHMS["auto"], wv.Candidates(rows)))
        rebuilt(study)


def test_options_of_the_study_must_fit_the_new_space(tmp_path):
    matrix = np.eye(3)
    with Study.create(
        tmp_path / "s.db", "arms", wv.Arms(3), "et-gp-ucb", kernel=wv.Empirical(matrix), noise_variance=0.1
    ) as study:
        study.tell(study.ask(), 0.5)
        with pytest.raises(wv.WindvaneError, match="kernel"):
            study.change_space(wv.Arms(4))
        assert study.space == wv.Arms(3)


# -- several at once, datetimes, lists of studies ------------------------------------------------------------------


def test_several_trials_at_once(database_url, algorithm):
    with made(database_url, algorithm) as study:
        told(study, 6)
        twin = wv.restore(study.optimizer.state())
        trials = study.ask(count=4, key="four", metadata={"n": 1}, expires_after=60.0)
        assert [trial.number for trial in trials] == [7, 8, 9, 10]
        assert [trial.x for trial in trials] == [x.tolist() for x in twin.ask(count=4)]
        assert study.ask(count=4, key="four") == trials
        with pytest.raises(wv.Conflict):
            study.ask(key="four")
        assert study.pending() == trials
        assert len(study.ask(count=1)) == 1
        for count in (0, -1, 1.5, "4", True, 100_000):
            with pytest.raises(wv.WindvaneError, match="count"):
                study.ask(count=count)
        rebuilt(study)


def test_datetimes(tmp_path):
    with made(tmp_path / "s.db", ALGORITHMS["et-gp-ucb"]) as study:
        when = datetime.fromtimestamp(LATE, UTC)
        event = study.tell(study.ask(when), 0.5, when)
        assert event.time == study.events()[-1].time == LATE
        with pytest.raises(wv.InvalidArgument, match="time zone"):
            study.tell(study.ask(), 0.5, when.replace(tzinfo=None))
        assert study.best(when) == study.best(LATE)


def test_studies_are_listed_and_deleted(database_url):
    with made(database_url, ALGORITHMS["auto"]) as study:
        assert [summary.name for summary in wv.studies(database_url)] == ["line"]
        with Database(database_url) as database:
            assert wv.studies(database)[0].tells == 0
        study.delete()
        assert wv.studies(database_url) == []
        with pytest.raises(wv.UnknownName):
            study.delete()
        with pytest.raises(wv.UnknownName):
            study.ask()


# -- noise that is known ---------------------------------------------------------------------------------------------


def test_what_is_known_of_the_noise_stays_with_a_corrected_value(tmp_path):
    name, options = ALGORITHMS["et-gp-ucb"]
    with made(tmp_path / "s.db", ALGORITHMS["et-gp-ucb"]) as study:
        given = [
            ((0.3,), {"std": 0.2}),
            (([0.1, 0.4, 0.2],), {}),
            ((0.5,), {}),
            (([0.4, 0.6],), {"std": 0.3}),
        ]
        trials = [study.ask() for _ in given]
        for trial, (y, noise) in zip(trials, given, strict=True):
            study.tell(trial, *y, **noise)
        study.correct(trials[0], 0.35)
        study.correct(trials[1], [0.1, 0.3], "a typo")
        study.correct(trials[2], 0.55, std=0.1)
        study.correct(trials[3], 0.45)
        wanted = wv.make(name, BOX, seed=3, **options)
        right = [(0.35, 0.2), ([0.1, 0.3], None), (0.55, 0.1), (0.45, 0.3)]
        for n, (trial, (y, std)) in enumerate(zip(trials, right, strict=True), start=1):
            wanted.tell(trial.x, y, float(n), std=std)
        assert exact(study.optimizer) == exact(wanted)
        rebuilt(study)


# -- exported and imported ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("timed", [False, True], ids=["steps", "times"])
def test_what_is_exported_and_imported_counts_as_it_does_here(tmp_path, ending, timed):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    algorithm = ("tv-gp-ucb", {"rate": 0.05, **GIVEN})
    with made(tmp_path / "s.db", algorithm) as study:
        trials = told(study, 8, timed=timed, wrong=3)
        study.retract(trials[2], "cold")
        study.correct(trials[4], [0.1, 0.2])
        study.reset("new pump")
        last = [study.ask() for _ in range(2)]
        for trial in last:
            study.tell(trial, 0.5, 200.0 if timed else None)
        study.correct(last[0], 0.45)
        study.change_space(wv.Box([(0.0, 0.9), (0.0, 1.0)]))
        study.reset("and another")
        study.export(tmp_path / f"line.{ending}")
        with Study.create(
            tmp_path / "t.db", "copy", study.space, algorithm[0], seed=3, **algorithm[1]
        ) as copy:
            copy.import_log(tmp_path / f"line.{ending}")
            assert exact(copy.optimizer) == exact(study.optimizer)
            assert [r.reason for r in copy.events(kinds=["reset"])] == ["new pump", "and another"]
        log = wv.replay(tmp_path / f"line.{ending}", ["gp-ucb"], space=study.space)
        assert log is not None


def test_an_export_that_nobody_took_a_hand_in_is_as_ever(tmp_path):
    with made(tmp_path / "s.db", ALGORITHMS["et-gp-ucb"]) as study:
        told(study, 3)
        study.export(tmp_path / "line.csv")
        header = (tmp_path / "line.csv").read_text().splitlines()[0].split(",")
        assert "record" not in header


def test_a_reset_by_hand_is_announced_to_webhooks(database_url):
    with made(database_url, ALGORITHMS["et-gp-ucb"]) as study:
        study.database.webhooks.add("http://localhost/", "line")
        told(study, 2)
        study.reset("new pump")
        (delivery,) = study.database.deliveries.recent()
        assert (delivery.record.kind, delivery.record.reason) == ("reset", "new pump")


def test_a_late_answer_outside_a_narrowed_space_names_the_trial_and_the_change(database_url):
    with made(database_url, ALGORITHMS["et-gp-ucb"]) as study:
        out = max((study.ask() for _ in range(4)), key=lambda trial: trial.x[0])
        record = study.change_space(wv.Box([(0.0, out.x[0] / 2.0), (0.0, 1.0)]))
        said = rf"trial={out.number}: .*outside the space as it is now, .* record {record.seq}"
        with pytest.raises(wv.InvalidArgument, match=said):
            study.tell(out, 1.0)
        assert study.events(kinds=["told"]) == []
        study.tell(study.ask(), 1.0)


def test_a_time_that_was_told_is_not_renumbered():
    """Not even one that is the number of its step."""
    record = Record(7, "told", 0.0, trial=None, x=[0.5], y=1.0, step=3, event={"time": 3.0}, time=3.0)
    taken = Record(9, "retracted", 0.0, event={"record": 2})
    told = Numbering([taken]).now(record)
    assert (told.step, told.event["time"]) == (2, 3.0)
    guessed = Numbering([taken]).now(replace(record, time=None))
    assert (guessed.step, guessed.event["time"]) == (2, 2.0)


@pytest.mark.parametrize("told", [False, True], ids=["steps", "times that are the numbers of steps"])
def test_resets_that_a_value_taken_back_leads_to_are_where_they_count_now(tmp_path, told):
    """A clock that resets every five steps does so one record later; a second value moves it once more."""
    with Study.create(tmp_path / "s.db", "s", wv.Box([(0, 1)]), seed=0, trigger=wv.Periodic(5)) as study:
        trials = [study.ask() for _ in range(13)]
        for number, trial in enumerate(trials, 1):
            study.tell(trial, float(number % 3), float(number) if told else None)

        def now():
            amending = study.events(kinds=["retracted"])
            return [
                (each.step, each.event["time"]) for each in resets_now(study.events(resets=True), amending)
            ]

        assert now() == [(5, 5.0), (10, 10.0)]
        study.retract(trials[1])
        assert now() == ([(5, 6.0), (10, 11.0)] if told else [(5, 5.0), (10, 10.0)])
        explained = study.explain()
        assert (explained.reset.step, explained.reset.steps_ago) == (10, 2)
        study.retract(trials[12])  # after all of them: nothing moves
        assert now() == ([(5, 6.0), (10, 11.0)] if told else [(5, 5.0), (10, 10.0)])
        study.retract(trials[2])
        assert now() == ([(5, 7.0), (10, 12.0)] if told else [(5, 5.0), (10, 10.0)])


def test_resets_are_where_they_count_once_the_space_leaves_values_out(tmp_path):
    """Before the reset three values lie outside the narrower space; taking back one of them moves nothing."""
    with Study.create(tmp_path / "s.db", "s", wv.Box([(0, 1)]), seed=0, trigger=wv.Periodic(5)) as study:
        for number in range(1, 14):
            study.add([0.9 if number in (3, 12, 13) else 0.4], float(number % 3))
        study.reset("new pump")
        for number in range(3):
            study.add([0.3], float(number))

        def last():
            reset = study.explain().reset
            return reset.reason, reset.step, reset.steps_ago

        assert last() == ("new pump", 13, 3)
        study.change_space(wv.Box([(0, 0.75)]))
        assert last() == ("new pump", 10, 3)
        study.retract(study.events()[2])
        assert last() == ("new pump", 10, 3)
        study.retract(study.events()[0])
        assert last() == ("new pump", 9, 3)
        study.reset("new valve")
        study.change_space(wv.Box([(0, 1)]))  # two of the three are back
        study.add([0.3], 1.0)
        assert last() == ("new valve", 14, 1)


def test_where_nothing_counts_any_more_it_is_not_said_that_nothing_was_told(tmp_path):
    with Study.create(tmp_path / "s.db", "s", wv.Box([(0, 1)]), "random", seed=0) as study:
        study.add([0.9], 1.0)
        study.change_space(wv.Box([(0, 0.5)]), "a shorter valve")
        said = study.explain().text.splitlines()
        assert said[1].startswith("None of what was told counts, so nothing is believed")
        assert (
            said[2]
            == "By hand: the space was changed, and 1 observation outside it left out (a shorter valve)."
        )
        study.export(tmp_path / "s.csv")
        other = Study.create(tmp_path / "t.db", "t", study.space, "random")
        with (
            other,
            pytest.raises(wv.InvalidArgument, match="no observations, but 1 outside of the space"),
        ):
            other.import_log(tmp_path / "s.csv")


def test_kinds_are_a_list(tmp_path):
    study = Study.create(tmp_path / "s.db", "s", wv.Box([(0, 1)]), "random")
    with (
        study,
        pytest.raises(wv.InvalidType, match=r"^kinds='told': must be a list of kinds, as in \['told'\]"),
    ):
        study.events(kinds="told")
