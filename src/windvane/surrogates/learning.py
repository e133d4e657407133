"""When hyperparameters are learned, and when the trigger may trust them.

The paper's warning (Section 6.3): a trigger looks for a mismatch that a fit tries to explain away.
`LearnThenMonitor` keeps the two apart; `LearnOnline` is for algorithms without a trigger.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from windvane.checks import integer, real
from windvane.codec import component
from windvane.errors import InvalidType
from windvane.surrogates.fit import Search


def _searching(search: object) -> None:
    if not isinstance(search, Search):
        raise InvalidType(f"learning(search)={search!r}: must be a wv.Search")


class Learning(Protocol):
    """When to fit; pure functions of how much has been seen."""

    @property
    def search(self) -> Search:
        """What is learned."""
        ...

    @property
    def reconsiders(self) -> bool:
        """Whether hyperparameters are looked at once more before data are dropped."""
        ...

    def due(self, elapsed: int, size: int, age: int, dim: int) -> bool:
        """Whether to fit after observation `elapsed` since the reset, `age` tells after the last fit."""
        ...

    def monitors(self, elapsed: int, dim: int, step: int = 1) -> bool:
        """Whether the trigger watches the observation number `elapsed` since the reset, `step` in all."""
        ...


@component
@dataclass(frozen=True)
class Given:
    """Nothing is learned; the trigger watches from the first step."""

    search: Search = field(default_factory=Search)
    reconsiders: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _searching(self.search)

    def due(self, elapsed: int, size: int, age: int, dim: int) -> bool:
        """Never."""
        del elapsed, size, age, dim
        return False

    def monitors(self, elapsed: int, dim: int, step: int = 1) -> bool:
        """Always."""
        del elapsed, dim, step
        return True


@component
@dataclass(frozen=True)
class LearnThenMonitor:
    """Learn during the first `steps` (2d if None) after a start or reset, freeze, then monitor.

    >>> policy = LearnThenMonitor()
    >>> [policy.monitors(elapsed, dim=2) for elapsed in (1, 4, 5)]
    [False, False, True]
    """

    steps: int | None = None
    search: Search = field(default_factory=Search)
    reconsiders: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _searching(self.search)
        if self.steps is not None:
            object.__setattr__(self, "steps", integer("learning(steps)", self.steps, at_least=1))

    def _steps(self, dim: int) -> int:
        return 2 * dim if self.steps is None else self.steps

    def due(self, elapsed: int, size: int, age: int, dim: int) -> bool:
        """While learning, as soon as there are two points."""
        del age
        return elapsed <= self._steps(dim) and size >= 2

    def monitors(self, elapsed: int, dim: int, step: int = 1) -> bool:
        """Once learning has ended."""
        del step
        return elapsed > self._steps(dim)


@component
@dataclass(frozen=True)
class LearnOnline:
    """Fit again after every (growth - 1) n observations, n being those in use; 1.0 fits at every step.

    The trigger is heeded after the first `trusted` steps: before, what looks like a change is often a slope.

    >>> [age for age in range(40) if LearnOnline(growth=1.1).due(elapsed=99, size=100, age=age, dim=2)][0]
    10
    """

    growth: float = 1.1
    search: Search = field(default_factory=Search)
    trusted: int = 0
    reconsiders: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _searching(self.search)
        object.__setattr__(self, "trusted", integer("learning(trusted)", self.trusted, at_least=0))
        object.__setattr__(self, "growth", real("learning(growth)", self.growth, at_least=1.0))

    def due(self, elapsed: int, size: int, age: int, dim: int) -> bool:
        """With two points or more, and enough new ones."""
        del elapsed, dim
        return size >= 2 and age >= (self.growth - 1.0) * size - 1e-9

    def monitors(self, elapsed: int, dim: int, step: int = 1) -> bool:
        """Once the model has seen enough to be contradicted."""
        del elapsed, dim
        return step > self.trusted
