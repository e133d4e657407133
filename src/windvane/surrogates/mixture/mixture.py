"""A Bayesian mixture of hypotheses about time: what is believed before anything is seen."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from windvane.checks import Array, integer, real
from windvane.codec import component
from windvane.errors import InvalidArgument, InvalidType
from windvane.kernels import Kernel, Static, Temporal
from windvane.spaces.base import Domain
from windvane.surrogates.mixture.hypotheses import HYPOTHESES, Hypothesis
from windvane.surrogates.mixture.seasons import recurrence
from windvane.surrogates.mixture.tuning import ADOPTED, TOLD
from windvane.surrogates.scaling import Scaling

if TYPE_CHECKING:
    from windvane.surrogates.mixture.surrogate import MixtureSurrogate

SHORTEST, LONGEST = sys.float_info.min, sys.float_info.max  # of a season, in steps, whatever its unit


@component
@dataclass(frozen=True)
class Mixture:
    """What `auto` believes before it sees anything. Frozen; a fit makes a new one.

    `hazard` is the chance per step of a sudden change, `share` the part of the weight that flows back,
    `outliers` the chance that an observation has `outlier_size` extra prior variances of noise, `plunges` the
    chance that f falls by far more than its kernel says, where little is known of it (docs/decisions/0049).
    The noise variance is learned, from a first guess worth 2 `doubt` observations; a hypothesis that wants
    more than `own_noise` times the one that was fitted under another has one of its own (0: never). `lead`
    is how many steps ahead an uncertainty must still matter to be worth exploring. `interval` is how long a
    step is in the caller's time; it is found out from the first observations. `runs` is how many sudden
    changes are held possible at a time, none of them in the first `settled` steps: while the scale of y is
    a guess, the first values are from another world whenever the search finds a better place. `level_runs`
    is the same for changes of the level alone (docs/decisions/0029). One that is not believed `lapse` steps
    later is given up (0: never). `period`, in the caller's time, is that of a season that is weighed beside
    the `hypotheses`, one to the opposite and back if it `swings`; with `seeks` it is looked for in the
    data, and if it was told, `both` shapes are weighed.

    `moves` has the steps at which only the level moved, and how uncertain the size of that is (a standard
    deviation, in the caller's units): observations from before are used as they would read at the new level.
    """

    kernel: Kernel
    noise_variance: float
    scaling: Scaling = field(default_factory=Scaling)
    hypotheses: tuple[Hypothesis, ...] = HYPOTHESES
    hazard: float = 0.003
    share: float = 0.003
    outliers: float = 0.01
    outlier_size: float = 9.0
    runs: int = 4
    doubt: float = 3.0
    lead: float = 6.0
    interval: float = 1.0
    settled: int = 0
    level_runs: int = 2
    moves: tuple[tuple[int, float], ...] = ()
    period: float | None = None
    seeks: bool = False
    swings: bool = False
    both: bool = False  # states of before that were told a period have a season alone
    plunges: float = 0.0  # states of before go on as they were; `auto` has 0.001
    lapse: int = field(default=0, metadata={"if_used": True})  # the same; `auto` has 30
    own_noise: float = field(default=0.0, metadata={"if_used": True})  # the same; `auto` has 1.25
    weighs_changes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise InvalidType(f"Mixture(kernel)={self.kernel!r}: must be a kernel such as wv.RBF(0.2)")
        for name in ("noise_variance", "outlier_size", "doubt", "interval"):
            object.__setattr__(self, name, real(f"Mixture({name})", getattr(self, name), above=0.0))
        for name in ("hazard", "share", "outliers", "plunges"):
            value = real(f"Mixture({name})", getattr(self, name), at_least=0.0, at_most=0.5)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "own_noise", real("Mixture(own_noise)", self.own_noise, at_least=0.0))
        object.__setattr__(self, "lead", real("Mixture(lead)", self.lead, at_least=0.0))
        object.__setattr__(self, "runs", integer("Mixture(runs)", self.runs, at_least=1))
        for name in ("settled", "level_runs", "lapse"):
            object.__setattr__(self, name, integer(f"Mixture({name})", getattr(self, name), at_least=0))
        moves = tuple(
            (integer("Mixture(moves)", step, at_least=1), real("Mixture(moves)", spread, at_least=0.0))
            for step, spread in self.moves
        )
        object.__setattr__(self, "moves", moves)
        if self.period is not None:
            object.__setattr__(self, "period", real("Mixture(period)", self.period, above=0.0))
        for name in ("seeks", "swings", "both"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidType(f"Mixture({name})={getattr(self, name)!r}: must be true or false")
        given: Any = self.hypotheses
        if not isinstance(given, tuple | list) or not all(isinstance(one, Hypothesis) for one in given):
            raise InvalidType(f"Mixture(hypotheses)={given!r}: must be a list of wv.Hypothesis")
        object.__setattr__(self, "hypotheses", tuple(given))
        labels = [one.label for one in self.permanent]
        if not labels or len(set(labels)) < len(labels):
            raise InvalidArgument(
                f"Mixture(hypotheses): must be one or more, of different names, got {labels}"
            )

    @cached_property
    def permanent(self) -> tuple[Hypothesis, ...]:
        """All hypotheses but sudden changes: those that were given, then the season's."""
        if self.period is None:
            return self.hypotheses
        steps = min(max(self.period / self.interval, SHORTEST), LONGEST)
        weight, shapes = ADOPTED if self.seeks else TOLD, (False, True) if self.both else (self.swings,)
        return (*self.hypotheses, *(recurrence(steps, swings, weight / len(shapes)) for swings in shapes))

    @cached_property
    def prior(self) -> Array:
        """The weights of the permanent hypotheses before anything is seen; they sum to 1."""
        weights = np.array([hypothesis.weight for hypothesis in self.permanent])
        return np.asarray(weights / weights.sum())

    @cached_property
    def local(self) -> bool:
        """Whether it is held possible that a place has a part of its own."""
        return any(one.alone is not None for one in self.permanent)

    @property
    def temporal(self) -> Temporal:
        """What a limit is told about time: the members know more."""
        return Static()

    def surrogate(self, domain: Domain) -> MixtureSurrogate:
        """A surrogate that has seen nothing yet."""
        from windvane.surrogates.mixture.surrogate import MixtureSurrogate

        return MixtureSurrogate.empty(domain, self)

    def restored(self, domain: Domain, state: dict[str, Any]) -> MixtureSurrogate:
        """The surrogate that wrote the state, whose model this is, bit for bit."""
        from windvane.surrogates.mixture.surrogate import MixtureSurrogate

        return MixtureSurrogate.restore(domain, self, state)
