"""The records that flow through the loop: frozen, validated once, never changed.

Shapes: `n` observations in a unit cube of `d` encoded coordinates.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from windvane.accuracy import Accuracies, Accuracy, joined
from windvane.checks import Array as Array
from windvane.checks import IntArray as IntArray
from windvane.checks import array, integers
from windvane.density import normal_log_density
from windvane.errors import InvalidArgument
from windvane.hypothesis_names import by_present_name
from windvane.moments import Sentence, sentence_from_json, sentence_to_json
from windvane.reading import told_as


class Observation(NamedTuple):
    """One measurement, in encoded coordinates. `step` is its running number and its identity."""

    x: Array
    y: float
    time: float
    step: int
    accuracy: Accuracy | None = None  # None: one value with the model's noise


@dataclass(frozen=True, eq=False)
class Dataset:
    """The observations in use, oldest first; one more with `+`, some of them with `take`.

    Its arrays are its own and read-only. What a caller hands over is checked; `+` trusts the observation,
    which `tell` has checked.

    >>> data = Dataset.empty(2) + Observation(np.array([0.1, 0.2]), 1.0, 1.0, 1)
    >>> len(data), data.dim
    (1, 2)
    >>> data.y[0] = 2.0
    Traceback (most recent call last):
    ValueError: assignment destination is read-only
    """

    X: Array  # n x d
    y: Array
    times: Array
    steps: IntArray  # rising
    accuracy: Accuracies | None = None  # None: each is one value with the model's noise

    def __post_init__(self) -> None:
        X = array("X", self.X, ("n", "d"), empty=True)
        y, times = array("y", self.y, (len(X),)), array("times", self.times, (len(X),))
        steps = integers("steps", self.steps, (len(X),))
        if (np.diff(steps) <= 0).any():
            raise InvalidArgument("steps: must rise from one observation to the next")
        accuracy = self.accuracy
        if accuracy is not None and any(np.shape(each) != (len(X),) for each in accuracy):
            raise InvalidArgument(f"accuracy: must have {len(X)} entries, one of each observation")
        self._hold(X, y, times, steps, accuracy)

    def _hold(
        self, X: Array, y: Array, times: Array, steps: IntArray, accuracy: Accuracies | None = None
    ) -> Dataset:
        """Take over arrays that fit and that nobody else has."""
        X.setflags(write=False)
        y.setflags(write=False)
        times.setflags(write=False)
        steps.setflags(write=False)
        self.__dict__.update(X=X, y=y, times=times, steps=steps, accuracy=accuracy)
        return self

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
            self.X[index],
            float(self.y[index]),
            float(self.times[index]),
            int(self.steps[index]),
            None if self.accuracy is None else self.accuracy.row(index),
        )

    def __add__(self, new: Observation) -> Dataset:
        n = len(self)
        X, y, times = np.empty((n + 1, self.X.shape[1])), np.empty(n + 1), np.empty(n + 1)
        steps = np.empty(n + 1, dtype=np.int64)
        X[:n], y[:n], times[:n], steps[:n] = self.X, self.y, self.times, self.steps
        X[n], y[n], times[n], steps[n], more = new
        accuracy = None
        if self.accuracy is not None or more is not None:
            accuracy = joined(self.accuracy, n, Accuracies.of([more]), 1)
        return _new(Dataset)._hold(X, y, times, steps, accuracy)

    def take(self, rows: slice | IntArray) -> Dataset:
        accuracy = None if self.accuracy is None else self.accuracy.take(rows)
        return _new(Dataset)._hold(self.X[rows], self.y[rows], self.times[rows], self.steps[rows], accuracy)

    def joined(self, later: Dataset) -> Dataset:
        """These, and then others that are later."""
        return Dataset(
            np.concatenate((self.X, later.X)),
            np.concatenate((self.y, later.y)),
            np.concatenate((self.times, later.times)),
            np.concatenate((self.steps, later.steps)),
            joined(self.accuracy, len(self), later.accuracy, len(later)),
        )

    def raised(self, rows: slice, by: float) -> Dataset:
        """With other values in some rows: `by` above what they are.

        >>> data = Dataset(np.zeros((2, 1)), np.array([1.0, 2.0]), np.arange(2.0), np.arange(2))
        >>> data.raised(slice(0, 1), 5.0).y
        array([6., 2.])
        """
        y = self.y.copy()
        y[rows] += by
        return _new(Dataset)._hold(self.X, y, self.times, self.steps, self.accuracy)

    def noises(self, own: float, scale: float = 1.0, prior: Array | float = 0.0) -> Array:
        """The noise variance of each observation, in the units of a model whose y is `scale` times smaller.

        `own` is the model's: what one value has of which nothing else is known, and the mean of m repeats an
        m-th of. `prior` is the prior variance of f: what is known to be nothing beside that is taken as
        `EXACT` of it, so that the model can be computed with.

        >>> data = Dataset.empty(1)
        >>> for step, accuracy in enumerate([None, Accuracy(8.0), Accuracy(repeats=4)]):
        ...     data += Observation(np.zeros(1), 0.0, 1.0, step, accuracy)
        >>> data.noises(0.1, scale=2.0)
        array([0.1  , 2.   , 0.025])
        """
        if self.accuracy is None:
            return np.full(len(self), own)
        return self.accuracy.noises(own, scale, prior)

    def __reduce__(self) -> tuple[Any, ...]:  # NumPy's copies could be written to
        return Dataset, (self.X, self.y, self.times, self.steps, self.accuracy)


_new = object.__new__  # past the checks: for what is made of arrays that passed them


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
    are about the present, if the trigger knows; `change` is what it believes to have happened then.
    A reason that names steps of the loop has them in `sentence`, which is the same in parts.
    """

    fired: bool
    statistic: float
    threshold: float
    reason: str = ""
    suspect: bool = False
    since: int | None = None
    change: Change | None = None
    sentence: Sentence = ()

    def after(self, words: str) -> Verdict:
        """The same with something said before the reason."""
        return self._replace(reason=words + self.reason, sentence=self.sentence and (words, *self.sentence))


