"""`POST /callbacks/outreach/{token}`: the provider's events, checked, stored as they came, and worked through later.

An event is only a hint, and its body is never logged. It is answered within a second and not rate counted.
"""

import time
from datetime import timedelta

import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from api.kernel import body
from api.kernel.kernel import Kernel
from models.base.database import LOCK_NOT_AVAILABLE, Database, sqlstate
from models.base.errors import InvalidRequest, NotFound, RateLimited, Unauthorized
from models.base.tenants import all_tenants
from models.outreach.rules.callbacks import (
    SIGNATURE_HEADER,
    Callback,
    CallbackKind,
    InvalidCallback,
    Signature,
    callback_token,
    callback_url,
    check_signature,
    read_callback,
    token_matches,
)
from models.outreach.store import accounts
from models.outreach.store.accounts import Arrived, hash_state


def of_all_tenants(kernel: Kernel) -> Database:
    """Return the database in the scope of all tenants, for finding the account that a callback is about."""
    return kernel.database.within(all_tenants("a callback of the outreach provider may name any workspace's account"))


async def store_callback(kernel: Kernel, arrived: Arrived, *, after: timedelta = timedelta()) -> None:
    """Keep a callback, due `after` some time, and wake its account, which may be busy."""
    database = of_all_tenants(kernel)
    try:
        await database.run(lambda session: accounts.keep_network_callback(session, arrived, after=after))
    except Exception as error:
        if sqlstate(error) != LOCK_NOT_AVAILABLE:
            raise
        # The account is locked for long: its next step finds the callback without being woken.
        await database.run(lambda session: accounts.keep_network_callback(session, arrived, wake=False, after=after))


AGAIN_SECONDS = 1

log = structlog.get_logger()


async def receive(request: Request) -> Response:
    """Accept one event."""
    kernel: Kernel = request.app.state.kernel
    token = callback_token(kernel.vault)
    if not token_matches(request.path_params["token"], token):
        raise NotFound("There is nothing at this path.")
    raw = await body.read_body(request)
    await _check(kernel, request, raw, callback_url(kernel.settings.public_url, token))
    try:
        callback = read_callback(raw)
    except InvalidCallback:
        raise InvalidRequest("The body is not an event.") from None
    if callback.kind is CallbackKind.OTHER or not await _keep(kernel, callback, raw):
        log.info("callback.ignored", kind=callback.kind)
    return JSONResponse({"received": True})


async def _check(kernel: Kernel, request: Request, raw: bytes, url: str) -> None:
    """Refuse what the provider did not sign, unless the operator has switched that off."""
    if not kernel.settings.unipile_require_signature:
        return
    async with of_all_tenants(kernel).reading() as session:
        secrets = await accounts.callback_secrets(session, kernel.vault, url)
    header = request.headers.get(SIGNATURE_HEADER)
    found = check_signature(raw, header, secrets=secrets, wall_time=time.time())
    if found is not Signature.VALID:
        log.warning("callback.refused", why=found)
        raise Unauthorized("The signature of this event is not valid.")


async def _keep(kernel: Kernel, callback: Callback, raw: bytes) -> bool:
    """Store it and wake its account; return false when it is about no account of this service."""
    state = None if callback.state is None else hash_state(callback.state)
    async with of_all_tenants(kernel).reading() as session:
        account_id = await accounts.account_of_callback(session, provider_id=callback.account_id, state_hash=state)
        if account_id is None:
            return False
        if not await accounts.may_keep_callback(session, account_id):
            raise RateLimited(AGAIN_SECONDS)

    sealed = kernel.vault.seal(accounts.BODY_PURPOSE, raw)
    await store_callback(
        kernel, Arrived(event_id=callback.id, type=callback.type, account_id=account_id, sealed=sealed)
    )
    return True


ROUTES = [Route("/callbacks/outreach/{token}", receive, methods=["POST"])]
