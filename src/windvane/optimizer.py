"""The loop: surrogate x acquisition x trigger x retention. The only place where the four meet.

ask:   region -> surrogate's posterior now -> acquisition -> x        (choosing.py)
tell:  (x, y, t) -> forecast   what is expected at x, before y is seen   (telling.py)
                 -> opinion    what the surrogate makes of y
                 -> verdict    the trigger, and what is done about it
                 -> dataset    the retention, or the limit
                 -> surrogate  that has followed the dataset, and learned
                 -> Event

All of `tell` computes; the last line assigns. Whatever is raised before, the optimiser is as it was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from reprlib import repr as brief
from typing import Any

import numpy as np

from windvane import notebook
from windvane import progress as saved
from windvane.checks import Array, Time, clock_text, goal_name, instant, integer, one_of, real, reason_text
from windvane.choosing import STREAM, Chooser, imagined, region_of
from windvane.codec import decode, encode
from windvane.composition import Composition
from windvane.constraints import Constraint
from windvane.data import Best, Change, Dataset, Event, Failure, Observation
from windvane.errors import CorruptState, InvalidArgument, InvalidType
from windvane.failures import PRIOR, Evaluation, Evaluations
from windvane.feasibility import Feasibility
from windvane.older import upgraded
from windvane.progress import LARGEST, Progress, asked_event, echo
from windvane.reading import Reading
from windvane.spaces import Region
from windvane.spaces.base import Domain, SeenContext
from windvane.surrogates import Mixture, Model, Surrogate, reaches
from windvane.surrogates.buffers import twin
from windvane.telling import Teller, outcomes_told
from windvane.threads import one_thread

STATE_VERSION = 3
VERSIONS = (1, 2, STATE_VERSION)  # that can be read
ENOUGH = 20  # observations from which a kernel says what matters
STILL = 0.9  # of the correlation over ten steps: what is left to time is a slow drift at most
FEW = 32  # observations, see docs/decisions/0005
CLOUD = 39  # of the streams of a step: that of points around what is safe
MOST_BROKEN = 64  # settings beyond a limit that are remembered as such, until one is safe
MOST_AT_ONCE = 1000  # points of one `ask`


class Optimizer:
    """Ask for a point, tell its value; made by `windvane.make`.

    >>> import windvane as wv
    >>> opt = wv.make("et-gp-ucb", wv.Box([(0, 1)]), kernel=wv.RBF(0.2), noise_variance=0.01, seed=0)
    >>> x = opt.ask()
    >>> event = opt.tell(x, 1.0)
    >>> event.step, event.reset, event.size
    (1, False, 1)
    """

    def __init__(self, space: Domain, composition: Composition, *, goal: str = "maximize", seed: int) -> None:
        self.space = space
        self.composition = composition
        self.goal = goal_name(goal)
        self.seed = integer("seed", seed, at_least=0)
        self._sign = 1.0 if self.goal == "maximize" else -1.0
        self._dim = space.parameter_count
        # constraints may be learned though the objective is not, and from more observations than are in use
        alone = composition.given and composition.constraints is None
        self._light = alone and space.dim <= 2 and not space.enumerated
        self._progress = _fresh(space, composition)
        self._feasible: tuple[Progress, float, Feasibility] | None = None
        # when, for what time and under which contexts, and the answer
        self._asked: tuple[Progress, float, tuple[float, ...], Array] | None = None
        # the same with points that are out: these, and the surrogate that reckons with them
        self._imagined: tuple[Progress, float, list[bytes], Surrogate] | None = None

    def copy(self) -> Optimizer:
        """A second one that stands where this one stands, in no time. Each may have a thread of its own.

        >>> import windvane as wv
        >>> opt = wv.make(wv.Box([(0, 1)]), seed=0)
        >>> other = opt.copy()
        >>> event = other.tell([0.5], 1.0)
        >>> opt.size, other.size
        (0, 1)
        """
        other = twin(self)
        other._feasible = other._asked = other._imagined = None
        return other

    def __getstate__(self) -> dict[str, Any]:
        """For pickles and deep copies: without the answers kept at hand, some of which cannot be pickled."""
        return vars(self.copy())

    def __repr__(self) -> str:
        return f"<{self.composition.name} on {self.space}: step {self.step}, {self.size} observations in use>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return notebook.optimizer(self)

    # -- the clock -----------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """The time of the next observation unless the caller says otherwise: one after the last."""
        return 1.0 if self.last_time is None else self.last_time + 1.0

    @property
    def last_time(self) -> float | None:
        """The time of the last observation, as it was told; None before the first."""
        return self._progress.last_time

    @property
    def step(self) -> int:
        """The running number t of the next observation, from 1."""
        return self._progress.step

    @property
    def size(self) -> int:
        """The number of observations in use."""
        return len(self.data)

    @property
    def data(self) -> Dataset:
        """The observations in use, encoded; y with the sign of the goal."""
        return self._progress.surrogate.data

    @property
    def model(self) -> Model | Mixture:
        """The hyperparameters in force."""
        model: Model | Mixture = self._progress.surrogate.model
        return model

    @property
    def constraints(self) -> dict[str, Constraint]:
        """What must hold beside the objective, by name."""
        constraints = self.composition.constraints
        return {} if constraints is None else {one.name: one.constraint for one in constraints.each}

    @property
    def safe(self) -> float | None:
        """The probability with which each constraint must hold where a point is asked for, if it must."""
        constraints = self.composition.constraints
        return None if constraints is None else constraints.safe

    @property
    def last_context(self) -> dict[str, Any] | None:
        """What was observed beside the last point told; None before that, and where nothing is observed."""
        point, names = self._progress.last_point, self.space.contexts
        if point is None or not names:
            return None
        decoded = self.space.decode(point)
        return {name: decoded[name] for name in names}

    def follows(self) -> tuple[str, ...]:
        """The contexts that the objective follows: with them known, it hardly changes.

        Those that have been seen over at least a lengthscale, while it is believed that under the same
        contexts more than nine tenths of the objective are the same ten steps later.
        """
        surrogate, space = self._progress.surrogate, self.space
        if not space.contexts or self.size < ENOUGH or surrogate.stillness() <= STILL:
            return ()
        found = reaches(surrogate.model.kernel, space, self.data.X)
        return tuple(name for name, reach in found.items() if reach >= 1.0)

    @property
    def beliefs(self) -> dict[str, float]:
        """The weights of the hypotheses that the model chooses between, by name, if there are any."""
        return self._progress.surrogate.beliefs()

    @property
    def second_look(self) -> bool:
        """Whether the last observation is set aside, until the next one tells what it was."""
        return self._progress.held is not None

    def _now(self, time: Any) -> tuple[float, float]:
        """A time as told, and on the model's axis, where the first observation is at 1."""
        last, origin = self._progress.last_time, self._progress.origin
        stamp = self.time if time is None else instant("time", time)
        if last is None:
            return stamp, 1.0
        if stamp < last:
            shown = clock_text(last, time)
            raise InvalidArgument(f"time={time!r}: must not be before the last observation at {shown}")
        now = (stamp - (origin + 1.0)) + 1.0  # in this order, so that large stamps do not swallow the 1
        if not math.isfinite(now):
            raise InvalidArgument(f"time={time!r}: too far from the first observation at {origin + 1.0!r}")
        return stamp, now

    def _threads(self) -> AbstractContextManager[None]:
        """One BLAS thread, unless the products are too small for BLAS to share out anyway."""
        return nullcontext() if self._light and self.size < FEW else one_thread.hold()

    def _generator(self) -> np.random.Generator:
        """The generator of this step: a function of the seed and t, so that asking changes nothing."""
        return np.random.default_rng((self.seed, STREAM, self.step))

    # -- asking ----------------------------------------------------------------------------------------

    def ask(
        self,
        *,
        time: Time = None,
        pending: Sequence[Any] = (),
        context: Mapping[str, Any] | None = None,
        available: Any = None,
        count: int | None = None,
    ) -> Any:
        """The next point to evaluate. Asking again without telling gives the same point.

        `context` says what is observed now, if the space has contexts; the point has them in it. After an
        observation that was set aside (`event.set_aside`) it is that observation's point, under this context.
        `pending` are points that are being evaluated at this moment: the answer is chosen as if
        each of them had given the value that is predicted there. Nothing is learned from that. A point that
        is pending is asked for again only where no other is left.
        `available` are the only points that may be asked for this time, of a space that is finite but for
        its contexts. With `count` it is a list of so many points, each chosen with those before it pending.
        """
        if count is not None:
            wanted, points = integer("count", count, at_least=1, at_most=MOST_AT_ONCE), list[Any]()
            while len(points) < wanted:
                beside = [*_points("pending", pending), *points]
                points.append(self.ask(time=time, pending=beside, context=context, available=available))
            return points
        progress = self._progress
        held, surrogate = progress.held, progress.surrogate
        _, now = self._now(time)
        seen = self.space.seen(context)
        region, chooser = region_of(self.space, seen, available), self._chooser(now)
        beside = [self.space.encode(point) for point in _points("pending", pending)]
        if held is not None:
            tried, near = chooser.tried(beside), chooser.reachable(region, chooser.setting(beside))
            anywhere = available is None and near is region
            again = _under(echo(held.x), seen)
            point = self.space.encode(again) if tried or not anywhere else held.observation.x
            there = (anywhere or bool(near.contains(point[None])[0])) and chooser.repeatable(point)
            if there and not any(np.array_equal(point, x) for x in tried):
                return again
        if beside:
            with self._threads():
                surrogate = self._beside(beside, now)
                return self._decoded(chooser.chosen(surrogate, region, beside), seen)
        if available is not None:
            with self._threads():
                return self._decoded(chooser.chosen(surrogate, region), seen)
        fixed = () if seen is None else tuple(seen.fixed.values())
        if self._asked is None or self._asked[0] is not progress or self._asked[1:3] != (now, fixed):
            with self._threads():
                self._asked = (progress, now, fixed, chooser.chosen(surrogate, region))
        return self._decoded(self._asked[3], seen)

    def _teller(self) -> Teller:
        return Teller(self.space, self.composition, self.seed, self._sign, self._progress)

    def _chooser(self, now: float, progress: Progress | None = None) -> Chooser:
        """What is known now, or where the loop will stand."""
        progress, constraints = progress or self._progress, self.composition.constraints
        feasibility = None
        if constraints is not None:
            if self._feasible is None or self._feasible[0] is not progress or self._feasible[1] != now:
                stream = (self.seed, STREAM, progress.step, CLOUD)
                found = Feasibility(self.space, constraints, progress, now, stream)
                self._feasible = (progress, now, found)
            feasibility = self._feasible[2]
        return Chooser(self.space, self.composition, self.seed, progress, now, feasibility)

    def _beside(self, points: list[Array], now: float) -> Surrogate:
        """The surrogate as if these points had given the values predicted there, one after another.

        The last answer is kept: whoever asks for many at once adds one point at a time.
        """
        progress, keys = self._progress, [point.tobytes() for point in points]
        known, surrogate = 0, progress.surrogate
        if self._imagined is not None:
            when, moment, before, reckoning = self._imagined
            if when is progress and moment == now and before == keys[: len(before)]:
                known, surrogate = len(before), reckoning
        for number in range(known, len(points)):
            surrogate = imagined(surrogate, points[number], now, self.step + number)
        self._imagined = (progress, now, keys, surrogate)
        return surrogate

    def _decoded(self, point: Array, seen: SeenContext | None) -> Any:
        """A point in the caller's terms, with the contexts to the last bit as they were told."""
        return _under(self.space.decode(point), seen)

    def predict(self, points: Any, time: Time = None, *, of: str | None = None) -> tuple[Array, Array]:
        """Mean and standard deviation of the objective, or `of` a constraint, at the next time; no noise."""
        sign, surrogate = self._sign, self._progress.surrogate
        if of is not None:
            number = list(self.constraints).index(one_of("of", of, self.constraints))
            sign, surrogate = self.constraints[of].sign, self._progress.constraints[number].surrogate
        encoded, (_, now) = self.space.encode_many(points), self._now(time)
        with self._threads():
            mean, std = surrogate.predict(encoded, now)
        return sign * mean, std

    def feasibility(self, points: Any, time: Time = None) -> dict[str, Array]:
        """How probably each constraint holds at m points at the next time, by its name."""
        encoded, (_, now) = self.space.encode_many(points), self._now(time)
        feasibility = self._chooser(now).feasibility
        if feasibility is None:
            return {}
        with self._threads():
            return dict(zip(self.constraints, feasibility.believed(encoded), strict=True))

    def best(self, time: Time = None, *, context: Mapping[str, Any] | None = None) -> Best:
        """The point believed best now, under this context: the maximiser of the posterior mean.

        Where the posterior cannot tell, because nothing was measured nearby, it is a measured point. Right
        after a reset that kept nothing, the model knows nothing: then it is the last point told.
        """
        _, now = self._now(time)
        seen = self.space.seen(context)
        point, surrogate = self._progress.last_point, self._progress.surrogate
        if point is None:
            raise InvalidArgument("best(): nothing is known before the first tell")
        with self._threads():
            region, chooser = region_of(self.space, seen), self._chooser(now)
            points = region.nearest(point[None]) if region.held else point[None]
            if self.size:
                points = chooser.best(region, self._generator)
            elif chooser.feasibility is not None:
                points = chooser.feasibility.retreat(region)[None]
            mean, std = surrogate.predict(points, now)
            row = int(np.argmax(mean))  # the first, but for what a mixture leaves out of its posterior
            chance = None
            if chooser.feasibility is not None:
                chance = float(chooser.feasibility.believed(points[row][None]).prod())
        x, steps = self._decoded(points[row], seen), chooser.moves_to(points[row])
        return Best(x, self._sign * float(mean[row]), float(std[row]), steps, chance)

    # -- telling ---------------------------------------------------------------------------------------

    def tell(
        self,
        x: Any,
        y: float | Sequence[float],
        time: Time = None,
        *,
        noise_variance: float | None = None,
        std: float | None = None,
        **outcomes: float | None,
    ) -> Event:
        """Record the value `y` observed at `x`; returns everything that happened.

        `noise_variance`, or its root `std`, is that of the noise in this value, if you know it. `y` may be a
        list: values measured at `x` one after another, whose mean counts, and each of which has that noise.
        `time` is a number in any unit, or a datetime with a time zone, which is its seconds since 1970.
        `outcomes` are the values of the constraints, by name; those that were not measured are left out.

        Whatever is raised, an interrupt included, the optimiser is as it was before.
        """
        point = self.space.encode(x)
        reading = Reading.of(y, noise_variance, std)
        stamp, now = self._now(time)
        new = Observation(point, self._sign * reading.y, now, self.step, reading.accuracy)
        told = self.space.decode(point) if self.space.by_number else echo(x)
        measured = self._measured(outcomes)
        with self._threads():
            teller = self._teller()
            after, event = teller.told(new, teller.forecast(new), told, reading, stamp)
            feasibility = self._chooser(new.time).feasibility
            if feasibility is not None:
                loops, found = outcomes_told(
                    self.space, feasibility, self.seed, self._progress.constraints, new, told, measured, stamp
                )
                event = replace(event, outcomes=found)
                safe, broken = self._progress.last_safe, self._progress.broken
                if event.violated:
                    broken = (*broken, new.x)[-MOST_BROKEN:]
                elif found:
                    safe, broken = new.x if len(found) == len(loops) else safe, ()
                after = after._replace(constraints=loops, last_safe=safe, broken=broken)
                event = replace(event, retreat=self._retreat(after, new.x, new.time))
        self._progress = after
        return event

    def _measured(self, told: Mapping[str, Any]) -> dict[str, float]:
        """What was told of the constraints, checked."""
        for name in told:
            if not self.constraints:
                raise InvalidArgument(f"{name}={told[name]!r}: this optimiser has no constraints to be told")
            one_of("tell(constraint)", name, self.constraints)
        return {
            name: real(name, value, at_least=-LARGEST, at_most=LARGEST)
            for name, value in told.items()
            if value is not None
        }

    def _retreat(self, after: Progress, last: Array, now: float) -> Any:
        """What is asked for next because nothing is safe, under the contexts of the last point."""
        constraints = self.composition.constraints
        if constraints is None or constraints.safe is None or after.step <= len(constraints.start):
            return None
        region = Region.all_of(self.space)
        if self.space.contexts:
            region = region.fixed({axis: float(last[axis]) for axis in self.space.context_axes})
        point = self._chooser(now + 1.0, after).retreat(region)
        return None if point is None else self.space.decode(point)

    def reset(self, reason: str = "") -> Event:
        """Something is known to have changed: what was measured before is about the past.

        Nothing of it is kept, since all of it came before the change; a reset by the trigger keeps what came
        since. Hyperparameters stay as a first guess, as after any reset, and `auto` remembers the regime, in
        case it comes back. The event has `cause="asked"` and the step and time of the last observation, and
        neither a point nor a value. With no observation in use, as before the first tell, it does no harm.

        >>> import windvane as wv
        >>> opt = wv.make(wv.Box([(0, 1)]), seed=0)
        >>> event = opt.tell(opt.ask(), 1.0)
        >>> event = opt.reset("new pump")
        >>> event.cause, event.reason, event.step, event.size, opt.size
        ('asked', 'new pump', 1, 0, 0)
        """
        why, before = reason_text(reason), self._progress
        with self._threads():
            watched = () if self.composition.constraints is None else self.composition.constraints.each
            loops = zip(watched, before.constraints, strict=True)
            after = _forgotten(before, self.composition)._replace(
                evaluations=None, constraints=tuple(_forgotten(loop, one.composition) for one, loop in loops)
            )
            event = asked_event(before, after.surrogate.beliefs(), why)
            if before.setting is not None and before.last_time is not None:
                now = before.last_time - before.origin
                event = replace(event, retreat=self._retreat(after, before.setting, now))
        self._progress = after
        return event

    def fail(self, x: Any, time: Time = None, *, reason: str = "") -> Failure:
        """Record that the evaluation of `x` gave no value: keep away from there.

        How far away, and for how long, is learned from all evaluations that failed and that did not
        (`windvane.failures`). The clock of observations does not move. Whatever is raised, the optimiser is
        as it was before.
        """
        point, why = self.space.encode(x), reason_text(reason)
        told = self.space.decode(point) if self.space.by_number else echo(x)
        stamp, now = self._now(time)
        before = self._progress
        evaluations, chance = before.evaluations, PRIOR
        if evaluations is None:
            evaluations = Evaluations.of(before.surrogate.data)
        with self._threads():
            probability = self._chooser(now).failure_probability()
            if probability is not None:
                chance = float(probability(point[None])[0])
        record = Failure(self.step, stamp, told, why, chance)
        evaluations += Evaluation(point, True, now, self.step)
        self._progress = before._replace(evaluations=evaluations, failed_at=point)
        return record

    # -- state -----------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Plain JSON from which `windvane.restore` continues bit for bit."""
        return {
            "windvane": STATE_VERSION,
            "space": encode(self.space),
            "composition": encode(self.composition),
            "goal": self.goal,
            "seed": self.seed,
            **saved.plain(self._progress),
        }


