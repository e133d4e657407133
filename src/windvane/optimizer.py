"""The loop: surrogate x acquisition x trigger x retention. The only place where the four meet.

ask:   dataset -> surrogate's posterior now -> acquisition -> x
tell:  (x, y, t) -> prediction made before y is seen -> trigger -> retention -> dataset -> surrogate -> Event
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from windvane.acquisition import UCB, Acquisition, Moment
from windvane.acquisition.maximise import maximise
from windvane.checks import Array, integer, one_of, real
from windvane.codec import component, decode, encode
from windvane.data import Best, Dataset, Event, Observation, Prediction, Verdict
from windvane.errors import CorruptState, InvalidArgument, InvalidType, WindvaneError
from windvane.retention import Full, LastPoint, Limit, Retention
from windvane.spaces.base import Domain
from windvane.surrogates import GP, Given, Learning, Model, Surrogate
from windvane.surrogates.model import feasible
from windvane.threads import one_thread
from windvane.triggers import Never, ResetWindow, Trigger

STATE_VERSION = 1
FEW = 32  # observations, see docs/decisions/0005
LARGEST = 1e100  # of |y|: squares must not overflow
LOG_2PI = math.log(2.0 * math.pi)


@component
@dataclass(frozen=True)
class Composition:
    """An algorithm: which parts meet in the loop. `algorithms` is a table of these."""

    name: str
    model: Model
    acquisition: Acquisition = field(default_factory=UCB)
    trigger: Trigger = field(default_factory=Never)
    window: ResetWindow = field(default_factory=ResetWindow)
    on_trigger: Retention = field(default_factory=LastPoint)
    on_forced: Retention = field(default_factory=LastPoint)
    limit: Limit = field(default_factory=Full)
    learning: Learning = field(default_factory=Given)
    rescale: bool = False  # learn the scaling of y together with the hyperparameters

    def __post_init__(self) -> None:
        fits = {
            "name": isinstance(self.name, str),
            "model": isinstance(self.model, Model),
            "acquisition": _has(self.acquisition, "propose"),
            "trigger": _has(self.trigger, "start", "test"),
            "window": isinstance(self.window, ResetWindow),
            "on_trigger": _has(self.on_trigger, "keep"),
            "on_forced": _has(self.on_forced, "keep"),
            "limit": _has(self.limit, "apply"),
            "learning": _has(self.learning, "due", "monitors", "search"),
            "rescale": isinstance(self.rescale, bool),
        }
        for part, fit in fits.items():
            if not fit:
                raise InvalidType(f"{part}={getattr(self, part)!r}: cannot play that part in a composition")


def _has(part: object, *methods: str) -> bool:
    return not isinstance(part, type) and all(hasattr(part, method) for method in methods)


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
        self._surrogate = Surrogate(space, composition.model)
        self._memory = composition.trigger.start()
        self._step = 1  # t of the next observation
        self._elapsed = 1  # t_r of the next observation
        self._age = 0  # tells since the last fit
        self._last_time: float | None = None
        self._origin = 0.0
        self._last_point: Array | None = None
        self._asked: tuple[float, Any] | None = None

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
    def model(self) -> Model:
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
        return np.random.default_rng((self.seed, self._step))

    # -- asking ----------------------------------------------------------------------------------------

    def ask(self, time: float | None = None) -> Any:
        """The next point to evaluate. Asking again without telling gives the same point."""
        _, now = self._now(time)
        if self._asked is None or self._asked[0] != now:
            with self._threads():
                choice = self.composition.acquisition.propose(
                    self._surrogate.posterior(now), self.space, self._moment(), self._generator
                )
            self._asked = (now, choice.point)
        return self.space.decode(self._asked[1])

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
        point, value, now, _ = new
        forecast = self._surrogate.forecast(point, now)
        prediction = forecast.prediction
        composition, elapsed, old = self.composition, self._elapsed, self._surrogate
        monitored = composition.learning.monitors(elapsed, self._dim)
        verdict, memory = composition.trigger.test(self._memory, prediction, value, elapsed)
        decision = composition.window.decide(verdict.fired and monitored, elapsed)

        data = old.data + new
        if decision == "no":
            kept, reason = 0, ""
            within = composition.limit.apply(data)
            if within is data:
                self._surrogate.extend(data, forecast.projection)
            else:
                self._surrogate.follow(within, forecast.projection)
            self._memory = memory if monitored else composition.trigger.start()
            self._elapsed = elapsed + 1
        else:
            keeper = composition.on_trigger if decision == "triggered" else composition.on_forced
            data = composition.limit.apply(keeper.keep(data, self._fires))
            kept, reason = len(data), self._reason(decision, verdict, elapsed)
            self._surrogate.follow(data)
            self._memory = composition.trigger.start()
            self._elapsed = 1
        if self._last_time is None:
            self._origin = stamp - now
        self._last_time = stamp
        self._last_point = point
        self._step += 1
        self._age += 1
        self._asked = None
        if composition.learning.due(elapsed if decision == "no" else 0, self.size, self._age, self._dim):
            self._surrogate.learn(composition.learning.search, composition.rescale, seed=self.seed)
            self._age = 0
        elif composition.rescale and new.step == 1:
            self._surrogate.centre()
        return self._event(
            new, stamp, told, y, prediction, verdict, monitored, elapsed, decision != "no", reason, kept
        )

    def _event(
        self,
        new: Observation,
        stamp: float,
        x: Any,
        y: float,
        prediction: Prediction,
        verdict: Verdict,
        monitored: bool,
        elapsed: int,
        reset: bool,
        reason: str,
        kept: int,
    ) -> Event:
        total = prediction.std**2 + prediction.noise_variance
        surprise = new.y - prediction.mean
        return Event(
            step=new.step,
            time=stamp,
            x=x,
            y=float(y),
            mean=self._sign * prediction.mean,
            std=prediction.std,
            noise_variance=prediction.noise_variance,
            log_density=-0.5 * (LOG_2PI + math.log(total) + surprise * surprise / total),
            statistic=verdict.statistic,
            threshold=verdict.threshold,
            monitored=monitored,
            elapsed=elapsed,
            reset=reset,
            reason=reason,
            kept=kept,
            size=self.size,
        )

    def _reason(self, decision: str, verdict: Verdict, elapsed: int) -> str:
        if decision == "triggered":
            return verdict.reason
        return f"forced: {elapsed} steps since the last reset, the upper end N_high of the reset window"

    def _fires(self, data: Dataset, observation: Observation) -> bool:
        """Whether the trigger fires for an observation predicted from `data` alone (Alg. 2)."""
        model = self._surrogate.model
        gp = GP(model.kernel, model.noise, self.space.dim, model.temporal)
        gp.replace(data.X, model.scaling.inward(data.y), data.times)
        found = gp.project(observation.x, observation.time)
        scaling = model.scaling
        prediction = Prediction(
            scaling.offset + scaling.scale * found.mean,
            scaling.scale * math.sqrt(found.variance),
            scaling.scale**2 * model.noise.variance,
        )
        trigger = self.composition.trigger
        verdict, _ = trigger.test(trigger.start(), prediction, observation.y, len(data) + 1)
        return verdict.fired

    # -- state -----------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Plain JSON from which `windvane.restore` continues bit for bit."""
        return {
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


def restore(state: Any) -> Optimizer:
    """The optimiser that wrote the state: it asks the same points and gives the same events."""
    if not isinstance(state, dict) or "windvane" not in state:
        hint = "; parse it with json.loads first" if isinstance(state, str | bytes) else ""
        raise CorruptState(f"state: not a Windvane state; expected the dict that state() returned{hint}")
    version = state["windvane"]
    if version != STATE_VERSION:
        raise CorruptState(f"state: written in format {version!r}; this version reads format {STATE_VERSION}")
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
        for entry in list(state["memory"]):
            real("state(memory)", entry)
        optimizer._memory = tuple(state["memory"])
        optimizer._surrogate = Surrogate.restore(space, state["surrogate"])
    except CorruptState:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, WindvaneError) as error:
        raise CorruptState(f"state: incomplete or altered ({type(error).__name__}: {error})") from error
    return optimizer


def _echo(x: Any) -> Any:
    """The told point as a value of our own, so that a later change by the caller does not reach the log."""
    if isinstance(x, Mapping):
        return dict(x)
    return np.array(x, dtype=np.float64) if np.ndim(x) else int(x)
