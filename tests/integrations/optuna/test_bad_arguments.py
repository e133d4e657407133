"""What the sampler refuses, and what it says when Optuna is missing."""

import sys

import pytest
from optuna.samplers import RandomSampler

from windvane.errors import InvalidArgument, InvalidType, MissingExtra, UnknownName
from windvane.integrations.optuna import WindvaneSampler


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"algorithm": "gp-ubc"}, UnknownName, "gp-ucb"),
        ({"rate": 0.1}, InvalidArgument, r"make\('auto'\): does not use rate="),
        ({"constraints_func": 0.5}, InvalidType, "constraints_func=0.5"),
        ({"constraints": 0}, InvalidArgument, "constraints=0"),
        ({"constraints": ["heat", "heat"]}, InvalidArgument, "different keys"),
        ({"constraints": "heat"}, InvalidType, "a list of their keys"),
        ({"safe": 0.9, "start": [{"x": 1}]}, InvalidArgument, "constraints=2 for a constraints_func that"),
        ({"safe": 0.9, "constraints": 1}, InvalidArgument, r"needs start=\["),
        ({"start": [{"x": 1}], "constraints": 1}, InvalidArgument, "start=: belongs to safe="),
        ({"safe": 0.9, "constraints": 1, "start": {"x": 1}}, InvalidType, "a list of dicts"),
        ({"safe": 1.5, "constraints": 1, "start": [{"x": 1}]}, InvalidArgument, "safe=1.5"),
        (
            {"safe": 0.9, "constraints": 1, "start": [{"x": 1}], "independent_sampler": RandomSampler()},
            InvalidArgument,
            "knows nothing of what is safe",
        ),
        ({"algorithm": "et-gp-ucb", "delta": 1.5}, InvalidArgument, "delta=1.5"),
        ({"goal": "minimize"}, InvalidArgument, "Optuna's study decides"),
        ({"kernel": "rbf"}, InvalidType, "kernel='rbf'"),
        ({"seed": -1}, InvalidArgument, "seed=-1"),
        ({"seed": "a"}, InvalidType, "seed='a'"),
        ({"n_startup_trials": 0}, InvalidArgument, "n_startup_trials=0"),
        ({"independent_sampler": "random"}, InvalidType, "independent_sampler='random'"),
        ({"clock": "seconds"}, InvalidType, "clock='seconds'"),
        ({"consider_pruned_trials": 1}, InvalidType, "consider_pruned_trials=1"),
    ],
)
def test_bad_arguments_fail_at_once(arguments, error, said):
    with pytest.raises(error, match=said):
        WindvaneSampler(**arguments)


def test_without_optuna_the_extra_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("windvane.integrations.optuna")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtra, match=r"pip install 'windvane\[optuna\]'"):
        __import__("windvane.integrations.optuna")
