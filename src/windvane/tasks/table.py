"""Tasks made from tables: f_t is row t, and the arms are the columns.

The kernel is the empirical covariance of past rows, as Bogunovic et al. (2016) and Section 6.2.2 do for
temperatures. A value is z = (y - m) / s with *one* mean m and *one* standard deviation s over all training
entries: a scale for each arm would change which arm is best.
"""

from __future__ import annotations

from abc import ABC
from typing import Any, final

import numpy as np

from windvane.checks import Array, integer, real
from windvane.errors import InvalidArgument
from windvane.kernels import Empirical
from windvane.spaces import Arms
from windvane.tasks.base import Optimum, index_of
from windvane.tasks.tablefile import matrix, read_table

TINY = 1e-150  # the square of a standard deviation below this one is no longer a normal double


class Tabular(ABC):
    """A task whose objective is a table. `train` gives the scale and the kernel, `test` the objective.

    `mean` and `scale` lead back to the table's own units: y = mean + scale * value. `shrinkage` is what
    was applied to the covariance, see `covariance`. `source` says where the numbers come from.
    """

    name: str

    def __init__(
        self,
        train: Array,
        test: Array,
        *,
        arms: tuple[str, ...],
        source: str,
        noise_variance: Any,
        seed: Any,
        normalise: bool = True,
        correlation: bool = False,
        shrinkage: Any = None,
    ) -> None:
        self.noise_variance = real("noise_variance", noise_variance, above=0.0)
        self.seed = integer("seed", seed, at_least=0)
        self.arms = arms
        self.source = source
        self.space = Arms(len(arms))
        self.horizon = len(test)
        mean, scale = moments(train)
        self.mean, self.scale = (mean, scale) if normalise else (0.0, 1.0)
        past = (train - mean) / scale
        if shrinkage is None:
            self.shrinkage = shrinkage_of(past)
        else:
            self.shrinkage = real("shrinkage", shrinkage, at_least=0.0, at_most=1.0)
        still = np.flatnonzero(train.min(axis=0) == train.max(axis=0))
        if still.size and (correlation or not self.shrinkage):
            raise InvalidArgument(
                f"arm {arms[still[0]]!r} (number {still[0]}, counted from 0) does not change in the training "
                "rows: with no variance it would never be explored. Leave it out, or give shrinkage= above 0"
            )
        self.kernel = Empirical(covariance(past if normalise else train, self.shrinkage, correlation))
        with np.errstate(over="ignore"):
            self._rows = (test - self.mean) / self.scale
        if not np.isfinite(self._rows).all():
            raise InvalidArgument("test rows: too far from the training rows for double precision")
        self._rows.flags.writeable = False

    @property
    def values(self) -> Array:
        """f_1 .. f_T, T x arms; read-only."""
        return self._rows

    def value(self, x: Any, t: int) -> float:
        """f_t(x)."""
        return float(self._rows[index_of(t, self.horizon), int(self.space.encode(x)[0])])

    def optimum(self, t: int) -> Optimum:
        """The largest entry of row t; the first arm that attains it."""
        row = self._rows[index_of(t, self.horizon)]
        best = int(row.argmax())
        return Optimum(float(row[best]), best)


