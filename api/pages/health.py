"""`GET /health`: the process answers. It counts toward no rate limit and calls no other system."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


async def health(_: Request) -> Response:
    """Report that the process is up."""
    return JSONResponse({"status": "ok"})


ROUTES = [Route("/health", health, methods=["GET"])]
