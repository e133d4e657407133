"""Runs in a file: they count again for the same code, and for other code if one of them comes out the same."""

import gzip
import json

import numpy as np
import pytest

from windvane.errors import StorageFailure
from windvane.experiments import evidence
from windvane.experiments.measures import run
from windvane.experiments.results import Group
from windvane.experiments.store import Store
from windvane.experiments.trial import RunSpec, call

TASK = call("within-model", rate=0.03, horizon=8, dim=1)


def trials(name="gp-ucb", count=4):
    return [RunSpec(TASK, call(name), seed, told=()) for seed in range(count)]


@pytest.fixture
def full():
    return {trial: run(trial) for name in ("gp-ucb", "random") for trial in trials(name)}


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        yield store


def as_if_of_other_code(kept, some=lambda line: True):
    return {name: {**line, "code": "older"} if some(line) else line for name, line in kept.items()}


def never(_):
    raise AssertionError("nothing is to be computed")


def test_it_is_read_as_it_was_written_and_the_same_runs_give_the_same_bytes(tmp_path, full):
    kept = evidence.gathered({}, full)
    evidence.write(tmp_path / "a" / "runs.jsonl.gz", kept)
    assert evidence.read(tmp_path / "a" / "runs.jsonl.gz") == kept
    evidence.write(tmp_path / "b.gz", dict(reversed(kept.items())))
    assert (tmp_path / "b.gz").read_bytes() == (tmp_path / "a" / "runs.jsonl.gz").read_bytes()
    assert evidence.read(tmp_path / "none.gz") == {}


def test_runs_of_the_same_code_count_without_being_made_anew(store, full):
    found = evidence.adopt(full, evidence.gathered({}, full), store, never)
    assert found == evidence.Adopted(8, 0, ())
    again = store.find(full)
    for trial, result in full.items():
        assert again[trial]["regret"].mean() == result["regret"].mean()  # to the last bit
        np.testing.assert_array_equal(again[trial]["resets"], result["resets"])
    seeds = tuple(trial.seed for trial in trials())
    kept, made = (Group(seeds, tuple(source[trial] for trial in trials())) for source in (again, full))
    np.testing.assert_array_equal(kept.average, made.average)
    assert evidence.gathered({}, again) == evidence.gathered({}, full)  # and they can be handed on


def test_runs_of_other_code_count_if_one_of_each_cell_is_the_same(store, full):
    kept = as_if_of_other_code(evidence.gathered({}, full))
    asked = []

    def compute(some):
        asked.extend(some)
        return {trial: full[trial] for trial in some}

    assert evidence.adopt(full, kept, store, compute) == evidence.Adopted(8, 2, ())
    assert [trial.algorithm.name for trial in asked] == ["gp-ucb", "random"]


def test_a_cell_that_comes_out_otherwise_does_not_count_and_the_others_do(store, full):
    kept = as_if_of_other_code(evidence.gathered({}, full))

    def compute(some):
        moved = {"regret": np.nextafter(full[trials()[0]]["regret"], np.inf)}
        return {t: {**full[t], **(moved if t.algorithm.name == "gp-ucb" else {})} for t in some}

    found = evidence.adopt(full, kept, store, compute)
    assert (found.runs, found.checked, len(found.changed)) == (4, 2, 1)
    assert "gp-ucb" in found.changed[0]
    assert {trial.algorithm.name for trial in store.find(full)} == {"random"}


def test_what_comes_out_otherwise_in_one_cell_counts_in_none_of_the_same_algorithm(store, full):
    """A change may show in few runs: where the one that was made anew is equal, others may not be."""
    elsewhere = call("within-model", rate=0.1, horizon=8, dim=1)
    more = {
        RunSpec(elsewhere, call(name), 0, told=()): full[trials(name)[0]] for name in ("gp-ucb", "random")
    }
    kept = as_if_of_other_code(evidence.gathered({}, {**full, **more}))

    def compute(some):
        moved = {"resets": np.array([5])}
        other = RunSpec(elsewhere, call("gp-ucb"), 0, told=())
        return {t: {**{**full, **more}[t], **(moved if t == other else {})} for t in some}

    found = evidence.adopt([*full, *more], kept, store, compute)
    assert (found.runs, found.checked, len(found.changed)) == (5, 4, 1)
    assert {trial.algorithm.name for trial in store.find([*full, *more])} == {"random"}


def test_runs_of_one_cell_by_two_versions_are_judged_apart(store, full):
    own = {trial: full[trial] for trial in trials()}
    kept = evidence.gathered({}, own)
    kept = as_if_of_other_code(kept, lambda line: line["run"]["seed"] >= 2)

    def compute(some):
        return {trial: {**own[trial], "resets": np.array([5])} for trial in some}

    found = evidence.adopt(own, kept, store, compute)
    assert found.runs == 2
    assert sorted(trial.seed for trial in store.find(own)) == [0, 1]


def test_what_the_store_has_is_left_alone_and_strangers_are_kept(store, full):
    for trial, result in full.items():
        store.put(trial, result)
    stranger = evidence.gathered({}, {RunSpec(TASK, call("auto"), 77, told=()): full[trials()[0]]})
    kept = {**as_if_of_other_code(evidence.gathered({}, full)), **stranger}
    assert evidence.adopt(full, kept, store, never) == evidence.Adopted(0, 0, ())
    assert set(stranger) < set(evidence.gathered(kept, store.find(full)))


@pytest.mark.parametrize(
    "content",
    [b"", b"not gzip", gzip.compress(b"{]\n", mtime=0), gzip.compress(b'{"a": 1}\n', mtime=0)],
    ids=["empty", "not gzip", "not JSON", "not a run"],
)
def test_a_damaged_file_is_named_and_left_as_it_is(tmp_path, content):
    file = tmp_path / "runs.jsonl.gz"
    file.write_bytes(content)
    if content == b"":  # an empty file is no gzip file; nothing is in it
        assert evidence.read(file) == {}
        return
    with pytest.raises(StorageFailure, match=r"runs\.jsonl\.gz: cannot be read as evidence"):
        evidence.read(file)
    assert file.read_bytes() == content


def test_a_line_is_small(full):
    kept = evidence.gathered({}, full)
    assert max(len(json.dumps(line)) for line in kept.values()) < 500


@pytest.mark.parametrize(("code", "made"), [("older", [0]), ("", [0, 3])])
def test_where_the_code_was_not_recorded_the_first_and_the_last_run_are_made_anew(code, made):
    earlier = {trial: evidence.EarlierRun(code, "same") for trial in trials()}
    asked = []

    def compute(some):
        asked.extend(trial.seed for trial in some)
        return {trial: {} for trial in some}

    found = evidence.prove(earlier, lambda _: "now", lambda *_: "same", compute)
    assert asked == made
    assert found.trials == tuple(trials())

    def last_differs(trial, _):
        return "same" if trial.seed < 3 else "other"

    found = evidence.prove(earlier, lambda _: "now", last_differs, compute)
    assert bool(found.changed) == (len(made) == 2)
