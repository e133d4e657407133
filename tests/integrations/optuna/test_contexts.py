"""What a trial is enqueued with is a context; the optimiser with contexts is the oracle."""

import optuna
import pytest

import windvane as wv
from windvane.integrations.optuna import WindvaneSampler

SPACE = wv.Space(gain=wv.Real(0, 1), load=wv.Context(0, 100))


def objective(trial):
    load = trial.suggest_float("load", 0, 100)
    gain = trial.suggest_float("gain", 0, 1)
    return -((gain - load / 100) ** 2)


@pytest.mark.parametrize("algorithm", ["auto", "gp-ucb"])
def test_the_others_are_chosen_to_go_with_what_is_fixed(algorithm):
    study = optuna.create_study(direction="maximize", sampler=WindvaneSampler(algorithm, seed=0))
    for step in range(25):
        load = (37.0 * step) % 100
        study.enqueue_trial({"load": load})
        study.optimize(objective, n_trials=1)
        assert study.trials[-1].params["load"] == load
    for trial in study.trials[-5:]:
        assert abs(trial.params["gain"] - trial.params["load"] / 100) < 0.25


def test_the_suggestions_are_those_of_the_optimiser():
    twin = wv.make(SPACE, seed=0)
    study = optuna.create_study(direction="maximize", sampler=WindvaneSampler(seed=0))
    for step in range(12):
        load = (37.0 * step) % 100
        study.enqueue_trial({"load": load})
        expected = twin.ask(context={"load": load})
        study.optimize(objective, n_trials=1)
        params = study.trials[-1].params
        if step:  # the first is drawn
            assert params == pytest.approx(expected)
        twin.tell(params, study.trials[-1].value)


def test_out_of_range_or_all_fixed_is_no_trouble():
    study = optuna.create_study(direction="maximize", sampler=WindvaneSampler(seed=0))
    study.optimize(objective, n_trials=3)
    study.enqueue_trial({"load": 3.0, "gain": 0.2})
    study.enqueue_trial({"other": 3.0})
    study.optimize(objective, n_trials=3)
    assert study.trials[3].params == {"load": 3.0, "gain": 0.2}


def test_what_is_safe_is_judged_under_the_context_too():
    """A setting that was beyond the limit is not retreated to because the load is another one now."""
    safe = {"safe": 0.9, "start": [{"gain": 0.5, "load": 0.0}], "constraints": 1}
    sampler = WindvaneSampler(seed=0, constraints_func=lambda trial: (trial.user_attrs["heat"],), **safe)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    for step in range(4):
        study.enqueue_trial({"load": 20.0 * step})
        trial = study.ask()
        load, gain = trial.suggest_float("load", 0, 100), trial.suggest_float("gain", 0, 1)
        trial.set_user_attr("heat", 1.0 if step else -1.0)
        study.tell(trial, gain + load)
    gains = [trial.params["gain"] for trial in study.trials]
    assert len(set(gains[-3:])) == 3, gains
