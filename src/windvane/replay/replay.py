"""`replay`: what each algorithm would have said, and when it would have reset, on a log of measurements."""

from __future__ import annotations

import os
import time as clock
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from windvane.algorithms import ALGORITHMS, make
from windvane.checks import goal_name, integer, one_of
from windvane.constraints import Constraint, constraint_names
from windvane.entries import Entry, parse, with_parts
from windvane.errors import InvalidArgument, InvalidType, WindvaneError
from windvane.optimizer import Optimizer, restore
from windvane.options.declared import RESERVED
from windvane.replay.account import Account
from windvane.replay.cells import point
from windvane.replay.limits import ConstraintAccount
from windvane.replay.log import Log, infer_space
from windvane.replay.read import read_log
from windvane.replay.report import Replay
from windvane.spaces import Domain

WARMUP = 10  # measurements that are not scored: the scale of y is still being found
Progress = Callable[[int, int], None]


def replay(
    log: Log | str | os.PathLike[str],
    algorithms: str | Optimizer | Sequence[str | Optimizer] = "auto",
    space: Domain | None = None,
    *,
    goal: str = "maximize",
    seed: int = 0,
    warmup: int | None = None,
    constraints: dict[str, Constraint] | None = None,
    on_progress: Progress | None = None,
    **options: Any,
) -> Replay:
    """What each algorithm would have said about a log of measurements, and when it would have reset.

    The measurements are told in order, each with its time and its noise if the log has them. They were chosen
    by somebody else, so this says how well an algorithm predicts and when it raises an alarm, not how well it
    would have chosen: no regret comes out of a log.

    `log` is a `wv.Log` or the path of a file (see `windvane.replay.read_log`). `algorithms` are names, with
    options as they are typed in a shell ("tv-gp-ucb:rate=0.03"), or fresh optimisers, of which copies are
    used. All other options go to `make` for each name. Without `space` it is guessed from the log,
    and the report says so. The first `warmup` measurements are told but not scored: by default 10, or a
    quarter of a short log. `on_progress(done, total)` is called before the first measurement and after each.

    With `constraints` their values are told as well; those of a file are in the columns of their names. The
    report says which were violated, when the model of each would have reset, and how far the probability that
    a limit holds was to be believed.

    >>> import windvane as wv
    >>> log = wv.Log([[0.1], [0.9], [0.5], [0.4], [0.6]], [1.0, 0.2, 1.4, 1.5, 1.3])
    >>> found = replay(log, ["gp-ucb", "r-gp-ucb:period=3"], wv.Box([(0, 1)]))
    >>> [(account.label, account.resets.tolist()) for account in found.accounts]
    [('gp-ucb', []), ('r-gp-ucb:period=3', [3])]
    >>> len(found["gp-ucb"].events)
    5
    """
    if constraints is not None:
        constraints = constraint_names(constraints, RESERVED)
        options["constraints"] = constraints
    found = (
        log
        if isinstance(log, Log)
        else read_log(log, space, outcomes={name: each.unit for name, each in (constraints or {}).items()})
    )
    for name in constraints or ():
        if name not in found.measured:
            raise InvalidArgument(
                f"constraints: {found.source} has no value of {name!r}; has "
                f"{', '.join(found.measured) or 'none: Log(outcomes=[...]), or read_log(outcomes=[...])'}"
            )
    if space is not None and not isinstance(space, Domain):
        raise InvalidType(f"space={space!r}: must be a wv.Box, wv.Arms, wv.Candidates or wv.Space")
    domain = infer_space(found) if space is None else space
    points = [_point(found, row, domain) for row in range(len(found))]
    goal = goal_name(goal)
    common = {"goal": goal, "seed": integer("seed", seed, at_least=0), **options}
    optimizers = contestants(algorithms, domain, common)
    if warmup is None:
        warmup = min(WARMUP, len(found) // 4)
    integer("warmup", warmup, at_least=0, at_most=len(found) - 1)
    if on_progress is not None and not callable(on_progress):
        raise InvalidType(f"on_progress={on_progress!r}: must be a function of (done, total)")

    total = len(found) * len(optimizers)
    if on_progress is not None:
        on_progress(0, total)
    accounts: list[Account] = []
    for label, optimizer in optimizers.items():
        done = len(accounts) * len(found)
        step = None if on_progress is None else _counted(on_progress, done, total)
        accounts.append(_told(label, optimizer, found, points, warmup, step))
    return Replay(found, domain, space is None, goal, warmup, tuple(accounts))


def _counted(on_progress: Progress, done: int, total: int) -> Callable[[int], None]:
    return lambda row: on_progress(done + row + 1, total)


def _point(log: Log, row: int, space: Domain) -> Any:
    try:
        return point(space, log.points[row])
    except WindvaneError as error:
        raise type(error)(f"{log.where(row)}: {error}") from None


def _told(
    label: str,
    optimizer: Optimizer,
    log: Log,
    points: Sequence[Any],
    warmup: int,
    on_row: Callable[[int], None] | None,
) -> Account:
    events, seconds, limits = [], np.empty(len(log)), optimizer.constraints
    for row, x in enumerate(points):
        time = None if log.times is None else log.times[row]
        measured = log.outcomes[row] if log.outcomes else {}
        outcomes = {name: value for name, value in measured.items() if name in limits}
        started = clock.perf_counter()
        try:
            events.append(optimizer.tell(x, time=time, **log.told(row), **outcomes))
        except WindvaneError as error:
            raise type(error)(f"{log.where(row)}: {label}: {error}") from error
        seconds[row] = clock.perf_counter() - started
        if on_row is not None:
            on_row(row)
    best = optimizer.best(context=optimizer.last_context)
    accounts = {name: ConstraintAccount.of(name, limit, events, warmup) for name, limit in limits.items()}
    return Account(label, tuple(events), best, seconds, warmup, accounts)


# -- who takes part ----------------------------------------------------------------------------------------


def contestants(given: Any, space: Domain, options: Mapping[str, Any]) -> dict[str, Optimizer]:
    """Fresh optimisers by their labels."""
    each = [given] if isinstance(given, str | Optimizer) else given
    if not isinstance(each, Sequence) or not each:
        raise InvalidType(f"algorithms={given!r}: must be names such as 'auto' or 'tv-gp-ucb:rate=0.03'")
    found: dict[str, Optimizer] = {}
    for item in each:
        if isinstance(item, Optimizer):
            pairs = [(item.composition.name, _copy(item, space, options["goal"]))]
        elif isinstance(item, str):
            pairs = [(entry.label, _made(entry, space, options)) for entry in parse("algorithms", [item])]
        else:
            raise InvalidType(f"algorithms: {item!r} must be a name, or an optimiser from wv.make")
        for label, optimizer in pairs:
            if label in found:
                raise InvalidArgument(f"algorithms: {label} is there twice")
            found[label] = optimizer
    return found


def _made(entry: Entry, space: Domain, options: Mapping[str, Any]) -> Optimizer:
    name = one_of("algorithms", entry.name, ALGORITHMS)
    given = entry.keywords()
    for option in given:
        one_of(f"algorithms: {name}: option", option, ALGORITHMS[name].options)
    given = with_parts(f"algorithms: {name}: ", given)
    try:
        return make(name, space, **{**options, **given})
    except WindvaneError as error:
        raise type(error)(f"algorithms: {entry.label}: {error}") from None


def _copy(optimizer: Optimizer, space: Domain, goal: str) -> Optimizer:
    if optimizer.step != 1:
        raise InvalidArgument(f"algorithms: {optimizer!r} has been told something; give a fresh one")
    if optimizer.space != space or optimizer.goal != goal:
        raise InvalidArgument(
            f"algorithms: {optimizer!r} to {optimizer.goal} is for another space or goal than the replay; "
            f"give space= and goal= as it has them"
        )
    return restore(optimizer.state())
