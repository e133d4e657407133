"""What the model believes: the best point, predictions, a slice on a grid, an explanation in words."""

from __future__ import annotations

import json
from typing import Annotated, Any

import numpy as np
from fastapi import Body, Query, Request

from windvane.errors import Conflict, InvalidArgument
from windvane.service import limits
from windvane.service.answers import Answer
from windvane.service.bodies import PredictBody
from windvane.service.core import service_of
from windvane.service.problems import documented
from windvane.service.routes.common import READ, Name, router
from windvane.service.shapes import BestShape, ExplanationShape, PredictionShape, SurfaceShape
from windvane.service.spaces import middle, slice_of
from windvane.study import Study

routes = router("model")
SeenContext = Annotated[
    str, Query(max_length=limits.CONTEXT, description='JSON, if the space has contexts: {"load": 37}')
]


@routes.get(
    "/studies/{name}/best", dependencies=READ, response_model=BestShape, responses=documented(404, 409)
)
async def best(request: Request, name: Name, context: SeenContext = "") -> Any:
    """The point believed best now; under a context, if the space has any."""
    seen = _seen(context)

    def work(study: Study) -> dict[str, Any]:
        if not _told(study):
            raise Conflict("best: nothing is known before the first tell")
        found = study.best(context=seen)
        return {"x": _plain(found.x), "mean": found.mean, "std": found.std, "steps": found.steps}

    return Answer(await service_of(request).use(name, work))


@routes.post(
    "/studies/{name}/predict",
    dependencies=READ,
    response_model=PredictionShape,
    responses=documented(400, 404, 413, 415),
)
async def predict(request: Request, name: Name, body: Annotated[PredictBody, Body()]) -> Any:
    """Mean and standard deviation of the objective, noise excluded. Changes nothing: a read token will do."""

    def work(study: Study) -> dict[str, Any]:
        mean, std = study.predict(body.points, body.time)
        return {"mean": mean.tolist(), "std": std.tolist()}

    return Answer(await service_of(request).use(name, work))


@routes.get(
    "/studies/{name}/surface", dependencies=READ, response_model=SurfaceShape, responses=documented(404)
)
async def surface(
    request: Request,
    name: Name,
    axes: Annotated[
        str, Query(max_length=2 * limits.NAME + 1, description="one or two names, with a comma")
    ] = "",
    resolution: Annotated[int, Query(ge=2, le=limits.RESOLUTION, description="points on an axis")] = 41,
    context: SeenContext = "",
) -> Any:
    """A slice of the model on a grid, through the believed best; through the middle before any tell.

    Contexts that are left out are what they were at the last tell.
    """
    seen = _seen(context)

    def work(study: Study) -> dict[str, Any]:
        space = study.space
        now = None if not space.contexts else (study.optimizer.last_context or {}) | (seen or {})
        at = study.best(context=now or seen).x if _told(study) else middle(space)
        grid = slice_of(space, at, [each for each in axes.split(",") if each], resolution)
        mean, std = study.predict(grid.points)
        shaped = {"mean": np.reshape(mean, grid.shape), "std": np.reshape(std, grid.shape)}
        return {"axes": grid.axes, "at": grid.at, **{key: values.tolist() for key, values in shaped.items()}}

    return Answer(await service_of(request).use(name, work))


@routes.get(
    "/studies/{name}/explain", dependencies=READ, response_model=ExplanationShape, responses=documented(404)
)
async def explain(request: Request, name: Name) -> Any:
    """In words and figures: why the last reset happened, what is believed best now, and how sure."""
    return Answer(await service_of(request).use(name, lambda study: study.explain().as_dict()))


def _seen(text: str) -> dict[str, Any] | None:
    """A context that was sent as JSON in the address."""
    if not text:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidArgument(f'context={text[:60]!r}: must be an object in JSON, such as {{"load": 37}}')
    return found


def _told(study: Study) -> bool:
    return study.optimizer.step > 1


def _plain(point: Any) -> Any:
    return point.tolist() if isinstance(point, np.ndarray) else point
