"""What signing in by OAuth is asked and answers, inside: forms, JSON and pages are made of it in `api.oauth`."""

from typing import Literal

from api.kernel.schemas import Answer, Ask
from models.access.rules.keys import Scope


class Register(Ask):
    """A client that registers itself. `metadata` is what it sent, as it is."""

    metadata: dict[str, object]


class Registered(Answer):
    """The registration as RFC 7591 answers it; the secret is shown this once."""

    client_id: str
    client_id_issued_at: int
    client_name: str
    redirect_uris: list[str]
    grant_types: list[str]
    response_types: list[str]
    token_endpoint_auth_method: str
    scope: str
    client_secret: str | None
    client_secret_expires_at: int | None


class ClientView(Answer):
    """A client, and the redirect address that the person's browser may be sent back to."""

    client_id: str
    name: str
    redirect_uris: list[str]
    scope: str | None


class Authorization(Ask):
    """What a client asks for, checked; and what it calls itself."""

    client_id: str
    client_name: str
    redirect_uri: str
    state: str | None
    code_challenge: str
    resource: str
    scopes: list[Scope]


class MailLink(Ask):
    """A request to sign in by mailed link. `browser` is the value of the browser's cookie."""

    authorization: Authorization
    email: str
    browser: str


class Mailed(Answer):
    """The same answer for every address, whether or not a workspace has it."""

    object: Literal["mailed"] = "mailed"


class OpenLink(Ask):
    """A mailed link, opened in a browser."""

    token: str
    browser: str


class Choice(Answer):
    """A workspace that may be chosen."""

    id: str
    name: str


class Consent(Answer):
    """What the person decides about. `loopback`: the answer goes to whatever program listens on their machine."""

    client_id: str
    client_name: str
    redirect_host: str
    redirect_uri: str
    loopback: bool
    scopes: list[Scope]
    workspaces: list[Choice]


class Decide(Ask):
    """The decision. Null scopes deny."""

    token: str
    browser: str
    workspace_id: str | None
    scopes: list[str] | None


class Decided(Answer):
    """Where the browser goes; `code` is null when it was denied."""

    redirect_uri: str
    state: str | None
    code: str | None


class Credentials(Ask):
    """How a client says who it is. `secret` is null for one that has none."""

    client_id: str
    secret: str | None


class ExchangeCode(Ask):
    """A code with its proof."""

    client: Credentials
    code: str
    code_verifier: str
    redirect_uri: str | None
    resource: str | None


class Refresh(Ask):
    """A refresh token."""

    client: Credentials
    refresh_token: str
    scope: str | None
    resource: str | None


class Tokens(Answer):
    """Tokens as RFC 6749 answers them, or why there are none although something was written: `error`."""

    access_token: str = ""
    token_type: Literal["Bearer"] = "Bearer"  # noqa: S105 - a kind of token
    expires_in: int = 0
    scope: str = ""
    refresh_token: str | None = None
    error: str | None = None


class RevokeToken(Ask):
    """A token that is to end."""

    client: Credentials
    token: str
