"""Hyperparameters by maximum a posteriori: Newton steps with the average information, from several starts.

The vector theta holds logarithms: the spatial kernel's, then the temporal kernel's, then
ln(noise variance). Which entries move, their bounds and priors come from a `Search`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np

from windvane.checks import Array, integer, real
from windvane.codec import component
from windvane.data import Dataset, IntArray
from windvane.errors import InvalidArgument, InvalidType, NumericalFailure
from windvane.kernels import Kernel, Static, Stationary, Temporal
from windvane.surrogates.descent import Slope, descend
from windvane.surrogates.evidence import Data, Evidence
from windvane.surrogates.noise import Noise
from windvane.surrogates.priors import LogNormal, Prior
from windvane.surrogates.scaling import Scaling

Bounds = tuple[float, float]
MOST = 256  # observations that a fit looks at, so that it is bounded (docs/decisions/0027)
FEW = 64  # observations that find the basin of a start that was drawn
LEARNABLE = ("lengthscale", "noise", "variance", "rate", "odds", "smoothness")
NEAR = 1e-4  # the step of a difference, in the logarithm of a hyperparameter


def _bounds(name: str, value: Any, most: float | None = None) -> Bounds:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InvalidArgument(f"{name}={value!r}: must be a pair (low, high)")
    low, high = (real(name, side, above=0.0, at_most=most) for side in value)
    if low >= high:
        raise InvalidArgument(f"{name}={value!r}: low must be below high")
    return low, high


def _groups(value: Any) -> tuple[tuple[int, ...], ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, list | tuple) for each in value):
        raise InvalidType(f"learning(alike)={value!r}: must be a list of lists of coordinates")
    groups = tuple(
        tuple(integer("learning(alike)", number, at_least=0) for number in each) for each in value if each
    )
    numbers = [number for each in groups for number in each]
    if len(set(numbers)) < len(numbers):
        raise InvalidArgument(f"learning(alike)={value!r}: a coordinate may occur once")
    return groups


@component
@dataclass(frozen=True)
class Search:
    """What is learned, within which bounds, under which priors.

    A prior of None is flat: with it the estimate is the maximum likelihood within the bounds. The
    defaults are for a unit cube and standardised values. `choices` are the coordinates of options without
    an order: their lengthscales have bounds and a prior of their own, `choice` and `choice_prior`, under
    which two options have much in common until the data say otherwise (docs/decisions/0024). The coordinates
    of each group of `alike` have one lengthscale, if each coordinate of the kernel has one. `odds` are those
    of `Exchangeable` arms: what they have in common beside what each has alone.
    `drifting_noise_prior` is that of the noise where f drifts, if it is to be another one. With "smoothness"
    among what is learned, a mixture chooses between an RBF and a Matérn-3/2 kernel.

    >>> Search(noise=(0.1, 0.01))
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: learning(noise)=(0.1, 0.01): low must be below high
    """

    lengthscale: Bounds = (0.05, 2.0)
    noise: Bounds = (1e-4, 0.25)
    variance: Bounds = (0.05, 20.0)
    rate: Bounds = (1e-4, 0.5)
    lengthscale_prior: Prior | None = field(default_factory=lambda: LogNormal(0.3, 0.7))
    noise_prior: Prior | None = field(default_factory=lambda: LogNormal(0.01, 1.5))
    variance_prior: Prior | None = field(default_factory=lambda: LogNormal(1.0, 1.0))
    rate_prior: Prior | None = None
    learn: tuple[str, ...] = ("lengthscale", "noise")
    starts: int = 4
    choices: tuple[int, ...] = ()
    choice: Bounds = (0.2, 4.0)
    choice_prior: Prior | None = field(default_factory=lambda: LogNormal(2.0, 0.7))
    odds: Bounds = (0.01, 100.0)
    odds_prior: Prior | None = field(default_factory=lambda: LogNormal(1.0, 1.5))
    drifting_noise_prior: Prior | None = None
    alike: tuple[tuple[int, ...], ...] = field(
        default=(), metadata={"if_used": True}
    )  # in states of before, each option has a lengthscale of its own

    def __post_init__(self) -> None:
        for name in ("lengthscale", "noise", "variance", "choice", "odds"):
            object.__setattr__(self, name, _bounds(f"learning({name})", getattr(self, name)))
        object.__setattr__(self, "rate", _bounds("learning(rate)", self.rate, most=1.0))
        object.__setattr__(self, "starts", integer("learning(starts)", self.starts, at_least=1))
        learn: Any = self.learn
        if isinstance(learn, str) or not isinstance(learn, Iterable):
            raise InvalidType(f"learning(learn)={learn!r}: must be a list of names")
        object.__setattr__(self, "learn", tuple(learn))
        coordinates = [integer("learning(choices)", number, at_least=0) for number in self.choices]
        object.__setattr__(self, "choices", tuple(coordinates))
        object.__setattr__(self, "alike", _groups(self.alike))
        for name in (each.name for each in fields(self) if each.name.endswith("_prior")):
            prior = getattr(self, name)
            if prior is not None and (isinstance(prior, type) or not hasattr(prior, "log_density")):
                raise InvalidType(f"learning({name})={prior!r}: must be wv.Gamma, wv.LogNormal or None")
        unknown = [name for name in self.learn if name not in LEARNABLE]
        if unknown:
            allowed = ", ".join(map(repr, LEARNABLE))
            raise InvalidArgument(f"learning(learn)={unknown}: allowed are {allowed}")

    def under(self, temporal: Temporal) -> Search:
        """The search that fits under a hypothesis about time.

        With one look per moment, noise and a rough drift are nearly the same. A weak prior lets the drift
        take all of the noise, and the more it takes, the more it is believed (docs/decisions/0023).
        """
        if self.drifting_noise_prior is None or temporal.decay(0.0, 1.0) == 1.0:
            return self
        return replace(self, noise_prior=self.drifting_noise_prior)


class Estimate(NamedTuple):
    """The hyperparameters found, the log posterior density (up to a constant), and W = L^-1 of K~ there."""

    kernel: Kernel
    temporal: Temporal
    noise: Noise
    log_posterior: float
    W: Array


def _kind(name: str, choices: tuple[int, ...]) -> str:
    """What an entry of a kernel's theta is: "lengthscale", "choice" for that of an option, "variance"."""
    stem, _, rest = name.split(".")[-1].partition("[")
    return "choice" if stem == "lengthscale" and rest and int(rest[:-1]) in choices else stem


