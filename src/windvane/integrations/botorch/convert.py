"""Windvane's kernels as GPyTorch's: equal values, and every hyperparameter a learnable parameter.

Windvane compares points in the unit cube. Where the box is another, give the BoTorch model an input
transform (`Normalize`) that leaves the time column alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from gpytorch.kernels import (
    AdditiveKernel,
    ConstantKernel,
    CosineKernel,
    Kernel,
    MaternKernel,
    ProductKernel,
    RBFKernel,
    ScaleKernel,
)

from windvane import kernels as ours
from windvane.checks import integer
from windvane.errors import InvalidArgument, InvalidType
from windvane.integrations.botorch.kernels import MarkovKernel, WienerKernel

SMOOTHNESS = {ours.Matern32: 1.5, ours.Matern52: 2.5, ours.TimeMatern32: 1.5, ours.TimeMatern52: 2.5}


def gpytorch_kernel(kernel: ours.Kernel, dim: int, *, dtype: torch.dtype = torch.float64) -> Kernel:
    """A spatial kernel on the first `dim` columns: RBF, Matern32, Matern52, and their sums and products.

    >>> import windvane as wv
    >>> kernel = gpytorch_kernel(wv.RBF([0.2, 0.5], variance=3.0), dim=2)
    >>> kernel(torch.tensor([[0.0, 0.0]]).double(), torch.tensor([[0.2, 0.0]]).double()).to_dense().item()
    1.8195...
    """
    columns = list(range(integer("dim", dim, at_least=1)))
    if not isinstance(kernel, ours.Kernel):
        raise InvalidType(f"kernel={kernel!r}: must be a kernel of space such as wv.RBF(0.2)")
    return _spatial(kernel, columns, dtype)


def temporal_kernel(temporal: ours.Temporal, column: int, *, dtype: torch.dtype = torch.float64) -> Kernel:
    """A temporal kernel on one column, the time: any of Windvane's, and their sums and products.

    >>> import windvane as wv
    >>> kernel = temporal_kernel(wv.Markov(0.19) + wv.Static(0.5), column=0)
    >>> kernel(torch.tensor([[0.0]]).double(), torch.tensor([[1.0]]).double()).to_dense().item().__round__(4)
    1.4
    """
    column = integer("column", column, at_least=0)
    if not isinstance(temporal, ours.Temporal):
        raise InvalidType(f"temporal={temporal!r}: must be a Windvane kernel of time such as wv.Markov(0.03)")
    return _temporal(temporal, [column], dtype)


def spatio_temporal(
    kernel: ours.Kernel | ours.SpaceTime,
    temporal: ours.Temporal | None = None,
    *,
    dim: int,
    dtype: torch.dtype = torch.float64,
) -> Kernel:
    """The separable kernel k_S(x, x') k_T(t, t') on rows [x, t]: `dim` coordinates, and then the time.

    The pair may also come as one, `wv.RBF(0.2) * wv.Markov(0.03)`.

    >>> import windvane as wv
    >>> kernel = spatio_temporal(wv.RBF(0.2), wv.Markov(0.19), dim=2)
    >>> rows = torch.tensor([[0.5, 0.5, 1.0], [0.5, 0.5, 2.0]], dtype=torch.float64)
    >>> kernel(rows).to_dense().detach()
    tensor([[1.0000, 0.9000],
            [0.9000, 1.0000]], dtype=torch.float64)
    """
    if isinstance(kernel, ours.SpaceTime):
        if temporal is not None:
            raise InvalidArgument(
                f"temporal={temporal!r}: the kernel has its own temporal part; give one of the two"
            )
        temporal = kernel.time
        kernel = kernel.space
    if temporal is None:
        raise InvalidArgument(
            "temporal=None: give one such as wv.Markov(0.03), or gpytorch_kernel for space alone"
        )
    return gpytorch_kernel(kernel, dim, dtype=dtype) * temporal_kernel(temporal, dim, dtype=dtype)


def _spatial(kernel: ours.Kernel, columns: Sequence[int], dtype: torch.dtype) -> Kernel:
    if isinstance(kernel, ours.Sum):
        return AdditiveKernel(_spatial(kernel.left, columns, dtype), _spatial(kernel.right, columns, dtype))
    if isinstance(kernel, ours.Product):
        return ProductKernel(_spatial(kernel.left, columns, dtype), _spatial(kernel.right, columns, dtype))
    if not isinstance(kernel, ours.RBF | ours.Matern32 | ours.Matern52):
        raise InvalidType(
            f"kernel={type(kernel).__name__}: only RBF, Matern32 and Matern52 have a GPyTorch twin"
        )
    scales = kernel.lengthscale
    if len(scales) not in (1, len(columns)):
        raise InvalidArgument(
            f"kernel: {len(scales)} lengthscales, dim={len(columns)}; give one, or one for each"
        )
    base = _profile(type(kernel), columns, None if len(scales) == 1 else len(scales)).to(dtype)
    base.lengthscale = torch.tensor([list(scales)], dtype=dtype)
    scaled = ScaleKernel(base).to(dtype)
    scaled.outputscale = torch.tensor(kernel.variance, dtype=dtype)
    return scaled


def _temporal(kernel: ours.Temporal, columns: Sequence[int], dtype: torch.dtype) -> Kernel:
    if isinstance(kernel, ours.TemporalSum):
        return AdditiveKernel(_temporal(kernel.left, columns, dtype), _temporal(kernel.right, columns, dtype))
    if isinstance(kernel, ours.TemporalProduct):
        return ProductKernel(_temporal(kernel.left, columns, dtype), _temporal(kernel.right, columns, dtype))
    if isinstance(kernel, ours.Trend):
        if type(kernel) not in (ours.TimeRBF, ours.TimeMatern32, ours.TimeMatern52):
            raise _no_twin(kernel)
        trend = _profile(type(kernel), columns, None).to(dtype)
        trend.lengthscale = torch.tensor([[kernel.lengthscale]], dtype=dtype)
        return trend
    if isinstance(kernel, ours.Static):
        return _constant(kernel.share, columns, dtype)
    if isinstance(kernel, ours.TimePeriodic):
        return _periodic(kernel, columns, dtype)
    if not isinstance(kernel, ours.Markov | ours.Wiener):
        raise _no_twin(kernel)
    if kernel.rate == 0.0 or (isinstance(kernel, ours.Markov) and kernel.rate == 1.0):
        raise InvalidArgument(
            f"temporal={kernel!r}: a rate at the end of its range cannot be learned from; "
            "wv.Static() is a rate of 0, and a Markov rate of 1 forgets everything at once"
        )
    rated = (MarkovKernel if isinstance(kernel, ours.Markov) else WienerKernel)(active_dims=columns).to(dtype)
    rated.rate = torch.tensor(kernel.rate, dtype=dtype)
    return rated


def _constant(value: float, columns: Sequence[int], dtype: torch.dtype) -> Kernel:
    constant = ConstantKernel(active_dims=columns).to(dtype)
    constant.constant = torch.tensor([value], dtype=dtype)
    return constant


def _periodic(kernel: ours.TimePeriodic, columns: Sequence[int], dtype: torch.dtype) -> Kernel:
    """The part that stays, and one cosine for each harmonic; GPyTorch's has cos(pi d / period_length)."""
    parts = [_constant(kernel.weights[0], columns, dtype)] if kernel.weights[0] else []
    for harmonic, weight in enumerate(kernel.weights[1:], start=1):
        if weight:
            wave = CosineKernel(active_dims=columns).to(dtype)
            wave.period_length = torch.tensor([[kernel.period / (2.0 * harmonic)]], dtype=dtype)
            scaled = ScaleKernel(wave).to(dtype)
            scaled.outputscale = torch.tensor(weight, dtype=dtype)
            parts.append(scaled)
    return AdditiveKernel(*parts)


def _profile(kind: type, columns: Sequence[int], scales: int | None) -> Kernel:
    if kind in SMOOTHNESS:
        return MaternKernel(nu=SMOOTHNESS[kind], ard_num_dims=scales, active_dims=columns)
    return RBFKernel(ard_num_dims=scales, active_dims=columns)


def _no_twin(kernel: ours.Temporal) -> InvalidType:
    known = "Markov, Wiener, Static, TimeRBF, TimeMatern32, TimeMatern52 and TimePeriodic"
    return InvalidType(f"temporal={type(kernel).__name__}: only {known} have a GPyTorch twin")
