"""The study of triggers: its objectives, its count of alarms against real runs, its verdicts."""

import json
import math
from concurrent.futures import Executor, Future

import numpy as np
import pytest

import windvane as wv
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
    Scene,
    Staged,
    TriggerStudy,
    TriggerStudyPlan,
)


class Inline(Executor):
    """Runs at once, in this thread."""

    def submit(self, function, *arguments):
        future: Future = Future()
        future.set_result(function(*arguments))
        return future


def test_drift_is_the_within_model_task():
    staged, known = (
        Staged(Scene(15, rate=0.03), seed=4),
        wv.task("within-model", rate=0.03, horizon=15, seed=4),
    )
    for t in (1, 2, 15):
        np.testing.assert_array_equal(staged.field(t), known.field(t))


def test_a_jump_is_one_step_of_the_chain_and_all_else_stands_still():
    size = 0.6
    task = Staged(Scene(4, quiet=3, jump=size), seed=1)
    fresh = Staged(Scene(4, quiet=3, jump=1.0), seed=1).field(4)  # at size 1 nothing but g is left
    for t in (2, 3):
        np.testing.assert_array_equal(task.field(t), task.field(1))
    np.testing.assert_allclose(task.field(4), 0.8 * task.field(3) + 0.6 * fresh, atol=1e-12)
    np.testing.assert_array_equal(task.field(7), task.field(4))
    assert not np.allclose(task.field(4), task.field(3))


@pytest.mark.parametrize("scene", [Scene(12), Scene(12, quiet=8, jump=1.0), Scene(20, rate=0.1)], ids=str)
def test_a_first_alarm_is_the_first_reset_of_a_real_run(scene):
    watching = (wv.ExactBound(0.5), wv.EDetector(0.5), wv.PosteriorBound(0.9), wv.EDetector(run_length=20))
    outcomes = set()
    for seed in range(4):
        found = triggers.first_alarms(scene, watching, seed)
        task = Staged(scene, seed)
        for trigger, alarm in zip(watching, found, strict=True):
            opt = wv.make(
                "et-gp-ucb",
                task.space,
                kernel=task.kernel,
                noise_variance=task.noise_variance,
                trigger=trigger,
                seed=triggers.optimizer_seed(seed),
            )
            resets = wv.simulate(opt, task, seed=seed).resets
            assert alarm == (resets[0] if resets.size else NEVER)
            outcomes.add(alarm == NEVER)
    assert False in outcomes


def test_the_first_query_is_not_drawn_from_the_bits_of_the_objective():
    """They are, if both have the same seed: see `optimizer_seed`."""
    task, bits = Staged(Scene(1), 5), np.random.default_rng((5, 1)).random(2)
    opt = wv.make(
        "gp-ucb", task.space, kernel=task.kernel, noise_variance=0.02, seed=triggers.optimizer_seed(5)
    )
    assert not np.allclose(opt.ask(), bits)


def test_what_comes_out_depends_on_the_seeds_alone(monkeypatch):
    plan = TriggerStudyPlan(static=3, moving=1, lengths=2)
    done = []
    for batch in (1, 20):
        monkeypatch.setattr(triggers, "BATCH", batch)
        monkeypatch.setattr(triggers, "STATIC_STEPS", 4)
        monkeypatch.setattr(triggers, "SIZES", (1.0,))
        monkeypatch.setattr(triggers, "RATES", (0.5,))
        ticks = []
        study = triggers.conduct(plan, 7, Borrowed(Inline()), on_batch=lambda: ticks.append(1))  # noqa: B023
        assert len(ticks) == plan.batches
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


def verdicts(study):
    return [claim.verdict for claim in triggers_page.claims(study)]


def test_claims_hold_and_fail():
    assert verdicts(made_up()) == ["holds"] * 6
    assert verdicts(made_up(exact=(0.05, 0.15, 0.2)))[0] == "holds in part"
    assert verdicts(made_up(exact=(0.01, 0.05, 0.3)))[0] == "does not hold"
    assert verdicts(made_up(lengths=500))[1] == "holds in part"
    assert verdicts(made_up(detector=(8, 8)))[3:] == ["holds", "holds", "does not hold"]
    assert verdicts(made_up(detector=(NEVER, 8)))[3:] == ["does not hold"] * 3


def test_a_late_exact_bound_would_be_found():
    study = made_up()
    study.drifts[RATES[0]][3, list(WATCHING_CHANGE).index("ExactBound(0.1)")] = NEVER
    assert verdicts(study)[2] == "does not hold"


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
