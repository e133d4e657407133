"""The sampler in a study: against the optimiser that it is made of, and in all that a study can do to it."""

import copy
import pickle
from itertools import pairwise

import numpy as np
import optuna
import pytest
from optuna.trial import TrialState

import windvane as wv
from windvane.errors import InvalidArgument
from windvane.integrations.optuna import WindvaneSampler, notes

# an algorithm that is quick, because it learns nothing but the function
KNOWN = {"kernel": wv.RBF(0.3), "noise_variance": 0.01}
X = {"x": optuna.distributions.FloatDistribution(0, 1)}


def known(algorithm="gp-ucb", seed=0, **options):
    return WindvaneSampler(algorithm, seed=seed, **{**KNOWN, **options})


def bump(trial):
    """One maximum of 1, at x = 0.3, k = 4."""
    x, k = trial.suggest_float("x", 0, 1), trial.suggest_int("k", 0, 10)
    return 1 - (x - 0.3) ** 2 - ((k - 4) / 10) ** 2


def params(study):
    return [trial.params for trial in study.trials]


def study_of(sampler, direction="maximize", **options):
    return optuna.create_study(direction=direction, sampler=sampler, **options)


@pytest.mark.parametrize("algorithm", ["auto", "et-gp-ucb", "random"])
def test_the_suggestions_are_those_of_the_optimiser(algorithm):
    """The first trial is drawn, as nobody knows the parameters yet; then `wv.make` is told and asked."""
    study = study_of(WindvaneSampler(algorithm, seed=3))
    study.optimize(bump, n_trials=12)
    space = wv.Space(k=wv.Integer(0, 10), x=wv.Real(0, 1))
    opt = wv.make(algorithm, space, seed=3)
    for trial in study.trials:
        if trial.number:
            assert opt.ask() == trial.params
        opt.tell(trial.params, trial.value)


def test_minimise_is_maximise_upside_down():
    up, down = study_of(known()), study_of(known(), "minimize")
    up.optimize(bump, n_trials=10)
    down.optimize(lambda trial: -bump(trial), n_trials=10)
    assert params(up) == params(down)
    assert up.best_value > 0.97


def test_the_seed_decides():
    runs = []
    for seed in (0, 0, 1):
        study = study_of(known(seed=seed))
        study.optimize(bump, n_trials=5)
        runs.append(params(study))
    assert runs[0] == runs[1] != runs[2]


def test_more_trials_are_drawn_if_wanted():
    study = study_of(known(n_startup_trials=4))
    study.optimize(bump, n_trials=6)
    other = study_of(known(n_startup_trials=1))
    other.optimize(bump, n_trials=6)
    assert params(study)[:1] == params(other)[:1]
    assert params(study)[1] != params(other)[1]
    told = study.sampler.learner._pool[-1].told
    assert len(told) == 6  # what was drawn is learned from all the same


# -- what a trial can come to ------------------------------------------------------------------------------


def test_a_failure_is_counted_and_told_as_one_and_its_point_is_left_alone():
    study = study_of(known())
    asked = []
    for step in range(8):
        trial = study.ask(X)
        asked.append(trial.params["x"])
        if 3 <= step < 6:
            study.tell(trial, state=TrialState.FAIL)
        else:
            study.tell(trial, -((trial.params["x"] - 0.3) ** 2))
    assert [asked.count(failed) for failed in asked[3:6]] == [1, 1, 1]  # what worked may be asked for again
    assert min(abs(a - b) for a, b in pairwise(asked[3:7])) > 0.01
    told = study.sampler.learner._pool[-1].told
    assert [each.time for each in told if each.value is not None] == [1, 2, 3, 7, 8]  # the world moved on
    assert [each.time for each in told if each.value is None] == [4, 5, 6]
    live = study.sampler.learner._pool[-1]
    assert live.optimizer.state()["failures"]["failed"] == [0, 0, 0, 1, 1, 1, 0, 0]


