"""Chats between owners and people, and their messages."""

from datetime import datetime, timedelta

from pydantic import BaseModel, ConfigDict

from sandbox.clock import rfc3339
from sandbox.network.people import Member, Members
from sandbox.network.schema import Ids
from sandbox.network.wire import Json
from sandbox.people.population.draws import Draws
from sandbox.state import State


class Chat(BaseModel):
    """A chat of two."""

    model_config = ConfigDict(frozen=True)

    id: str
    owner: int
    person: int
    readonly: bool = False


class Message(BaseModel):
    """A message; `by_owner` tells which of the two wrote it."""

    model_config = ConfigDict(frozen=True)

    id: str
    chat_id: str
    by_owner: bool
    text: str
    at: datetime


class Chats:
    """All chats."""

    def __init__(self, state: State, ids: Ids, draws: Draws, members: Members) -> None:
        self._state, self._ids, self._draws, self._members = state, ids, draws, members

    def between(self, owner: int, person: int) -> Chat | None:
        """Return the chat between two people."""
        row = self._state.database.execute(
            "select body from network_chats where owner = ? and person = ?", (owner, person)
        ).fetchone()
        return None if row is None else Chat.model_validate_json(row[0])

    def get(self, owner: int, chat_id: str) -> Chat | None:
        """Return one chat of an owner."""
        row = self._state.database.execute(
            "select body from network_chats where owner = ? and id = ?", (owner, chat_id)
        ).fetchone()
        return None if row is None else Chat.model_validate_json(row[0])

    def opened(self, owner: int, person: int, *, readonly: bool = False) -> Chat:
        """Return the chat between two people, opened if needed."""
        chat = self.between(owner, person)
        if chat is None:
            chat = Chat(id=self._ids.awkward("chat"), owner=owner, person=person, readonly=readonly)
            self.write(chat)
        return chat

    def write(self, chat: Chat) -> None:
        """Store a chat."""
        self._state.database.execute(
            "insert or replace into network_chats values (?, ?, ?, ?)",
            (chat.id, chat.owner, chat.person, chat.model_dump_json()),
        )

    def say(self, chat: Chat, text: str, *, by_owner: bool, at: datetime) -> Message:
        """Add a message; the network keeps milliseconds."""
        at = at.replace(microsecond=at.microsecond // 1000 * 1000)
        message = Message(id=self._ids.awkward("msg"), chat_id=chat.id, by_owner=by_owner, text=text, at=at)
        self._state.database.execute(
            "insert into network_messages (id, chat_id, body) values (?, ?, ?)",
            (message.id, chat.id, message.model_dump_json()),
        )
        return message

    def messages(self, chat_id: str) -> list[Message]:
        """Return the messages of a chat, the newest first."""
        rows = self._state.database.execute(
            "select body from network_messages where chat_id = ? order by seq desc", (chat_id,)
        ).fetchall()
        messages = [Message.model_validate_json(body) for (body,) in rows]
        return sorted(messages, key=lambda message: message.at, reverse=True)

    def message(self, message_id: str) -> Message | None:
        """Return one message."""
        row = self._state.database.execute("select body from network_messages where id = ?", (message_id,)).fetchone()
        return None if row is None else Message.model_validate_json(row[0])

    def of_owner(self, owner: int) -> list[tuple[Chat, Message | None]]:
        """Return an owner's chats with their last messages, most recent first; chats without a message come last."""
        rows = self._state.database.execute("select body from network_chats where owner = ?", (owner,)).fetchall()
        chats = [Chat.model_validate_json(body) for (body,) in rows]
        found = [(chat, next(iter(self.messages(chat.id)), None)) for chat in chats]
        return sorted(found, key=lambda pair: pair[1].at.timestamp() if pair[1] else 0.0, reverse=True)

    def settle_in(self, owner: int, connected: list[tuple[int, datetime]]) -> None:
        """Give an owner some old conversations with relations, a few of them read-only."""
        for person, since in connected:
            unit = self._draws.unit_at(f"old chat {owner}", person)
            if unit < 0.1:
                chat = self.opened(owner, person, readonly=unit < 0.01)
                self.say(chat, "Nice to meet you here.", by_owner=True, at=since + timedelta(hours=1))
                self.say(chat, "Likewise!", by_owner=False, at=since + timedelta(hours=5))

    def shown(self, chat: Chat, last: Message | None) -> Json:
        """Return a chat in the provider's format."""
        person = self._members.member(chat.person)
        body: Json = {
            "object": "Chat",
            "id": chat.id,
            "name": person.display_name,
            "type": "1to1",
            "is_1to1": True,
            "is_group": False,
            "user_id": person.id,
            "unread_count": 0 if last is None or last.by_owner else 1,
            "is_readonly": chat.readonly,
        }
        return body | ({"last_message_timestamp": rfc3339(last.at)} if last else {})

    def shown_message(self, chat: Chat, message: Message) -> Json:
        """Return a message in the provider's format."""
        writer: Member = self._members.member(chat.owner if message.by_owner else chat.person)
        flags = ("is_event", "is_deleted", "is_edited", "is_hidden", "is_seen", "is_pinned", "is_mentionned")
        return {
            "object": "Message",
            "id": message.id,
            "chat_id": chat.id,
            "sender_id": writer.id,
            "text": message.text,
            "timestamp": rfc3339(message.at),
            "is_sender": message.by_owner,
            "is_delivered": True,
            "reactions_counter": [],
            "attachments": [],
        } | dict.fromkeys(flags, False)