def _forgotten(before: Progress, composition: Composition) -> Progress:
    """Where a loop stands once it is known that all it has seen is out of date."""
    surrogate = before.surrogate
    if len(surrogate.data):
        nothing = Dataset.empty(surrogate.data.dim)
        surrogate = surrogate.restart(nothing, None, Change(before.step, 1.0))
    return before._replace(
        surrogate=surrogate,
        memory=composition.trigger.start(),
        allowance=composition.limit.start(),
        elapsed=1,
        held=None,
    )


def _fresh(space: Domain, composition: Composition) -> Progress:
    """Where a loop stands before anything was told, and those of its constraints."""
    watched = () if composition.constraints is None else composition.constraints.each
    return Progress(
        composition.model.surrogate(space),
        composition.trigger.start(),
        composition.limit.start(),
        constraints=tuple(_fresh(space, one.composition) for one in watched),
    )


def _points(name: str, given: Any) -> Sequence[Any]:
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str | bytes):
        raise InvalidType(f"{name}={given!r}: must be a list of points")
    return given  # type: ignore[return-value]  # an array is as good


def _under(x: Any, seen: SeenContext | None) -> Any:
    """A point with the contexts of now."""
    return x if seen is None else {**x, **seen.values}


def restore(state: Any) -> Optimizer:
    """The optimiser that wrote the state: it asks the same points and gives the same events."""
    if not isinstance(state, dict) or "windvane" not in state:
        hint = "; parse it with json.loads first" if isinstance(state, str | bytes) else ""
        raise CorruptState(f"state: not a Windvane state; expected the dict that state() returned{hint}")
    version = state["windvane"]
    if type(version) is not int or version not in VERSIONS:
        raise CorruptState(
            f"state: written in format {brief(version)}; this version reads up to {STATE_VERSION}"
        )
    try:
        state = upgraded(state)
        space, composition = decode(state["space"]), decode(state["composition"])
        if not isinstance(space, Domain) or not isinstance(composition, Composition):
            raise CorruptState("state: the space or the composition is missing")
        optimizer = Optimizer(space, composition, goal=state["goal"], seed=state["seed"])
        with one_thread.hold():  # as in every step: shared out to several, sums round otherwise
            optimizer._progress = saved.read(state, space, composition)
    except CorruptState:
        raise
    except Exception as error:  # the state is to blame, whatever reading it has led to
        raise CorruptState(f"state: incomplete or altered ({type(error).__name__}: {error})") from error
    return optimizer
