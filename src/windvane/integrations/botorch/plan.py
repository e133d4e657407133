"""What an `EventTriggeredLoop` was asked for: validated once, frozen, and JSON like every component."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from windvane.acquisition import IGPBeta, Schedule
from windvane.checks import goal_name, integer, one_of, real
from windvane.codec import component
from windvane.errors import InvalidArgument, InvalidType
from windvane.retention import Retention
from windvane.spaces import Box
from windvane.triggers import Never, Periodic, ResetWindow, Trigger

DTYPES = {"float32": torch.float32, "float64": torch.float64}
LEAST_LEARNED = 20  # steps: 2d of them are too few to trust a scale and a noise (docs/decisions/0011)


@component
@dataclass(frozen=True)
class LoopPlan:
    """The parts and the figures of a loop; `learning=None` is filled in."""

    box: Box
    dtype: str
    goal: str
    seed: int
    trigger: Trigger
    retention: Retention
    window: ResetWindow
    beta: Schedule
    learning: int | None
    freeze: bool
    initial: int
    noise_variance: float | None
    time_column: bool

    def __post_init__(self) -> None:
        one_of("dtype", self.dtype, DTYPES)
        object.__setattr__(self, "goal", goal_name(self.goal))
        integer("seed", self.seed, at_least=0)
        _part("trigger", self.trigger, Trigger, "wv.PosteriorBound(0.1)")
        _part("retention", self.retention, Retention, "wv.LastPoint()")
        _part("window", self.window, ResetWindow, "wv.ResetWindow(10, 50)")
        if isinstance(self.beta, type) or not hasattr(self.beta, "multiplier"):
            raise InvalidType(f"beta={self.beta!r}: must be a schedule such as wv.LogBeta()")
        if isinstance(self.beta, IGPBeta):
            raise InvalidArgument(
                "beta: IGPBeta needs the information gain, which a BoTorch model does not tell"
            )
        integer("initial", self.initial, at_least=0)
        if self.learning is None:
            steps = _steps_to_learn(self.trigger, self.box.dim)
            object.__setattr__(self, "learning", max(steps, self.initial) if steps else 0)
        learning = integer("learning", self.learning, at_least=0)
        if learning and learning < self.initial:
            raise InvalidArgument(
                f"learning={learning}: must be at least initial={self.initial}, without which there is "
                "no model to learn, or 0"
            )
        if self.noise_variance is not None:
            object.__setattr__(
                self, "noise_variance", real("noise_variance", self.noise_variance, at_least=0.0)
            )
        for name in ("freeze", "time_column"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidType(f"{name}={getattr(self, name)!r}: must be True or False")

    @property
    def sign(self) -> float:
        """1 to maximise, -1 to minimise."""
        return 1.0 if self.goal == "maximize" else -1.0


def box_of(bounds: Any) -> tuple[Box, str]:
    """A 2 x d tensor of bounds as a box, and the name of its precision."""
    example = "torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)"
    if not isinstance(bounds, Tensor):
        raise InvalidType(f"bounds={bounds!r}: must be a 2 x d tensor such as {example}")
    names = {dtype: name for name, dtype in DTYPES.items()}
    if bounds.dtype not in names:
        raise InvalidType(f"bounds: must be float64 or float32, got {bounds.dtype}; for instance {example}")
    if bounds.ndim != 2 or bounds.shape[0] != 2 or bounds.shape[1] < 1:
        raise InvalidArgument(f"bounds: must have shape 2 x d, got {' x '.join(map(str, bounds.shape))}")
    return Box(bounds.detach().cpu().double().T.tolist()), names[bounds.dtype]


def _steps_to_learn(trigger: Trigger, dim: int) -> int:
    """A clock does not wait for a model; a trigger waits until there is one to contradict."""
    return 0 if isinstance(trigger, Never | Periodic) else max(2 * dim, LEAST_LEARNED)


def _part(name: str, part: object, kind: type, example: str) -> None:
    if isinstance(part, type) or not isinstance(part, kind):
        raise InvalidType(f"{name}={part!r}: must be an instance such as {example}")
