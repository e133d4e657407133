"""Trials: ask for a point, tell its value, say that it failed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Body, Query, Request

from windvane.protocol.requests import UNSET, AskRequest, FailRequest, TellRequest
from windvane.service.answers import Answer
from windvane.service.bodies import AskBody, FailBody, TellBody
from windvane.service.core import service_of
from windvane.service.problems import documented
from windvane.service.routes.common import READ, STEP, DirectRoute, Key, Name, router, written
from windvane.service.shapes import TrialShape, TrialsShape

routes = router("trials", DirectRoute)
waiting = router("trials")


@routes.post("/studies/{name}/ask", **{**STEP, "response_model": TrialShape | TrialsShape})
async def ask(
    request: Request, name: Name, body: Annotated[AskBody | None, Body()] = None, key: Key = None
) -> Any:
    """The next point to evaluate, as a trial. Each ask gives another; with `count`, a list of trials."""
    service = service_of(request)
    given = body or AskBody()
    patience = given.expires_after if "expires_after" in given.model_fields_set else UNSET
    what = (given.time, given.context, given.available, given.count)
    asked = AskRequest.of(*what, patience, given.metadata, key)
    trials = [trial.as_dict() for trial in await service.write(name, lambda study: study.begin(asked))]
    service.streams.ring(name)
    return Answer(trials[0] if given.count is None else {"trials": trials}, 201)


@routes.post("/studies/{name}/tell", **STEP)
async def tell(request: Request, name: Name, body: Annotated[TellBody, Body()], key: Key = None) -> Any:
    """Record a measurement, of a trial or of a point that nobody asked for. On disk when answered."""
    told: Any = {"noise_variance": body.noise_variance, "std": body.std, "outcomes": body.outcomes}
    asked = TellRequest.of(body.trial, body.x, body.y, body.time, **told, metadata=body.metadata, key=key)
    return await written(request, name, asked, body.outcomes)


@routes.post("/studies/{name}/fail", **STEP)
async def fail(request: Request, name: Name, body: Annotated[FailBody, Body()], key: Key = None) -> Any:
    """Record that a trial could not be evaluated: such points are kept away from."""
    return await written(request, name, FailRequest.of(body.trial, body.reason, body.metadata, key))


@waiting.get(
    "/studies/{name}/trials", dependencies=READ, response_model=TrialsShape, responses=documented(404)
)
async def trials(
    request: Request,
    name: Name,
    status: Annotated[Literal["pending"], Query(description="others: see events")] = "pending",  # noqa: ARG001
) -> Any:
    """The trials that wait for an answer, oldest first."""
    found = await service_of(request).read(name, lambda study: study.pending())
    return Answer({"trials": [trial.as_dict() for trial in found]})