class Change(NamedTuple):
    """A sudden change that is held possible: at which step, how probably, and to a level how far away.

    `kind` is "new" if everything is; "level" if the shape is the old one and only the level has moved: then
    observations from before still count, once they are raised by `level`, which is known up to a standard
    deviation of `spread`; and "return" if what is there now was there before, last from the first to the last
    step of `regime`, of which `past` are observations, possibly at another level.
    """

    step: int
    probability: float
    level: float = 0.0  # in the caller's units; 0 if only the shape is new
    kind: str = "new"
    spread: float = 0.0
    regime: tuple[int, int] | None = None
    past: Dataset | None = None
    time: float | None = None  # of that step, as it was told, where that is known


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


_NAN = object()  # stands for any NaN, which is not equal to itself


class ComparedByValue:
    """Equal if of one class and all fields are equal: arrays entry by entry, and NaN to NaN."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return _fields(self) == _fields(other)

    def __hash__(self) -> int:
        return hash(_fields(self))


def _fields(record: Any) -> tuple[Any, ...]:
    return tuple(_key(getattr(record, each.name)) for each in dataclasses.fields(record))


def _key(value: Any) -> Any:
    """Something hashable that is equal for equal values."""
    if isinstance(value, Mapping):
        return frozenset((name, _key(each)) for name, each in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_key, value))
    if hasattr(value, "tolist"):  # arrays, their scalars, tensors
        return _key(value.tolist())
    return _NAN if value != value else value


def _plain(value: Any) -> Any:
    """Plain JSON for anything; what JSON cannot say of a number is None."""
    if type(value) is float:
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return _plain(value.tolist()) if hasattr(value, "tolist") else str(value)


@dataclass(frozen=True, eq=False)
class Outcome(ComparedByValue):
    """What was told of a constraint at one step, and what its own loop made of it; fields as in `Event`.

    `mean` and `std` are what was expected of it at the point, `probability` how probably the limit would hold
    there, before the value was seen. `violated`: the value is beyond the limit.
    """

    value: float
    mean: float
    std: float
    probability: float
    violated: bool
    statistic: float
    threshold: float
    monitored: bool
    reset: bool
    reason: str
    kept: int
    size: int
    cause: str = ""
    change: Change | None = None
    beliefs: Mapping[str, float] = field(default_factory=dict)
    sentence: Sentence = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON, as of an `Event`."""
        return _record(self)

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Outcome:
        """What `as_dict` wrote."""
        return Outcome(**_known(Outcome, values))


