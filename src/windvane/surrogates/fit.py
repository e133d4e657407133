"""Hyperparameters by maximum a posteriori: L-BFGS-B on analytic gradients, from several starts.

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
from windvane.errors import InvalidArgument, InvalidType, NumericalFailure
from windvane.kernels import Kernel, Temporal
from windvane.late import lapack, optimize
from windvane.surrogates.noise import Noise
from windvane.surrogates.priors import LogNormal, Prior

Bounds = tuple[float, float]


def _bounds(name: str, value: Any, most: float | None = None) -> Bounds:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InvalidArgument(f"{name}={value!r}: must be a pair (low, high)")
    low, high = (real(name, side, above=0.0, at_most=most) for side in value)
    if low >= high:
        raise InvalidArgument(f"{name}={value!r}: low must be below high")
    return low, high


@component
@dataclass(frozen=True)
class Search:
    """What is learned, within which bounds, under which priors.

    A prior of None is flat: with it the estimate is the maximum likelihood within the bounds. The
    defaults are for a unit cube and standardised values. `choices` are the coordinates of options without
    an order: their lengthscales have bounds and a prior of their own, `choice` and `choice_prior`, under
    which two options have much in common until the data say otherwise (docs/decisions/0024).
    `drifting_noise_prior` is that of the noise where f drifts, if it is to be another one.

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
    drifting_noise_prior: Prior | None = None

    def __post_init__(self) -> None:
        for name in ("lengthscale", "noise", "variance", "choice"):
            object.__setattr__(self, name, _bounds(f"learning({name})", getattr(self, name)))
        object.__setattr__(self, "rate", _bounds("learning(rate)", self.rate, most=1.0))
        object.__setattr__(self, "starts", integer("learning(starts)", self.starts, at_least=1))
        learn: Any = self.learn
        if isinstance(learn, str) or not isinstance(learn, Iterable):
            raise InvalidType(f"learning(learn)={learn!r}: must be a list of names")
        object.__setattr__(self, "learn", tuple(learn))
        coordinates = [integer("learning(choices)", number, at_least=0) for number in self.choices]
        object.__setattr__(self, "choices", tuple(coordinates))
        for name in (each.name for each in fields(self) if each.name.endswith("_prior")):
            prior = getattr(self, name)
            if prior is not None and (isinstance(prior, type) or not hasattr(prior, "log_density")):
                raise InvalidType(f"learning({name})={prior!r}: must be wv.Gamma, wv.LogNormal or None")
        unknown = [name for name in self.learn if name not in ("lengthscale", "noise", "variance", "rate")]
        if unknown:
            raise InvalidArgument(
                f"learning(learn)={unknown}: allowed are 'lengthscale', 'noise', 'variance', 'rate'"
            )

    def under(self, temporal: Temporal) -> Search:
        """The search that fits under a hypothesis about time.

        With one look a moment, noise and a rough drift are nearly the same. A weak prior lets the drift
        take all of the noise, and the more it takes, the more it is believed (docs/decisions/0023).
        """
        if self.drifting_noise_prior is None or temporal.decay(0.0, 1.0) == 1.0:
            return self
        return replace(self, noise_prior=self.drifting_noise_prior)


class Estimate(NamedTuple):
    """The hyperparameters found, and the log posterior density (up to a constant) there."""

    kernel: Kernel
    temporal: Temporal
    noise: Noise
    log_posterior: float


def _kind(name: str, choices: tuple[int, ...]) -> str:
    """What an entry of a kernel's theta is: "lengthscale", "choice" for that of an option, "variance"."""
    stem, _, rest = name.split(".")[-1].partition("[")
    return "choice" if stem == "lengthscale" and rest and int(rest[:-1]) in choices else stem


