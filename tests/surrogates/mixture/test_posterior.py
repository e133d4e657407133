"""A mixture at one moment: values against dense solves of its members, derivatives against differences."""

import math

import numpy as np
import pytest
from following import Following

from windvane import Box
from windvane.data import Observation
from windvane.kernels import RBF, Markov, Matern52, Static
from windvane.kernels.trends import TimeMatern32
from windvane.surrogates import Hypothesis, Mixture
from windvane.surrogates.mixture.tuning import DISPUTED

HYPOTHESES = (
    Hypothesis("static", Static(), 1.0),
    Hypothesis("markov", Markov(0.1), 1.0),
    Hypothesis("half", Static(0.5) + Static(0.5) * Markov(0.3), 1.0),
    Hypothesis("trend", TimeMatern32(6.0), 1.0),
    Hypothesis("larger", Static(4.0) * Markov(0.02), 1.0),
)
KERNELS = {"rbf": RBF([0.3, 0.5]), "matern": Matern52([0.4, 0.6], 2.0)}
NOW = 27.5


def filled(kernel, dim=2, count=24, **options):
    """A mixture of which several members act, a sudden change among them."""
    settings = {"hazard": 0.2, "share": 0.3, **options}
    blend = Following(Box([(0.0, 1.0)] * dim), Mixture(kernel, 0.05, hypotheses=HYPOTHESES, **settings))
    rng = np.random.default_rng(0)
    for step in range(1, count + 1):
        x = rng.uniform(size=dim)
        y = math.sin(4.0 * x[0] + 0.2 * step) + 0.2 * float(rng.normal())
        blend.extend(blend.data + Observation(x, y, float(step), step))
    return blend


def members(blend, points, now, lasting):
    """Weight, mean and variance of each member that acts, by a dense solve."""
    kernel, found = blend.model.kernel, []
    acting = [m for m in blend.members if m.watched]
    weights = np.array([w for w, m in zip(blend.weights, blend.members, strict=True) if m.watched])
    for weight, member in zip(weights / weights.sum(), acting, strict=True):
        X, t = blend.data.X[member.first :], blend.data.times[member.first :]
        K = kernel.matrix(X, X) * member.temporal.matrix(t, t) + np.diag(member.noises)
        k = kernel.matrix(points, X) * member.temporal.matrix(np.array([now]), t)
        mean = k @ np.linalg.solve(K, blend.data.y[member.first :])
        prior = member.temporal.variance(now)
        if lasting:
            state = member.dynamics
            tau = [member.lasting @ state.transition(now - s) @ state.stationary @ state.loading for s in t]
            k = kernel.matrix(points, X) * np.array(tau)
            prior = member.lasting @ state.stationary @ member.lasting
        variance = prior * kernel.diagonal(points) - np.einsum("mn,nm->m", k, np.linalg.solve(K, k.T))
        found.append((weight, mean, variance))
    return found


def blended(parts):
    """Weighted mean and variance, and the variance between the means of those with a tenth or more."""
    mean, variance = (sum(part[0] * part[i] for part in parts) for i in (1, 2))
    rivals = [(w, m) for w, m, _ in parts if w >= DISPUTED]
    if len(rivals) > 1:
        centre = np.average([m for _, m in rivals], axis=0, weights=[w for w, _ in rivals])
        variance = variance + sum(w * (m - centre) ** 2 for w, m in rivals)
    return mean, variance


@pytest.mark.parametrize("name", KERNELS)
def test_values_are_weighted_means_of_dense_solves(name):
    blend = filled(KERNELS[name])
    posterior = blend.posterior(NOW)
    assert len([m for m in blend.members if m.watched]) >= 4
    assert any(m.first and m.watched for m in blend.members)
    points = np.random.default_rng(1).uniform(size=(9, 2))
    mean, variance = blended(members(blend, points, NOW, lasting=True))
    surface = posterior.surface(points)
    for got in (posterior.at(points), (surface.mean, surface.variance)):
        np.testing.assert_allclose(got[0], mean, atol=1e-9)
        np.testing.assert_allclose(got[1], variance, atol=1e-9)
    for i, x in enumerate(points):
        local = posterior.local(x)
        assert local.means[0] == pytest.approx(mean[i], abs=1e-9)
        assert local.prior - local.gram[0][0] == pytest.approx(variance[i], abs=1e-9)
    expected = blended(members(blend, posterior.candidates, NOW, lasting=True))
    for got, wanted in zip(posterior.on_candidates(), expected, strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-9)


def test_disagreement_counts_between_serious_rivals_only():
    blend = filled(KERNELS["rbf"])
    points = np.random.default_rng(1).uniform(size=(9, 2))
    within = sum(w * v for w, _, v in members(blend, points, NOW, lasting=True))
    assert (blend.posterior(NOW).at(points)[1] > within + 1e-4).any()  # several have a tenth or more
    blend.now.weights = np.array([0.95, *[0.05 / (len(blend.weights) - 1)] * (len(blend.weights) - 1)])
    within = sum(w * v for w, _, v in members(blend, points, NOW, lasting=True))
    np.testing.assert_allclose(blend.posterior(NOW).at(points)[1], within, atol=1e-9)


