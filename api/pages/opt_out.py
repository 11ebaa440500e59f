"""The page on which a person asks not to be contacted again. Opening it changes nothing: link scanners open it too."""

from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.kernel.kernel import Kernel, OperationCall, Shape
from api.kernel.middleware import entry_of
from api.pages.render import page
from api.people import suppressions
from api.people.suppressions import OptOut
from models.base.errors import ServiceError

MAX_FORM = 4096
STOP, ERASE = "stop", "erase"
DONE = {
    STOP: "No user of this service will contact you through it any more, or see you in it.",
    ERASE: "No user of this service will contact you through it any more, and what it had stored about you has"
    " been erased. Only a code is kept, from which you cannot be identified, so that the service can keep leaving you"
    " out.",
}


async def show_opt_out(request: Request) -> Response:
    """Show the buttons."""
    return page("opt_out.html", token=request.path_params["token"])


async def act(request: Request) -> Response:
    """Handle a button."""
    asked = await _asked(request)
    entry = entry_of(request.scope)
    if entry.admission is None:
        raise AssertionError("a public path was not admitted")
    kernel: Kernel = request.app.state.kernel
    ask = OptOut(token=request.path_params["token"], erase=asked == ERASE)
    call = OperationCall(version=entry.version, now=entry.admission.now)
    try:
        await kernel.invoke(suppressions.opt_out, ask, call, shape=Shape(status=lambda _: 200))
    except ServiceError as error:
        return page("notice.html", status=error.status, heading="Nothing was changed", message=error.message)
    return page("notice.html", heading="Done", message=DONE[asked])


async def _asked(request: Request) -> str:
    """Return the button that was pressed; any other body counts as stopping contact, the smaller request."""
    read = b""
    async for chunk in request.stream():
        read += chunk
        if len(read) > MAX_FORM:
            break
    fields = parse_qs(read[:MAX_FORM].decode("utf-8", errors="replace"))
    return ERASE if fields.get("ask") == [ERASE] else STOP


TOKEN = "/o/{token}"  # noqa: S105 - a path

ROUTES = [Route(TOKEN, show_opt_out, methods=["GET"]), Route(TOKEN, act, methods=["POST"])]
