"""The key of a trial: everything a result depends on, and nothing else."""

import pickle

import pytest

import windvane as wv
from windvane.experiments import trial as trials
from windvane.experiments.trial import Call, RunSpec, call, content_digest

BASE = RunSpec(call("within-model", rate=0.03), call("et-gp-ucb", delta=0.1), seed=4)


@pytest.mark.parametrize(
    "other",
    [
        RunSpec(call("within-model", rate=0.05), call("et-gp-ucb", delta=0.1), seed=4),
        RunSpec(call("rate-change", rate=0.03), call("et-gp-ucb", delta=0.1), seed=4),
        RunSpec(call("within-model", rate=0.03), call("et-gp-ucb", delta=0.2), seed=4),
        RunSpec(call("within-model", rate=0.03), call("gp-ucb", delta=0.1), seed=4),
        RunSpec(call("within-model", rate=0.03), call("et-gp-ucb", delta=0.1), seed=5),
        RunSpec(call("within-model", rate=0.03), call("et-gp-ucb", delta=0.1), seed=4, told=("kernel",)),
        RunSpec(call("within-model", rate=0.03), call("et-gp-ucb", delta=0.1), 4, measure=call("alarms")),
        RunSpec(call("within-model", rate=0.03), call("et-gp-ucb", delta=0.1, trigger=wv.Never()), seed=4),
    ],
)
def test_whatever_matters_changes_the_key(other):
    assert other.key != BASE.key


def test_the_order_of_options_and_a_trip_through_pickle_do_not_matter():
    one = RunSpec(call("within-model", rate=0.03, horizon=10), call("gp-ucb"), seed=0)
    two = RunSpec(call("within-model", horizon=10, rate=0.03), call("gp-ucb"), seed=0)
    assert one == two
    assert one.key == two.key == pickle.loads(pickle.dumps(one)).key


def test_lists_become_tuples_so_that_a_call_can_be_hashed():
    assert hash(call("x", window=[1, [2, 3]])) == hash(call("x", window=(1, (2, 3))))


def test_a_file_counts_by_its_content_not_by_its_place(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    for folder in (first, second):
        folder.mkdir()
        (folder / "data.csv").write_text("1,2\n")
    key = RunSpec(call("table", file=first / "data.csv"), call("gp-ucb"), 0).key
    assert key == RunSpec(call("table", file=second / "data.csv"), call("gp-ucb"), 0).key
    (second / "data.csv").write_text("1,3\n")
    assert key != RunSpec(call("table", file=second / "data.csv"), call("gp-ucb"), 0).key
    assert content_digest(first) != content_digest(second)


def test_a_missing_or_empty_source_is_an_error(tmp_path):
    with pytest.raises(wv.InvalidArgument, match=r"nowhere\.csv"):
        content_digest(tmp_path / "nowhere.csv")
    with pytest.raises(wv.InvalidArgument, match="empty"):
        content_digest(tmp_path)


def test_the_code_counts(monkeypatch):
    key = BASE.key
    monkeypatch.setattr(trials, "code_digest", lambda *_: "another version")
    assert RunSpec(BASE.task, BASE.algorithm, BASE.seed).key != key


def test_own_algorithms_count_by_the_content_of_their_module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mine_for_keys.py").write_text("def build(space): ...\n")
    key = RunSpec(BASE.task, Call("mine_for_keys:build"), 0).key
    trials.own_digest.cache_clear()
    (tmp_path / "mine_for_keys.py").write_text("def build(space, seed): ...\n")
    assert RunSpec(BASE.task, Call("mine_for_keys:build"), 0).key != key
    trials.own_digest.cache_clear()
