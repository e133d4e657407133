"""A Gaussian process at one moment: all that an acquisition is handed."""

from __future__ import annotations

from windvane.checks import Array
from windvane.surrogates.gp import GP
from windvane.surrogates.surface import Local, Surface


class Posterior:
    """A GP at one moment: what an acquisition is handed."""

    def __init__(self, gp: GP, now: float) -> None:
        self._gp, self._now = gp, now
        self.size = len(gp)
        self.candidates = gp.candidates
        self.grid = gp.grid
        self.observed = gp.X

    def on_candidates(self) -> tuple[Array, Array]:
        """Mean and variance on the candidates."""
        return self._gp.on_candidates(self._now)

    def on_observed(self) -> tuple[Array, Array]:
        """Mean and variance at the data's points, to rank them."""
        return self._gp.on_data(self._now)

    def at(self, points: Array) -> tuple[Array, Array]:
        """Mean and variance at m points."""
        return self._gp.at(points, self._now)

    def surface(self, points: Array) -> Surface:
        """Mean and variance at m points with derivatives."""
        return self._gp.surface(points, self._now)

    def local(self, x: Array) -> Local:
        """The same at one point, in plain numbers."""
        return self._gp.local(x, self._now)
