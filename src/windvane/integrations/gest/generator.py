"""Windvane as a generator of the gest-api standard."""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import Any

import numpy as np
from gest_api.generator import Generator
from gest_api.vocs import VOCS
from pydantic_core import SchemaSerializer, core_schema

from windvane.algorithms import fresh_seed, make
from windvane.checks import integer
from windvane.data import Best, Event
from windvane.errors import CorruptState, InvalidArgument, InvalidType
from windvane.integrations.gest.problem import ID, problem
from windvane.integrations.gest.recipe import GeneratorRecipe
from windvane.integrations.gest.results import Result, read_all
from windvane.integrations.gest.suggested import Outstanding, Suggested
from windvane.optimizer import MOST_AT_ONCE, Optimizer, restore
from windvane.spaces import Context

STATE_VERSION = 1
WRITTEN = ("algorithm", "seed", "options", "contexts")  # in a file of Xopt's, beside the VOCS
DECIDED = ("goal", "space", "name", "constraints")  # by the VOCS, or by `algorithm`
REMEMBERED = 1000  # events and failures
logger = logging.getLogger("windvane.gest")


@dataclass(frozen=True)
class GeneratorKnowledge:
    """All that changes in a generator; replaced as one, so that a result is learned from or not."""

    optimizer: Optimizer
    context: Mapping[str, Any] | None
    suggested: Suggested = field(default_factory=Suggested)
    events: tuple[Event, ...] = ()
    failures: tuple[Result, ...] = ()


