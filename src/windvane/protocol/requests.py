"""What is asked of a study and told to it: requests that are checked once, and their JSON.

A study in a database carries them out; that of a service sends `body` to `verb`, with the key in a header.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

from windvane.checks import instant, integer, one_of, real, reason_text
from windvane.errors import InvalidType
from windvane.protocol.checks import LAST, LATEST, duration, key_text, metadata_of, trial_number
from windvane.protocol.corrections import Correction
from windvane.protocol.measured import Measured
from windvane.protocol.records import KINDS, Record
from windvane.reading import told_as
from windvane.spaces.base import Domain
from windvane.spelling import plain, space_to_json

UNSET: Any = object()  # an argument that was left out, where None means something
DAY = 86_400.0  # seconds after which a trial is not waited for, unless the study says otherwise


def time_of(time: Any) -> float | None:
    """A time as it was given; beyond these bounds the difference of two has no number."""
    if time is None:
        return None
    return real("time", instant("time", time), at_least=-LATEST, at_most=LATEST) + 0.0


def space_json(space: Domain | Mapping[str, Any]) -> dict[str, Any]:
    """A space as the service reads it; what is JSON already stays as it is.

    >>> from windvane.spaces import Choice, Real, Space
    >>> space_json(Space(gain=Real(0.1, 10, log=True), mode=Choice(["a", "b"])))
    {'parameters': {'gain': {'real': [0.1, 10.0], 'log': True}, 'mode': {'choice': ['a', 'b']}}}
    >>> space_json({"arms": 3})
    {'arms': 3}
    """
    return dict(space) if isinstance(space, Mapping) else space_to_json(space)


def context_json(context: Any) -> dict[str, Any] | None:
    """What is observed, as plain JSON."""
    if context is None:
        return None
    if not isinstance(context, Mapping) or not all(isinstance(name, str) for name in context):
        raise InvalidType(f"context={context!r}: must be a dict of what is observed, by name")
    found: dict[str, Any] = plain(dict(context))
    return found


def given(**fields: Any) -> dict[str, Any]:
    """Those that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True)
class StudyRequest:
    """What all requests have: metadata for the journal, and the key under which it may be repeated."""

    metadata: dict[str, Any]
    key: str | None
    verb: ClassVar[str]

    @property
    def body(self) -> dict[str, Any]:
        """The JSON."""
        return {**self._fields(), **given(metadata=self.metadata or None)}

    def _fields(self) -> dict[str, Any]:
        raise NotImplementedError


@dataclass(frozen=True)
class AskRequest(StudyRequest):
    """A trial, or `count` of them. `expires_after` is `UNSET` for as long as the study says."""

    time: float | None
    context: Mapping[str, Any] | None
    available: Any
    count: int | None
    expires_after: Any
    verb = "ask"

    @staticmethod
    def of(
        time: Any, context: Any, available: Any, count: Any, expires_after: Any, metadata: Any, key: Any
    ) -> AskRequest:
        """Checked, as far as that is possible without knowing the space."""
        patience = UNSET if expires_after is UNSET else duration("expires_after", expires_after)
        number = None if count is None else integer("count", count, at_least=1)
        notes, name = metadata_of(metadata), key_text(key)
        return AskRequest(notes, name, time_of(time), context, available, number, patience)

    def _fields(self) -> dict[str, Any]:
        never = {} if self.expires_after is UNSET else {"expires_after": self.expires_after}
        return never | given(
            time=self.time,
            context=context_json(self.context),
            available=None if self.available is None else list(plain(self.available)),
            count=self.count,
        )


@dataclass(frozen=True)
class TellRequest(StudyRequest):
    """A value: of a trial, or at a point `x` that nobody asked for."""

    trial: int | None
    x: Any
    measured: Measured
    time: float | None
    verb = "tell"

    @staticmethod
    def of(
        trial: int | None,
        x: Any,
        y: Any,
        time: Any,
        /,  # a constraint may have any of these names
        *,
        noise_variance: Any = None,
        std: Any = None,
        outcomes: Any = None,
        metadata: Any = None,
        key: Any = None,
        **named: Any,
    ) -> TellRequest:
        """Checked, as far as that is possible without knowing the study."""
        notes, name = metadata_of(metadata), key_text(key)
        measured = Measured.of(y, noise_variance, std, outcomes, named)
        return TellRequest(notes, name, trial, x, measured, time_of(time))

    def _fields(self) -> dict[str, Any]:
        where = {"x": plain(self.x)} if self.trial is None else {"trial": self.trial}
        told = given(**self.measured.reading.told, outcomes=dict(self.measured.outcomes) or None)
        return where | told | given(time=self.time)


