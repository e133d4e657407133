"""The options that every algorithm takes, and the parts that are made of them."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, TypeVar

from windvane.acquisition import UCB, Acquisition, LogBeta, Schedule
from windvane.checks import Array, real
from windvane.composition import Composition
from windvane.constraints import Constraint
from windvane.errors import InvalidArgument, InvalidType
from windvane.kernels import (
    RBF,
    Empirical,
    Exchangeable,
    Independent,
    Kernel,
    Product,
    SpaceTime,
    Static,
    Stationary,
    Sum,
    Temporal,
)
from windvane.moves import Moves, per_axis
from windvane.retention import Budget, Full, Limit
from windvane.spaces import Arms
from windvane.spaces.base import Domain
from windvane.surrogates import (
    Given,
    Learning,
    LearnOnline,
    LearnThenMonitor,
    LogNormal,
    Mixture,
    Model,
    Noise,
    Scaling,
    Search,
)
from windvane.triggers import Never, Periodic, Trigger

Part = TypeVar("Part")

FIRST_LENGTHSCALE = 0.3
FIRST_CHOICE = 1.2  # of the options of a choice: two of them have a correlation of exp(-1 / 1.2^2) = 0.5
MANY_OPTIONS = 32  # of all choices together: beyond, the options of each have one lengthscale (0024)
FIRST_CORRELATION = 0.5  # of two arms: docs/decisions/0030
FIRST_NOISE = 0.01
LEAST_LEARNED = 20  # steps: 2d of them are too few to trust a scale and a noise (docs/decisions/0011)


@dataclass(frozen=True)
class CommonOptions:
    """What is common to all algorithms: the model of the objective, and how much to explore.

    The first three are known for every optimiser; the rest are options, None where the caller gave none.
    """

    name: str
    space: Domain
    goal: str
    _: KW_ONLY
    kernel: Kernel | SpaceTime | None = None
    noise_variance: float | None = None
    beta: Schedule | None = None
    acquisition: Acquisition | None = None
    max_points: int | None = None
    learning: Learning | None = None
    scaling: Scaling | None = None
    max_step: Any = None
    move_cost: Any = None
    constraints: dict[str, Constraint] | None = None
    safe: float | None = None
    start: Any = None

    def need(self, option: str, value: Any, why: str) -> Any:
        """The value of an option, or an error that says what it is for."""
        if value is None:
            raise InvalidArgument(f"make({self.name!r}): {option}= is needed, {why}")
        return value

    # -- the model -----------------------------------------------------------------------------------

    @cached_property
    def spatial(self) -> Kernel:
        """The spatial kernel: the caller's, or a first guess to learn from."""
        if self.kernel is None:
            if isinstance(self.space, Arms):
                return Exchangeable(self.space.size, FIRST_CORRELATION)
            choices = self.space.choices
            scales = [FIRST_CHOICE if c in choices else FIRST_LENGTHSCALE for c in range(self.space.dim)]
            return RBF(scales or [FIRST_LENGTHSCALE])
        given = self.kernel.space if isinstance(self.kernel, SpaceTime) else self.kernel
        _fits(given, self.space)
        return given

    @property
    def temporal(self) -> Temporal:
        """The temporal part of a space-time kernel, else static."""
        return self.kernel.time if isinstance(self.kernel, SpaceTime) else Static()

    @cached_property
    def variances(self) -> Array:
        """The prior variance of f at a few points."""
        return self.spatial.diagonal(self.space.candidates(16))

    @cached_property
    def noise(self) -> float:
        """The variance of the noise: the caller's, or a first guess to learn from."""
        if self.noise_variance is None:
            return FIRST_NOISE
        return real("noise_variance", self.noise_variance, at_least=1e-10 * float(self.variances.max()))

    @property
    def inner_scaling(self) -> Scaling:
        """The caller's scaling, for y that is to be maximised; else none."""
        if self.scaling is None:
            return Scaling()
        return self.scaling if self.goal == "maximize" else Scaling(-self.scaling.offset, self.scaling.scale)

    # -- learning ------------------------------------------------------------------------------------

    @property
    def unknown(self) -> tuple[str, ...]:
        """The hyperparameters that the caller left open."""
        told = self.noise_variance is not None
        if self.kernel is not None:
            return () if told else ("noise",)
        shape = "odds" if isinstance(self.space, Arms) else "lengthscale"
        return (shape, "variance" if told else "noise")

    @property
    def rescale(self) -> bool:
        """Whether the units of y are learned: nothing was given in them."""
        return self.kernel is None and self.noise_variance is None and self.scaling is None

    def search(self, *more: str) -> Search:
        """Bounds and priors of `more` and of what is unknown.

        They are for standardised y, or in its units where kernel or noise are given in them.
        """
        learn, alike = (*more, *self.unknown), self.alike
        prior = LogNormal(0.3 * math.sqrt(self.space.parameter_count), 0.7)
        if self.kernel is not None:
            unit = float(self.variances.mean())
            bounds = (1e-4 * unit, 0.25 * unit)
            return Search(learn=learn, noise=bounds, noise_prior=LogNormal(0.01 * unit, 1.5))
        if self.noise_variance is not None:
            return Search(
                learn=learn,
                lengthscale_prior=prior,
                choices=self.space.choices,
                alike=alike,
                variance=(self.noise, 1e6 * self.noise),
                variance_prior=LogNormal(100.0 * self.noise, 2.0),
            )
        return Search(learn=learn, lengthscale_prior=prior, choices=self.space.choices, alike=alike)

    @property
    def alike(self) -> tuple[tuple[int, ...], ...]:
        """The coordinates of each choice, if there are so many that each choice has one lengthscale."""
        return self.space.choice_blocks if len(self.space.choices) > MANY_OPTIONS else ()

    def learner(self, trigger: Trigger) -> Learning:
        """Learn what is unknown: before monitoring if there is a trigger, else again and again."""
        if not self.unknown:
            return Given()
        if isinstance(trigger, Never | Periodic):  # a clock does not wait for a model
            return LearnOnline(search=self.search())
        return LearnThenMonitor(max(2 * self.space.parameter_count, LEAST_LEARNED), search=self.search())

    # -- all together --------------------------------------------------------------------------------

    def explore(self, schedule: Schedule | None = None) -> Acquisition:
        """The caller's acquisition, or UCB with the caller's schedule, else with the algorithm's."""
        return _first(self.acquisition, UCB(_first(self.beta, schedule, LogBeta())))

    @property
    def budget(self) -> Limit:
        """A limit for streams that never end."""
        return Full() if self.max_points is None else Budget(self.max_points)

    @property
    def moves(self) -> Moves | None:
        """How far to go at a time, and at what price."""
        limit, price = self.max_step, self.move_cost
        if limit is None and price is None:
            return None
        least = "the distance of two of its levels: it could never move"
        return Moves(
            None if limit is None else per_axis("max_step", limit, self.space, least=least),
            None if price is None else per_axis("move_cost", price, self.space),
        )

    def compose(
        self,
        *,
        model: Model | Mixture | None = None,
        schedule: Schedule | None = None,
        acquisition: Acquisition | None = None,
        trigger: Trigger | None = None,
        temporal: Temporal | None = None,
        forgetting: float = 1.0,
        limit: Limit | None = None,
        learning: Learning | None = None,
        **resets: Any,
    ) -> Composition:
        """The composition: what is common to all algorithms, and the parts that make this one."""
        if temporal is not None and isinstance(self.kernel, SpaceTime):
            raise InvalidArgument(
                f"kernel: {self.name!r} brings its own temporal part; give the spatial kernel only"
            )
        chosen = _first(trigger, Never())
        if model is None:
            noise = Noise(self.noise, forgetting)
            model = Model(self.spatial, noise, _first(temporal, self.temporal), self.inner_scaling)
        return Composition(
            name=self.name,
            model=model,
            acquisition=_first(acquisition, self.explore(schedule)),
            trigger=chosen,
            limit=_first(limit, self.budget),
            learning=_first(self.learning, learning, self.learner(chosen)),
            rescale=self.rescale,
            moves=self.moves,
            **resets,
        )


