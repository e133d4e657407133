"""The noise of a trial's value is a user attribute; the optimiser that is told it is the oracle."""

import optuna
import pytest

import windvane as wv
from windvane.integrations.optuna import WindvaneSampler


@pytest.mark.parametrize("attribute", ["windvane:std", "windvane:noise_variance"])
def test_the_optimiser_is_told_the_noise_of_a_trial(attribute):
    def objective(trial):
        gain = trial.suggest_float("gain", 0, 1)
        if trial.number % 2:
            trial.set_user_attr(attribute, 0.3)
        return -((gain - 0.4) ** 2) + 0.3 * (-1) ** trial.number

    study = optuna.create_study(direction="maximize", sampler=WindvaneSampler(seed=0))
    twin = wv.make(wv.Space(gain=wv.Real(0, 1)), seed=0)
    for number in range(12):
        expected = twin.ask()
        study.optimize(objective, n_trials=1)
        trial = study.trials[-1]
        if number:  # the first is drawn
            assert trial.params == pytest.approx(expected)
        twin.tell(trial.params, trial.value, **({attribute.split(":")[1]: 0.3} if number % 2 else {}))


@pytest.mark.parametrize("bad", [0.0, -1.0, "much", [0.1]])
def test_noise_that_is_none_is_named_and_does_not_end_the_study(bad):
    def objective(trial):
        if trial.number == 0:
            trial.set_user_attr("windvane:std", bad)
        return trial.suggest_float("gain", 0, 1)

    study = optuna.create_study(sampler=WindvaneSampler(seed=0))
    with pytest.warns(UserWarning, match="trial 0: .*std=.*taken as not told"):
        study.optimize(objective, n_trials=3)
    assert len(study.trials) == 3
