"""A hand on the wheel: resets, values taken back or corrected, another space."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Body, Request

from windvane.protocol.corrections import Correction
from windvane.protocol.requests import AmendRequest, RedefineRequest, ResetRequest
from windvane.service.bodies import CorrectBody, ResetBody, RetractBody, SpaceBody
from windvane.service.routes.common import STEP, Key, Name, router, written
from windvane.service.work import check_work
from windvane.spelling import space_from_json

routes = router("a hand on the wheel")


@routes.post("/studies/{name}/reset", **STEP)
async def reset(
    request: Request, name: Name, body: Annotated[ResetBody | None, Body()] = None, key: Key = None
) -> Any:
    """Something is known to have changed: what was told before is of the past. Webhooks are called."""
    given = body or ResetBody()
    return await written(request, name, ResetRequest.of(given.reason, given.metadata, key), long=True)


@routes.post("/studies/{name}/retract", **STEP)
async def retract(request: Request, name: Name, body: Annotated[RetractBody, Body()], key: Key = None) -> Any:
    """Take back a value that was wrong. The journal keeps it; the model is as if it had never been told.

    What was told since the last checkpoint before it is told again, which takes as long as it took.
    """
    return await written(request, name, _amendment(body, None, key), long=True)


@routes.post("/studies/{name}/correct", **STEP)
async def correct(request: Request, name: Name, body: Annotated[CorrectBody, Body()], key: Key = None) -> Any:
    """Another value: the model is as if it had been told that one. It takes as long as a retraction."""
    right = Correction.of(body.y, body.noise_variance, body.std, body.outcomes, {})
    return await written(request, name, _amendment(body, right, key), body.outcomes, long=True)


@routes.post("/studies/{name}/space", **STEP)
async def change_space(
    request: Request, name: Name, body: Annotated[SpaceBody, Body()], key: Key = None
) -> Any:
    """Go on with other bounds or options of the same parameters; all that was told is told again there.

    `event.left_out` is the number of values that lie outside. They come back if the space becomes larger.
    """
    space = space_from_json(body.space.model_dump())
    check_work({}, space)
    asked = RedefineRequest.of(space, body.reason, body.metadata, key)
    return await written(request, name, asked, long=True)


def _amendment(body: RetractBody, right: Correction | None, key: str | None) -> AmendRequest:
    what, number = ("trial", body.trial) if body.record is None else ("record", body.record)
    return AmendRequest.of(what, number, right, body.reason, body.metadata, key)
