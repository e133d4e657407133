"""The records that flow through the loop: frozen, validated once, never changed.

Shapes: `n` observations in a unit cube of `d` encoded coordinates.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from windvane.density import normal_log_density

Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Observation(NamedTuple):
    """One measurement, in encoded coordinates. `step` is its running number and its identity."""

    x: Array
    y: float
    time: float
    step: int


@dataclass(frozen=True, eq=False)
class Dataset:
    """The observations in use, oldest first; concatenated with `+`, subset with `take`.

    >>> data = Dataset.empty(2) + Observation(np.array([0.1, 0.2]), 1.0, 1.0, 1)
    >>> len(data), data.dim
    (1, 2)
    """

    X: Array
    y: Array
    times: Array
    steps: IntArray

    @staticmethod
    def empty(dim: int) -> Dataset:
        return Dataset(np.empty((0, dim)), np.empty(0), np.empty(0), np.empty(0, dtype=np.int64))

    @property
    def dim(self) -> int:
        return int(self.X.shape[1])

    def __len__(self) -> int:
        return int(self.y.shape[0])

    def __iter__(self) -> Iterator[Observation]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, index: int) -> Observation:
        return Observation(
            self.X[index], float(self.y[index]), float(self.times[index]), int(self.steps[index])
        )

    def __add__(self, new: Observation) -> Dataset:
        n = len(self)
        X, y, times = np.empty((n + 1, self.X.shape[1])), np.empty(n + 1), np.empty(n + 1)
        steps = np.empty(n + 1, dtype=np.int64)
        X[:n], y[:n], times[:n], steps[:n] = self.X, self.y, self.times, self.steps
        X[n], y[n], times[n], steps[n] = new
        return Dataset(X, y, times, steps)

    def take(self, rows: slice | IntArray) -> Dataset:
        return Dataset(self.X[rows], self.y[rows], self.times[rows], self.steps[rows])


class Prediction(NamedTuple):
    """What the model said about an observation before seeing it: f ~ N(mean, std^2), y = f + noise."""

    mean: float
    std: float
    noise_variance: float

    def log_density(self, y: float) -> float:
        """ln N(y; mean, std^2 + noise variance).

        >>> round(Prediction(0.0, 0.6, 0.64).log_density(0.0), 6)
        -0.918939
        """
        return normal_log_density(y - self.mean, self.std * self.std + self.noise_variance)


class Verdict(NamedTuple):
    """A trigger's answer, Definition 2: `fired` if the statistic psi_t is above the threshold kappa_t.

    `suspect` instead of `fired`: above the threshold as well, but before anything is reset the observation
    is to be set aside and its point asked again. Never both. `since` is the step from which on observations
    are about the present, if the trigger knows.
    """

    fired: bool
    statistic: float
    threshold: float
    reason: str = ""
    suspect: bool = False
    since: int | None = None


class Change(NamedTuple):
    """A sudden change that is held possible: at which step, how probably, and to a level how far away."""

    step: int
    probability: float
    level: float = 0.0  # in the caller's units; 0 if only the shape is new


class Opinion(NamedTuple):
    """What a surrogate makes of an observation, before anything is decided.

    `outlier` is the probability that it is one, `changes` are the sudden changes held possible, oldest
    first, `beliefs` the weights of all hypotheses by name. `update` is for the surrogate itself: what it
    needs to take the observation in.
    """

    log_density: float  # of y, one step ahead, in the caller's units
    outlier: float = 0.0
    changes: tuple[Change, ...] = ()
    beliefs: Mapping[str, float] = MappingProxyType({})
    update: Any = None


@dataclass(frozen=True)
class Event:
    """The complete record of one `tell`; every log, plot and dashboard is a view of these.

    `mean` and `std` are the prediction for the objective at `x`, made before `y` was seen, in the
    caller's units. `statistic` is psi_t and `threshold` kappa_t of Definition 2. `elapsed` counts
    steps since the last reset (t_r, starting at 1). `kept` observations survived a reset; `size`
    are in use after this step. `log_density` is the log of the one-step predictive density of `y`.
    `set_aside`: this observation is a suspicion, and the model has not been told; the next one decides.
    `outlier` is the step of the observation set aside before, if this one showed that it was an outlier.
    `reason` says in words why there was a reset, a suspicion or an outlier, and is empty otherwise.
    `beliefs` are the weights of the hypotheses that the model chooses between, by name, if there are any.
    """

    step: int
    time: float
    x: Any
    y: float
    mean: float
    std: float
    noise_variance: float
    log_density: float
    statistic: float
    threshold: float
    monitored: bool
    elapsed: int
    reset: bool
    reason: str
    kept: int
    size: int
    set_aside: bool = False
    outlier: int | None = None
    beliefs: Mapping[str, float] = field(default_factory=dict, hash=False)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for a log: arrays become lists; an infinite threshold becomes None, for JSON."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        for name in ("statistic", "threshold"):
            if not math.isfinite(values[name]):
                values[name] = None
        if isinstance(self.x, np.ndarray):
            values["x"] = self.x.tolist()
        elif isinstance(self.x, dict):
            values["x"] = dict(self.x)
        values["beliefs"] = dict(self.beliefs)
        return values

    def _repr_html_(self) -> str:
        """For notebooks."""
        spread = math.sqrt(self.std**2 + self.noise_variance)
        tested = (
            f"{self.statistic:.4g} {'>' if self.statistic > self.threshold else '≤'} {self.threshold:.4g}"
        )
        rows = {
            "x": shown(self.x),
            "y": f"{self.y:.6g}, where {self.mean:.4g} ± {spread:.2g} was predicted",
            "test": tested if self.monitored else f"{tested}, not monitored yet",
            "in use": f"{self.size} observation{'' if self.size == 1 else 's'}{', kept' * self.reset}",
            "why": self.reason,
            "beliefs": ", ".join(
                f"{name} {weight:.2f}"
                for name, weight in sorted(self.beliefs.items(), key=lambda b: -b[1])[:3]
            ),
        }
        kinds = {"reset": self.reset, "set aside": self.set_aside, "outlier": self.outlier is not None}
        happened = ", ".join(kind for kind, so in kinds.items() if so)
        title = f"step {self.step}" + (f": {happened}" if happened else "")
        return card(title, {name: text for name, text in rows.items() if text}, marked=bool(happened))


@dataclass(frozen=True)
class Best:
    """The point believed best now, with the model's mean and standard deviation there."""

    x: Any
    mean: float
    std: float

    def _repr_html_(self) -> str:
        """For notebooks."""
        return card("best now", {"x": shown(self.x), "objective": f"{self.mean:.6g} ± {self.std:.2g}"})


