"""Chats and messages: listing, reading, sending."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sandbox.clock import Clock
from sandbox.faults import FaultKind
from sandbox.network.behaviour import Behaviour
from sandbox.network.chats import Chat, Chats, Message
from sandbox.network.gate import Call
from sandbox.network.ledger import WriteLog
from sandbox.network.people import Members
from sandbox.network.relations import Relations, Tie
from sandbox.network.wire import Answer, ApiError, Ask, listed, page_of, read

TEXT_UNITS = 8000


class StartChat(Ask):
    """The recipient and the text of a new chat."""

    users_ids: str | list[str]
    text: str
    name: str | None = None


class SendMessage(Ask):
    """The text of a message."""

    text: str
    quote_id: str | None = None


@dataclass(frozen=True, slots=True)
class Messaging:
    """Answers the calls about chats."""

    clock: Clock
    members: Members
    relations: Relations
    chats: Chats
    log: WriteLog
    behaviour: Behaviour
    ceiling: int

    def list_chats(self, call: Call) -> Answer:
        """Return the owner's chats, most recent first."""
        page, before, after = page_of(call.query, by_cursor=True), _moment(call, "before"), _moment(call, "after")
        rows = [
            self.chats.shown(chat, last)
            for chat, last in self.chats.of_owner(call.account.owner)
            if _between(last.at if last else None, before, after)
        ]
        return Answer(listed(rows, page, by_cursor=True, ceiling=self.ceiling))

    def show_chat(self, call: Call) -> Answer:
        """Return one chat."""
        chat = self._chat(call)
        return Answer(self.chats.shown(chat, next(iter(self.chats.messages(chat.id)), None)))

    def list_messages(self, call: Call) -> Answer:
        """Return the messages of a chat, the newest first."""
        chat, page = self._chat(call), page_of(call.query, by_cursor=True)
        before, after = _moment(call, "before"), _moment(call, "after")
        found = [each for each in self.chats.messages(chat.id) if _between(each.at, before, after)]
        rows = [self.chats.shown_message(chat, message) for message in found]
        return Answer(listed(rows, page, by_cursor=True, ceiling=self.ceiling))

    def show_message(self, call: Call) -> Answer:
        """Return one message."""
        chat, message = self._chat(call), self.chats.message(call.values[1])
        if message is None or message.chat_id != chat.id:
            raise ApiError("provider/resource_not_found", "there is no such message")
        return Answer(self.chats.shown_message(chat, message))

    def start(self, call: Call) -> Answer:
        """Write to a person, in their existing chat if there is one."""
        ask = read(StartChat, call.content)
        recipients = [ask.users_ids] if isinstance(ask.users_ids, str) else ask.users_ids
        if len(recipients) != 1:
            raise ApiError("provider/invalid_parameters", "users_ids: one user")
        number = self.members.with_id(recipients[0])
        if number is None:
            raise ApiError("provider/resource_not_found", "there is no such user")
        self._check_connected(call.account.owner, number)
        chat = self.chats.opened(call.account.owner, number)
        message = self._written(call, chat, ask.text)
        return Answer({"object": "ChatStarted", "chat_id": chat.id, "message_id": _message_id_form(call, message)})

    def send(self, call: Call) -> Answer:
        """Send a message in a chat."""
        ask, chat = read(SendMessage, call.content), self._chat(call)
        self._check_connected(call.account.owner, chat.person)
        return Answer(
            {"object": "MessageSent", "message_id": _message_id_form(call, self._written(call, chat, ask.text))}
        )

    def _chat(self, call: Call) -> Chat:
        chat = self.chats.get(call.account.owner, call.values[0])
        if chat is None:
            raise ApiError("provider/resource_not_found", "there is no such chat")
        return chat

    def _check_connected(self, owner: int, person: int) -> None:
        if self.relations.between(owner, person).tie is not Tie.CONNECTED:
            raise ApiError("provider/unprocessable_entity", "Messages go to first-degree relations alone.")

    def _written(self, call: Call, chat: Chat, text: str) -> Message:
        if chat.readonly:
            raise ApiError("provider/insufficient_permissions", "This chat is read-only.")
        if not text.strip() or len(text.encode("utf-16-le", "surrogatepass")) // 2 > TEXT_UNITS:
            raise ApiError("provider/invalid_parameters", f"text must have 1 to {TEXT_UNITS} characters")
        message = self.behaviour.write(chat, text, by_owner=True)
        person, account = self.members.member(chat.person), call.account
        self.log.note(
            "message", account_id=account.id, owner=account.owner, person=person, text=text, result=message.id
        )
        self.behaviour.written_to(chat)
        return message


def _message_id_form(call: Call, message: Message) -> str | Sequence[str] | None:
    """Return the id of a sent message in one of the three forms the provider uses."""
    if call.strike(FaultKind.MESSAGE_ID_NULL):
        return None
    return [message.id] if call.strike(FaultKind.MESSAGE_ID_LIST) else message.id


def _moment(call: Call, name: str) -> datetime | None:
    if name not in call.query:
        return None
    try:
        moment = datetime.fromisoformat(call.query[name])
    except ValueError:
        raise ApiError("api/invalid_parameters", f"{name} must be a time") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _between(at: datetime | None, before: datetime | None, after: datetime | None) -> bool:
    """Return whether a time is strictly between two others; a missing time is before all."""
    if at is None:
        return after is None
    return (before is None or at < before) and (after is None or at > after)
