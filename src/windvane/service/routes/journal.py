"""The journal: pages of records, a live stream of them, and all of it as a file."""

from __future__ import annotations

import os
import tempfile
import threading
from collections import OrderedDict
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal
from weakref import WeakKeyDictionary

from fastapi import Header, Query, Request, Response
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, StreamingResponse

from windvane.protocol import AMENDING, Kind, Record, Summary
from windvane.service import limits
from windvane.service.answers import Answer
from windvane.service.core import Service, service_of
from windvane.service.problems import documented
from windvane.service.routes.common import READ, Name, identity_of, router
from windvane.service.shapes import EventsShape, TrackShape
from windvane.storage.course import sampled
from windvane.study.track import Believed, track

routes = router("journal")
FORMATS = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
STREAM = {
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
    "description": "until either side ends it",
}
FILE = {
    "content": {kind.partition(";")[0]: {"schema": {"type": "string"}} for kind in FORMATS.values()},
    "description": "the file",
}
After = Annotated[int, Query(ge=0, le=limits.SERIAL, description="only records with a larger number")]


@routes.get(
    "/studies/{name}/events", dependencies=READ, response_model=EventsShape, responses=documented(404)
)
async def events(
    request: Request,
    name: Name,
    after: After = 0,
    limit: Annotated[int, Query(ge=1, le=limits.PAGE)] = limits.PAGE,
    kind: Annotated[list[Kind] | None, Query(description="only these kinds", max_length=8)] = None,
    resets: Annotated[bool, Query(description="only resets")] = False,
    violations: Annotated[bool, Query(description="only tells with a constraint beyond its limit")] = False,
    newest: Annotated[bool, Query(description="the last ones, still in order")] = False,
    beliefs: Annotated[bool, Query(description="with the weights of all hypotheses")] = True,
) -> Any:
    """Records in order, a page at a time: ask again with `after` the last number you have."""
    service = service_of(request)

    def read() -> Any:
        summary = service.database.find(name)
        study = service.studies.current(summary)
        found = study.events(after, limit, kinds=kind, resets=resets, violations=violations, newest=newest)
        return {
            "events": [record.as_dict() if beliefs else _light(record) for record in found],
            "head": max([summary.head, *(record.seq for record in found[-1:])]),
        }

    return Answer(await service.call(read))


@routes.get(
    "/studies/{name}/course", dependencies=READ, response_model=EventsShape, responses=documented(404)
)
async def course(
    request: Request,
    name: Name,
    points: Annotated[int, Query(ge=2, le=limits.COURSE, description="about how many tells")] = limits.COURSE,
) -> Any:
    """All tells in as many as a picture can show.

    Of each stretch the lowest and the highest value, and every reset. The records are those of `/events`,
    without the weights of hypotheses.
    """
    service = service_of(request)

    def read() -> Any:
        summary = service.database.find(name)
        with service.database.link.reading() as connection:
            found = sampled(connection, summary.id, points, summary.head)
        return {"events": [_light(record) for record in found], "head": summary.head}

    return Answer(await service.call(read))


@routes.get("/studies/{name}/track", dependencies=READ, response_model=TrackShape, responses=documented(404))
async def believed_best(
    request: Request,
    name: Name,
    last: Annotated[int, Query(ge=1, le=limits.TRACK, description="how many tells to look at")] = 100,
    points: Annotated[int, Query(ge=1, le=100, description="after about how many of them")] = 25,
) -> Any:
    """What was believed best after some of the last tells.

    The journal is followed once more to find out, on a copy, which takes about as long as these tells took;
    what was found is kept for a while.
    """
    service = service_of(request)

    def read() -> Any:
        summary = service.database.find(name)
        found = TRACKS.setdefault(service, Tracks()).find(service, summary, last, points)
        return {"track": [asdict(each) for each in found]}

    return Answer(await service.call_long(read))


class Tracks:
    """What was believed best in the studies looked at last; one is followed at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[int, int, int], tuple[int, list[Believed]]] = OrderedDict()

    def find(self, service: Service, summary: Summary, last: int, points: int) -> list[Believed]:
        """The track of a study: what is kept, unless a good part of it would be missing by now."""
        key = (summary.id, last, points)
        with self._lock:
            head, found = self._kept.get(key, (None, []))
            recent = head is not None and 0 <= summary.head - head <= last // 4
            # what was amended since counts otherwise
            if recent and not service.studies.current(summary).events(head or 0, 1, kinds=AMENDING):
                return found
            link, stopped = service.database.link, service.streams
            found = track(link, summary.id, last, points, lambda: not stopped.closing)
            self._kept[key] = (summary.head, found)
            self._kept.move_to_end(key)
            while len(self._kept) > limits.TRACKS:
                self._kept.popitem(last=False)
            return found


TRACKS: WeakKeyDictionary[Service, Tracks] = WeakKeyDictionary()


def _light(record: Record) -> dict[str, Any]:
    """A record without the weights of hypotheses, which are most of it."""
    event = record.event
    if event is None or not event.get("beliefs"):
        return record.as_dict()
    return record.as_dict() | {"event": {key: value for key, value in event.items() if key != "beliefs"}}


@routes.get(
    "/studies/{name}/stream",
    dependencies=READ,
    response_class=StreamingResponse,
    responses={200: STREAM, **documented(404)},
)
async def stream(
    request: Request,
    name: Name,
    after: After = 0,
    last: Annotated[
        int | None,
        Header(alias="Last-Event-ID", ge=0, le=limits.SERIAL, description="sent by browsers that reconnect"),
    ] = None,
) -> Response:
    """Records as they are written, as server-sent events: id (its number), event (its kind), data."""
    service = service_of(request)
    await service.call(service.current, name)
    service.streams.admit()

    async def fetch(after: int, limit: int) -> list[Record]:
        return await service.call(lambda: service.current(name).events(after, limit))

    chunks = service.streams.stream(name, max(after, last or 0), fetch, identity_of(request).token)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # nginx would hold it back
    return StreamingResponse(chunks, media_type="text/event-stream", headers=headers)


@routes.get(
    "/studies/{name}/export",
    dependencies=READ,
    response_class=FileResponse,
    responses={200: FILE, **documented(404)},
)
async def export(
    request: Request, name: Name, format: Annotated[Literal["csv", "jsonl", "parquet"], Query()] = "csv"
) -> Response:
    """The whole journal as a file."""
    service = service_of(request)
    handle, written = tempfile.mkstemp(prefix="windvane-", suffix=f".{format}")
    os.close(handle)
    path = Path(written)
    try:
        await service.call_long(lambda: service.current(name).export(path, format))
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return FileResponse(
        path,
        media_type=FORMATS[format],
        filename=f"{name}.{format}",
        background=BackgroundTask(path.unlink, missing_ok=True),
    )