class _Objective:
    """Minus the log posterior of the moving entries of theta, with its gradient."""

    def __init__(
        self,
        kernel: Kernel,
        temporal: Temporal,
        noise: Noise,
        search: Search,
        data: tuple[Array, Array, Array],
    ) -> None:
        self.kernel, self.temporal, self.noise, self.search = kernel, temporal, noise, search
        self.X, self.y, self.times = data
        names = (
            *(_kind(name, search.choices) for name in kernel.theta_names),
            *(name.split(".")[-1] for name in temporal.theta_names),
            "noise",
        )
        self.full = np.concatenate((kernel.theta, temporal.theta, (math.log(noise.variance),)))
        learned = {*search.learn, "choice"} if "lengthscale" in search.learn else set(search.learn)
        self.moving = np.array([i for i, name in enumerate(names) if name in learned], dtype=np.intp)
        self.kinds = [names[i] for i in self.moving]
        limits = np.array([getattr(search, kind) for kind in self.kinds]).reshape(-1, 2)
        self.low, self.high = np.log(limits[:, 0]), np.log(limits[:, 1])
        spatial, timely = len(kernel.theta), len(kernel.theta) + len(temporal.theta)
        self.space_moves = bool((self.moving < spatial).any())
        self.time_moves = bool(((self.moving >= spatial) & (self.moving < timely)).any())
        self.time = temporal.matrix(self.times, self.times)

    def parts(self, theta: Array) -> tuple[Kernel, Temporal, Noise]:
        full = self.full.copy()
        full[self.moving] = theta
        a, b = len(self.kernel.theta), len(self.temporal.theta)
        return (
            self.kernel.with_theta(full[:a]) if a else self.kernel,
            self.temporal.with_theta(full[a : a + b]) if b else self.temporal,
            Noise(math.exp(full[-1]), self.noise.forgetting),
        )

    def __call__(self, theta: Array) -> tuple[float, Array]:
        kernel, temporal, noise = self.parts(theta)
        now = float(self.times[-1])
        space = kernel.matrix(self.X, self.X)
        time = temporal.matrix(self.times, self.times) if self.time_moves else self.time
        variances = noise.variances(self.times, now)
        K = space * time
        K.reshape(-1)[:: len(K) + 1] += variances
        L, failed = lapack.dpotrf(K.T, lower=1, overwrite_a=1)
        if failed:
            return 1e25, np.zeros(len(theta))  # a wall for the line search, never a result
        half_log_determinant = float(np.log(np.diagonal(L)).sum())
        lower, _ = lapack.dpotri(L, lower=1, overwrite_c=1)
        inverse = np.tril(lower) + np.tril(lower, -1).T
        alpha = inverse @ self.y
        value = 0.5 * float(self.y @ alpha) + half_log_determinant
        value += 0.5 * len(self.y) * math.log(2.0 * math.pi)
        inner = inverse - np.outer(alpha, alpha)  # d value = 1/2 tr(inner dK)
        derivatives = np.zeros(len(self.full))
        a, b = len(kernel.theta), len(kernel.theta) + len(temporal.theta)
        if self.space_moves:
            derivatives[:a] = 0.5 * kernel.theta_traces(self.X, inner * time)
        if self.time_moves:
            derivatives[a:b] = 0.5 * temporal.theta_traces(self.times, inner * space)
        derivatives[-1] = 0.5 * float(np.diagonal(inner) @ variances)
        gradient = derivatives[self.moving]
        for i, kind in enumerate(self.kinds):
            prior: Prior | None = getattr(self.search, f"{kind}_prior")
            if prior is not None:
                natural = math.exp(theta[i])
                density, slope = prior.log_density(natural)
                value -= density
                gradient[i] -= slope * natural
        return value, gradient


def map_estimate(
    kernel: Kernel,
    temporal: Temporal,
    noise: Noise,
    data: tuple[Array, Array, Array],
    search: Search,
    seed: int = 0,
) -> Estimate:
    """The maximum a posteriori hyperparameters for data (X, y, times); starts are drawn from the seed.

    The first start is where the given parts stand, so that a refit moves only for a reason.
    """
    objective = _Objective(kernel, temporal, noise, search, data)
    low, high = objective.low, objective.high
    if not len(objective.moving):
        value, _ = objective(objective.full[:0])
        return Estimate(kernel, temporal, noise, -value)
    here = np.clip(objective.full[objective.moving], low, high)
    rng = np.random.default_rng(seed)
    starts = [here, *(rng.uniform(low, high) for _ in range(search.starts - 1))]
    best_value, best_theta = math.inf, here
    for start in starts:
        found = optimize.minimize(
            objective, start, jac=True, method="L-BFGS-B", bounds=list(zip(low, high, strict=True))
        )
        if found.fun < best_value - 1e-10:
            best_value, best_theta = float(found.fun), np.asarray(found.x)
    if best_value >= 1e25:
        raise NumericalFailure(
            "fit: the covariance is not positive definite anywhere; raise the noise bounds"
        )
    return Estimate(*objective.parts(np.clip(best_theta, low, high)), -best_value)
