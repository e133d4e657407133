"""The belief about the noise: against conjugate Bayes (scipy.stats.invgamma), quadrature and simulation."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from windvane.surrogates.mixture.outliers import (
    NoiseEstimate,
    Precise,
    Scatter,
    besides,
    scattered,
    softened,
    take,
)
from windvane.surrogates.mixture.tuning import DEEP, DRAG, GROSS

positive = st.floats(1e-6, 1e3)


def taken_by(belief, residual, variance, outliers, extra, plunges=0.0):
    """How a single member takes an observation in: noise, after, log density, share."""
    found = take([belief], np.array([residual]), np.array([variance]), outliers, extra, plunges=plunges)
    return SimpleNamespace(
        noise=float(found.noise[0]),
        after=found.after[0],
        log_density=float(found.log_density[0]),
        outlier=float(found.share[0]),
    )


@settings(max_examples=40)
@given(positive, positive)
def test_a_guess_is_its_own_centre(variance, doubt):
    belief = NoiseEstimate.about(variance, doubt)
    assert belief.value == pytest.approx(variance)
    prior = stats.invgamma(belief.a, scale=belief.b)
    precision = stats.gamma(belief.a, scale=1.0 / belief.b)
    assert 1.0 / precision.mean() == pytest.approx(belief.value)
    if belief.a > 1.5:
        assert prior.mean() > belief.value > prior.stats("m") * (belief.a - 1.0) / (belief.a + 1.0)


def test_where_f_is_known_it_is_the_conjugate_posterior():
    """inverse-gamma(a, b) and n residuals give inverse-gamma(a + n/2, b + sum r^2 / 2); checked on a grid."""
    rng = np.random.default_rng(0)
    residuals = rng.normal(scale=0.3, size=40)
    belief = NoiseEstimate.about(0.5, 3.0)
    for residual in residuals:
        belief = taken_by(belief, float(residual), 0.0, 0.0, 9.0).after
    assert belief.a == pytest.approx(3.0 + 20.0)
    assert belief.b == pytest.approx(1.5 + 0.5 * float((residuals**2).sum()))
    grid = np.geomspace(0.02, 0.6, 4001)
    prior = stats.invgamma(3.0, scale=1.5).logpdf(grid)
    likelihood = stats.norm.logpdf(residuals[:, None], scale=np.sqrt(grid)).sum(axis=0)
    density = np.exp(prior + likelihood - (prior + likelihood).max())
    density /= np.trapezoid(density, grid)
    np.testing.assert_allclose(
        stats.invgamma(belief.a, scale=belief.b).pdf(grid), density, atol=1e-3 * density.max()
    )


@settings(max_examples=40)
@given(st.floats(-5.0, 5.0), st.floats(0.0, 4.0), st.floats(1e-4, 2.0), st.floats(0.5, 50.0))
def test_one_observation_without_outliers(residual, variance, noise, doubt):
    belief = NoiseEstimate.about(noise, doubt)
    taken = taken_by(belief, residual, variance, 0.0, 9.0)
    expected = stats.norm.logpdf(residual, scale=math.sqrt(variance + noise))
    assert taken.log_density == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert taken.outlier == 0.0
    assert taken.noise == pytest.approx(taken.after.value)
    assert taken.after.a == pytest.approx(doubt + 0.5)
    # it learns at most the whole residual, and at least nothing
    assert belief.b <= taken.after.b <= belief.b + 0.5 * (residual**2 + variance) * (1.0 + 1e-9)


def test_the_variational_passes_come_near_the_exact_posterior():
    """f ~ N(0, v), y = f + e, e ~ N(0, s), s ~ inverse-gamma: E[1/s | y] by quadrature, for mild surprises."""
    a, b, v = 6.0, 6.0 * 0.04, 0.09
    grid = np.geomspace(1e-4, 3.0, 8001)
    for residual in (0.0, 0.2, 0.5, 0.8):
        log = stats.invgamma(a, scale=b).logpdf(grid) + stats.norm.logpdf(residual, scale=np.sqrt(v + grid))
        density = np.exp(log - log.max())
        exact = np.trapezoid(density, grid) / np.trapezoid(density / grid, grid)
        got = taken_by(NoiseEstimate(a, b), residual, v, 0.0, 9.0).after.value
        assert got == pytest.approx(exact, rel=0.08)


@settings(max_examples=40)
@given(
    st.floats(-30.0, 30.0),
    st.floats(0.0, 4.0),
    st.floats(1e-4, 1.0),
    st.floats(1e-4, 0.5),
    st.floats(0.5, 100.0),
)
def test_outliers_are_a_mixture_of_two_densities(residual, variance, noise, outliers, extra):
    taken = taken_by(NoiseEstimate.about(noise, 3.0), residual, variance, outliers, extra)
    usual = math.log1p(-outliers) + stats.norm.logpdf(residual, scale=math.sqrt(variance + noise))
    wide = math.log(outliers) + stats.norm.logpdf(residual, scale=math.sqrt(variance + noise + extra))
    assert taken.log_density == pytest.approx(np.logaddexp(usual, wide), rel=1e-9, abs=1e-9)
    assert taken.outlier == pytest.approx(math.exp(wide - np.logaddexp(usual, wide)), abs=1e-9)
    assert 0.0 <= taken.outlier <= 1.0
    low, high = taken.after.value, taken.after.value + extra
    assert low * (1.0 - 1e-12) <= taken.noise <= high * (1.0 + 1e-12)
    assert taken.after.a > 0.0
    assert taken.after.b > 0.0


@settings(max_examples=40)
@given(
    st.floats(-30.0, 30.0),
    st.floats(0.0, 4.0),
    st.floats(1e-4, 1.0),
    st.floats(1e-4, 0.5),
    st.floats(1e-4, 0.5),
)
def test_what_is_below_is_a_mixture_of_three_densities(residual, variance, noise, outliers, plunges):
    extra = max(9.0, residual**2)
    taken = taken_by(NoiseEstimate.about(noise, 3.0), residual, variance, outliers, extra, plunges)
    usual = stats.norm.pdf(residual, scale=math.sqrt(variance + noise))
    if residual < 0.0:
        deep = stats.norm.pdf(residual, scale=math.sqrt(DEEP * variance + noise))
        usual = (1.0 - plunges) * usual + plunges * deep
    wide = outliers * stats.norm.pdf(residual, scale=math.sqrt(variance + noise + extra))
    total = (1.0 - outliers) * usual + wide
    assert math.exp(taken.log_density) == pytest.approx(total, rel=1e-9)
    assert taken.outlier == pytest.approx(wide / total, abs=1e-9)


def test_what_is_far_below_counts_where_little_is_known_and_nowhere_else():
    belief = NoiseEstimate.about(0.01, 3.0)
    for variance, counts in ((0.3, True), (0.001, False)):
        before = taken_by(belief, -6.0, variance, 0.01, 36.0)
        after = taken_by(belief, -6.0, variance, 0.01, 36.0, 0.001)
        above = taken_by(belief, 6.0, variance, 0.01, 36.0, 0.001)
        assert before.noise > 30.0
        assert above.noise == taken_by(belief, 6.0, variance, 0.01, 36.0).noise
        assert (after.noise < 0.1 * before.noise) is counts
        assert after.outlier > 0.5  # a fit leaves it out, as it does outliers


@given(st.floats(-1e4, -GROSS - 0.1), st.floats(1e-4, 4.0), st.floats(1e-4, 1.0), st.floats(1e-4, 0.5))
def test_a_gross_plunge_is_as_deep_as_it_likes_and_counts_among_outliers(residual, variance, noise, plunges):
    taken = taken_by(NoiseEstimate.about(noise, 3.0), residual, variance, 0.01, residual**2, plunges)
    normal = stats.norm.logpdf(
        residual,
        scale=np.sqrt([variance + noise, residual**2 * variance + noise, variance + noise + residual**2]),
    )
    logs = normal + np.log([0.99 * (1.0 - plunges), 0.99 * plunges, 0.01])
    assert taken.log_density == pytest.approx(float(np.logaddexp.reduce(logs)), rel=1e-9)
    assert taken.outlier == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("prior", [0.04, 1.0, 25.0])
@pytest.mark.parametrize("depth", [50.0, 1e3, 1e6])
def test_what_is_gross_pulls_f_down_by_so_much_and_no_more(prior, depth):
    """Against a Gaussian process that is conditioned on one value: v / (v + s) of the residual."""
    residual = -depth * math.sqrt(prior)
    s = float(besides(np.array(residual), prior, 9.0, 0.001))
    pulls = [v / (v + s) * residual / math.sqrt(prior) for v in (prior, 0.01 * prior)]
    assert -1.0 / DRAG <= pulls[0] < -0.5 * min(1.0 / DRAG, depth / 9.0)
    assert pulls[1] >= -0.01 / DRAG  # where f is known, hardly anything
    assert besides(np.array(residual), prior, 9.0, 0.0) == residual**2  # as before, without plunges
    assert besides(np.array(-residual), prior, 9.0, 0.001) == residual**2  # and above


@settings(max_examples=40)
@given(positive, st.floats(0.0, 1.0), positive)
def test_softened_is_the_inverse_of_the_mean_precision(noise, share, extra):
    exact = 1.0 / np.average([1.0 / noise, 1.0 / (noise + extra)], weights=[1.0 - share, share])
    assert softened(noise, share, extra) == pytest.approx(exact)
    assert softened(noise, 0.0, extra) == pytest.approx(noise)
    assert softened(noise, 1.0, extra) == pytest.approx(noise + extra)


def test_an_outlier_teaches_nothing_about_the_noise():
    belief = NoiseEstimate.about(0.01, 3.0)
    after = taken_by(belief, 8.0, 0.01, 0.01, 9.0).after
    assert after.value == pytest.approx(belief.value, rel=1e-6)
    believed = taken_by(belief, 8.0, 0.01, 0.0, 9.0).after
    assert believed.value > 50.0 * belief.value


@pytest.mark.parametrize("factor", [0.25, 4.0])
@pytest.mark.parametrize(("variance", "left"), [(0.0, 0.2), (0.005, 0.3), (0.02, 0.6)])
def test_a_noise_told_four_times_wrong_is_corrected(factor, variance, left):
    """The better f is known, the better; what is learned while it is not known is learned late."""
    truth, rng = 0.05, np.random.default_rng(1)
    belief = NoiseEstimate.about(factor * truth, 3.0)
    start = abs(math.log(belief.value / truth))
    for _ in range(300):
        residual = rng.normal(scale=math.sqrt(variance + truth))
        belief = taken_by(belief, float(residual), variance, 0.01, 9.0).after
    assert abs(math.log(belief.value / truth)) < left * start


@pytest.mark.parametrize("outliers", [0.0, 0.01])
@pytest.mark.parametrize("residual", [0.0, 1e-300, 1e8, -1e50, 1e100])
def test_extremes_stay_finite(residual, outliers):
    for variance in (0.0, 1e-12, 1.0):
        taken = taken_by(NoiseEstimate.about(1e-10, 3.0), residual, variance, outliers, 9.0)
        assert all(
            math.isfinite(value) for value in (taken.noise, taken.log_density, taken.outlier, *taken.after)
        )
        assert min(taken.noise, *taken.after) > 0.0


# -- repeats, and noise that is known ----------------------------------------------------------------


def test_repeats_where_f_is_known_are_the_conjugate_posterior_of_all_of_them():
    residuals = np.random.default_rng(10030).normal(scale=0.3, size=6)
    mean = float(residuals.mean())
    known = Precise(None, 6, Scatter(5, float(((residuals - mean) ** 2).sum()), 0.0))
    found = take([NoiseEstimate(3.0, 1.5)], np.array([mean]), np.zeros(1), 0.0, 9.0, known)
    assert found.after[0] == pytest.approx((3.0 + 3.0, 1.5 + 0.5 * float(residuals @ residuals)))
    assert found.noise[0] == pytest.approx(found.after[0].value / 6)


def test_what_repeats_scatter_has_the_density_of_quadrature():
    """The integral over the variance of the normal density of all repeats, given their mean's."""
    values = np.array([0.1, 0.5, -0.2, 0.3])
    squares = float(((values - values.mean()) ** 2).sum())
    belief = NoiseEstimate(2.5, 0.4)

    def joint(s):
        joint = np.exp(stats.norm(0.0, np.sqrt(s)).logpdf(values[:, None]).sum(axis=0))
        return joint / stats.norm(0.0, np.sqrt(s / 4.0)).pdf(values.mean()) * 2.0  # sqrt(m)

    s = np.geomspace(1e-2, 1e4, 400_001)
    wanted = np.trapezoid(stats.invgamma(belief.a, scale=belief.b).pdf(s) * joint(s), s)
    density, share = scattered([belief], Scatter(3, squares, 0.0), 0.0, 9.0)
    assert share[0] == 0.0
    assert math.exp(density[0]) == pytest.approx(wanted, rel=1e-6)


def test_one_outlier_among_repeats_hardly_moves_the_noise_and_many_louder_ones_do():
    belief = NoiseEstimate.about(0.01, 10.0)
    lone, louder = (
        take([belief], np.zeros(1), np.full(1, 0.01), 0.01, 9.0, Precise(None, scatter.spare + 1, scatter))
        for scatter in (Scatter(4, 30.0, 29.97), Scatter(29, 1.2, 0.2))
    )
    assert lone.after[0].value < 0.015
    assert louder.after[0].value > 0.025


def test_from_noise_that_is_known_nothing_is_learned():
    belief = NoiseEstimate.about(0.01, 3.0)
    found = take([belief], np.array([1.5]), np.array([0.1]), 0.0, 9.0, Precise(2.0))
    assert found.after == [belief]
    assert found.noise[0] == 2.0
    assert found.log_density[0] == pytest.approx(stats.norm(0.0, math.sqrt(2.1)).logpdf(1.5))
