"""How much each observation matters to the future: the relevance of W-DBO (Bardou et al. 2024).

Removing observation j changes the posterior at a future point z by a mean of D_j(z) and a variance of
V_j(z). W-DBO bounds the squared Wasserstein distance of the two posteriors at z by D_j^2 + V_j and
integrates over all of space and all times from now on. Symbols: K~ is the covariance of the n
observations with noise, P = K~^-1, alpha = P y, and C_il the integral of k(z, z_i) k(z, z_l) over z.

Inverting K~ without row and column j takes P to P - p p' / P_jj, where p = P e_j. Hence
D_j = k(z)'p alpha_j / P_jj and V_j = (k(z)'p)^2 / P_jj, and the integral of both is

    r_j^2 = S_jj (alpha_j^2 / P_jj^2 + 1 / P_jj),    S = P C P,

for all j at the cost of one inverse and two products. Removing everything, which leaves the prior,
gives r^2 = y'S y + tr(P C). The relevance is r_j / r, so constant factors of C do not matter.
"""

from __future__ import annotations

import math

import numpy as np

from windvane.checks import Array
from windvane.errors import NumericalFailure
from windvane.late import lapack, special


class Relevances:
    """The relevance of n observations; `drop` takes one away in O(n^2) instead of starting again.

    Rows keep their place when one is dropped: the others' relevance follows, its own becomes 0.

    >>> K = np.array([[1.1, 0.5, 0.0], [0.5, 1.1, 0.0], [0.0, 0.0, 1.1]])
    >>> C = np.array([[0.1, 0.1, 0.0], [0.1, 0.2, 0.0], [0.0, 0.0, 1.0]])  # the older, the less
    >>> left = Relevances(K, C, np.array([1.0, 1.0, 1.0]))
    >>> left.values().round(3)
    array([0.189, 0.303, 0.894])
    >>> left.drop(0)
    >>> left.values().round(3)
    array([0.   , 0.408, 0.913])
    """

    def __init__(self, covariance: Array, overlap: Array, y: Array) -> None:
        factor, info = lapack.dpotrf(covariance, lower=1, clean=1)
        if info != 0:
            raise NumericalFailure("relevance: the covariance is not positive definite; raise noise_variance")
        half, _ = lapack.dtrtri(factor, lower=1)
        P = half.T @ half
        PC = P @ overlap
        self._P, self._S = P, PC @ P
        self._alpha = P @ y
        self._beta = self._S @ y
        self._mean_part = float(y @ self._beta)  # y'S y
        self._variance_part = float(np.trace(PC))

    def values(self) -> Array:
        """r_j / r, each at least 0; 0 for what was dropped."""
        pivot = np.diagonal(self._P)
        there = pivot > 0.0
        safe = np.where(there, pivot, 1.0)
        share = self._alpha / safe
        squared = np.where(there, np.diagonal(self._S) * (share * share + 1.0 / safe), 0.0)
        whole = self._mean_part + self._variance_part
        return np.asarray(np.sqrt(np.maximum(squared, 0.0) / max(whole, np.finfo(float).tiny)))

    def drop(self, j: int) -> None:
        """Take observation j away: with s = S e_j, S - (p s' + s p') / P_jj + p p' S_jj / P_jj^2."""
        p, s = self._P[j].copy(), self._S[j].copy()
        pivot, own = float(p[j]), float(s[j])
        alpha, beta = float(self._alpha[j]), float(self._beta[j])
        share = p / pivot
        tilted = s - share * (0.5 * own)
        self._P -= np.outer(share, p)
        self._S -= np.outer(share, tilted) + np.outer(tilted, share)
        self._alpha -= share * alpha
        self._beta -= s * (alpha / pivot) + share * (beta - own * alpha / pivot)
        self._mean_part += (own * alpha / pivot - 2.0 * beta) * (alpha / pivot)
        self._variance_part -= own / pivot
        for each in (self._P, self._S):
            each[j] = each[:, j] = 0.0  # exactly, so that rounding brings nothing back
        self._alpha[j] = self._beta[j] = 0.0


