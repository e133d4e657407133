"""What a service answers, as frozen values. Fields that a newer service adds are ignored."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar

from windvane.codec import decode
from windvane.constraints import Constraint, constraint_from_json
from windvane.data import Event
from windvane.errors import Unavailable
from windvane.spaces import Domain

Kind = Literal["asked", "told", "failed", "expired", "reset", "retracted", "corrected", "redefined"]
Status = Literal["pending", "told", "failed", "expired", "retracted"]
Answer = TypeVar("Answer")


def read(cls: type[Answer], value: Any) -> Answer:
    """An answer from its JSON; `Unavailable` if that is something else.

    >>> read(RemoteTrial, {"number": 1, "x": [0.5], "asked_at": 0.0, "colour": "red"}).x
    [0.5]
    >>> read(RemoteTrial, {"message": "welcome"})
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
class RemoteTrial:
    """Evaluate `x`, then tell the value under this `number`. Times are seconds since 1970."""

    number: int
    x: Any
    asked_at: float
    expires_at: float | None = None
    status: Status = "pending"
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RemoteRecord:
    """One entry of a study's journal, the `seq`-th.

    `at` is when it was recorded, in seconds since 1970; `time` the caller's own timestamp. `trial` is None
    for an evaluation that nobody asked for. `event` is everything that happened at a tell. `violated` are the
    constraints beyond their limits at a tell, and `outcome_resets` those whose own model was reset.
    """

    seq: int
    kind: Kind
    at: float
    trial: int | None = None
    x: Any = None
    y: float | None = None
    time: float | None = None
    expires: float | None = None
    step: int | None = None
    reset: bool = False
    reason: str = ""
    event: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    key: str | None = None
    violated: Sequence[str] = ()
    outcome_resets: Sequence[str] = ()

    def as_event(self) -> Event:
        """The event of a tell, as the optimiser gave it; see `Event.from_dict` for what JSON cannot say."""
        values = {**(self.event or {}), "x": self.x, "y": self.y}
        read(Event, values)  # says what it lacks
        return Event.from_dict(values)


@dataclass(frozen=True)
class RemoteSummary:
    """A study at a glance. `head` numbers its last record; `size` is the number of observations in use.

    `constraints` are as the service spells them, `limits` the same as objects. `violations` counts the tells
    with a constraint beyond its limit; `last_violation` and `last_retreat` are steps.
    `damaged` says why the study cannot be opened, if it cannot.
    """

    name: str
    algorithm: str
    goal: str
    created: float
    definition: Mapping[str, Any]
    head: int
    tells: int
    resets: int
    pending: int
    failed: int
    trials: int = 0
    size: int | None = None
    last_at: float | None = None
    last_reset: int | None = None
    constraints: Mapping[str, Any] = field(default_factory=dict)
    safe: float | None = None
    violations: int = 0
    last_violation: int | None = None
    last_retreat: int | None = None
    damaged: str | None = None

    @cached_property
    def limits(self) -> dict[str, Constraint]:
        """The constraints by name."""
        return {name: constraint_from_json(each, name) for name, each in self.constraints.items()}

    @cached_property
    def space(self) -> Domain:
        """Where points come from."""
        found = decode(self.definition.get("space"))
        if not isinstance(found, Domain):
            raise Unavailable("answer: the definition has no space; is this a Windvane service?")
        return found


@dataclass(frozen=True)
class RemoteExplanation:
    """Why the last reset happened, and what is believed now: in words, and in `figures`."""

    text: str
    figures: Mapping[str, Any]

    def __str__(self) -> str:
        return self.text