@dataclass(frozen=True, eq=False)
class Event(ComparedByValue):
    """The complete record of one `tell`; every log, plot and dashboard is a view of these.

    `mean` and `std` are the prediction for the objective at `x`, made before `y` was seen, in the
    caller's units. `statistic` is psi_t and `threshold` kappa_t of Definition 2. `elapsed` counts
    steps since the last reset (t_r, starting at 1). `kept` observations survived a reset; `size`
    are in use after this step. `log_density` is the log of the one-step predictive density of `y`, of the
    same belief as `mean` and `std`: also where the model is fitted again because of `y`.
    `set_aside`: this observation is a suspicion, and the model has not been told; the next one decides.
    `outlier` is the step of the observation that was found to be an outlier: this one, or the one set aside.
    `reason` says in words why there was a reset, a suspicion or an outlier, and is empty otherwise. If it
    names steps, `sentence` is the same in parts: words, and steps with their times.
    `beliefs` are the weights of the hypotheses that the model chooses between, by name, if there are any;
    `windvane.describe_hypothesis` says what a name means.
    `change` is what is believed to have happened, if that is why there was a reset. `cause` of a reset is
    "triggered", "forced" by the upper end of the reset window, or "asked": then somebody called `reset`, `x`
    is None, and what is about an observation is NaN. It is empty if there was no reset.
    `noise_variance` is that of `y`: the model's, or what was told. `told_variance` is the noise variance that
    was told of one value, if it was. With repeats, `values` are these, and `y` is their mean.
    `outcomes` are the constraints that were told, by name. `retreat` is the setting that is asked for next
    because nothing is believed to be safe any more: the last one measured to be safe, or a start.
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
    beliefs: Mapping[str, float] = field(default_factory=dict)
    change: Change | None = None
    cause: str = ""
    told_variance: float | None = None
    values: tuple[float, ...] = ()
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    retreat: Any = None
    sentence: Sentence = ()

    @property
    def violated(self) -> tuple[str, ...]:
        """The constraints whose value is beyond its limit."""
        return tuple(name for name, outcome in self.outcomes.items() if outcome.violated)

    @property
    def repeats(self) -> int:
        """How many values were told: 1, unless they were given as a list."""
        return len(self.values) or 1

    @property
    def told(self) -> dict[str, Any]:
        """What `tell` was given beside the point and the time: to tell the same again.

        >>> import windvane as wv
        >>> opt = wv.make(wv.Box([(0, 1)]), seed=0)
        >>> opt.tell([0.5], [1.0, 3.0], std=2.0).told
        {'y': [1.0, 3.0], 'noise_variance': 4.0}
        """
        outcomes = {name: outcome.value for name, outcome in self.outcomes.items()}
        return told_as(self.y, self.values, self.told_variance) | outcomes

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON: arrays become lists, and a number that is not finite becomes None."""
        found = _record(self)
        found["outcomes"] = {name: outcome.as_dict() for name, outcome in self.outcomes.items()}
        return {**found, "violated": list(self.violated)}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Event:
        """The event that `as_dict` wrote; fields of a newer version are left out.

        A statistic or threshold of None was infinite. Of other numbers it is not known what they were: NaN.
        Hypotheses that were called otherwise when it was written have their present names.
        """
        found = _known(Event, values)
        found["values"] = tuple(found.get("values", ()))
        outcomes = found.get("outcomes", {})
        found["outcomes"] = {name: Outcome.from_dict(each) for name, each in outcomes.items()}
        return Event(**found)

    def _repr_html_(self) -> str:
        from windvane import notebook

        return notebook.event(self)


def _record(record: Event | Outcome) -> dict[str, Any]:
    """The fields of a record as plain JSON; of a change without the data of the regime."""
    found = {
        name: _plain(getattr(record, name)) for name in record.__dataclass_fields__ if name != "outcomes"
    }
    if isinstance(record.change, Change):
        found["change"] = _plain({k: v for k, v in record.change._asdict().items() if k != "past"})
    if isinstance(record.sentence, tuple):
        found["sentence"] = _plain(sentence_to_json(record.sentence))
    return found


def _known(record: type[Event] | type[Outcome], values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are known, with the numbers that JSON has no word for."""
    known = {each.name: each.type for each in dataclasses.fields(record)}
    found = {name: value for name, value in values.items() if name in known}
    for name, value in found.items():
        if value is None and known[name] == "float":
            found[name] = math.inf if name in ("statistic", "threshold") else math.nan
    if found.get("beliefs"):
        found["beliefs"] = by_present_name(found["beliefs"])
    found["sentence"] = sentence_from_json(found.get("sentence", ()))
    if found.get("change") is not None:
        told = found["change"]
        change = Change(**{name: told[name] for name in Change._fields if name in told})
        first, last = change.regime or (0, 0)
        found["change"] = change._replace(regime=(first, last)) if change.regime else change
    return found


@dataclass(frozen=True, eq=False)
class Failure(ComparedByValue):
    """The record of one `fail`: no value came.

    `step` is the running number that the observation would have had, `probability` what the chance of a
    failure at `x` was believed to be before this one.
    """

    step: int
    time: float
    x: Any
    reason: str
    probability: float
    failed: bool = True  # tells it from an `Event` where both are plain JSON

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}


@dataclass(frozen=True, eq=False, repr=False)
class Best(ComparedByValue):
    """The point believed best now, with the model's mean and standard deviation there.

    `steps` is how many moves it is away from the last point, if moves are limited by `max_step`, else None.
    `feasible` is how probably all constraints hold there, if there are any.
    """

    x: Any
    mean: float
    std: float
    steps: int | None = None
    feasible: float | None = None

    def __repr__(self) -> str:
        away = "" if self.steps is None else f", steps={self.steps!r}"
        away += "" if self.feasible is None else f", feasible={self.feasible!r}"
        return f"Best(x={self.x!r}, mean={self.mean!r}, std={self.std!r}{away})"

    def _repr_html_(self) -> str:
        from windvane import notebook

        return notebook.best(self)
