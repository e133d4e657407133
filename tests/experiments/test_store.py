"""Finished runs survive: reopening, sharing, damage, a full disk."""

import json

import numpy as np
import pytest

import windvane as wv
from windvane.errors import StorageFailure
from windvane.experiments import trial as trials
from windvane.experiments.store import Store, fingerprint
from windvane.experiments.trial import RunSpec, call

TRIALS = [RunSpec(call("within-model"), call("gp-ucb"), seed) for seed in range(1200)]


def result(seed):
    return {"regret": np.random.default_rng(seed).random(5), "resets": np.arange(seed % 3)}


def test_what_was_put_is_found_bit_for_bit_after_reopening(tmp_path):
    path = tmp_path / "deep" / "runs.sqlite"
    with Store(path) as store:
        for trial in TRIALS:
            store.put(trial, result(trial.seed))
    with Store(path) as store:
        found = store.find(TRIALS)
    assert set(found) == set(TRIALS)
    for trial, arrays in found.items():
        expected = result(trial.seed)
        assert set(arrays) == set(expected)
        for name, array in expected.items():
            assert arrays[name].dtype == array.dtype
            assert np.array_equal(arrays[name], array)


def test_nothing_is_found_for_another_trial(tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        store.put(TRIALS[0], result(0))
        assert store.find(TRIALS[1:3]) == {}


def test_a_flushed_run_is_there_without_closing(tmp_path):
    store = Store(tmp_path / "runs.sqlite")
    store.put(TRIALS[0], result(0))
    store.flush()
    with Store(tmp_path / "runs.sqlite") as other:  # as after a kill: the first was never closed
        assert set(other.find(TRIALS[:2])) == {TRIALS[0]}
    store.close()


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "runs.sqlite"
    path.write_bytes(b"this is not a database, but long enough to look like one" * 20)
    with pytest.raises(StorageFailure, match=r"runs\.sqlite.*move it away"):
        Store(path)


def test_a_run_that_cannot_be_read_is_named(tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        for blob in (b"", b"PK no header", b"[]]\n", b'[["regret", "<f8", [9]]]\nshort'):
            store.put(TRIALS[0], result(0))
            store._database.execute("UPDATE runs SET result = ?", (blob,))
            with pytest.raises(StorageFailure, match=r"runs\.sqlite: a run in it cannot be read"):
                store.find(TRIALS[:1])


def test_arrays_of_any_shape_and_type_are_kept(tmp_path):
    arrays = {"none": np.empty((0, 3)), "flags": np.array([[True, False]]), "one": np.array(2.5)}
    with Store(tmp_path / "runs.sqlite") as store:
        store.put(TRIALS[0], arrays)
        found = store.find(TRIALS[:1])[TRIALS[0]]
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert np.array_equal(found[name], array)


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageFailure, match="choose another folder"):
        Store(tmp_path / "file" / "runs.sqlite")


def _fill(store):
    for trial in TRIALS[1:]:
        store.put(trial, {"regret": np.zeros(2000)})


def test_a_full_disk_is_an_error_and_keeps_what_was_there(tmp_path):
    path = tmp_path / "runs.sqlite"
    store = Store(path)
    store.put(TRIALS[0], result(0))
    store.flush()
    pages = store._database.execute("PRAGMA page_count").fetchone()[0]
    store._database.execute(f"PRAGMA max_page_count = {pages}")  # SQLite then behaves as on a full disk
    with pytest.raises(StorageFailure, match=r"full.*finished runs are kept"):
        _fill(store)
    store._database.rollback()
    store._database.close()
    with Store(path) as again:
        assert np.array_equal(again.find(TRIALS[:1])[TRIALS[0]]["regret"], result(0)["regret"])


def test_the_errors_are_windvanes_and_oserrors():
    assert issubclass(StorageFailure, wv.WindvaneError)
    assert issubclass(StorageFailure, OSError)


def test_what_is_missing_is_told_without_reading_it(tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        for trial in TRIALS[:1100]:
            store.put(trial, result(trial.seed))
        assert store.missing(TRIALS) == TRIALS[1100:]
        assert store.missing([]) == []


@pytest.fixture
def other_code(monkeypatch):
    behind = trials.code_behind

    def edit(version):
        monkeypatch.setattr(trials, "code_behind", lambda *names: {**behind(*names), "code": version})

    return edit


def test_results_of_earlier_code_are_found_with_it_in_the_order_they_were_made(tmp_path, other_code):
    one, two, three = TRIALS[:3]
    with Store(tmp_path / "runs.sqlite") as store:
        for version, trial, number in (("a", one, 1), ("b", two, 2), ("b", one, 3), ("c", three, 4)):
            other_code(version)
            store.put(trial, {"regret": np.array([float(number)])})
            if version == "b":
                second = trial.code
        assert store.earlier([three]) == {}  # that one is of the present code
        found = store.earlier([one, two, three])
        assert store.earlier([]) == {}
    assert [(trial.seed, code, run["regret"][0]) for trial, (code, run) in found.items()] == [
        (two.seed, second, 2.0),
        (one.seed, second, 3.0),
    ]


def test_a_run_of_which_the_code_was_not_recorded_is_found_as_well(tmp_path, other_code):
    with Store(tmp_path / "runs.sqlite") as store:
        plain = json.dumps(TRIALS[0].plain(), sort_keys=True)
        store.put(TRIALS[0], result(0))
        store._database.execute("UPDATE runs SET trial = ?", (plain,))
        assert store.adopted(TRIALS[:1]) == 0
        other_code("a")
        assert [code for code, _ in store.earlier(TRIALS[:1]).values()] == [""]


def test_it_is_remembered_which_runs_were_taken_over(tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        for trial, code in zip(TRIALS[:3], (None, "earlier", ""), strict=True):
            store.put(trial, result(0), code)
        assert store.adopted(TRIALS[:3]) == 2
        assert store.adopted(TRIALS[:1]) == 0


def test_a_fingerprint_depends_on_every_bit_and_not_on_the_order_of_names():
    found = {"regret": np.array([0.5, 0.25]), "resets": np.array([1])}
    assert fingerprint(found) == fingerprint(dict(reversed(found.items())))
    for other in (
        {**found, "regret": np.nextafter(found["regret"], 1.0)},
        {**found, "resets": np.array([1.0])},
        {**found, "regret": found["regret"][:, None]},
        {"regret": found["regret"]},
    ):
        assert fingerprint(other) != fingerprint(found)
