"""What is believed best now, and the resets that are noted: on objectives that change."""

import json
import math

import numpy as np
import optuna
import pytest

import windvane as wv
from windvane.errors import InvalidArgument, InvalidType, UnknownName
from windvane.integrations.optuna import BestNow, WindvaneSampler, best_now, notes, resets

KNOWN = {"kernel": wv.RBF(0.2), "noise_variance": 0.01}


def make(seed=0, **options):
    return WindvaneSampler("et-gp-ucb", seed=seed, **{**KNOWN, **options})


def moved(trial):
    """A peak of 1 at 0.2; from trial 20 on one of 0.8 at 0.8, and nothing at 0.2."""
    x = trial.suggest_float("x", 0, 1)
    height, top = (1.0, 0.2) if trial.number < 20 else (0.8, 0.8)
    noise = np.random.default_rng(trial.number).normal() * 0.02
    return height * math.exp(-30 * (x - top) ** 2) + noise


@pytest.fixture(scope="module")
def drifting():
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", sampler=make())
    study.optimize(moved, n_trials=45)
    return study


def test_the_best_trial_is_stale_and_the_belief_is_not(drifting):
    assert drifting.best_trial.number < 20
    assert drifting.best_params["x"] == pytest.approx(0.2, abs=0.05)
    best = best_now(drifting)
    assert best.params["x"] == pytest.approx(0.8, abs=0.05)
    assert best.mean == pytest.approx(0.8, abs=0.1)
    assert 0 < best.std < 0.2
    assert best.last_reset == resets(drifting)[-1].trial >= 20
    assert best.in_use <= 45 - best.last_reset
    assert best.age < 45 - best.last_reset


def test_a_study_that_is_opened_anew_believes_the_same(drifting):
    other = optuna.create_study(direction="maximize")  # with Optuna's own sampler
    other.add_trials(drifting.trials)
    for name, each in drifting.user_attrs.items():
        other.set_user_attr(name, json.loads(json.dumps(each)))
    assert best_now(other) == best_now(drifting)


def test_upside_down():
    down = optuna.create_study(direction="minimize", sampler=make())
    down.optimize(lambda trial: -moved(trial), n_trials=30)
    up = optuna.create_study(direction="maximize", sampler=make())
    up.optimize(moved, n_trials=30)
    a, b = best_now(up), best_now(down)
    assert (a.params, a.mean, a.std) == (b.params, -b.mean, b.std)


def test_resets_are_noted_where_a_dashboard_finds_them(drifting):
    found = resets(drifting)
    assert found
    assert drifting.user_attrs[notes.RESETS] == [each.trial for each in found]
    for each in found:
        attributes = drifting.trials[each.trial].user_attrs
        assert attributes[notes.RESET] is True
        assert attributes[notes.REASON] == each.reason
        assert attributes[notes.KEPT] == each.kept == 1  # Alg. 1 keeps the last point
        assert "bound broken" in each.reason
    assert [t.number for t in drifting.trials if notes.RESET in t.user_attrs] == [
        each.trial for each in found
    ]


def test_what_was_noted_is_what_the_optimiser_says_that_is_told_the_same(drifting):
    opt = wv.make("et-gp-ucb", wv.Space(x=wv.Real(0, 1)), seed=0, **KNOWN)
    events = [opt.tell(trial.params, trial.value) for trial in drifting.trials]
    assert [trial.user_attrs[notes.IN_USE] for trial in drifting.trials] == [event.size for event in events]
    assert [
        (t.number, e.reason, e.kept) for t, e in zip(drifting.trials, events, strict=True) if e.reset
    ] == [(each.trial, each.reason, each.kept) for each in resets(drifting)]
    best = opt.best()
    expected = best_now(drifting)
    assert (expected.params, expected.mean, expected.std) == (best.x, best.mean, best.std)
    assert expected.in_use == opt.size


def test_auto_notes_what_it_believes():
    study = optuna.create_study(direction="maximize", sampler=WindvaneSampler(seed=0))
    study.optimize(moved, n_trials=8)
    live = study.sampler.learner._pool[-1]
    beliefs = live.events[-1].beliefs
    assert study.user_attrs[notes.BELIEVED] == max(beliefs, key=beliefs.get)
    assert study.user_attrs[notes.SAMPLER]["algorithm"] == "auto"


def test_an_outlier_is_a_remark():
    study = optuna.create_study(
        direction="maximize", sampler=make(trigger=wv.Confirmed(wv.PosteriorBound(0.1)))
    )
    study.optimize(lambda trial: moved(trial) + 5 * (trial.number == 12), n_trials=16)
    assert not resets(study)
    assert "outlier" in study.trials[13].user_attrs[notes.REMARK]
    assert study.trials[13].params == study.trials[12].params  # the second look


def test_studies_of_other_samplers():
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(moved, n_trials=60)
    assert study.best_trial.number < 20
    for arguments in ({}, {"algorithm": "et-gp-ucb", **KNOWN}, {"algorithm": "tv-gp-ucb", "rate": 0.05}):
        assert best_now(study, **arguments).params["x"] == pytest.approx(0.8, abs=0.1)
    assert not study.user_attrs  # nothing is written into a study that is only looked at
    assert resets(study) == []


def test_branches_are_not_mixed():
    def objective(trial):
        kind = trial.suggest_categorical("kind", ["a", "b", "c"])
        if kind == "c":
            return 0.3
        if kind == "a":
            return 1 - 4 * (trial.suggest_float("u", 0, 1) - 0.25) ** 2
        return 0.5 - (trial.suggest_float("v", 0, 1) - 0.9) ** 2 - 0 * trial.suggest_int("n", 2, 2)

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=40)
    best = best_now(study, "gp-ucb", **KNOWN)
    assert best.params == {"kind": "a", "u": pytest.approx(0.25, abs=0.1)}
    worst = optuna.create_study(direction="minimize", sampler=study.sampler)
    worst.add_trials(study.trials)
    assert best_now(worst, "gp-ucb", **KNOWN).params["kind"] in ("a", "b")


def test_nothing_to_choose():
    study = optuna.create_study(sampler=make())
    study.optimize(lambda trial: trial.suggest_int("n", 3, 3) + 0.1 * trial.number, n_trials=3)
    best = best_now(study)
    assert best.params == {"n": 3}
    assert isinstance(best, BestNow)


def test_bad_input_is_refused(drifting):
    empty = optuna.create_study(sampler=make())
    with pytest.raises(InvalidArgument, match="nothing is known before the first trial"):
        best_now(empty)
    with pytest.raises(InvalidType, match="study='s'"):
        best_now("s")
    with pytest.raises(UnknownName, match="et-gp-ucb"):
        best_now(drifting, "et-gp-ubc")
    with pytest.raises(InvalidArgument, match="does not use rate="):
        best_now(drifting, "gp-ucb", rate=0.1)
    several = optuna.create_study(directions=["minimize", "minimize"])
    with pytest.raises(InvalidArgument, match="must be one"):
        best_now(several)


class Impatient(wv.PosteriorBound):
    """A trigger of a user's own, which is no component."""


def test_options_that_cannot_be_written_down():
    study = optuna.create_study(sampler=make(trigger=Impatient(0.1)))
    study.optimize(moved, n_trials=3)
    assert study.user_attrs[notes.SAMPLER]["options"] is None
    assert best_now(study).params
    study.sampler = optuna.samplers.RandomSampler()
    with pytest.raises(InvalidArgument, match="give algorithm= and its options again"):
        best_now(study)
    assert best_now(study, "et-gp-ucb", **KNOWN).params
