"""Copies that share buffers: none of them ever notices what becomes of another."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from windvane.kernels import RBF, Matern52
from windvane.surrogates.buffers import Rows
from windvane.surrogates.cache import GridCache, PointCache
from windvane.surrogates.factor import Factor

AXIS = np.linspace(0.0, 1.0, 5)[:, None]
KERNEL = RBF([0.3, 0.5])


class Plain:
    """What `Rows` is to be, as a list that is copied whole."""

    def __init__(self, rows=()):
        self.rows = list(rows)

    def copy(self):
        return Plain(self.rows)

    def append(self, row):
        self.rows.append(row.copy())

    def drop(self, j):
        del self.rows[j]

    def check(self, rows):
        n = len(self.rows)
        assert len(rows) == n
        expected = np.array(self.rows).reshape(n, 2)
        np.testing.assert_array_equal(rows.array, expected)
        weights = np.arange(1.0, n + 1.0) * np.array([[1.0], [-2.0]])
        np.testing.assert_allclose(rows.spread(weights) @ rows.span, weights @ expected, atol=1e-9)
        np.testing.assert_allclose(rows.spread(weights[0]) @ rows.span, weights[0] @ expected, atol=1e-9)


def operations(most):
    """Which copy is worked on, what is done, and where."""
    kind = st.sampled_from(["append", "append", "append", "drop", "copy"])
    return st.lists(st.tuples(st.integers(0, 99), kind, st.floats(0.0, 0.999)), max_size=most)


def played(first, operations, append, drop):
    """All copies after the operations, each of which is done to one of them."""
    copies = [first]
    for number, (which, kind, where) in enumerate(operations):
        chosen = copies[which % len(copies)]
        if kind == "copy":
            copies.append(chosen.copy())
        elif kind == "append":
            append(chosen, number)
        else:
            drop(chosen, where)
    return copies


@given(operations(120))
@settings(max_examples=60, deadline=None)
def test_rows(steps):
    def append(rows, number):
        rows.append(np.array([number, -0.5 * number]))

    def drop(rows, where):
        n = len(rows.rows if isinstance(rows, Plain) else rows)
        if n:
            rows.drop(int(where * n))

    got = played(Rows(2, capacity=2), steps, append, drop)
    for rows, plain in zip(got, played(Plain(), steps, append, drop), strict=True):
        plain.check(rows)


def test_a_window_that_slides_is_summed_without_what_is_gone():
    rows = Rows(1)
    for number in range(500):
        rows.append(np.array([float(number)]))
        if len(rows) > 20:
            rows.drop(0)
        assert len(rows.span) == len(rows)
    np.testing.assert_array_equal(rows.array[:, 0], np.arange(480.0, 500.0))
    assert len(rows._buffer) <= 64


class Grown:
    """A factor with the points it is of."""

    def __init__(self, factor=None, points=()):
        self.factor, self.points = factor or Factor(capacity=2), list(points)

    def copy(self):
        return Grown(self.factor.copy(), self.points)

    def append(self, number):
        x = np.random.default_rng(number).uniform(size=2)
        k = KERNEL.matrix(x[None], np.array(self.points).reshape(-1, 2))[0]
        v = self.factor.project(k)
        self.factor.append(v, 1.1 - float(v @ v))
        self.points.append(x)

    def drop(self, where):
        if where < 0.1:
            self.factor.clear()
            self.points = []
        elif self.points:
            j = int(where * len(self.points))
            self.factor.drop(j)
            del self.points[j]


@given(operations(60))
@settings(max_examples=40, deadline=None)
def test_factors(steps):
    for copy in played(Grown(), steps, Grown.append, Grown.drop):
        X = np.array(copy.points).reshape(-1, 2)
        K = KERNEL.matrix(X, X) + 0.1 * np.eye(len(X))
        inverse = np.linalg.inv(K)
        np.testing.assert_allclose(copy.factor.W.T @ copy.factor.W, inverse, atol=1e-9)
        np.testing.assert_allclose(copy.factor.inverse_diagonal, np.diag(inverse), atol=1e-9)
        np.testing.assert_allclose(copy.factor.log_determinant, np.linalg.slogdet(K)[1], atol=1e-9)
        assert (np.triu(copy.factor.W, 1) == 0.0).all()


def test_a_factor_rebuilt_or_appended_to_leaves_its_copies_alone():
    one = Grown()
    for number in range(5):
        one.append(number)
    W, diagonal = one.factor.W.copy(), one.factor.inverse_diagonal.copy()
    first, second, third = one.copy(), one.copy(), one.copy()
    first.append(7)
    second.append(8)
    third.factor.rebuild(np.eye(3))
    np.testing.assert_array_equal(one.factor.W, W)
    np.testing.assert_array_equal(one.factor.inverse_diagonal, diagonal)
    np.testing.assert_array_equal(first.factor.W[:5, :5], W)
    assert not np.array_equal(first.factor.W, second.factor.W)


class Cached:
    """A cache of candidates with the points it was told."""

    def __init__(self, cache, points=()):
        self.cache, self.points = cache, list(points)

    def copy(self):
        return Cached(self.cache.copy(), self.points)

    def append(self, number):
        x = np.random.default_rng(number).uniform(size=2)
        self.cache.add(x)
        self.points.append(x)

    def drop(self, where):
        if self.points:
            j = int(where * len(self.points))
            self.cache.remove(j)
            del self.points[j]


@given(operations(80), st.sampled_from([RBF([0.3, 0.5]), Matern52(0.4)]))
@settings(max_examples=40, deadline=None)
def test_caches(steps, kernel):
    grid = GridCache.build(kernel, AXIS, AXIS)
    for first in (grid, PointCache(kernel, grid.points)):
        for copy in played(Cached(first.emptied()), steps, Cached.append, Cached.drop):
            X = np.array(copy.points).reshape(-1, 2)
            rows = kernel.matrix(X, first.points)
            np.testing.assert_allclose(copy.cache.rows(), rows, atol=1e-12)
            C = np.random.default_rng(0).normal(size=(3, len(X)))
            np.testing.assert_allclose(copy.cache.contract_many(C), C @ rows, atol=1e-12)
            np.testing.assert_allclose(copy.cache.contract(C[0]), C[0] @ rows, atol=1e-12)
