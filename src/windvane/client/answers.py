"""What a service answers, as frozen values. Fields that a newer service adds are ignored."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from windvane.errors import Unavailable

Answer = TypeVar("Answer")


def read(cls: type[Answer], value: Any) -> Answer:
    """An answer from its JSON; `Unavailable` if that is something else.

    >>> from windvane.protocol import Trial
    >>> read(Trial, {"number": 1, "x": [0.5], "asked_at": 0.0, "colour": "red"}).x
    [0.5]
    >>> read(Trial, {"message": "welcome"})
    Traceback (most recent call last):
    windvane.errors.Unavailable: answer: lacks number, x, asked_at; is this a Windvane service?
    """
    if not isinstance(value, Mapping):
        raise Unavailable("answer: is no JSON object; is this a Windvane service?")
    fields = dataclasses.fields(cls)  # type: ignore[arg-type]
    needed = [f for f in fields if f.default is f.default_factory is dataclasses.MISSING]
    lacking = [f.name for f in needed if f.name not in value]
    if lacking:
        raise Unavailable(f"answer: lacks {', '.join(lacking)}; is this a Windvane service?")
    return cls(**{each.name: value[each.name] for each in fields if each.name in value})


def listed(value: Any, name: str) -> list[Any]:
    """The list of this name in an answer."""
    found = value.get(name) if isinstance(value, Mapping) else None
    if not isinstance(found, list):
        raise Unavailable(f"answer: lacks {name}; is this a Windvane service?")
    return found


@dataclass(frozen=True)
class RemoteExplanation:
    """Why the last reset happened, and what is believed now: in words, and in `figures`."""

    text: str
    figures: Mapping[str, Any]

    def as_dict(self) -> Mapping[str, Any]:
        """The figures, and the text among them."""
        return self.figures

    def __str__(self) -> str:
        return self.text
