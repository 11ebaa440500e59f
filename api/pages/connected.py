"""The page to which the outreach provider sends an owner's browser after the sign-in.

It shows what the address says and proves nothing: an account is connected once the provider itself says so.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.pages.render import page

FAILURES = ("error_title", "type", "error")
"""What the provider's address has when the sign-in failed; its words are not repeated here, anybody can write them."""


async def show(request: Request) -> Response:
    """What to do next."""
    if any(name in request.query_params for name in FAILURES):
        return page(
            "notice.html",
            heading="The account was not connected",
            message="The sign-in did not succeed. Open the link once more, or ask whoever sent it for a new one.",
        )
    return page(
        "notice.html",
        heading="Thank you",
        message="The sign-in is being checked. The account is ready in a minute or two. You can close this page.",
    )


ROUTES = [Route("/outreach/connected", show, methods=["GET"])]
