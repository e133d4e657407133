"""What the routes share: parameters, the scope that each needs, and JSON read by the letter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, get_type_hints

from fastapi import APIRouter, Depends, Header, Path, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import TypeAdapter, ValidationError
from starlette.exceptions import HTTPException

from windvane.errors import InvalidArgument, UnknownName
from windvane.protocol import Record
from windvane.protocol.measured import check_names
from windvane.protocol.requests import WriteRequest
from windvane.service import limits
from windvane.service.access import Identity
from windvane.service.answers import Answer, loads
from windvane.service.core import service_of
from windvane.service.problems import Refused, documented
from windvane.service.shapes import RecordShape
from windvane.study import Study

Name = Annotated[
    str, Path(min_length=1, max_length=limits.NAME, description="of the study", examples=["plant"])
]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=limits.KEY,
        pattern="^[ -~]+$",
        description="makes a retry harmless: the same key again gives the first outcome",
    ),
]

_bearer = HTTPBearer(auto_error=False, scheme_name="token", description="made by `windvane token add`")


class JsonRequest(Request):
    """A request whose body is JSON by the letter: no NaN, no infinity."""

    async def json(self) -> Any:
        return parsed(await self.body())


class JsonRoute(APIRoute):
    """A route that reads such requests."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with the request exchanged."""
        handler = super().get_route_handler()

        async def read(request: Request) -> Response:
            try:
                return await handler(JsonRequest(request.scope, request.receive))
            except HTTPException as error:  # FastAPI's own, which does not say what is wrong with the body
                if isinstance(error.__cause__, Refused):
                    raise error.__cause__ from None
                raise

        return read


class DirectRoute(APIRoute):
    """A route for `request`, `name`, `body` and `key` that needs the write scope, and no more than that.

    Ask and tell are called all the time, and what FastAPI works out anew for every request costs about as
    much as everything else around the study (docs/decisions/0017-service.md). The OpenAPI document is made
    from the signature as for any other route.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler."""
        endpoint: Callable[..., Awaitable[Response]] = self.endpoint
        reader = TypeAdapter(get_type_hints(endpoint, include_extras=True)["body"])

        async def handle(request: Request) -> Response:
            demand(request, "write")
            raw = await request.body()
            try:
                body = reader.validate_python(parsed(raw) if raw else None)
            except ValidationError as error:
                raise RequestValidationError(error.errors()) from None
            key = request.headers.get("idempotency-key")
            return await endpoint(request, name=request.path_params["name"], body=body, key=key)

        return handle


def parsed(body: bytes) -> Any:
    """The value of a body, or a refusal that says that it is not JSON."""
    try:
        return loads(body)
    except InvalidArgument as error:
        raise Refused(400, "InvalidArgument", str(error)) from None


def identity_of(request: Request) -> Identity:
    """Who is asking."""
    identity: Identity = request.state.identity
    return identity


def demand(request: Request, scope: str) -> None:
    """`Refused` unless the caller has this scope."""
    if scope not in identity_of(request).scopes:
        raise Refused(403, "Forbidden", f"this needs a token with the scope {scope!r}")


def needs(scope: str) -> Callable[..., Awaitable[None]]:
    """A dependency: the caller must have this scope. Also tells the OpenAPI document."""

    async def check(request: Request, _: Annotated[Any, Security(_bearer)] = None) -> None:
        demand(request, scope)

    return check


def router(tag: str, kind: type[APIRoute] = JsonRoute) -> APIRouter:
    """A router for study routes."""
    return APIRouter(prefix="/v1", tags=[tag], route_class=kind)


@contextmanager
def names_in_a_body() -> Iterator[None]:
    """A name that is unknown is answered with 422: a 404 is about the address."""
    try:
        yield
    except UnknownName as error:
        raise Refused(422, "UnknownName", str(error)) from None


def known_outcomes(study: Study, names: Iterable[str] | None) -> None:
    """`Refused` unless these are constraints of the study."""
    if names:
        with names_in_a_body():
            check_names(names, study.constraints)


async def written(
    request: Request,
    name: str,
    asked: WriteRequest,
    outcomes: Iterable[str] | None = None,
    *,
    long: bool = False,
) -> Answer:
    """Have a request carried out, and answer with its record; `outcomes` are the constraints it names."""
    service = service_of(request)

    def work(study: Study) -> tuple[Record, bool]:
        known_outcomes(study, outcomes)
        return study.carry_out(asked)

    record, new = await service.write(name, work, long=long)
    if new:
        service.noticed(name, record)
    return Answer(record.as_dict(), 201)


READ = [Depends(needs("read"))]
WRITE = [Depends(needs("write"))]
STEP: dict[str, Any] = {  # of a route that makes a step of a study
    "dependencies": WRITE,
    "status_code": 201,
    "response_model": RecordShape,
    "responses": documented(400, 404, 409, 413, 415),
}
