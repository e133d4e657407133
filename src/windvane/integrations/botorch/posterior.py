"""From a BoTorch posterior to the three numbers that a trigger sees."""

from __future__ import annotations

import math
from typing import Any

import torch
from botorch.posteriors.fully_bayesian import GaussianMixturePosterior
from torch import Tensor

from windvane.data import Prediction
from windvane.errors import InvalidArgument, InvalidType, NumericalFailure

Model = Any  # botorch.models.model.Model, or anything with its `posterior`


def moments(posterior: Any) -> tuple[Tensor, Tensor]:
    """Mean and variance, both ... x q x m; of a mixture over hyperparameters the moments of the whole.

    >>> from gpytorch.distributions import MultivariateNormal
    >>> normal = MultivariateNormal(torch.tensor([[0.0], [2.0]]), 0.5 * torch.ones(2, 1, 1))
    >>> [moment.item() for moment in moments(GaussianMixturePosterior(normal))]
    [1.0, 1.5]
    """
    if isinstance(posterior, GaussianMixturePosterior):
        return posterior.mixture_mean, posterior.mixture_variance
    try:
        return posterior.mean, posterior.variance
    except (NotImplementedError, AttributeError) as error:
        kind = type(posterior).__name__
        raise InvalidType(f"make_model: its posterior, a {kind}, has no mean or no variance") from error


def predict(model: Model, x: Tensor, noise_variance: float | None) -> Prediction:
    """Mean and standard deviation of f at one point (1 x d), and the variance of the noise.

    Outcome and input transforms are BoTorch's business: a posterior is in the units of Y.
    """
    with torch.no_grad():
        mean, variance = _single(moments(model.posterior(x)), x)
        if noise_variance is None:
            _, total = _single(moments(_noisy(model, x)), x)
            noise_variance = total - variance
            if not noise_variance > 0.0:
                raise InvalidArgument(
                    "noise_variance=None: the model tells no noise, its posterior is no wider with "
                    "observation_noise=True; give the variance of the noise in y"
                )
    return Prediction(mean, math.sqrt(variance), noise_variance)


def _noisy(model: Model, x: Tensor) -> Any:
    try:
        return model.posterior(x, observation_noise=True)
    except TypeError as error:
        raise InvalidArgument(
            "noise_variance=None: the model's posterior cannot be asked for observation_noise=True "
            f"({error}); give the variance of the noise in y"
        ) from error


def _single(found: tuple[Tensor, Tensor], x: Tensor) -> tuple[float, float]:
    """The two numbers, or an error that says what is wrong with them."""
    mean, variance = found
    if mean.numel() != 1 or variance.numel() != 1:
        raise InvalidArgument(
            f"make_model: its posterior at one point has a mean of shape {tuple(mean.shape)}; a model with "
            "one output is needed, and no batch dimension but that of a fully Bayesian model"
        )
    value, spread = float(mean), float(variance)
    rounding = 1e-6 * max(1.0, value * value)
    if not math.isfinite(value) or not math.isfinite(spread) or spread < -rounding:
        raise NumericalFailure(
            f"make_model: its posterior at {x[0].tolist()} has mean {value} and variance {spread}; "
            "nothing was learned"
        )
    return value, max(spread, 0.0)
