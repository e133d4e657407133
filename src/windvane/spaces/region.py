"""The part of a space that may be asked for at one moment: what the maximiser works on.

Bounds on every coordinate (equal ones fix it), points to keep away from, conditions on a number that each
point has, and, if only certain points will do, their list. All in encoded coordinates, so contexts, step
limits, failures and lists of candidates are uses of the same few fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, final

import numpy as np

from windvane import checks
from windvane.checks import Array, IntArray
from windvane.errors import InvalidArgument, InvalidType, WindvaneError
from windvane.spaces.arms import Arms
from windvane.spaces.base import BoolArray, Domain, read_only, row_keys, rows
from windvane.spaces.candidates import Candidates
from windvane.spaces.sobol import sobol

EVERYTHING = 4096  # finite regions up to this size are listed
AT_ONCE = 2**22  # differences from points left out that are in memory at a time
ROUNDS = 32  # of random points, among which one outside all balls is looked for
WITNESSES = 512  # points on which a condition is tried: where it holds, and where it is nearest to that
MANY = 32  # coordinates that stand still, as those of long choices do
CLEAR = 1.0 + 1e-9  # radii from the centre at which a point counts as outside the ball


@final
@dataclass(frozen=True, eq=False)
class Bounds:
    """The box that a climb stays in, and the coordinates along which it moves: three arrays of length d."""

    lower: Array
    upper: Array
    free: BoolArray

    @cached_property
    def walls(self) -> tuple[list[float], list[float], list[int]]:
        """The same in plain numbers, with the coordinates that move as a list of axes."""
        return self.lower.tolist(), self.upper.tolist(), np.flatnonzero(self.free).tolist()

    @cached_property
    def moves(self) -> bool:
        """Whether any coordinate does."""
        return bool(self.free.any())

    @cached_property
    def axes(self) -> IntArray | None:
        """Those along which it moves, if many others stand still: derivatives in these are not worth their
        while. None where all are computed.
        """
        return np.flatnonzero(self.free) if np.count_nonzero(~self.free) > MANY else None

    @cached_property
    def along(self) -> Bounds:
        """The bounds in these coordinates alone."""
        axes = self.axes
        return self if axes is None else Bounds(self.lower[axes], self.upper[axes], self.free[axes])


@final
@dataclass(frozen=True, eq=False)
class Condition:
    """A number for each of m x d points, and the most that it may be.

    `known` are points, and their numbers, that were looked at before: where these very points are asked about
    again, that need not be computed.
    """

    value: Callable[[Array], Array]
    at_most: float
    known: tuple[Array, Array] | None = None

    def holds(self, points: Array, rows: IntArray) -> BoolArray:
        """Whether the number is small enough at those rows of the points."""
        if self.known is not None and points is self.known[0]:
            return np.asarray(self.known[1][rows] <= self.at_most)
        return np.asarray(self.value(points[rows]) <= self.at_most)


@final
@dataclass(frozen=True, eq=False)
class Region:
    """What may be asked for now. `Region.all_of(space)` is everything; the methods narrow it down.

    >>> from windvane.spaces import Box
    >>> region = Region.all_of(Box([(0, 1), (0, 10)])).fixed({1: 0.5}).around([0.2, 0.5], 0.1)
    >>> region.lower, region.upper
    (array([0.1, 0.5]), array([0.3, 0.5]))
    >>> region.contains(np.array([[0.25, 0.5], [0.25, 0.6]]))
    array([ True, False])
    >>> region.within([0.4, 0.0], [1.0, 1.0])
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: region: nothing is left between 0.4 and 0.3 in coordinate 0
    """

    space: Domain
    lower: Array  # d
    upper: Array  # d
    excluded: Array  # m x d, the points left out ...
    radii: Array  # m, ... and how far to stay away from each
    points: Array | None = None  # k x d: if given, nothing else will do
    left: BoolArray | None = None  # the same for a space that is a list: which of its m points will do
    conditions: tuple[Condition, ...] = ()
    witnesses: Array | None = None  # w x d, points at which all conditions hold, if there are any
    seeds: Array | None = None  # s x d, points to begin a search from, beside others

    def __post_init__(self) -> None:
        dim = self.space.dim
        lower, upper = (
            checks.array("region", end, (dim,)) if dim else np.empty(0) for end in (self.lower, self.upper)
        )
        lower, upper = self.space.tighten(lower, upper)
        for axis in np.flatnonzero(lower > upper):
            raise InvalidArgument(
                f"region: nothing is left between {lower[axis]:.6g} and {upper[axis]:.6g} "
                f"in coordinate {axis}"
            )
        excluded = rows("excluded", self.excluded, dim).copy()
        radii = np.array(np.broadcast_to(self.radii, (len(excluded),)), dtype=np.float64)
        if not (np.isfinite(radii).all() and (radii >= 0.0).all()):
            raise InvalidArgument(f"radius={self.radii!r}: must be finite numbers at least 0")
        for name, value in (("lower", lower), ("upper", upper), ("excluded", excluded), ("radii", radii)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        if self.points is not None:
            points = rows("points", self.points, dim).copy()
            if not len(points):
                raise InvalidArgument("points: must not be empty; give a list of points")
            points.setflags(write=False)
            object.__setattr__(self, "points", points)

    # -- making one --------------------------------------------------------------------------------------

    @staticmethod
    def all_of(space: Domain) -> Region:
        """The whole space."""
        return _all_of(space)

    def fixed(self, values: Mapping[int, float]) -> Region:
        """With the coordinates `values` (axis: encoded value) held; all those of a choice go together."""
        lower, upper = self.lower.copy(), self.upper.copy()
        for axis, value in values.items():
            axis = checks.integer("fixed(axis)", axis, at_least=0, at_most=self.space.dim - 1)
            number = checks.real(f"fixed({axis})", value, at_least=lower[axis], at_most=upper[axis])
            lower[axis] = upper[axis] = number
        held = np.flatnonzero(lower == upper)
        nearest = self.space.snap(np.where(lower == upper, lower, (lower + upper) / 2.0)[None])[0]
        if not np.allclose(nearest[held], lower[held], rtol=0.0, atol=1e-9):
            raise InvalidArgument(f"fixed({dict(values)!r}): no point of the space has these coordinates")
        lower[held] = upper[held] = nearest[held]
        return replace(self, lower=lower, upper=upper)

    def within(self, lower: Any, upper: Any) -> Region:
        """Between these bounds as well; a choice has no order, so its coordinates are left alone."""
        dim, ordered = self.space.dim, ~self._unordered
        low, high = (np.broadcast_to(np.asarray(end, dtype=float), (dim,)) for end in (lower, upper))
        if np.isnan(low).any() or np.isnan(high).any():
            raise InvalidArgument("within(): bounds must be numbers, got NaN")
        return replace(
            self,
            lower=np.where(ordered, np.maximum(self.lower, low), self.lower),
            upper=np.where(ordered, np.minimum(self.upper, high), self.upper),
        )

    def around(self, point: Any, reach: Any) -> Region:
        """In a box around a point: each coordinate at most `reach` (a number, or one for each) away."""
        centre = checks.array("around(point)", point, (self.space.dim,))
        away = np.asarray(reach, dtype=float)
        if not (away >= 0.0).all():
            raise InvalidArgument(f"around(reach)={reach!r}: must be numbers at least 0")
        return self.within(centre - away, centre + away)

    def without(self, points: Any, radius: float) -> Region:
        """Further than `radius` away from each of these points."""
        more = rows("points", points, self.space.dim)
        away = checks.real("radius", radius, at_least=0.0)
        return replace(
            self,
            excluded=np.concatenate((self.excluded, more)),
            radii=np.concatenate((self.radii, np.full(len(more), away))),
        )

    def only(self, points: Any) -> Region:
        """Nothing but these points, as far as they are inside."""
        feasible = self.space.snap(rows("points", points, self.space.dim))
        if self.space.enumerated and len(feasible):
            return self._narrowed(self.space.numbers(feasible))
        return replace(self, points=feasible)

    def available(self, points: Any, context: Mapping[str, Any] | None = None) -> Region:
        """Nothing but these points of a finite space, as a caller writes them: under this context."""
        space = self.space
        if (space.free & ~self._contexts).any():
            raise InvalidArgument(
                "available: needs a space of finitely many points, wv.Candidates, wv.Arms or a wv.Space "
                "in which every Real has a step"
            )
        if isinstance(points, np.ndarray) and points.dtype.kind == "b":
            raise InvalidType("available: must be a list of points; of a mask, numpy.flatnonzero makes one")
        if not isinstance(points, Sequence | np.ndarray) or isinstance(points, str | bytes):
            raise InvalidType(f"available={points!r}: must be a list of points")
        if not len(points):
            raise InvalidArgument("available: must not be empty; give at least one point")
        if context:
            points = [{**point, **context} if isinstance(point, Mapping) else point for point in points]
        try:
            if isinstance(space, Candidates):
                return self._narrowed(space.number_many(points))
            encoded = space.encode_many(points)
        except WindvaneError as error:
            raise type(error)(str(error).replace("points", "available", 1)) from None
        return replace(self, points=np.where(self._contexts, self.lower, encoded) if context else encoded)

    def other_than(self, points: Array) -> Region:
        """Without these points of a list, unless it has no others."""
        left = np.ones(self.space.size or 0, dtype=np.bool_) if self.left is None else self.left.copy()
        left[self.space.numbers(points)] = False
        rest = replace(self, left=read_only(left))
        return rest if rest.contains(self.space.everything()).any() else self

    def _narrowed(self, numbers: IntArray) -> Region:
        """Nothing but the points of these numbers."""
        left = np.zeros(self.space.size or 0, dtype=np.bool_)
        left[numbers] = True
        return replace(self, left=read_only(left if self.left is None else left & self.left))

    def where(
        self,
        value: Callable[[Array], Array],
        at_most: float,
        *,
        tried: tuple[Array, Array] | None = None,
        known: tuple[Array, Array] | None = None,
        seeds: Array | None = None,
    ) -> Region:
        """Only where a number is at most so much; if that is nowhere, only where it is smallest.

        `value` gives the numbers of m x d points. Narrow the region down in all other ways first: whether
        anything is left is found out from points that cover it, or from those that were `tried`, with their
        numbers. `known` are points that will be asked about often, and their numbers; `seeds` are such that
        a search should begin from, since little else is left.

        >>> from windvane.spaces import Box
        >>> region = Region.all_of(Box([(0, 1)])).where(lambda points: points[:, 0], 0.25)
        >>> region.contains(np.array([[0.2], [0.3]]))
        array([ True, False])
        >>> nowhere = Region.all_of(Box([(0, 1)])).where(lambda points: 2.0 + points[:, 0], 0.25)
        >>> nowhere.sample(np.random.default_rng(0), 1).round(2)
        array([[0.]])
        """
        level = checks.real("at_most", at_most)
        points, numbers = self._tried(value, level) if tried is None else tried
        least = float(numbers.min())
        if least > level:  # a hair more, since the same point among others may round differently
            level = least + 1e-9 * max(abs(least), 1.0)
        return replace(
            self,
            conditions=(*self.conditions, Condition(value, level, known)),
            witnesses=points[numbers <= level],
            seeds=seeds,
        )

    def _tried(self, value: Callable[[Array], Array], level: float) -> tuple[Array, Array]:
        """Points that cover the region, and their numbers."""
        points = self.candidates(WITNESSES) if self.listed is None else self.listed
        if not len(points):
            points = self.sample(np.random.default_rng(0), WITNESSES)
        if self.space.enumerated:  # of a long list, a part says as much, unless it says that nothing is left
            some = points[:: len(points) // WITNESSES + 1]
            numbers = value(some)
            if (numbers <= level).any():
                return some, numbers
        return points, value(points)

    # -- what the maximiser needs ------------------------------------------------------------------------

    @cached_property
    def whole(self) -> bool:
        """Whether this is all of the space."""
        nothing_less = self.points is None and self.left is None and not self.held
        return nothing_less and not self.pierced and self.bounded_as_space

    @cached_property
    def pierced(self) -> bool:
        """Whether parts inside the bounds are left out: where a climb ends, one has to look."""
        return bool(len(self.excluded) or self.conditions)

    @cached_property
    def bounded_as_space(self) -> bool:
        """Whether the bounds are those of the space."""
        everything = _all_of(self.space)
        return np.array_equal(self.lower, everything.lower) and np.array_equal(self.upper, everything.upper)

    @cached_property
    def held(self) -> bool:
        """Whether the space has contexts, and this is a region of one value of each."""
        held = self._contexts
        return bool(held.any()) and np.array_equal(self.lower[held], self.upper[held])

    @cached_property
    def continuous(self) -> Bounds:
        """The bounds, with the coordinates that move continuously."""
        return Bounds(self.lower, self.upper, read_only(self.space.free & (self.lower < self.upper)))

    @cached_property
    def climbed(self) -> Bounds:
        """The same with those of many levels as well: a climb moves along them and rounds at the end."""
        free = (self.space.free | self.space.fine) & (self.lower < self.upper)
        return Bounds(self.lower, self.upper, read_only(free))

    @cached_property
    def coarse(self) -> BoolArray:
        """The coordinates of choices and of integers with few levels that are not held."""
        return read_only(~(self.space.free | self.space.fine) & (self.lower < self.upper))

    @cached_property
    def mixed(self) -> bool:
        """Whether there are any."""
        return bool(self.coarse.any())

    @cached_property
    def listed(self) -> Array | None:
        """All points, if there is a list of them or the space is small and finite."""
        points, size = self.points, self.space.size
        if points is None and self.held:
            points = self.space.settings(EVERYTHING)
            if points is not None:
                points = np.where(self._contexts, self.lower, points)
        elif points is None and size is not None and (size <= EVERYTHING or self.space.enumerated):
            points = self.space.everything()
        if points is None:
            return None
        inside = points[self.contains(points)]
        if len(inside) or self.conditions:
            return inside if len(inside) else self.witnessed()
        raise InvalidArgument("region: none of the points that are allowed is left")

    def witnessed(self) -> Array:
        """Points at which all conditions hold, or held when they were looked at among others: k x d.

        The number of a point among many may be an approximation, and another one on its own.
        """
        if self.witnesses is not None:
            near = self.witnesses[self.unconditional.contains(self.witnesses)]
            inside = near[self.fulfils(near)]
            if len(near):
                return inside if len(inside) else near
        raise InvalidArgument("region: no point was found outside of what is left out; use smaller radii")

    def contains(self, points: Array) -> BoolArray:
        """Whether each of m feasible points lies in the region."""
        inside = np.asarray(((points >= self.lower) & (points <= self.upper)).all(axis=1))
        if len(self.excluded):
            step = max(AT_ONCE // (self.excluded.size + 1), 1)
            for start in range(0, len(points), step):
                some = slice(start, start + step)
                inside[some] &= (self._distances(points[some]) > self.radii).all(axis=1)
        if self.points is not None:
            inside &= np.array([key in self._keys for key in row_keys(points)], dtype=np.bool_)
        if self.left is not None:
            all_of_them = points is self.space.everything()
            inside &= self.left if all_of_them else self.left[self.space.numbers(points)]
        rest = np.flatnonzero(inside) if self.conditions else np.empty(0, dtype=np.intp)
        if len(rest):
            inside[rest] = self.fulfils(points, rest)
        return inside

    def fulfils(self, points: Array, rows: IntArray | None = None) -> BoolArray:
        """Whether the conditions hold at m points, or at these rows of them."""
        rows = np.arange(len(points)) if rows is None else rows
        found = np.ones(len(rows), dtype=np.bool_)
        for condition in self.conditions:
            rest = np.flatnonzero(found)
            if len(rest):
                found[rest] = condition.holds(points, rows[rest])
        return found

    @cached_property
    def unconditional(self) -> Region:
        """The region that this would be without its conditions."""
        return replace(self, conditions=(), witnesses=None) if self.conditions else self

    def nearest(self, points: Array) -> Array:
        """The points moved into the bounds and to the levels; not away from what is left out."""
        return self.space.snap(np.clip(points, self.lower, self.upper))

    def clear(self, points: Array) -> Array:
        """The points of the bounds, those in a ball around a point left out moved to its surface.

        Where balls overlap this may end in another one: look at `contains`.
        """
        free = self.climbed.free
        for _ in range(3):
            points = self.nearest(points)
            if not len(self.excluded):
                break
            distance = self._distances(points)
            depth = self.radii - distance
            ball = np.argmax(depth, axis=1)
            row = np.arange(len(points))
            inside = depth[row, ball] >= 0.0
            if not inside.any():
                break
            away = np.where(free, points - self.excluded[ball], 0.0)
            held = np.where(free, 0.0, points - self.excluded[ball])
            length = np.sqrt(np.vecdot(away, away))
            wanted = np.sqrt(np.maximum((CLEAR * self.radii[ball]) ** 2 - np.vecdot(held, held), 0.0))
            lost = length < 1e-12  # in the middle: any direction will do
            away[lost] = free
            length[lost] = np.sqrt(max(int(free.sum()), 1))
            outward = away * ((wanted + 1e-12) / length)[:, None]
            moved = np.where(free, self.excluded[ball] + outward, points)
            points = np.where(inside[:, None], moved, points)
        return self.nearest(points)

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """Points drawn at random, uniformly where coordinates are continuous: count x d."""
        if self.whole:
            return self.space.sample(rng, count)
        if self.listed is not None:
            return self.listed[rng.integers(len(self.listed), size=count)]
        found = np.empty((0, self.space.dim))
        for _ in range(ROUNDS):
            drawn = self.space.sample(rng, max(count, 32))
            moved = self.lower + rng.random(drawn.shape) * (self.upper - self.lower)
            drawn = self.nearest(np.where(self.coarse & self._unordered, drawn, moved))
            found = np.concatenate((found, drawn[self.contains(drawn)]))
            if len(found) >= count:
                return found[:count]
        if not len(found):
            found = self.witnessed()
        return found[rng.integers(len(found), size=count)]

    def candidates(self, count: int) -> Array:
        """At most `count` distinct points that cover the region; the same ones on every call."""
        if self.listed is not None:
            return self.listed[:count]
        if self._all_settings:
            points = np.where(self._contexts, self.lower, _settings(self.space, count))
            return points[self.contains(points)] if len(self.excluded) or self.conditions else points
        return self._covering(count)

    def _covering(self, count: int) -> Array:
        spread = self.space.candidates(count)
        if self.whole:
            return spread
        bounded = (self.lower < self.upper) & ~self._unordered
        if bounded.any():
            spread = spread.copy()
            unit = sobol(int(bounded.sum()), len(spread))
            spread[:, bounded] = self.lower[bounded] + unit * (self.upper - self.lower)[bounded]
        points = np.unique(self.nearest(spread), axis=0)
        return points[self.contains(points)]

    def neighbours(self, point: Array) -> Array:
        """The points of the region one discrete step away."""
        near = self.space.neighbours(point)
        return near[self.contains(near)] if len(near) and not self.whole else near

    @cached_property
    def _keys(self) -> frozenset[bytes]:
        """The points that will do, to find others among them however many there are."""
        return frozenset() if self.points is None else frozenset(row_keys(self.points))

    @cached_property
    def _contexts(self) -> BoolArray:
        flags = np.zeros(self.space.dim, dtype=np.bool_)
        flags[list(self.space.context_axes)] = True
        return read_only(flags)

    @cached_property
    def _all_settings(self) -> bool:
        """Whether the contexts are held, and nothing else is bounded."""
        everything, free = _all_of(self.space), ~self._contexts
        return self.held and bool(
            (self.lower[free] == everything.lower[free]).all()
            and (self.upper[free] == everything.upper[free]).all()
        )

    @cached_property
    def _unordered(self) -> BoolArray:
        flags = np.zeros(self.space.dim, dtype=np.bool_)
        flags[list(self.space.choices)] = True
        return read_only(flags)

    def _distances(self, points: Array) -> Array:
        """m x (number left out)."""
        gap = points[:, None, :] - self.excluded
        return np.asarray(np.sqrt(np.vecdot(gap, gap)))


@lru_cache(maxsize=64)
def _settings(space: Domain, count: int) -> Array:
    """Points that cover the settings, under some context or other: what is chosen does not depend on it."""
    some = space.sample(np.random.default_rng(0), 1)[0]
    region = _all_of(space).fixed({axis: float(some[axis]) for axis in space.context_axes})
    points = region._covering(count)
    points.setflags(write=False)
    return points


@lru_cache(maxsize=256)
def _all_of(space: Domain) -> Region:
    top = float(space.n - 1) if isinstance(space, Arms) else 1.0
    lower = np.zeros(space.dim)
    return Region(space, lower, np.full(space.dim, top), np.empty((0, space.dim)), np.empty(0))
