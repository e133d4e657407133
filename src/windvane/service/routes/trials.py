"""Trials: ask for a point, tell its value, say that it failed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Body, Query, Request

from windvane.protocol.records import Trial
from windvane.service.answers import Answer
from windvane.service.bodies import AskBody, FailBody, TellBody
from windvane.service.core import service_of
from windvane.service.problems import documented
from windvane.service.routes.common import READ, WRITE, DirectRoute, Key, Name, known_outcomes, router
from windvane.service.shapes import RecordShape, TrialShape, TrialsShape
from windvane.storage import Record
from windvane.study import Study

routes = router("trials", DirectRoute)
waiting = router("trials")
FAILURES = documented(400, 404, 409, 413, 415)


@routes.post(
    "/studies/{name}/ask",
    dependencies=WRITE,
    status_code=201,
    response_model=TrialShape | TrialsShape,
    responses=FAILURES,
)
async def ask(
    request: Request, name: Name, body: Annotated[AskBody | None, Body()] = None, key: Key = None
) -> Any:
    """The next point to evaluate, as a trial. Each ask gives another; with `count`, a list of trials."""
    service = service_of(request)
    given = body or AskBody()
    options: dict[str, Any] = {}
    if "expires_after" in given.model_fields_set:  # else the study's own
        options["expires_after"] = given.expires_after

    def work(study: Study) -> Trial | list[Trial]:
        found: Trial | list[Trial] = study.ask(
            given.time,
            context=given.context,
            available=given.available,
            count=given.count,
            metadata=given.metadata,
            key=key,
            **options,
        )
        return found

    found = await service.write(name, work)
    service.streams.ring(name)
    if isinstance(found, list):
        return Answer({"trials": [trial.as_dict() for trial in found]}, 201)
    return Answer(found.as_dict(), 201)


@routes.post(
    "/studies/{name}/tell",
    dependencies=WRITE,
    status_code=201,
    response_model=RecordShape,
    responses=FAILURES,
)
async def tell(request: Request, name: Name, body: Annotated[TellBody, Body()], key: Key = None) -> Any:
    """Record a measurement, of a trial or of a point that nobody asked for. On disk when answered."""
    service = service_of(request)

    def work(study: Study) -> tuple[Record, bool]:
        known_outcomes(study, body.outcomes)
        new = study.recorded(key) is None
        more: Any = {"noise_variance": body.noise_variance, "std": body.std, "outcomes": body.outcomes}
        more |= {"metadata": body.metadata, "key": key}
        if body.trial is not None:
            return study.submit_tell(body.trial, body.y, body.time, **more), new
        return study.submit_add(body.x, body.y, body.time, **more), new

    record, new = await service.write(name, work)
    if new:
        service.noticed(name, record)
    return Answer(record.as_dict(), 201)


@routes.post(
    "/studies/{name}/fail",
    dependencies=WRITE,
    status_code=201,
    response_model=RecordShape,
    responses=FAILURES,
)
async def fail(request: Request, name: Name, body: Annotated[FailBody, Body()], key: Key = None) -> Any:
    """Record that a trial could not be evaluated. The model is told nothing."""
    service = service_of(request)

    def work(study: Study) -> tuple[Record, bool]:
        new = study.recorded(key) is None
        return study.fail(body.trial, body.reason, metadata=body.metadata, key=key), new

    record, new = await service.write(name, work)
    if new:
        service.noticed(name, record)
    return Answer(record.as_dict(), 201)


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
