"""Temperatures of the Intel Berkeley lab (Section 6.2.2): which sensor is the warmest now?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, final

import numpy as np

from windvane.checks import Array, integer
from windvane.errors import InvalidArgument, InvalidType
from windvane.kernels.base import IndexArray
from windvane.tasks.intel import BINS, BINS_A_DAY, DAYS, PAGE, read_raw, timestamps
from windvane.tasks.table import Tabular
from windvane.tasks.tablefile import TableFile, path_of, read_table

RAW = ("data.txt", "data.txt.gz")
TABLES = ("intel_temperature_10min.csv", "intel_temperature_10min.csv.gz")
SENSORS = 46
SYNTHETIC = "synthetic stand-in"


@final
class Temperature(Tabular):
    """Sensors are arms, and the objective is their temperature on the test days, one row every ten minutes.

    `days` are the test days, "7-8" or "5-6" in the paper; all days before them are the training set, which
    gives the mean, the standard deviation and the kernel (see `Table`). Two days have 288 rows; the paper's
    table of hyperparameters says T = 286, without a reason: `simulate(..., steps=286)` gives that.

    `data` is a file, or a folder that holds one: the raw `data.txt` or `data.txt.gz` (see `intel`, whose
    rules and checksum apply; `verify=False` for another file of that format), else the ready table
    `intel_temperature_10min.csv` or `.csv.gz` of 1152 rows. Which 46 of the 54 sensors and which eight days
    the paper used is not in its text, so figures can differ from the paper's.

    `synthetic=True` draws a stand-in from the seed instead (see `synthetic_lab`); with real data the seed
    changes nothing. `source` is "raw", "table" or "synthetic stand-in": say it where a figure is shown.

    >>> task = Temperature(synthetic=True, seed=0)
    >>> task.source, task.space, task.horizon
    ('synthetic stand-in', Arms(n=46), 288)
    >>> best = task.optimum(100)
    >>> all(best >= task.value(arm, 100) for arm in range(46))
    True
    """

    name = "temperature"

    def __init__(
        self,
        *,
        days: str = "7-8",
        data: Any = None,
        synthetic: bool = False,
        verify: bool = True,
        seed: int = 0,
        noise_variance: float = 0.01,
    ) -> None:
        first, last = parse_days(days)
        self.days = f"{first}-{last}"
        for name, flag in (("synthetic", synthetic), ("verify", verify)):
            if not isinstance(flag, bool):
                raise InvalidType(f"{name}={flag!r}: must be True or False")
        if synthetic and data is not None:
            raise InvalidArgument("data, synthetic: both given; the stand-in reads no data, so leave one out")
        if synthetic:
            table, source = synthetic_lab(seed), SYNTHETIC
        elif data is None:
            raise InvalidArgument(
                f"data: must be the folder or the file of the Intel lab data; get data.txt.gz from {PAGE}. "
                "Without it, synthetic=True uses a documented stand-in, not the paper's data"
            )
        else:
            table, source = load(data, verify)
        start, stop = (first - 1) * BINS_A_DAY, last * BINS_A_DAY
        self.labels = table.labels[start:stop]
        super().__init__(
            table.values[:start],
            table.values[start:stop],
            arms=table.arms,
            source=source,
            noise_variance=noise_variance,
            seed=seed,
        )


def parse_days(days: Any) -> tuple[int, int]:
    """First and last test day, counted from 1.

    >>> parse_days("7-8")
    (7, 8)
    >>> parse_days("1-2")
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: days='1-2': must be "a-b" with 2 <= a <= b <= 8, such as "7-8"; ...
    """
    if not isinstance(days, str):
        raise InvalidType(f'days={days!r}: must be text such as "7-8"')
    match = re.fullmatch(r"\s*(\d)\s*-\s*(\d)\s*", days, re.ASCII)
    if match is None or not 2 <= int(match[1]) <= int(match[2]) <= DAYS:
        raise InvalidArgument(
            f'days={days!r}: must be "a-b" with 2 <= a <= b <= {DAYS}, such as "7-8"; '
            "the days before a are the training set"
        )
    return int(match[1]), int(match[2])


def load(data: Any, verify: bool = True) -> tuple[TableFile, str]:
    """The eight-day table in a file or a folder, and whether it is "raw" or a "table"."""
    path = find(path_of("data", data))
    if path.name.lower().removesuffix(".gz").endswith(".txt"):
        return read_raw(path, verify=verify), "raw"
    table = read_table(path, argument="data")
    where = f"data={str(path)!r}"
    if len(table.values) != BINS:
        raise InvalidArgument(
            f"{where}: has {len(table.values)} rows; must have {BINS}, {DAYS} days of {BINS_A_DAY} "
            'ten-minute means. For any other table there is the task "table"'
        )
    if len(table.arms) < 2:
        raise InvalidArgument(f"{where}: has one sensor; must have at least 2")
    return table, "table"


def find(path: Path) -> Path:
    """The file itself, or the first in a folder that is the raw file or a ready table."""
    if not path.is_dir():
        return path
    for name in (*RAW, *TABLES):
        if (path / name).is_file():
            return path / name
    raise InvalidArgument(
        f"data={str(path)!r}: this folder has none of {', '.join((*RAW, *TABLES))}; "
        f"get data.txt.gz from {PAGE}, or use synthetic=True for a stand-in"
    )


def synthetic_lab(seed: int = 0) -> TableFile:
    """A stand-in for the lab: 46 sensors in a room of 40 m x 30 m, eight days in steps of ten minutes.

    The temperature of sensor i, in degrees Celsius, is the sum of

    - 21 + o_i, with an offset o_i of 0.3 degrees;
    - a day d's own level, 0.6 degrees;
    - the sun: a_i c_d sin(pi u)^2, where u runs from 0 to 1 in the 8.5 hours after a time between 7:00 in the
      east and 10:00 in the west; a_i is 2 degrees deep inside and up to 9 near the windows in the south, and
      c_d, between 0.6 and 1, is how clear day d is;
    - the air conditioning: a step of h_i, 2 to 5 degrees, up at 7:00 and down at 18:00, each within about
      half an hour: at night the lab is left to cool;
    - noise that is smooth in space (squared exponential, 8 m) and in time (a first-order process with a
      correlation time of two hours), 0.35 degrees, and 0.05 degrees of independent noise.

    The same seed gives the same table. The shape of a day, the steps and the spread are like those of the
    real lab; the figures are not, so a result on it must be labelled as a stand-in's.

    >>> lab = synthetic_lab(0)
    >>> lab.values.shape, lab.arms[0]
    ((1152, 46), 'sensor_1')
    """
    rng = np.random.default_rng((integer("seed", seed, at_least=0), 3))
    x, y = rng.uniform(0.0, 40.0, SENSORS), rng.uniform(0.0, 30.0, SENSORS)
    hour = np.arange(BINS) % BINS_A_DAY / 6.0
    day = np.repeat(np.arange(DAYS, dtype=np.intp), BINS_A_DAY)
    offset = rng.normal(0.0, 0.3, SENSORS)
    level = rng.normal(0.0, 0.6, DAYS)[day]
    return TableFile(
        timestamps(),
        tuple(f"sensor_{i + 1}" for i in range(SENSORS)),
        21.0
        + offset
        + level[:, None]
        + _sun(hour, day, x, y, rng)
        + np.outer(_switched(hour), rng.uniform(2.0, 5.0, SENSORS))
        + _smooth_noise(x, y, rng)
        + rng.normal(0.0, 0.05, (BINS, SENSORS)),
    )


def _sun(hour: Array, day: IndexArray, x: Array, y: Array, rng: np.random.Generator) -> Array:
    """Its warmth, rows x sensors: strong in the south (small y), early in the east (large x)."""
    amplitude = 2.0 + 7.0 * np.exp(-y / 6.0) * rng.uniform(0.5, 1.0, SENSORS)
    rise = 7.0 + 3.0 * (1.0 - x / 40.0)
    share = np.clip((hour[:, None] - rise) / 8.5, 0.0, 1.0)
    clear = rng.uniform(0.6, 1.0, DAYS)[day]
    return np.asarray(clear[:, None] * amplitude * np.sin(np.pi * share) ** 2)


def _switched(hour: Array) -> Array:
    """0 at night and 1 from 7:00 to 18:00, with steps of about half an hour."""
    return np.asarray(
        1.0 / (1.0 + np.exp(-(hour - 7.1) / 0.08)) - 1.0 / (1.0 + np.exp(-(hour - 18.1) / 0.08))
    )


def _smooth_noise(x: Array, y: Array, rng: np.random.Generator) -> Array:
    """Correlated between neighbours and from step to step, rows x sensors."""
    distance2 = (x[:, None] - x) ** 2 + (y[:, None] - y) ** 2
    root = np.linalg.cholesky(np.exp(-distance2 / (2.0 * 8.0**2)) + 1e-6 * np.eye(SENSORS))
    noise = rng.standard_normal((BINS, SENSORS)) @ root.T
    stay = np.exp(-1.0 / 12.0)
    for t in range(1, BINS):
        noise[t] = stay * noise[t - 1] + np.sqrt(1.0 - stay**2) * noise[t]
    return np.asarray(0.35 * noise)
