"""Constraints as Optuna has them; the optimiser that is told them is the oracle."""

import optuna
import pytest

import windvane as wv
from windvane.errors import InvalidArgument
from windvane.integrations.optuna import WindvaneSampler, best_now, resets

LIMIT = 0.6  # of the gain, beyond which it is too hot; the objective rises with the gain


def heat(gain):
    return 2.0 * (gain - LIMIT)


def objective(trial):
    gain = trial.suggest_float("gain", 0, 1)
    trial.set_user_attr("heat", heat(gain))
    return gain


def measured(trial):
    return (trial.user_attrs["heat"],)


def study_of(storage=None, **options):
    sampler = WindvaneSampler(seed=0, **options)
    return optuna.create_study(
        direction="maximize", sampler=sampler, storage=storage, study_name="s", load_if_exists=True
    )


@pytest.mark.parametrize("way", ["constraints_func", "set_constraint"])
def test_the_suggestions_are_those_of_the_optimiser_that_is_told(way):
    name = "c0" if way == "constraints_func" else "heat"

    def itself(trial):
        value = objective(trial)
        if way == "set_constraint":
            trial.set_constraint("heat", trial.user_attrs["heat"])
        return value

    if way == "set_constraint" and not hasattr(optuna.trial.Trial, "set_constraint"):
        pytest.skip("this version of Optuna has no set_constraint")
    study = study_of(constraints_func=measured if way == "constraints_func" else None)
    twin = wv.make(wv.Space(gain=wv.Real(0, 1)), constraints={name: wv.AtMost(0)}, seed=0)
    for number in range(15):
        expected = twin.ask()
        study.optimize(itself, n_trials=1)
        trial = study.trials[-1]
        if number:  # the first is drawn
            assert trial.params == pytest.approx(expected)
        event = twin.tell(trial.params, trial.value, **{name: heat(trial.params["gain"])})
        assert trial.user_attrs.get("windvane:violated", []) == list(event.violated)
    late = [trial.params["gain"] for trial in study.trials[-5:]]
    assert 0.5 < sum(late) / 5 < 0.7  # and without constraints it would be 1
    best = best_now(study)
    assert best.feasible == pytest.approx(twin.best().feasible)
    assert best.params["gain"] < LIMIT + 0.05


def test_optuna_itself_knows_which_trials_are_feasible():
    study = study_of(constraints_func=measured)
    study.optimize(objective, n_trials=15)
    assert any(trial.system_attrs["constraints"][0] > 0 for trial in study.trials)
    assert study.best_trial.params["gain"] <= LIMIT


def test_best_now_without_the_sampler_reads_the_constraints_from_the_storage():
    storage = optuna.storages.InMemoryStorage()
    study_of(storage, constraints_func=measured).optimize(objective, n_trials=15)
    opened = optuna.load_study(study_name="s", storage=storage, sampler=optuna.samplers.RandomSampler())
    best = best_now(opened)
    assert best.feasible is not None
    assert best.params["gain"] < LIMIT + 0.05
    assert best_now(opened, "gp-ucb").params["gain"] < LIMIT + 0.05


def test_a_study_that_is_opened_anew_goes_on_as_if_never_closed():
    whole = study_of(constraints_func=measured)
    whole.optimize(objective, n_trials=12)
    storage = optuna.storages.InMemoryStorage()
    for _ in range(4):  # each with a sampler that has learned nothing
        study_of(storage, constraints_func=measured).optimize(objective, n_trials=3)
    again = optuna.load_study(study_name="s", storage=storage)
    assert [t.params for t in again.trials] == [t.params for t in whole.trials]


def test_trials_without_some_constraints_or_with_more_of_them_later():
    def some(trial):
        values = [(), (heat(trial.params["gain"]),), (heat(trial.params["gain"]), -1.0)]
        return values[0 if trial.number < 3 else 1 if trial.number < 6 else 2 - trial.number % 2]

    study = study_of(constraints_func=some)
    study.optimize(objective, n_trials=12)
    twin = wv.make(wv.Space(gain=wv.Real(0, 1)), constraints={"c0": wv.AtMost(0), "c1": wv.AtMost(0)}, seed=0)
    for trial in study.trials:
        told = {f"c{at}": value for at, value in enumerate(trial.system_attrs["constraints"])}
        twin.tell(trial.params, trial.value, **told)
    study.optimize(objective, n_trials=1)
    assert study.trials[-1].params == pytest.approx(twin.ask())


