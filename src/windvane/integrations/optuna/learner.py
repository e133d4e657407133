"""Optimisers that have been told what a study measured.

`Learner.after` is a function of its arguments: the optimiser for these parameters after these observations.
It is quick because optimisers that were told the beginning are kept, and told the rest only. If trials end in
another order than was expected, an optimiser that was told less is taken, or a new one is made.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from windvane.algorithms import ALGORITHMS, make
from windvane.checks import one_of
from windvane.data import Best, Event
from windvane.errors import InvalidArgument, InvalidType
from windvane.integrations.optuna.columns import Columns, outward, point, space
from windvane.integrations.optuna.constrained import OPTIONS, TrialConstraints, limits, spelt
from windvane.integrations.optuna.history import Told
from windvane.optimizer import Optimizer
from windvane.spaces import Box, Context, Space

KEPT = 16  # optimisers in memory: one for each set of parameters, and one more for each trial that runs


class OptunaProblem(NamedTuple):
    """What an optimiser is made for; `keys` are those of the constraints."""

    columns: Columns
    goal: str
    seed: int
    keys: tuple[str, ...] = ()


class ToldOptimizer:
    """An optimiser, and what it was told; an event for each value."""

    def __init__(self, problem: OptunaProblem, optimizer: Optimizer) -> None:
        self.problem = problem
        self.optimizer = optimizer
        self.told: list[Told] = []
        self.events: list[Event] = []

    def follow(self, observations: Sequence[Told]) -> None:
        """Tell what has not been told yet."""
        for new in observations[len(self.told) :]:
            x, time = point(self.problem.columns, new.point), self._not_before(new.time)
            if new.value is None:
                self.optimizer.fail(x, time)
            else:
                outcomes = {spelt(key): value for key, value in new.outcomes.items()}
                self.events.append(
                    self.optimizer.tell(x, new.value, time, noise_variance=new.noise, **outcomes)
                )
            self.told.append(new)

    def ask(
        self, time: float, beside: Sequence[Sequence[Any]], fixed: Mapping[str, Any] = MappingProxyType({})
    ) -> dict[str, Any]:
        """The next point in Optuna's terms, chosen beside others that are being evaluated.

        Parameters that are `fixed` are contexts: the others are chosen to go with them.
        """
        of = self.problem.columns
        pending = [point(of, each) for each in beside]
        inner = {each.name: each.inward(fixed[each.name]) for each in of if each.name in fixed}
        context = {name: value for name, value in inner.items() if value is not None}
        if not context or len(context) == len(of):
            asked = self.optimizer.ask(time=self._not_before(time), pending=pending)
        else:
            asked = self._observing(context).ask(
                time=self._not_before(time), pending=pending, context=context
            )
        return outward(of, asked)

    def _observing(self, names: Collection[str]) -> Optimizer:
        """The same optimiser with these parameters as contexts, to ask: they are encoded as before."""
        view = self.optimizer.copy()  # without what it has worked out in its own space
        view.space = Space(
            [
                (each.name, Context(each.parameter) if each.name in names else each.parameter)
                for each in self.problem.columns
            ]
        )
        return view

    def optimism(self, params: Mapping[str, Any], time: float) -> float:
        """How good this point might be: two standard deviations better than believed, larger is better."""
        of = self.problem.columns
        here = point(of, [each.inward(params[each.name]) for each in of])
        mean, std = self.optimizer.predict([here], self._not_before(time))
        return float((mean[0] if self.problem.goal == "maximize" else -mean[0]) + 2.0 * std[0])

    def feasible(self, params: Mapping[str, Any], time: float) -> float:
        """How probably all constraints hold at this point."""
        of = self.problem.columns
        here = point(of, [each.inward(params[each.name]) for each in of])
        return math.prod(
            float(p[0]) for p in self.optimizer.feasibility([here], self._not_before(time)).values()
        )

    def best(self, time: float) -> Best:
        """The point believed best, in Optuna's terms, with mean and standard deviation."""
        best = self.optimizer.best(self._not_before(time))
        return replace(best, x=outward(self.problem.columns, best.x))

    def copy(self) -> ToldOptimizer:
        """Another one that has been told the same."""
        other = ToldOptimizer(self.problem, deepcopy(self.optimizer))
        other.told, other.events = list(self.told), list(self.events)
        return other

    def _not_before(self, time: float) -> float:
        last = self.optimizer.last_time
        return time if last is None else max(time, last)


class Learner:
    """An algorithm with its options, and the optimisers that it has made."""

    def __init__(self, algorithm: str, options: Mapping[str, Any]) -> None:
        self.algorithm = one_of("algorithm", algorithm, ALGORITHMS)
        self.options = {name: value for name, value in options.items() if value is not None}
        self.constraints = TrialConstraints.of(self.options)
        self._own = {name: value for name, value in self.options.items() if name not in OPTIONS}
        self._pool: list[ToldOptimizer] = []
        self._check()

    def _check(self) -> None:
        """Refuse now what would be refused at the second trial."""
        for name in {"goal", "space"} & self.options.keys():
            raise InvalidArgument(f"{name}={self.options[name]!r}: Optuna's study decides about it")
        coordinates = _coordinates(self.options.get("kernel"))
        asked: dict[str, Any] = {}
        if self.constraints.keys:
            asked = {"constraints": limits(self.constraints.keys)}
        if self.constraints.safe is not None:
            asked |= {"safe": self.constraints.safe, "start": [[0.5] * coordinates]}
        try:
            make(self.algorithm, Box([(0.0, 1.0)] * coordinates), seed=0, **asked, **self._own)
        except TypeError as error:
            if isinstance(error, InvalidType):
                raise
            raise InvalidType(f"options: {error}") from error

    def after(
        self, problem: OptunaProblem, observations: Sequence[Told], *, keep: bool = False
    ) -> ToldOptimizer:
        """The optimiser that has been told these observations; `keep` the one that has been told fewer."""
        problem = problem._replace(keys=self.constraints.seen(each.outcomes for each in observations))
        live = self._closest(problem, observations)
        if live is None:
            columns, goal, seed, keys = problem
            constrained = self.constraints.options(keys, columns)
            live = ToldOptimizer(
                problem,
                make(self.algorithm, space(columns), goal=goal, seed=seed, **constrained, **self._own),
            )
            self._pool.append(live)
        elif keep and len(live.told) < len(observations):
            self._pool.append(live.copy())
        self._pool.remove(live)
        self._pool.append(live)  # the one that was used last
        del self._pool[:-KEPT]
        try:
            live.follow(observations)
        except BaseException:
            self._pool.remove(live)
            raise
        return live

    def _closest(self, problem: OptunaProblem, observations: Sequence[Told]) -> ToldOptimizer | None:
        """The one that has been told the most of it, and nothing else."""
        fits = [
            live
            for live in self._pool
            if live.problem == problem and live.told == observations[: len(live.told)]
        ]
        return max(fits, key=lambda live: len(live.told), default=None)


def _coordinates(kernel: Any) -> int:
    """How many coordinates a kernel is for, as far as it says: by its lengthscales, or those of its parts."""
    scales = getattr(kernel, "lengthscale", ())
    parts = (getattr(kernel, name, None) for name in ("left", "right", "space"))
    own = len(scales) if isinstance(scales, tuple) else 1
    return max([own, 1, *(_coordinates(part) for part in parts if part is not None)])