def _moving(
    kernel: Kernel, temporal: Temporal, noise: Noise, search: Search
) -> tuple[Array, IntArray, list[str]]:
    """Theta, which of its entries are learned, and of what kind these are."""
    names = (
        *(_kind(name, search.choices) for name in kernel.theta_names),
        *(name.split(".")[-1] for name in temporal.theta_names),
        "noise",
    )
    full = np.concatenate((kernel.theta, temporal.theta, (math.log(noise.variance),)))
    learned = {*search.learn, "choice"} if "lengthscale" in search.learn else set(search.learn)
    led = {entry for group in _alike(kernel, search) for entry in group[1:]}
    moving = np.array([i for i, name in enumerate(names) if name in learned and i not in led], dtype=np.intp)
    return full, moving, [names[i] for i in moving]


def _alike(kernel: Kernel, search: Search) -> tuple[tuple[int, ...], ...]:
    """The lengthscales that are one: those of each group go with the first of them."""
    if not isinstance(kernel, Stationary) or len(kernel.lengthscale) == 1:
        return ()
    return tuple(group for group in search.alike if max(group) < len(kernel.lengthscale))


class _Objective:
    """Minus the log posterior of the moving entries of theta."""

    def __init__(self, kernel: Kernel, temporal: Temporal, noise: Noise, search: Search, data: Data) -> None:
        self.kernel, self.temporal, self.noise = kernel, temporal, noise
        self.full, self.moving, kinds = _moving(kernel, temporal, noise, search)
        self.priors: list[Prior | None] = [getattr(search, f"{kind}_prior") for kind in kinds]
        limits = np.array([getattr(search, kind) for kind in kinds]).reshape(-1, 2)
        self.low, self.high = np.log(limits[:, 0]), np.log(limits[:, 1])
        self._cuts = len(kernel.theta), len(kernel.theta) + len(temporal.theta)
        self._alike = _alike(kernel, search)
        self._evidence = Evidence(kernel, temporal, data, set(self.moving.tolist()), self._alike)

    def parts(self, theta: Array) -> tuple[Kernel, Temporal, Noise]:
        """The hyperparameters; those of which nothing moves stay what they are."""
        full = self.full.copy()
        full[self.moving] = theta
        for group in self._alike:
            full[list(group)] = full[group[0]]
        a, b = self._cuts
        moves = self._evidence
        return (
            self.kernel.with_theta(full[:a]) if moves.in_space else self.kernel,
            self.temporal.with_theta(full[a:b]) if moves.in_time else self.temporal,
            Noise(math.exp(full[-1]), self.noise.forgetting) if moves.noise_moves else self.noise,
        )

    def at(self, theta: Array) -> _Place:
        """The objective at theta."""
        value = self._evidence.at(*self.parts(theta))
        entries = theta.tolist()
        for prior, entry in zip(self.priors, entries, strict=True):
            if prior is not None:
                value -= prior.log_density(math.exp(entry))[0]
        self._latest = _Place(self, entries, value)
        return self._latest

    def slope(self, place: _Place) -> Slope:
        """The gradient and the average information, with the priors'."""
        assert place is self._latest
        gradient, curvature = self._evidence.slopes()
        for i, (prior, entry) in enumerate(zip(self.priors, place.theta, strict=True)):
            if prior is not None:
                gradient[i] -= _slope(prior, entry)
                bend = (_slope(prior, entry + NEAR) - _slope(prior, entry - NEAR)) / (2.0 * NEAR)
                curvature[i, i] += max(-bend, 0.0)
        return Slope(gradient, curvature)

    def factor(self, place: _Place) -> Array:
        """W = L^-1 of K~ there; as a rule that is where the descent looked last."""
        if place is not self._latest:
            self.at(np.array(place.theta))
        return self._evidence.factor()


