"""Studies: list, create, look at, delete."""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import Body, Query, Request, Response

from windvane.checks import sound_text
from windvane.errors import InvalidArgument, UnknownName, WindvaneError
from windvane.service import limits
from windvane.service.answers import Answer
from windvane.service.bodies import CreateBody
from windvane.service.core import service_of
from windvane.service.problems import documented
from windvane.service.routes.common import READ, WRITE, Name, router
from windvane.service.shapes import StudiesShape, SummaryShape
from windvane.service.work import check_work
from windvane.spelling import options_from_json, space_from_json
from windvane.study import Study

routes = router("studies")
OPENED: dict[int | str, dict[str, Any]] = {
    200: {"model": SummaryShape, "description": "with `exist_ok`: there was one already"}
}


@routes.get("/studies", dependencies=READ, response_model=StudiesShape, responses=documented())
async def list_studies(
    request: Request,
    after: Annotated[
        str, Query(max_length=limits.NAME, pattern="^[^\\x00]*$", description="only studies after this name")
    ] = "",
    limit: Annotated[
        int | None, Query(ge=1, le=limits.PAGE, description="so many at most; left out: all there are")
    ] = None,
) -> Any:
    """All studies by name, or a page of them: ask again with `after` the last name you have."""
    service = service_of(request)

    def read() -> Answer:
        found = service.database.studies(sound_text(after), limit)
        return Answer({"studies": [summary.as_dict() for summary in found]})

    return await service.call(read)


@routes.post(
    "/studies",
    dependencies=WRITE,
    status_code=201,
    response_model=SummaryShape,
    responses=OPENED | documented(400, 409, 413, 415),
)
async def create_study(request: Request, body: Annotated[CreateBody, Body()]) -> Any:
    """Create a study. Its optimiser is made at once, so what cannot work is refused now.

    With `exist_ok`, a study that was created with the same arguments is no error: the answer is then 200.
    """
    service, now = service_of(request), time.time()

    def create() -> Answer:
        try:
            space = space_from_json(body.space.model_dump())
            check_work(body.options, space)
            study = Study.create(
                service.database,
                body.name,
                space,
                body.algorithm,
                goal=body.goal,
                seed=body.seed,
                expires_after=body.expires_after,
                metadata=body.metadata,
                exist_ok=body.exist_ok,
                clock=lambda: now,
                **options_from_json(body.options),
            )
        except UnknownName as error:  # of an algorithm, say: not what the address names, so no 404
            raise InvalidArgument(str(error)) from error
        except WindvaneError:
            raise
        except (AttributeError, TypeError, ValueError, ArithmeticError, LookupError) as error:
            if not any(isinstance(value, dict | list) for value in body.options.values()):
                raise
            raise InvalidArgument(f"options: components that do not fit together: {error}") from error
        made = study.summary()
        return Answer(made.as_dict(), 201 if made.created == now else 200)

    return await service.call_long(create)


@routes.get("/studies/{name}", dependencies=READ, response_model=SummaryShape, responses=documented(404))
async def show_study(request: Request, name: Name) -> Any:
    """A study at a glance."""
    service = service_of(request)
    found = await service.call(lambda: service.current(name).summary())
    return Answer(found.as_dict())


@routes.delete("/studies/{name}", dependencies=WRITE, status_code=204, responses=documented(404, 413, 415))
async def delete_study(request: Request, name: Name) -> Response:
    """Delete a study and all its records. There is no way back."""
    service = service_of(request)

    def delete() -> None:
        service.database.delete(name)
        service.studies.drop(name)

    await service.call(delete)
    service.streams.ring(name)
    return Response(status_code=204)
