"""Windvane as a generator of the gest-api standard."""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any

from gest_api.generator import Generator
from gest_api.vocs import VOCS

from windvane.algorithms import fresh_seed, make
from windvane.checks import integer
from windvane.data import Best, Event
from windvane.errors import CorruptState, InvalidArgument, InvalidType
from windvane.integrations.gest.problem import ID, problem
from windvane.integrations.gest.results import Result, read_all
from windvane.integrations.gest.suggested import Outstanding, Suggested
from windvane.optimizer import Optimizer, restore

STATE_VERSION = 1
DECIDED = ("goal", "space", "name")  # by the VOCS, or by `algorithm`
REMEMBERED = 1000  # events and failures
logger = logging.getLogger("windvane.gest")


@dataclass(frozen=True)
class Known:
    """All that changes in a generator; replaced as one, so that a result is learned from or not."""

    optimizer: Optimizer
    suggested: Suggested = field(default_factory=Suggested)
    events: tuple[Event, ...] = ()
    failures: tuple[Result, ...] = ()


class WindvaneGenerator(Generator):  # type: ignore[misc]  # gest_api has no types
    """A generator for objectives that change while they are optimised.

    `algorithm` is any name of `wv.algorithms()`, and further keywords are its options, as for `wv.make`; the
    default, `auto`, needs to be told nothing. The goal and the space come from `vocs`. Every suggestion has
    an ID (`"_id"`), by which its result is recognised; a result without one is a point that somebody else
    chose, and is learned from like any other. Results without a value are kept in `failures`.

    >>> from gest_api.vocs import VOCS
    >>> vocs = VOCS(variables={"x": [0.0, 10.0]}, objectives={"f": "MINIMIZE"}, constants={"offset": 3.0})
    >>> generator = WindvaneGenerator(vocs, seed=0)
    >>> for _ in range(20):
    ...     for point in generator.suggest(1):
    ...         generator.ingest([point | {"f": (point["x"] - point["offset"]) ** 2}])
    >>> abs(generator.best().x["x"] - 3) < 0.2
    True
    >>> WindvaneGenerator(VOCS(variables={"x": [0, 1]}, objectives={}))
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: vocs: no objective; Windvane optimises one
    """

    name = "windvane"  # by which Xopt calls it in a file
    returns_id = True

    def __init__(
        self, vocs: VOCS, algorithm: str = "auto", *, seed: int | None = None, **options: Any
    ) -> None:
        super().__init__(vocs)
        for name in DECIDED:
            if name in options:
                raise InvalidArgument(f"{name}={options[name]!r}: not an option; the VOCS decides")
        self.vocs = vocs
        seed = fresh_seed() if seed is None else integer("seed", seed, at_least=0)
        if not isinstance(algorithm, str):
            raise InvalidType(f"algorithm={algorithm!r}: must be the name of an algorithm such as 'auto'")
        self._problem = problem(vocs)
        self._start(make(algorithm, self._problem.space, goal=self._problem.goal, seed=seed, **options))

    def _start(self, blank: Optimizer) -> None:
        self._blank = blank  # told nothing: where it begins again if its data are replaced
        self._known = Known(copy.copy(blank))
        self._lock = RLock()

    def _validate_vocs(self, vocs: VOCS) -> None:
        problem(vocs)

    def __repr__(self) -> str:
        return f"<WindvaneGenerator: {self.optimizer!r}>"

    # -- the standard ----------------------------------------------------------------------------------

    def suggest(self, num_points: int | None = None) -> list[dict[str, Any]]:
        """So many points to evaluate next, by default one; each in view of those that have not come back."""
        count = 1 if num_points is None else integer("num_points", num_points, at_least=1)
        with self._lock:
            known, found = self._known, []
            for _ in range(count):
                point = known.optimizer.ask(pending=known.suggested.points)
                found.append({**self._problem.outward(point), ID: known.suggested.issued})
                known = replace(known, suggested=known.suggested.add(point))
            self._known = known
        return found

    def ingest(self, results: list[dict[str, Any]]) -> None:
        """Learn from results, in this order; of bad ones nothing is learned, nor of any beside them."""
        with self._lock:
            read = read_all(results, self._problem, self._known.suggested.issued)
            self._known = self._after(self._known, read)

    def finalize(self) -> None:
        """Nothing to do: what it was told is learned at once."""

    # -- what it knows ---------------------------------------------------------------------------------

    @property
    def optimizer(self) -> Optimizer:
        """The optimiser inside: `predict`, `data`, `model` and the rest. Tell it nothing; `ingest` does."""
        return self._known.optimizer

    @property
    def events(self) -> tuple[Event, ...]:
        """What happened at each of the last results, newest last: `event.reset`, `event.reason` and more."""
        return self._known.events

    @property
    def failures(self) -> tuple[Result, ...]:
        """The last results that had no value, each with its `point` and the `reason`, newest last."""
        return self._known.failures

    def best(self) -> Best:
        """The point believed best now, constants included, with mean and standard deviation there."""
        found = self.optimizer.best()
        return Best(self._problem.outward(found.x), found.mean, found.std)

    def _after(self, known: Known, results: Sequence[Result]) -> Known:
        """What is known after results; nothing is changed."""
        optimizer, suggested = copy.copy(known.optimizer), known.suggested
        events, failures = list(known.events), list(known.failures)
        for result in results:
            suggested = suggested.without(result.id, result.point)
            if result.value is None:
                failures.append(result)
                logger.warning("no value at %s: %s", result.point, result.reason)
                continue
            events.append(optimizer.tell(dict(result.point), result.value))
            if events[-1].reset:
                logger.info("step %d: %s", events[-1].step, events[-1].reason)
        return Known(optimizer, suggested, tuple(events[-REMEMBERED:]), tuple(failures[-REMEMBERED:]))

    # -- what Xopt calls beside the standard -----------------------------------------------------------

    def generate(self, n_candidates: int) -> list[dict[str, Any]]:
        """`suggest`, by the name that `AsynchronousXopt` has for it."""
        return self.suggest(n_candidates)

    def add_data(self, data: Any) -> None:
        """All data of an `Xopt` that is made with some; what the generator has not seen yet is learned."""
        if data is None:
            return
        with self._lock:
            seen, rows = self._known.suggested.received, _rows(data)
            if len(rows) < seen:
                raise InvalidArgument(
                    f"data: {len(rows)} rows, fewer than the {seen} that the generator knows"
                )
            read = read_all(rows[seen:], self._problem, 0)
            self._known = self._after(self._known, read)

    @property
    def data(self) -> Any:
        """To be set only, as `Xopt.reset_data` and `remove_data` do: all is learned anew from these rows."""
        raise AttributeError("data: results are not kept; Xopt has them in its own `data`")

    @data.setter
    def data(self, data: Any) -> None:
        with self._lock:
            read = read_all(_rows(data), self._problem, 0)
            begun = Known(copy.copy(self._blank), Suggested(issued=self._known.suggested.issued))
            self._known = self._after(begun, read)

    # -- state -----------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Plain JSON from which `restore` continues bit for bit; `events` and `failures` are left out."""
        known = self._known
        suggested = known.suggested
        out = [[key, dict(each.point), each.until] for key, each in suggested.out.items()]
        return {
            "windvane.gest": STATE_VERSION,
            "issued": suggested.issued,
            "received": suggested.received,
            "out": out,
            "blank": self._blank.state(),
            "optimizer": known.optimizer.state(),
        }

    @classmethod
    def restore(cls, vocs: VOCS, state: Any) -> WindvaneGenerator:
        """The generator that wrote the state, for the same VOCS: it suggests the same points."""
        of = problem(vocs)
        if not isinstance(state, Mapping) or "windvane.gest" not in state:
            raise CorruptState(
                "state: not that of a WindvaneGenerator; expected the dict that state() returned"
            )
        if state["windvane.gest"] != STATE_VERSION:
            raise CorruptState(
                f"state: written in format {state['windvane.gest']!r}; this reads {STATE_VERSION}"
            )
        try:
            blank, optimizer = restore(state["blank"]), restore(state["optimizer"])
            out = {key: Outstanding(point, until) for key, point, until in state["out"]}
            suggested = Suggested(state["issued"], state["received"], out)
        except CorruptState:
            raise
        except Exception as error:  # the state is to blame, whatever reading it has led to
            raise CorruptState(f"state: incomplete or altered ({type(error).__name__}: {error})") from error
        if (optimizer.space, optimizer.goal) != (of.space, of.goal):
            raise InvalidArgument(
                f"vocs: asks to {of.goal} over {of.space}; the state is of a generator that was to "
                f"{optimizer.goal} over {optimizer.space}"
            )
        made = cls.__new__(cls)
        made.vocs, made._problem = vocs, of
        made._start(blank)
        made._known = Known(optimizer, suggested)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> WindvaneGenerator:
        """Xopt takes a copy of the generator that it is given; what changes is a value, so this is cheap."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.vocs = copy.deepcopy(self.vocs, memo)
        made._known = replace(self._known, optimizer=copy.copy(self._known.optimizer))
        made._lock = RLock()
        return made

    def __reduce__(self) -> Any:
        """A pickle holds the state: libEnsemble and optimas may send a generator to another process."""
        return type(self).restore, (self.vocs, self.state())


def _rows(data: Any) -> list[dict[str, Any]]:
    """The rows of a DataFrame, without the IDs that another generator may have given them."""
    if not hasattr(data, "to_dict"):
        raise InvalidType(f"data={data!r}: must be a pandas DataFrame with a row for each result")
    return [{name: value for name, value in row.items() if name != ID} for row in data.to_dict("records")]
