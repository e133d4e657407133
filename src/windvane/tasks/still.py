"""Things that never change and may look as if they did: kinks, cliffs, ridges, plateaus, decades, fractals.

An algorithm that believes in a change on one of them has reset for nothing. The maximum of each is known from
its formula, and written beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from windvane.checks import Array, integer, one_of, real
from windvane.spaces import Box
from windvane.tasks.affine import units
from windvane.tasks.observed import Observed
from windvane.tasks.transformed import NOISE, Shape, Transformed

WIDEST = 6  # dimensions
TENTS = 3
DECADES = 4.0  # of the losses of `steep`
OCTAVES = 6  # of the fractal
EXPONENTS = (-6.0, 6.0)  # of the scale in powers of ten
FARTHEST = 100.0  # of the offset, in units of the scale: one standard deviation


def still(
    *,
    kind: str = "kinks",
    dim: int = 2,
    scale: float | None = None,
    offset: float | None = None,
    noise: float = NOISE,
    horizon: int = 200,
    seed: int = 0,
) -> Observed:
    """A function in the unit cube that does not change; the seed draws its place, its form and its units.

    `kind` is one of kinks, cliff, ridge, plateau, steep and rough. Over the cube values have a standard
    deviation of `scale` and the noise has one of `noise` times that. Unless given, the scale is drawn from
    1e-6 to 1e6, all powers of ten alike, and the offset is a normal draw of a hundred times the scale.

    >>> task = still(kind="cliff", dim=3, scale=1.0, offset=0.0, seed=1)
    >>> task.space.dim, task.noise_variance, task.optimum(1) == task.optimum(200)
    (3, 0.0001, True)
    """
    make = KINDS[one_of("kind", kind, KINDS)]
    d = integer("dim", dim, at_least=1, at_most=WIDEST)
    share = real("noise", noise, above=0.0)
    rng = np.random.default_rng((integer("seed", seed, at_least=0), 1))
    exponent, far = rng.uniform(*EXPONENTS), rng.standard_normal()
    shape = make(rng, d)
    inner = Transformed("still", Box([(0.0, 1.0)] * d), [shape], horizon=horizon, noise_variance=1.0)
    inner.noise_variance = (share * inner.spread) ** 2
    size = 10.0**exponent if scale is None else real("scale", scale, above=0.0)
    zero = FARTHEST * size * far if offset is None else real("offset", offset)
    return Observed(inner.name, units(inner, size / inner.spread, zero))


def _place(rng: np.random.Generator, dim: int) -> Array:
    return rng.uniform(0.2, 0.8, dim)


def kinks(rng: np.random.Generator, dim: int) -> Shape:
    """The highest of three tents h_k - max_i a_i'(z - c_k): kinks everywhere, and h_1 > h_2 > h_3.

    The a_i of a tent add up to 0, so that one of the a_i'v is above 0 unless all are 0: each tent is highest
    at its c_k, and the highest tent at c_1.
    """
    count = 2 * dim + 1
    slopes = rng.standard_normal((TENTS, count, dim))
    slopes -= slopes.mean(axis=1, keepdims=True)
    centres = np.stack([_place(rng, dim) for _ in range(TENTS)])
    heights = -0.4 * np.arange(TENTS)

    def function(z: Array) -> Array:
        away = (slopes @ (z[..., None, :] - centres)[..., None])[..., 0]
        return np.asarray((heights - away.max(axis=-1)).max(axis=-1))

    return Shape(function, centres[0])


def cliff(rng: np.random.Generator, dim: int) -> Shape:
    """A bell, minus 1 on the far side of a plane that is 0.05 to 0.15 from the peak: highest at the peak."""
    centre = _place(rng, dim)
    normal = rng.standard_normal(dim)
    normal /= np.linalg.norm(normal)
    edge = float(normal @ centre) + rng.uniform(0.05, 0.15)

    def function(z: Array) -> Array:
        bell = np.exp(-2.0 * np.sum((z - centre) ** 2, axis=-1))
        return np.asarray(bell - (z @ normal > edge))

    return Shape(function, centre)


def ridge(rng: np.random.Generator, dim: int) -> Shape:
    """-sum_j (1 - q_j)^2 - sum_{j<d} 100 (q_{j+1} - q_j^2)^2: a narrow ridge that is bent, as Rosenbrock's.

    q = 1 + 3 s (z - c) with random signs s. All terms are squares, and all are 0 at q = 1, that is at c.
    """
    centre, signs = _place(rng, dim), rng.choice([-3.0, 3.0], dim)

    def function(z: Array) -> Array:
        q = 1.0 + signs * (z - centre)
        bend = 100.0 * (q[..., 1:] - q[..., :-1] ** 2) ** 2
        return 0.0 - np.asarray(np.sum((1.0 - q) ** 2, axis=-1) + bend.sum(axis=-1))

    return Shape(function, centre)


def plateau(rng: np.random.Generator, dim: int) -> Shape:
    """max(0, 1 - |z - c|^2 / (0.09 d))^3: flat but for one bump, highest at c."""
    centre = _place(rng, dim)

    def function(z: Array) -> Array:
        inside = 1.0 - np.sum((z - centre) ** 2, axis=-1) / (0.09 * dim)
        return np.asarray(np.maximum(inside, 0.0) ** 3)

    return Shape(function, centre)


def steep(rng: np.random.Generator, dim: int) -> Shape:
    """1 - 10^(4 |z - c|^2 / far^2), where `far` is the distance from c to the farthest corner: highest at c.

    Losses range from 0 to 10^4.
    """
    centre = _place(rng, dim)
    far = float(np.sum(np.maximum(centre, 1.0 - centre) ** 2))
    rate = DECADES * math.log(10.0) / far

    def function(z: Array) -> Array:
        return 0.0 - np.asarray(np.expm1(rate * np.sum((z - centre) ** 2, axis=-1)))

    return Shape(function, centre)


def rough(rng: np.random.Generator, dim: int) -> Shape:
    """-sum_j sum_k 2^-k (1 - cos(2 pi 3^k b (z_j - c_j))), k = 0 .. 5: six octaves of a Weierstrass function.

    No term is above 0, and all are 0 at c. b, below 1, is drawn for each coordinate, so that this is the only
    point of the cube where they are.
    """
    centre = _place(rng, dim)
    share = 0.5 ** np.arange(OCTAVES)
    waves = 2.0 * math.pi * np.outer(rng.uniform(0.5, 0.95, dim), 3.0 ** np.arange(OCTAVES))

    def function(z: Array) -> Array:
        angle = (z - centre)[..., None] * waves
        return 0.0 - np.asarray(((1.0 - np.cos(angle)) @ share).sum(axis=-1))

    return Shape(function, centre)


KINDS: dict[str, Callable[[np.random.Generator, int], Shape]] = {
    "kinks": kinks,
    "cliff": cliff,
    "ridge": ridge,
    "plateau": plateau,
    "steep": steep,
    "rough": rough,
}
