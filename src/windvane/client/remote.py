"""One study of a service, used as a `windvane.Study` is."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, overload
from urllib.parse import quote, urlencode

import numpy as np

from windvane.checks import Array, Time, instant, integer, one_of, real
from windvane.client import stream
from windvane.client.answers import RemoteExplanation, event_of, listed, read
from windvane.client.spelling import UNSET, body, expiry, space_json
from windvane.client.transport import Request, Transport
from windvane.constraints import Constraint
from windvane.data import Best, Event
from windvane.errors import InvalidArgument, InvalidType, Unavailable
from windvane.files import whole
from windvane.protocol import KINDS, Record, Summary, Trial
from windvane.reading import Reading, noise_of_one, outcomes_of
from windvane.spaces import Domain
from windvane.spelling import plain

PAGE = 1000  # records that a service gives at once
PATIENCE = 300.0  # seconds that a stream tries to connect again
FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
NAMES = ("csv", "jsonl", "parquet")


class RemoteStudy:
    """Ask and tell over HTTP. Every call that writes carries a key, made once, so that retries do no harm.

    The methods are those of `windvane.Study`, and so are the errors. With a `key` of your own, a call can be
    repeated by a later process as well.
    """

    def __init__(self, transport: Transport, name: str) -> None:
        if not isinstance(name, str) or not name or name[0] in "._" or set(name) & {"/", "\\", "\0"}:
            raise InvalidArgument(f"name={name!r:.120}: must begin with a letter or digit and hold no slash")
        self.name = name
        self._transport = transport
        self._path = f"/v1/studies/{quote(name.encode('utf-8', 'replace'), safe='')}"

    def __repr__(self) -> str:
        return f"<study {self.name!r} at {self._transport.address}>"

    # -- writing -------------------------------------------------------------------------------------

    @overload
    def ask(
        self,
        time: Time = None,
        *,
        context: Mapping[str, Any] | None = None,
        available: Any = None,
        count: None = None,
        expires_after: float | None = UNSET,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Trial: ...

    @overload
    def ask(
        self,
        time: Time = None,
        *,
        context: Mapping[str, Any] | None = None,
        available: Any = None,
        count: int,
        expires_after: float | None = UNSET,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> list[Trial]: ...

    def ask(
        self,
        time: Time = None,
        *,
        context: Mapping[str, Any] | None = None,
        available: Any = None,
        count: int | None = None,
        expires_after: float | None = UNSET,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Trial | list[Trial]:
        """A point to evaluate. Every call begins a new trial.

        It expires when the study says, or `expires_after` so many seconds; None: never.
        `context` says what is observed now, if the space has contexts; the point has them in it. `available`
        are the only points that may be asked for this time, of a finite space. With `count` it is a list of
        so many trials, each with a point chosen beside the others.
        """
        sent = body(
            time=_time(time),
            context=_seen(context),
            available=None if available is None else list(plain(available)),
            count=None if count is None else integer("count", count, at_least=1),
            expires_after=expiry(expires_after),
            metadata=_notes(metadata),
        )
        found = self._post("ask", sent, key)
        if count is None:
            return read(Trial, found)
        return [read(Trial, each) for each in listed(found, "trials")]

    def tell(
        self,
        trial: Trial | int,
        y: float | Sequence[float],
        time: Time = None,
        *,
        noise_variance: float | None = None,
        std: float | None = None,
        outcomes: Mapping[str, float | None] | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        **named: float | None,
    ) -> Event:
        """The value observed in a trial. When this returns it is on the service's disk, once.

        `noise_variance`, or its root `std`, is that of the noise in this value, if it is known. `y` may be a
        list of repeats. Values of constraints are told by name, as in `tell(trial, y, heat=84.2)`, or in a
        dict, `outcomes`; what was not measured is left out.
        """
        told = _told(y, noise_variance, std, outcomes, named)
        sent = body(trial=_number(trial), **told, time=_time(time), metadata=_notes(metadata))
        return event_of(read(Record, self._post("tell", sent, key)))

    def add(
        self,
        x: Any,
        y: float | Sequence[float],
        time: Time = None,
        *,
        noise_variance: float | None = None,
        std: float | None = None,
        outcomes: Mapping[str, float | None] | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        **named: float | None,
    ) -> Event:
        """A value that nobody asked for, observed at any point of the space."""
        told = _told(y, noise_variance, std, outcomes, named)
        sent = body(x=plain(x), **told, time=_time(time), metadata=_notes(metadata))
        return event_of(read(Record, self._post("tell", sent, key)))

    def fail(
        self,
        trial: Trial | int,
        reason: str = "",
        *,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Record:
        """The evaluation came to nothing: recorded with its reason, and the model is told no number."""
        sent = body(trial=_number(trial), reason=reason, metadata=_notes(metadata))
        return read(Record, self._post("fail", sent, key))

    # -- a hand on the wheel -------------------------------------------------------------------------

    def reset(
        self, reason: str = "", *, metadata: Mapping[str, Any] | None = None, key: str | None = None
    ) -> Event:
        """Something is known to have changed: what was told before is of the past."""
        sent = body(reason=reason, metadata=_notes(metadata))
        return event_of(read(Record, self._post("reset", sent, key)))

    def retract(
        self,
        trial: Trial | Record | int,
        reason: str = "",
        *,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Record:
        """Take back the value of a trial, or of a record if nobody had asked for it: it was wrong.

        What was told since the last checkpoint before it is told again: for a long study, and a value of long
        ago, give the client a `timeout` that allows for it.
        """
        sent = body(**_target(trial), reason=reason, metadata=_notes(metadata))
        return read(Record, self._post("retract", sent, key))

    def correct(
        self,
        trial: Trial | Record | int,
        y: float | Sequence[float] | None = None,
        reason: str = "",
        *,
        noise_variance: float | None = None,
        std: float | None = None,
        outcomes: Mapping[str, float | None] | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        **named: float | None,
    ) -> Record:
        """Another value for a trial, or for a record; as `retract` otherwise.

        What was told of constraints stays unless it is told anew, as in `correct(trial, heat=84.2)`; None: it
        was not measured after all.
        """
        right: dict[str, Any] = {"noise_variance": noise_of_one(noise_variance, std)}
        right["outcomes"] = outcomes_of(outcomes, named) or None
        if y is not None:
            right = _told(y, noise_variance, std, None, {}) | {"outcomes": right["outcomes"]}
        sent = body(**_target(trial), **right, reason=reason, metadata=_notes(metadata))
        return read(Record, self._post("correct", sent, key))

    def change_space(
        self,
        space: Domain | Mapping[str, Any],
        reason: str = "",
        *,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Record:
        """Go on in another space of the same parameters; `event["left_out"]` values lie outside of it."""
        sent = body(space=space_json(space), reason=reason, metadata=_notes(metadata))
        return read(Record, self._post("space", sent, key))

    def delete(self) -> None:
        """Delete the study and everything about it. There is no way back."""
        self._transport.json(Request("DELETE", self._path, repeat=False))

    # -- reading -------------------------------------------------------------------------------------

    def summary(self) -> Summary:
        """The study at a glance."""
        return read(Summary, self._get())

    @property
    def space(self) -> Domain:
        """Where points come from."""
        return self.summary().space

    @property
    def constraints(self) -> dict[str, Constraint]:
        """What must hold beside the objective, by name."""
        return self.summary().constraints

    def trials(self) -> list[Trial]:
        """The trials that wait for an answer, oldest first."""
        found = listed(self._get("/trials", {"status": "pending"}), "trials")
        return [read(Trial, each) for each in found]

    def events(
        self,
        after: int = 0,
        limit: int | None = None,
        *,
        kinds: Iterable[str] | None = None,
        resets: bool = False,
        violations: bool = False,
        newest: bool = False,
    ) -> list[Record]:
        """The journal in order, after a certain record; with `newest`, the last `limit` records.

        With `resets` or `violations` only those at which there was one.
        """
        last = integer("after", after, at_least=0)
        wanted = None if limit is None else integer("limit", limit, at_least=1)
        if newest and (wanted is None or wanted > PAGE):
            raise InvalidArgument(f"limit={limit}: with newest=True it must be at most {PAGE}")
        query = {
            "kind": [] if kinds is None else [one_of("kinds", kind, KINDS) for kind in kinds],
            "resets": "true" if resets else "false",
            "violations": "true" if violations else "false",
            "newest": "true" if newest else "false",
        }
        found: list[Record] = []
        while wanted is None or len(found) < wanted:
            size = PAGE if wanted is None else min(PAGE, wanted - len(found))
            page = listed(self._get("/events", {"after": last, "limit": size, **query}), "events")
            found += [read(Record, each) for each in page]
            if newest or len(page) < size:
                break
            last = found[-1].seq
        return found

    def stream(self, after: int = 0, *, resets: bool = False, patience: float = PATIENCE) -> Iterator[Record]:
        """Every record after a certain one, then each new one as it is written; with `resets`, only those.

        A connection that breaks is opened again where it broke, for `patience` seconds on end. Ends with
        `UnknownName` if the study is deleted, and never else.
        """
        start, longest = integer("after", after, at_least=0), real("patience", patience, at_least=0.0)
        found = stream.records(self._transport, f"{self._path}/stream", start, longest)
        return (record for record in found if record.reset) if resets else found

    def best(self, *, context: Mapping[str, Any] | None = None) -> Best:
        """The point believed best now, under this context, with mean and standard deviation."""
        seen = _seen(context)
        body(context=seen)  # refuses what is not plain JSON
        query = None if seen is None else {"context": json.dumps(seen)}
        return read(Best, self._get("/best", query))

    def predict(self, points: Any, time: Time = None, *, of: str | None = None) -> tuple[Array, Array]:
        """Mean and standard deviation of the objective, or `of` a constraint, at points."""
        found = self._predicted(points, time, of=of)
        mean, std = (np.array(listed(found, name), dtype=np.float64) for name in ("mean", "std"))
        return mean, std

    def feasibility(self, points: Any, time: Time = None) -> dict[str, Array]:
        """How probably each constraint holds at points, by its name."""
        found = self._predicted(points, time, feasibility=True)
        each = found.get("feasibility") if isinstance(found, dict) else None
        if not isinstance(each, dict):
            raise Unavailable("answer: lacks feasibility; is the service of an earlier version?")
        return {name: np.array(chances, dtype=np.float64) for name, chances in each.items()}

    def _predicted(self, points: Any, time: Time, **more: Any) -> Any:
        sent = body(points=plain(points), time=_time(time), **more)
        return self._transport.json(Request("POST", f"{self._path}/predict", sent))

    def explain(self) -> RemoteExplanation:
        """In words and figures: the last reset and why, what is believed best now, and how sure that is."""
        figures = self._get("/explain")
        return read(RemoteExplanation, {**figures, "figures": figures} if isinstance(figures, dict) else None)

    def export(self, path: str | Path, format: str | None = None) -> None:
        """Write the journal as "csv", "jsonl" or "parquet" (from the file's ending if left out).

        The file is there whole or not at all.
        """
        target = Path(path)
        kind = FORMATS.get(target.suffix.lower(), "") if format is None else format
        request = Request(
            "GET", f"{self._path}/export?{urlencode({'format': one_of('format', kind, NAMES)})}"
        )
        with whole(target, private=True) as draft:
            self._transport.save(request, draft)

    # -- requests ------------------------------------------------------------------------------------

    def _get(self, path: str = "", query: Mapping[str, Any] | None = None) -> Any:
        asked = f"?{urlencode(query, doseq=True)}" if query else ""
        return self._transport.json(Request("GET", f"{self._path}{path}{asked}"))

    def _post(self, verb: str, sent: bytes, key: str | None) -> Any:
        name = secrets.token_urlsafe(16) if key is None else _key(key)
        return self._transport.json(Request("POST", f"{self._path}/{verb}", sent, key=name))


def _number(trial: Trial | int) -> int:
    return trial.number if isinstance(trial, Trial) else integer("trial", trial, at_least=1)


def _target(trial: Trial | Record | int) -> dict[str, int]:
    if isinstance(trial, Record):
        return {"record": trial.seq}
    return {"trial": _number(trial)}


def _told(y: Any, noise_variance: Any, std: Any, outcomes: Any, named: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return {**Reading.of(y, noise_variance, std).told, "outcomes": outcomes_of(outcomes, named) or None}
    except (InvalidArgument, InvalidType) as error:
        if str(error).startswith("y"):
            error.add_note("an evaluation that gave no number is recorded with fail(trial, reason)")
        raise


def _time(time: Any) -> float | None:
    return None if time is None else instant("time", time)


def _seen(context: Any) -> dict[str, Any] | None:
    if context is None:
        return None
    if not isinstance(context, Mapping) or not all(isinstance(name, str) for name in context):
        raise InvalidType(f"context={context!r}: must be a dict of what is observed, by name")
    found: dict[str, Any] = plain(dict(context))
    return found


def _notes(metadata: Any) -> dict[str, Any] | None:
    if metadata is not None and not isinstance(metadata, Mapping):
        raise InvalidType("metadata: must be a dict whose keys are strings")
    return None if metadata is None else dict(metadata)


def _key(key: Any) -> str:
    if not isinstance(key, str) or not 1 <= len(key) <= 200 or not key.isascii() or not key.isprintable():
        raise InvalidArgument("key: must be 1 to 200 printable ASCII characters")
    return key
