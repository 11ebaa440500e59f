"""Which outreach network this installation uses: the provider's, or none."""

from datetime import datetime
from typing import NoReturn

from activities.upstream.ports.network import (
    CallbackEndpoint,
    MessageSent,
    NetworkAccount,
    NetworkChat,
    NetworkMessage,
    OutreachNetwork,
    PersonOnNetwork,
    SentRequest,
)
from activities.upstream.ports.network_errors import NetworkNotConfigured
from activities.upstream.unipile.network import UnipileNetwork


def outreach_network(*, base_url: str, api_key: str | None) -> OutreachNetwork:
    """The network behind `api_key`; without a key one that refuses every call."""
    return UnipileNetwork(base_url=base_url, api_key=api_key) if api_key else NoNetwork()


class NoNetwork:
    """No provider: every call is `NetworkNotConfigured`, which becomes `account_connect_unavailable`."""

    name = "none"

    async def connect_link(
        self,
        *,
        state: str,
        redirect_url: str,
        expires_at: datetime,
        account_id: str | None = None,
    ) -> str:
        """Refuse."""
        _refuse()

    async def account(self, account_id: str) -> NetworkAccount | None:
        """Refuse."""
        _refuse()

    async def delete_account(self, account_id: str) -> None:
        """Refuse."""
        _refuse()

    async def person(self, account_id: str, person: str, *, fresh: bool = False) -> PersonOnNetwork:
        """Refuse."""
        _refuse()

    async def invite(self, account_id: str, person_id: str, note: str | None) -> SentRequest:
        """Refuse."""
        _refuse()

    async def withdraw(self, account_id: str, request_id: str) -> None:
        """Refuse."""
        _refuse()

    async def visit(self, account_id: str, person_id: str) -> None:
        """Refuse."""
        _refuse()

    async def chat_with(self, account_id: str, person_id: str) -> NetworkChat | None:
        """Refuse."""
        _refuse()

    async def chat(self, account_id: str, chat_id: str) -> NetworkChat | None:
        """Refuse."""
        _refuse()

    async def message(self, account_id: str, chat_id: str, message_id: str) -> NetworkMessage | None:
        """Refuse."""
        _refuse()

    async def messages(
        self, account_id: str, chat_id: str, *, since: datetime | None = None
    ) -> tuple[NetworkMessage, ...]:
        """Refuse."""
        _refuse()

    async def send_message(self, account_id: str, chat_id: str, text: str) -> MessageSent:
        """Refuse."""
        _refuse()

    async def start_chat(self, account_id: str, person_id: str, text: str) -> MessageSent:
        """Refuse."""
        _refuse()

    async def sent_requests(self, account_id: str) -> tuple[SentRequest, ...]:
        """Refuse."""
        _refuse()

    async def chats(self, account_id: str, *, since: datetime | None = None) -> tuple[NetworkChat, ...]:
        """Refuse."""
        _refuse()

    async def ensure_callbacks(self, url: str) -> CallbackEndpoint:
        """Refuse."""
        _refuse()

    async def close(self) -> None:
        """Nothing is open."""


def _refuse() -> NoReturn:
    raise NetworkNotConfigured("no_provider")
