"""Spatial kernels against scikit-learn, and every derivative against finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process import kernels as sk

from windvane.errors import InvalidArgument, InvalidType, WindvaneError
from windvane.kernels import RBF, Empirical, Independent, Kernel, Matern32, Matern52

SCALES = [0.3, 0.7, 0.2]
ORACLES = [
    (RBF(0.3), sk.RBF(0.3)),
    (RBF(SCALES, 2.5), sk.ConstantKernel(2.5) * sk.RBF(SCALES)),
    (Matern32(0.3), sk.Matern(0.3, nu=1.5)),
    (Matern32(SCALES, 0.4), sk.ConstantKernel(0.4) * sk.Matern(SCALES, nu=1.5)),
    (Matern52(0.3), sk.Matern(0.3, nu=2.5)),
    (Matern52(SCALES), sk.Matern(SCALES, nu=2.5)),
    (RBF(0.3) + Matern52(0.5, 2.0), sk.RBF(0.3) + sk.ConstantKernel(2.0) * sk.Matern(0.5, nu=2.5)),
    (RBF(0.3) * Matern52(SCALES), sk.RBF(0.3) * sk.Matern(SCALES, nu=2.5)),
]
KERNELS = [pair[0] for pair in ORACLES]


def points(seed, count, dim=3):
    return np.random.default_rng(seed).uniform(size=(count, dim))


@pytest.mark.parametrize(("kernel", "oracle"), ORACLES)
def test_matrix_is_scikit_learns(kernel, oracle):
    A, B = points(0, 9), points(1, 7)
    np.testing.assert_allclose(kernel.matrix(A, B), oracle(A, B), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.matrix(A[:1], B), oracle(A[:1], B), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.diagonal(A), np.diag(oracle(A)), rtol=1e-13)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient_in_the_hyperparameters(kernel):
    A = points(2, 6)
    exact = kernel.theta_gradient(A)
    assert exact.shape == (len(kernel.theta), 6, 6)
    assert len(kernel.theta_names) == len(kernel.theta)
    for p in range(len(kernel.theta)):
        shift = np.zeros(len(kernel.theta))
        shift[p] = 1e-6
        up, down = kernel.with_theta(kernel.theta + shift), kernel.with_theta(kernel.theta - shift)
        numeric = (up.matrix(A, A) - down.matrix(A, A)) / 2e-6
        np.testing.assert_allclose(exact[p], numeric, atol=2e-8)


@pytest.mark.parametrize("kernel", KERNELS)
def test_traces_with_the_gradient(kernel):
    A = points(2, 6)
    inner = np.random.default_rng(3).normal(size=(6, 6))
    inner += inner.T
    expected = [np.trace(inner @ derivative) for derivative in kernel.theta_gradient(A)]
    np.testing.assert_allclose(kernel.theta_traces(A, inner), expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_jet_against_finite_differences(kernel):
    A, B = points(3, 4), points(4, 5)
    jet = kernel.jet(A, B)
    np.testing.assert_allclose(jet.bundle[:, 0], kernel.matrix(A, B), rtol=1e-12)
    weights = np.random.default_rng(5).normal(size=(4, 5))
    curvature = jet.curvature(weights)
    for c in range(3):
        shift = np.zeros(3)
        shift[c] = 1e-5
        up, down = kernel.jet(A + shift, B), kernel.jet(A - shift, B)
        np.testing.assert_allclose(
            jet.bundle[:, 1 + c], (up.bundle[:, 0] - down.bundle[:, 0]) / 2e-5, atol=1e-7
        )
        slope = np.einsum("mdn,mn->md", (up.bundle - down.bundle)[:, 1:] / 2e-5, weights)
        np.testing.assert_allclose(curvature[:, c], slope, rtol=1e-6, atol=2e-6)


@pytest.mark.parametrize("kernel", [Matern32(0.3), Matern52(0.3), RBF(0.3)])
def test_derivatives_are_finite_where_points_coincide(kernel):
    A = points(6, 3)
    jet = kernel.jet(A, A)
    assert np.isfinite(jet.bundle).all()
    assert np.isfinite(jet.curvature(np.ones((3, 3)))).all()


@given(st.integers(0, 2**32 - 1), st.sampled_from(KERNELS))
@settings(max_examples=40, deadline=None)
def test_gram_matrices_are_positive_semidefinite(seed, kernel):
    A = points(seed, 12)
    assert np.linalg.eigvalsh(kernel.matrix(A, A)).min() > -1e-10


@pytest.mark.parametrize("kernel", [RBF(0.3, 2.0), RBF(SCALES), RBF(0.3) * RBF(SCALES, 3.0)])
def test_split_multiplies_back(kernel):
    left, right = kernel.split(1)
    A, B = points(0, 4), points(1, 6)
    product = left.matrix(A[:, :1], B[:, :1]) * right.matrix(A[:, 1:], B[:, 1:])
    np.testing.assert_allclose(product, kernel.matrix(A, B), rtol=1e-13)


def test_what_does_not_separate_says_so():
    assert Matern52(0.3).split(1) is None
    assert (RBF(0.3) + RBF(0.2)).split(1) is None
    assert (RBF(0.3) * Matern32(0.2)).split(1) is None


def test_empirical_looks_arms_up():
    matrix = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.3], [0.1, 0.3, 3.0]])
    kernel = Empirical(matrix)
    np.testing.assert_array_equal(kernel.matrix(np.array([[2.0], [0.0]]), np.array([[1.0]])), [[0.3], [0.5]])
    np.testing.assert_array_equal(kernel.diagonal(np.array([[2.0], [1.0]])), [3.0, 1.0])
    matrix[0, 0] = 99.0
    assert kernel.covariance[0, 0] == 2.0  # a copy of its own


@pytest.mark.parametrize(
    "build",
    [
        lambda: RBF(0.0),
        lambda: RBF(-1.0),
        lambda: RBF(float("nan")),
        lambda: RBF(float("inf")),
        lambda: RBF([]),
        lambda: RBF([0.2, 0.0]),
        lambda: RBF("0.2"),
        lambda: RBF(True),
        lambda: RBF(0.2, variance=0.0),
        lambda: Matern52(0.2, variance=float("nan")),
        lambda: RBF([0.2, 0.3]).matrix(np.zeros((1, 3)), np.zeros((1, 3))),
        lambda: Empirical([[1.0, 0.0]]),
        lambda: Empirical([[1.0, 0.5], [0.4, 1.0]]),
        lambda: Empirical([[1.0, 2.0], [2.0, 1.0]]),
        lambda: Empirical([[float("nan")]]),
        lambda: Empirical([[0.0]]),
        lambda: Empirical([]),
        lambda: Empirical("abc"),
        lambda: Empirical(np.eye(2)).jet(np.zeros((1, 1)), np.zeros((1, 1))),
    ],
)
def test_bad_input_is_named(build):
    with pytest.raises(WindvaneError, match=r"RBF|Matern|Empirical|kernel|lengthscale"):
        build()


def test_error_classes():
    with pytest.raises(InvalidArgument):
        RBF(-1.0)
    with pytest.raises(InvalidType):
        RBF("a")


@pytest.mark.parametrize("kernel", KERNELS)
def test_expand_agrees_with_the_jet(kernel):
    A, B = points(3, 4), points(4, 5)
    jet = kernel.jet(A, B)
    i, j = np.triu_indices(3)
    for m, a in enumerate(A):
        rows = kernel.expand(a, B)
        assert rows.shape == (1 + 3 + 6, 5)
        np.testing.assert_allclose(rows[:4], jet.bundle[m], rtol=1e-12, atol=1e-14)
        for n in range(5):
            weights = np.zeros((4, 5))
            weights[m, n] = 1.0
            np.testing.assert_allclose(rows[4:, n], jet.curvature(weights)[m][i, j], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_derivatives_at_one_point_are_those_at_several(kernel):
    """`jet` as every kernel has it, from `expand`, and `jet` as it is written out for speed."""
    A, B = points(7, 4), points(8, 6)
    written, derived = kernel.jet(A, B), Kernel.jet(kernel, A, B)
    np.testing.assert_allclose(written.bundle, derived.bundle, rtol=1e-10, atol=1e-12)
    w = np.random.default_rng(9).normal(size=(4, 6))
    np.testing.assert_allclose(written.curvature(w), derived.curvature(w), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
def test_derivatives_in_some_coordinates_are_those_of_all(kernel):
    A, B, axes = points(7, 4), points(8, 6), np.array([0, 2])
    for own in (kernel, Plain(kernel)):
        whole, part = kernel.jet(A, B), own.jet_along(A, B, axes)
        np.testing.assert_allclose(part.bundle, whole.bundle[:, [0, 1, 3]], rtol=1e-10, atol=1e-12)
        w = np.random.default_rng(9).normal(size=(4, 6))
        expected = whole.curvature(w)[:, axes[:, None], axes]
        np.testing.assert_allclose(part.curvature(w), expected, rtol=1e-9, atol=1e-10)
        rows = [0, 1, 3, 4, 6, 9]
        for a in A:
            found = own.expand_along(a, B, axes)
            np.testing.assert_allclose(found, kernel.expand(a, B)[rows], rtol=1e-10, atol=1e-12)


class Plain(Kernel):
    """A kernel of one's own, which says nothing about some coordinates."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def expand(self, a, B):
        return self.inner.expand(a, B)

    matrix = diagonal = signal = theta = theta_names = with_theta = theta_gradient = None


