"""Objectives with a limit on something else: worlds, rivals, and a run of a rival in a world."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

import windvane as wv
from peers.lines import Row

SAFE = 0.95
WINDOW = 30  # observations that a sliding window has
SCALE = 0.2  # of the kernel where it is known to all
MARGIN = 0.5  # of the start
Make = Callable[[Any, int], Any]  # a rival, from a task and a seed


class Line:
    """The task "guarded" on a line, where nothing changes: samples on [0, 1], linear between knots.

    As in the task, half of the line is allowed, or more if no place would keep a margin of 0.5 otherwise, and
    the start is drawn among the places that do.
    """

    name, steps, noise_variance = "line", (), 0.01
    kernel, space = wv.RBF(SCALE), wv.Box([(0.0, 1.0)])

    def __init__(self, horizon: int, seed: int, knots: int = 501) -> None:
        self.horizon = horizon
        self.axis = np.linspace(0.0, 1.0, knots)
        values, vectors = np.linalg.eigh(self.kernel.matrix(self.axis[:, None], self.axis[:, None]))
        root, rng = vectors * np.sqrt(np.maximum(values, 0.0)), np.random.default_rng((seed, 1))
        self.fields = root @ rng.standard_normal((knots, 2))
        load = self.fields[:, 1]
        limit = float(max(np.quantile(load, 0.5), load.min() + MARGIN))
        self.constraints = {"g1": wv.AtMost(limit)}
        self.outcome_noise = {"g1": self.noise_variance}
        highest = max(limit - MARGIN, load.min())  # where both are one, rounding may leave none
        self.start = [self.axis[[rng.choice(np.flatnonzero(load <= highest))]]]

    def value(self, x: Any, t: int) -> float:  # noqa: ARG002 - nothing changes
        return float(np.interp(x[0], self.axis, self.fields[:, 0]))

    def outcomes(self, x: Any, t: int) -> dict[str, float]:  # noqa: ARG002
        return {"g1": float(np.interp(x[0], self.axis, self.fields[:, 1]))}

    def optimum(self, t: int) -> float:  # noqa: ARG002
        return self._best

    @cached_property
    def _best(self) -> float:
        """At a knot within the limit, or where the load crosses it between two knots."""
        value, margin = self.fields[:, 0], self.constraints["g1"].limit - self.fields[:, 1]
        cut = np.flatnonzero(margin[:-1] * margin[1:] < 0.0)
        share = margin[cut] / (margin[cut] - margin[cut + 1])
        between = (1.0 - share) * value[cut] + share * value[cut + 1]
        return float(max(*value[margin >= 0.0], *between))


WORLDS: dict[str, tuple[str, Callable[[int, int], Any]]] = {
    "line": ("nothing changes, d = 1", Line),
    "square": (
        "nothing changes, d = 2",
        lambda steps, seed: wv.task(
            "guarded", rate=0.0, constraint_rate=0.0, lengthscale=SCALE, horizon=steps, seed=seed
        ),
    ),
    "drift": (
        'the task "guarded": objective and constraint drift',
        lambda steps, seed: wv.task("guarded", horizon=steps, seed=seed),
    ),
    "jumps": (
        'the task "guarded-jumps": the constraint is another one after each of two jumps',
        lambda steps, seed: wv.task("guarded-jumps", horizon=steps, seed=seed),
    ),
}


def _safeopt(**options: Any) -> Make:
    def make(task: Any, seed: int) -> Any:
        from peers.safeopt import SafeOpt  # another environment has it

        return SafeOpt(task, seed, **options)

    return make


def _optuna(variant: str) -> Make:
    def make(task: Any, seed: int) -> Any:
        from peers.optuna import Limited  # another environment has it

        return Limited(variant, task.space.bounds, task.constraints, seed)

    return make


def told(task: Any, seed: int) -> Any:
    """GP-UCB, told kernel and noise of objective and constraint, as SafeOpt is."""
    limits = {
        name: replace(limit, kernel=task.kernel, noise_variance=task.outcome_noise[name], mean=0.0)
        for name, limit in task.constraints.items()
    }
    known = {"kernel": task.kernel, "noise_variance": task.noise_variance}
    return wv.make("gp-ucb", task.space, constraints=limits, safe=SAFE, start=task.start, seed=seed, **known)


def plain(task: Any, seed: int) -> Any:
    return wv.make(task.space, seed=seed)


def soft(task: Any, seed: int) -> Any:
    return wv.make(task.space, constraints=task.constraints, seed=seed)


def safe(task: Any, seed: int) -> Any:
    return wv.make(task.space, constraints=task.constraints, safe=SAFE, start=task.start, seed=seed)


ALIKE = 1.6449  # standard deviations for which a normal is within with probability 0.95

RIVALS: dict[str, tuple[str, Make]] = {
    "gp-ucb safe": ("Windvane `gp-ucb`, `safe=0.95`, told kernels and noise", told),
    "auto": ("`auto`, which knows of no limit", plain),
    "auto soft": ("`auto` with constraints", soft),
    "auto safe": ("`auto` with constraints, `safe=0.95`", safe),
    "safeopt": ("`SafeOpt`, beta = 2, its default", _safeopt()),
    "safeopt 95%": ("`SafeOpt`, beta = 1.645, which is 95 %", _safeopt(beta=ALIKE)),
    "safe-ucb": ("`SafeOpt`, `ucb=True`, beta = 2", _safeopt(ucb=True)),
    "safe-ucb 95%": ("`SafeOpt`, `ucb=True`, beta = 1.645", _safeopt(ucb=True, beta=ALIKE)),
    "swarm": ("`SafeOptSwarm`, beta = 2", _safeopt(swarm=True)),
    "safeopt window": (f"`SafeOpt`, the last {WINDOW} observations", _safeopt(window=WINDOW)),
    "safe-ucb window": (
        f"`SafeOpt`, `ucb=True`, the last {WINDOW} observations",
        _safeopt(ucb=True, window=WINDOW),
    ),
    "optuna gp": ("Optuna `GPSampler(constraints_func=...)`", _optuna("gp")),
    "optuna tpe": ("Optuna `TPESampler(constraints_func=...)`", _optuna("tpe")),
}


@dataclass
class Timed:
    """A rival with a stopwatch: seconds of the processor, ask and tell together."""

    rival: Any

    def __post_init__(self) -> None:
        self.constraints = getattr(self.rival, "constraints", {})
        self.cpu: list[float] = []

    def ask(self) -> Any:
        before = time.process_time()
        x = self.rival.ask()
        self.cpu.append(time.process_time() - before)
        return x

    def tell(self, x: Any, y: float, **outcomes: float) -> Any:
        before = time.process_time()
        event = self.rival.tell(x, y, **outcomes)
        self.cpu[-1] += time.process_time() - before
        return event


def played(rival: Any, task: Any, seed: int) -> Row:
    """Regret, value, whether a limit was broken, and seconds, by step; the noise is the same for all."""
    timed = Timed(rival)
    trace = wv.simulate(timed, task, seed=seed)
    best = np.array([float(task.optimum(t)) for t in range(1, task.horizon + 1)])
    retreats = sum(getattr(event, "retreat", None) is not None for event in trace.events)
    return {
        "regret": _short(trace.regret),
        "value": _short(best - trace.regret),
        "violated": [int(broken) for broken in trace.violated],
        "cpu": _short(timed.cpu),
        "jumps": [int(t) for t in getattr(task, "steps", ())],
        "retreats": retreats + getattr(rival, "retreats", 0),
    }


def run(world: str, rival: str, seed: int, steps: int) -> Row:
    """All steps of a rival in a world."""
    task = WORLDS[world][1](steps, seed)
    found = played(RIVALS[rival][1](task, seed), task, seed)
    return {"world": world, "rival": rival, "seed": seed, "steps": steps, **found}


MODES: dict[str, Make] = {"none": plain, "soft": soft, "safe": safe}


def cost(seed: int, steps: int) -> Row:
    """Seconds a step without limits, with two, and with two in safe mode; the three take turns."""
    task = wv.task("guarded", count=2, horizon=steps, seed=seed)
    turns = [(name, Timed(make(task, seed))) for name, make in MODES.items()]
    normal = np.random.default_rng((seed, 2)).standard_normal((steps, 3))
    for t in range(1, steps + 1):
        turns.append(turns.pop(0))  # each is first in its turn
        for _, timed in turns:
            x = timed.ask()
            seen = {**task.outcomes(x, t), "y": task.value(x, t)}
            scale = {**task.outcome_noise, "y": task.noise_variance}
            noisy = {
                name: seen[name] + draw * math.sqrt(scale[name])
                for name, draw in zip(seen, normal[t - 1].tolist(), strict=True)
            }
            y = noisy.pop("y")
            timed.tell(x, y, **(noisy if timed.constraints else {}))
    return {"seed": seed, "steps": steps, **{name: _short(timed.cpu) for name, timed in turns}}


def warm(rivals: Sequence[str], steps: int = 12) -> None:
    """A few steps that do not count, so that what is imported at first use is there when time is taken."""
    for name in rivals:
        with suppress(Exception):  # it will be met, and named, in the run itself
            run("line", name, 0, steps)


def _short(values: Iterable[float]) -> list[float]:
    """Seven figures are enough, and files stay small."""
    return [float(f"{value:.7g}") for value in values]
