"""Optimizer + task -> trace: what would have happened, with the regret that only a task knows."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from windvane.checks import Array, integer
from windvane.data import Event, IntArray
from windvane.errors import InvalidArgument, InvalidType
from windvane.optimizer import Optimizer
from windvane.plots import html
from windvane.tasks.base import Constrained, Contextual, Disturbed, Noisy, Task

OUTCOMES = 8  # the stream of random numbers for the noise of outcomes; that of values has one of its own


@runtime_checkable
class AskTell(Protocol):
    """All that `simulate` needs of an optimiser, ours or anyone's; larger values are better."""

    def ask(self) -> Any:
        """The next point to evaluate."""
        ...

    def tell(self, x: Any, y: float, /) -> Any:
        """Record the value y observed at x."""
        ...


@dataclass(frozen=True, eq=False)
class Trace:
    """A simulated run.

    `regret` is r_t = max f_t - f_t(x_t) for t = 1 .. T (Definition 1); `resets` are the steps of the resets.
    An optimiser that is not from Windvane may tell no events: then `events` and `resets` are empty.

    On a task with constraints, max f_t is over what is within the limits at step t, so that the regret of a
    point beyond them may be negative. `violated` says at which steps an outcome of x_t, without its noise,
    was beyond its limit; it is None on tasks without constraints.
    """

    regret: Array
    events: tuple[Event, ...]
    violated: npt.NDArray[np.bool_] | None = None

    @property
    def resets(self) -> IntArray:
        """The steps at which the data were reset."""
        return np.array([event.step for event in self.events if event.reset], dtype=np.int64)

    @property
    def cumulative(self) -> Array:
        """R_t for t = 1 .. T."""
        return np.asarray(np.cumsum(self.regret))

    @property
    def average(self) -> float:
        """R_T / T, the figure of the paper's tables."""
        return float(self.regret.mean())

    @property
    def violations(self) -> int:
        """At how many steps a limit was broken."""
        return 0 if self.violated is None else int(self.violated.sum())

    @property
    def feasible_regret(self) -> Array:
        """r_t of the steps at which no limit was broken; never negative, but for rounding."""
        return self.regret if self.violated is None else self.regret[~self.violated]

    def __len__(self) -> int:
        return len(self.regret)

    def _repr_html_(self) -> str:
        """For notebooks."""
        violations = None if self.violated is None else self.violations
        return html.run(self.regret, self.resets.tolist(), self.events, violations)


