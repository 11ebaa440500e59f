"""Listening to the network: what its messages and relations change.

A callback is only a hint: the person or the chat is read afresh, and only what that shows changes anything. Chats with
people whom this installation did not write to are neither read further nor kept nor logged.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

import structlog

from activities.outreach.calls import NetworkChannel
from activities.upstream.ports.network import NetworkChat, NetworkMessage, OutreachNetwork
from activities.upstream.ports.network_errors import AskRefused, PersonRefused
from models.base.database import Database
from models.base.secrets import Vault
from models.outreach.engine import inbox
from models.outreach.engine.inbox import ChatLine, KnownRecipient
from models.outreach.engine.plan import Writer
from models.outreach.rules.callbacks import Callback, CallbackKind

log = structlog.get_logger(__name__)

AROUND = timedelta(minutes=10)
"""How much earlier than an event that names no chat its message may be."""


class NetworkInbox:
    """Reads the network for accounts. Ids of accounts come twice: ours, and the provider's."""

    def __init__(self, database: Database, network: OutreachNetwork, vault: Vault, *, public_url: str) -> None:
        self._database = database
        self._network = network
        self._channel = NetworkChannel(network)
        self._vault = vault
        self._writer = Writer(vault, public_url)

    async def arrived(self, account_id: str, provider_id: str, callback: Callback) -> None:
        """Look at what a callback of kind `message` or `relation` announces."""
        if callback.kind is CallbackKind.MESSAGE:
            await self._message_arrived(account_id, provider_id, callback)
        elif callback.person is not None:
            person = callback.person
            met = await self._database.run(
                lambda session: inbox.find_known_by_address(session, self._vault, account_id, person)
            )
            if met is not None:
                await self._look_at(account_id, provider_id, met.network_id or person, met)

    async def _message_arrived(self, account_id: str, provider_id: str, callback: Callback) -> None:
        if callback.chat_id is None:  # a message cannot be found without its chat: look at whichever are new
            if callback.created_at is not None:
                await self.read_chats(account_id, provider_id, callback.created_at - AROUND)
            return
        chat = await self._network.chat(provider_id, callback.chat_id)
        if chat is not None:
            await self._listen(account_id, provider_id, chat)

    async def read_chats(self, account_id: str, provider_id: str, since: datetime | None) -> None:
        """Find the messages later than `since`, null for all that matter, that no callback announced."""
        begun = await self._database.run(lambda session: inbox.begun_at(session, account_id))
        if begun is None:
            return
        for chat in await self._network.chats(provider_id, since=begun if since is None else max(begun, since)):
            try:
                await self._listen(account_id, provider_id, chat)
            except (PersonRefused, AskRefused) as error:  # go on with the other chats
                log.info("inbox.chat_not_read", account_id=account_id, code=error.code)

    async def read_invites(self, account_id: str, provider_id: str) -> None:
        """Find the invites that are pending no longer."""
        waiting = await self._database.run(lambda session: inbox.pending_invites(session, account_id))
        if not waiting:
            return
        still = {request.person_id for request in await self._network.sent_requests(provider_id)}
        for network_id in waiting:
            met = await self._met(account_id, network_id) if network_id not in still else None
            if met is not None:
                await self._look_at(account_id, provider_id, network_id, met)

    async def _met(self, account_id: str, network_id: str) -> KnownRecipient | None:
        return await self._database.run(lambda session: inbox.find_known_person(session, account_id, network_id))

    async def _look_at(self, account_id: str, provider_id: str, person: str, met: KnownRecipient) -> None:
        try:
            learned = await self._channel.find(provider_id, person)
        except (PersonRefused, AskRefused) as error:
            log.info("inbox.person_not_read", account_id=account_id, code=error.code)
            return
        await self._database.run(lambda session: inbox.record_relation(session, account_id, met.profile_id, learned))

    async def _listen(self, account_id: str, provider_id: str, chat: NetworkChat) -> None:
        """Take over what was written in a chat with a known person; that there is a chat hints at an acceptance."""
        person = chat.person_id
        if not chat.one_to_one or person is None:
            return
        met = await self._met(account_id, person)
        if met is None:
            return
        if not met.connected:
            await self._look_at(account_id, provider_id, person, met)
        profile_id = met.profile_id
        since = await self._database.run(lambda session: inbox.wanted_since(session, account_id, profile_id, chat.id))
        if since is None:
            return
        read = await self._network.messages(provider_id, chat.id, since=since)
        lines = list(_lines(read, person))
        if lines:
            await self._database.run(
                lambda session: inbox.take_messages(
                    session, account_id, profile_id, chat.id, lines, writer=self._writer
                )
            )


def _lines(read: tuple[NetworkMessage, ...], person: str) -> Iterator[ChatLine]:
    """What the two wrote: no reactions and calls, no deleted messages, no words of third people."""
    for one in read:
        if one.is_event or one.is_deleted:
            continue
        if one.from_owner or one.sender_id in (None, person):
            yield ChatLine(one.id, one.text, one.sent_at, one.from_owner)
