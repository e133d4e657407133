"""The hyperparameters of a single Gaussian process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from windvane.accuracy import Accuracy
from windvane.checks import Array
from windvane.codec import component
from windvane.data import Dataset
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

    def noise_of(self, x: Array, accuracy: Accuracy | None) -> float:
        """That of an observation at x, in the model's units, given what is known of it."""
        if accuracy is None:
            return self.noise.variance
        prior = float(self.kernel.diagonal(x[None, :])[0])
        return accuracy.noise(self.noise.variance, self.scaling.scale, prior)

    def noises(self, data: Dataset) -> Array:
        """Those of all observations, when they were made."""
        return data.noises(self.noise.variance, self.scaling.scale, self.kernel.diagonal(data.X))

    def surrogate(self, domain: Domain) -> GPSurrogate:
        """A Gaussian process with these hyperparameters that has seen nothing."""
        return GPSurrogate(domain, self)

    def restored(self, domain: Domain, state: dict[str, Any]) -> GPSurrogate:
        """The surrogate that wrote the state, whose model this is, bit for bit."""
        return GPSurrogate.restore(domain, self, state)
