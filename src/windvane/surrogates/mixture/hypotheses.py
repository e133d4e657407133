"""What may be going on in time: the hypotheses that a mixture weighs against each other.

Each is a Gaussian process k_S(x, x') k_T(t, t') with its own k_T. Together they cover a world that
stands still, drifts at any rate, keeps a part and loses the rest, follows trends, or has a scale
that was misjudged. Sudden changes are not in this list: a mixture adds a hypothesis for them at each
step. Which of these earn their place was measured, see docs/decisions/0015.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from windvane.checks import Array, real
from windvane.codec import component
from windvane.errors import InvalidArgument, InvalidType
from windvane.kernels import Kernel, Markov, Static, Temporal
from windvane.kernels.state_space import state_space
from windvane.kernels.trends import TimeMatern32


@component
@dataclass(frozen=True)
class Hypothesis:
    """A temporal kernel, what to call it, and its weight before anything is seen.

    With `level`, the whole objective goes up and down besides, by the same amount everywhere.
    """

    label: str
    temporal: Temporal
    weight: float
    level: Temporal | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.label, str):
            raise InvalidType(f"Hypothesis(label)={self.label!r}: must be a string")
        if not isinstance(self.temporal, Temporal):
            raise InvalidType(f"Hypothesis(temporal)={self.temporal!r}: must be a temporal kernel")
        if self.level is not None and not isinstance(self.level, Temporal):
            raise InvalidType(f"Hypothesis(level)={self.level!r}: must be a temporal kernel or None")
        if self.level is not None and len(state_space(self.level).loading) > 1:
            raise InvalidArgument(
                f"Hypothesis(level)={self.level!r}: must be Static, Markov, or Static(share) * Markov"
            )
        object.__setattr__(self, "weight", real("Hypothesis(weight)", self.weight, above=0.0))

    @property
    def alone(self) -> Temporal | None:
        """What each place does alone, beside what it shares with others, if that is held possible."""
        return None


@component
@dataclass(frozen=True)
class LocalHypothesis(Hypothesis):
    """Besides, each place has a part of its own that no other place says anything about, and that lasts.

    Its covariance is k_S(x, x) local(t, t') at one place, and 0 between any two: white in space, not in time.

    >>> LocalHypothesis("each arm drifts alone, 10 % per step", Markov(0.01), 0.1, local=Markov(0.1)).alone
    Markov(rate=0.1)
    """

    local: Temporal = field(default=Markov(0.1))  # a field with a default must not come before one without

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.local, Temporal):
            raise InvalidType(f"LocalHypothesis(local)={self.local!r}: must be a temporal kernel")

    @property
    def alone(self) -> Temporal | None:
        """The part of each place."""
        return self.local


HYPOTHESES: tuple[Hypothesis, ...] = (
    Hypothesis("static", Static(), 0.30),
    Hypothesis("drifts 0.3 % per step", Markov(0.003), 0.10),
    Hypothesis("drifts 1 % per step", Markov(0.01), 0.10),
    Hypothesis("drifts 3 % per step", Markov(0.03), 0.10),
    Hypothesis("drifts 10 % per step", Markov(0.1), 0.05),
    Hypothesis("drifts 30 % per step", Markov(0.3), 0.05),
    Hypothesis("half of it drifts 3 % per step", Static(0.5) + Static(0.5) * Markov(0.03), 0.05),
    Hypothesis("half of it drifts 20 % per step", Static(0.5) + Static(0.5) * Markov(0.2), 0.05),
    Hypothesis("a fifth of it drifts 30 % per step", Static(0.8) + Static(0.2) * Markov(0.3), 0.05),
    Hypothesis("trend over 10 steps", TimeMatern32(10.0), 0.05),
    Hypothesis("trend over 30 steps", TimeMatern32(30.0), 0.05),
    Hypothesis("3 times as large, drifts 1 % per step", Static(9.0) * Markov(0.01), 0.05),
    Hypothesis("level drifts 3 % per step", Static(), 0.05, level=Static(4.0) * Markov(0.03)),
)
"""What `auto` weighs unless it is told otherwise: `hypotheses=(*wv.HYPOTHESES, one_of_mine)`."""

LOCAL: tuple[LocalHypothesis, ...] = (
    LocalHypothesis("each arm drifts alone, 3 % per step", Markov(0.01), 0.10, local=Markov(0.03)),
    LocalHypothesis("each arm drifts alone, 20 % per step", Markov(0.01), 0.10, local=Markov(0.2)),
)
"""What `auto` weighs besides on arms whose kernel it is told: that may not know what one arm does alone."""

CHANGED = Hypothesis("changed", Static(), 1.0)
"""What is born at each step: everything is new, and stands still from now on."""


def same(kernel: Kernel, A: Array, B: Array) -> Array:
    """k_S(a, a) where a and b are one place, else 0, m x n: the covariance of what each place does alone."""
    return np.asarray((A[:, None, :] == B).all(axis=-1) * kernel.diagonal(A)[:, None])
