"""Which models it works with: transforms, precisions, batches over hyperparameters, ensembles, lists."""

import math

import numpy as np
import pytest
import torch
from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound
from botorch.models import ModelListGP, SingleTaskGP, SingleTaskVariationalGP
from botorch.models.ensemble import EnsembleModel
from botorch.models.model import Model
from botorch.models.transforms import Log, Normalize, Standardize
from botorch.posteriors import TransformedPosterior
from botorch.posteriors.fully_bayesian import GaussianMixturePosterior
from gpytorch.distributions import MultivariateNormal
from scipy.stats import lognorm

import windvane as wv
from windvane.errors import InvalidArgument
from windvane.integrations.botorch import ConfidenceBound, EventTriggeredLoop, given_model
from windvane.integrations.botorch.posterior import predict

NOISE = 0.02


def unit_bounds(dim, dtype=torch.float64):
    return torch.stack([torch.zeros(dim, dtype=dtype), torch.ones(dim, dtype=dtype)])


rng = np.random.default_rng(0)
X = torch.tensor(rng.random((9, 2)))
Y = torch.tensor(rng.normal(size=(9, 1))) + 3.0


def told(make_model, count=6, bounds=None, **options):
    """A loop that was told a few random values."""
    bounds = unit_bounds(2) if bounds is None else bounds
    loop = EventTriggeredLoop(make_model, bounds, seed=0, **{"learning": 0, **options})
    draws = np.random.default_rng(5)
    low, high = bounds.numpy()
    events = [loop.tell(low + draws.random(2) * (high - low), float(draws.normal())) for _ in range(count)]
    return loop, events


class Trees(EnsembleModel):
    """Five functions that disagree."""

    def __init__(self, X, Y):
        super().__init__()
        self._num_outputs = 1
        self.slopes, self.level = torch.linspace(-1.0, 1.0, 5, dtype=X.dtype), Y.mean()

    def forward(self, X):
        return (self.slopes[:, None, None] * X.sum(-1, keepdim=True).unsqueeze(-3)) + self.level


def test_outcome_and_input_transforms_are_honoured():
    """A GP on [0, 50] x [-3, 9] and y of scale 200 is the one on the unit square and y of scale 1."""
    low, width = torch.tensor([0.0, -3.0]).double(), torch.tensor([50.0, 12.0]).double()
    plain = SingleTaskGP(X, (Y - Y.mean()) / Y.std(), outcome_transform=None)
    scaled = SingleTaskGP(
        low + width * X,
        200.0 * Y - 70.0,
        input_transform=Normalize(2, bounds=torch.stack((low, low + width))),
        outcome_transform=Standardize(1),
    )
    scale = 200.0 * Y.std().item()
    x = torch.tensor([[0.3, 0.8]]).double()
    one, other = predict(plain, x, None), predict(scaled, low + width * x, None)
    assert other.mean == pytest.approx(200.0 * Y.mean().item() - 70.0 + scale * one.mean)
    assert other.std == pytest.approx(scale * one.std)
    assert other.noise_variance == pytest.approx(scale**2 * one.noise_variance)
    assert one.noise_variance == pytest.approx(plain.likelihood.noise.item())


def test_a_log_transform_gives_the_moments_of_a_log_normal():
    centred = (Y - Y.mean()) / Y.std()
    model = SingleTaskGP(X, centred.exp(), outcome_transform=Log())
    inner = SingleTaskGP(X, centred, outcome_transform=None)
    x = torch.tensor([[0.3, 0.8]]).double()
    found, normal = predict(model, x, 1.0), predict(inner, x, 1.0)
    law = lognorm(s=normal.std, scale=math.exp(normal.mean))
    assert (found.mean, found.std) == pytest.approx((law.mean(), law.std()))


class Sampled(Model):
    """What a fully Bayesian model is to its users: a GP for each sample of the hyperparameters."""

    num_outputs = 1

    def __init__(self, X, Y, scales):
        super().__init__()
        self.each = [SingleTaskGP(X, Y) for _ in scales]
        for model, scale in zip(self.each, scales, strict=True):
            model.covar_module.lengthscale, model.likelihood.noise = scale, 0.1 * scale

    def posterior(self, X, observation_noise=False):
        found = [model.posterior(X, observation_noise=observation_noise) for model in self.each]
        means = torch.stack([each.distribution.mean for each in found], dim=-2)
        covariances = torch.stack([each.distribution.covariance_matrix for each in found], dim=-3)
        return GaussianMixturePosterior(MultivariateNormal(means, covariances))


