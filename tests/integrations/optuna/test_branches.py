"""Choices that lead somewhere, fail, or are the same twice; studies of the same name; fine grids."""

import optuna
import pytest
from optuna.distributions import IntDistribution

import windvane as wv
from windvane.errors import InvalidArgument
from windvane.integrations.optuna import WindvaneSampler, best_now
from windvane.integrations.optuna.branches import _between
from windvane.integrations.optuna.notes import SAMPLER

GIVEN = {"kernel": wv.RBF(0.3), "noise_variance": 0.01}


def study_of(objective, trials, *, catch=(), sampler=None, **options):
    sampler = sampler or WindvaneSampler("gp-ucb", seed=0, **GIVEN)
    study = optuna.create_study(direction="maximize", sampler=sampler, **options)
    study.optimize(objective, n_trials=trials, catch=catch)
    return study


def taken(study, name):
    return [trial.params.get(name) for trial in study.trials]


def test_an_option_that_fails_before_anything_else_is_asked_is_not_asked_for_ever():
    def objective(trial):
        if trial.suggest_categorical("kind", ["a", "b"]) == "b":
            raise RuntimeError("not installed")
        return -((trial.suggest_float("u", 0, 1) - 0.4) ** 2)

    study = study_of(objective, 20, catch=(RuntimeError,))
    assert taken(study, "kind").count("b") < 10
    assert best_now(study).params["kind"] == "a"


@pytest.mark.parametrize("options", [["adam", "adam", "sgd"], [0, False, 1, True, None]])
def test_options_that_are_equal_are_one(options):
    study = study_of(lambda trial: float(trial.suggest_categorical("kind", options) == options[-1]), 12)
    assert taken(study, "kind").count(options[0]) < 9
    assert options[-1] in taken(study, "kind")


def test_a_number_that_leads_to_more_parameters():
    """0 is better and asks for nothing else; 1 asks for a weight."""

    def objective(trial):
        if trial.suggest_int("n", 0, 1) == 0:
            return 1.0
        return 0.3 - (trial.suggest_float("w", 0, 1) - 0.5) ** 2

    study = study_of(objective, 30)
    assert taken(study, "n")[-15:].count(0) >= 12
    assert best_now(study).params == {"n": 0}


def test_every_depth_of_a_chain_is_tried():
    def objective(trial):
        depth = trial.suggest_int("depth", 1, 4)
        widths = [trial.suggest_float(f"width{i}", 0, 1) for i in range(depth)]
        return -abs(depth - 3) - sum((width - 0.5) ** 2 for width in widths)

    study = study_of(objective, 40)
    assert set(taken(study, "depth")) == {1, 2, 3, 4}
    assert best_now(study).params["depth"] == 3
    assert taken(study, "depth")[-10:].count(3) >= 7


def test_where_options_lead_somewhere_all_of_them_are_tried():
    options = [f"o{i}" for i in range(14)]

    def objective(trial):
        kind = trial.suggest_categorical("kind", options)
        return (
            (kind == "o13") - (trial.suggest_float("x", 0, 1) - 0.5) ** 2
            if kind == "o0"
            else (kind == "o13") + 0.0
        )

    study = study_of(objective, 40)
    assert set(taken(study, "kind")) == set(options)


def test_what_no_trial_leads_to_any_more_is_not_the_best_now():
    def objective(trial):
        names = "ab" if trial.number < 8 else "bc"
        value = sum(trial.suggest_float(name, 0, 1) for name in names)
        return value + (5.0 if trial.number < 8 else 0.0)

    study = study_of(objective, 30)
    assert best_now(study).params.keys() == {"b", "c"}


def test_to_ask_for_the_best_writes_nothing():
    study = study_of(
        lambda trial: -trial.suggest_float("x", 0, 1), 5, sampler=optuna.samplers.RandomSampler(seed=0)
    )
    study.sampler = WindvaneSampler()
    best_now(study)
    assert SAMPLER not in study.user_attrs
    noted = study_of(lambda trial: -trial.suggest_float("x", 0, 1), 5)
    before = noted.user_attrs[SAMPLER]
    noted.sampler = WindvaneSampler()
    best_now(noted)
    assert noted.user_attrs[SAMPLER] == before


def test_two_studies_of_one_name(tmp_path):
    sampler = WindvaneSampler("gp-ucb", **GIVEN)
    for name in ("a", "b"):
        storage = f"sqlite:///{tmp_path / name}.db"
        study = study_of(
            lambda trial: trial.suggest_float("x", 0, 1),
            2,
            sampler=sampler,
            study_name="press",
            storage=storage,
        )
        assert study.user_attrs[SAMPLER]["algorithm"] == "gp-ucb"


def test_a_kernel_of_several_coordinates_within_another():
    for kernel in (wv.RBF([0.2, 0.4]) * wv.Markov(0.03), wv.RBF([0.2, 0.4]) + wv.RBF([0.3, 0.3])):
        sampler = WindvaneSampler("gp-ucb", kernel=kernel, noise_variance=0.01, seed=0)
        study_of(
            lambda trial: trial.suggest_float("x", 0, 1) * trial.suggest_float("y", 0, 1), 3, sampler=sampler
        )


def test_reasons_speak_of_trials():
    """Failed trials have numbers too, so that steps of the model and trials differ."""

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        if trial.number in (3, 4):
            return float("nan")
        return (1.0 if trial.number < 25 else 4.0) - (x - 0.5) ** 2

    study = study_of(objective, 30, sampler=WindvaneSampler(seed=0, hazard=0.05, **GIVEN))
    reasons = [
        trial.user_attrs["windvane:reason"] for trial in study.trials if "windvane:reason" in trial.user_attrs
    ]
    assert reasons
    assert all("step" not in reason.split("believed")[0] for reason in reasons)
    assert any("at trial 25" in reason or "at trial 26" in reason for reason in reasons)


def test_options_that_could_not_be_noted_must_be_given_again():
    study = study_of(lambda trial: -trial.suggest_float("x", 0, 1), 3)
    study.set_user_attr(SAMPLER, {**study.user_attrs[SAMPLER], "options": None})
    study.sampler = optuna.samplers.RandomSampler()
    for given in ({}, {"seed": 1}, {"delta": 0.2}):
        with pytest.raises(InvalidArgument, match="algorithm="):
            best_now(study, **given)


def test_a_number_that_leads_somewhere_and_whose_range_moves():
    """Numbers of before may lie on another grid and outside of the range: then nothing can be told from them."""

    def objective(trial):
        low = 0 if trial.number < 12 else 5
        n = trial.suggest_int("n", low, low + 4, step=1 if trial.number % 2 else 2)
        return 0.1 * n - (trial.suggest_float("w", 0, 1) if n > low + 1 else 0.0)

    assert all(trial.state.name == "COMPLETE" for trial in study_of(objective, 24).trials)


@pytest.mark.parametrize(
    ("wide", "own", "others"),
    [
        (IntDistribution(5, 9), [0, 1], [5]),  # the range has moved away
        (IntDistribution(0, 8, step=2), [2, 4], [7]),  # from when there was another grid
    ],
)
def test_where_numbers_do_not_tell_the_whole_range_is_open(wide, own, others):
    assert _between(wide, own, others) == wide
