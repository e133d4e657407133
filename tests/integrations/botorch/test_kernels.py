"""The GPyTorch kernels against Windvane's, against finite differences, and against GPyTorch's conventions."""

import gpytorch
import numpy as np
import pytest
import torch
from gpytorch.constraints import GreaterThan, Interval
from hypothesis import given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane.integrations.botorch import (
    MarkovKernel,
    WienerKernel,
    gpytorch_kernel,
    spatio_temporal,
    temporal_kernel,
)
from windvane.kernels import Temporal

TEMPORAL = [
    wv.Markov(0.03),
    wv.Markov(0.97),
    wv.Wiener(0.05),
    wv.Wiener(3.0),
    wv.Static(),
    wv.Static(0.4),
    wv.TimeRBF(12.0),
    wv.TimeMatern32(7.0),
    wv.TimeMatern52(30.0),
    wv.TimePeriodic(24.0),
    wv.TimePeriodic(31.7, (0.0, 0.7, 0.0, 0.3)),
    wv.Markov(0.1) + wv.Static(0.3),
    wv.TimeRBF(20.0) * wv.Markov(0.05) + wv.Wiener(0.01),
]
SPATIAL = [
    wv.RBF(0.2),
    wv.RBF([0.2, 0.5, 1.3], variance=2.5),
    wv.Matern32(0.3),
    wv.Matern52([0.1, 0.4, 0.9], variance=0.3),
    wv.RBF(0.3) * wv.Matern32(0.8) + wv.Matern52(0.4, variance=0.2),
]
OURS = (MarkovKernel, WienerKernel)
times = st.lists(st.floats(0.0, 2000.0), min_size=1, max_size=8)


def column(values):
    return torch.tensor(values, dtype=torch.float64)[:, None]


def test_every_temporal_kernel_of_the_library_is_in_the_list():
    public = {cls for cls in vars(wv).values() if isinstance(cls, type) and issubclass(cls, Temporal)}
    assert public <= {type(kernel) for kernel in TEMPORAL}


@pytest.mark.parametrize("kernel", TEMPORAL, ids=repr)
@given(s=times, t=times)
@settings(max_examples=25)
def test_a_temporal_kernel_equals_ours(kernel, s, t):
    twin = temporal_kernel(kernel, column=0)
    with torch.no_grad():
        np.testing.assert_allclose(
            twin(column(s), column(t)).to_dense(),
            kernel.matrix(np.array(s), np.array(t)),
            rtol=1e-8,
            atol=1e-8,
        )
        np.testing.assert_allclose(
            twin(column(s), diag=True), [kernel.variance(each) for each in s], rtol=1e-12, atol=1e-12
        )


@pytest.mark.parametrize("kernel", SPATIAL, ids=repr)
@pytest.mark.parametrize("time", [wv.Markov(0.03), wv.Wiener(0.1), wv.TimeMatern32(9.0)], ids=repr)
def test_space_and_time_equal_ours(kernel, time):
    rng = np.random.default_rng(3)
    A, B, s, t = rng.random((9, 3)), rng.random((6, 3)), rng.uniform(0, 99, 9), rng.uniform(0, 99, 6)
    rows = torch.tensor(np.column_stack((A, s))), torch.tensor(np.column_stack((B, t)))
    expected = kernel.matrix(A, B) * time.matrix(s, t)
    for twin in (spatio_temporal(kernel, time, dim=3), spatio_temporal(kernel * time, dim=3)):
        np.testing.assert_allclose(twin(*rows).to_dense().detach(), expected, atol=1e-7)
    np.testing.assert_allclose(
        gpytorch_kernel(kernel, 3)(rows[0]).to_dense().detach(), kernel.matrix(A, A), atol=1e-7
    )


@pytest.mark.parametrize("cls", OURS)
def test_it_composes_as_gpytorchs_kernels_do(cls):
    rbf = gpytorch.kernels.RBFKernel(active_dims=[0, 1])
    product = gpytorch.kernels.ScaleKernel(rbf) * cls(0.1, active_dims=[2])
    x = torch.rand(5, 3)
    by_hand = product.kernels[0](x).to_dense() * cls(0.1)(x[:, 2:]).to_dense()
    torch.testing.assert_close(product(x).to_dense(), by_hand)


@pytest.mark.parametrize("cls", OURS)
def test_a_batch_of_kernels_is_each_of_them(cls):
    rates = torch.tensor([0.1, 0.5, 0.9])
    batch = cls(rates, batch_shape=torch.Size([3]))
    x, z = 9 * torch.rand(3, 5, 1), 9 * torch.rand(3, 4, 1)
    assert batch(x, z).to_dense().shape == (3, 5, 4)
    for i, rate in enumerate(rates):
        torch.testing.assert_close(batch(x, z).to_dense()[i], cls(rate)(x[i], z[i]).to_dense())
        torch.testing.assert_close(batch(x, diag=True)[i], cls(rate)(x[i]).to_dense().diagonal())
    # inputs without a batch dimension, and with one more
    assert batch(x[0], z[0]).to_dense().shape == (3, 5, 4)
    assert batch(x.expand(2, 3, 5, 1), z).to_dense().shape == (2, 3, 5, 4)
    torch.testing.assert_close(
        cls(0.5).expand_batch(torch.Size([3]))(x[0]).to_dense()[2], cls(0.5)(x[0]).to_dense()
    )


