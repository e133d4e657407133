"""Names with options, as people type them: `within-model:rate=0.05,dim=4`, `my_module:build:gain=2`."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from windvane import acquisition, triggers
from windvane.checks import one_of
from windvane.errors import InvalidArgument

Parsed = TypeVar("Parsed")
OPENING, CLOSING = "([{", ")]}"
PLAIN = (bool, int, float, str)
PARTS = {"trigger": (triggers, "test"), "acquisition": (acquisition, "propose")}  # by name, and what they do


@dataclass(frozen=True)
class Entry:
    """A name and its options, in the order given.

    >>> Entry("within-model", (("rate", 0.05), ("dim", 4))).label
    'within-model:rate=0.05,dim=4'
    """

    name: str
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def label(self) -> str:
        """As it is typed, but of a path only the last part."""
        shown = ",".join(f"{option}={_shown(value)}" for option, value in self.options)
        return f"{self.name}:{shown}" if shown else self.name

    def keywords(self) -> dict[str, Any]:
        """The options, to be passed on."""
        return dict(self.options)


def _shown(value: Any) -> str:
    if isinstance(value, Path):
        return value.name
    if isinstance(value, tuple):
        return "[" + ",".join(_shown(item) for item in value) + "]"
    return str(value)


def parse(argument: str, texts: Iterable[str]) -> list[Entry]:
    """Entries separated by spaces (one text each) or commas; `argument` is named in errors.

    A comma that is followed by `option=` continues the options of the entry before it.

    >>> def labels(*texts):
    ...     return [entry.label for entry in parse("--tasks", texts)]
    >>> labels("within-model:rate=0.05,dim=4,ackley-shift", "deng-slow")
    ['within-model:rate=0.05,dim=4', 'ackley-shift', 'deng-slow']
    >>> labels("et-gp-ucb[0.01,0.05]", "my_module:build:gain=2")
    ['et-gp-ucb[0.01,0.05]', 'my_module:build:gain=2']
    """
    found: list[tuple[str, dict[str, Any]]] = []
    for text in texts:
        inside = False  # whether this text has named an entry yet
        for piece in _split(text):
            head, equals, value = piece.partition("=")
            if not equals:
                found.append((_name(argument, piece), {}))
            else:
                name, _, option = head.rpartition(":")
                if name:
                    found.append((_name(argument, name), {}))
                elif not inside:
                    raise InvalidArgument(f"{argument} {text}: {piece!r} comes before any name; {_syntax()}")
                options = found[-1][1]
                if not option.isidentifier() or not value or option in options:
                    twice = ", and each once" if option in options else ""
                    raise InvalidArgument(f"{argument} {text}: {piece!r} is no option; {_syntax()}{twice}")
                options[option] = typed(value)
            inside = True
    if not found:
        raise InvalidArgument(f"{argument}: names nothing; {_syntax()}")
    return list(dict.fromkeys(Entry(name, tuple(options.items())) for name, options in found))


def is_number(text: str) -> bool:
    """Whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def parsed(kind: Callable[[str], Parsed], text: str, problem: str) -> Parsed:
    """A number that was typed, or an error that says what the problem is.

    >>> parsed(int, "7", "TRIAL=7: must be a whole number")
    7
    """
    try:
        return kind(text)
    except ValueError:
        raise InvalidArgument(problem) from None


def _syntax() -> str:
    return "write NAME or NAME:option=value,option=value"


def _name(argument: str, text: str) -> str:
    if not text or text.startswith(":") or text.endswith(":"):
        raise InvalidArgument(f"{argument} {text!r}: is no name; {_syntax()}")
    return text


def _split(text: str) -> Iterator[str]:
    """At the commas outside brackets."""
    depth, start = 0, 0
    for place, character in enumerate(text):
        depth += (character in OPENING) - (character in CLOSING)
        if character == "," and depth == 0:
            yield text[start:place].strip()
            start = place + 1
    if text[start:].strip() or start == 0:
        yield text[start:].strip()


def typed(text: str) -> Any:
    """A number, a truth value, a list of them, or the text itself, without its quotes if it has any.

    >>> typed("0.05"), typed("true"), typed("[1, 2]"), typed("7-8")
    (0.05, True, (1, 2), '7-8')
    """
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return tuple(value) if all(isinstance(item, PLAIN) for item in value) else text
    return value if isinstance(value, PLAIN) else text


def named_parts(option: str) -> dict[str, type[Any]]:
    """The triggers or the acquisitions that need no argument, by name.

    >>> "posterior-bound" in named_parts("trigger"), "periodic" in named_parts("trigger")
    (True, False)
    >>> "ucb" in named_parts("acquisition")
    True
    """
    module, method = PARTS[option]
    found = {}
    for name in module.__all__:
        member = getattr(module, name)
        if inspect.isclass(member) and hasattr(member, method) and dataclasses.is_dataclass(member):
            fields = dataclasses.fields(member)
            if not any(_required(field) for field in fields):
                found[re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()] = member
    return found


def with_parts(where: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The same options, with a trigger or an acquisition for its name; `where` begins an error.

    >>> with_parts("", {"trigger": "exact-bound", "cap": 3})
    {'trigger': ExactBound(delta=0.1), 'cap': 3}
    """
    found = dict(given)
    for option in PARTS:
        if isinstance(found.get(option), PLAIN):
            known = named_parts(option)
            found[option] = known[one_of(f"{where}{option}", found[option], known)]()
    return found


def _required(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return field.init and field.default is missing and field.default_factory is missing
