"""Reading an authorization request; some errors are shown to the person, others are sent to the client by redirect."""

from collections.abc import Mapping
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from api.access import oauth
from api.access.oauth import OAuthRefused
from api.access.oauth_schemas import Authorization, ClientView
from api.oauth.documents import issuer_of
from api.oauth.forms import Fields, run
from models.access.rules.keys import ALL_SCOPES, Scope
from models.access.rules.oauth import (
    CHALLENGE,
    MAX_URL,
    PATHS,
    S256,
    matches_redirect,
    resource_at,
    resource_of,
    scopes_of,
)
from models.base.errors import InvalidRequest

MAX_STATE = 2000
FOUND, SEE_OTHER = 302, 303
HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}


async def client_of(request: Request, given: Fields) -> tuple[ClientView, str]:
    """Return the client and its redirect address. Errors raised here are shown to the person, never redirected."""
    client_id = given.need("client_id")
    if len(client_id) > MAX_URL:
        raise InvalidRequest(oauth.UNKNOWN)
    client = await run(request, oauth.find_client, client_id, ClientView)
    asked = given.get("redirect_uri")
    if asked is None and len(client.redirect_uris) == 1:
        return client, client.redirect_uris[0]
    if asked is None or not any(matches_redirect(each, asked) for each in client.redirect_uris):
        raise InvalidRequest("The application asks to be answered at an address that is not its own.")
    return client, asked


def read_authorization(request: Request, given: Fields, client: ClientView, redirect_uri: str) -> Authorization:
    """Return what the client asks for. Raises `OAuthRefused`, which is sent to the client."""
    if len(given.all("resource")) > 1:
        raise OAuthRefused("invalid_target", "A token is for one resource: give resource once.")
    given.check_single()
    if given.get("request") is not None:
        raise OAuthRefused("request_not_supported", "Request objects are not supported.")
    if given.get("request_uri") is not None:
        raise OAuthRefused("request_uri_not_supported", "Request objects are not supported.")
    if given.need("response_type") != "code":
        raise OAuthRefused("unsupported_response_type", "response_type must be code.")
    if given.get("response_mode") not in (None, "query"):
        raise OAuthRefused("invalid_request", "response_mode must be query.")
    if "none" in (given.get("prompt") or "").split():
        raise OAuthRefused("login_required", "Signing in always needs a prompt: prompt must not be none.")
    return Authorization(
        client_id=client.client_id,
        client_name=client.name,
        redirect_uri=redirect_uri,
        state=state_of(given),
        code_challenge=_challenge(given),
        resource=_resource(request, given),
        scopes=_scopes(given, client),
    )


def state_of(given: Fields) -> str | None:
    """Return the state to send back to the client. Raises `OAuthRefused` if it is too long."""
    found = given.get("state")
    if found is not None and len(found) > MAX_STATE:
        raise OAuthRefused("invalid_request", f"state has more than {MAX_STATE} characters.")
    return found


def _challenge(given: Fields) -> str:
    challenge = given.need("code_challenge")
    if given.get("code_challenge_method") != S256:
        raise OAuthRefused("invalid_request", f"code_challenge_method must be {S256}.")
    if not CHALLENGE.fullmatch(challenge):
        raise OAuthRefused("invalid_request", "code_challenge must be 43 characters of base64url.")
    return challenge


def _resource(request: Request, given: Fields) -> str:
    """Return the audience; by default that of the first MCP path, for older clients that send no audience."""
    asked, issuer = given.get("resource"), issuer_of(request)
    found = resource_at(issuer, PATHS[0]) if asked is None else resource_of(issuer, asked)
    if found is None:
        raise OAuthRefused("invalid_target", "resource must be an MCP address of this service.")
    return found


def _scopes(given: Fields, client: ClientView) -> list[Scope]:
    registered = " ".join(word for word in (client.scope or "").split() if word in ALL_SCOPES)
    found = scopes_of(given.get("scope") or registered)
    if found is None:
        raise OAuthRefused("invalid_scope", f"scope may hold {' '.join(Scope)}.")
    return [scope for scope in Scope if scope in found]


def sent_back(request: Request, redirect_uri: str, told: Mapping[str, str | None], *, status: int = FOUND) -> Response:
    """Redirect the browser back to the client, naming the issuer (RFC 9207)."""
    present = {name: value for name, value in told.items() if value is not None} | {"iss": issuer_of(request)}
    joint = "&" if "?" in redirect_uri else "?"
    address = f"{redirect_uri}{joint}{urlencode(present)}"
    return Response(status_code=status, headers={**HEADERS, "Location": address})