def simulate(
    optimizer: AskTell,
    task: Task,
    *,
    seed: int = 0,
    steps: int | None = None,
    on_step: Callable[[Event], None] | None = None,
) -> Trace:
    """Run a fresh optimiser on a task for T steps; the seed draws the noise.

    >>> import windvane as wv
    >>> task = wv.task("within-model", rate=0.03, horizon=30, seed=0)
    >>> opt = wv.make("et-gp-ucb", task.space, kernel=task.kernel, noise_variance=task.noise_variance, seed=0)
    >>> trace = simulate(opt, task, seed=0)
    >>> len(trace.events), bool((trace.regret >= 0).all())
    (30, True)

    Anything with `ask()` and `tell(x, y)` can take the place of the optimiser. It is for the caller to
    see that it is fresh, maximises, and asks for points of the task's space. Where that space has contexts,
    `ask(context=...)` is called with those of the step. What its `tell` returns is
    kept, and handed to `on_step`, if it is an `Event`.

    >>> class Centre:
    ...     def ask(self):
    ...         return [0.5, 0.5]
    ...     def tell(self, x, y):
    ...         pass
    >>> trace = simulate(Centre(), task, seed=0)
    >>> len(trace), trace.events
    (30, ())

    On a task with constraints, what is limited is told with noise of its own, by name, if the optimiser has
    `constraints` with these names: `tell(x, y, heat=84.2)`. One that has none is told y only.

    >>> trace = simulate(Centre(), wv.task("guarded", horizon=30, seed=3), seed=0)
    >>> trace.violated.shape, trace.violations
    ((30,), 4)
    """
    if isinstance(optimizer, type) or not isinstance(optimizer, AskTell):
        raise InvalidType(f"optimizer={optimizer!r}: must come from wv.make, or have ask() and tell(x, y)")
    if not isinstance(task, Task):
        raise InvalidType(f"task={task!r}: must come from wv.task, or have value, optimum, space and horizon")
    if on_step is not None and not callable(on_step):
        raise InvalidType(f"on_step={on_step!r}: must be a function of an event")
    if isinstance(optimizer, Optimizer):
        _check(optimizer, task)
    contextual = task if isinstance(task, Contextual) and task.space.contexts else None
    if task.space.contexts and contextual is None:
        raise InvalidType(f"task={task!r}: its space has contexts, so it needs context(t)")
    constrained = task if isinstance(task, Constrained) and task.constraints else None
    told = _told(optimizer, constrained)
    length = task.horizon if steps is None else integer("steps", steps, at_least=1, at_most=task.horizon)
    noise = _noise(
        task, np.random.default_rng((integer("seed", seed, at_least=0), 2)).standard_normal(length)
    )
    disturbed = task if isinstance(task, Disturbed) else None
    regret = np.empty(length)
    violated = None if constrained is None else np.zeros(length, dtype=np.bool_)
    extra = _outcome_noise(constrained, seed, length)
    events = []
    for t in range(1, length + 1):
        x = optimizer.ask() if contextual is None else optimizer.ask(context=contextual.context(t))  # type: ignore[call-arg]
        value = task.value(x, t)
        regret[t - 1] = task.optimum(t) - value
        observed = value + float(noise[t - 1])
        if disturbed is not None:
            observed += disturbed.disturbance(t)
        outcomes = {} if constrained is None else constrained.outcomes(x, t)
        if constrained is not None and violated is not None:
            violated[t - 1] = not all(
                limit.met(outcomes[name]) for name, limit in constrained.constraints.items()
            )
        event = optimizer.tell(x, observed, **{name: outcomes[name] + extra[name][t - 1] for name in told})
        if isinstance(event, Event):
            events.append(event)
            if on_step is not None:
                on_step(event)
    return Trace(regret, tuple(events), violated)


def _check(optimizer: Optimizer, task: Task) -> None:
    """What can be known of an optimiser of ours before it starts."""
    if optimizer.goal != "maximize":
        raise InvalidArgument("optimizer: tasks are to be maximised; make it with goal='maximize'")
    if optimizer.step != 1:
        raise InvalidArgument("optimizer: must be fresh, this one has been told values already")
    if optimizer.space != task.space:
        raise InvalidArgument(f"optimizer: made for {optimizer.space}, the task lives in {task.space}")


def _told(optimizer: AskTell, task: Constrained | None) -> list[str]:
    """The outcomes that are told: those that the optimiser has constraints for."""
    wanted = getattr(optimizer, "constraints", None)
    if not isinstance(wanted, Collection):
        return []
    known = {} if task is None else task.constraints
    if isinstance(optimizer, Optimizer):
        unknown = [name for name in wanted if name not in known]
        if unknown:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise InvalidArgument(
                f"optimizer: has a constraint on {unknown[0]!r}, which is no outcome of the task; {has}"
            )
    return [name for name in known if name in wanted]


def _outcome_noise(task: Constrained | None, seed: int, length: int) -> dict[str, list[float]]:
    """The noise of the outcomes at the steps 1, 2, .. by name."""
    if task is None:
        return {}
    normal = np.random.default_rng((seed, OUTCOMES)).standard_normal((length, len(task.constraints)))
    return {
        name: (math.sqrt(task.outcome_noise[name]) * draws).tolist()
        for name, draws in zip(task.constraints, normal.T, strict=True)
    }


def _noise(task: Task, normal: Array) -> Array:
    """The noise at the steps 1, 2, .. from as many standard normal draws."""
    if isinstance(task, Noisy):
        return np.array([task.noise_from(float(draw), t) for t, draw in enumerate(normal, start=1)])
    return normal * math.sqrt(task.noise_variance)
