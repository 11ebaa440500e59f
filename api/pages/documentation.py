"""`/openapi.json` and `/docs`, public."""

import json

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.kernel import openapi
from api.kernel.kernel import Kernel
from api.kernel.openapi import ANSWER
from api.pages import docs
from api.pages.render import page

CACHED = "openapi_document"


def _document(request: Request) -> openapi.Document:
    """Return the OpenAPI document, built once for each application because its routes do not change."""
    state = request.app.state
    if not hasattr(state, CACHED):
        kernel: Kernel = state.kernel
        setattr(state, CACHED, openapi.openapi_document(request.app, server=kernel.settings.public_url.rstrip("/")))
    made: openapi.Document = getattr(state, CACHED)
    return made


async def describe(request: Request) -> Response:
    """Return the OpenAPI document as JSON."""
    return Response(json.dumps(_document(request), ensure_ascii=False), media_type="application/json")


async def explain(request: Request) -> Response:
    """Return the documentation page."""
    document = _document(request)
    kernel: Kernel = request.app.state.kernel
    return page(
        "docs.html",
        title=document["info"]["title"],
        version=document["info"]["version"],
        server=document["servers"][0]["url"],
        rate=kernel.settings.rate_limit_per_minute,
        groups=docs.by_tag(document),
        errors=docs.errors(),
        events=docs.events(),
        event_headers=docs.event_headers(),
        event_answer=ANSWER,
    )


ROUTES = [Route("/openapi.json", describe, methods=["GET"]), Route("/docs", explain, methods=["GET"])]
