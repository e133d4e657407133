"""Measures that few runs have: what they return, and that the keys of all other runs do not depend on them."""

import numpy as np
import pytest

import windvane as wv
from windvane.experiments import code, measures, observed
from windvane.experiments.experiment import Cell
from windvane.experiments.records import write_records
from windvane.experiments.trial import COMMON, RunSpec, call
from windvane.extras import require

TASK = call("within-model", rate=0.2, horizon=30, grid=20)


def test_other_measures_go_their_usual_way():
    trial = RunSpec(TASK, call("gp-ucb"), 0)
    usual, here = measures.run(trial), observed.run(trial)
    assert usual.keys() == here.keys()
    assert all((usual[name] == here[name]).all() for name in usual)
    assert set(COMMON) == set(measures.MEASURES)
    assert not set(COMMON) & set(observed.OBSERVED)


def test_steps_has_the_noise_and_what_resets_kept_and_the_regret_as_everywhere():
    algorithm = call("et-gp-ucb-backtracking", delta=0.9)
    found = observed.run(RunSpec(TASK, algorithm, 3, measure=call("steps")))
    plain = measures.run(RunSpec(TASK, algorithm, 3))
    np.testing.assert_array_equal(found["regret"], plain["regret"])
    np.testing.assert_array_equal(found["resets"], plain["resets"])
    assert found["noise"].tolist() == [0.02] * 30
    assert len(found["kept"]) == len(found["resets"]) > 0
    assert (found["kept"] <= 4).all()


def test_comparators_need_a_grid():
    trial = RunSpec(call("ackley-shift"), call("random"), 0, (), call("comparators", windows=(2,)))
    with pytest.raises(wv.InvalidArgument, match="ackley-shift"):
        observed.run(trial)


def test_a_key_depends_on_this_file_only_where_it_measures(monkeypatch):
    usual = RunSpec(TASK, call("gp-ucb"), 0)
    special = RunSpec(TASK, call("gp-ucb"), 0, measure=call("steps"))
    before = usual.key, special.key
    assert code.OBSERVED not in code.files("within-model", "gp-ucb")
    monkeypatch.setattr("windvane.experiments.trial.observed_digest", lambda: "another")
    assert usual.key == before[0]
    assert special.key != before[1]


def test_records_of_runs_without_regret(tmp_path):
    cells = [
        Cell("A", "x", TASK, call("random")),
        Cell("B", "x", TASK, call("random"), measure=call("comparators", windows=(2,))),
    ]
    results = {trial: observed.run(trial) for cell in cells for trial in cell.trials(range(1))}
    write_records(tmp_path / "records.parquet", "some", cells, range(1), results)
    table = require("pyarrow.parquet", "experiments").read_table(tmp_path / "records.parquet").to_pydict()
    assert table["average"][0] > 0.0
    assert table["average"][1] is table["total"][1] is None
    assert table["loss 2"][0] is None
