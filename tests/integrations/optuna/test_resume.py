"""What was learned is a function of the storage and the seed: after a crash, the same suggestions, bit for bit."""

import subprocess
import sys
from datetime import datetime, timedelta

import numpy as np
import optuna
import pytest
from optuna.trial import TrialState

import windvane as wv
from windvane.integrations.optuna import WindvaneSampler, notes, workers

PROGRAM = """
import os, signal, sys
import optuna
from windvane.integrations.optuna import WindvaneSampler

def storage(kind, path):
    if kind == "journal":
        return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(path))
    return optuna.storages.RDBStorage(f"sqlite:///{path}")

calls = 0

def objective(trial, last=None):
    global calls
    calls += 1
    x = trial.suggest_float("x", 0, 1)
    k = trial.suggest_int("k", 1, 100, log=True)
    kind = trial.suggest_categorical("kind", ["y", "z"])
    y = trial.suggest_float("y", 0, 1) if kind == "y" else trial.suggest_float("z", 0, 1, step=0.1)
    if calls == last:
        os.kill(os.getpid(), signal.SIGKILL)  # in the middle of an evaluation
    return (x - 0.3) ** 2 + 0.1 * (k / 100 - 0.2) ** 2 + 0.3 * y

def study(kind, path, seed):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna.create_study(
        study_name="s", storage=storage(kind, path), sampler=WindvaneSampler(seed=seed), load_if_exists=True
    )

if __name__ == "__main__":
    kind, path, seed = sys.argv[1], sys.argv[2], None if sys.argv[3] == "None" else int(sys.argv[3])
    study(kind, path, seed).optimize(lambda trial: objective(trial, last=6), n_trials=100)
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    namespace = {"__name__": "program"}
    exec(compile(PROGRAM, str(path), "exec"), namespace)
    return path, namespace


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize(("kind", "seed"), [("rdb", None), ("journal", 5)])
def test_killed_in_the_middle_of_an_evaluation(kind, seed, program, tmp_path):
    path, names = program
    database = str(tmp_path / "database")
    died = subprocess.run(
        [sys.executable, str(path), kind, database, str(seed)], capture_output=True, text=True
    )
    assert died.returncode == -9, died.stderr

    resumed = names["study"](kind, database, None)
    states = [trial.state for trial in resumed.trials]
    assert states == [TrialState.COMPLETE] * 5 + [TrialState.RUNNING]
    resumed.optimize(names["objective"], n_trials=6)
    assert resumed.trials[6].params == resumed.trials[5].params  # what was under way is tried again

    chosen = seed if seed is not None else resumed.user_attrs[notes.SAMPLER]["seed"]
    whole = optuna.create_study(sampler=WindvaneSampler(seed=chosen))
    whole.optimize(names["objective"], n_trials=11)
    done = [trial for trial in resumed.trials if trial.state == TrialState.COMPLETE]
    assert [trial.params for trial in done] == [trial.params for trial in whole.trials]
    assert len({frozenset(trial.params) for trial in done}) == 2  # both branches were there


# -- several at once ---------------------------------------------------------------------------------------

KNOWN = {"kernel": wv.RBF(0.3), "noise_variance": 0.01}
X = {"x": optuna.distributions.FloatDistribution(0, 1), "y": optuna.distributions.FloatDistribution(0, 1)}


def make(algorithm="gp-ucb", seed=0, **options):
    return WindvaneSampler(algorithm, seed=seed, **{**KNOWN, **options})


def value(params):
    return (params["x"] - 0.3) ** 2 + (params["y"] - 0.6) ** 2


def test_trials_that_end_out_of_order():
    study = optuna.create_study(sampler=make())
    for _ in range(3):
        trial = study.ask(X)
        study.tell(trial, value(trial.params))
    out = [study.ask(X) for _ in range(4)]
    assert len({tuple(trial.params.values()) for trial in out}) == 4
    for trial in (out[2], out[0], out[3], out[1]):
        study.tell(trial, value(trial.params))
    suggested = study.ask(X)
    study.tell(suggested, state=TrialState.FAIL)
    numbers = sorted(range(7), key=lambda number: study.trials[number].datetime_complete)
    assert numbers == [0, 1, 2, 5, 3, 6, 4]
    told = study.sampler.learner._pool[-1].told
    assert [each.value for each in told] == [study.trials[number].value for number in numbers]
    again = optuna.create_study(sampler=make())
    again.add_trials(study.trials[:7])
    assert again.ask(X).params == suggested.params


def test_an_order_that_was_not_foreseen():
    """The sampler has learned from trial 4 before it turns out that trial 3 had ended earlier."""
    study = optuna.create_study(sampler=make())
    for _ in range(3):
        trial = study.ask(X)
        study.tell(trial, value(trial.params))
    third, fourth = study.ask(X), study.ask(X)
    study.tell(fourth, value(fourth.params))
    study.tell(third, value(third.params))
    stored = study._storage._get_trial(third._trial_id)  # as if another machine's clock were behind
    stored.datetime_complete = study.trials[2].datetime_complete + timedelta(microseconds=1)
    again = optuna.create_study(sampler=make())
    again.add_trials(study.trials)
    assert study.ask(X).params == again.ask(X).params
    told = study.sampler.learner._pool[-1].told
    assert [each.value for each in told] == [trial.value for trial in study.trials[:5]]


@pytest.mark.parametrize("algorithm", ["gp-ucb", "et-gp-ucb"])
def test_threads(algorithm):
    study = optuna.create_study(sampler=make(algorithm))

    def objective(trial):
        return value({name: trial.suggest_float(name, 0, 1) for name in X})

    study.optimize(objective, n_trials=24, n_jobs=4)
    assert all(trial.state == TrialState.COMPLETE for trial in study.trials)
    points = [tuple(trial.params.values()) for trial in study.trials]
    assert len(set(points)) == 24
    again = optuna.create_study(sampler=make(algorithm))
    again.add_trials(study.trials)
    assert again.ask(X).params == study.ask(X).params


def test_two_processes_share_a_study(tmp_path):
    """Two samplers with a connection each, as two processes would have them."""
    url = f"sqlite:///{tmp_path / 'shared.db'}"
    studies = [
        optuna.create_study(study_name="s", storage=url, sampler=make(seed=None), load_if_exists=True)
        for _ in range(2)
    ]
    for _ in range(5):
        out = [(study, study.ask(X)) for study in studies]
        assert out[0][1].params != out[1][1].params  # the second knows of the first
        for study, trial in reversed(out):
            study.tell(trial, value(trial.params))
    seeds = {study.sampler.seed(study) for study in studies}
    assert len(seeds) == 1  # drawn by one, read by the other
    assert studies[0].ask(X).params != studies[1].ask(X).params


def test_a_point_that_is_announced_but_not_suggested_yet_is_kept_away_from():
    study = optuna.create_study(sampler=make())
    for _ in range(4):
        trial = study.ask(X)
        study.tell(trial, value(trial.params))
    first, second = study.ask(), study.ask()
    assert first.relative_params != second.relative_params
    note = study._storage.get_trial(first._trial_id).system_attrs[workers.ASKED]
    assert note["params"] == first.relative_params


def running(study, worker, started=None):
    trial = study.ask()
    note = {"params": {"x": 0.5, "y": 0.5}, "worker": worker}
    study._storage.set_trial_system_attr(trial._trial_id, workers.ASKED, note)
    if started is not None:
        study._storage._studies[study._study_id].trials[trial.number].datetime_start = started
    return trial.number


def test_who_is_waited_for():
    study = optuna.create_study(sampler=make())
    host, process, life = workers._worker()
    alive = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    expected = [
        running(study, [host, process, life]),
        running(study, [host, alive.pid, "another life"]),
        running(study, ["another machine", gone.pid, "its life"]),
    ]
    running(study, [host, gone.pid, "its life"])  # died on this machine
    running(study, [host, process, "an earlier life"])  # a container that was started again
    running(study, ["another machine", 1, ""], started=datetime.now() - timedelta(days=2))
    mine = study._storage.get_trial(study.ask()._trial_id)
    found = [trial.number for trial in workers.running(study, mine)]
    alive.communicate(b"\n")
    assert found == expected


# -- the clock ---------------------------------------------------------------------------------------------


def test_real_time_is_in_steps():
    study = optuna.create_study(sampler=make("tv-gp-ucb", rate=0.03, clock=timedelta(seconds=10)))
    start = datetime(2024, 5, 1, 12)
    for seconds, x in ((0, 0.1), (20, 0.5), (25, 0.9)):
        study.add_trial(
            optuna.trial.FrozenTrial(
                number=0,
                state=TrialState.COMPLETE,
                value=x,
                datetime_start=start,
                datetime_complete=start + timedelta(seconds=seconds),
                params={"x": x, "y": x},
                distributions=X,
                user_attrs={},
                system_attrs={},
                intermediate_values={},
                trial_id=0,
            )
        )
    trial = study.ask(X)
    times = [each.time for each in study.sampler.learner._pool[-1].told]
    assert np.diff(times) == pytest.approx([2.0, 0.5])
    study.tell(trial, 0.5)
    study.ask(X)
    told = study.sampler.learner._pool[-1].told
    assert told[-1].time * 10 == pytest.approx(study.trials[3].datetime_complete.timestamp())
