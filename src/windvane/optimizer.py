"""The loop: surrogate x acquisition x trigger x retention. The only place where the four meet.

ask:   region -> surrogate's posterior now -> acquisition -> x        (choosing.py)
tell:  (x, y, t) -> forecast   what is expected at x, before y is seen
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
from reprlib import repr as brief
from typing import Any

import numpy as np

from windvane import progress as saved
from windvane.acquisition import believed_best
from windvane.checks import Array, Time, clock_text, goal_name, instant, integer, reason_text
from windvane.choosing import STREAM, Chooser, imagined, region_of
from windvane.codec import decode, encode
from windvane.composition import Composition
from windvane.data import Best, Change, Dataset, Event, Failure, Observation, Opinion, Prediction
from windvane.errors import CorruptState, InvalidArgument, InvalidType
from windvane.failures import PRIOR, Evaluation, Evaluations
from windvane.older import upgraded
from windvane.progress import Held, Progress, asked_event, echo, limit_view
from windvane.reading import Reading
from windvane.spaces.base import Domain, SeenContext
from windvane.surrogates import Mixture, Model, Surrogate, reaches
from windvane.threads import one_thread
from windvane.triggers import Memory, alarm
from windvane.triggers.ruling import Ruling, judge, reason

STATE_VERSION = 3
VERSIONS = (1, 2, STATE_VERSION)  # that can be read
ENOUGH = 20  # observations from which a kernel says what matters
STILL = 0.9  # of the correlation over ten steps: what is left to time is a slow drift at most
FEW = 32  # observations, see docs/decisions/0005
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
        self._light = composition.given and space.dim <= 2 and not space.enumerated
        self._progress = Progress(
            composition.model.surrogate(space), composition.trigger.start(), composition.limit.start()
        )
        # when, for what time and under which contexts, and the answer
        self._asked: tuple[Progress, float, tuple[float, ...], Array] | None = None
        # the same with points that are out: these, and the surrogate that reckons with them
        self._imagined: tuple[Progress, float, list[bytes], Surrogate] | None = None

    def __repr__(self) -> str:
        return f"<{self.composition.name} on {self.space}: step {self.step}, {self.size} observations in use>"

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
        each of them had given the value that is predicted there. Nothing is learned from that.
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
            there = anywhere or bool(near.contains(point[None])[0])
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

    def _chooser(self, now: float) -> Chooser:
        return Chooser(self.space, self.composition, self.seed, self._progress, now)

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

    def predict(self, points: Any, time: Time = None) -> tuple[Array, Array]:
        """Mean and standard deviation of the objective (noise excluded) at the next time."""
        encoded, (_, now) = self.space.encode_many(points), self._now(time)
        with self._threads():
            mean, std = self._progress.surrogate.predict(encoded, now)
        return self._sign * mean, std

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
                points = believed_best(surrogate.posterior(now), chooser.working(region), self._generator)
            mean, std = surrogate.predict(points, now)
        row = int(np.argmax(mean))  # the first, but for what a mixture leaves out of its posterior
        x, steps = self._decoded(points[row], seen), chooser.moves_to(points[row])
        return Best(x, self._sign * float(mean[row]), float(std[row]), steps)

    # -- telling ---------------------------------------------------------------------------------------

    def tell(
        self,
        x: Any,
        y: float | Sequence[float],
        time: Time = None,
        *,
        noise_variance: float | None = None,
        std: float | None = None,
    ) -> Event:
        """Record the value `y` observed at `x`; returns everything that happened.

        `noise_variance`, or its root `std`, is that of the noise in this value, if you know it. `y` may be a
        list: values measured at `x` one after another, whose mean counts, and each of which has that noise.
        `time` is a number in any unit, or a datetime with a time zone, which is its seconds since 1970.

        Whatever is raised, an interrupt included, the optimiser is as it was before.
        """
        point = self.space.encode(x)
        reading = Reading.of(y, noise_variance, std)
        stamp, now = self._now(time)
        new = Observation(point, self._sign * reading.y, now, self.step, reading.accuracy)
        told = self.space.decode(point) if self.space.by_number else echo(x)
        with self._threads():
            after, event = self._told(new, told, reading, stamp)
        self._progress = after
        return event

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
            surrogate = before.surrogate
            if self.size:
                nothing = Dataset.empty(surrogate.data.dim)
                surrogate = surrogate.restart(nothing, None, Change(before.step, 1.0))
            after = before._replace(
                surrogate=surrogate,
                memory=self.composition.trigger.start(),
                allowance=self.composition.limit.start(),
                elapsed=1,
                held=None,
                evaluations=None,
            )
            event = asked_event(before, surrogate.beliefs(), why)
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

    def _told(self, new: Observation, told: Any, reading: Reading, stamp: float) -> tuple[Progress, Event]:
        """Where the optimiser stands after an observation, and the record of it; nothing is changed."""
        before, composition = self._progress, self.composition
        forecast = before.surrogate.forecast(new.x, new.time, new.accuracy)
        opinion = before.surrogate.weigh(new, forecast)
        surrogate = before.surrogate
        ruling, memory = self._judge(new, forecast.prediction, opinion)
        if ruling.decision == "triggered" and getattr(composition.learning, "reconsiders", False):
            search, rescale = composition.learning.search, composition.rescale
            surrogate = surrogate.reconsider(new, opinion, search, rescale, self.seed)
            if surrogate is not before.surrogate:
                opinion = surrogate.weigh(new, surrogate.forecast(new.x, new.time, new.accuracy))
                ruling, memory = self._judge(new, forecast.prediction, opinion)

        elapsed, held, allowance, kept = before.elapsed + 1, None, before.allowance, 0
        if ruling.set_aside:
            held = Held(new, self._again(told, new.x))
        elif ruling.decision == "no":
            data, allowance = composition.limit.apply(surrogate.data + new, limit_view(surrogate), allowance)
            surrogate = surrogate.follow(data, opinion)
        else:
            data = surrogate.data
            if before.held is not None and ruling.outlier is None:
                data += before.held.observation
            data, allowance = composition.limit.apply(
                self._kept(ruling, data + new), limit_view(surrogate), composition.limit.start()
            )
            kept, elapsed, memory = len(data), 1, composition.trigger.start()
            surrogate = surrogate.restart(data, opinion, self._heard(ruling))
        age = before.age
        if not ruling.set_aside:
            reset = ruling.decision != "no"
            thinned = not reset and len(surrogate.data) < len(before.surrogate.data)
            surrogate, age = self._learned(surrogate, new, 0 if reset else before.elapsed, thinned)
        origin = stamp - new.time if before.last_time is None else before.origin
        evaluations = self._evaluations(new, surrogate.data if ruling.decision != "no" else None)
        after = Progress(
            surrogate, memory, allowance, new.step + 1, elapsed, age, stamp, origin, new.x, held, evaluations
        )
        return after, self._event(after, new, told, reading, forecast.prediction, opinion, ruling, kept)

    def _evaluations(self, new: Observation, kept: Dataset | None) -> Evaluations | None:
        """The evaluations of which the chance of failing is learned; a reset drops them with the data."""
        evaluations = self._progress.evaluations
        if evaluations is None:
            return None
        evaluations += Evaluation(new.x, False, new.time, new.step)
        if kept is not None:
            evaluations = evaluations.since(int(kept.steps[0]) if len(kept) else new.step + 1)
        return evaluations if evaluations.failed.any() else None  # none is remembered that failed

    def _judge(self, new: Observation, prediction: Prediction, opinion: Opinion) -> tuple[Ruling, Memory]:
        """What to do about an observation, and the trigger's memory if nothing is reset."""
        before, composition = self._progress, self.composition
        return judge(
            composition.trigger,
            composition.window,
            before.memory,
            prediction,
            new,
            before.elapsed,
            opinion=opinion,
            held=None if before.held is None else before.held.observation,
            trusted=composition.learning.monitors(before.elapsed, self._dim, new.step),
            may_set_aside=not composition.rescale or new.step > 1,  # y's scale is taken from the first
        )

    def _heard(self, ruling: Ruling) -> Change | None:
        """What is believed to have happened, if the retention has been told that."""
        if ruling.decision != "triggered" or not getattr(self.composition.on_trigger, "reads_verdict", False):
            return None
        return ruling.verdict.change

    def _kept(self, ruling: Ruling, data: Dataset) -> Dataset:
        """What survives a reset."""
        composition = self.composition
        keeper = composition.on_trigger if ruling.decision == "triggered" else composition.on_forced
        read = {"verdict": ruling.verdict} if getattr(keeper, "reads_verdict", False) else {}
        return keeper.keep(data, self._fires, **read)

    def _again(self, told: Any, point: Array) -> Any:
        """The told point in the types that `ask` gives: to the last bit, where decoding would round."""
        if not isinstance(told, dict):
            return told
        decoded = self.space.decode(point)
        return {name: float(told[name]) if isinstance(v, float) else v for name, v in decoded.items()}

    def _learned(
        self, surrogate: Surrogate, new: Observation, elapsed: int, thinned: bool
    ) -> tuple[Surrogate, int]:
        """Fitted if it is time to, and the tells since the last fit; `elapsed` is 0 right after a reset.

        Where many observations were dropped together there was work enough in this step: a fit can wait.
        """
        composition, age = self.composition, self._progress.age + 1
        if not thinned and composition.learning.due(elapsed, len(surrogate.data), age, self._dim):
            learned = surrogate.learn(composition.learning.search, composition.rescale, seed=self.seed)
            return learned, age if learned is surrogate else 0
        if composition.rescale and new.step == 1:
            return surrogate.centre(np.array([new.y])), age
        return surrogate, age

    def _event(
        self,
        after: Progress,
        new: Observation,
        x: Any,
        reading: Reading,
        prediction: Prediction,
        opinion: Opinion,
        ruling: Ruling,
        kept: int,
    ) -> Event:
        return Event(
            step=new.step,
            time=float(after.last_time),  # type: ignore[arg-type]  # it has just been told
            x=x,
            y=reading.y,
            mean=self._sign * prediction.mean,
            std=prediction.std,
            noise_variance=prediction.noise_variance,
            log_density=opinion.log_density,
            statistic=ruling.verdict.statistic,
            threshold=ruling.verdict.threshold,
            monitored=ruling.monitored,
            elapsed=ruling.elapsed,
            reset=ruling.decision != "no",
            reason=reason(ruling, new, prediction, self._sign),
            kept=kept,
            size=len(after.surrogate.data),
            set_aside=ruling.set_aside,
            outlier=None if ruling.outlier is None else ruling.outlier.step,
            beliefs=after.surrogate.beliefs(),
            change=self._changed(ruling),
            cause="" if ruling.decision == "no" else ruling.decision,
            told_variance=reading.variance,
            values=reading.values,
        )

    def _changed(self, ruling: Ruling) -> Change | None:
        """What is believed to have happened, as the caller sees it."""
        change = ruling.verdict.change if ruling.decision == "triggered" else None
        return None if change is None else change._replace(level=self._sign * change.level + 0.0, past=None)

    def _fires(self, data: Dataset, observation: Observation) -> bool:
        """Whether an observation, predicted from `data` alone, raises the trigger's alarm (Alg. 2)."""
        prediction = self._progress.surrogate.alone(data, observation)
        trigger = alarm(self.composition.trigger)
        verdict, _ = trigger.test(trigger.start(), prediction, observation.y, len(data) + 1)
        return verdict.fired or verdict.suspect

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
        optimizer._progress = saved.read(state, space, composition)
    except CorruptState:
        raise
    except Exception as error:  # the state is to blame, whatever reading it has led to
        raise CorruptState(f"state: incomplete or altered ({type(error).__name__}: {error})") from error
    return optimizer
