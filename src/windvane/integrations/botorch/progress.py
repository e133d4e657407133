"""Where a loop stands: one frozen record, replaced by the next at every `tell`, and its JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace
from reprlib import repr as brief
from typing import Any

from windvane.checks import array, integer, real
from windvane.codec import decode, encode
from windvane.data import Dataset, Observation
from windvane.errors import CorruptState, InvalidArgument
from windvane.integrations.botorch.plan import LoopPlan
from windvane.triggers import Memory
from windvane.triggers.base import memory_from_json
from windvane.triggers.ruling import Ruling

STATE_VERSION = 1


@dataclass(frozen=True, eq=False)
class LoopProgress:
    """The observations in use and the counters; `learned` is the last step of those learned from."""

    data: Dataset
    memory: Memory
    step: int = 1  # t of the next observation
    elapsed: int = 1  # t_r of the next observation
    learned: int | None = None
    last_time: float | None = None
    origin: float = 0.0
    held: Observation | None = None  # set aside: a change or an outlier, as the next one will tell

    @staticmethod
    def start(plan: LoopPlan) -> LoopProgress:
        """Nothing seen yet."""
        return LoopProgress(Dataset.empty(plan.box.dim), plan.trigger.start())

    @property
    def time(self) -> float:
        """One after the last."""
        return 1.0 if self.last_time is None else self.last_time + 1.0

    def now(self, time: Any) -> tuple[float, float]:
        """A time as told, and on the model's axis, where the first observation is at 1."""
        stamp = self.time if time is None else real("time", time)
        if self.last_time is None:
            return stamp, 1.0
        if stamp < self.last_time:
            raise InvalidArgument(
                f"time={time!r}: must not be before the last observation at {self.last_time!r}"
            )
        return stamp, stamp - self.origin

    def after(
        self,
        ruling: Ruling,
        new: Observation,
        stamp: float,
        memory: Memory,
        kept: Dataset | None,
        plan: LoopPlan,
    ) -> LoopProgress:
        """The next one: an observation set aside, a reset that kept something, or one observation more."""
        origin = stamp - new.time if self.last_time is None else self.origin
        moved = replace(self, step=self.step + 1, elapsed=self.elapsed + 1, last_time=stamp, origin=origin)
        if kept is not None:
            return replace(moved, data=kept, memory=plan.trigger.start(), elapsed=1, learned=None, held=None)
        if ruling.set_aside:
            return replace(moved, memory=memory, held=new)
        learns_no_more = plan.freeze and self.elapsed == plan.learning
        return replace(
            moved,
            data=self.data + new,
            memory=memory,
            learned=new.step if learns_no_more else self.learned,
            held=None,
        )

    # -- JSON --------------------------------------------------------------------------------------------

    def state(self, plan: LoopPlan) -> dict[str, Any]:
        """Plain JSON; floats survive bit for bit."""
        return {
            "windvane": "botorch",
            "version": STATE_VERSION,
            "plan": encode(plan),
            "data": [_plain(row) for row in self.data],
            "memory": list(self.memory),
            **{name: getattr(self, name) for name in ("step", "elapsed", "learned", "last_time", "origin")},
            "held": None if self.held is None else _plain(self.held),
        }

    @staticmethod
    def restore(state: Any) -> tuple[LoopPlan, LoopProgress]:
        """The plan and the progress that `state` wrote."""
        if not isinstance(state, dict) or state.get("windvane") != "botorch":
            hint = "; parse it with json.loads first" if isinstance(state, str | bytes) else ""
            raise CorruptState(
                f"state: not of an EventTriggeredLoop; expected the dict that state() returned{hint}"
            )
        if state.get("version") != STATE_VERSION:
            raise CorruptState(
                f"state: written in format {brief(state.get('version'))}; this version reads {STATE_VERSION}"
            )
        try:
            plan = decode(state["plan"])
            if not isinstance(plan, LoopPlan):
                raise CorruptState("state: the plan is missing")
            return plan, _progress(state, plan)
        except CorruptState:
            raise
        except Exception as error:  # the state is to blame, whatever reading it has led to
            raise CorruptState(f"state: incomplete or altered ({type(error).__name__}: {error})") from error


def _progress(state: dict[str, Any], plan: LoopPlan) -> LoopProgress:
    data = Dataset.empty(plan.box.dim)
    for row in state["data"]:
        data += _observation(row, plan)
    last, learned, held = state["last_time"], state["learned"], state["held"]
    step = integer("state(step)", state["step"], at_least=1)
    if (step > 1) == (last is None) or any(row.step >= step for row in data):
        raise CorruptState("state: the step does not fit the observations")
    return LoopProgress(
        data=data,
        memory=memory_from_json(plan.trigger, state["memory"]),
        step=step,
        elapsed=integer("state(elapsed)", state["elapsed"], at_least=1),
        learned=None if learned is None else integer("state(learned)", learned, at_least=1),
        last_time=None if last is None else real("state(last_time)", last),
        origin=real("state(origin)", state["origin"]),
        held=None if held is None else _observation(held, plan),
    )


def _plain(row: Observation) -> list[Any]:
    return [row.x.tolist(), row.y, row.time, row.step]


def _observation(row: Any, plan: LoopPlan) -> Observation:
    x, y, time, step = row
    point = array("state(x)", x, (plan.box.dim,))
    plan.box.encode(point)
    return Observation(
        point, real("state(y)", y), real("state(time)", time), integer("state(step)", step, at_least=1)
    )
