"""One fixed scrambled Sobol sequence, to the bit that of SciPy's `Sobol(scramble=True)` with generator 0.

By hand, because importing `scipy.stats` takes longer than all the rest (docs/decisions/0022-import.md), and
because these points decide what is asked: they must not depend on the version of SciPy. Direction numbers of
Joe and Kuo (SIAM J. Sci. Comput. 30, 2008), digits by Bratley and Fox's recurrence, Matousek's linear
scrambling and a digital shift.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from windvane.checks import Array
from windvane.late import qmc

BITS = 30
Words = npt.NDArray[np.uint32]

# Of each dimension: a primitive polynomial over GF(2), its coefficients as bits, and the first m_1, m_2, ...
TABLE: tuple[tuple[int, tuple[int, ...]], ...] = (
    (1, (1,)),
    (3, (1,)),
    (7, (1, 3)),
    (11, (1, 3, 1)),
    (13, (1, 1, 1)),
    (19, (1, 1, 3, 3)),
    (25, (1, 3, 5, 13)),
    (37, (1, 1, 5, 5, 17)),
    (41, (1, 1, 5, 5, 5)),
    (47, (1, 1, 7, 11, 19)),
    (55, (1, 1, 5, 1, 1)),
    (59, (1, 1, 1, 3, 11)),
    (61, (1, 3, 5, 5, 31)),
    (67, (1, 3, 3, 9, 7, 49)),
    (91, (1, 1, 1, 15, 21, 21)),
    (97, (1, 3, 1, 13, 27, 49)),
    (103, (1, 1, 1, 15, 7, 5)),
    (109, (1, 3, 1, 15, 13, 25)),
    (115, (1, 1, 5, 5, 19, 61)),
    (131, (1, 3, 7, 11, 23, 15, 103)),
    (137, (1, 3, 7, 13, 13, 15, 69)),
    (143, (1, 1, 3, 13, 7, 35, 63)),
    (145, (1, 3, 5, 9, 1, 25, 53)),
    (157, (1, 3, 1, 13, 9, 35, 107)),
    (167, (1, 3, 1, 5, 27, 61, 31)),
    (171, (1, 1, 5, 11, 19, 41, 61)),
    (185, (1, 3, 5, 3, 3, 13, 69)),
    (191, (1, 1, 7, 13, 1, 19, 1)),
    (193, (1, 3, 7, 5, 13, 19, 59)),
    (203, (1, 1, 3, 9, 25, 29, 41)),
    (211, (1, 3, 5, 13, 23, 1, 55)),
    (213, (1, 3, 7, 3, 13, 59, 17)),
)


def sobol(dim: int, count: int) -> Array:
    """The first `count` points of one fixed scrambled Sobol sequence in the unit cube: count x dim.

    >>> sobol(2, 4).round(2).tolist()
    [[0.41, 0.96], [0.72, 0.11], [0.9, 0.53], [0.22, 0.41]]
    """
    length = (count - 1).bit_length()
    if dim > len(TABLE):  # the only place where Windvane waits for scipy.stats
        sampler = qmc.Sobol(dim, scramble=True, rng=np.random.default_rng(0))
        return np.asarray(sampler.random_base2(length)[:count])
    directions, shift = _scrambled(dim)
    words = np.empty((2**length, dim), dtype=np.uint32)
    words[0] = shift
    for bit in range(length):  # in the order of the Gray code: the second half is the first half reflected
        half = 2**bit
        words[half : 2 * half] = words[half - 1 :: -1] ^ directions[:, bit]
    return words[:count] * 2.0**-BITS


@lru_cache(maxsize=64)
def _scrambled(dim: int) -> tuple[Words, Words]:
    """The direction numbers, dim x BITS, after a random linear map of their digits, and the digital shift."""
    (rng,) = np.random.default_rng(0).spawn(1)  # as SciPy does with a generator that it is given
    powers = 2 ** np.arange(BITS, dtype=np.uint32)
    shift = rng.integers(2, size=(dim, BITS), dtype=np.uint32) @ powers
    lower = np.tril(rng.integers(2, size=(dim, BITS, BITS), dtype=np.uint32))
    lower[:, np.arange(BITS), np.arange(BITS)] = 1
    directions = np.stack([_directions(polynomial, first) for polynomial, first in TABLE[:dim]])
    one, highest_first = np.uint32(1), np.arange(BITS - 1, -1, -1, dtype=np.uint32)
    digits = directions[:, :, None] >> highest_first & one
    mapped = digits @ lower.transpose(0, 2, 1) & one
    scrambled: Words = mapped @ powers[::-1]
    return scrambled, shift


def _directions(polynomial: int, first: tuple[int, ...]) -> Words:
    """The numbers m_1, m_2, ... as binary fractions of BITS digits.

    m_k = 2 a_1 m_(k-1) ^ 4 a_2 m_(k-2) ^ ... ^ 2^s m_(k-s) ^ m_(k-s), a the coefficients, s the degree.
    """
    degree = polynomial.bit_length() - 1
    if degree == 0:
        return 2 ** np.arange(BITS - 1, -1, -1, dtype=np.uint32)  # the first dimension: van der Corput's
    m = list(first)
    for k in range(degree, BITS):
        new = m[k - degree]
        for step in range(1, degree + 1):
            if polynomial >> (degree - step) & 1:
                new ^= m[k - step] << step
        m.append(new)
    return np.array([number << (BITS - 1 - k) for k, number in enumerate(m)], dtype=np.uint32)
