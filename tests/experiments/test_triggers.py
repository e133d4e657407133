"""The study of triggers: its objectives, its count of alarms against real runs, its verdicts."""

import json
import math

import numpy as np
import pytest
from inline import Inline
from verdicts import verdicts

import windvane as wv
from windvane.calibration.runs import Luck, Path
from windvane.errors import StorageFailure
from windvane.experiments import triggers, triggers_page
from windvane.experiments.executors import Borrowed
from windvane.experiments.triggers import (
    DELTAS,
    NEVER,
    QUIET_STEPS,
    RATES,
    SIZES,
    WATCHING_CHANGE,
    WATCHING_STATIC,
    TriggerStudy,
    TriggerStudyPlan,
)


@pytest.mark.parametrize(("quiet", "rate"), [(0, 0.0), (8, 0.0), (0, 0.1)], ids=["static", "jumps", "drift"])
def test_a_first_alarm_is_the_first_reset_of_a_real_run(monkeypatch, quiet, rate):
    monkeypatch.setattr(triggers, "SIZES", (0.5, 1.0))
    some = (wv.ExactBound(0.5), wv.EDetector(0.5), wv.PosteriorBound(0.9), wv.EDetector(run_length=20))
    plan = triggers.simulated(dict(enumerate(some)), 20, 3, quiet=quiet, rate=rate)
    outcomes = set()
    for run in range(4):
        found = triggers.alarms_at_jumps(plan, run) if quiet else [triggers.first_alarms(plan, run)]
        for share, alarms in zip(plan.jumps or (0.0,), found, strict=True):
            expected = [first_reset(plan, run, one, share) for one in plan.contestants]
            assert alarms == expected
            outcomes |= {alarm == NEVER for alarm in expected}
    assert False in outcomes


def first_reset(plan, run, composition, share):
    path = Path(plan, Luck(plan, run), composition)
    for step in range(1, plan.steps + 1):
        if step == plan.jump_at:
            path.objective.jump(share)
        if path.step().reset:
            return step
    return NEVER


def test_a_size_is_the_root_of_the_share_that_is_replaced():
    assert triggers.simulated({}, 9, 0, quiet=4).jumps == pytest.approx([size**2 for size in SIZES])
    assert triggers.simulated({}, 9, 0, quiet=4).jump_at == 5
    assert triggers.simulated({}, 9, 0).jumps == ()


def test_what_comes_out_depends_on_the_seed_alone(monkeypatch):
    plan = TriggerStudyPlan(static=3, moving=1, lengths=2)
    monkeypatch.setattr(triggers, "STATIC_STEPS", 4)
    monkeypatch.setattr(triggers, "QUIET_STEPS", 3)
    monkeypatch.setattr(triggers, "JUMP_STEPS", 3)
    monkeypatch.setattr(triggers, "DRIFT_STEPS", 6)
    monkeypatch.setattr(triggers, "SIZES", (1.0,))
    monkeypatch.setattr(triggers, "RATES", (0.5,))
    done = []
    for _ in range(2):
        ticks = []
        study = triggers.conduct(plan, 7, Borrowed(Inline()), on_run=lambda: ticks.append(1))  # noqa: B023
        assert len(ticks) == plan.runs == 3 + 1 + 1 + 2
        done.append(study)
    assert done[0].plain == done[1].plain
    assert done[0].static.shape == (3, len(WATCHING_STATIC))
    assert done[0].jumps[1.0].shape == done[0].drifts[0.5].shape == (1, len(WATCHING_CHANGE))
    assert done[0].lengths.shape == (2,)


def made_up(exact=DELTAS, detector=(5, 8), lengths=1500):
    """A study of 1000 static runs and 10 of each change; ExactBound's shares, and the detector's steps."""
    static = np.full((1000, len(WATCHING_STATIC)), NEVER)
    for delta, share in zip(DELTAS, exact, strict=True):
        static[: round(1000 * share), list(WATCHING_STATIC).index(f"ExactBound({delta:g})")] = 3
    change = np.full((10, len(WATCHING_CHANGE)), NEVER)
    for name, steps in {
        "PosteriorBound(0.1)": 9,
        "ExactBound(0.1)": 7,
        "EDetector(0.1)": detector[0],
    }.items():
        change[:, list(WATCHING_CHANGE).index(name)] = steps
    return TriggerStudy(
        static,
        {size: np.where(change == NEVER, NEVER, change + QUIET_STEPS) for size in SIZES},
        dict.fromkeys(RATES, change),
        np.array([lengths - 10, lengths + 10] * 50),
    )


def test_claims_hold_and_fail():
    assert verdicts(triggers_page, made_up()) == ["holds"] * 6
    assert verdicts(triggers_page, made_up(exact=(0.05, 0.15, 0.2)))[0] == "holds in part"
    assert verdicts(triggers_page, made_up(exact=(0.01, 0.05, 0.3)))[0] == "does not hold"
    assert verdicts(triggers_page, made_up(lengths=500))[1] == "holds in part"
    assert verdicts(triggers_page, made_up(detector=(8, 8)))[3:] == ["holds", "holds", "does not hold"]
    assert verdicts(triggers_page, made_up(detector=(NEVER, 8)))[3:] == ["does not hold"] * 3


def test_a_late_exact_bound_would_be_found():
    study = made_up()
    study.drifts[RATES[0]][3, list(WATCHING_CHANGE).index("ExactBound(0.1)")] = NEVER
    assert verdicts(triggers_page, study)[2] == "does not hold"


def test_delays_count_from_the_jump_and_leave_out_false_alarms():
    study = made_up()
    column = list(WATCHING_CHANGE).index("ExactBound(0.1)")
    study.jumps[0.1][:4, column] = [QUIET_STEPS, QUIET_STEPS + 1, NEVER, 1]
    delays = study.delays(0.1, "ExactBound(0.1)")
    assert delays.tolist() == [1.0, math.inf, *[7.0] * 6]
    assert triggers.median(delays) == 7.0
    assert study.times(RATES[0], "EDetector(0.1)").tolist() == [5.0] * 10


def test_the_page(tmp_path):
    page = tmp_path / "docs" / "triggers.md"
    page.parent.mkdir()
    triggers_page.write(made_up(), tmp_path, "windvane triggers", page)
    text = page.read_text()
    assert "`windvane triggers`" in text
    assert "images/triggers.png" in text
    assert "| `ExactBound(delta)` | delta, exactly | 5.0% (3.5%–7.1%) |" in text
    assert "| `ExactBound(0.1)` | 100%, 7 |" in text
    assert "| `PosteriorBound(delta)` | at most delta | 0.0% (" in text
    assert "0%, > 50" in text
    assert "1500 ± 1 (standard error)" in text
    assert (page.parent / "images" / "triggers.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "triggers.md").read_text() == text.replace("images/triggers.png", "figure.png")
    assert len(json.loads((tmp_path / "triggers.json").read_text())["first alarms"]["static"]) == 1000


def test_a_page_that_cannot_be_written(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(StorageFailure, match="choose a place you can write to"):
        triggers_page.write(made_up(), tmp_path / "taken", "windvane triggers")
