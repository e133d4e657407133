"""+ and * of kernels and numbers: each result against the entrywise sum or product, or refused by name."""

import numpy as np
import pytest

import windvane as wv
from windvane.errors import InvalidArgument, InvalidType
from windvane.kernels import Kernel, SpaceTime, Temporal

RNG = np.random.default_rng(0)
A, B = RNG.random((4, 2)), RNG.random((3, 2))
S, T = np.array([0.0, 1.0, 2.5]), np.array([1.0, 4.0])
RBF, MATERN, MARKOV, TREND = wv.RBF(0.3), wv.Matern52([0.2, 0.4], 2.0), wv.Markov(0.1), wv.TimeMatern32(5.0)
SPATIAL = [RBF, MATERN, RBF + MATERN, RBF * MATERN, RBF * (MATERN + RBF)]
TEMPORAL = [MARKOV, TREND, wv.Static(0.5) + MARKOV, MARKOV * TREND, wv.Wiener(0.1)]
NUMBERS = [2, 2.0, np.float64(2.0), np.float32(2.0), np.int64(2), np.array(2.0)]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("kernel", SPATIAL, ids=repr)
def test_a_number_scales_a_kernel_of_space(kernel, number):
    for scaled in (kernel * number, number * kernel):
        assert isinstance(scaled, Kernel)
        np.testing.assert_allclose(scaled.matrix(A, B), 2.0 * kernel.matrix(A, B), rtol=1e-13)
        np.testing.assert_allclose(scaled.diagonal(A), 2.0 * kernel.diagonal(A), rtol=1e-13)
        assert len(scaled.theta) == len(kernel.theta)  # nothing more to learn
        assert wv.codec.decode(wv.codec.encode(scaled)) == scaled


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("kernel", TEMPORAL, ids=repr)
def test_a_number_scales_a_kernel_of_time(kernel, number):
    for scaled in (kernel * number, number * kernel):
        assert isinstance(scaled, Temporal)
        np.testing.assert_allclose(scaled.matrix(S, T), 2.0 * kernel.matrix(S, T), rtol=1e-13)


def test_a_number_scales_arms():
    kernel = wv.Empirical([[1.0, 0.5], [0.5, 2.0]])
    assert 2.0 * kernel == kernel * 2 == wv.Empirical([[2.0, 1.0], [1.0, 4.0]])


def joint(kernel):
    return kernel.space.matrix(A, B)[:, :, None, None] * kernel.time.matrix(S, T)


@pytest.mark.parametrize(
    ("made", "space", "time"),
    [
        (lambda: RBF * MARKOV, RBF.matrix(A, B), MARKOV.matrix(S, T)),
        (lambda: MARKOV * RBF, RBF.matrix(A, B), MARKOV.matrix(S, T)),
        (lambda: RBF * MARKOV * 2, 2.0 * RBF.matrix(A, B), MARKOV.matrix(S, T)),
        (lambda: 2 * (RBF * MARKOV), 2.0 * RBF.matrix(A, B), MARKOV.matrix(S, T)),
        (lambda: np.float64(2) * (RBF * MARKOV), 2.0 * RBF.matrix(A, B), MARKOV.matrix(S, T)),
        (lambda: 2 * MARKOV * RBF, RBF.matrix(A, B), 2.0 * MARKOV.matrix(S, T)),
        (lambda: RBF * MARKOV * MATERN, RBF.matrix(A, B) * MATERN.matrix(A, B), MARKOV.matrix(S, T)),
        (lambda: MATERN * (RBF * MARKOV), RBF.matrix(A, B) * MATERN.matrix(A, B), MARKOV.matrix(S, T)),
        (lambda: RBF * MARKOV * TREND, RBF.matrix(A, B), MARKOV.matrix(S, T) * TREND.matrix(S, T)),
        (lambda: TREND * (RBF * MARKOV), RBF.matrix(A, B), MARKOV.matrix(S, T) * TREND.matrix(S, T)),
        (
            lambda: (RBF * MARKOV) * (MATERN * TREND),
            RBF.matrix(A, B) * MATERN.matrix(A, B),
            MARKOV.matrix(S, T) * TREND.matrix(S, T),
        ),
    ],
)
def test_space_and_time(made, space, time):
    kernel = made()
    assert isinstance(kernel, SpaceTime)
    np.testing.assert_allclose(joint(kernel), space[:, :, None, None] * time, rtol=1e-13)


