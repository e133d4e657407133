"""The hyperparameters of a single Gaussian process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from windvane.codec import component
from windvane.kernels import Kernel, Static, Temporal
from windvane.spaces.base import Domain
from windvane.surrogates.gp_surrogate import GPSurrogate
from windvane.surrogates.noise import Noise
from windvane.surrogates.scaling import Scaling


@component
@dataclass(frozen=True)
class Model:
    """The hyperparameters: k_S, k_T, the noise, and the scaling of y. Frozen; a fit makes a new one."""

    kernel: Kernel
    noise: Noise
    temporal: Temporal = field(default_factory=Static)
    scaling: Scaling = field(default_factory=Scaling)
    weighs_changes: ClassVar[bool] = False

    @property
    def noise_variance(self) -> float:
        """That of a new observation, in the model's units."""
        return self.noise.variance

    def surrogate(self, domain: Domain) -> GPSurrogate:
        """A Gaussian process with these hyperparameters that has seen nothing."""
        return GPSurrogate(domain, self)

    def restored(self, domain: Domain, state: dict[str, Any]) -> GPSurrogate:
        """The surrogate that wrote the state, whose model this is, bit for bit."""
        return GPSurrogate.restore(domain, self, state)