def test_the_whole_variance_counts_disagreement():
    """Law of total variance; f itself, not only what lasts."""
    blend = filled(KERNELS["rbf"])
    points = np.random.default_rng(2).uniform(size=(9, 2))
    parts = members(blend, points, NOW, lasting=False)
    mean = sum(w * m for w, m, _ in parts)
    variance = sum(w * (v + m * m) for w, m, v in parts) - mean**2
    got = blend.posterior(NOW).whole(points)
    np.testing.assert_allclose(got[0], mean, atol=1e-9)
    np.testing.assert_allclose(got[1], variance, atol=1e-9)
    assert (got[1] >= blend.posterior(NOW).at(points)[1] - 1e-9).all() or blend.model.lead > 0.0
    predicted = blend.predict(points, NOW)
    np.testing.assert_allclose(predicted[1], np.sqrt(variance), atol=1e-8)


@pytest.mark.parametrize("name", KERNELS)
def test_derivatives_of_the_surface(name):
    posterior = filled(KERNELS[name]).posterior(NOW)
    points = np.random.default_rng(3).uniform(0.05, 0.95, size=(6, 2))
    surface, c = posterior.surface(points), np.linspace(-1.0, 2.0, 6)
    a = np.linspace(0.5, -1.5, 6)
    for axis in range(2):
        shift = np.zeros(2)
        shift[axis] = 1e-5
        up, down = posterior.surface(points + shift), posterior.surface(points - shift)
        for value, gradient in (("mean", "mean_gradient"), ("variance", "variance_gradient")):
            numeric = (getattr(up, value) - getattr(down, value)) / 2e-5
            np.testing.assert_allclose(getattr(surface, gradient)[:, axis], numeric, atol=1e-6)
        bend_mean = (up.mean_gradient - down.mean_gradient) / 2e-5
        bend_variance = (up.variance_gradient - down.variance_gradient) / 2e-5
        np.testing.assert_allclose(
            surface.bend(a, c)[:, axis], a[:, None] * bend_mean + c[:, None] * bend_variance, atol=3e-4
        )
        np.testing.assert_allclose(
            surface.bend(1.0, c)[:, axis], bend_mean + c[:, None] * bend_variance, atol=3e-4
        )


@pytest.mark.parametrize("name", KERNELS)
def test_local_has_the_derivatives_of_the_surface(name):
    """Rows as in `Kernel.expand`: value, gradient, upper triangle of the Hessian."""
    posterior = filled(KERNELS[name]).posterior(NOW)
    points = np.random.default_rng(4).uniform(0.05, 0.95, size=(4, 2))
    surface = posterior.surface(points)
    hessians = surface.bend(1.0, np.zeros(4)), surface.bend(np.zeros(4), np.ones(4))
    i, j = np.triu_indices(2)
    for row, x in enumerate(points):
        local = posterior.local(x)
        means, gram = np.array(local.means), np.array(local.gram)
        assert means.shape == (6,)
        assert gram.shape == (3, 6)
        np.testing.assert_allclose(means[1:3], surface.mean_gradient[row], atol=1e-9)
        np.testing.assert_allclose(means[3:], hessians[0][row][i, j], atol=1e-8)
        np.testing.assert_allclose(-2.0 * gram[0, 1:3], surface.variance_gradient[row], atol=1e-9)
        second = -2.0 * (gram[0, 3:] + gram[1 + i, 1 + j])
        np.testing.assert_allclose(second, hessians[1][row][i, j], atol=1e-8)


def test_one_static_member_is_a_plain_gp():
    """Its ranking of the data is exact, and what acts is all there is."""
    model = Mixture(RBF(0.4), 0.05, hypotheses=HYPOTHESES[:1], hazard=0.0)
    blend = Following(Box([(0.0, 1.0)] * 4), model)
    rng = np.random.default_rng(0)
    for step in range(1, 16):
        x = rng.uniform(size=4)
        blend.extend(blend.data + Observation(x, float(rng.normal()), float(step), step))
    posterior = blend.posterior(20.0)
    exact = posterior.at(posterior.observed)
    for got, want in zip(posterior.on_observed(), exact, strict=True):
        np.testing.assert_allclose(got, want, atol=1e-9)
    assert posterior.size == 15
    np.testing.assert_array_equal(posterior.observed, blend.data.X)
    assert posterior.grid is None


def test_what_came_before_a_change_ranks_last():
    blend = filled(KERNELS["rbf"])
    heaviest = blend.members[blend.permanent]
    blend.now.weights = np.where([m is heaviest for m in blend.members], 0.9, 0.1 / (len(blend.members) - 1))
    mean, variance = blend.posterior(NOW).on_observed()
    assert len(mean) == len(variance) == len(blend.data)
    assert heaviest.first > 0
    assert np.isneginf(mean[: heaviest.first]).all()
    assert np.isfinite(mean[heaviest.first :]).all()
    assert (variance >= 0.0).all()


def test_an_empty_mixture_is_its_prior():
    blend = filled(KERNELS["matern"], count=0)
    posterior = blend.posterior(3.0)
    assert posterior.size == 0
    mean, variance = posterior.whole(np.array([[0.2, 0.3], [0.9, 0.9]]))
    assert mean.tolist() == [0.0, 0.0]
    weights = [w for w, _ in blend._acting()]
    expected = 2.0 * np.dot(weights, [m.temporal.variance(3.0) for m in blend.members if m.watched])
    np.testing.assert_allclose(variance, expected)


def test_the_grid_is_what_the_candidates_are():
    posterior = filled(KERNELS["rbf"], count=3).posterior(4.0)
    assert posterior.grid is not None
    assert math.prod(posterior.grid) == len(posterior.candidates)
