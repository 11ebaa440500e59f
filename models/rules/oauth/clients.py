"""Clients: what registering (RFC 7591) or a client metadata document says of one, checked the same way."""

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from models.rules.addresses import RefusedUrl, parse
from models.rules.oauth import redirects

CODE_GRANT, REFRESH_GRANT = "authorization_code", "refresh_token"
GRANTS = (CODE_GRANT, REFRESH_GRANT)
NONE, BASIC, POST = "none", "client_secret_basic", "client_secret_post"
METHODS = (NONE, BASIC, POST)
MAX_REDIRECTS = 10
MAX_NAME = 100
MAX_DOCUMENT = 8192
"""Bytes of a registration or of a client metadata document."""
MAX_URL = 500
_SCOPE = re.compile(r"[\x20-\x7e]{0,1000}")


class RefusedClient(ValueError):
    """What is said of a client cannot be taken. `code` is the error of RFC 7591."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def _refuse(message: str) -> RefusedClient:
    return RefusedClient("invalid_client_metadata", message)


@dataclass(frozen=True, slots=True)
class ClientMetadata:
    """What is kept of a client's words about itself. `name` is a claim."""

    name: str
    redirect_uris: tuple[str, ...]
    auth_method: str
    grant_types: tuple[str, ...]
    scope: str | None

    @property
    def refreshes(self) -> bool:
        """Whether it wants refresh tokens."""
        return REFRESH_GRANT in self.grant_types


def read(told: Mapping[str, object]) -> ClientMetadata:
    """Read a registration. Unknown members are left out, as RFC 7591 has it. Raises `RefusedClient`."""
    responses = _texts(told, "response_types") or ("code",)
    if "code" not in responses:
        raise _refuse("response_types must contain code.")
    grants = _texts(told, "grant_types") or GRANTS
    if CODE_GRANT not in grants:
        raise _refuse(f"grant_types must contain {CODE_GRANT}.")
    method = _text(told, "token_endpoint_auth_method", most=100) or BASIC
    if method not in METHODS:
        raise _refuse(f"token_endpoint_auth_method must be one of {', '.join(METHODS)}.")
    scope = _text(told, "scope", most=1000)
    if scope is not None and not _SCOPE.fullmatch(scope):
        raise _refuse("scope must be words separated by spaces.")
    uris = _redirects(told)
    name = _name(_text(told, "client_name", most=1000)) or redirects.host_of(uris[0])[:MAX_NAME]
    return ClientMetadata(name, uris, method, tuple(grant for grant in GRANTS if grant in grants), scope)


def read_document(raw: bytes, *, client_id: str) -> ClientMetadata:
    """Read a client metadata document that was found at `client_id`. Raises `RefusedClient`."""
    try:
        told = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        raise _refuse("The client metadata document is not JSON.") from None
    if not isinstance(told, dict):
        raise _refuse("The client metadata document is not a JSON object.")
    if told.get("client_id") != client_id:
        raise _refuse("The client_id of the client metadata document is not its address.")
    if "client_secret" in told or told.get("token_endpoint_auth_method", NONE) != NONE:
        raise _refuse("A client with a metadata document has no secret: token_endpoint_auth_method must be none.")
    return read(told | {"token_endpoint_auth_method": NONE})


def is_document_address(client_id: str, *, loopback: bool) -> bool:
    """Whether a client id is the address of a client metadata document that may be read."""
    if len(client_id) > MAX_URL or ".." in client_id:
        return False
    try:
        target = parse(client_id, loopback=loopback)
        path = urlsplit(client_id).path
    except (RefusedUrl, ValueError):
        return False
    return path not in ("", "/") and target.url == client_id


def _redirects(told: Mapping[str, object]) -> tuple[str, ...]:
    found = _texts(told, "redirect_uris")
    if not found or len(found) > MAX_REDIRECTS:
        raise RefusedClient("invalid_redirect_uri", f"redirect_uris must hold 1 to {MAX_REDIRECTS} addresses.")
    for uri in found:
        try:
            redirects.check(uri)
        except redirects.RefusedRedirect as error:
            raise RefusedClient("invalid_redirect_uri", str(error)) from None
    return found


def _texts(told: Mapping[str, object], name: str) -> tuple[str, ...]:
    found = told.get(name)
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise _refuse(f"{name} must be a list of texts.")
    return tuple(found)


def _text(told: Mapping[str, object], name: str, *, most: int) -> str | None:
    found = told.get(name)
    if found is not None and (not isinstance(found, str) or len(found) > most):
        raise _refuse(f"{name} must be a text of at most {most} characters.")
    return found


def _name(claimed: str | None) -> str:
    """A claimed name without what would change how the text around it is read: controls and marks of direction."""
    kept = "".join(" " if each.isspace() else each for each in claimed or "" if _is_shown(each))
    return " ".join(kept.split())[:MAX_NAME]


def _is_shown(character: str) -> bool:
    return character.isspace() or unicodedata.category(character)[0] != "C"
