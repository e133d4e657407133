"""Within-model objectives whose observations are not as one was told: outliers, a misjudged noise."""

from __future__ import annotations

from typing import Any, final

from windvane.checks import real
from windvane.tasks.base import Task
from windvane.tasks.within_model import within_model
from windvane.tasks.wrappers import Wrapper, outliers


@final
class Observed(Wrapper):
    """A within-model task under another name, still with its rate, and with a noise variance to be told."""

    def __init__(self, name: str, task: Task, rate: float, told: float | None = None) -> None:
        super().__init__(task)
        self._name, self.rate = name, rate
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