class WindvaneGenerator(Generator):  # type: ignore[misc]  # gest_api has no types
    """A generator for objectives that change while they are optimised.

    `algorithm` is any name of `wv.algorithms()`, and further keywords are its options, as for `wv.make`; the
    default, `auto`, needs to be told nothing. The goal and the space come from `vocs`. Every suggestion has
    an ID (`"_id"`), by which its result is recognised; a result without one is a point that somebody else
    chose, and is learned from like any other. Results without a value are failures, which it keeps
    away from.

    Contextual variables are contexts: see `context`. One without a finite domain needs a range, such as
    `contexts={"load": wv.Context(0, 100)}`; so does one that is an integer, a choice, or periodic.

    The constraints of the VOCS are measured with each result. Points are suggested where they are likely to
    hold; with `safe=0.95` only where each is believed to hold with that probability, for which `start` has to
    say where to begin: a list of points that are known to be safe. Between two `BOUNDS` are two constraints,
    `NAME_low` and `NAME_high`.

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
        self,
        vocs: VOCS,
        algorithm: str = "auto",
        *,
        seed: int | None = None,
        contexts: Mapping[str, Context] | None = None,
        **options: Any,
    ) -> None:
        self._problem = problem(vocs, contexts)
        super().__init__(vocs)
        for name in DECIDED:
            if name in options:
                raise InvalidArgument(f"{name}={options[name]!r}: not an option; the VOCS decides")
        if not isinstance(algorithm, str):
            raise InvalidType(f"algorithm={algorithm!r}: must be the name of an algorithm such as 'auto'")
        seed = fresh_seed() if seed is None else integer("seed", seed, at_least=0)
        self.vocs = vocs
        self._recipe = GeneratorRecipe(algorithm, seed, options, dict(contexts or {}))
        self._known = self._blank()
        self._lock = RLock()

    def _blank(self) -> GeneratorKnowledge:
        """What is known before anything is."""
        of, recipe = self._problem, self._recipe
        optimizer = make(
            recipe.algorithm, of.space, goal=of.goal, seed=recipe.seed, **of.options(recipe.options)
        )
        middle = of.space.decode(np.full(of.space.dim, 0.5))
        return GeneratorKnowledge(optimizer, {each.name: middle[each.name] for each in of.contexts} or None)

    def _validate_vocs(self, vocs: VOCS) -> None:
        problem(vocs, {each.name: each.context for each in self._problem.contexts})

    def __repr__(self) -> str:
        return f"<WindvaneGenerator: {self.optimizer!r}>"

    # -- the standard ----------------------------------------------------------------------------------

    def suggest(self, num_points: int | None = None) -> list[dict[str, Any]]:
        """So many points to evaluate next, by default one; each in view of those that have not come back."""
        count = integer(
            "num_points", 1 if num_points is None else num_points, at_least=1, at_most=MOST_AT_ONCE
        )
        with self._lock:
            known, found = self._known, []
            suggested = known.suggested
            for point in known.optimizer.ask(pending=suggested.points, context=known.context, count=count):
                found.append({**self._problem.outward(point), ID: suggested.issued})
                suggested = suggested.add(point)
            self._known = replace(known, suggested=suggested)
        return found

    def ingest(self, results: list[dict[str, Any]]) -> None:
        """Learn from results, in this order; of bad ones nothing is learned, nor of any beside them."""
        with self._lock:
            known = self._known
            read = read_all(results, self._problem, known.suggested.issued, known.context)
            self._known = self._after(known, read)

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

    @property
    def context(self) -> dict[str, Any] | None:
        """What suggestions are made for: the contextual variables as last set here or reported in a result.

        Before that, it is the middle of their ranges. None if there are no such variables.
        """
        context = self._known.context
        return None if context is None else dict(context)

    @context.setter
    def context(self, observed: Mapping[str, Any]) -> None:
        with self._lock:
            seen = self._problem.space.seen(observed)
            self._known = replace(self._known, context=None if seen is None else seen.values)

    def best(self) -> Best:
        """The point believed best now and under this context, with mean and standard deviation there."""
        found = self.optimizer.best(context=self._known.context)
        return replace(found, x=self._problem.outward(found.x))

    def reset(self, reason: str = "") -> Event:
        """Something is known to have changed, such as a new pump: what was measured before is the past."""
        with self._lock:
            known, optimizer = self._known, copy.copy(self._known.optimizer)
            event = optimizer.reset(reason)
            self._known = replace(known, optimizer=optimizer, events=(*known.events, event)[-REMEMBERED:])
        return event

    def _after(self, known: GeneratorKnowledge, results: Sequence[Result]) -> GeneratorKnowledge:
        """What is known after results; nothing is changed."""
        optimizer, suggested, context = copy.copy(known.optimizer), known.suggested, known.context
        events, failures = list(known.events), list(known.failures)
        for result in results:
            suggested = suggested.without(result.id, self._problem.settings(result.point))
            if context is not None:
                context = {name: result.point[name] for name in context}
            if result.value is None:
                failures.append(result)
                optimizer.fail(dict(result.point), reason=result.reason)
                logger.warning("no value at %s: %s", result.point, result.reason)
                continue
            event = optimizer.tell(dict(result.point), result.value, **result.noise, **result.outcomes)
            events.append(event)
            _report(event)
        return GeneratorKnowledge(
            optimizer, context, suggested, tuple(events[-REMEMBERED:]), tuple(failures[-REMEMBERED:])
        )

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
            read = read_all(rows[seen:], self._problem, 0, self._known.context)
            self._known = self._after(self._known, read)

    @property
    def data(self) -> Any:
        """To be set only, as `Xopt.reset_data` and `remove_data` do: all is learned anew from these rows."""
        raise AttributeError("data: results are not kept; Xopt has them in its own `data`")

    @data.setter
    def data(self, data: Any) -> None:
        with self._lock:
            blank = self._blank()
            read = read_all(_rows(data), self._problem, 0, blank.context)
            begun = replace(blank, suggested=Suggested(issued=self._known.suggested.issued))
            self._known = self._after(begun, read)

    # -- state -----------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Plain JSON from which `restore` continues bit for bit; `events` and `failures` are left out."""
        known = self._known
        suggested = known.suggested
        out = [[key, dict(each.point), each.until] for key, each in suggested.out.items()]
        context = {} if known.context is None else {"context": dict(known.context)}
        return {
            "windvane.gest": STATE_VERSION,
            "made": self._recipe.note(),
            "issued": suggested.issued,
            "received": suggested.received,
            "out": out,
            **context,
            "optimizer": known.optimizer.state(),
        }

    @classmethod
    def restore(cls, vocs: VOCS, state: Any) -> WindvaneGenerator:
        """The generator that wrote the state, for the same VOCS: it suggests the same points."""
        if not isinstance(state, Mapping) or "windvane.gest" not in state:
            raise CorruptState(
                "state: not that of a WindvaneGenerator; expected the dict that state() returned"
            )
        if state["windvane.gest"] != STATE_VERSION:
            raise CorruptState(
                f"state: written in format {state['windvane.gest']!r}; this reads {STATE_VERSION}"
            )
        try:
            recipe, optimizer = GeneratorRecipe.read(state["made"]), restore(state["optimizer"])
            out = {key: Outstanding(point, until) for key, point, until in state["out"]}
            suggested = Suggested(state["issued"], state["received"], out)
        except CorruptState:
            raise
        except Exception as error:  # the state is to blame, whatever reading it has led to
            raise CorruptState(f"state: incomplete or altered ({type(error).__name__}: {error})") from error
        made = cls(vocs, **recipe.arguments())
        now = made.optimizer
        if (optimizer.space, optimizer.goal) != (now.space, now.goal):
            raise InvalidArgument(
                f"vocs: asks to {now.goal} over {now.space}; the state is of a generator that was to "
                f"{optimizer.goal} over {optimizer.space}"
            )
        if optimizer.constraints != now.constraints:
            raise InvalidArgument(
                f"vocs: has the constraints {_limits(now)}; the state is of a generator with "
                f"{_limits(optimizer)}"
            )
        seen = optimizer.space.seen(state.get("context"))
        made._known = GeneratorKnowledge(optimizer, None if seen is None else seen.values, suggested)
        return made

    @classmethod
    def model_validate(cls, written: Mapping[str, Any]) -> WindvaneGenerator:
        """The generator of a file that Xopt has written, under the name that Xopt calls; without data."""
        if not isinstance(written, Mapping) or "vocs" not in written:
            raise InvalidArgument(f"generator={written!r}: must be a dict with the key 'vocs'")
        unknown = set(written) - {"name", "vocs", *WRITTEN}
        if unknown:
            raise InvalidArgument(
                f"generator: unknown keys {sorted(unknown)}; must be vocs, {', '.join(WRITTEN)}"
            )
        for part in ("options", "contexts"):
            if not isinstance(written.get(part, {}), Mapping):
                raise InvalidArgument(f"generator: {part}={written[part]!r}: must be a dict")
        recipe = GeneratorRecipe.read(
            {"algorithm": "auto", "seed": None} | {k: written[k] for k in WRITTEN if k in written}
        )
        vocs = VOCS.model_validate(copy.deepcopy(written["vocs"]))  # which takes the types out of it
        return cls(vocs, **recipe.arguments())

    def _written(self) -> dict[str, Any]:
        """For a file; a run must not end because a trigger of the user's own cannot be written down."""
        try:
            note = self._recipe.note()
        except InvalidType as error:
            note = replace(self._recipe, options={}).note() | {"options": f"not written: {error}"}
        return {"vocs": self.vocs.model_dump(), **note}

    # what pydantic looks for when a model, such as an Xopt, holds an object of a kind that it does not know
    __pydantic_serializer__ = SchemaSerializer(
        core_schema.any_schema(serialization=core_schema.plain_serializer_function_ser_schema(_written))
    )

    def __deepcopy__(self, memo: dict[int, Any]) -> WindvaneGenerator:
        """Xopt takes a copy of the generator that it is given; what changes is a value, so this is cheap."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.vocs = copy.deepcopy(self.vocs, memo)
        made._lock = RLock()
        return made

    def __reduce__(self) -> Any:
        """A pickle holds the state: libEnsemble and optimas may send a generator to another process."""
        return type(self).restore, (self.vocs, self.state())


def _limits(optimizer: Optimizer) -> str:
    return ", ".join(f"{name} {each}" for name, each in optimizer.constraints.items()) or "none"


def _report(event: Event) -> None:
    """Log what somebody may want to know."""
    if event.reset:
        logger.info("step %d: %s", event.step, event.reason)
    for name, outcome in event.outcomes.items():
        if outcome.reset:
            logger.info("step %d: constraint %s: %s", event.step, name, outcome.reason)
        if outcome.violated:
            logger.info("step %d: constraint %s is violated: %g", event.step, name, outcome.value)
    if event.retreat is not None:
        logger.warning("step %d: nothing is believed safe any more; back to %s", event.step, event.retreat)


def _rows(data: Any) -> list[dict[str, Any]]:
    """The rows of a DataFrame, without the IDs that another generator may have given them."""
    if not hasattr(data, "to_dict"):
        raise InvalidType(f"data={data!r}: must be a pandas DataFrame with a row for each result")
    return [{name: value for name, value in row.items() if name != ID} for row in data.to_dict("records")]