@dataclass(frozen=True)
class FailRequest(StudyRequest):
    """A trial that came to nothing."""

    trial: int
    reason: str
    verb = "fail"

    @staticmethod
    def of(trial: Any, reason: Any, metadata: Any, key: Any) -> FailRequest:
        """Checked."""
        return FailRequest(metadata_of(metadata), key_text(key), trial_number(trial), reason_text(reason))

    def _fields(self) -> dict[str, Any]:
        return {"trial": self.trial, "reason": self.reason}


@dataclass(frozen=True)
class ResetRequest(StudyRequest):
    """Something is known to have changed."""

    reason: str
    verb = "reset"

    @staticmethod
    def of(reason: Any, metadata: Any, key: Any) -> ResetRequest:
        """Checked."""
        return ResetRequest(metadata_of(metadata), key_text(key), reason_text(reason))

    def _fields(self) -> dict[str, Any]:
        return {"reason": self.reason}


def target_of(trial: Any) -> tuple[str, int]:
    """What is meant: ("trial", its number), or ("record", its number) of a record."""
    return ("record", trial.seq) if isinstance(trial, Record) else ("trial", trial_number(trial))


@dataclass(frozen=True)
class AmendRequest(StudyRequest):
    """A value to be taken back, or put right: of a trial, or of a record (`what`) with this number."""

    what: str
    number: int
    correction: Correction | None
    reason: str

    @property
    def verb(self) -> str:  # type: ignore[override]
        """What is done."""
        return "retract" if self.correction is None else "correct"

    @staticmethod
    def of(
        what: str, number: Any, correction: Correction | None, reason: Any, metadata: Any, key: Any
    ) -> AmendRequest:
        """Checked."""
        checked = integer(what, number, at_least=1, at_most=LAST)
        notes, name = metadata_of(metadata), key_text(key)
        return AmendRequest(notes, name, what, checked, correction, reason_text(reason))

    def _fields(self) -> dict[str, Any]:
        right: dict[str, Any] = {}
        if self.correction is not None:
            reading, variance, outcomes = self.correction
            told = {} if reading is None else told_as(reading.y, reading.values, variance)
            right = {"noise_variance": variance, **told, "outcomes": dict(outcomes) or None}
        return {self.what: self.number, **given(**right), "reason": self.reason}


@dataclass(frozen=True)
class RedefineRequest(StudyRequest):
    """Another space of the same parameters."""

    space: Any
    reason: str
    verb = "space"

    @staticmethod
    def of(space: Any, reason: Any, metadata: Any, key: Any) -> RedefineRequest:
        """Checked, but for the space, which may be JSON already if it is sent."""
        return RedefineRequest(metadata_of(metadata), key_text(key), space, reason_text(reason))

    def _fields(self) -> dict[str, Any]:
        return {"space": space_json(self.space), "reason": self.reason}


class EventsQuery(NamedTuple):
    """Which records of a journal: after a certain one, so many at most; with `newest` the last of them."""

    after: int
    limit: int | None
    kinds: list[str] | None
    resets: bool
    violations: bool
    newest: bool

    @staticmethod
    def of(
        after: Any, limit: Any, kinds: Iterable[str] | None, resets: bool, violations: bool, newest: bool
    ) -> EventsQuery:
        """Checked."""
        start = integer("after", after, at_least=0, at_most=LAST)
        most = None if limit is None else integer("limit", limit, at_least=1, at_most=LAST)
        if isinstance(kinds, str):
            raise InvalidType(f"kinds={kinds!r}: must be a list of kinds, as in [{kinds!r}]")
        wanted = None if kinds is None else [one_of("kinds", kind, KINDS) for kind in kinds]
        return EventsQuery(start, most, wanted, resets, violations, newest)


WriteRequest: TypeAlias = TellRequest | FailRequest | ResetRequest | AmendRequest | RedefineRequest
