"""The endpoints that clients call without a browser: registration, tokens, revocation."""

import base64
from urllib.parse import unquote_plus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.access import oauth
from api.access.oauth import OAuthRefused, invalid_client
from api.access.oauth_schemas import Credentials, ExchangeCode, Refresh, Register, Registered, RevokeToken, Tokens
from api.oauth.documents import REGISTER, REVOKE, TOKEN
from api.oauth.forms import HEADERS, Fields, document, form, invoke, run, spoken, told
from models.access.rules.oauth import CODE_GRANT, MAX_URL, REFRESH_GRANT

MAX_SECRET = 512


async def register(request: Request) -> Response:
    """Register a client."""
    ask = Register(metadata=await document(request))
    made = await run(request, oauth.register_oauth_client, ask, Registered)
    return told(made.model_dump(exclude_none=True), status=201)


async def token(request: Request) -> Response:
    """Exchange a code or a refresh token."""
    given = await form(request)
    kind = given.need("grant_type")
    if kind == CODE_GRANT:
        answer = await run(request, oauth.exchange, _exchange(request, given), Tokens)
    elif kind == REFRESH_GRANT:
        answer = await run(request, oauth.refresh, _refresh(request, given), Tokens)
    else:
        raise OAuthRefused("unsupported_grant_type", f"grant_type must be {CODE_GRANT} or {REFRESH_GRANT}.")
    if answer.error is not None:
        raise OAuthRefused(answer.error, "This was used before. What it gave has been revoked: sign in again.")
    return told(answer.model_dump(exclude_none=True))


async def revoke(request: Request) -> Response:
    """Revoke a token."""
    given = await form(request)
    given.get("token_type_hint")  # both kinds are looked up the same way
    ask = RevokeToken(client=_credentials(request, given), token=_secret(given, "token"))
    await invoke(request, oauth.revoke_token, ask)
    return Response(status_code=200, headers=HEADERS)


def _exchange(request: Request, given: Fields) -> ExchangeCode:
    return ExchangeCode(
        client=_credentials(request, given),
        code=_secret(given, "code"),
        code_verifier=given.need("code_verifier"),
        redirect_uri=given.get("redirect_uri"),
        resource=_resource(given),
    )


def _refresh(request: Request, given: Fields) -> Refresh:
    return Refresh(
        client=_credentials(request, given),
        refresh_token=_secret(given, "refresh_token"),
        scope=given.get("scope"),
        resource=_resource(given),
    )


def _resource(given: Fields) -> str | None:
    if len(given.all("resource")) > 1:
        raise OAuthRefused("invalid_target", "A token is for one resource: give resource once.")
    return given.get("resource")


def _secret(given: Fields, name: str) -> str:
    """Return a code or token, cut to the longest length that is issued, so that no longer text is hashed."""
    return given.need(name)[:MAX_SECRET]


def _credentials(request: Request, given: Fields) -> Credentials:
    """Return the client's credentials, from the header or the form, not from both (RFC 6749, section 2.3)."""
    scheme, _, encoded = request.headers.get("authorization", "").partition(" ")
    client_id, secret = given.get("client_id"), given.get("client_secret")
    if scheme.lower() == "basic":
        named, proof = _basic(encoded)
        if secret is not None or client_id not in (None, named):
            raise OAuthRefused("invalid_request", "Send the client's credentials in the header or the form, not both.")
        client_id, secret = named, proof or None
    if client_id is None or len(client_id) > MAX_URL:
        raise invalid_client()
    return Credentials(client_id=client_id, secret=secret)


def _basic(encoded: str) -> tuple[str, str]:
    try:
        name, colon, secret = base64.b64decode(encoded.strip(), validate=True).decode("utf-8").partition(":")
    except ValueError:
        raise invalid_client() from None
    if not colon or "\x00" in name + secret:
        raise invalid_client()
    return unquote_plus(name), unquote_plus(secret)


ROUTES = [
    Route(path, spoken(handler), methods=["POST", "OPTIONS"])
    for path, handler in ((REGISTER, register), (TOKEN, token), (REVOKE, revoke))
]
