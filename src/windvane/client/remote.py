"""One study of a service, used as a `windvane.Study` is."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np

from windvane.checks import Array, Time, integer, real
from windvane.client import stream
from windvane.client.answers import RemoteExplanation, listed, read
from windvane.client.spelling import body
from windvane.client.transport import Request, Transport
from windvane.constraints import Constraint
from windvane.data import Best, Event
from windvane.errors import InvalidArgument, Unavailable
from windvane.files import whole
from windvane.protocol import Record, StudyProtocol, Summary, Trial
from windvane.protocol.checks import format_of, space_of, study_name
from windvane.protocol.requests import (
    AskRequest,
    EventsQuery,
    ResetRequest,
    StudyRequest,
    TellRequest,
    WriteRequest,
    context_json,
    given,
    time_of,
)
from windvane.protocol.study import OnProgress
from windvane.spaces import Domain
from windvane.spelling import plain

PAGE = 1000  # records that a service gives at once
PATIENCE = 300.0  # seconds that a stream tries to connect again


class RemoteStudy(StudyProtocol):
    """Ask and tell over HTTP. Every call that writes carries a key, made once, so that retries do no harm.

    The methods are those of `windvane.Study`, and so are the errors. With a `key` of your own, a call can be
    repeated by a later process as well.
    """

    def __init__(self, transport: Transport, name: str) -> None:
        self.name = study_name(name)
        self._transport = transport
        self._path = f"/v1/studies/{quote(name, safe='')}"

    def __repr__(self) -> str:
        return f"<study {self.name!r} at {self._transport.address}>"

    # -- writing -------------------------------------------------------------------------------------

    def begin(self, request: AskRequest) -> list[Trial]:
        found = self._post(request)
        return [read(Trial, each) for each in ([found] if request.count is None else listed(found, "trials"))]

    def submit(self, request: WriteRequest, on_progress: OnProgress | None = None) -> Record:  # noqa: ARG002
        record = read(Record, self._post(request))
        if isinstance(request, TellRequest | ResetRequest):
            read(Event, {**(record.event or {}), "x": record.x, "y": record.y})  # says what it lacks
        return record

    def delete(self) -> None:
        self._transport.json(Request("DELETE", self._path, repeat=False))

    # -- reading -------------------------------------------------------------------------------------

    def summary(self) -> Summary:
        return read(Summary, self._get())

    @property
    def space(self) -> Domain:
        return space_of(self.summary().definition)

    @property
    def constraints(self) -> dict[str, Constraint]:
        return self.summary().constraints

    def pending(self) -> list[Trial]:
        found = listed(self._get("/trials", {"status": "pending"}), "trials")
        return [read(Trial, each) for each in found]

    def look_up(self, query: EventsQuery) -> list[Record]:
        wanted, last = query.limit, query.after
        if query.newest and (wanted is None or wanted > PAGE):
            raise InvalidArgument(f"limit={wanted}: with newest=True it must be at most {PAGE}")
        only = {name: str(getattr(query, name)).lower() for name in ("resets", "violations", "newest")}
        found: list[Record] = []
        while wanted is None or len(found) < wanted:
            size = PAGE if wanted is None else min(PAGE, wanted - len(found))
            asked = {"after": last, "limit": size, "kind": query.kinds or [], **only}
            page = listed(self._get("/events", asked), "events")
            found += [read(Record, each) for each in page]
            if query.newest or len(page) < size:
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

    def best(self, time: Time = None, *, context: Mapping[str, Any] | None = None) -> Best:
        seen = context_json(context)
        query = given(time=time_of(time), context=None if seen is None else body(seen).decode())
        return read(Best, self._get("/best", query))

    def predict(self, points: Any, time: Time = None, *, of: str | None = None) -> tuple[Array, Array]:
        found = self._predicted(points, time, of=of)
        mean, std = (np.array(listed(found, name), dtype=np.float64) for name in ("mean", "std"))
        return mean, std

    def feasibility(self, points: Any, time: Time = None) -> dict[str, Array]:
        found = self._predicted(points, time, feasibility=True)
        each = found.get("feasibility") if isinstance(found, dict) else None
        if not isinstance(each, dict):
            raise Unavailable("answer: lacks feasibility; is the service of an earlier version?")
        return {name: np.array(chances, dtype=np.float64) for name, chances in each.items()}

    def _predicted(self, points: Any, time: Time, **more: Any) -> Any:
        sent = body(given(points=plain(points), time=time_of(time), **more))
        return self._transport.json(Request("POST", f"{self._path}/predict", sent))

    def explain(self) -> RemoteExplanation:
        figures = self._get("/explain")
        return read(RemoteExplanation, {**figures, "figures": figures} if isinstance(figures, dict) else None)

    def export(self, path: str | Path, format: str | None = None) -> None:
        target = Path(path)
        request = Request("GET", f"{self._path}/export?{urlencode({'format': format_of(target, format)})}")
        with whole(target, private=True) as draft:
            self._transport.save(request, draft)

    # -- requests ------------------------------------------------------------------------------------

    def _get(self, path: str = "", query: Mapping[str, Any] | None = None) -> Any:
        asked = f"?{urlencode(query, doseq=True)}" if query else ""
        return self._transport.json(Request("GET", f"{self._path}{path}{asked}"))

    def _post(self, request: StudyRequest) -> Any:
        key = secrets.token_urlsafe(16) if request.key is None else request.key
        sent = body(request.body)
        return self._transport.json(Request("POST", f"{self._path}/{request.verb}", sent, key=key))
