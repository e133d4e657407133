"""An algorithm with constraints: each of them is followed by a loop of the same algorithm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from windvane.composition import Composition, Constraints, Watched
from windvane.constraints import Constraint
from windvane.errors import InvalidArgument, InvalidType, WindvaneError
from windvane.spaces.base import Domain
from windvane.triggers import Never, NoImprovement, alarm

Composing = Callable[[str, dict[str, Any]], Composition]
MOST, MOST_STARTS = 32, 1000  # constraints, and settings to start with
OF_THE_OBJECTIVE = (  # options that say nothing about a constraint, or that it has no use for
    *("constraints", "safe", "start", "kernel", "noise_variance", "scaling"),
    *("beta", "acquisition", "bound", "initial", "max_step", "move_cost"),
)


def constrained(
    composition: Composition, space: Domain, given: dict[str, Any], compose: Composing
) -> Composition:
    """The composition with the constraints that were given; `compose` makes another one for a goal."""
    constraints: dict[str, Constraint] | None = given.get("constraints")
    safe, start = given.get("safe"), given.get("start")
    if constraints is None:
        for option in ("safe", "start"):
            if option in given:
                raise InvalidArgument(f"{option}=: belongs to constraints=, which are not given")
        return composition
    if safe is None and start is not None:
        raise InvalidArgument("start=: belongs to safe=, which is not given")
    if safe is not None and start is None:
        raise InvalidArgument(
            "start=: needed with safe=: settings that are known to meet the constraints, to begin with"
        )
    given_starts = 0 if start is None else len(start)
    for name, count, most in (
        ("constraints", len(constraints), MOST),
        ("start", given_starts, MOST_STARTS),
    ):
        if count > most:
            raise InvalidArgument(f"{name}: must be at most {most}, got {count}")
    shared = {option: value for option, value in given.items() if option not in OF_THE_OBJECTIVE}
    watched = []
    for name, constraint in constraints.items():
        try:
            watched.append(
                Watched(name, constraint, _followed(constraint, shared, safe is not None, compose))
            )
        except WindvaneError as error:
            raise type(error)(f"constraints[{name!r}]: {error}") from None
    settings = () if start is None else _settings(start, space)
    return replace(composition, constraints=Constraints(tuple(watched), safe, settings))


def _followed(constraint: Constraint, shared: dict[str, Any], safe: bool, compose: Composing) -> Composition:
    """The loop that follows one constraint.

    Nothing that is measured of it is set aside to be asked for again, which may be the last thing to do, and
    that it does not improve is no alarm. Where it must be kept, no surprise is taken for an outlier, and its
    model is centred on the limit: where nothing was measured the odds are even.
    """
    own = dict(shared)
    for option, value in (("kernel", constraint.kernel), ("noise_variance", constraint.noise_variance)):
        if value is not None:
            own[option] = value
    if safe:
        own.setdefault("outliers", 0.0)  # an option of algorithms that know of any
    found = compose("maximize" if constraint.sign > 0.0 else "minimize", own)
    model = found.model
    if safe or constraint.mean is not None or not found.rescale:
        expected = constraint.limit if constraint.mean is None else constraint.mean
        scaling = replace(model.scaling, offset=constraint.sign * expected, held=True)
        model = replace(model, scaling=scaling)
    trigger = Never() if isinstance(found.trigger, NoImprovement) else alarm(found.trigger)
    return replace(found, model=model, trigger=trigger, moves=None)


def _settings(start: Any, space: Domain) -> tuple[tuple[float, ...], ...]:
    """The settings, encoded; where there are contexts, under some context or other."""
    contexts: dict[str, Any] = {}
    if space.contexts:
        some = space.decode(space.sample(np.random.default_rng(0), 1)[0])
        contexts = {name: some[name] for name in space.contexts}
    found = []
    for number, point in enumerate(start):
        if contexts:
            if not isinstance(point, dict):
                raise InvalidType(f"start[{number}]={point!r}: must be a dict of settings")
            point = {**contexts, **point}
        try:
            encoded = space.encode(point)
        except WindvaneError as error:
            raise type(error)(f"start[{number}]: {error}") from None
        found.append(tuple(encoded.tolist()))
    return tuple(found)
