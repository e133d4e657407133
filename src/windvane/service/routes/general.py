"""About the service itself: who is asking, which algorithms there are, health and metrics."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

import windvane
from windvane.algorithms import ALGORITHMS
from windvane.errors import StorageFailure
from windvane.service.answers import Answer
from windvane.service.core import service_of
from windvane.service.problems import documented
from windvane.service.routes.common import READ, JsonRoute, identity_of
from windvane.service.shapes import AlgorithmsShape, HealthShape, SessionShape

routes = APIRouter(tags=["general"], route_class=JsonRoute)
METRICS = {
    "content": {"text/plain": {"schema": {"type": "string"}}},
    "description": "Prometheus's text format",
}
FAILING = {"model": HealthShape, "description": "the database cannot be used now"}


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


@routes.get("/health", response_model=HealthShape, responses={503: FAILING, 429: documented()[429]})
async def health(request: Request) -> Any:
    """Whether the service and its database work. Needs no token, and says nothing about studies."""
    service = service_of(request)
    try:
        await service.call(service.ping)
    except StorageFailure:
        return Answer({"status": "failing", "database": "failing", "version": windvane.__version__}, 503)
    return Answer({"status": "ok", "database": "ok", "version": windvane.__version__})


@routes.get("/metrics", dependencies=READ, response_class=Response, responses={200: METRICS, **documented()})
async def metrics(request: Request) -> Response:
    """Figures for Prometheus."""
    service = service_of(request)
    return Response(await service.call(service.metrics.text), media_type=CONTENT_TYPE_LATEST)