def test_a_fully_bayesian_posterior_is_the_mixture_of_its_samples():
    model = Sampled(X, Y, (0.2, 0.5, 1.0))
    x = torch.tensor([[0.3, 0.8]]).double()
    each = [predict(one, x, None) for one in model.each]
    mean, second = np.mean([p.mean for p in each]), np.mean([p.mean**2 + p.std**2 for p in each])
    found = predict(model, x, None)
    assert found.mean == pytest.approx(mean)
    assert found.std == pytest.approx(math.sqrt(second - mean**2))
    assert found.noise_variance == pytest.approx(np.mean([p.noise_variance for p in each]))
    loop, events = told(lambda X, Y: Sampled(X, Y, (0.2, 1.0)), count=3)
    assert events[-1].std > 0.0
    assert loop.ask().shape == (2,)


def test_an_ensemble_and_the_noise_that_it_cannot_know():
    loop, events = told(Trees, noise_variance=0.3)
    level = float(np.mean([event.y for event in events[:-1]]))
    values = level + np.linspace(-1.0, 1.0, 5) * events[-1].x.sum()
    assert events[-1].mean == pytest.approx(values.mean())
    assert events[-1].std == pytest.approx(values.std(ddof=1))
    assert events[-1].noise_variance == 0.3
    assert loop.ask().shape == (2,)
    with pytest.raises(wv.InvalidArgument, match=r"the model tells no noise.*give the variance"):
        told(Trees)


def test_a_list_of_one_model_is_that_model():
    make_model = given_model(wv.RBF(0.3), NOISE)
    _, one = told(make_model)
    _, other = told(lambda X, Y: ModelListGP(make_model(X, Y)))
    assert other[-1].threshold == pytest.approx(one[-1].threshold, rel=1e-12)
    with pytest.raises(wv.InvalidArgument, match=r"mean of shape \(1, 2\); a model with one output"):
        told(lambda X, Y: ModelListGP(make_model(X, Y), make_model(X, Y)))


SINGLE = "ignore:The model inputs are of type torch.float32"  # BoTorch advises against it


@pytest.mark.filterwarnings(SINGLE)
def test_single_precision():
    loop, events = told(given_model(wv.RBF(0.3), NOISE), bounds=unit_bounds(2, torch.float32))
    _, double = told(given_model(wv.RBF(0.3), NOISE))
    assert loop.ask().dtype == loop.data[0].dtype == loop.data[1].dtype == torch.float32
    assert [event.threshold for event in events[1:]] == pytest.approx(
        [event.threshold for event in double[1:]], rel=1e-4
    )


def test_what_was_learned_stays_while_observations_are_added():
    """After `learning` steps the model is the fitted one conditioned on the rest: equal to a direct solve."""
    sizes = []

    def make_model(X, Y):
        sizes.append(len(X))
        model = SingleTaskGP(X, Y, input_transform=Normalize(2))  # standardises Y
        model.likelihood.noise = 0.01 + 0.001 * len(X)  # "fitted": shows which data it was made from
        return model

    loop, _ = told(make_model, count=5, learning=5, trigger=wv.PosteriorBound(1e-9))
    base = make_model(*loop.data).eval()
    draws = np.random.default_rng(6)
    sizes.clear()
    events = [loop.tell(draws.random(2), float(draws.normal())) for _ in range(7)]
    assert sizes == [5]  # built once; the five before were not monitored
    assert all(event.monitored for event in events)
    assert loop.size == 12

    (X, Y), x = loop.data, torch.tensor([[0.4, 0.6]]).double()
    transform, scaling = base.input_transform, base.outcome_transform
    with torch.no_grad():
        noise = 0.015 * torch.eye(12).double()
        inside, at = transform(X), transform(x)
        K = base.covar_module(inside).to_dense() + noise
        k = base.covar_module(at, inside).to_dense()
        offset, scale = scaling.means.item(), scaling.stdvs.item()
        constant = base.mean_module.constant.item()
        mean = constant + k @ torch.linalg.solve(K, (Y - offset) / scale - constant)
        variance = base.covar_module(at).to_dense() - k @ torch.linalg.solve(K, k.T)
    found, std = loop.predict(x)
    assert found.item() == pytest.approx(offset + scale * mean.item(), rel=1e-6)
    assert std.item() == pytest.approx(scale * variance.sqrt().item(), rel=1e-6)


def test_a_fixed_noise_stays_the_same_for_observations_added_later():
    def make_model(X, Y):
        return SingleTaskGP(X, Y, train_Yvar=torch.full_like(Y, 0.25))  # in the units of Y

    _, events = told(make_model, count=12, learning=4, trigger=wv.PosteriorBound(1e-9))
    assert [event.noise_variance for event in events[4:]] == pytest.approx([0.25] * 8)


def test_without_freezing_the_model_is_made_anew_at_every_step():
    sizes = []

    def make_model(X, Y):
        sizes.append(len(X))
        return given_model(wv.RBF(0.3), NOISE)(X, Y)

    told(make_model, count=6, learning=2, freeze=False)
    assert sizes == [1, 2, 3, 4, 5]


