"""Within-model objectives whose observations are not as one was told: outliers, noise, units."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from windvane.checks import real
from windvane.tasks.affine import units
from windvane.tasks.base import Task
from windvane.tasks.within_model import within_model
from windvane.tasks.wrappers import Wrapper, noise, outliers

HEAVY = (7.0, -60.0)  # scale and offset of `heavy_tails`
SMALL = 1e-6  # the scale of `small_units`


@final
class Observed(Wrapper):
    """A task under another name, with what is known of it, and with a noise variance to be told.

    `rate`, `period` and `steps` (the first after each sudden change) are None or empty if it has none.
    """

    def __init__(
        self,
        name: str,
        task: Task,
        rate: float | None = None,
        told: float | None = None,
        *,
        period: float | None = None,
        steps: tuple[int, ...] = (),
    ) -> None:
        super().__init__(task)
        self._name, self.rate, self.period, self.steps = name, rate, period, steps
        self._told = task.noise_variance if told is None else told

    @property
    def name(self) -> str:
        return self._name

    @property
    def noise_variance(self) -> float:
        """What algorithms are told. The noise itself is that of the task within."""
        return self._told


def with_outliers(*, share: float = 0.02, size: float = 5.0, seed: int = 0, **options: Any) -> Observed:
    """The within-model task, where a share of the observations is off by `size` (see `wrappers.outliers`).

    The default is gross: the objective has a standard deviation of 1, and one observation in fifty is off
    by 2.5 to 7.5. The regret is that of the objective, so outliers hurt only whoever believes them.

    >>> task = with_outliers(rate=0.01, horizon=100, grid=20, seed=3)
    >>> task.name, task.rate, [t for t in range(1, 101) if task.disturbance(t)]
    ('outliers', 0.01, [91])
    """
    inner = within_model(seed=seed, **options)
    return Observed("outliers", outliers(inner, share, size, seed), inner.rate)


def misjudged_noise(*, factor: float = 0.25, **options: Any) -> Observed:
    """The within-model task, where the noise variance that is told is the true one times `factor`.

    `noise_variance` as an option is the true one; as an attribute of the task it is what is told.

    >>> task = misjudged_noise(factor=0.25, noise_variance=0.02, grid=20)
    >>> task.noise_variance, round(task.noise_from(1.0, t=1) ** 2, 3)
    (0.005, 0.02)
    """
    inner = within_model(**options)
    told = real("factor", factor, above=0.0) * inner.noise_variance
    return Observed("misjudged-noise", inner, inner.rate, told)


def heavy_tails(
    *,
    degrees: float = 3.0,
    rate: float = 0.0,
    horizon: int = 200,
    lengthscale: float = 0.3,
    noise_variance: float = 0.05,
    **options: Any,
) -> Observed:
    """The within-model task with Student's noise, in units of 7 around -60; still, unless a rate is given.

    `noise_variance` counts in units of the variance of the objective, so that with 3 degrees of freedom a
    normal draw of 4 standard deviations becomes 19 of them.

    >>> task = heavy_tails(horizon=50, grid=20, seed=1)
    >>> task.kernel, round(task.noise_variance, 2), task.optimum(1) == task.optimum(50)
    (None, 2.45, True)
    >>> [round(task.noise_from(draw, 1) / task.noise_variance**0.5, 1) for draw in (1.0, 2.0, 4.0)]
    [0.7, 1.9, 18.8]
    """
    inner = within_model(
        rate=rate, horizon=horizon, lengthscale=lengthscale, noise_variance=noise_variance, **options
    )
    scale, offset = HEAVY
    return Observed(
        "heavy-tails", units(noise(inner, inner.noise_variance, degrees), scale, offset), inner.rate
    )


def small_units(*, rate: float = 0.0, horizon: int = 200, seed: int = 0, **options: Any) -> Observed:
    """The within-model task in units of 1e-6 around an offset of 1 to 10, up or down, drawn from the seed.

    >>> task = small_units(horizon=50, grid=20, seed=1)
    >>> round(task.value([0.2, 0.3], 1), 3), 0.0 < task.optimum(1) - task.value([0.2, 0.3], 1) < 1e-5
    (-2.428, True)
    """
    inner = within_model(rate=rate, horizon=horizon, seed=seed, **options)
    size, sign = np.random.default_rng((inner.seed, 5)).random(2).tolist()
    offset = 10.0**size if sign < 0.5 else -(10.0**size)
    return Observed("small-units", units(inner, SMALL, offset), inner.rate)
