"""What `make` was asked for, validated once, and the parts that several algorithms build from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from windvane.acquisition import UCB, ConstantBeta, IGPBeta, LogBeta, Schedule
from windvane.checks import integer, one_of, probability, real
from windvane.composition import Composition
from windvane.errors import InvalidArgument, InvalidType
from windvane.kernels import (
    RBF,
    Empirical,
    Independent,
    Kernel,
    Markov,
    Product,
    SpaceTime,
    Static,
    Stationary,
    Sum,
    Temporal,
)
from windvane.retention import Budget, Full, InBatches, Limit
from windvane.retention.evidence_window import ladder
from windvane.spaces import Arms
from windvane.spaces.base import Domain
from windvane.surrogates import (
    Given,
    Hypothesis,
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
from windvane.theory import greedy_information_gain, reset_time, reset_window
from windvane.triggers import Confirmed, Never, Periodic, PosteriorBound, ResetWindow, Trigger

FIRST_LENGTHSCALE = 0.3
FIRST_CHOICE = 1.2  # of the options of a choice: two of them have a correlation of exp(-1 / 1.2^2) = 0.5
FIRST_NOISE = 0.01
LEAST_LEARNED = 20  # steps: 2d of them are too few to trust a scale and a noise (docs/decisions/0011)
GUESSED_NOISE = 0.02  # of the signal's variance
KNOWN_NOISE, UNKNOWN_NOISE = 3.0, 1.0  # half the observations that a told, or a guessed, noise is worth
DRIFTING_NOISE = 0.02, 1.0  # the prior of the noise where f drifts: docs/decisions/0023
GROWTH, STARTS = 1.15, 2  # `auto` fits often and each time a little: docs/decisions/0023
MANY = 400  # observations that `auto` keeps
GAIN_POINTS = 256  # candidates on which the maximum information gain is computed greedily


def _pair(name: str, value: Any) -> tuple[Any, Any]:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InvalidArgument(f"{name}={value!r}: must be a pair (low, high)")
    return value[0], value[1]


def _rates(name: str, value: Any) -> None:
    low, high = (real(name, side, at_least=0.0, at_most=1.0) for side in _pair(name, value))
    if low > high:
        raise InvalidArgument(f"{name}={value!r}: low must not be above high")


def _chance(name: str, value: Any) -> None:
    real(name, value, at_least=0.0, at_most=0.5)


def _hypotheses(name: str, value: Any) -> None:
    if not isinstance(value, tuple | list) or not value or not all(isinstance(v, Hypothesis) for v in value):
        raise InvalidType(f"{name}={value!r}: must be a list of one wv.Hypothesis or more")


def _count(name: str, value: Any) -> None:
    integer(name, value, at_least=1)


# Checked even where another option overrules them; a mistake should not wait to be noticed.
CHECKS: dict[str, Callable[[str, Any], object]] = {
    "delta": probability,
    "rate": lambda name, value: real(name, value, at_least=0.0),
    "rate_bounds": _rates,
    "reset_window": lambda name, value: ResetWindow(*_pair(name, value)),
    "forced": lambda name, value: one_of(name, value, ("empty", "last")),
    "noise_cap": lambda name, value: real(name, value, above=0.0),
    "bound": lambda name, value: real(name, value, at_least=0.0),
    "variation": lambda name, value: real(name, value, above=0.0),
    "forgetting": lambda name, value: real(name, value, above=0.0, at_most=1.0),
    "alpha": lambda name, value: real(name, value, at_least=0.0),
    "windows": ladder,
    "hazard": _chance,
    "outliers": _chance,
    "hypotheses": _hypotheses,
    **dict.fromkeys(("cooldown", "min_samples"), lambda name, value: integer(name, value, at_least=0)),
    **dict.fromkeys(("horizon", "period", "window", "cap", "patience", "max_points"), _count),
}


@dataclass(frozen=True)
class Settings:
    """The arguments of one `make`, with the helpers that turn them into parts."""

    name: str
    space: Domain
    goal: str
    options: Mapping[str, Any]  # what the caller gave, None left out

    def __post_init__(self) -> None:
        for option, value in self.options.items():
            if option in CHECKS:
                CHECKS[option](option, value)
        if self.get("rate") is not None and self.name != "ui-tvbo":  # there it is a variance
            real("rate", self.get("rate"), at_least=0.0, at_most=1.0)

    # -- reading the options -------------------------------------------------------------------------

    def get(self, option: str) -> Any:
        """The option, or None if the caller did not give it."""
        return self.options.get(option)

    def need(self, option: str, why: str) -> Any:
        """The option, or an error that says what it is for."""
        value = self.get(option)
        if value is None:
            raise InvalidArgument(f"make({self.name!r}): {option}= is needed, {why}")
        return value

    @property
    def delta(self) -> float:
        """delta_B of Lemma 3."""
        return probability("delta", self.options.get("delta", 0.1))

    @property
    def rate(self) -> float:
        """The rate of change eps."""
        return real("rate", self.need("rate", "the rate of change eps a step"), at_least=0.0, at_most=1.0)

    @property
    def injected(self) -> float:
        """UI-TVBO's variance s2, which may exceed 1."""
        return real("rate", self.need("rate", "the variance s2 injected a step"), at_least=0.0)

    @property
    def horizon(self) -> int | None:
        """T, if there is an end."""
        value = self.get("horizon")
        return None if value is None else integer("horizon", value, at_least=1)

    # -- the model -----------------------------------------------------------------------------------

    def kernel(self) -> Kernel:
        """The spatial kernel: the caller's, or a first guess to learn from."""
        given = self.get("kernel")
        if isinstance(given, SpaceTime):
            given = given.space
        if given is None:
            if isinstance(self.space, Arms):
                return Independent()
            choices = self.space.choices
            scales = [FIRST_CHOICE if c in choices else FIRST_LENGTHSCALE for c in range(self.space.dim)]
            return RBF(scales or [FIRST_LENGTHSCALE])
        if not isinstance(given, Kernel):
            raise InvalidType(f"kernel={given!r}: must be a kernel such as wv.RBF(0.2)")
        _fits(given, self.space)
        return given

    def temporal(self) -> Temporal:
        """The temporal part of a space-time kernel, else static."""
        given = self.get("kernel")
        return given.time if isinstance(given, SpaceTime) else Static()

    def noise(self, forgetting: float = 1.0) -> Noise:
        """The observation noise: the caller's, or a first guess to learn from."""
        given = self.get("noise_variance")
        kernel = self.kernel()
        least = 1e-10 * float(kernel.diagonal(self.space.candidates(16)).max())
        variance = FIRST_NOISE if given is None else real("noise_variance", given, at_least=least)
        return Noise(variance, forgetting)

    def scaling(self) -> Scaling:
        """Given by the caller as an offset and a scale, else none."""
        given = self.get("scaling")
        if given is None:
            return Scaling()
        if not isinstance(given, Scaling):
            raise InvalidType(f"scaling={given!r}: must be a wv.Scaling(offset, scale)")
        return given if self.goal == "maximize" else Scaling(-given.offset, given.scale)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The hyperparameters that the caller left open."""
        known_kernel, known_noise = self.get("kernel") is not None, self.get("noise_variance") is not None
        if known_kernel:
            return () if known_noise else ("noise",)
        if isinstance(self.space, Arms):
            return () if known_noise else ("noise",)
        return ("lengthscale", "variance") if known_noise else ("lengthscale", "noise")

    def search(self, unknown: tuple[str, ...]) -> Search:
        """Bounds and priors: on standardised y, or in its units where kernel or noise are given in them."""
        prior = LogNormal(0.3 * math.sqrt(self.space.parameter_count), 0.7)
        if self.get("kernel") is not None:
            unit = float(self.kernel().diagonal(self.space.candidates(16)).mean())
            bounds = (1e-4 * unit, 0.25 * unit)
            return Search(learn=unknown, noise=bounds, noise_prior=LogNormal(0.01 * unit, 1.5))
        if self.get("noise_variance") is not None:
            unit = self.noise().variance
            return Search(
                learn=unknown,
                lengthscale_prior=prior,
                choices=self.space.choices,
                variance=(unit, 1e6 * unit),
                variance_prior=LogNormal(100.0 * unit, 2.0),
            )
        return Search(learn=unknown, lengthscale_prior=prior, choices=self.space.choices)

    def learning(self, trigger: Trigger) -> Learning:
        """Learn what is open: before monitoring if there is a trigger, else again and again."""
        given = self.get("learning")
        if given is not None:
            parts = ("due", "monitors", "search")
            if isinstance(given, type) or not all(hasattr(given, name) for name in parts):
                raise InvalidType(
                    f"learning={given!r}: must be wv.LearnThenMonitor, wv.LearnOnline or wv.Given"
                )
            return given  # type: ignore[no-any-return]
        if not self.unknown:
            return Given()
        search = self.search(self.unknown)
        if isinstance(trigger, Never | Periodic):  # a clock does not wait for a model
            return LearnOnline(search=search)
        return LearnThenMonitor(max(2 * self.space.parameter_count, LEAST_LEARNED), search=search)

    # -- the other parts -----------------------------------------------------------------------------

    def schedule(self, default: Schedule | None = None) -> Schedule:
        """beta=: a schedule, a number (constant beta), or a pair (c1, c2)."""
        given = self.get("beta")
        if given is None:
            return default or LogBeta()
        if hasattr(given, "multiplier") and not isinstance(given, type):
            return given  # type: ignore[no-any-return]
        if isinstance(given, tuple | list) and len(given) == 2:
            return LogBeta(*given)
        return ConstantBeta(real("beta", given, at_least=0.0))

    def igp(self) -> Schedule:
        """IGP-UCB's schedule with B = `bound` and R = sqrt(noise variance)."""
        bound = real("bound", self.options.get("bound", 1.0), at_least=0.0)
        return self.schedule(IGPBeta(bound, math.sqrt(self.noise().variance), self.delta))

    def trigger(self, default: Trigger | None = None) -> Trigger:
        """trigger=: any trigger instead of Lemma 3's."""
        given = self.get("trigger")
        if given is None:
            return default or PosteriorBound(self.delta, noise_cap=self.get("noise_cap"))
        if isinstance(given, type) or not isinstance(given, Trigger):
            raise InvalidType(f"trigger={given!r}: must be an instance such as wv.PosteriorBound(0.1)")
        for option in ("delta", "noise_cap"):
            if self.get(option) is not None:
                raise InvalidArgument(f"{option}=, trigger=: give one of the two; the trigger has its own")
        return given

    def confirmed(self) -> Confirmed:
        """Lemma 3's trigger, or the caller's, whose alarms a second look must confirm."""
        options = {name: self.options[name] for name in ("cooldown", "min_samples") if name in self.options}
        return Confirmed(self.trigger(), **options)

    def window(self, rate_bounds: tuple[float, float] | None = None) -> ResetWindow:
        """[N_low, N_high]: given, or from bounds on eps by Corollary 1, or none."""
        direct, bounds = self.get("reset_window"), self.get("rate_bounds")
        bounds = rate_bounds if bounds is None else bounds
        if direct is not None:
            if bounds is not None:
                raise InvalidArgument("reset_window=, rate_bounds=: give one of the two")
            return ResetWindow(*direct)
        if bounds is None:
            return ResetWindow()
        low, high = reset_window(tuple(bounds), self.horizon, **self._smoothness())
        return ResetWindow(low, high)

    def _smoothness(self) -> dict[str, Any]:
        """Corollary 1 knows the SE kernel and Matern kernels with nu > 2."""
        kernel = self.kernel()
        if type(kernel).__name__.startswith("Matern"):
            nu = {"Matern32": 1.5, "Matern52": 2.5}[type(kernel).__name__]
            return {"nu": nu, "dim": self.space.parameter_count}
        return {}

    def period(self) -> int:
        """R-GP-UCB's N: given, or ceil(min(T, 12 eps^-1/4))."""
        given = self.get("period")
        if given is not None:
            return integer("period", given, at_least=1)
        self.need("rate", "the rate of change eps a step (or period=, the steps between two resets)")
        found = reset_time(self.rate, self.horizon)
        if found is None:
            raise InvalidArgument(
                "rate=0.0: without a horizon= a static objective is never reset; use 'gp-ucb'"
            )
        return found

    def variation_length(self) -> float:
        """gamma_T^(1/4) (T / B_T)^(1/2), the common length of SW-, BR- and W-GP-UCB (Zhou & Shroff 2021)."""
        horizon = integer("horizon", self.need("horizon", "T, for the length of its memory"), at_least=1)
        budget = real("variation", self.need("variation", "the budget B_T of the change"), above=0.0)
        points = self.space.candidates(GAIN_POINTS)
        gain = greedy_information_gain(
            self.kernel().matrix(points, points), self.noise().variance, horizon
        ).gain
        return float(max(gain, 1e-12) ** 0.25 * math.sqrt(horizon / budget))

    def length(self, option: str) -> int:
        """A memory's length in steps: given, or from the budget of variation."""
        given = self.get(option)
        if given is not None:
            return integer(option, given, at_least=1)
        return max(1, math.ceil(self.variation_length()))

    def forgetting(self) -> float:
        """W-GP-UCB's g: given, or 1 - gamma_T^(-1/4) (B_T / T)^(1/2)."""
        given = self.get("forgetting")
        if given is not None:
            return real("forgetting", given, above=0.0, at_most=1.0)
        return max(1.0 - 1.0 / self.variation_length(), 0.01)

    def markov(self) -> Markov:
        """The Markov time kernel at the given rate."""
        return Markov(self.rate)

    def limit(self) -> Limit:
        """max_points=: a budget for streams that never end."""
        given = self.get("max_points")
        return Full() if given is None else Budget(given)

    def mixture(self) -> Mixture:
        """What `auto` believes; the noise, told or guessed, is where its learning begins."""
        given = self.get("noise_variance")
        unit = float(self.kernel().diagonal(self.space.candidates(16)).mean())
        guess = GUESSED_NOISE * unit if given is None else self.noise().variance
        options = {
            name: self.options[name] for name in ("hypotheses", "hazard", "outliers") if name in self.options
        }
        doubt = UNKNOWN_NOISE if given is None else KNOWN_NOISE
        return Mixture(self.kernel(), guess, self.scaling(), doubt=doubt, **options)

    def compose_mixture(self) -> Composition:
        """`auto`: a mixture is model, trigger and retention in one."""
        if isinstance(self.get("kernel"), SpaceTime):
            raise InvalidArgument(
                "kernel: 'auto' finds out about time by itself; give the spatial kernel only"
            )
        blind = self.get("kernel") is None
        search = replace(self.search(self.unknown), starts=STARTS)
        if "noise" in self.unknown and blind:
            search = replace(search, drifting_noise_prior=LogNormal(*DRIFTING_NOISE))
        online = LearnOnline(growth=GROWTH, search=search) if blind else Given()
        return Composition(
            name=self.name,
            model=self.mixture(),
            acquisition=UCB(self.schedule()),
            limit=InBatches(self.options.get("max_points", MANY)),
            learning=online if self.get("learning") is None else self.learning(Never()),
            rescale=blind and self.get("noise_variance") is None and self.get("scaling") is None,
        )

    def compose(
        self,
        *,
        schedule: Schedule | None = None,
        trigger: Trigger | None = None,
        temporal: Temporal | None = None,
        forgetting: float = 1.0,
        **parts: Any,
    ) -> Composition:
        """The composition: what is common to all algorithms, and the parts that make this one."""
        if temporal is not None and isinstance(self.get("kernel"), SpaceTime):
            raise InvalidArgument(
                f"kernel: {self.name!r} brings its own temporal part; give the spatial kernel only"
            )
        chosen = trigger or Never()
        return Composition(
            name=self.name,
            model=Model(self.kernel(), self.noise(forgetting), temporal or self.temporal(), self.scaling()),
            acquisition=parts.pop("acquisition", None) or UCB(schedule or self.schedule()),
            trigger=chosen,
            limit=parts.pop("limit", None) or self.limit(),
            learning=parts.pop("learning", None) or self.learning(chosen),
            rescale=self.get("kernel") is None
            and self.get("noise_variance") is None
            and self.get("scaling") is None,
            **parts,
        )


def _fits(kernel: Kernel, space: Domain) -> None:
    """A kernel, and every part of a sum or product, must be able to compare the points of the space."""
    if isinstance(kernel, Sum | Product):
        _fits(kernel.left, space)
        _fits(kernel.right, space)
    elif isinstance(space, Arms):
        if isinstance(kernel, Independent):
            return
        if not isinstance(kernel, Empirical):
            raise InvalidType("kernel: arms have no coordinates; compare them with wv.Empirical(covariance)")
        if kernel.size != space.size:
            raise InvalidArgument(
                f"kernel: Empirical is {kernel.size}x{kernel.size}, the space has {space.size} arms"
            )
    elif isinstance(kernel, Empirical | Independent):
        raise InvalidArgument(
            f"kernel: {type(kernel).__name__} compares arms; this space needs RBF, Matern32 or Matern52"
        )
    elif isinstance(kernel, Stationary) and len(kernel.lengthscale) not in (1, space.dim):
        raise InvalidArgument(
            f"kernel: {len(kernel.lengthscale)} lengthscales for {space.dim} encoded coordinates; "
            "give one, or one for each"
        )
