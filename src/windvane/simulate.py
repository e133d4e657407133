"""Optimizer + task -> trace: what would have happened, with the regret that only a task knows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from windvane.checks import Array, integer
from windvane.data import Event, IntArray
from windvane.errors import InvalidArgument, InvalidType
from windvane.optimizer import Optimizer
from windvane.plots import html
from windvane.tasks.base import Contextual, Disturbed, Noisy, Task


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
    """

    regret: Array
    events: tuple[Event, ...]

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

    def __len__(self) -> int:
        return len(self.regret)

    def _repr_html_(self) -> str:
        """For notebooks."""
        return html.run(self.regret, self.resets.tolist(), self.events)


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
    length = task.horizon if steps is None else integer("steps", steps, at_least=1, at_most=task.horizon)
    noise = _noise(
        task, np.random.default_rng((integer("seed", seed, at_least=0), 2)).standard_normal(length)
    )
    disturbed = task if isinstance(task, Disturbed) else None
    regret = np.empty(length)
    events = []
    for t in range(1, length + 1):
        x = optimizer.ask() if contextual is None else optimizer.ask(context=contextual.context(t))  # type: ignore[call-arg]
        value = task.value(x, t)
        regret[t - 1] = task.optimum(t) - value
        observed = value + float(noise[t - 1])
        if disturbed is not None:
            observed += disturbed.disturbance(t)
        event = optimizer.tell(x, observed)
        if isinstance(event, Event):
            events.append(event)
            if on_step is not None:
                on_step(event)
    return Trace(regret, tuple(events))


def _check(optimizer: Optimizer, task: Task) -> None:
    """What can be known of an optimiser of ours before it starts."""
    if optimizer.goal != "maximize":
        raise InvalidArgument("optimizer: tasks are to be maximised; make it with goal='maximize'")
    if optimizer.step != 1:
        raise InvalidArgument("optimizer: must be fresh, this one has been told values already")
    if optimizer.space != task.space:
        raise InvalidArgument(f"optimizer: made for {optimizer.space}, the task lives in {task.space}")


def _noise(task: Task, normal: Array) -> Array:
    """The noise at the steps 1, 2, .. from as many standard normal draws."""
    if isinstance(task, Noisy):
        return np.array([task.noise_from(float(draw), t) for t, draw in enumerate(normal, start=1)])
    return normal * math.sqrt(task.noise_variance)