class _Place(NamedTuple):
    """The objective at one theta."""

    objective: _Objective
    theta: list[float]
    value: float

    def slope(self) -> Slope:
        """Its derivatives, as long as it is the place that was looked at last."""
        return self.objective.slope(self)


def _slope(prior: Prior, entry: float) -> float:
    """The derivative of ln p(e^u) in u."""
    value = math.exp(entry)
    return prior.log_density(value)[1] * value


def log_prior(kernel: Kernel, noise: Noise, search: Search) -> float:
    """The log density of a spatial kernel and a noise, as far as they are learned.

    >>> from windvane.kernels import RBF
    >>> near, far = (log_prior(RBF(l), Noise(0.01), Search()) for l in (0.2, 2.0))
    >>> near > far
    True
    """
    full, moving, kinds = _moving(kernel, Static(), noise, search)
    total = 0.0
    for kind, entry in zip(kinds, full[moving].tolist(), strict=True):
        prior: Prior | None = getattr(search, f"{kind}_prior")
        if prior is not None:
            total += prior.log_density(math.exp(entry))[0]
    return total


def representative(n: int) -> IntArray:
    """The rows of n data, oldest first, that hyperparameters are fitted to: all, or MOST of them.

    The newest half of these is taken as it comes, which tells how fast things change and how large the
    noise is; the other half evenly from all older data, which have been everywhere.

    >>> representative(3)
    array([0, 1, 2])
    >>> rows = representative(1000)
    >>> len(rows), rows[:3], rows[126:130]
    (256, array([ 0,  7, 14]), array([864, 871, 872, 873]))
    """
    if n <= MOST:
        return np.arange(n)
    newest = MOST // 2
    older = np.linspace(0, n - newest - 1, MOST - newest).round().astype(np.int64)
    return np.concatenate((older, np.arange(n - newest, n)))


def fit_data(data: Dataset, scaling: Scaling, kernel: Kernel, interval: float = 1.0) -> Data:
    """What a fit looks at, in the model's units: X, y, times, and what is known of the noise."""
    known = data.accuracy
    if known is not None:
        known = known.inward(scaling.scale, kernel.diagonal(data.X))
    return data.X, scaling.inward(data.y), data.times / interval, known


def map_estimate(
    kernel: Kernel, temporal: Temporal, noise: Noise, data: Data, search: Search, seed: int = 0
) -> Estimate:
    """The maximum a posteriori hyperparameters for data (X, y, times), and possibly what is known of their
    noise (`Accuracies`, in the units of y); starts are drawn from the seed.

    The first start is where the given parts stand, so that a refit moves only for a reason. The others are
    drawn; of many data they first see FEW, evenly spaced in their order.
    """
    objective = _Objective(kernel, temporal, noise, search, data)
    low, high = objective.low, objective.high
    best = descend(objective.at, np.clip(objective.full[objective.moving], low, high), low, high)
    sketch = objective
    if len(data[1]) > FEW:
        rows = np.linspace(0, len(data[1]) - 1, FEW).round().astype(np.int64)
        X, y, times, *known = data
        some = known[0].take(rows) if known and known[0] is not None else None
        sketch = _Objective(kernel, temporal, noise, search, (X[rows], y[rows], times[rows], some))
    rng = np.random.default_rng(seed)
    for _ in range(search.starts - 1 if len(low) else 0):
        start = rng.uniform(low, high)
        if sketch is not objective:
            start = descend(sketch.at, start, low, high).point
        found = descend(objective.at, start, low, high)
        if found.place.value < best.place.value - 1e-10:
            best = found
    if math.isinf(best.place.value):
        raise NumericalFailure(
            "fit: the covariance is not positive definite anywhere; raise the noise bounds"
        )
    W = objective.factor(best.place)
    return Estimate(*objective.parts(best.point), -best.place.value, W)
