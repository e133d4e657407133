"""What a VOCS asks for: a space and a goal; or a sentence that says what is not supported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gest_api.vocs import (
    VOCS,
    BoundsConstraint,
    ContextualVariable,
    GreaterThanConstraint,
    LessThanConstraint,
    MaximizeObjective,
    MinimizeObjective,
)

from windvane.constraints import AtLeast, AtMost, Constraint
from windvane.errors import InvalidArgument, InvalidType, WindvaneError
from windvane.integrations.gest.variables import ObservedVariable, Variable, variable
from windvane.options.declared import RESERVED
from windvane.spaces import Context, Space
from windvane.spelling import spelt_name

GOALS = {MinimizeObjective: "minimize", MaximizeObjective: "maximize"}
ID = "_id"  # the standard's name


@dataclass(frozen=True)
class GestConstraint:
    """A limit on a column of the results; `name` is what the optimiser calls it."""

    name: str
    column: str
    constraint: Constraint


@dataclass(frozen=True)
class GestProblem:
    """The variables, the name of the objective, the goal, and the constants that go with every point."""

    variables: tuple[Variable, ...]
    objective: str
    goal: str
    constants: Mapping[str, Any]
    constraints: tuple[GestConstraint, ...] = ()

    @cached_property
    def space(self) -> Space:
        """The optimiser's space."""
        return Space([(each.name, each.parameter) for each in self.variables])

    def outward(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point of that space as it is suggested: a new dict, with constants and without contexts."""
        return {each.name: each.outward(point[each.name]) for each in self.chosen} | dict(self.constants)

    @cached_property
    def chosen(self) -> tuple[Variable, ...]:
        """The variables that are suggested."""
        return tuple(each for each in self.variables if not isinstance(each, ObservedVariable))

    @cached_property
    def contexts(self) -> tuple[ObservedVariable, ...]:
        """The variables that are observed."""
        return tuple(each for each in self.variables if isinstance(each, ObservedVariable))

    def settings(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """What was chosen of a point."""
        return {each.name: point[each.name] for each in self.chosen}

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a generator as `make` takes them: with the constraints, and a start in its space."""
        found = dict(given)
        if self.constraints:
            found["constraints"] = {each.name: each.constraint for each in self.constraints}
        if isinstance(given.get("start"), list | tuple):
            found["start"] = [self._setting(f"start[{at}]", each) for at, each in enumerate(given["start"])]
        return found

    def _setting(self, where: str, given: Any) -> dict[str, Any]:
        if not isinstance(given, Mapping):
            raise InvalidType(f"{where}={given!r}: must be a dict of variables")
        for name in given:
            if name not in self.constants and all(name != each.name for each in self.chosen):
                raise InvalidArgument(f"{where}: {name!r} is no variable that is chosen")
        for each in self.chosen:
            if each.name not in given:
                raise InvalidArgument(f"{where}: the variable {each.name!r} is missing")
        return {each.name: each.inward(f"{where}[{each.name!r}]", given[each.name]) for each in self.chosen}


def problem(vocs: Any, contexts: Any = None) -> GestProblem:
    """The problem that a VOCS describes; `contexts` says more about its contextual variables.

    >>> found = problem(VOCS(variables={"x": [0, 1]}, objectives={"f": "MINIMIZE"}, constants={"a": 3}))
    >>> found.space, found.goal, found.outward({"x": 0.5})
    (Space(x=Real(lo=0.0, hi=1.0, log=False)), 'minimize', {'x': 0.5, 'a': 3})
    >>> problem(VOCS(variables={"x": [0, 1]}, objectives={"f": "MINIMIZE", "g": "MINIMIZE"}))
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: vocs: 2 objectives ('f', 'g'); Windvane optimises one
    """
    if not isinstance(vocs, VOCS):
        raise InvalidType(f"vocs={vocs!r}: must be a VOCS of gest_api.vocs")
    if not vocs.variables:
        raise InvalidArgument("vocs: no variables; there must be at least one")
    if len(vocs.objectives) != 1:
        names = ", ".join(map(repr, vocs.objective_names))
        count = f"{len(vocs.objectives)} objectives ({names})" if names else "no objective"
        raise InvalidArgument(f"vocs: {count}; Windvane optimises one")
    ((objective, kind),) = vocs.objectives.items()
    goal = GOALS.get(type(kind))
    if goal is None:
        raise InvalidArgument(
            f"vocs: objective {objective!r}: must be MINIMIZE or MAXIMIZE, not {type(kind).__name__}"
        )
    inputs = [*vocs.variable_names, *vocs.constant_names]
    for name in (*inputs, *vocs.constraint_names):
        if name in (objective, ID) or [*inputs, *vocs.constraint_names].count(name) > 1:
            raise InvalidArgument(f"vocs: the name {name!r} is taken twice")
    contexts = _contexts(vocs, contexts)
    variables = tuple(variable(name, given, contexts.get(name)) for name, given in vocs.variables.items())
    if all(isinstance(each, ObservedVariable) for each in variables):
        raise InvalidArgument("vocs: all variables are contextual; there must be one to choose")
    constants = {name: each.value for name, each in vocs.constants.items()}
    return GestProblem(variables, objective, goal, constants, _constraints(vocs))


def _constraints(vocs: VOCS) -> tuple[GestConstraint, ...]:
    """The limits of a VOCS; between two bounds are two of them.

    >>> vocs = VOCS(variables={"x": [0, 1]}, objectives={}, constraints={"g": ["BOUNDS", 0, 1]})
    >>> [(each.name, str(each.constraint)) for each in _constraints(vocs)]
    [('g_low', '>= 0'), ('g_high', '<= 1')]
    """
    found: list[GestConstraint] = []
    for column, given in vocs.constraints.items():
        try:
            if isinstance(given, BoundsConstraint):
                sides = {"_low": AtLeast(given.range[0]), "_high": AtMost(given.range[1])}
            elif isinstance(given, LessThanConstraint):
                sides = {"": AtMost(given.value)}
            elif isinstance(given, GreaterThanConstraint):
                sides = {"": AtLeast(given.value)}
            else:
                raise InvalidType("must be LESS_THAN, GREATER_THAN or BOUNDS")
        except WindvaneError as error:
            raise type(error)(f"vocs: constraint {column!r}: {error}") from None
        for end, constraint in sides.items():
            name = spelt_name(column + end, RESERVED)
            if any(each.name == name for each in found):
                raise InvalidArgument(f"vocs: constraint {column!r}: the name {name!r} is taken twice")
            found.append(GestConstraint(name, column, constraint))
    return tuple(found)


def _contexts(vocs: VOCS, given: Any) -> dict[str, Context]:
    """What was said about contextual variables; each of the VOCS's, and each a `Context`."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidType(f"contexts={given!r}: must be a dict, as in {{'load': wv.Context(0, 100)}}")
    for name, context in given.items():
        if not isinstance(vocs.variables.get(name), ContextualVariable):
            raise InvalidArgument(f"contexts[{name!r}]: the VOCS has no contextual variable of this name")
        if not isinstance(context, Context):
            raise InvalidType(f"contexts[{name!r}]={context!r}: must be a wv.Context")
    return dict(given)
