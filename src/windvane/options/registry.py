"""The register of algorithms: their options are read from their signatures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import Any, TypeVar, get_args

from windvane.composition import Composition
from windvane.errors import InvalidArgument
from windvane.options.common import CommonOptions
from windvane.options.constrained import constrained
from windvane.options.declared import NEEDED, OPTIONS, Option
from windvane.spaces.base import Domain

Source = Callable[..., Any]
Composer = TypeVar("Composer", bound=Callable[..., Composition])


@dataclass(frozen=True)
class Algorithm:
    """A row of the table: a line of help, the options that it takes, and how it is composed of them."""

    summary: str
    options: dict[str, Option]
    takes: dict[Source, frozenset[str]]  # the options of each group, and last those of the function itself

    def compose(self, name: str, space: Domain, goal: str, given: dict[str, Any]) -> Composition:
        """The composition; every option is checked, even where another one overrules it."""
        checked = self._checked(name, given)
        return constrained(
            self._composed(name, space, goal, checked),
            space,
            checked,
            lambda other, its: self._composed(name, space, other, its),
        )

    def _checked(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        unused = sorted(set(given) - set(self.options))
        if unused:
            names = sorted({*self.options, "goal", "seed"})
            close = get_close_matches(unused[0], names, n=1)
            known = f"its options are {', '.join(names)}"
            hint = f"did you mean {close[0]}=? I{known[1:]}" if close else known
            raise InvalidArgument(f"make({name!r}): does not use {unused[0]}=; {hint}")
        checked = {option: self.options[option].check(option, value) for option, value in given.items()}
        for option in checked:
            for other, why in self.options[option].excludes:
                if other in checked:
                    raise InvalidArgument(f"{option}=, {other}=: give one of the two{why and '; '}{why}")
        for option, about in self.options.items():
            if about.default is NEEDED and option not in checked:
                raise InvalidArgument(f"make({name!r}): {option}= is needed, {about.purpose}")
        return checked

    def _composed(self, name: str, space: Domain, goal: str, checked: dict[str, Any]) -> Composition:
        (_, common), *groups, (function, own) = (
            (source, {option: value for option, value in checked.items() if option in names})
            for source, names in self.takes.items()
        )
        found: Composition = function(
            CommonOptions(name, space, goal, **common), *(group(**its) for group, its in groups), **own
        )
        return found


ALGORITHMS: dict[str, Algorithm] = {}


def algorithm(name: str, summary: str, *, without: Iterable[str] = ()) -> Callable[[Composer], Composer]:
    """Register a function as an algorithm.

    Its positional arguments are groups of options, the first of them `CommonOptions`; its keyword-only
    arguments are options of its own. `without` names those of the groups that it does not take.
    """

    def register(function: Composer) -> Composer:
        groups = [
            parameter.annotation
            for parameter in signature(function, eval_str=True).parameters.values()
            if parameter.kind is Parameter.POSITIONAL_OR_KEYWORD
        ]
        takes = {source: _options(source) for source in (*groups, function)}
        options = {option: about for each in takes.values() for option, about in each.items()}
        for option in without:
            del options[option]
        names = {source: frozenset(each) for source, each in takes.items()}
        ALGORITHMS[name] = Algorithm(summary, options, names)
        return function

    return register


def _options(source: Source) -> dict[str, Option]:
    """The keyword-only arguments of a function or a class, as options with their defaults.

    What an option is for stands in `OPTIONS`, unless it is annotated with an `Option` of its own.
    """
    found = {}
    for name, parameter in signature(source, eval_str=True).parameters.items():
        if parameter.kind is Parameter.KEYWORD_ONLY:
            own = [each for each in get_args(parameter.annotation) if isinstance(each, Option)]
            found[name] = replace(own[0] if own else OPTIONS[name], default=parameter.default)
    return found
