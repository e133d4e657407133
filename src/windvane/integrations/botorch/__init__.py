"""Event triggers around a BoTorch model, and Windvane's kernels for GPyTorch.

Shapes: `n` observations in `d` coordinates; `X` is n x d, `Y` is n x 1, `bounds` is 2 x d.
"""

import warnings

from windvane.extras import require
from windvane.integrations.botorch.version import check_version

# GPyTorch's linear algebra is compiled by a part of torch that is on its way out.
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", ".torch.jit.script. is deprecated", DeprecationWarning)
    check_version(require("botorch", "botorch").__version__)


from windvane.integrations.botorch.acquisition import ConfidenceBound, maximize
from windvane.integrations.botorch.convert import gpytorch_kernel, spatio_temporal, temporal_kernel
from windvane.integrations.botorch.given import given_model
from windvane.integrations.botorch.kernels import MarkovKernel, WienerKernel
from windvane.integrations.botorch.loop import EventTriggeredLoop

__all__ = [
    "ConfidenceBound",
    "EventTriggeredLoop",
    "MarkovKernel",
    "WienerKernel",
    "given_model",
    "gpytorch_kernel",
    "maximize",
    "spatio_temporal",
    "temporal_kernel",
]
