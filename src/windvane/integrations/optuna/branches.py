"""Parameters that not every trial has.

The set of parameters that a trial asked for is its branch. Each branch has a model of its own: of all its
parameters together, and of a choice only the options that were taken there, since it is the choice that leads
there. Which branch is next is decided by how good each of them might be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optuna.distributions import CategoricalDistribution

from windvane.integrations.optuna.columns import Columns, columns
from windvane.integrations.optuna.history import Finished, search_space

Branch = frozenset[str]

MOST = 10  # branches between which is chosen: those seen last
TRIES = 3  # trials in each before they are compared
IN_VAIN = 3  # trials that were meant to go there and went elsewhere, after which a branch is given up


def branches(history: Sequence[Finished]) -> list[Branch]:
    """The sets of parameters that trials with a value had, each once; the one seen last comes last."""
    last: dict[Branch, None] = {}
    for trial in history:
        if trial.value is not None:
            branch = frozenset(trial.params)
            last.pop(branch, None)
            last[branch] = None
    return list(last)


def reachable(history: Sequence[Finished], among: Sequence[Branch]) -> list[Branch]:
    """Those that can be chosen: not many, and none that trials no longer lead to."""
    newest = list(among[-MOST:])
    return [each for each in newest if _in_vain(history, each) < IN_VAIN] or newest[-1:]


def _in_vain(history: Sequence[Finished], branch: Branch) -> int:
    """How many trials were meant to go there since the last that did."""
    count = 0
    for trial in reversed(history):
        if trial.value is not None and trial.params.keys() == branch:
            break
        count += branch <= trial.planned and trial.value is not None
    return count


def shared(among: Sequence[Branch]) -> Branch:
    """The parameters that all of them have.

    >>> sorted(shared([frozenset({"kind", "depth"}), frozenset({"kind", "rate"})]))
    ['kind']
    """
    return frozenset.intersection(*among) if among else frozenset()


def of_branch(history: Sequence[Finished], branch: Branch, *, alone: bool) -> tuple[Columns, dict[str, Any]]:
    """What there is to choose in a branch, and the values of the parameters that leave no choice.

    If it is `alone`, nothing depends on a choice, and all options are open.
    """
    inside = [trial for trial in history if trial.value is not None and trial.params.keys() == branch]
    free = search_space(inside, branch)
    if not alone:
        for name, distribution in free.items():
            if isinstance(distribution, CategoricalDistribution):
                taken = {distribution.to_internal_repr(trial.params[name]) for trial in inside}
                kept = [choice for at, choice in enumerate(distribution.choices) if at in taken]
                free[name] = CategoricalDistribution(kept)
    chosen = {name: each for name, each in free.items() if not each.single()}
    fixed = {name: inside[-1].params[name] for name in sorted(branch - chosen.keys())}
    return columns(chosen), fixed
