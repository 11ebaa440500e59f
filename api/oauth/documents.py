"""The metadata documents: each protected resource (RFC 9728), and the authorization server (RFC 8414)."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.kernel.auth import METADATA, Audiences
from api.oauth.forms import Handler, spoken, told
from models.access.rules import oauth
from models.access.rules.keys import Scope

AUTHORIZE, TOKEN, REGISTER, REVOKE = "/authorize", "/token", "/register", "/revoke"
SERVER = "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"
"""Some clients look here first or only here. The service issues no identity tokens, and the document names none."""
TITLE = "Recruiting: sourcing and outreach"


def audiences_of(request: Request) -> Audiences:
    """Return the protected resources of this application."""
    found: Audiences = request.app.state.audiences
    return found


def issuer_of(request: Request) -> str:
    """Return the issuer, exactly as every document and redirect writes it."""
    return audiences_of(request).issuer


async def resource(request: Request) -> Response:
    """Return the metadata of one protected resource."""
    audiences = audiences_of(request)
    path = request.url.path.removeprefix(METADATA).rstrip("/")
    return told(
        {
            "resource": audiences.at(path or oauth.PATHS[0]),
            "resource_name": TITLE,
            "authorization_servers": [audiences.issuer],
            "scopes_supported": list(oauth.FIRST_SCOPES),
            "bearer_methods_supported": ["header"],
            "resource_documentation": f"{audiences.issuer}/docs",
        }
    )


async def server(request: Request) -> Response:
    """Return the metadata of the authorization server."""
    issuer = issuer_of(request)
    return told(
        {
            "issuer": issuer,
            "authorization_endpoint": issuer + AUTHORIZE,
            "token_endpoint": issuer + TOKEN,
            "registration_endpoint": issuer + REGISTER,
            "revocation_endpoint": issuer + REVOKE,
            "scopes_supported": list(Scope),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": list(oauth.GRANTS),
            "token_endpoint_auth_methods_supported": list(oauth.METHODS),
            "revocation_endpoint_auth_methods_supported": list(oauth.METHODS),
            "code_challenge_methods_supported": [oauth.S256],
            "client_id_metadata_document_supported": True,
            "authorization_response_iss_parameter_supported": True,
            "protected_resources": [oauth.resource_at(issuer, path) for path in oauth.PATHS],
            "service_documentation": f"{issuer}/docs",
        }
    )


def _both(path: str, handler: Handler) -> list[Route]:
    """Return the routes of a path with and without a slash at the end."""
    return [Route(each, handler, methods=["GET", "OPTIONS"]) for each in (path, f"{path}/")]


ROUTES = [
    *(route for path in ("", *oauth.PATHS) for route in _both(METADATA + path, spoken(resource))),
    # Clients that take the resource's path for the issuer's look below it, in both spellings.
    *(route for path in ("", *oauth.PATHS) for route in _both(SERVER + path, spoken(server))),
    *(route for path in ("", *oauth.PATHS) for route in _both(OPENID + path, spoken(server))),
    *(route for path in oauth.PATHS for route in _both(path + OPENID, spoken(server))),
]
