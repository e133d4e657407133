"""About the service itself: who is asking, which algorithms and hypotheses there are, health and metrics."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

import windvane
from windvane.algorithms import ALGORITHMS
from windvane.hypothesis_names import glossary
from windvane.service.answers import Answer
from windvane.service.core import service_of
from windvane.service.problems import documented
from windvane.service.routes.common import READ, JsonRoute, identity_of
from windvane.service.shapes import (
    AlgorithmsShape,
    HealthShape,
    HypothesesShape,
    ReadinessShape,
    SessionShape,
)

routes = APIRouter(tags=["general"], route_class=JsonRoute)
METRICS = {
    "content": {"text/plain": {"schema": {"type": "string"}}},
    "description": "Prometheus's text format",
}
DEAD = {"model": HealthShape, "description": "a step does not end, or the sender of webhooks has died"}
NOT_READY = {
    "model": ReadinessShape,
    "description": "the database cannot be used now, or this service is ending",
}


@routes.get("/v1/session", dependencies=READ, response_model=SessionShape, responses=documented())
async def session(request: Request) -> Any:
    """What the caller may do."""
    identity = identity_of(request)
    return Answer(
        {
            "version": windvane.__version__,
            "scopes": list(identity.scopes),
            "authentication": identity.authentication,
        }
    )


@routes.get("/v1/algorithms", dependencies=READ, response_model=AlgorithmsShape, responses=documented())
async def algorithms() -> Any:
    """The algorithms that a study can be created with."""
    found = [
        {"name": name, "help": entry.summary, "options": list(entry.options)}
        for name, entry in ALGORITHMS.items()
    ]
    return Answer({"algorithms": found})


@routes.get("/v1/hypotheses", dependencies=READ, response_model=HypothesesShape, responses=documented())
async def hypotheses() -> Any:
    """What the names of hypotheses about time mean that the `beliefs` of an event have."""
    return Answer({"hypotheses": glossary()})


@routes.get("/health", response_model=HealthShape, responses={503: DEAD, 429: documented()[429]})
async def health(request: Request) -> Any:
    """Liveness: 503 if the process should be started anew. The database is not asked. Needs no token."""
    found = service_of(request).health.alive()
    return Answer({**found, "version": windvane.__version__}, 200 if found["status"] == "ok" else 503)


@routes.get("/ready", response_model=ReadinessShape, responses={503: NOT_READY, 429: documented()[429]})
async def ready(request: Request) -> Any:
    """Readiness: 503 if requests had better go elsewhere: the database cannot be used, or this is ending."""
    service = service_of(request)
    database, stopping = await service.health.database(), service.streams.closing
    found = service.health.alive() | {"database": database, "stopping": stopping}
    if database != "ok" or stopping:
        found["status"] = "failing"
    return Answer({**found, "version": windvane.__version__}, 200 if found["status"] == "ok" else 503)


@routes.get("/metrics", dependencies=READ, response_class=Response, responses={200: METRICS, **documented()})
async def metrics(request: Request) -> Response:
    """Figures for Prometheus."""
    service = service_of(request)
    return Response(await service.call(service.metrics.text), media_type=CONTENT_TYPE_LATEST)
