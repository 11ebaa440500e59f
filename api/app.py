"""The composition root of the API process: `uvicorn --factory api.app:create_app`."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI, Request
from mcp.server import Server
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import BaseRoute

from api import operations
from api.billing import purchases
from api.kernel import operation
from api.kernel.auth import Audiences, Networks
from api.kernel.internal import listening
from api.kernel.kernel import Kernel, UpstreamCaller
from api.kernel.middleware import Edge
from api.kernel.routing import Direct, Paths
from api.mcp.endpoint import Endpoint
from api.mcp.server import create_server
from api.oauth import documents, endpoints, pages
from api.outreach import callbacks
from api.pages import connected, documentation, health, opt_out, verification
from models.access.rules.keys import CURRENT_VERSION
from models.base.database import Database
from models.base.errors import InternalError, InvalidRequest, MethodNotAllowed, NotFound
from models.base.secrets import Vault
from models.base.settings import Settings
from models.operate import traces
from models.operate.logs import configure_logs
from models.operate.metrics import Metrics
from models.operate.readiness import Readiness, database_probes
from workflows.connection import connect, reachable
from workflows.outbox import WorkflowWaker
from workflows.upstream_calls import CALLS_AS

METHOD_NOT_ALLOWED = 405
NOT_FOUND = 404


def create_app(settings: Settings | None = None, *, mcp_server: Server[Any] | None = None) -> FastAPI:
    """Build the application of one process. It connects to Temporal when a workflow is first woken.

    `mcp_server` replaces the service's own MCP server: official test suites call tools that they prescribe. Raises
    `ValueError` when one is given with production settings.
    """
    settings = settings or Settings()
    if mcp_server is not None and settings.production:
        raise ValueError("Another MCP server is a development switch and is refused with PRODUCTION")
    configure_logs(settings)
    logging.getLogger("uvicorn.access").disabled = True  # it would write query strings
    database = Database(settings.database_url, pool_size=settings.database_pool_size)
    kernel = Kernel(
        database=database,
        settings=settings,
        vault=Vault(settings.secret_key.get_secret_value()),
        reference=operation.load_reference(),
    )

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        client = await connect(settings, lazy=True)
        kernel.waker = WorkflowWaker(client)
        kernel.upstream = UpstreamCaller(database, CALLS_AS[settings.upstream_call_as](client), stopping=stopping)
        ready = Readiness(database_probes(settings.database_url) | {"temporal": lambda: reachable(client)})
        internal = listening(settings.internal_address, ready, Metrics(None))
        try:
            async with traces.sending("api"), mcp.running(), internal:
                yield
        finally:
            await database.close()

    stopping = asyncio.Event()
    mcp = Endpoint(settings, mcp_server or create_server(), stopping)
    routes: list[BaseRoute] = [*operations.routes()]
    routes += [*health.ROUTES, *purchases.ROUTES, *callbacks.ROUTES]
    routes += [*documentation.ROUTES, *verification.ROUTES, *opt_out.ROUTES, *connected.ROUTES, *mcp.routes()]
    routes += [*documents.ROUTES, *endpoints.ROUTES, *pages.ROUTES]
    paths, audiences = Paths(), Audiences(settings.public_url)
    app = FastAPI(
        title="Recruiting sourcing and outreach service",
        version=CURRENT_VERSION,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        middleware=[
            Middleware(
                Edge,
                database=database,
                networks=Networks(settings.trusted_proxies),
                limit=settings.rate_limit_per_minute,
                is_public=paths.is_public,
                audiences=audiences,
            ),
            Middleware(Direct, routes=routes),
        ],
        exception_handlers={HTTPException: _unrouted},
    )
    app.state.kernel = kernel
    app.state.paths = paths
    app.state.stopping = stopping
    app.state.audiences = audiences
    app.router.routes.extend(routes)
    paths.learn(routes)
    return app


async def _unrouted(request: Request, error: Exception) -> Response:
    """Answer what the framework refuses (unknown paths and methods) with the documented errors."""
    if not isinstance(error, HTTPException):
        raise InternalError
    if error.status_code == METHOD_NOT_ALLOWED:
        paths: Paths = request.app.state.paths
        allow = paths.methods(request.url.path)
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": ", ".join(allow)})
        raise MethodNotAllowed(allow)
    if error.status_code == NOT_FOUND:
        raise NotFound("There is nothing at this path.")
    raise InvalidRequest("The request cannot be read.")
