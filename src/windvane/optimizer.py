"""The loop: surrogate x acquisition x trigger x retention. The only place where the four meet.

ask:   dataset -> surrogate's posterior now -> acquisition -> x
tell:  (x, y, t) -> prediction made before y is seen -> trigger -> retention -> dataset -> surrogate -> Event
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from reprlib import repr as brief
from typing import Any, NamedTuple

import numpy as np

from windvane.acquisition import Moment
from windvane.acquisition.maximise import maximise
from windvane.checks import Array, integer, one_of, real
from windvane.codec import decode, encode
from windvane.composition import Composition
from windvane.data import Best, Dataset, Event, Observation, Prediction
from windvane.errors import CorruptState, InvalidArgument
from windvane.kernels import Static
from windvane.retention import Belief
from windvane.retention import base as limits
from windvane.spaces.base import Domain
from windvane.surrogates import GP, Blend, Given, Mixture, Model, Surrogate
from windvane.surrogates.blend import FEWEST
from windvane.surrogates.model import feasible
from windvane.threads import one_thread
from windvane.triggers import Memory, alarm
from windvane.triggers import base as triggers
from windvane.triggers.ruling import Ruling, judge, log_density, reason

STATE_VERSION = 1
EARLY = 20  # steps in which `auto`, told nothing, drops no data: docs/decisions/0011, 0023
FEW = 32  # observations, see docs/decisions/0005
LARGEST = 1e100  # of |y|: squares must not overflow
STREAM = 1_000_003  # so that a task or a simulation with the same seed draws other numbers


class Held(NamedTuple):
    """An observation set aside: a change or an outlier, as the next one will tell."""

    observation: Observation
    x: Any  # the point as it was told, to ask for it again


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
        self.goal = one_of("goal", goal, ("maximize", "minimize"))
        self.seed = integer("seed", seed, at_least=0)
        self._sign = 1.0 if goal == "maximize" else -1.0
        self._dim = space.parameter_count
        self._light = isinstance(composition.learning, Given) and space.dim <= 2
        self._surrogate = _surrogate(space, composition.model)
        self._memory = composition.trigger.start()
        self._allowance = composition.limit.start()
        self._step = 1  # t of the next observation
        self._elapsed = 1  # t_r of the next observation
        self._age = 0  # tells since the last fit
        self._last_time: float | None = None
        self._origin = 0.0
        self._last_point: Array | None = None
        self._asked: tuple[float, Any] | None = None
        self._held: Held | None = None

    def __repr__(self) -> str:
        return (
            f"<{self.composition.name} on {self.space}: step {self._step}, {self.size} observations in use>"
        )

    # -- the clock -----------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """The time of the next observation unless the caller says otherwise: one after the last."""
        return 1.0 if self._last_time is None else self._last_time + 1.0

    @property
    def last_time(self) -> float | None:
        """The time of the last observation, as it was told; None before the first."""
        return self._last_time

    @property
    def step(self) -> int:
        """The running number t of the next observation, from 1."""
        return self._step

    @property
    def size(self) -> int:
        """The number of observations in use."""
        return len(self._surrogate.data)

    @property
    def data(self) -> Dataset:
        """The observations in use, encoded; y with the sign of the goal."""
        return self._surrogate.data

    @property
    def model(self) -> Model | Mixture:
        """The hyperparameters in force."""
        return self._surrogate.model

    def _now(self, time: Any) -> tuple[float, float]:
        """A time as told, and on the model's axis, where the first observation is at 1."""
        if time is None:
            return self.time, self.time - self._origin
        stamp = real("time", time)
        if self._last_time is None:
            return stamp, 1.0
        if stamp < self._last_time:
            raise InvalidArgument(
                f"time={time!r}: must not be before the last observation at {self._last_time!r}"
            )
        return stamp, stamp - self._origin

    def _threads(self) -> AbstractContextManager[None]:
        """One BLAS thread, unless the products are too small for BLAS to share out anyway."""
        return nullcontext() if self._light and self.size < FEW else one_thread

    def _generator(self) -> np.random.Generator:
        """The generator of this step: a function of the seed and t, so that asking changes nothing."""
        return np.random.default_rng((self.seed, STREAM, self._step))

    # -- asking ----------------------------------------------------------------------------------------

    def ask(self, time: float | None = None, *, pending: Sequence[Any] = ()) -> Any:
        """The next point to evaluate. Asking again without telling gives the same point.

        After an observation that was set aside (`event.set_aside`) it is that observation's point.
        `pending` are points that are being evaluated at this moment: the answer is chosen as if
        each of them had given the value that is predicted there. Nothing is learned from that.
        """
        _, now = self._now(time)
        beside = [self.space.encode(point) for point in pending]
        if self._held is not None and not any(np.array_equal(self._held.observation.x, x) for x in beside):
            return _echo(self._held.x)
        if beside:
            return self.space.decode(self._beside(beside, now))
        if self._asked is None or self._asked[0] != now:
            with self._threads():
                choice = self.composition.acquisition.propose(
                    self._surrogate.posterior(now), self.space, self._moment(), self._generator
                )
            self._asked = (now, choice.point)
        return self.space.decode(self._asked[1])

    def _beside(self, pending: Sequence[Array], now: float) -> Array:
        """The point to evaluate beside others. A predicted value moves no mean, but settles what is near."""
        surrogate = deepcopy(self._surrogate)
        with self._threads():
            for point in pending:
                forecast = surrogate.forecast(point, now)
                imagined = Observation(point, forecast.prediction.mean, now, self._step)
                surrogate.extend(surrogate.data + imagined, forecast.projection)  # type: ignore[arg-type]
            moment = Moment(self._step, self._elapsed, self._dim, surrogate.information_gain)
            generator = (self.seed, STREAM, self._step, len(pending))
            return self.composition.acquisition.propose(
                surrogate.posterior(now), self.space, moment, lambda: np.random.default_rng(generator)
            ).point

    def _moment(self) -> Moment:
        return Moment(self._step, self._elapsed, self._dim, self._surrogate.information_gain)

    def predict(self, points: Any, time: float | None = None) -> tuple[Array, Array]:
        """Mean and standard deviation of the objective (noise excluded) at the next time."""
        encoded, (_, now) = self.space.encode_many(points), self._now(time)
        with self._threads():
            mean, std = self._surrogate.predict(encoded, now)
        return self._sign * mean, std

    def best(self, time: float | None = None) -> Best:
        """The point believed best now: the maximiser of the posterior mean.

        Right after a reset that kept nothing, the model knows nothing: then it is the last point told.
        """
        _, now = self._now(time)
        if self._last_point is None:
            raise InvalidArgument("best(): nothing is known before the first tell")
        with self._threads():
            point = self._last_point
            if self.size:
                point = maximise(self._surrogate.posterior(now), self.space, 0.0, self._generator).point
            mean, std = self._surrogate.predict(point[None, :], now)
        return Best(self.space.decode(point), self._sign * float(mean[0]), float(std[0]))

    # -- telling ---------------------------------------------------------------------------------------

    def tell(self, x: Any, y: float, time: float | None = None) -> Event:
        """Record the value `y` observed at `x`; returns everything that happened."""
        point = self.space.encode(x)
        value = self._sign * real("y", y, at_least=-LARGEST, at_most=LARGEST)
        stamp, now = self._now(time)
        new = Observation(point, value, now, self._step)
        told = _echo(x)
        with self._threads():
            return self._observe(new, told, y, stamp)

    def _observe(self, new: Observation, told: Any, y: float, stamp: float) -> Event:
        forecast = self._surrogate.forecast(new.x, new.time)
        prediction = forecast.prediction
        composition, elapsed, held = self.composition, self._elapsed, self._held
        ruling, memory = self._judge(new, prediction)
        decision = ruling.decision

        kept = 0
        if ruling.set_aside:
            self._memory = memory
            self._elapsed = elapsed + 1
            self._held = Held(new, self._again(told, new.x))
        elif decision == "no":
            data = self._surrogate.data + new
            within, self._allowance = composition.limit.apply(data, self._belief(), self._allowance)
            if within is data:
                self._surrogate.extend(data, forecast.projection)  # type: ignore[arg-type]  # its own
            else:
                self._surrogate.follow(within, forecast.projection)  # type: ignore[arg-type]
            self._memory = memory
            self._elapsed = elapsed + 1
            self._held = None
            if isinstance(self._surrogate, Blend):
                ruling, kept = self._believe(self._surrogate, new, ruling)
        else:
            data = self._surrogate.data
            if held is not None and ruling.outlier is None:
                data += held.observation
            keeper = composition.on_trigger if decision == "triggered" else composition.on_forced
            data, self._allowance = composition.limit.apply(
                keeper.keep(data + new, self._fires), self._belief(), composition.limit.start()
            )
            kept = len(data)
            self._surrogate.follow(data)
            self._memory = composition.trigger.start()
            self._elapsed = 1
            self._held = None
        if self._last_time is None:
            self._origin = stamp - new.time
        self._last_time = stamp
        self._last_point = new.x
        self._step += 1
        self._asked = None
        if not ruling.set_aside:
            self._learn(elapsed if ruling.decision == "no" else 0, new.step)
        return self._event(new, stamp, told, y, prediction, ruling, kept)

    def _judge(self, new: Observation, prediction: Prediction) -> tuple[Ruling, Memory]:
        """What to do about an observation, and the trigger's memory if nothing is reset."""
        composition = self.composition
        return judge(
            composition.trigger,
            composition.window,
            self._memory,
            prediction,
            new,
            self._elapsed,
            held=None if self._held is None else self._held.observation,
            trusted=composition.learning.monitors(self._elapsed, self._dim),
            may_set_aside=not composition.rescale or new.step > 1,  # y's scale is taken from the first
        )

    def _believe(self, blend: Blend, new: Observation, ruling: Ruling) -> tuple[Ruling, int]:
        """A mixture is its own trigger: what came before a sudden change that it believes in is dropped.

        Not before it knows the scale of things: to begin with, what looks like a change is often a slope.
        """
        verdict, blind = blend.verdict(), self.composition.rescale
        ruling = ruling._replace(verdict=verdict, monitored=not blind or new.step > EARLY)
        if not verdict.fired or not ruling.monitored:
            suspect = blend.outlier > 0.5 and (not blind or self.size >= FEWEST)
            return ruling._replace(outlier=new if suspect else None), 0
        blend.restart(blend.since_change())
        self._elapsed = 1
        return ruling._replace(decision="triggered", outlier=None), self.size

    def _again(self, told: Any, point: Array) -> Any:
        """The told point in the types that `ask` gives: to the last bit, where decoding would round."""
        if not isinstance(told, dict):
            return told
        decoded = self.space.decode(point)
        return {name: float(told[name]) if isinstance(v, float) else v for name, v in decoded.items()}

    def _learn(self, elapsed: int, step: int) -> None:
        """Fit the hyperparameters if it is time to; `elapsed` is 0 right after a reset."""
        composition = self.composition
        self._age += 1
        if composition.learning.due(elapsed, self.size, self._age, self._dim):
            self._surrogate.learn(composition.learning.search, composition.rescale, seed=self.seed)
            self._age = 0
        elif composition.rescale and step == 1:
            self._surrogate.centre()

    def _event(
        self,
        new: Observation,
        stamp: float,
        x: Any,
        y: float,
        prediction: Prediction,
        ruling: Ruling,
        kept: int,
    ) -> Event:
        blend = self._surrogate if isinstance(self._surrogate, Blend) else None
        return Event(
            step=new.step,
            time=stamp,
            x=x,
            y=float(y),
            mean=self._sign * prediction.mean,
            std=prediction.std,
            noise_variance=prediction.noise_variance,
            log_density=log_density(new.y, prediction) if blend is None else blend.log_density,
            statistic=ruling.verdict.statistic,
            threshold=ruling.verdict.threshold,
            monitored=ruling.monitored,
            elapsed=ruling.elapsed,
            reset=ruling.decision != "no",
            reason=reason(ruling, new, prediction, self._sign),
            kept=kept,
            size=self.size,
            set_aside=ruling.set_aside,
            outlier=None if ruling.outlier is None else ruling.outlier.step,
            beliefs={} if blend is None else blend.beliefs(),
        )

    def _belief(self) -> Belief:
        """What a limit may know of the model in force."""
        model = self._surrogate.model
        scaling = model.scaling
        if isinstance(model, Mixture):
            return Belief(model.kernel, Static(), model.noise_variance, scaling.offset, scaling.scale)
        return Belief(model.kernel, model.temporal, model.noise.variance, scaling.offset, scaling.scale)

    def _fires(self, data: Dataset, observation: Observation) -> bool:
        """Whether an observation, predicted from `data` alone, raises the trigger's alarm (Alg. 2)."""
        model = self._surrogate.model
        assert isinstance(model, Model)  # a mixture has no trigger
        gp = GP(model.kernel, model.noise, self.space.dim, model.temporal)
        gp.replace(data.X, model.scaling.inward(data.y), data.times)
        found = gp.project(observation.x, observation.time)
        scaling = model.scaling
        prediction = Prediction(
            scaling.offset + scaling.scale * found.mean,
            scaling.scale * math.sqrt(found.variance),
            scaling.scale**2 * model.noise.variance,
        )
        trigger = alarm(self.composition.trigger)
        verdict, _ = trigger.test(trigger.start(), prediction, observation.y, len(data) + 1)
        return verdict.fired or verdict.suspect

    # -- state -----------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Plain JSON from which `windvane.restore` continues bit for bit."""
        state = {
            "windvane": STATE_VERSION,
            "space": encode(self.space),
            "composition": encode(self.composition),
            "goal": self.goal,
            "seed": self.seed,
            "step": self._step,
            "elapsed": self._elapsed,
            "age": self._age,
            "last_time": self._last_time,
            "origin": self._origin,
            "last_point": None if self._last_point is None else self._last_point.tolist(),
            "memory": list(self._memory),
            "surrogate": self._surrogate.state(),
        }
        if self._allowance:  # else left out, as in the states of versions whose limits had no memory
            state["allowance"] = list(self._allowance)
        if self._held is not None:  # else left out, as in the states of versions that set nothing aside
            (_, y, time, step), x = self._held
            told = x.tolist() if isinstance(x, np.ndarray) else _echo(x)
            state["held"] = {"x": told, "y": y, "time": time, "step": step}
        return state


