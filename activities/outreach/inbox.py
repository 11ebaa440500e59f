"""The inbox: what messages and relations of the network mean for whoever waits for them.

A callback is only a hint. The person, or the chat, is read afresh, and only what that shows changes anything. Whatever
concerns nobody whom this installation wrote to is neither kept nor logged.
"""

from datetime import datetime

from activities.outreach.calls import learned_of, news_in
from activities.upstream.ports import NetworkChat, OutreachNetwork
from models.database import Database
from models.rules.outreach.callbacks import Callback, CallbackKind
from models.stores.outreach import relations


class NetworkInbox:
    """Reads the network for accounts. Ids of accounts come twice: ours, and the provider's."""

    def __init__(self, database: Database, network: OutreachNetwork) -> None:
        self._database = database
        self._network = network

    async def arrived(self, account_id: str, provider_id: str, callback: Callback) -> None:
        """Look at what a callback of kind `message` or `relation` announces."""
        if callback.kind is CallbackKind.MESSAGE and callback.chat_id is not None:
            chat = await self._network.chat(provider_id, callback.chat_id)
            if chat is not None:
                await self._listen(account_id, provider_id, chat)
        elif callback.person is not None:
            await self._look_at(account_id, provider_id, callback.person)

    async def read_chats(self, account_id: str, provider_id: str, since: datetime | None) -> None:
        """Find the messages later than `since` that no callback told of."""
        for chat in await self._network.chats(provider_id, since=since):
            await self._listen(account_id, provider_id, chat)

    async def read_invites(self, account_id: str, provider_id: str) -> None:
        """Find the invites that are pending no longer."""
        waiting = await self._database.run(lambda session: relations.pending(session, account_id))
        if not waiting:
            return
        still = {request.person_id for request in await self._network.sent_requests(provider_id)}
        for network_id in waiting:
            if network_id not in still:
                await self._look_at(account_id, provider_id, network_id)

    async def _look_at(self, account_id: str, provider_id: str, person: str) -> None:
        seen = await self._network.person(provider_id, person, fresh=True)
        profile_id = await self._database.run(lambda session: relations.known(session, account_id, seen.id))
        if profile_id is not None:
            learned = learned_of(seen)
            await self._database.run(lambda session: relations.learn(session, account_id, profile_id, learned))

    async def _listen(self, account_id: str, provider_id: str, chat: NetworkChat) -> None:
        """Take over who wrote in a chat with somebody of ours; its being there hints at an acceptance."""
        network_id = chat.person_id
        if not chat.one_to_one or network_id is None:
            return
        profile_id = await self._database.run(lambda session: relations.known(session, account_id, network_id))
        if profile_id is None:
            return
        await self._look_at(account_id, provider_id, network_id)
        ear = await self._database.run(lambda session: relations.ear(session, account_id, profile_id))
        if ear is None:
            return
        messages = await self._network.messages(provider_id, chat.id, since=ear.news_since)
        found = news_in(messages, ear)
        if found is not None:
            await self._database.run(
                lambda session: relations.heard(session, ear.enrollment_id, by_person=found.by_person, at=found.at)
            )