@pytest.mark.parametrize("kernel", [RBF, MARKOV, RBF * MARKOV, wv.Empirical(np.eye(2))], ids=repr)
@pytest.mark.parametrize("other", ["a", None, [1.0], np.ones(2), wv.Box([(0, 1)]), True], ids=repr)
def test_anything_else_is_refused_by_name(kernel, other):
    for act in (lambda: kernel * other, lambda: other * kernel):
        with pytest.raises(
            InvalidType, match="multiplied by a kernel of space, a kernel of time or a positive"
        ):
            act()


@pytest.mark.parametrize("kernel", [RBF, MARKOV, RBF * MARKOV], ids=repr)
@pytest.mark.parametrize("number", [0.0, -1, float("nan"), float("inf")])
def test_a_factor_is_positive(kernel, number):
    for act in (lambda: kernel * number, lambda: number * kernel):
        with pytest.raises(InvalidArgument, match=r"factor=.*: must be a finite number above 0"):
            act()


@pytest.mark.parametrize("kernel", [RBF, MARKOV, RBF * MARKOV], ids=repr)
@pytest.mark.parametrize("other", [2.0, "a", None, np.ones(2)], ids=repr)
def test_what_cannot_be_added_is_refused_by_name(kernel, other):
    for act in (lambda: kernel + other, lambda: other + kernel):
        with pytest.raises(InvalidType, match="is added to"):
            act()


def test_space_and_time_are_not_added():
    for act in (lambda: RBF + MARKOV, lambda: MARKOV + RBF, lambda: RBF + RBF * MARKOV):
        with pytest.raises(InvalidType, match="is added to"):
            act()
    with pytest.raises(InvalidArgument, match="share the spatial or the temporal part"):
        RBF * MARKOV + MATERN * TREND


def test_a_kernel_of_ones_own_says_how_it_is_scaled():
    class Own(type(RBF).__mro__[2]):  # Kernel, with nothing of its own
        matrix = diagonal = jet = expand = with_theta = theta_gradient = None
        theta = theta_names = signal = None

    with pytest.raises(InvalidArgument, match=r"define scaled\(factor\)"):
        2.0 * Own()


def test_a_lengthscale_may_be_an_array_without_dimensions():
    assert wv.RBF(np.array(0.2)) == wv.RBF(0.2)
    assert wv.Matern32(np.array(0.2), np.array(2.0)) == wv.Matern32(0.2, 2.0)
    assert wv.Matern52(np.array([0.2, 0.3])) == wv.Matern52([0.2, 0.3])
    with pytest.raises(InvalidType, match=r"RBF\(lengthscale\)"):
        wv.RBF(np.array("a"))
    with pytest.raises(InvalidType, match=r"RBF\(lengthscale\)"):
        wv.RBF(np.ones((1, 1)) * np.ones((2, 1)))


def test_the_rate_of_one_has_a_derivative():
    """d k / d ln eps = -eps h (1 - eps)^(h - 1), h = |dt| / 2: 0 at h = 0, -1 at h = 1, 0 beyond; below 1 large."""
    found = wv.Markov(1.0).theta_gradient(np.array([0.0, 1.0, 2.0, 4.0]))[0]
    assert np.isfinite(found).all()
    np.testing.assert_allclose(np.diag(found), 0.0)
    assert found[0, 2] == -1.0
    assert found[0, 3] == pytest.approx(0.0, abs=1e-15)
    assert found[0, 1] < -1e6
