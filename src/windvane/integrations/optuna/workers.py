"""What other threads, processes and machines are evaluating at this moment.

A trial that runs is in Optuna's storage, with the parameters that were suggested to it so far. Two things are
added: all parameters that were chosen for it, before it asks for them one by one, and who is evaluating it. A
process that was killed leaves a trial that runs for ever; on the machine where it died, nobody waits for it.
"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any

from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from windvane.integrations.optuna.columns import Columns, inward
from windvane.integrations.optuna.history import ASKED

MOST = 64  # running trials that a new one keeps away from: the newest
LONGEST = timedelta(days=1)  # how long a trial is waited for


@lru_cache(maxsize=4)
def _life(process: int) -> str:  # noqa: ARG001 - a process that was forked has a life of its own
    return uuid.uuid4().hex


def _worker() -> list[Any]:
    return [socket.gethostname(), os.getpid(), _life(os.getpid())]


def announce(study: Study, trial: FrozenTrial, params: Mapping[str, Any], meant: Sequence[str]) -> None:
    """Let others know who evaluates this trial, and where; `meant` were its parameters to be, at first."""
    note: dict[str, Any] = {"params": dict(params), "meant": sorted(meant), "worker": _worker()}
    study._storage.set_trial_system_attr(trial._trial_id, ASKED, note)


def running(study: Study, trial: FrozenTrial) -> list[FrozenTrial]:
    """The other trials that are being evaluated, in the order of their numbers."""
    others = study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
    return [each for each in others if each.number != trial.number and _alive(each, trial)]


def known(trials: Sequence[FrozenTrial]) -> list[dict[str, Any]]:
    """Their parameters, suggested or only chosen as yet."""
    return [{**each.system_attrs.get(ASKED, {}).get("params", {}), **each.params} for each in trials]


def points(trials: Sequence[FrozenTrial], of: Columns) -> list[tuple[Any, ...]]:
    """Where they are evaluated, as far as it is known."""
    found = (inward(of, params) for params in known(trials))
    return [point for point in found if point is not None][-MOST:]


def _alive(trial: FrozenTrial, now: FrozenTrial) -> bool:
    started, moment = trial.datetime_start, now.datetime_start
    if started is not None and moment is not None and moment - started > LONGEST:
        return False
    host, process, life = trial.system_attrs.get(ASKED, {}).get("worker", ("", 0, ""))
    if host != socket.gethostname() or os.name != "posix":
        return True  # nobody can know from here
    if process == os.getpid():
        return bool(life == _life(process))
    try:
        os.kill(process, 0)  # sends nothing; asks whether there is such a process
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
