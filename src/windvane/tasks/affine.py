"""A task in other units: the wrapper `units`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from windvane.checks import Array, array, real
from windvane.errors import InvalidArgument
from windvane.tasks.base import Optimum, Task
from windvane.tasks.wrappers import Wrapper


@final
class Units(Wrapper):
    """Values multiplied and shifted; made by `units`."""

    def __init__(self, task: Task, scale: Any, offset: Any = 0.0) -> None:
        super().__init__(task)
        self.scale = _per_step("scale", scale, self.horizon)
        self.offset = _per_step("offset", offset, self.horizon)
        if not (self.scale > 0.0).all():
            raise InvalidArgument(
                f"scale={self.scale[self.scale <= 0.0][0]:g}: must be above 0, or the best would be the worst"
            )

    @property
    def name(self) -> str:
        return f"{self.task.name}, in other units"

    @property
    def kernel(self) -> None:
        """None: around an offset nothing is a sample of GP(0, k)."""
        return None

    @property
    def noise_variance(self) -> float:
        """That of the task within, in the units of the first step."""
        return float(self.scale[0]) ** 2 * self.task.noise_variance

    def _at(self, t: int) -> tuple[float, float]:
        _, time = self.source(t)
        return float(self.scale[time - 1]), float(self.offset[time - 1])

    def value(self, x: Any, t: int) -> float:
        scale, offset = self._at(t)
        return offset + scale * super().value(x, t)

    def optimum(self, t: int) -> Optimum:
        scale, offset = self._at(t)
        best = super().optimum(t)
        return Optimum(offset + scale * float(best), best.x)

    def noise_from(self, normal: float, t: int) -> float:
        return self._at(t)[0] * super().noise_from(normal, t)

    def disturbance(self, t: int) -> float:
        return self._at(t)[0] * super().disturbance(t)


def units(
    task: Task, scale: float | Sequence[float] | Array, offset: float | Sequence[float] | Array = 0.0
) -> Units:
    """Values, noise and disturbances times `scale`, above 0; to the values `offset` is added.

    Each is a number, or one number per step: then the level and the spread change and the best point stays.
    The kernel is not known any more.

    >>> import windvane as wv
    >>> task = wv.task("within-model", horizon=20, noise_variance=0.01)
    >>> small = units(task, scale=1e-6, offset=1.0)
    >>> bool(np.isclose(small.optimum(3) - 1.0, 1e-6 * task.optimum(3))), round(small.noise_variance, 18)
    (True, 1e-14)
    """
    return Units(task, scale, offset)


def _per_step(name: str, given: Any, horizon: int) -> Array:
    each = isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim > 0)
    numbers = array(name, given, (horizon,)) if each else np.full(horizon, real(name, given))
    numbers.setflags(write=False)
    return numbers
