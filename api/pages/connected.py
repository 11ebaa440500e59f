"""The page to which the outreach provider sends an owner's browser after the sign-in.

Parameters of the address are not proof: an account is connected once the provider itself reports it. They are stored in
case the provider's callback is lost; then the worker asks the provider (`connecting.bind`).
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.kernel.kernel import Kernel
from api.outreach.callbacks import of_all_tenants, store_callback
from api.pages.render import page
from models.outreach.rules.callbacks import MAX_ID_LENGTH
from models.outreach.store import accounts
from models.outreach.store.accounts import hash_state

FAILURES = ("error_title", "type", "error")
"""Query parameters of a failed sign-in. Their values are not shown: any link can set them."""


async def show_connected(request: Request) -> Response:
    """Tell the owner what to do next."""
    if any(name in request.query_params for name in FAILURES):
        return page(
            "notice.html",
            heading="The account was not connected",
            message="The sign-in did not succeed. Open the link once more, or ask its sender for a new one.",
        )
    await _keep(request)
    return page(
        "notice.html",
        heading="Thank you",
        message="The sign-in is being checked. The account is ready in a minute or two. You can close this page.",
    )


async def _keep(request: Request) -> None:
    """Store the account with which the browser returned if the state belongs to an open sign-in."""
    kernel: Kernel = request.app.state.kernel
    provider_id, state = (request.query_params.get(name, "") for name in ("account_id", "state"))
    if not all(0 < len(one) <= MAX_ID_LENGTH and one.isprintable() for one in (provider_id, state)):
        return
    async with of_all_tenants(kernel).reading() as session:
        account_id = await accounts.account_of_callback(session, provider_id=None, state_hash=hash_state(state))
    if account_id is not None:
        arrived = accounts.browser_returned(kernel.vault, account_id, provider_id=provider_id, state=state)
        await store_callback(kernel, arrived, after=accounts.RETURN_WAITS)


ROUTES = [Route("/outreach/connected", show_connected, methods=["GET"])]
