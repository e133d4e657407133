"""A hand on the wheel: resets, values taken back or corrected, another space."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Body, Request

from windvane.errors import InvalidArgument, UnknownName
from windvane.service.answers import Answer
from windvane.service.bodies import CorrectBody, ResetBody, RetractBody, SpaceBody
from windvane.service.core import service_of
from windvane.service.problems import documented
from windvane.service.routes.common import WRITE, Key, Name, known_outcomes, router
from windvane.service.shapes import RecordShape
from windvane.service.work import check_work
from windvane.spelling import space_from_json
from windvane.storage import Record
from windvane.study import Study

routes = router("a hand on the wheel")
ROUTE: dict[str, Any] = {
    "dependencies": WRITE,
    "status_code": 201,
    "response_model": RecordShape,
    "responses": documented(400, 404, 409, 413, 415),
}


@routes.post("/studies/{name}/reset", **ROUTE)
async def reset(
    request: Request, name: Name, body: Annotated[ResetBody | None, Body()] = None, key: Key = None
) -> Any:
    """Something is known to have changed: what was told before is of the past. Webhooks are called."""
    given = body or ResetBody()
    return await _written(
        request, name, key, lambda study: study.submit_reset(given.reason, metadata=given.metadata, key=key)
    )


@routes.post("/studies/{name}/retract", **ROUTE)
async def retract(request: Request, name: Name, body: Annotated[RetractBody, Body()], key: Key = None) -> Any:
    """Take back a value that was wrong. The journal keeps it; the model is as if it had never been told.

    What was told since the last checkpoint before it is told again, which takes as long as it took.
    """
    return await _written(
        request,
        name,
        key,
        lambda study: study.retract(_target(study, body), body.reason, metadata=body.metadata, key=key),
    )


@routes.post("/studies/{name}/correct", **ROUTE)
async def correct(request: Request, name: Name, body: Annotated[CorrectBody, Body()], key: Key = None) -> Any:
    """Another value: the model is as if it had been told that one. It takes as long as a retraction."""
    return await _written(
        request,
        name,
        key,
        lambda study: _corrected(study, body, key),
    )


@routes.post("/studies/{name}/space", **ROUTE)
async def change_space(
    request: Request, name: Name, body: Annotated[SpaceBody, Body()], key: Key = None
) -> Any:
    """Go on with other bounds or options of the same parameters; all that was told is told again there.

    `event.left_out` is the number of values that lie outside. They come back if the space becomes larger.
    """
    space = space_from_json(body.space.model_dump())
    check_work({}, space)
    return await _written(
        request,
        name,
        key,
        lambda study: study.change_space(space, body.reason, metadata=body.metadata, key=key),
    )


def _corrected(study: Study, body: CorrectBody, key: str | None) -> Record:
    known_outcomes(study, body.outcomes)
    return study.correct(
        _target(study, body),
        body.y,
        body.reason,
        noise_variance=body.noise_variance,
        std=body.std,
        outcomes=body.outcomes,
        metadata=body.metadata,
        key=key,
    )


def _target(study: Study, body: RetractBody) -> Record | int:
    if body.record is None:
        if body.trial is None:
            raise InvalidArgument("trial: must be given, or record")
        return body.trial
    found = study.events(body.record - 1, 1)
    if not found or found[0].seq != body.record:
        raise UnknownName(f"record={body.record}: study {study.name!r} has none of that number")
    return found[0]


async def _written(request: Request, name: str, key: str | None, work: Callable[[Study], Record]) -> Answer:
    service = service_of(request)

    def counted(study: Study) -> tuple[Record, bool]:
        new = study.recorded(key) is None
        return work(study), new

    record, new = await service.write(name, counted, long=True)
    if new:
        service.noticed(name, record)
    return Answer(record.as_dict(), 201)
