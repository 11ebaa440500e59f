"""`POST /callbacks/outreach/{token}`: the provider's events, checked, stored as they came, and worked through later.

An event is only a hint, and its body is never logged. It is answered within a second and not rate counted.
"""

import time

import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from api import body
from api.operations.kernel import Kernel
from models.database import LOCK_NOT_AVAILABLE, sqlstate
from models.errors import InvalidRequest, NotFound, RateLimited, Unauthorized
from models.rules.outreach.callbacks import (
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
from models.stores.outreach import callbacks, endpoints
from models.stores.outreach.callbacks import Arrived
from models.stores.outreach.connecting import hash_of

AGAIN_SECONDS = 1

log = structlog.get_logger()


async def receive(request: Request) -> Response:
    """Take one event."""
    kernel: Kernel = request.app.state.kernel
    token = callback_token(kernel.vault)
    if not token_matches(request.path_params["token"], token):
        raise NotFound("There is nothing at this path.")
    raw = await body.read(request)
    await _check(kernel, request, raw, callback_url(kernel.settings.public_url, token))
    try:
        callback = read_callback(raw)
    except InvalidCallback:
        raise InvalidRequest("This is no event.") from None
    if callback.kind is CallbackKind.OTHER or not await _keep(kernel, callback, raw):
        log.info("callback.ignored", kind=callback.kind)
    return JSONResponse({"received": True})


async def _check(kernel: Kernel, request: Request, raw: bytes, url: str) -> None:
    """Refuse what the provider did not sign, unless the operator has switched that off."""
    if not kernel.settings.unipile_require_signature:
        return
    async with kernel.database.reading() as session:
        secrets = await endpoints.secrets(session, kernel.vault, url)
    header = request.headers.get(SIGNATURE_HEADER)
    found = check_signature(raw, header, secrets=secrets, wall_time=time.time())
    if found is not Signature.VALID:
        log.warning("callback.refused", why=found)
        raise Unauthorized("The signature of this event is not valid.")


async def _keep(kernel: Kernel, callback: Callback, raw: bytes) -> bool:
    """Store it and ring its account; false when it is about no account of ours."""
    state = None if callback.state is None else hash_of(callback.state)
    async with kernel.database.reading() as session:
        account_id = await callbacks.account_of(session, provider_id=callback.account_id, state_hash=state)
        if account_id is None:
            return False
        if not await callbacks.may_keep(session, account_id):
            raise RateLimited(AGAIN_SECONDS)

    sealed = kernel.vault.seal(callbacks.BODY_PURPOSE, raw)
    arrived = Arrived(event_id=callback.id, type=callback.type, account_id=account_id, sealed=sealed)
    try:
        await kernel.database.run(lambda session: callbacks.keep(session, arrived))
    except Exception as error:
        if sqlstate(error) != LOCK_NOT_AVAILABLE:
            raise
        # The account is held for long: its next step finds the callback without a ring.
        await kernel.database.run(lambda session: callbacks.keep(session, arrived, ring=False))
    return True


ROUTES = [Route("/callbacks/outreach/{token}", receive, methods=["POST"])]
