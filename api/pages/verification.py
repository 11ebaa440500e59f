"""The page that a confirmation link opens. Opening it confirms nothing, as link scanners open links too."""

from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.access import workspaces
from api.access.schemas import Verify
from api.kernel.kernel import Kernel, OperationCall, Shape
from api.kernel.middleware import entry_of
from api.pages.render import page
from models.base.errors import InvalidVerificationLink, ServiceError

MAX_FORM = 4096
MAX_TOKEN = 200


async def show_verification(request: Request) -> Response:
    """The button."""
    token = request.query_params.get("token", "")
    if not 0 < len(token) <= MAX_TOKEN:
        return _refused(InvalidVerificationLink("This link is incomplete. Open it as it was mailed."))
    return page("verify.html", token=token)


async def confirm(request: Request) -> Response:
    """Handle the button."""
    try:
        token = await _token(request)
        entry = entry_of(request.scope)
        if entry.admission is None:
            raise AssertionError("a public path was not admitted")
        kernel: Kernel = request.app.state.kernel
        call = OperationCall(version=entry.version, now=entry.admission.now)
        await kernel.invoke(workspaces.verify, Verify(token=token), call, shape=Shape(status=lambda _: 200))
    except ServiceError as error:
        return _refused(error)
    return page(
        "notice.html",
        heading="Your address is confirmed",
        message="Your free credits have been added. You can close this page.",
    )


async def _token(request: Request) -> str:
    read = b""
    async for chunk in request.stream():
        read += chunk
        if len(read) > MAX_FORM:
            break
    fields = parse_qs(read[:MAX_FORM].decode("utf-8", errors="replace"))
    token = fields.get("token", [""])[0]
    if len(read) > MAX_FORM or not 0 < len(token) <= MAX_TOKEN:
        raise InvalidVerificationLink("This link is incomplete. Open it as it was mailed.")
    return token


def _refused(error: ServiceError) -> Response:
    return page("notice.html", status=error.status, heading="The address was not confirmed", message=error.message)


ROUTES = [Route("/verify", show_verification, methods=["GET"]), Route("/verify", confirm, methods=["POST"])]
