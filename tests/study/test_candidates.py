"""A study of a list of settings, at every door that opens a database."""

import csv
import json

import numpy as np
import pytest

import windvane as wv
from windvane.errors import InvalidArgument

ROWS = [{"gain": 0.1 * 1.3**i, "mode": "ab"[i % 2], "hot": i % 3 == 0} for i in range(30)]
SPACE = wv.Candidates(ROWS, scale={"gain": "log"})


def value(x):
    row = SPACE.row(x)
    return -abs(np.log(row["gain"] / 3.0)) - 0.3 * (row["mode"] == "b")


@pytest.fixture
def study(tmp_path):
    with wv.Study.create(tmp_path / "studies.db", "recipes", SPACE, seed=1) as found:
        yield found


def test_the_way_of_a_study(study, tmp_path):
    for step in range(12):
        trial = study.ask(available=range(step, 30))
        assert step <= trial.x < 30
        study.tell(trial, value(trial.x))
    event = study.add(ROWS[4], value(4))
    assert event.x == 4
    best = study.best()
    assert value(best.x) > np.sort([value(x) for x in range(30)])[-8]
    said = str(study.explain())
    assert f"Believed best now: candidate {best.x} (gain=" in said
    assert "runner-up, candidate" in said
    assert "arm " not in said
    next_one = study.ask(available=[2, 3]).x
    with wv.Study.open(tmp_path / "studies.db", "recipes") as again:
        assert again.space == SPACE
        assert again.best() == best
        assert again.pending()[0].x == next_one
    assert study.rebuild() > 0
    assert study.best() == best


def test_trials_that_are_out_are_kept_away_from(study):
    asked = [study.ask().x for _ in range(30)]
    assert sorted(asked) == list(range(30))
    assert study.ask().x in range(30)


def test_a_list_that_is_not_available_changes_nothing(study):
    head = study.summary().head
    for bad in ([], [30], ["x"], [{"gain": 1.0}], 3):
        with pytest.raises(wv.WindvaneError, match="available"):
            study.ask(available=bad)
    assert study.summary().head == head


def test_the_journal_there_and_back(study, tmp_path):
    for _ in range(6):
        trial = study.ask()
        study.tell(trial, value(trial.x))
    for name in ("all.csv", "all.jsonl"):
        study.export(tmp_path / name)
        with wv.Study.create(tmp_path / "other.db", name, SPACE, seed=1) as other:
            assert other.import_log(tmp_path / name) == 6
            assert other.best() == study.best()
    with (tmp_path / "all.csv").open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["kind"] == "told"]
    assert all(0 <= int(row["candidate"]) < 30 for row in rows)


def test_a_log_with_the_columns_of_the_list(study, tmp_path):
    lines = [
        "gain,mode,hot,y",
        *(f"{ROWS[i]['gain']!r},{ROWS[i]['mode']},{ROWS[i]['hot']},{value(i)}" for i in range(9)),
    ]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    assert study.import_log(tmp_path / "log.csv") == 9
    found = wv.replay(tmp_path / "log.csv", ["auto", "gp-ucb"], SPACE)
    assert [event.x for event in found["gp-ucb"].events] == list(range(9))
    (tmp_path / "bad.csv").write_text("gain,mode,hot,y\n0.1,b,true,1\n")
    with pytest.raises(InvalidArgument, match="none of the 30 settings"):
        study.import_log(tmp_path / "bad.csv")
    (tmp_path / "less.csv").write_text("gain,y\n0.1,1\n")
    with pytest.raises(InvalidArgument, match="no column candidate"):
        study.import_log(tmp_path / "less.csv")


def test_a_log_of_numbers(tmp_path):
    space = wv.Candidates(np.arange(24.0).reshape(12, 2))
    (tmp_path / "log.csv").write_text("x1,x2,y\n" + "".join(f"{2 * i},{2 * i + 1},{i}\n" for i in range(8)))
    assert [e.x for e in wv.replay(tmp_path / "log.csv", ["gp-ucb"], space)["gp-ucb"].events] == list(
        range(8)
    )


def test_pictures_and_calibration():
    opt = wv.make(SPACE, seed=0)
    for _ in range(6):
        x = opt.ask()
        opt.tell(x, value(x))
    pytest.importorskip("matplotlib")
    from windvane import plots

    plots.slices(opt)
    with pytest.raises(InvalidArgument, match="along"):
        plots.slices(opt, along="gain")
    report = wv.calibrate(
        "et-gp-ucb", SPACE, kernel=wv.RBF(0.3), noise_variance=0.02, deltas=[0.1], steps=6, runs=2
    )
    assert "Candidates(30 settings" in str(report)


def test_other_databases_hold_it_as_json(study):
    assert json.loads(json.dumps(study.definition))["space"]["type"] == "Candidates"