def shown(x: Any) -> str:
    """A point in few characters.

    >>> shown(np.array([0.123456, 2.0])), shown({"gain": 0.5, "mode": "a"}), shown(7)
    ('[0.1235, 2]', 'gain=0.5, mode=a', 'arm 7')
    """
    if isinstance(x, Mapping):
        return ", ".join(f"{name}={_short(value)}" for name, value in x.items())
    if isinstance(x, np.ndarray | list | tuple):
        return "[" + ", ".join(_short(float(value)) for value in x) + "]"
    return f"arm {x}"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def card(title: str, rows: Mapping[str, str], *, marked: bool = False) -> str:
    """A record as HTML, for notebooks: all text escaped, all colours but the mark's inherited.

    >>> "a &lt; b" in card("step 1", {"why": "a < b"})
    True
    """
    cell = "padding:1px 10px 1px 0;text-align:left;vertical-align:top;background:none"
    lines = "".join(
        f'<tr style="background:none"><th style="{cell};opacity:0.7;font-weight:normal">{escape(name)}</th>'
        f'<td style="{cell}">{escape(text)}</td></tr>'
        for name, text in rows.items()
    )
    edge = "#D55E00" if marked else "rgba(128,128,128,0.5)"
    frame = f"border-left:4px solid {edge};padding:2px 0 2px 12px;margin:4px 0"
    bare = "font-size:inherit;border-collapse:collapse;margin:2px 0;color:inherit;background:none"
    return f'<div style="{frame}"><b>{escape(title)}</b><table style="{bare}">{lines}</table></div>'