# GPyTorch 2.0 will not have it any more; until then, it is a part of what a kernel does
@pytest.mark.filterwarnings("ignore:The last_dim_is_batch argument is deprecated:DeprecationWarning")
@pytest.mark.parametrize("cls", OURS)
@pytest.mark.parametrize("shape", [torch.Size(), torch.Size([2])])
def test_each_column_can_be_a_time_of_its_own(cls, shape):
    kernel = cls(0.3, batch_shape=shape)
    x, z = 9 * torch.rand(*shape, 5, 4), 9 * torch.rand(*shape, 3, 4)
    each = kernel(x, z, last_dim_is_batch=True).to_dense()
    diagonal = kernel(x, diag=True, last_dim_is_batch=True)
    assert each.shape == (*shape, 4, 5, 3)
    assert diagonal.shape == (*shape, 4, 5)
    for c in range(4):
        one = kernel(x[..., c : c + 1], z[..., c : c + 1]).to_dense()
        torch.testing.assert_close(each[..., c, :, :], one)
        torch.testing.assert_close(diagonal[..., c, :], kernel(x[..., c : c + 1], diag=True))


@pytest.mark.parametrize("cls", OURS)
def test_derivatives_are_those_of_finite_differences(cls):
    kernel = cls(0.3).double()
    s, t = torch.tensor([[1.0], [5.0], [7.5]]).double(), torch.tensor([[2.0], [9.0]]).double()

    def value(raw, s, t):
        return torch.func.functional_call(kernel, {"raw_rate": raw}, (s, t)).to_dense()

    arguments = (kernel.raw_rate.detach().clone(), s, t)
    assert torch.autograd.gradcheck(value, tuple(each.requires_grad_() for each in arguments))


def test_a_fit_finds_the_rate_that_ours_finds():
    """Maximum likelihood on a drawn Markov chain, beside a scan of Windvane's own log likelihood."""
    rng = np.random.default_rng(0)
    t = np.arange(80.0)
    K = wv.Markov(0.1).matrix(t, t) + 0.01 * np.eye(80)
    y = np.linalg.cholesky(K) @ rng.standard_normal(80)
    rates = np.linspace(0.02, 0.4, 96)

    def log_likelihood(rate):
        L = np.linalg.cholesky(wv.Markov(rate).matrix(t, t) + 0.01 * np.eye(80))
        z = np.linalg.solve(L, y)
        return -0.5 * z @ z - np.log(np.diag(L)).sum()

    best = rates[np.argmax([log_likelihood(rate) for rate in rates])]
    kernel = MarkovKernel(0.3).double()
    target, rows = torch.tensor(y), column(t)
    optimiser = torch.optim.LBFGS(kernel.parameters(), max_iter=30, line_search_fn="strong_wolfe")

    def loss():
        optimiser.zero_grad()
        covariance = kernel(rows).to_dense() + 0.01 * torch.eye(80).double()
        value = -torch.distributions.MultivariateNormal(torch.zeros(80).double(), covariance).log_prob(target)
        value.backward()
        return value

    optimiser.step(loss)
    assert kernel.rate.item() == pytest.approx(best, abs=0.004)


def test_a_prior_on_the_rate_is_registered():
    prior = gpytorch.priors.UniformPrior(0.0, 0.5)
    kernel = MarkovKernel(0.1, rate_prior=prior)
    ((_, module, found, get, put),) = kernel.named_priors()
    assert found is prior
    put(module, torch.tensor(0.2))
    assert get(module).item() == pytest.approx(0.2)


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.5, 1.5, float("nan")])
def test_a_rate_outside_its_range_is_refused(rate):
    kernel = MarkovKernel(0.1)
    with pytest.raises(wv.InvalidArgument, match=r"MarkovKernel\(rate=.*above 0 and below 1"):
        kernel.rate = rate
    assert kernel.rate.item() == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: MarkovKernel(0.1)(torch.rand(3, 2)).to_dense(), "one column, the time, and was handed 2"),
        (lambda: WienerKernel(0.1)(torch.tensor([[-1.0]])).to_dense(), "times must be at least 0"),
        (lambda: WienerKernel(0.0), "above 0"),
        (lambda: MarkovKernel(0.1, ard_num_dims=2), "ard_num_dims=2"),
        (lambda: MarkovKernel(0.1, rate_prior=3), "rate_prior=3"),
        (lambda: temporal_kernel(wv.Markov(0.0), 0), "wv.Static"),
        (lambda: temporal_kernel(wv.Markov(1.0), 0), "forgets everything"),
        (lambda: temporal_kernel(wv.RBF(0.1), 0), "temporal=RBF"),
        (lambda: temporal_kernel(wv.Markov(0.1), -1), "column=-1"),
        (lambda: gpytorch_kernel(wv.Markov(0.1), 2), "kernel=Markov"),
        (lambda: gpytorch_kernel(wv.RBF(0.1) * wv.Markov(0.1), 2), "kernel of space"),
        (lambda: gpytorch_kernel(wv.Empirical(np.eye(2)), 2), "only RBF, Matern32 and Matern52"),
        (lambda: gpytorch_kernel(wv.RBF([0.1, 0.2]), 3), "2 lengthscales, dim=3"),
        (lambda: gpytorch_kernel(wv.RBF(0.1), 0), "dim=0"),
        (lambda: spatio_temporal(wv.RBF(0.1), dim=2), "temporal=None"),
        (lambda: spatio_temporal(wv.RBF(0.1) * wv.Markov(0.1), wv.Markov(0.1), dim=2), "one of the two"),
    ],
)
def test_what_cannot_be_is_named(call, words):
    with pytest.raises(wv.WindvaneError, match=words):
        call()


@pytest.mark.parametrize(
    ("constraint", "rate"),
    [(Interval(0.1, 0.5), 0.3), (Interval(0.01, 0.5, initial_value=0.2), 0.2), (GreaterThan(0.1), 0.2)],
)
def test_a_constraint_without_a_rate(constraint, rate):
    assert MarkovKernel(rate_constraint=constraint).rate.item() == pytest.approx(rate, rel=1e-5)
