"""Where an optimiser stands: all that a `tell` replaces with one assignment, and its plain JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from windvane.checks import Array, integer, real
from windvane.codec import decode
from windvane.composition import Composition
from windvane.data import Event, Observation
from windvane.errors import CorruptState
from windvane.failures import Evaluations
from windvane.reading import LARGEST as LARGEST
from windvane.retention import Belief
from windvane.retention import base as limits
from windvane.spaces.base import Domain
from windvane.surrogates import Surrogate
from windvane.surrogates.state import accuracy, feasible, plain_accuracy
from windvane.triggers import Memory
from windvane.triggers import base as triggers


class Held(NamedTuple):
    """An observation set aside: a change or an outlier, as the next one will tell."""

    observation: Observation
    x: Any  # the point as it was told, to ask for it again


class Progress(NamedTuple):
    """Where an optimiser stands: all that a `tell` replaces."""

    surrogate: Surrogate
    memory: Memory  # the trigger's
    allowance: Memory  # the limit's
    step: int = 1  # t of the next observation
    elapsed: int = 1  # t_r of the next observation
    age: int = 0  # tells since the last fit
    last_time: float | None = None
    origin: float = 0.0
    last_point: Array | None = None
    held: Held | None = None
    evaluations: Evaluations | None = None  # from the first failure on
    failed_at: Array | None = None  # where the last evaluation was, if it failed
    constraints: tuple[Progress, ...] = ()  # where the loops stand that follow the constraints
    last_safe: Array | None = None  # where all that was told of the constraints was last within their limits
    broken: tuple[Array, ...] = ()  # settings at which something was beyond its limit since then
    caution: float = 0.0  # of the loop of a constraint: how much more than its belief it takes to be safe

    @property
    def setting(self) -> Array | None:
        """The point evaluated last, whether or not a value came: where the system is."""
        return self.last_point if self.failed_at is None else self.failed_at


def limit_view(surrogate: Surrogate) -> Belief:
    """What a limit may know of the model in force."""
    model, scaling = surrogate.model, surrogate.model.scaling
    return Belief(model.kernel, model.temporal, model.noise_variance, scaling.offset, scaling.scale)


def asked_event(before: Progress, beliefs: Mapping[str, float], reason: str) -> Event:
    """The record of a reset that somebody asked for: after the last observation, and about none."""
    unknown = math.nan
    return Event(
        step=before.step - 1,
        time=unknown if before.last_time is None else before.last_time,
        x=None,
        y=unknown,
        mean=unknown,
        std=unknown,
        noise_variance=unknown,
        log_density=unknown,
        statistic=0.0,  # nothing was tested
        threshold=math.inf,
        monitored=False,
        elapsed=before.elapsed - 1,
        reset=True,
        reason=reason or "asked for",
        kept=0,
        size=0,
        beliefs=beliefs,
        cause="asked",
    )


def plain(progress: Progress) -> dict[str, Any]:
    """Plain JSON; what is empty is left out."""
    state = {
        "step": progress.step,
        "elapsed": progress.elapsed,
        "age": progress.age,
        "last_time": progress.last_time,
        "origin": progress.origin,
        "last_point": None if progress.last_point is None else progress.last_point.tolist(),
        "memory": list(progress.memory),
        "surrogate": progress.surrogate.state(),
    }
    if progress.allowance:
        state["allowance"] = list(progress.allowance)
    if progress.held is not None:
        (_, y, time, step, accuracy), x = progress.held
        told = x.tolist() if isinstance(x, np.ndarray) else echo(x)
        held: dict[str, Any] = {"x": told, "y": y, "time": time, "step": step}
        if accuracy is not None:
            held["accuracy"] = plain_accuracy(accuracy)
        state["held"] = held
    if progress.evaluations is not None:
        state["failures"] = progress.evaluations.state()
    if progress.failed_at is not None:
        state["failed_at"] = progress.failed_at.tolist()
    if progress.constraints:
        state["constraints"] = [plain(each) for each in progress.constraints]
    if progress.last_safe is not None:
        state["last_safe"] = progress.last_safe.tolist()
    if progress.caution:
        state["caution"] = progress.caution
    if progress.broken:
        state["broken"] = [point.tolist() for point in progress.broken]
    return state


def read(state: dict[str, Any], space: Domain, composition: Composition) -> Progress:
    """Where the optimiser stood, as `state` wrote it."""
    step = integer("state(step)", state["step"], at_least=1)
    last, point = state["last_time"], state["last_point"]
    if (step > 1) == (last is None) or (last is None) != (point is None):
        raise CorruptState("state: the last observation's time and point do not fit the step")
    model = decode(state["surrogate"]["model"])
    if type(model) is not type(composition.model):
        raise CorruptState("state: the surrogate's model is missing, or another than the composition's")
    held = _held(state["held"], space) if "held" in state else None
    if held is not None and held.observation.step != step - 1:
        raise CorruptState("state: what is set aside is not the last observation")
    surrogate = model.restored(space, state["surrogate"])
    allowance = composition.limit.start()
    if "allowance" in state:
        allowance = limits.memory_from_json(
            composition.limit, state["allowance"], surrogate.data, limit_view(surrogate)
        )
    return Progress(
        surrogate=surrogate,
        memory=triggers.memory_from_json(composition.trigger, state["memory"]),
        allowance=allowance,
        step=step,
        elapsed=integer("state(elapsed)", state["elapsed"], at_least=1),
        age=integer("state(age)", state["age"], at_least=0),
        last_time=None if last is None else real("state(last_time)", last),
        origin=real("state(origin)", state["origin"]),
        last_point=None if point is None else feasible("state(last_point)", point, space),
        held=held,
        evaluations=Evaluations.read(state["failures"], space) if "failures" in state else None,
        failed_at=feasible("state(failed_at)", state["failed_at"], space) if "failed_at" in state else None,
        constraints=_constraints(state.get("constraints", []), space, composition),
        last_safe=feasible("state(last_safe)", state["last_safe"], space) if "last_safe" in state else None,
        caution=real("state(caution)", state.get("caution", 0.0)),
        broken=tuple(feasible("state(broken)", point, space) for point in state.get("broken", [])),
    )


def _constraints(states: Any, space: Domain, composition: Composition) -> tuple[Progress, ...]:
    """Where the loops of the constraints stood."""
    watched = () if composition.constraints is None else composition.constraints.each
    if not isinstance(states, list) or len(states) != len(watched):
        raise CorruptState("state: the constraints are not those of the composition")
    return tuple(read(state, space, one.composition) for state, one in zip(states, watched, strict=True))


def _held(state: Any, space: Domain) -> Held:
    """What was set aside, as `state` wrote it."""
    x, y = state["x"], real("state(held y)", state["y"], at_least=-LARGEST, at_most=LARGEST)
    time, step = real("state(held time)", state["time"]), integer("state(held step)", state["step"])
    known = accuracy(state.get("accuracy"))
    return Held(Observation(space.encode(x), y, time, step, known), echo(x))


def echo(x: Any) -> Any:
    """The told point as a value of our own, so that a later change by the caller does not reach the log."""
    if isinstance(x, Mapping):
        return dict(x)
    return np.array(x, dtype=np.float64) if np.ndim(x) else int(x)
