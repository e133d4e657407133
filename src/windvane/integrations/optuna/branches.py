"""Parameters that not every trial has.

The set of parameters that a trial asked for is its branch. Each branch has a model of its own: of all its
parameters together, and of a choice only the options that were taken there, since it is the choice that leads
there; of whole numbers only those between the ones that led elsewhere. Which branch is next is decided by how
good each of them might be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optuna.distributions import CategoricalDistribution, IntDistribution

from windvane.integrations.optuna.columns import Columns, columns
from windvane.integrations.optuna.history import Finished, search_space

Branch = frozenset[str]

MOST = 10  # branches between which is chosen: those seen last
TRIES = 3  # trials in each before they are compared
HOPELESS = 3  # trials with an option, none of which gave a value
AGO = 50  # trials after which that is forgotten
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
        count += branch == trial.planned and trial.value is not None
    return count


def shared(among: Sequence[Branch]) -> Branch:
    """The parameters that all of them have.

    >>> sorted(shared([frozenset({"kind", "depth"}), frozenset({"kind", "rate"})]))
    ['kind']
    """
    return frozenset.intersection(*among) if among else frozenset()


def hopeful(history: Sequence[Finished], of: Columns) -> Columns:
    """The same without the options that have only failed of late: nothing is learned by trying them again."""
    recent, kept = history[-AGO:], {}
    for each in of:
        distribution = each.distribution
        if isinstance(distribution, CategoricalDistribution):
            ended = [trial for trial in recent if each.name in trial.params]
            places = [each.inward(trial.params[each.name]) for trial in ended]
            good = {at for at, trial in zip(places, ended, strict=True) if trial.value is not None}
            options = enumerate(distribution.choices)
            left = [option for at, option in options if at in good or places.count(at) < HOPELESS]
            if 0 < len(left) < len(distribution.choices):
                distribution = CategoricalDistribution(left)
        kept[each.name] = distribution
    return columns(kept)


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
            elif isinstance(distribution, IntDistribution):
                own = [trial.params[name] for trial in inside]
                elsewhere = (t for t in history if t.value is not None and t.params.keys() != branch)
                others = [trial.params[name] for trial in elsewhere if name in trial.params]
                free[name] = _between(distribution, own, others)
    chosen = {name: each for name, each in free.items() if not each.single()}
    fixed = {name: inside[-1].params[name] for name in sorted(branch - chosen.keys())}
    return columns(chosen), fixed


def _between(distribution: IntDistribution, own: Sequence[int], others: Sequence[int]) -> IntDistribution:
    """The numbers that may lead to a branch: up to those that led elsewhere, if these lie to its sides.

    >>> _between(IntDistribution(1, 9), own=[3, 4], others=[1, 6])
    IntDistribution(high=5, log=False, low=2, step=1)
    >>> _between(IntDistribution(1, 9), own=[3, 6], others=[4])
    IntDistribution(high=9, log=False, low=1, step=1)
    """
    low, high = min(own), max(own)
    below, above = [n for n in others if n < low], [n for n in others if n > high]
    if len(below) + len(above) < len(others):
        return distribution
    step = distribution.step
    first = max([distribution.low, *(n + step for n in below)])
    last = min([distribution.high, *(n - step for n in above)])
    if first > last or (last - first) % step:  # the range has moved, or its grid
        return distribution
    return IntDistribution(first, last, log=distribution.log, step=step)
