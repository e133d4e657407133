"""What the model believes: the best point, predictions, a slice on a grid, an explanation in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from fastapi import Body, Query, Request

from windvane.errors import Conflict, InvalidArgument
from windvane.protocol.measured import check_of
from windvane.service import limits
from windvane.service.answers import Answer
from windvane.service.bodies import PredictBody
from windvane.service.core import Pace, service_of
from windvane.service.problems import documented
from windvane.service.routes.common import READ, Name, names_in_a_body, router
from windvane.service.shapes import BestShape, ExplanationShape, PredictionShape, SurfaceShape
from windvane.service.spaces import Slice, middle, slice_of
from windvane.spelling import plain
from windvane.study import Study
from windvane.study.limits import believed
from windvane.study.live import Live

routes = router("model")
PART = 500  # points that are predicted at once: some milliseconds. Of more, the arrays are such that each is
# memory that the system gives anew, page by page: a surface of 100 x 100 took a quarter longer
LARGE = 50_000  # bytes of an answer, about 2,500 numbers
SeenContext = Annotated[
    str, Query(max_length=limits.CONTEXT, description='JSON, if the space has contexts: {"load": 37}')
]
AtTime = Annotated[
    float | None, Query(allow_inf_nan=False, description="as of this time; else one step after the last")
]


@routes.get(
    "/studies/{name}/best", dependencies=READ, response_model=BestShape, responses=documented(404, 409)
)
async def best(request: Request, name: Name, context: SeenContext = "", time: AtTime = None) -> Any:
    """The point believed best now, or at a later time; under a context, if the space has any."""
    seen = _seen(context)

    def work(study: Study) -> Answer:
        now = study.snapshot()
        optimizer, at = now.optimizer, now.not_before(time)
        if optimizer.step == 1:
            raise Conflict("best: nothing is known before the first tell")
        found = optimizer.best(at, context=seen)
        told = {"x": plain(found.x), "mean": found.mean, "std": found.std, "steps": found.steps}
        return Answer({**told, "feasible": found.feasible, "outcomes": believed(optimizer, found.x, at)})

    return await service_of(request).read(name, work)


@routes.post(
    "/studies/{name}/predict",
    dependencies=READ,
    response_model=PredictionShape,
    responses=documented(400, 404, 413, 415),
)
async def predict(request: Request, name: Name, body: Annotated[PredictBody, Body()]) -> Any:
    """Mean and standard deviation of the objective, or `of` a constraint, noise excluded.

    Changes nothing: a read token will do.
    """

    service = service_of(request)

    def work(study: Study) -> Answer:
        pace, now = service.pace(), study.snapshot()
        found = _predicted(pace, now, body.points, body.time, body.of)
        if body.feasibility:
            found |= _feasibility(pace, now, body.points, body.time)
        return _at(pace, {key: _listed(values) for key, values in found.items()})

    return await service.read(name, work)


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
    of: Annotated[
        str, Query(max_length=limits.NAME, description="a constraint; left out: the objective")
    ] = "",
    feasibility: Annotated[bool, Query(description="also how probably the constraints hold")] = False,
) -> Any:
    """A slice of the model on a grid, through the believed best; through the middle before any tell.

    It is of the objective, or `of` a constraint. Contexts that are left out are what they were at the last
    tell.
    """
    seen, service = _seen(context), service_of(request)

    def work(study: Study) -> Answer:
        pace, now = service.pace(), study.snapshot()
        optimizer, space = now.optimizer, now.optimizer.space
        under = None if not space.contexts else (optimizer.last_context or {}) | (seen or {})
        at = optimizer.best(context=under or seen).x if optimizer.step > 1 else middle(space)
        grid = slice_of(space, at, [each for each in axes.split(",") if each], resolution)
        pace.rest()
        found = _predicted(pace, now, grid.points, None, of or None)
        if feasibility:
            found |= _feasibility(pace, now, grid.points, None)
        shown = {key: _listed(values, grid) for key, values in found.items()}
        return _at(pace, {"axes": grid.axes, "at": grid.at, "of": of or None, **shown})

    return await service.read(name, work)


@routes.get(
    "/studies/{name}/explain", dependencies=READ, response_model=ExplanationShape, responses=documented(404)
)
async def explain(request: Request, name: Name) -> Any:
    """In words and figures: why the last reset happened, what is believed best now, and how sure."""
    return await service_of(request).read(name, lambda study: Answer(study.explain().as_dict()))


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


def _predicted(pace: Pace, now: Live, points: Any, time: float | None, of: str | None) -> dict[str, Any]:
    """Mean and standard deviation at m points."""
    with names_in_a_body():
        check_of(of, now.optimizer.constraints)
    moment = now.not_before(time)
    parts = _in_parts(pace, points, lambda some: now.optimizer.predict(some, moment, of=of))
    mean, std = (np.concatenate(each) for each in zip(*parts, strict=True))
    return {"mean": mean, "std": std}


def _feasibility(pace: Pace, now: Live, points: Any, time: float | None) -> dict[str, Any]:
    """How probably all constraints hold at points, and each of them; all, if there are none."""
    moment = now.not_before(time)
    parts = _in_parts(pace, points, lambda some: now.optimizer.feasibility(some, moment))
    each = {name: np.concatenate([part[name] for part in parts]) for name in now.optimizer.constraints}
    return {"feasible": np.prod([np.ones(len(points)), *each.values()], axis=0), "feasibility": each}


def _in_parts(pace: Pace, points: Any, work: Callable[[Any], Any]) -> list[Any]:
    """What is computed of many points, a part of them at a time: steps of other requests come in between."""
    found = list[Any]()
    for start in range(0, max(len(points), 1), PART):
        found.append(work(points[start : start + PART]))
        if len(points) > PART:
            pace.rest()
    return found


def _at(pace: Pace, content: dict[str, Any]) -> Answer:
    """The answer. To write thousands of numbers takes as long as to compute them, so that is paced, too."""
    answer = Answer(content)
    if len(answer.body) > LARGE:
        pace.rest()
    return answer


def _listed(values: Any, grid: Slice | None = None) -> Any:
    """Arrays as lists, in the shape of a grid."""
    if isinstance(values, dict):
        return {name: _listed(each, grid) for name, each in values.items()}
    return (values if grid is None else np.reshape(values, grid.shape)).tolist()
