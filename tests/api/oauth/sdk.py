"""Sign-in by the official client, with a person who follows its redirects."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.api.oauth.conftest import CALLBACK

Visit = Callable[[str], Awaitable[str]]
"""Opens the address to which the client sends a person, and returns the last address of the browser."""


@dataclass
class Memory:
    """The client's storage between its calls."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@dataclass
class SigningIn:
    """One client, with the number of times that it opened the browser."""

    address: str
    visit: Visit
    memory: Memory = field(default_factory=Memory)
    visits: list[str] = field(default_factory=list)

    def provider(self) -> OAuthClientProvider:
        metadata = OAuthClientMetadata(
            client_name="Official", redirect_uris=[AnyUrl(CALLBACK)], token_endpoint_auth_method="none"
        )
        return OAuthClientProvider(self.address, metadata, self.memory, self._send, self._answered)

    async def _send(self, address: str) -> None:
        self.visits.append(address)
        self.ended = await self.visit(address)

    async def _answered(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult.model_validate(dict(parse_qsl(urlsplit(self.ended).query)))