def test_nan_is_a_failure_and_infinity_is_nothing_to_learn_from():
    study = study_of(known())
    study.optimize(bump, n_trials=3)
    with pytest.warns(UserWarning, match="Trial 3: nothing was learned from the value"):
        study.optimize(lambda trial: bump(trial) + float("inf"), n_trials=1)
    assert "nothing was learned" in study.trials[3].user_attrs[notes.REMARK]
    study.optimize(lambda trial: bump(trial) + float("nan"), n_trials=1)
    assert study.trials[4].state == TrialState.FAIL
    study.optimize(bump, n_trials=1)
    told = study.sampler.learner._pool[-1].told
    assert [each.value is None for each in told] == [False, False, False, True, True, False]


@pytest.mark.parametrize(("considered", "count"), [(False, 4), (True, 6)])
def test_pruned_trials(considered, count):
    """Left out like GPSampler's, unless told otherwise; then it is the value that Optuna keeps."""
    study = study_of(known(consider_pruned_trials=considered))

    def objective(trial):
        value = bump(trial)
        trial.report(value / 2, 1)
        if trial.number in (2, 3):
            raise optuna.TrialPruned
        return value

    study.optimize(objective, n_trials=6)
    told = study.sampler.learner._pool[-1].told
    assert len(told) == count
    if considered:
        assert told[2].value == study.trials[2].value == study.trials[2].intermediate_values[1]


def test_enqueued_and_added_trials_are_told():
    study = study_of(known())
    study.enqueue_trial({"x": 0.25, "k": 3})
    study.enqueue_trial({"x": 0.75})  # k is chosen as ever
    study.optimize(bump, n_trials=3)
    assert study.trials[0].params == {"x": 0.25, "k": 3}
    assert study.trials[1].params["x"] == 0.75
    told = [each.point for each in study.sampler.learner._pool[-1].told]
    assert told[:2] == [(3, 0.25), (study.trials[1].params["k"], 0.75)]
    added = optuna.create_trial(
        params={"x": 0.3, "k": 4}, distributions=study.trials[0].distributions, value=1
    )
    study.add_trial(added)
    study.optimize(bump, n_trials=1)
    assert [each.point for each in study.sampler.learner._pool[-1].told][3] == (4, 0.3)


def test_a_fixed_value_out_of_range_is_not_told_and_noted():
    study = study_of(known())
    study.optimize(bump, n_trials=2)
    study.enqueue_trial({"x": 7.0, "k": 3})
    with pytest.warns(UserWarning, match="out of range"):
        study.optimize(bump, n_trials=1)
    assert study.trials[2].params["x"] == 7.0
    assert "outside its range" in study.trials[2].user_attrs[notes.REMARK]
    study.optimize(bump, n_trials=1)
    assert len(study.sampler.learner._pool[-1].told) == 3


def test_values_are_on_their_grids():
    def objective(trial):
        x = trial.suggest_float("x", -1, 1, step=0.1)
        k = trial.suggest_int("k", 1, 1000, log=True)
        mode = trial.suggest_categorical("mode", [None, (1, 2), "c"])
        one = trial.suggest_int("one", 5, 5)
        return -abs(x - 0.3) - abs(np.log10(k) - 1) - (mode != (1, 2)) + 0 * one

    study = study_of(WindvaneSampler(seed=0))
    with pytest.warns(UserWarning, match="persistent storage"):
        study.optimize(objective, n_trials=25)
    for trial in study.trials:
        assert trial.params["x"] in [i / 10 for i in range(-10, 11)]
        assert type(trial.params["k"]) is int
    assert {trial.params["mode"] for trial in study.trials[:3]} == {None, (1, 2), "c"}  # each once, first
    assert study.best_params["mode"] == (1, 2)


# -- spaces that change ------------------------------------------------------------------------------------


def test_parameters_of_a_branch_are_chosen_together_and_not_at_random():
    def objective(trial):
        if trial.suggest_categorical("kind", ["a", "b"]) == "a":
            u, v = trial.suggest_float("u", 0, 1), trial.suggest_float("v", 0, 1)
            return 1 - (u - v) ** 2 - (u - 0.2) ** 2
        return 0.5 - (trial.suggest_float("w", 0, 1) - 0.9) ** 2

    study = study_of(WindvaneSampler(seed=1))
    study.optimize(objective, n_trials=40)
    late = [trial.params for trial in study.trials[-10:] if trial.params["kind"] == "a"]
    assert len(late) >= 6  # the better branch
    assert np.mean([abs(each["u"] - 0.2) + abs(each["v"] - 0.2) for each in late]) < 0.2
    names = {tuple(column.name for column in live.problem.columns) for live in study.sampler.learner._pool}
    assert {("u", "v"), ("w",)} <= names
    assert [trial.params["kind"] for trial in study.trials].count("b") >= 3  # had its chance