@final
class Table(Tabular):
    """Any table of past and future rows as a task: `values`, or a `file` (see `read_table`).

    The first `train_rows` rows are the past, the next `test_rows` (all that remain, if not given) the
    objective at t = 1 .. T. The seed is recorded and changes nothing: the table is what it is.

    The kernel is the sample covariance (n - 1 in the denominator) of the normalised training rows, with
    nothing added: it is positive semi-definite, which is all that is needed since every observation has
    noise. Only where there are no more rows than arms, so that it is singular and falsely certain, it is
    shrunk towards a multiple of the identity by the rule of Chen et al. (2010); `shrinkage` from 0 to 1
    sets the share by hand.

    >>> task = Table(values=[[1, 5], [3, 4], [2, 6], [1, 3], [9, 7]], train_rows=3)
    >>> task.space, task.horizon, task.optimum(1).x, task.optimum(2).x
    (Arms(n=2), 2, 1, 0)
    >>> task.mean + task.scale * task.value(0, 2)
    9.0
    """

    name = "table"

    def __init__(
        self,
        *,
        values: Any = None,
        file: Any = None,
        train_rows: int | None = None,
        test_rows: int | None = None,
        noise_variance: float = 0.01,
        shrinkage: float | None = None,
        seed: int = 0,
    ) -> None:
        if (values is None) == (file is None):
            have = "neither" if values is None else "both"
            raise InvalidArgument(f"values, file: {have} given; a table needs exactly one of them")
        if file is not None:
            table = read_table(file)
            rows, arms, owner = table.values, table.arms, f"file={str(file)!r}"
        else:
            rows = matrix("values", values)
            arms, owner = tuple(map(str, range(rows.shape[1]))), "values"
        if len(arms) < 2:
            raise InvalidArgument(
                f"{owner}: has one arm; must have at least 2, or there is nothing to choose"
            )
        train, test = split(rows, train_rows, test_rows, owner)
        source = "array" if file is None else "table"
        super().__init__(
            train,
            test,
            arms=arms,
            source=source,
            noise_variance=noise_variance,
            seed=seed,
            shrinkage=shrinkage,
        )


def split(rows: Array, train_rows: Any, test_rows: Any, owner: str) -> tuple[Array, Array]:
    """The past and the future of a table."""
    if len(rows) < 3:
        raise InvalidArgument(
            f"{owner}: has {len(rows)} rows; must have at least 3, two to train and one to test"
        )
    if train_rows is None:
        raise InvalidArgument(
            "train_rows: must be given, the number of rows that are known beforehand; "
            f"an integer at least 2 and at most {len(rows) - 1}"
        )
    n = integer("train_rows", train_rows, at_least=2)
    if n >= len(rows):
        raise InvalidArgument(
            f"train_rows={n}: leaves no test rows; {owner} has {len(rows)} rows, so at most {len(rows) - 1}"
        )
    left = len(rows) - n
    count = left if test_rows is None else integer("test_rows", test_rows, at_least=1, at_most=left)
    return rows[:n], rows[n : n + count]


def moments(train: Array) -> tuple[float, float]:
    """One mean and one standard deviation over all training entries."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean, scale = float(train.mean()), float(train.std())
    if not np.isfinite(scale):
        raise InvalidArgument("training rows: too large for double precision; must have a finite variance")
    if train.min() == train.max():
        raise InvalidArgument(
            f"training rows: all entries are {train[0, 0]:g}; they must vary to give a scale and a kernel"
        )
    if scale < TINY:
        raise InvalidArgument(f"training rows: vary by {scale:g}; must vary by more than {TINY:g}")
    return mean, scale


def shrinkage_of(train: Array) -> float:
    """The share of the identity: 0 with more rows than arms, else the rule of Chen et al. (2010).

    With n rows a sample covariance has a rank of at most n - 1: fewer rows than arms make it singular, so
    that a few observations would seem to settle all arms. "Shrinkage algorithms for MMSE covariance
    estimation" gives the oracle-approximating share in closed form (Eq. 23, without its terms in 2 / p).

    >>> shrinkage_of(np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]]))
    0.0
    >>> round(shrinkage_of(np.array([[0.0, 1.0, 1.0, 2.0], [1.0, 0.0, 3.0, 2.0]])), 3)
    0.889
    """
    n, p = train.shape
    if n > p:
        return 0.0
    sample = np.cov(train, rowvar=False)
    square, level = float((sample**2).mean()), float(np.trace(sample)) / p
    spread = (n + 1) * (square - level**2 / p)
    return 1.0 if spread <= 0.0 else min(1.0, (square + level**2) / spread)


def covariance(rows: Array, shrinkage: float, correlation: bool) -> Array:
    """(1 - a) S + a tr(S) / p I, where S is the sample covariance, or the correlation matrix if asked for."""
    sample = np.cov(rows, rowvar=False)
    if correlation:
        deviation = np.sqrt(np.diag(sample))
        sample = sample / np.outer(deviation, deviation)
    level = float(np.trace(sample)) / len(sample)
    if level <= 0.0:
        raise InvalidArgument("training rows: no arm changes; they must vary in time to give a kernel")
    return np.asarray((1.0 - shrinkage) * sample + shrinkage * level * np.eye(len(sample)))
