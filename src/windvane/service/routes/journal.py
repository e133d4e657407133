"""The journal: pages of records, a live stream of them, and all of it as a file."""

from __future__ import annotations

import os
import tempfile
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Header, Query, Request, Response
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, StreamingResponse

from windvane.service import limits
from windvane.service.answers import Answer
from windvane.service.core import Service, service_of
from windvane.service.problems import documented
from windvane.service.routes.common import READ, Name, router
from windvane.service.shapes import EventsShape, Kind
from windvane.storage import Record

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
    kind: Annotated[list[Kind] | None, Query(description="only these kinds", max_length=4)] = None,
    resets: Annotated[bool, Query(description="only resets")] = False,
    newest: Annotated[bool, Query(description="the last ones, still in order")] = False,
) -> Any:
    """Records in order, a page at a time: ask again with `after` the last number you have."""
    service = service_of(request)

    def read() -> Any:
        summary = service.database.find(name)
        study = service.studies.current(summary)
        found = study.events(after, limit, kinds=kind, resets=resets, newest=newest)
        return {
            "events": [record.as_dict() for record in found],
            "head": max([summary.head, *(record.seq for record in found[-1:])]),
        }

    return Answer(await service.call(read))


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
    chunks = service.streams.stream(name, max(after, last or 0), partial(_fetch, service, name))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # nginx would hold it back
    return StreamingResponse(chunks, media_type="text/event-stream", headers=headers)


async def _fetch(service: Service, name: str, after: int, limit: int) -> list[Record]:
    return await service.call(lambda: service.current(name).events(after, limit))


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
        await service.call(lambda: service.current(name).export(path, format))
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return FileResponse(
        path,
        media_type=FORMATS[format],
        filename=f"{name}.{format}",
        background=BackgroundTask(path.unlink, missing_ok=True),
    )