def test_a_model_that_cannot_be_conditioned_says_so():
    with pytest.raises(wv.InvalidArgument, match=r"Trees has no condition_on_observations.*freeze=False"):
        told(Trees, learning=3, noise_variance=0.1)
    told(Trees, learning=3, noise_variance=0.1, freeze=False)


def test_the_default_acquisition_is_botorchs_ucb():
    model = SingleTaskGP(X, Y)
    points = torch.tensor(rng.random((20, 1, 2)))
    ours, theirs = ConfidenceBound(model, 1.7)(points), UpperConfidenceBound(model, beta=1.7)(points)
    torch.testing.assert_close(ours, theirs)


def test_an_acquisition_of_ones_own_sees_the_data_and_the_time():
    seen = []

    def make_acquisition(model, X, Y):
        seen.append((X, Y))
        return LogExpectedImprovement(model, best_f=Y.max())

    def make_model(X, Y):
        return SingleTaskGP(X, Y, train_Yvar=torch.full_like(Y, NOISE), input_transform=Normalize(3))

    loop, events = told(make_model, time_column=True, make_acquisition=make_acquisition, goal="minimize")
    assert loop.ask().shape == (2,)
    ((X, Y),) = seen
    assert X[:, 2].tolist() == [1, 2, 3, 4, 5, 6]
    assert Y[:, 0].tolist() == [-event.y for event in events]


class Broken(Model):
    """A posterior with whatever is wrong."""

    def __init__(self, posterior):
        super().__init__()
        self.answer = posterior

    def posterior(self, X):
        return self.answer


class Plain:
    def __init__(self, mean, variance):
        self.mean, self.variance = torch.tensor([[mean]]), torch.tensor([[variance]])


@pytest.mark.parametrize(
    ("posterior", "options", "error", "words"),
    [
        (Plain(math.nan, 1.0), {"noise_variance": 0.1}, wv.NumericalFailure, "mean nan"),
        (Plain(0.0, math.inf), {"noise_variance": 0.1}, wv.NumericalFailure, "variance inf"),
        (Plain(0.0, -1.0), {"noise_variance": 0.1}, wv.NumericalFailure, "variance -1.0"),
        (Plain(0.0, 1.0), {}, wv.InvalidArgument, "cannot be asked for observation_noise=True"),
        (
            TransformedPosterior(SingleTaskGP(X, Y).posterior(X[:1]), lambda samples: samples),
            {"noise_variance": 0.1},
            wv.InvalidType,
            "a TransformedPosterior, has no mean",
        ),
    ],
    ids=["nan", "infinite", "negative", "no noise", "no moments"],
)
def test_a_posterior_that_is_none_is_named_and_nothing_is_learned(posterior, options, error, words):
    loop = EventTriggeredLoop(lambda X, Y: Broken(posterior), unit_bounds(2), learning=0, seed=0, **options)
    loop.tell([0.5, 0.5], 1.0)
    before = loop.state()
    with pytest.raises(error, match=words):
        loop.tell([0.5, 0.5], 1.0)
    assert loop.state() == before


def test_a_list_of_one_is_conditioned_like_its_model():
    bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    plain, listed = (
        EventTriggeredLoop(make, bounds, learning=3, initial=1, seed=0)
        for make in (lambda X, Y: SingleTaskGP(X, Y), lambda X, Y: ModelListGP(SingleTaskGP(X, Y)))
    )
    for step in range(8):
        x = torch.tensor([0.1 * step], dtype=torch.float64)
        one, two = plain.tell(x, math.sin(step)), listed.tell(x, math.sin(step))
    assert one.mean == pytest.approx(two.mean)


@pytest.mark.filterwarnings("ignore::botorch.exceptions.warnings.InputDataWarning")
def test_a_model_that_cannot_be_conditioned_is_refused_at_once():
    bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    loop = EventTriggeredLoop(lambda X, Y: SingleTaskVariationalGP(X, Y), bounds, learning=3, seed=0)
    loop.tell(torch.tensor([0.3]), 1.0)
    with pytest.raises(InvalidArgument, match="freeze=False"):
        loop.ask()


def test_the_bounds_of_single_precision_belong_to_the_box():
    bounds = torch.tensor([[0.1, 0.1], [0.9, 0.9]], dtype=torch.float32)
    loop = EventTriggeredLoop(lambda X, Y: SingleTaskGP(X, Y), bounds, seed=0)
    loop.tell([0.1, 0.9], 1.0)
    with pytest.raises(InvalidArgument, match=r"x\[0\]"):
        loop.tell([0.0999, 0.9], 1.0)


@pytest.mark.parametrize("points", [[], None])
def test_nothing_to_predict(points):
    bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    loop = EventTriggeredLoop(lambda X, Y: SingleTaskGP(X, Y), bounds, seed=0)
    with pytest.raises(InvalidArgument, match="X: must be one or more points"):
        loop.predict(points)
