"""What to ask for next: region -> surrogate's posterior now -> acquisition -> point. Nothing is changed here.

A region is narrowed down in one order: contexts and what is available, then what is next to points that are
out, then how far one may move, then what fails, which needs to know what is left, and last by what the
constraints allow (feasibility.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from windvane.acquisition import Moment, believed_best
from windvane.acquisition.base import PosteriorView
from windvane.acquisition.priced import PricedPosterior
from windvane.checks import Array
from windvane.composition import Composition
from windvane.data import Observation
from windvane.errors import InvalidArgument
from windvane.failures import LEVEL, FailureProbability
from windvane.feasibility import Feasibility
from windvane.moves import steps_between, toll, within_reach
from windvane.progress import Progress
from windvane.spaces import Region
from windvane.spaces.base import Domain, SeenContext
from windvane.surrogates import Surrogate

Generator = Callable[[], np.random.Generator]

APART = 0.005  # of the range: how far apart evaluations of the same moment are,
BESIDE = 16  # if they are at most so many; more are as near as it takes
SAME = 1e-9  # where nothing moves, as among choices: the very same setting
FEW = 32  # candidates, of which one must be left
STREAM = 1_000_003  # so that a task or a simulation with the same seed draws other numbers


@final
@dataclass(frozen=True, eq=False)
class Chooser:
    """Where an optimiser stands at one moment, and what that makes it ask for."""

    space: Domain
    composition: Composition
    seed: int
    progress: Progress
    now: float
    feasibility: Feasibility | None = None  # of the constraints, if there are any

    def chosen(self, surrogate: Surrogate, region: Region, beside: Sequence[Array] = ()) -> Array:
        """The point to evaluate next: what the acquisition proposes, or a move on the way there.

        `beside` are the points that are out, which the surrogate reckons with.
        """
        start, stream = self.setting(beside), (len(beside),) if len(beside) else ()
        target = self._propose(surrogate, self._apart(region, beside), region, start, *stream)
        near = self.reachable(region, start)
        if near is region or near.contains(target[None])[0]:
            return target
        if region.listed is not None and not near.contains(region.listed).any():
            raise InvalidArgument("available: none of these points is within max_step of the last one")
        reach, near = near, self._apart(near, beside)
        if not self.space.enumerated:
            halfway = near.nearest(target[None])
            if self.working(near).contains(halfway)[0] and self.permitted(halfway[0]):
                return np.asarray(halfway[0])
        return self._propose(surrogate, near, reach, start, *stream)

    def _propose(
        self, surrogate: Surrogate, region: Region, home: Region, start: Array | None, *stream: int
    ) -> Array:
        """What the acquisition proposes of a region, or, if nothing of it is safe, a refuge at home."""
        progress, moves = self.progress, self.composition.moves
        moment = Moment(
            progress.step, progress.elapsed, self.space.parameter_count, surrogate.information_gain
        )
        seed: tuple[int, ...] = (self.seed, STREAM, progress.step, *stream)
        evaluations = progress.evaluations
        if evaluations is not None and evaluations.in_a_row:  # the step is what it was; another draw is due
            seed = (*seed[:3], *(stream or (0,)), evaluations.in_a_row)
        posterior = surrogate.posterior(self.now)
        if moves is not None and moves.move_cost is not None and start is not None and len(surrogate.data):
            price, space, unit = moves.move_cost, self.space, surrogate.model.scaling.scale
            posterior = PricedPosterior(
                posterior, lambda points: toll(price, space, start, points, unit), start
            )
        region = self.working(region)
        if self.feasibility is None:
            return self.composition.acquisition.propose(
                posterior, region, moment, lambda: np.random.default_rng(seed)
            ).point
        return self._guarded(
            self.feasibility, posterior, region, home, moment, lambda: np.random.default_rng(seed), *stream
        )

    def _guarded(
        self,
        feasibility: Feasibility,
        posterior: PosteriorView,
        region: Region,
        home: Region,
        moment: Moment,
        generator: Generator,
        out: int = 0,
    ) -> Array:
        """What the acquisition proposes where the constraints allow it, or a look beyond the edge.

        If nothing is safe, the setting to retreat to, which may be any of `home`: rather one that failed, or
        that is being evaluated, than one that is not safe. `out` points are being evaluated.
        """
        constraints, evaluations = feasibility.constraints, self.progress.evaluations
        failed = 0 if evaluations is None else int(evaluations.failed.sum())
        start = feasibility.start(region, self.progress.step - 1 + out + failed)
        if start is not None:
            return start
        region = feasibility.clear(region)
        survey = feasibility.survey(region, posterior)
        allowed = feasibility.narrowed(region, survey)
        if allowed is None:
            return feasibility.retreat(region, home)
        found = feasibility.explored(survey, region, posterior)
        if found is not None and (constraints.safe is None or feasibility.allows(found)):
            return found
        found = self.composition.acquisition.propose(posterior, allowed, moment, generator).point
        if feasibility.allows(found):
            return found
        other = feasibility.best_allowed(survey, region, posterior)
        if other is not None:
            return other
        return found if constraints.safe is None else feasibility.retreat(region, home)

    def permitted(self, point: Array) -> bool:
        """Whether a point is safe, where that is asked for."""
        feasibility = self.feasibility
        return feasibility is None or feasibility.constraints.safe is None or feasibility.allows(point)

    def repeatable(self, point: Array) -> bool:
        """Whether a point that was set aside may be asked for again: not if something is wrong there."""
        feasibility = self.feasibility
        return feasibility is None or (feasibility.allows(point) and not feasibility.broken(point))

    def retreat(self, region: Region) -> Array | None:
        """The setting to go back to if nothing of a region is safe; None if something is, or need not be."""
        feasibility = self.feasibility
        if feasibility is None or feasibility.constraints.safe is None:
            return None
        home, region = region, feasibility.clear(region)
        survey = feasibility.survey(region, self.progress.surrogate.posterior(self.now))
        if feasibility.narrowed(region, survey) is not None:
            return None
        return feasibility.retreat(region, home)

    def best(self, region: Region, generator: Generator) -> Array:
        """The point believed best, first, and others: k x d; where the constraints are believed to hold.

        If that is nowhere: where it is most likely, or where one retreats to.
        """
        posterior, feasibility = self.progress.surrogate.posterior(self.now), self.feasibility
        home, region = region, self.working(region)
        if feasibility is None:
            return believed_best(posterior, region, generator)
        survey = feasibility.survey(region, posterior)
        allowed = feasibility.narrowed(region, survey)
        if allowed is None:
            return feasibility.retreat(region, home)[None]
        found = believed_best(posterior, allowed, generator)
        for point in found:
            if feasibility.allows(point):
                return np.asarray(point[None])
        other = feasibility.best_allowed(survey, region, posterior, optimism=0.0)
        return found if other is None else other[None]

    # -- what narrows a region down --------------------------------------------------------------------

    def _apart(self, region: Region, beside: Sequence[Array]) -> Region:
        """The part of a region that is not next to what is out, unless that is all there is."""
        if not len(beside):
            return region
        if self.space.enumerated:
            return region.other_than(np.array(beside))
        moves = region.continuous.moves if self.space.continuous else region.climbed.moves
        if self.space.continuous and not moves:  # one setting may be all
            return region
        apart = APART * min(1.0, BESIDE / len(beside)) if moves else SAME
        rest, listed = region.without(np.array(beside), apart), region.listed
        if listed is not None:
            return rest if rest.contains(listed).any() else region
        return rest if self.composition.moves is None or len(rest.candidates(FEW)) else region

    def setting(self, beside: Sequence[Array] = ()) -> Array | None:
        """Where the system is, or will be once what is out was evaluated; None before the first point."""
        return beside[-1] if len(beside) else self.progress.setting

    def reachable(self, region: Region, start: Array | None) -> Region:
        """The part of a region that one move leads to."""
        moves = self.composition.moves
        if moves is None or moves.max_step is None or start is None:
            return region
        return region.within(*within_reach(moves.max_step, self.space, start))

    def moves_to(self, point: Array) -> int | None:
        """How many moves away a point is; None if they are not limited, or nobody knows from where."""
        moves, start = self.composition.moves, self.setting()
        if moves is None or moves.max_step is None or start is None:
            return None
        return steps_between(moves.max_step, self.space, start, point)

    def working(self, region: Region) -> Region:
        """The part of a region where evaluations do not fail, as far as is known."""
        evaluations, chance = self.progress.evaluations, self.failure_probability()
        if evaluations is None or chance is None:
            return region
        latest = evaluations.latest[-1:]
        return region.where(lambda points: chance(points) + _near(points, latest), LEVEL)

    def failure_probability(self) -> FailureProbability | None:
        """That of an evaluation now; None while none has failed."""
        evaluations, surrogate = self.progress.evaluations, self.progress.surrogate
        if evaluations is None:
            return None
        carried = surrogate.carried(evaluations.times, self.now)
        return FailureProbability(evaluations, surrogate.model.kernel, self.space, carried)

    def tried(self, beside: list[Array]) -> list[Array]:
        """The points that are out, and those that failed since the last value."""
        evaluations = self.progress.evaluations
        return beside if evaluations is None else [*beside, *evaluations.latest]


def region_of(space: Domain, seen: SeenContext | None, available: Any = None) -> Region:
    """What may be asked for under a context: all of a space, or what is available of it."""
    region = Region.all_of(space)
    if seen is not None:
        region = region.fixed(seen.fixed)
    if available is None:
        return region
    return region.available(available, {} if seen is None else seen.values)


def imagined(surrogate: Surrogate, point: Array, now: float, step: int) -> Surrogate:
    """As if the predicted value had come: it moves no mean, but settles what is near (GP-BUCB)."""
    forecast = surrogate.forecast(point, now)
    expected = Observation(point, forecast.prediction.mean, now, step)
    return surrogate.follow(surrogate.data + expected, surrogate.weigh(expected, forecast))


def _near(points: Array, others: Array) -> Array:
    """1 for points that are next to one of the others, else 0."""
    gap = np.abs(points[:, None, :] - others[None, :, :]).max(axis=2, initial=0.0)
    return np.asarray((gap <= APART).any(axis=1).astype(np.float64))