@pytest.mark.parametrize("second", [(0, 5), (0, 20), (20, 30)])
def test_a_range_that_changes(second):
    study = study_of(known())
    for low, high in [(0, 10)] * 5 + [second] * 20:
        study.optimize(lambda trial: -abs(trial.suggest_float("x", low, high) - 4) / 9, n_trials=1)  # noqa: B023
    late = [trial.params["x"] for trial in study.trials[-5:]]
    assert all(second[0] <= x <= second[1] for x in late)
    best = min(max(4, second[0]), second[1])
    assert np.median(np.abs(np.array(late) - best)) < 1.0
    (column,) = study.sampler.learner._pool[-1].problem.columns
    assert (column.distribution.low, column.distribution.high) == second


def test_parameters_that_come_and_go():
    def objective(trial):
        names = "ab" if trial.number < 5 else "bc"
        return sum(trial.suggest_float(name, 0, 1) for name in names)

    study = study_of(known())
    study.optimize(objective, n_trials=16)
    assert {frozenset(trial.params) for trial in study.trials[5:]} == {frozenset({"b", "c"})}
    assert max(trial.value for trial in study.trials[-3:]) > 1.8
    (column, _) = study.sampler.learner._pool[-1].problem.columns
    assert (
        column.name == "b"
    )  # after three trials that were meant for it in vain, the first branch is given up
    assert set(study.sampler.infer_relative_search_space(study, study.trials[-1])) == {"b", "c"}


def test_partially_fixed_and_filtered_studies():
    study = study_of(known(), pruner=optuna.pruners.HyperbandPruner(1, 4, 2))

    def objective(trial):
        value = bump(trial)
        for step in range(4):
            trial.report(value, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return value

    study.optimize(objective, n_trials=12)
    assert not [trial for trial in study.trials if trial.state == TrialState.FAIL]
    with pytest.warns(optuna.exceptions.ExperimentalWarning):
        study.sampler = optuna.samplers.PartialFixedSampler({"k": 2}, study.sampler)
    study.optimize(objective, n_trials=3)
    assert [trial.params["k"] for trial in study.trials[-3:]] == [2, 2, 2]


def test_an_independent_sampler_takes_what_was_never_seen():
    study = study_of(known(independent_sampler=optuna.samplers.RandomSampler(seed=4)))
    study.optimize(bump, n_trials=2)
    other = study_of(optuna.samplers.RandomSampler(seed=4))
    other.optimize(bump, n_trials=2)
    assert params(study)[0] == params(other)[0]
    assert params(study)[1] != params(other)[1]


# -- copies and bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [copy.deepcopy, lambda sampler: pickle.loads(pickle.dumps(sampler))])
def test_a_copy_learns_from_the_study(again):
    study = study_of(known("et-gp-ucb", delta=0.2))
    study.optimize(bump, n_trials=6)
    expected = study.ask(study.trials[0].distributions)
    study.tell(expected, state=TrialState.FAIL)
    other = study_of(again(study.sampler))
    other.add_trials(study.trials[:6])
    assert other.ask(study.trials[0].distributions).params == expected.params
    assert repr(other.sampler) == "<WindvaneSampler: et-gp-ucb>"


def test_several_objectives_are_refused():
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=known())
    with pytest.raises(InvalidArgument, match=r"directions=\['minimize', 'maximize'\]: must be one"):
        study.ask(X)


def test_lengthscales_for_each_parameter():
    study = study_of(WindvaneSampler("gp-ucb", kernel=wv.RBF([0.2, 0.4]), noise_variance=0.01, seed=0))
    study.optimize(bump, n_trials=4)
    assert study.sampler.learner._pool[-1].optimizer.model.kernel.lengthscale == (0.2, 0.4)
