"""What to try next: a function of what has ended, of what is running, of the goal and of the seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from optuna.trial import FrozenTrial

from windvane.errors import InvalidArgument
from windvane.feasibility import LIKELY
from windvane.integrations.optuna.branches import TRIES, Branch, branches, hopeful, of_branch, reachable
from windvane.integrations.optuna.columns import Columns, untried
from windvane.integrations.optuna.history import Finished, avoided, observations
from windvane.integrations.optuna.learner import Learner, OptunaProblem
from windvane.integrations.optuna.workers import known, points


@dataclass(frozen=True)
class SuggestionInputs:
    """All that a suggestion depends on."""

    history: Sequence[Finished]
    running: Sequence[FrozenTrial]
    now: float
    goal: str
    seed: int
    fixed: Mapping[str, Any] = field(default_factory=dict)  # what the trial was enqueued with

    def problem(self, of: Columns) -> OptunaProblem:
        """What an optimiser for these parameters is made for."""
        return OptunaProblem(of, self.goal, self.seed)

    def tried(self) -> list[Mapping[str, Any]]:
        """The parameters of all trials that have ended or are running."""
        return [*(trial.params for trial in self.history), *known(self.running)]

    def beside(self, of: Columns) -> list[tuple[Any, ...]]:
        """The points that a new one keeps away from."""
        return [*avoided(self.history, of), *points(self.running, of)]


class Suggestion(NamedTuple):
    """What one model would do: how many trials it rests on, and how good it might be."""

    params: dict[str, Any]
    tries: int
    optimism: float
    feasible: float = 1.0  # how probably the constraints hold


def choose(learner: Learner, scene: SuggestionInputs, of: Columns, startup: int) -> dict[str, Any]:
    """Values for these parameters, which all branches have, and for the others of the best branch.

    None at all before so many trials with a value as `startup` says.
    """
    _, numbers = observations(scene.history, of)
    if len(numbers) < startup:
        return {}
    among = branches(scene.history)
    safe = learner.constraints.safe is not None
    if safe and len(among) > 1:
        raise InvalidArgument(
            "safe=: all trials must have the same parameters, for nothing is known of one under those of "
            f"another; there are {' and '.join(str(sorted(each)) for each in among)}"
        )
    new = {} if safe else untried(of, scene.tried(), leading=len(among) > 1)
    if len(among) == 1:
        of = of if safe else hopeful(scene.history, of)
        told, _ = observations(scene.history, of)
        live = learner.after(scene.problem(of), told)
        return {**live.ask(scene.now, scene.beside(of), scene.fixed), **new}
    found = [_in_branch(learner, scene, branch) for branch in reachable(scene.history, among)]
    best = max(
        found, key=lambda each: (-min(each.tries, TRIES), *ranked(each.feasible, each.optimism))
    ).params
    if new:  # nobody knows where it leads
        best = {each.name: best[each.name] for each in of if each.name in best}
    return {**best, **new}


def choose_along(
    learner: Learner, scene: SuggestionInputs, name: str, given: Branch, startup: int
) -> dict[str, Any]:
    """Values for a parameter that nobody expected, and for those that come with it.

    `given` are the parameters that the trial has already: it is on its way to a branch that has them all.
    """
    leads = [each for each in branches(scene.history) if name in each and given <= each]
    if not leads or sum(_inside(trial, leads[-1]) for trial in scene.history) < startup:
        return {}
    found = _in_branch(learner, scene, leads[-1]).params
    return {key: value for key, value in found.items() if key not in given}


def _in_branch(learner: Learner, scene: SuggestionInputs, branch: Branch) -> Suggestion:
    of, fixed = of_branch(scene.history, branch, alone=False)
    told, numbers = observations([trial for trial in scene.history if trial.params.keys() == branch], of)
    live = learner.after(scene.problem(of), told)
    params = live.ask(scene.now, scene.beside(of), scene.fixed)
    optimism, feasible = live.optimism(params, scene.now), live.feasible(params, scene.now)
    return Suggestion({**fixed, **params}, len(numbers), optimism, feasible)


def ranked(feasible: float, promise: float) -> tuple[float, float]:
    """What to compare branches by: where the constraints are likely to hold only the promise counts.

    >>> ranked(0.9, 1.0) > ranked(0.6, 0.5) > ranked(0.3, 2.0)
    True
    """
    return min(feasible, LIKELY), promise


def _inside(trial: Finished, branch: Branch) -> bool:
    return trial.value is not None and trial.params.keys() == branch
