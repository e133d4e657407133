"""When clocks go back, one hour is shown twice: trials stay in the order in which they ended."""

import time
from datetime import datetime, timedelta

import optuna
import pytest
from optuna.distributions import FloatDistribution

from windvane.integrations.optuna.history import TrialReading


@pytest.fixture
def berlin(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def ended(start, end, value):
    trial = optuna.trial.create_trial(
        params={"x": 0.5}, distributions={"x": FloatDistribution(0, 1)}, value=value
    )
    trial.datetime_start, trial.datetime_complete = (datetime(2025, 10, 26, *each) for each in (start, end))
    return trial


def test_the_hour_that_is_shown_twice(berlin):
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    shown = [  # at three o'clock it is two o'clock again
        ((1, 50), (2, 10)),
        ((2, 10), (2, 50)),
        ((2, 55), (2, 5)),
        ((2, 5), (2, 20)),
        ((2, 20), (3, 10)),
    ]
    study.add_trials([ended(*each, float(number)) for number, each in enumerate(shown)])
    for clock in ("trials", timedelta(minutes=1)):
        history = TrialReading(clock=clock).history(study)
        assert [trial.value for trial in history] == [0.0, 1.0, 2.0, 3.0, 4.0]
    minutes = [trial.time - history[0].time for trial in history]
    assert minutes == pytest.approx([0, 40, 55, 70, 120])


def test_on_any_other_day_the_order_is_that_of_the_clock(berlin):
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    shown = [((12, 0), (12, 30)), ((12, 5), (12, 10)), ((12, 6), (12, 20))]
    study.add_trials([ended(*each, float(number)) for number, each in enumerate(shown)])
    assert [trial.value for trial in TrialReading().history(study)] == [1.0, 2.0, 0.0]