def _first(*given: Part | None) -> Part:
    """The first that is not None."""
    return next(each for each in given if each is not None)


def _fits(kernel: Kernel, space: Domain) -> None:
    """A kernel, and every part of a sum or product, must be able to compare the points of the space."""
    if isinstance(kernel, Sum | Product):
        _fits(kernel.left, space)
        _fits(kernel.right, space)
    elif isinstance(space, Arms):
        if isinstance(kernel, Independent):
            return
        if not isinstance(kernel, Empirical | Exchangeable):
            raise InvalidType("kernel: arms have no coordinates; compare them with wv.Empirical(covariance)")
        if isinstance(kernel, Empirical) and kernel.size != space.size:
            raise InvalidArgument(
                f"kernel: Empirical is {kernel.size}x{kernel.size}, the space has {space.size} arms"
            )
        if isinstance(kernel, Exchangeable) and kernel.arms != space.size:
            raise InvalidArgument(
                f"kernel: Exchangeable is of {kernel.arms} arms, the space has {space.size}"
            )
    elif isinstance(kernel, Empirical | Exchangeable | Independent):
        raise InvalidArgument(
            f"kernel: {type(kernel).__name__} compares arms; this space needs RBF, Matern32 or Matern52"
        )
    elif isinstance(kernel, Stationary) and len(kernel.lengthscale) not in (1, space.dim):
        raise InvalidArgument(
            f"kernel: {len(kernel.lengthscale)} lengthscales for {space.dim} encoded coordinates; "
            "give one, or one for each"
        )
