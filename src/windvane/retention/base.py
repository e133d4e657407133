"""What is kept: at a reset (`Retention`), and at every other step (`Limit`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

from windvane.checks import Array, real
from windvane.data import Dataset, Observation
from windvane.errors import CorruptState
from windvane.kernels import Kernel, Static, Temporal
from windvane.units import inward

Test: TypeAlias = Callable[[Dataset, Observation], bool]
"""Whether the trigger fires for the observation, predicted from that dataset alone. Without side effects."""

Memory: TypeAlias = tuple[float, ...]
"""What a limit carries from step to step: finite numbers, so that it is JSON; `()` if nothing."""


@dataclass(frozen=True)
class Belief:
    """The model in force, as far as a limit may know it: k_S, k_T, the noise, and the units of y.

    >>> import numpy as np
    >>> from windvane.kernels import RBF
    >>> Belief(RBF(0.2), offset=10.0, scale=2.0).inward(np.array([12.0]))
    array([1.])
    """

    kernel: Kernel
    temporal: Temporal = field(default_factory=Static)
    noise_variance: float = 0.01
    offset: float = 0.0
    scale: float = 1.0

    def inward(self, y: Array) -> Array:
        """From the caller's units to the model's."""
        return inward(y, self.offset, self.scale)

    def covariance(self, data: Dataset) -> Array:
        """K~: the n x n covariance of the observations, noise included."""
        K = self.kernel.matrix(data.X, data.X) * self.temporal.matrix(data.times, data.times)
        K.reshape(-1)[:: len(data) + 1] += self.noises(data)
        return K

    def noises(self, data: Dataset) -> Array:
        """The noise variance of each observation."""
        return data.noises(self.noise_variance, self.scale, self.kernel.diagonal(data.X))


@runtime_checkable
class Retention(Protocol):
    """Chooses what survives a reset.

    A retention with the class attribute `reads_verdict = True` is given the trigger's verdict as the keyword
    `verdict`.
    """

    def keep(self, data: Dataset, test: Test) -> Dataset:
        """The observations to go on with, oldest first; the newest in `data` is the one that fired."""
        ...


@runtime_checkable
class Limit(Protocol):
    """Bounds the observations in use; applied at every `tell`, after the newest was appended.

    The limit itself never changes: what evolves is the memory, handed in and handed back. Its length depends
    on nothing but how many steps there were.
    """

    def start(self) -> Memory:
        """The memory after a start or a reset."""
        ...

    def apply(self, data: Dataset, belief: Belief, memory: Memory) -> tuple[Dataset, Memory]:
        """The observations to go on with, oldest first, and the memory for the next step.

        The first is `data` itself if nothing is dropped. The newest observation always stays.
        """
        ...


def memory_from_json(limit: Limit, given: Any, data: Dataset, belief: Belief) -> Memory:
    """A memory as a state has it, if the limit can have written it for these data."""
    memory = tuple(real("state(allowance)", entry) for entry in list(given))
    if len(memory) != len(limit.start()):
        _, after = limit.apply(data, belief, limit.start())
        if len(memory) != len(after):
            raise CorruptState(f"state(allowance): has {len(memory)} numbers; {limit!r} has {len(after)}")
    return memory


class Memoryless:
    """The start of every limit that is a function of the data alone."""

    def start(self) -> Memory:
        """Nothing to remember."""
        return ()