def rbf_overlap(q: Array) -> Array:
    """The integral of two RBF kernels over all of space, q the squared distance in lengthscales.

    Of exp(-|z - x|^2 / 2) exp(-|z - x'|^2 / 2) over z, up to a factor: exp(-q / 4).

    >>> rbf_overlap(np.array([0.0, 4.0])).round(4)
    array([1.    , 0.3679])
    """
    return np.asarray(np.exp(-0.25 * q))


def matern_overlap(q: Array, nu: float, dim: int) -> Array:
    """The integral of two Matern kernels over all of space, up to a factor.

    The spectral density (a^2 + w^2)^-(nu + d/2) squared is that of a Matern kernel with the order
    m = 2 nu + d/2: the integral is u^m K_m(u), u = sqrt(2 nu q), with K_m the Bessel function. From
    the order 0 or 1/2 upwards, G_m = u^m K_m obeys G_(m+1) = u^2 G_(m-1) + 2 m G_m: all terms positive.

    >>> float(matern_overlap(np.array([1.0]), 0.5, 1)[0] / matern_overlap(np.array([0.0]), 0.5, 1)[0])
    0.73575888234...
    """
    order = 2.0 * nu + 0.5 * dim
    u = np.sqrt(2.0 * nu * q)
    if order % 1.0 == 0.0:
        at, square = 1.0, u * u
        there = u > 0.0
        positive = np.where(there, u, 1.0)
        below = np.where(there, special.k0(positive), 0.0)  # times u^2 it vanishes at 0
        here = np.where(there, positive * special.k1(positive), 1.0)
    else:
        at, square = 0.5, u * u
        decay = math.sqrt(0.5 * math.pi) * np.exp(-u)
        below, here = decay / np.where(u > 0.0, u, 1.0), decay  # G_-1/2 = G_1/2 / u
    while at < order - 0.25:
        below, here = here, square * below + 2.0 * at * here
        at += 1.0
    return np.asarray(here)


def rbf_future(ages: Array, lengthscale: float) -> Array:
    """The integral of two RBF kernels in time from now on, for observations `ages` steps old.

    Of exp(-(u + a_i)^2 / 2 l^2) exp(-(u + a_l)^2 / 2 l^2) over u >= 0, up to a factor:
    exp(-(a_i - a_l)^2 / 4 l^2) erfc((a_i + a_l) / 2 l).

    >>> rbf_future(np.array([1.0, 0.0]), 1.0).round(4)
    array([[0.1573, 0.3734],
           [0.3734, 1.    ]])
    """
    half = ages / (2.0 * lengthscale)
    gap = half[:, None] - half[None, :]
    return np.asarray(np.exp(-gap * gap) * special.erfc(half[:, None] + half[None, :]))


def matern_future(ages: Array, nu: float, lengthscale: float) -> Array:
    """The integral of two Matern kernels in time from now on; nu is 1/2, 3/2 or 5/2.

    In u = sqrt(2 nu) (time ahead) / l each kernel is exp(-u - a) times a polynomial in u whose
    coefficients F_im are polynomials in the age a. As u^m exp(-2 u) integrates to m! / 2^(m + 1), the
    matrix is F H F' with H_mn = (m + n)! / 2^(m + n + 1): its rank is nu + 1/2.

    >>> matern_future(np.array([2.0, 0.0]), 0.5, 1.0).round(4)
    array([[0.0092, 0.0677],
           [0.0677, 0.5   ]])
    """
    a = math.sqrt(2.0 * nu) * ages / lengthscale
    one = np.ones_like(a)
    columns = {
        0.5: (one,),
        1.5: (1.0 + a, one),
        2.5: (1.0 + a + a * a / 3.0, 1.0 + 2.0 * a / 3.0, one / 3.0),
    }[nu]
    F = np.exp(-a)[:, None] * np.stack(columns, axis=1)
    powers = range(len(columns))
    H = np.array([[math.factorial(m + n) / 2.0 ** (m + n + 1) for n in powers] for m in powers])
    return np.asarray(F @ H @ F.T)
