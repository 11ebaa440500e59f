"""The browser in which a person signs in: the cookie that identifies it, and the hidden fields of its forms."""

import base64
import hmac
import re
import secrets
import time

from cryptography.exceptions import InvalidTag
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from api.access.oauth_schemas import Authorization
from api.oauth.documents import issuer_of
from api.oauth.forms import Fields
from models.base.errors import Forbidden
from models.base.secrets import Vault

COOKIE = "svc_sign_in"
SECURE_COOKIE = f"__Host-{COOKIE}"
COOKIE_SECONDS = 3600
COOKIE_BYTES = 32
_VALUE = re.compile(r"[A-Za-z0-9_-]{43}")
CSRF_PURPOSE, REQUEST_PURPOSE = "oauth-csrf", "oauth-request"
STALE = "This page has expired or belongs to another browser. Start again in the application."


def known(request: Request) -> str | None:
    """Return the value of the sign-in cookie; null if there is none of the right form."""
    value = request.cookies.get(_name(request), "")
    return value if _VALUE.fullmatch(value) else None


def need(request: Request) -> str:
    """Return the value of the sign-in cookie. Raises `Forbidden` if there is none."""
    if (value := known(request)) is None:
        raise Forbidden("Open this page in the browser in which you started, with cookies allowed.")
    return value


def fresh(request: Request) -> str:
    """Return the value of the sign-in cookie; a new one if there is none."""
    return known(request) or secrets.token_urlsafe(COOKIE_BYTES)


def remember(request: Request, answer: Response, value: str) -> Response:
    """Set the sign-in cookie: for this host only, hidden from scripts, and sent when a mailed link is opened."""
    secure = _is_secure(request)
    answer.set_cookie(
        _name(request), value, max_age=COOKIE_SECONDS, path="/", httponly=True, samesite="lax", secure=secure
    )
    return answer


def csrf(request: Request, browser: str) -> str:
    """Return the CSRF token of this browser's forms."""
    return _vault(request).keyed_hash(CSRF_PURPOSE, browser).hex()


def check_csrf(request: Request, browser: str, given: Fields) -> None:
    """Raise `Forbidden` for a form without this browser's CSRF token."""
    if not hmac.compare_digest(csrf(request, browser).encode(), (given.get("csrf") or "").encode()):
        raise Forbidden(STALE)


def packed(request: Request, authorization: Authorization) -> str:
    """Seal an authorization request, so that a form can carry it without the browser reading or changing it."""
    told = f"{int(time.time())}\n{authorization.model_dump_json()}"
    return base64.urlsafe_b64encode(_vault(request).seal(REQUEST_PURPOSE, told.encode())).decode()


def unpacked(request: Request, given: Fields) -> Authorization:
    """Return the request that `packed` sealed. Raises `Forbidden` if it is not valid or older than an hour."""
    try:
        sealed = base64.b64decode(given.need("request"), altchars=b"-_", validate=True)
        since, _, told = _vault(request).open(REQUEST_PURPOSE, sealed).decode().partition("\n")
        authorization = Authorization.model_validate_json(told)
    except (ValueError, InvalidTag, ValidationError):
        raise Forbidden(STALE) from None
    if time.time() - int(since) > COOKIE_SECONDS:
        raise Forbidden(STALE)
    return authorization


def _vault(request: Request) -> Vault:
    found: Vault = request.app.state.kernel.vault
    return found


def _is_secure(request: Request) -> bool:
    return issuer_of(request).startswith("https://")


def _name(request: Request) -> str:
    return SECURE_COOKIE if _is_secure(request) else COOKIE
