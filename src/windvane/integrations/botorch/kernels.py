"""The temporal kernels that GPyTorch lacks. Each compares one column, the time: `active_dims=[column]`.

The others of Windvane's are GPyTorch's own, and `convert` maps them: a trend is an `RBFKernel` or a
`MaternKernel` of the time column, `Static` a `ConstantKernel`.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from gpytorch.constraints import Interval, Positive
from gpytorch.kernels import Kernel
from gpytorch.priors import Prior
from torch import Tensor

from windvane.errors import InvalidArgument, InvalidType

FIRST_RATE = 0.03


class RatedKernel(Kernel):  # type: ignore[misc]
    """A kernel of times with one parameter, `rate`, learned as `raw_rate` under `rate_constraint`."""

    def __init__(
        self,
        rate: float | Tensor | None = None,
        *,
        rate_prior: Prior | None = None,
        rate_constraint: Interval | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        name = type(self).__name__
        if self.ard_num_dims not in (None, 1):
            raise InvalidArgument(
                f"{name}(ard_num_dims={self.ard_num_dims}): time is one column; leave it out"
            )
        self.register_parameter("raw_rate", torch.nn.Parameter(torch.zeros(*self.batch_shape, 1)))
        self.register_constraint(
            "raw_rate", self._default_constraint() if rate_constraint is None else rate_constraint
        )
        if rate_prior is not None:
            if not isinstance(rate_prior, Prior):
                raise InvalidType(f"{name}(rate_prior={rate_prior!r}): must be a gpytorch.priors.Prior")
            self.register_prior("rate_prior", rate_prior, _get_rate, _set_rate)
        self.rate = self._first_rate() if rate is None else rate

    def _default_constraint(self) -> Interval:
        return Positive()

    def _first_rate(self) -> float | Tensor:
        """Where the constraint begins, if it says so; else 0.03, or a rate that it allows."""
        constraint = self.raw_rate_constraint
        if constraint.initial_value is not None:
            return constraint.transform(constraint.initial_value)  # it is kept as a raw parameter
        low, high = float(constraint.lower_bound), float(constraint.upper_bound)
        if low < FIRST_RATE < high:
            return FIRST_RATE
        return 0.5 * (low + high) if math.isfinite(high) else 2.0 * low

    @property
    def rate(self) -> Tensor:
        """The parameter itself, batch_shape x 1."""
        return self.raw_rate_constraint.transform(self.raw_rate)

    @rate.setter
    def rate(self, value: float | Tensor) -> None:
        rate = torch.as_tensor(value).detach().to(self.raw_rate)
        low, high = self.raw_rate_constraint.lower_bound, self.raw_rate_constraint.upper_bound
        if not bool(((rate > low) & (rate < high)).all()):
            name, allowed = type(self).__name__, f"above {float(low):g} and below {float(high):g}"
            raise InvalidArgument(f"{name}(rate={value!r}): must be {allowed}")
        if rate.ndim == 0 or rate.shape == self.batch_shape:
            rate = rate.unsqueeze(-1)
        raw = self.raw_rate_constraint.inverse_transform(rate)
        self.initialize(raw_rate=raw.expand(self.raw_rate.shape))

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, last_dim_is_batch: bool = False, **params: Any
    ) -> Tensor:
        """The covariances of both sets of times."""
        del params
        s, t = self._aligned_times(x1, x2, diag, last_dim_is_batch)
        return self._covariance(s, t, self._aligned_rate(diag, last_dim_is_batch))

    def _covariance(self, s: Tensor, t: Tensor, rate: Tensor) -> Tensor:
        raise NotImplementedError

    def _aligned_rate(self, diag: bool, last_dim_is_batch: bool) -> Tensor:
        """The rate with as many trailing dimensions of size 1 as the covariance has."""
        rate = self.rate if diag else self.rate.unsqueeze(-1)
        return rate.unsqueeze(-2 if diag else -3) if last_dim_is_batch else rate

    def _aligned_times(
        self, x1: Tensor, x2: Tensor, diag: bool, last_dim_is_batch: bool
    ) -> tuple[Tensor, Tensor]:
        """Both sets of times, so that they broadcast: ... x n x 1 and ... x 1 x m, or ... x n each."""
        if last_dim_is_batch:
            x1, x2 = x1.transpose(-1, -2).unsqueeze(-1), x2.transpose(-1, -2).unsqueeze(-1)
        elif x1.shape[-1] != 1:
            raise InvalidArgument(
                f"{type(self).__name__}: compares one column, the time, and was handed {x1.shape[-1]}; "
                "say which with active_dims=[column]"
            )
        return (x1.squeeze(-1), x2.squeeze(-1)) if diag else (x1, x2.transpose(-1, -2))


class MarkovKernel(RatedKernel):
    """(1 - rate)^(|t - t'| / 2), `wv.Markov`: the rate of change is between 0 and 1 and can be learned.

    >>> kernel = MarkovKernel(0.19)
    >>> kernel(torch.tensor([[0.0], [1.0]])).to_dense().detach()
    tensor([[1.0000, 0.9000],
            [0.9000, 1.0000]])
    """

    @property
    def is_stationary(self) -> bool:
        """A function of the time between the two."""
        return True

    def _default_constraint(self) -> Interval:
        return Interval(0.0, 1.0, initial_value=None)

    def _covariance(self, s: Tensor, t: Tensor, rate: Tensor) -> Tensor:
        """exp(ln(1 - rate) |t - t'| / 2)."""
        return torch.exp(0.5 * torch.log1p(-rate) * (s - t).abs())


class WienerKernel(RatedKernel):
    """1 + rate min(t, t'), `wv.Wiener` of UI-TVBO: a step injects the variance `rate`. Times count from 0.

    >>> kernel = WienerKernel(0.03)
    >>> kernel(torch.tensor([[10.0]]), torch.tensor([[50.0]])).to_dense().item().__round__(4)
    1.3
    """

    def _covariance(self, s: Tensor, t: Tensor, rate: Tensor) -> Tensor:
        """1 + rate min(t, t')."""
        if bool((s < 0).any()) or bool((t < 0).any()):
            raise InvalidArgument(
                "WienerKernel: times must be at least 0; before that, its variance would be negative"
            )
        return 1.0 + rate * torch.minimum(s, t)


def _get_rate(kernel: RatedKernel) -> Tensor:
    return kernel.rate


def _set_rate(kernel: RatedKernel, value: Tensor) -> None:
    kernel.rate = value
