"""A study's export, replayed by the study's own algorithm, says again what the study said."""

import math

import pytest

import windvane as wv
from windvane.replay import read_log

SPACE = wv.Space(
    {"gain": wv.Real(0.1, 10, log=True), "mean": wv.Integer(1, 8), "mode": wv.Choice(["a", True, 3])}
)
PRIOR = {"kernel": wv.RBF(0.4), "noise_variance": 0.05}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    with wv.Study.create(
        folder / "s.db", "pump", SPACE, "et-gp-ucb", seed=5, reset_window=(2, 6), **PRIOR
    ) as made:
        for step in range(12):
            trial = made.ask(time=100.0 + step)
            if step == 4:
                made.fail(trial, "tripped")
                continue
            late = 3.0 if step == 8 else 0.0
            made.tell(trial, math.log(trial.x["gain"]) + trial.x["mean"] / 8, time=100.0 + step - late)
        yield made


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_the_replay_is_the_study(study, tmp_path, ending):
    path = tmp_path / f"journal.{ending}"
    study.export(path)
    told = study.events(kinds=["told"])
    log = read_log(path, SPACE)
    assert [dict(point) for point in log.points] == [record.x for record in told]
    found = wv.replay(log, "et-gp-ucb:reset_window=[2,6]", SPACE, seed=5, **PRIOR).accounts[0]
    assert [event.as_dict() for event in found.events] == [record.event for record in told]
    assert len(found.resets) > 0


def test_the_study_explains_itself(study):
    found = study.explain()
    assert (found.tells, found.failed, found.resets) == (11, 1, study.summary().resets)
    assert found.reset.step == study.events(resets=True)[-1].step
    assert found.reset.reason in str(found)