@pytest.mark.parametrize("kind", [RBF, Matern32, Matern52])
def test_many_coordinates_that_are_mostly_0(kind):
    """Options of a long choice and two numbers, against a sum over all coordinates."""
    rng = np.random.default_rng(0)
    A = np.hstack((np.eye(50)[rng.integers(50, size=30)] / np.sqrt(2.0), rng.uniform(size=(30, 2))))
    A[3], A[5] = A[2], 0.0
    B = np.vstack((A[::2], np.hstack((np.eye(50)[:9] / np.sqrt(2.0), np.full((9, 2), 0.25)))))
    scales = rng.uniform(0.3, 2.0, size=52)
    kernel = kind(scales.tolist(), 1.7)
    for left, right in ((A, B), (A, A), (A[:1], B)):
        gaps = ((left[:, None] - right[None]) / scales) ** 2
        expected = kernel.profile(gaps.sum(axis=2))
        np.testing.assert_allclose(kernel.matrix(left, right), expected, rtol=1e-9, atol=1e-7)
    assert kernel.matrix(A, A)[2, 3] == kernel.matrix(A, A)[2, 2] == pytest.approx(1.7, abs=1e-7)
    axes = np.array([50, 51])
    whole, part = kernel.jet(A[:4], B), kernel.jet_along(A[:4], B, axes)
    np.testing.assert_allclose(part.bundle[:, 1:], whole.bundle[:, 51:], rtol=1e-6, atol=1e-6)


def test_independent_arms():
    kernel, arms = Independent(2.0), np.arange(4.0)[:, None]
    np.testing.assert_array_equal(kernel.matrix(arms, arms), 2.0 * np.eye(4))
    np.testing.assert_array_equal(kernel.diagonal(arms), 2.0)
    assert kernel.theta_gradient(arms).shape == (0, 4, 4)
    assert kernel.with_theta(kernel.theta) == kernel
    for bad in (0.0, -1.0, float("nan"), "one"):
        with pytest.raises(WindvaneError, match=r"Independent\(variance\)"):
            Independent(bad)
    with pytest.raises(WindvaneError, match="Independent compares arms"):
        kernel.jet(arms, arms)
