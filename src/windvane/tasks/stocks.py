"""Daily prices of shares (Appendix, comparison with Deng et al. 2022): which share stands highest today?"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from windvane.checks import one_of
from windvane.errors import InvalidArgument, InvalidType
from windvane.extras import require
from windvane.tasks.table import Tabular
from windvane.tasks.tablefile import TableFile, matrix, path_of, read_table

FILE = "stocks_adjclose_29x823.csv"
FIRST, LAST, LENGTH = "2016-01-04", "2019-04-10", 823  # trading days of the paper's horizon
PRIORS = ("covariance", "correlation")


@final
class Stocks(Tabular):
    """Shares are arms, and the objective is their price, one row a trading day.

    Deng et al. (2022) use 48 shares over T = 823 days and do not say which, so any data here are a stand-in;
    `source` says so. `data` is a CSV file of prices with a date column, or a folder that holds
    `stocks_adjclose_29x823.csv`; `skfolio=True` takes 20 shares over the same 823 days from the package
    skfolio (`pip install 'windvane[stocks]'`).

    As in their experiment every row is a test row, and the kernel comes from the same rows: this is
    hindsight, which all algorithms share.

    - `normalise=True`, the refactored prior: all prices are shifted and scaled to mean 0 and variance 1, with
      one scale for all shares. The kernel is the covariance of these values; noise variance 0.01. Most of the
      variance is between shares, so a share's own is well below 1 on average.
    - `normalise=False`, the original prior: raw prices with a model whose mean is 0 and whose signal variance
      is 1. A kernel of unit variance that is as empirical as can be is the correlation matrix of the prices;
      noise variance 300. The model is badly wrong on purpose: that is the paper's point.

    `prior="covariance"` or `"correlation"` chooses the kernel by hand; the covariance is that of the
    values as they are shown, normalised or raw.

    The seed is recorded and changes nothing.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "prices.csv")
    ...     _ = file.write_text("date,A,B\\n2016-01-04,10,9\\n2016-01-05,11,14\\n2016-01-06,12,15\\n")
    ...     task = Stocks(data=file)
    >>> task.source, task.horizon, task.arms[task.optimum(3).x]
    ('stand-in: 2 shares from a file', 3, 'B')
    """

    name = "stocks"

    def __init__(
        self,
        *,
        data: Any = None,
        skfolio: bool = False,
        normalise: bool = True,
        prior: str | None = None,
        noise_variance: float | None = None,
        seed: int = 0,
    ) -> None:
        for name, flag in (("skfolio", skfolio), ("normalise", normalise)):
            if not isinstance(flag, bool):
                raise InvalidType(f"{name}={flag!r}: must be True or False")
        default = "covariance" if normalise else "correlation"
        self.prior = default if prior is None else one_of("prior", prior, PRIORS)
        self.normalise = normalise
        if skfolio == (data is not None):
            raise InvalidArgument(
                f"data, skfolio: {'both' if skfolio else 'neither'} given; give data=, a CSV file of prices "
                f"with a date column or a folder with {FILE}, or skfolio=True for that package's"
            )
        table = from_skfolio() if skfolio else load(data)
        self.labels = table.labels
        origin = "from skfolio" if skfolio else "from a file"
        super().__init__(
            table.values,
            table.values,
            arms=table.arms,
            source=f"stand-in: {len(table.arms)} shares {origin}",
            noise_variance=(0.01 if normalise else 300.0) if noise_variance is None else noise_variance,
            seed=seed,
            normalise=normalise,
            correlation=self.prior == "correlation",
        )


def load(data: Any) -> TableFile:
    """Prices from a file, or from the file of that name in a folder."""
    path = path_of("data", data)
    if path.is_dir():
        if not (path / FILE).is_file():
            raise InvalidArgument(
                f"data={str(path)!r}: this folder has no {FILE}; give the file of prices itself"
            )
        path = path / FILE
    table = read_table(path, argument="data")
    where = f"data={str(path)!r}"
    if not table.labels:
        raise InvalidArgument(f"{where}: has no date column; its first column must be dates, called date")
    return _checked(table, where)


def from_skfolio() -> TableFile:
    """The prices that skfolio ships, on the 823 trading days from 2016-01-04 to 2019-04-10."""
    frame = require("skfolio.datasets", "stocks").load_sp500_dataset()
    dates = [str(date)[:10] for date in frame.index]
    rows = [i for i, date in enumerate(dates) if FIRST <= date <= LAST]
    if len(rows) != LENGTH:
        raise InvalidArgument(
            f"skfolio: its data have {len(rows)} trading days from {FIRST} to {LAST}; must be {LENGTH}"
        )
    values = matrix("skfolio", np.asarray(frame.to_numpy())[rows])
    table = TableFile(tuple(dates[i] for i in rows), tuple(map(str, frame.columns)), values)
    return _checked(table, "skfolio")


def _checked(table: TableFile, where: str) -> TableFile:
    """Enough rows and arms, and prices above 0."""
    days, shares = table.values.shape
    if days < 2 or shares < 2:
        raise InvalidArgument(f"{where}: has {days} days and {shares} shares; must have at least 2 of each")
    wrong = np.argwhere(table.values <= 0.0)
    if wrong.size:
        day, share = (int(i) for i in wrong[0])
        raise InvalidArgument(
            f"{where}: the price of {table.arms[share]} on {table.labels[day]} "
            f"is {table.values[day, share]:g}; must be above 0"
        )
    return table
