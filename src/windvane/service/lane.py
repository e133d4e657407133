"""The short way of the requests that come all the time: ask, tell and fail, past the layers of the framework.

The layers look up the route among all, keep stacks of what to close, and wrap the sending: beside a step of a
millisecond that is much. Everything else, and the OpenAPI document, goes the usual way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from windvane.errors import WindvaneError
from windvane.service.problems import answer_to

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]
BEFORE = ["", "v1", "studies"]  # of a path, then the study's name and the verb


class Lane:
    """The routes POST /v1/studies/NAME/VERB of a router, found by their verb."""

    def __init__(self, router: APIRouter) -> None:
        routes = [route for route in router.routes if isinstance(route, APIRoute)]
        self._routes = {
            route.path.rpartition("/")[2]: (route, route.get_route_handler())
            for route in routes
            if route.path.startswith("/".join([*BEFORE, "{name}/"])) and route.methods == {"POST"}
        }

    def find(self, scope: Scope) -> App | None:
        """What answers a request, if it may go this way."""
        parts = scope["path"].split("/")
        if scope["method"] != "POST" or len(parts) != 5 or parts[:3] != BEFORE or not parts[3]:
            return None
        route, handler = self._routes.get(parts[4], (None, None))
        if handler is None:
            return None
        scope["route"], scope["path_params"] = route, {"name": parts[3]}
        return _App(handler)


class _App:
    """One route as an application."""

    def __init__(self, handler: Callable[[Request], Awaitable[Response]]) -> None:
        self._handler = handler

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        try:
            response = await self._handler(Request(scope, receive))
        except (WindvaneError, RequestValidationError) as error:
            response = answer_to(error)
        await response(scope, receive, send)
