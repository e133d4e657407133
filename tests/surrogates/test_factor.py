"""The inverse Cholesky factor against direct inverses, whatever is appended and dropped."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windvane.surrogates.factor import BLOCKS, LARGE, SMALL, WHOLE, Factor, below, inverse_triangle


def covariance(X, noise):
    return np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1) / 0.09) + noise * np.eye(len(X))


def append(factor, X, rows, new, noise):
    k = np.exp(-0.5 * ((X[rows] - X[new]) ** 2).sum(-1) / 0.09) if rows else np.empty(0)
    v = factor.project(k)
    return factor.append(v, 1.0 + noise - float(v @ v))


@given(st.integers(0, 2**32 - 1), st.lists(st.floats(0, 0.999), min_size=5, max_size=80))
@settings(max_examples=40, deadline=None)
def test_any_sequence_of_appends_and_drops(seed, choices):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(len(choices), 2))
    factor, rows, noise = Factor(capacity=4), [], 0.01
    for new, choice in enumerate(choices):
        append(factor, X, rows, new, noise)
        rows.append(new)
        if choice < 0.5:
            j = int(2 * choice * len(rows))
            inverse = np.linalg.inv(covariance(X[rows], noise))
            np.testing.assert_allclose(factor.drop(j), inverse[:, j], atol=1e-8)
            rows.pop(j)
    K = covariance(X[rows], noise) if rows else np.empty((0, 0))
    inverse = np.linalg.inv(K) if rows else K
    np.testing.assert_allclose(factor.W.T @ factor.W, inverse, atol=1e-8)
    np.testing.assert_allclose(factor.inverse_diagonal, np.diag(inverse), atol=1e-8)
    np.testing.assert_allclose(factor.log_determinant, np.linalg.slogdet(K)[1] if rows else 0.0, atol=1e-9)
    assert (np.triu(factor.W, 1) == 0).all()


def test_append_returns_the_weights_of_the_new_point():
    X = np.random.default_rng(0).uniform(size=(9, 2))
    factor = Factor(capacity=2)
    for new in range(9):
        w = append(factor, X, list(range(new)), new, 0.01)
    K = covariance(X, 0.01)
    np.testing.assert_allclose(w, np.linalg.solve(K[:-1, :-1], K[:-1, -1]), atol=1e-10)


def test_rebuild_equals_appending_and_refuses_what_is_not_positive_definite():
    X = np.random.default_rng(1).uniform(size=(40, 2))
    factor, fresh = Factor(capacity=2), Factor(capacity=2)
    for new in range(40):
        append(factor, X, list(range(new)), new, 0.01)
    assert fresh.rebuild(covariance(X, 0.01))
    np.testing.assert_allclose(fresh.W, factor.W, atol=1e-9)
    np.testing.assert_allclose(fresh.inverse_diagonal, factor.inverse_diagonal, rtol=1e-9)
    before = fresh.W.copy()
    assert not fresh.rebuild(np.array([[1.0, 2.0], [2.0, 1.0]]))
    np.testing.assert_array_equal(fresh.W, before)
    fresh.clear()
    assert fresh.n == 0
    assert fresh.log_determinant == 0.0


@pytest.mark.parametrize("n", [1, 2, SMALL, SMALL + 1, 200, LARGE, LARGE + 1, 2 * LARGE + 7])
def test_the_inverse_of_a_triangle(n):
    rng = np.random.default_rng(n)
    L = np.tril(rng.standard_normal((n, n))) / np.sqrt(n) + 2.0 * np.eye(n)
    W = inverse_triangle(np.asfortranarray(L))
    np.testing.assert_allclose(W @ L, np.eye(n), atol=1e-9)
    assert (np.triu(W, 1) == 0.0).all()
    out = np.zeros((n, n), order="F")
    assert inverse_triangle(L, out=out) is out
    np.testing.assert_allclose(out, W, atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, WHOLE, WHOLE + 1, 2 * WHOLE + 3, BLOCKS * WHOLE + 1, 1234])
def test_a_triangular_product_is_the_product(n):
    rng = np.random.default_rng(n)
    W = np.tril(rng.standard_normal((n, n)))
    for right in (rng.standard_normal(n), rng.standard_normal((n, 4)), rng.standard_normal((4, n)).T):
        np.testing.assert_allclose(below(W, right), W @ right, rtol=1e-12, atol=1e-11)