def _surrogate(space: Domain, model: Model | Mixture) -> Surrogate | Blend:
    return Blend(space, model) if isinstance(model, Mixture) else Surrogate(space, model)


def restore(state: Any) -> Optimizer:
    """The optimiser that wrote the state: it asks the same points and gives the same events."""
    if not isinstance(state, dict) or "windvane" not in state:
        hint = "; parse it with json.loads first" if isinstance(state, str | bytes) else ""
        raise CorruptState(f"state: not a Windvane state; expected the dict that state() returned{hint}")
    version = state["windvane"]
    if version != STATE_VERSION:
        raise CorruptState(
            f"state: written in format {brief(version)}; this version reads format {STATE_VERSION}"
        )
    try:
        space, composition = decode(state["space"]), decode(state["composition"])
        if not isinstance(space, Domain) or not isinstance(composition, Composition):
            raise CorruptState("state: the space or the composition is missing")
        optimizer = Optimizer(space, composition, goal=state["goal"], seed=state["seed"])
        optimizer._step = integer("state(step)", state["step"], at_least=1)
        optimizer._elapsed = integer("state(elapsed)", state["elapsed"], at_least=1)
        optimizer._age = integer("state(age)", state["age"], at_least=0)
        last = state["last_time"]
        optimizer._last_time = None if last is None else real("state(last_time)", last)
        optimizer._origin = real("state(origin)", state["origin"])
        point = state["last_point"]
        optimizer._last_point = None if point is None else feasible("state(last_point)", point, space)
        if (optimizer._step > 1) == (last is None) or (last is None) != (point is None):
            raise CorruptState("state: the last observation's time and point do not fit the step")
        optimizer._memory = triggers.memory_from_json(composition.trigger, state["memory"])
        kind = Blend if isinstance(composition.model, Mixture) else Surrogate
        optimizer._surrogate = kind.restore(space, state["surrogate"])
        if "allowance" in state:
            optimizer._allowance = limits.memory_from_json(
                composition.limit, state["allowance"], optimizer.data, optimizer._belief()
            )
        if "held" in state:
            optimizer._held = _held(state["held"], space)
            if optimizer._held.observation.step != optimizer._step - 1:
                raise CorruptState("state: what is set aside is not the last observation")
    except CorruptState:
        raise
    except Exception as error:  # the state is to blame, whatever reading it has led to
        raise CorruptState(f"state: incomplete or altered ({type(error).__name__}: {error})") from error
    return optimizer


def _held(state: Any, space: Domain) -> Held:
    """What was set aside, as `state` wrote it."""
    x, y = state["x"], real("state(held y)", state["y"], at_least=-LARGEST, at_most=LARGEST)
    time, step = real("state(held time)", state["time"]), integer("state(held step)", state["step"])
    return Held(Observation(space.encode(x), y, time, step), _echo(x))


def _echo(x: Any) -> Any:
    """The told point as a value of our own, so that a later change by the caller does not reach the log."""
    if isinstance(x, Mapping):
        return dict(x)
    return np.array(x, dtype=np.float64) if np.ndim(x) else int(x)
