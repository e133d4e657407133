"""What an algorithm is: the parts that meet in the loop, as one frozen record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

from windvane.acquisition import UCB, Acquisition
from windvane.checks import real
from windvane.codec import component
from windvane.constraints import Constraint
from windvane.errors import InvalidArgument, InvalidType
from windvane.moves import Moves
from windvane.retention import Full, LastPoint, Limit, Retention
from windvane.surrogates import Given, Learning, Mixture, Model
from windvane.triggers import Never, ResetWindow, Trigger


@final
@component
@dataclass(frozen=True)
class Watched:
    """A constraint by its name, and the loop that follows it: all of a composition but the acquisition."""

    name: str
    constraint: Constraint
    composition: Composition


@final
@component
@dataclass(frozen=True)
class Constraints:
    """What must hold beside the objective.

    With `safe`, a point is asked for only if each constraint holds there with that probability; `start` are
    settings, encoded, that are known to be safe. Without, points are preferred that probably meet them all.
    """

    each: tuple[Watched, ...]
    safe: float | None = None
    start: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        if self.safe is not None:
            object.__setattr__(self, "safe", real("safe", self.safe, at_least=0.5, below=1.0))


@component
@dataclass(frozen=True)
class Composition:
    """An algorithm: which parts meet in the loop. `algorithms` is a table of these."""

    name: str
    model: Model | Mixture
    acquisition: Acquisition = field(default_factory=UCB)
    trigger: Trigger = field(default_factory=Never)
    window: ResetWindow = field(default_factory=ResetWindow)
    on_trigger: Retention = field(default_factory=LastPoint)
    on_forced: Retention = field(default_factory=LastPoint)
    limit: Limit = field(default_factory=Full)
    learning: Learning = field(default_factory=Given)
    rescale: bool = False  # learn the scaling of y together with the hyperparameters
    moves: Moves | None = field(default=None, metadata={"if_used": True})  # how far to go at a time
    constraints: Constraints | None = field(default=None, metadata={"if_used": True})

    def __post_init__(self) -> None:
        fits = {
            "name": isinstance(self.name, str),
            "model": _has(self.model, "surrogate", "restored", "weighs_changes"),
            "acquisition": _has(self.acquisition, "propose"),
            "trigger": _has(self.trigger, "start", "test"),
            "window": isinstance(self.window, ResetWindow),
            "on_trigger": _has(self.on_trigger, "keep"),
            "on_forced": _has(self.on_forced, "keep"),
            "limit": _has(self.limit, "start", "apply"),
            "learning": _has(self.learning, "due", "monitors", "search"),
            "rescale": isinstance(self.rescale, bool),
            "moves": self.moves is None or isinstance(self.moves, Moves),
            "constraints": self.constraints is None or isinstance(self.constraints, Constraints),
        }
        for part, fit in fits.items():
            if not fit:
                raise InvalidType(f"{part}={getattr(self, part)!r}: cannot play that part in a composition")
        if getattr(self.trigger, "reads_opinion", False) and not self.model.weighs_changes:
            raise InvalidArgument(
                f"trigger={self.trigger!r}: needs a surrogate that weighs sudden changes, as 'auto' has"
            )

    @property
    def given(self) -> bool:
        """Whether all hyperparameters are given: nothing is learned."""
        return isinstance(self.learning, Given)


def _has(part: object, *methods: str) -> bool:
    return not isinstance(part, type) and all(hasattr(part, method) for method in methods)