def test_what_is_not_finite_and_what_failed_do_not_end_the_study():
    def sometimes(trial):
        return (float("inf") if trial.number == 2 else trial.user_attrs["heat"],)

    def failing(trial):
        value = objective(trial)
        if trial.number in (1, 4):
            raise RuntimeError
        return value

    study = study_of(constraints_func=sometimes)
    study.optimize(failing, n_trials=10, catch=RuntimeError)
    assert len(study.trials) == 10
    assert best_now(study).params["gain"] < LIMIT + 0.1


def test_a_constraints_func_that_raises_is_the_callers_to_see():
    study = study_of(constraints_func=lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        study.optimize(objective, n_trials=1)
    assert study.trials[0].system_attrs["constraints"] is None
    study.sampler = WindvaneSampler(seed=0)  # and the study can go on
    study.optimize(objective, n_trials=2)
    assert len(study.trials) == 3


SAFE = {"safe": 0.95, "constraints": 1, "start": [{"gain": 0.3}, {"gain": 0.2}]}


def test_safe_begins_at_the_starts_and_does_not_violate():
    study = study_of(constraints_func=measured, **SAFE)
    study.optimize(objective, n_trials=20)
    gains = [trial.params["gain"] for trial in study.trials]
    assert gains[:2] == [0.3, 0.2]
    assert max(gains) <= LIMIT
    assert max(gains) > 0.45  # and it does not stay where it was


def test_safe_with_several_at_once_and_with_failures_begins_at_the_starts_as_well():
    study = study_of(constraints_func=measured, **SAFE)
    first, second = study.ask(), study.ask()
    assert {objective(first), objective(second)} == {0.2, 0.3}
    study.tell(first, state=optuna.trial.TrialState.FAIL)
    third = study.ask()
    assert objective(third) in (0.2, 0.3)
    for trial in (second, third):
        study.tell(trial, trial.params["gain"])
    for _ in range(10):
        several = [study.ask() for _ in range(3)]
        values = [objective(trial) for trial in several]
        for trial, value in zip(several, values, strict=True):
            study.tell(trial, value)
        assert max(values) <= LIMIT


def test_safe_never_tries_an_option_only_because_it_is_new():
    def choosing(trial):
        trial.suggest_categorical("fluid", ["water", "oil", "acid"])
        return objective(trial)

    options = {**SAFE, "start": [{"gain": 0.3, "fluid": "water"}]}
    study = study_of(constraints_func=measured, **options)
    study.optimize(choosing, n_trials=2)
    assert [trial.params["fluid"] for trial in study.trials] == ["water", "water"]


def test_safe_refuses_what_it_cannot_know():
    study = study_of(constraints_func=measured, **SAFE)
    with pytest.raises(InvalidArgument, match=r"start: .* must have a value for 'loss'"):
        study.optimize(lambda trial: trial.suggest_float("loss", 0, 1), n_trials=1)

    def growing(trial):
        value = objective(trial)
        return value + (trial.suggest_float("loss", 0, 1) if trial.number else 0.0)

    study = study_of(constraints_func=measured, **SAFE)
    with pytest.raises(InvalidArgument, match=r"the same parameters.*'loss'"):
        study.optimize(growing, n_trials=3)


def test_safe_warns_where_no_trial_has_the_constraint_that_was_named():
    study = study_of(constraints_func=measured, constraints=["heat"], safe=0.95, start=[{"gain": 0.2}])
    with pytest.warns(UserWarning, match=r"no trial so far has a value of 'heat', only of '0'"):
        study.optimize(objective, n_trials=3)


def test_a_reset_of_a_constraint_is_noted_with_its_name():
    def jumping(trial):
        gain = trial.suggest_float("gain", 0, 1)
        trial.set_user_attr("heat", heat(gain) + (0.0 if trial.number < 25 else 5.0))
        return gain

    study = study_of(constraints_func=measured)
    study.optimize(jumping, n_trials=40)
    found = [reset for reset in resets(study) if reset.constraint == "c0"]
    assert found
    assert found[0].trial >= 25
    assert found[0].reason


def test_branches_are_compared_where_the_constraints_hold():
    def branching(trial):
        if trial.suggest_categorical("kind", ["hot", "cold"]) == "hot":
            value = 10.0 + trial.suggest_float("a", 0, 1)
            trial.set_user_attr("heat", 1.0)
        else:
            value = trial.suggest_float("b", 0, 1)
            trial.set_user_attr("heat", -1.0)
        return value

    study = study_of(constraints_func=measured)
    study.optimize(branching, n_trials=20)
    assert best_now(study).params["kind"] == "cold"
    assert [trial.params["kind"] for trial in study.trials[-5:]] == ["cold"] * 5
