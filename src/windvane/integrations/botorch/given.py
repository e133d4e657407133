"""Windvane's own Gaussian process as a BoTorch model: kernel and noise are given, nothing is fitted."""

from __future__ import annotations

from botorch.models import SingleTaskGP
from botorch.settings import validate_input_scaling
from gpytorch.constraints import Positive
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ZeroMean
from torch import Tensor

from windvane import kernels as ours
from windvane.checks import real
from windvane.errors import InvalidType
from windvane.integrations.botorch.convert import gpytorch_kernel, spatio_temporal
from windvane.integrations.botorch.models import MakeModel


def given_model(kernel: ours.Kernel | ours.SpaceTime, noise_variance: float) -> MakeModel:
    """A `make_model` with zero mean, this kernel and this noise, for a loop with `learning=0, initial=0`.

    With a temporal part, as in `wv.RBF(0.2) * wv.Markov(0.03)`, the last column of X is the time.

    >>> import torch
    >>> import windvane as wv
    >>> model = given_model(wv.RBF(0.2), 0.01)(torch.tensor([[0.5]]).double(), torch.tensor([[2.0]]).double())
    >>> model.posterior(torch.tensor([[0.5]]).double()).mean.item().__round__(6)  # 2 / 1.01
    1.980198
    """
    if not isinstance(kernel, ours.Kernel | ours.SpaceTime):
        raise InvalidType(f"kernel={kernel!r}: must be a Windvane kernel such as wv.RBF(0.2)")
    variance = real("noise_variance", noise_variance, above=0.0)

    def make_model(X: Tensor, Y: Tensor) -> SingleTaskGP:
        columns = X.shape[-1]
        if isinstance(kernel, ours.SpaceTime):
            covariance = spatio_temporal(kernel, dim=columns - 1, dtype=X.dtype)
        else:
            covariance = gpytorch_kernel(kernel, columns, dtype=X.dtype)
        likelihood = GaussianLikelihood(noise_constraint=Positive()).to(X)
        likelihood.noise = variance
        with validate_input_scaling(False):  # whoever gives kernel and noise has chosen the units
            model = SingleTaskGP(
                X,
                Y,
                likelihood=likelihood,
                covar_module=covariance,
                mean_module=ZeroMean(),
                outcome_transform=None,
            )
        return model.requires_grad_(False)

    return make_model
