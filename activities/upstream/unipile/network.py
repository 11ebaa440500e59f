"""`OutreachNetwork` on Unipile v2: accounts, people, invites, visits, chats."""

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

import httpx

from activities.upstream.ports.network import (
    CallbackEndpoint,
    MessageSent,
    NetworkAccount,
    NetworkChat,
    NetworkMessage,
    PersonOnNetwork,
    ProviderStanding,
    SentRequest,
)
from activities.upstream.ports.network_errors import (
    AccountTrouble,
    AskRefused,
    NetworkBusy,
    NetworkNotConfigured,
    PersonRefusal,
    PersonRefused,
    Trouble,
)
from activities.upstream.unipile import shapes
from activities.upstream.unipile.client import Json, ProblemAnswer, ProviderCall, UnipileClient, meaning
from activities.upstream.unipile.endpoints import Endpoints
from activities.upstream.unipile.failures import CURSOR_WANTED, AskedAction, interrupted_call, needs_look
from activities.upstream.unipile.paging import PAGE_LIMIT, Position, after_page, rows_of
from models.outreach.rules.actions import MAX_NOTE_UNITS

MOST_PAGES = 200

Value = TypeVar("Value")

_TROUBLES: Mapping[ProviderStanding, Trouble] = {
    ProviderStanding.CONNECTING: Trouble.NOT_READY,
    ProviderStanding.DISCONNECTED: Trouble.DISCONNECTED,
    ProviderStanding.INTERRUPTED: Trouble.INTERRUPTED,
    ProviderStanding.RESTRICTED: Trouble.RESTRICTED,
    ProviderStanding.UNKNOWN: Trouble.RESTRICTED,
}


class UnipileNetwork:
    """The outreach network of production. `base_url` and `api_key` are all that differs between vendor and sandbox.

    Without an `api_key` every call raises `NetworkNotConfigured`.
    """

    name = "unipile"

    def __init__(
        self, *, base_url: str, api_key: str | None, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._client = UnipileClient(base_url=base_url, api_key=api_key, transport=transport)
        self._endpoints = Endpoints(self._core)
        self._by_cursor: set[str] = set()  # lists that turned out to take a cursor alone

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def connect_link(
        self, *, state: str, redirect_url: str, expires_at: datetime, account_id: str | None = None
    ) -> str:
        """See `OutreachNetwork`."""
        body: Json = {"expires_on": shapes.provider_time(expires_at), "redirect_uri": redirect_url, "state": state}
        body |= {"providers": ["linkedin"]} if account_id is None else {"account_id": account_id}
        try:
            answer = await self._core("auth/link", "POST", ("auth", "link"), body=body)
        except PersonRefused as error:
            if account_id is None or error.reason is not PersonRefusal.NOT_FOUND:
                raise
            raise AccountTrouble(Trouble.DISCONNECTED, error.code) from None
        link = answer.get("link")
        if not isinstance(link, str) or not link.startswith(("https://", "http://")):
            raise NetworkBusy("unreadable")
        return link

    async def account(self, account_id: str) -> NetworkAccount | None:
        """See `OutreachNetwork`."""
        try:
            body = await self._core("accounts/get", "GET", ("accounts", account_id))
        except PersonRefused as error:
            if error.reason is PersonRefusal.NOT_FOUND:
                return None
            raise
        return _read(shapes.account, body, AskedAction.CORE)

    async def delete_account(self, account_id: str) -> None:
        """See `OutreachNetwork`."""
        try:
            await self._core("accounts/delete", "DELETE", ("accounts", account_id))
        except PersonRefused as error:
            if error.reason is not PersonRefusal.NOT_FOUND:
                raise

    async def person(self, account_id: str, person: str, *, fresh: bool = False) -> PersonOnNetwork:
        """See `OutreachNetwork`."""
        body = await self._get("users/get", account_id, "users", person, fresh=fresh)
        return _read(shapes.person, body, AskedAction.READ)

    async def invite(self, account_id: str, person_id: str, note: str | None) -> SentRequest:
        """See `OutreachNetwork`."""
        if note is not None and len(note.encode("utf-16-le", "surrogatepass")) // 2 > MAX_NOTE_UNITS:
            raise AskRefused("note_too_long")
        body: Json = {"user_id": person_id} | ({"message": note} if note else {})
        path = ("users", "me", "relation-requests")
        answer = await self._act("users/invite", AskedAction.INVITE, account_id, *path, body=body)
        sent = _read(shapes.request, answer, AskedAction.INVITE)
        return replace(sent, person_id=person_id, note=note or None)

    async def withdraw(self, account_id: str, request_id: str) -> None:
        """See `OutreachNetwork`."""
        path = ("users", "me", "relation-requests", request_id, "cancel")
        answer = await self._act("users/withdraw", AskedAction.WITHDRAW, account_id, *path)
        _expect(answer, "RelationRequestCanceled", AskedAction.WITHDRAW)

    async def visit(self, account_id: str, person_id: str) -> None:
        """See `OutreachNetwork`."""
        person = await self.person(account_id, person_id, fresh=True)
        if person.visit_token is None:
            raise PersonRefused(PersonRefusal.NO_VISIT, "no_visit_token")
        path, query = ("users", "visit-profile"), {"token": person.visit_token}
        answer = await self._act("users/visit", AskedAction.ACT, account_id, *path, query=query)
        _expect(answer, "ProfileVisited", AskedAction.ACT)

    async def chat_with(self, account_id: str, person_id: str) -> NetworkChat | None:
        """See `OutreachNetwork`."""
        found = await self._get("users/chat", account_id, "users", person_id, "chat", fresh=True)
        ids = [shapes.short_text(row.get("chat_id")) for row in _rows(found)]
        for chat_id in filter(None, ids):
            chat = await self.chat(account_id, chat_id)
            if chat is not None and chat.one_to_one:
                return chat
        return None

    async def chat(self, account_id: str, chat_id: str) -> NetworkChat | None:
        """See `OutreachNetwork`."""
        body = await self._get_if_there("chats/get", account_id, "chats", chat_id)
        return None if body is None else _read(shapes.chat, body, AskedAction.READ)

    async def message(self, account_id: str, chat_id: str, message_id: str) -> NetworkMessage | None:
        """See `OutreachNetwork`."""
        path = ("chats", chat_id, "messages", message_id)
        body = await self._get_if_there("messages/get", account_id, *path)
        return None if body is None else _read(shapes.message, body, AskedAction.READ)

    async def messages(
        self, account_id: str, chat_id: str, *, since: datetime | None = None
    ) -> tuple[NetworkMessage, ...]:
        """See `OutreachNetwork`."""
        query = {} if since is None else {"after": shapes.provider_time(since)}
        rows = await self._all("messages/list", account_id, "chats", chat_id, "messages", query=query)
        found = [_read(shapes.message, row, AskedAction.READ) for row in rows]
        oldest_first = found[::-1]  # messages of the same moment keep their order
        return tuple(sorted(oldest_first, key=lambda message: message.sent_at.timestamp() if message.sent_at else 0))

    async def send_message(self, account_id: str, chat_id: str, text: str) -> MessageSent:
        """See `OutreachNetwork`."""
        path = ("chats", chat_id, "messages", "send")
        answer = await self._act("messages/send", AskedAction.MESSAGE, account_id, *path, body={"text": text})
        _expect(answer, "MessageSent", AskedAction.MESSAGE)
        return shapes.sent(answer, chat_id=chat_id)

    async def start_chat(self, account_id: str, person_id: str, text: str) -> MessageSent:
        """See `OutreachNetwork`."""
        body: Json = {"users_ids": [person_id], "text": text}
        answer = await self._act("chats/send", AskedAction.MESSAGE, account_id, "chats", "send", body=body)
        _expect(answer, "ChatStarted", AskedAction.MESSAGE)
        return shapes.sent(answer)

    async def sent_requests(self, account_id: str) -> tuple[SentRequest, ...]:
        """See `OutreachNetwork`."""
        path = ("users", "me", "relation-requests")
        rows = await self._all("users/requests", account_id, *path, query={"type": "sent"})
        return tuple(_read(shapes.request, row, AskedAction.READ) for row in rows)

    async def chats(self, account_id: str, *, since: datetime | None = None) -> tuple[NetworkChat, ...]:
        """See `OutreachNetwork`."""
        query = {} if since is None else {"after": shapes.provider_time(since)}
        rows = await self._all("chats/list", account_id, "chats", query=query)
        return tuple(_read(shapes.chat, row, AskedAction.READ) for row in rows)

    async def ensure_callbacks(self, url: str) -> CallbackEndpoint:
        """See `OutreachNetwork`."""
        return await self._endpoints.ensure(url)

    async def _core(
        self,
        operation: str,
        method: str,
        path: tuple[str, ...],
        *,
        body: Json | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Json:
        ask = ProviderCall(operation, AskedAction.CORE, method, path, query or {}, body, fresh=method == "GET")
        try:
            return await self._client.call(ask)
        except ProblemAnswer as error:
            raise meaning(error) from None

    async def _act(
        self,
        operation: str,
        action: AskedAction,
        account_id: str,
        *path: str,
        body: Json | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Json:
        ask = ProviderCall(operation, action, "POST", (account_id, *path), query or {}, body)
        async with self._understood(account_id):
            return await self._client.call(ask)

    async def _get(self, operation: str, account_id: str, *path: str, fresh: bool) -> Json:
        async with self._understood(account_id):
            return await self._client.call(
                ProviderCall(operation, AskedAction.READ, "GET", (account_id, *path), fresh=fresh)
            )

    async def _get_if_there(self, operation: str, account_id: str, *path: str) -> Json | None:
        try:
            return await self._get(operation, account_id, *path, fresh=True)
        except PersonRefused as error:
            if error.reason is PersonRefusal.NOT_FOUND:
                return None
            raise

    async def _all(self, operation: str, account_id: str, *path: str, query: Mapping[str, str]) -> list[Json]:
        """All rows of a list of the network, each once, in its order."""
        rows: dict[str, Json] = {}
        position: Position | None = Position()
        for _ in range(MOST_PAGES):
            if position is None:
                return list(rows.values())
            asked = {**query, "limit": str(PAGE_LIMIT), **position.query}
            ask = ProviderCall(operation, AskedAction.READ, "GET", (account_id, *path), asked, fresh=True)
            try:
                async with self._understood(account_id):
                    page = await self._client.call(ask)
            except AskRefused as error:
                # It takes a cursor and gave none with the last page, so that was the last one.
                if error.code != CURSOR_WANTED or not position.offset:
                    raise
                self._by_cursor.add(operation)
                return list(rows.values())
            found = _rows(page)
            rows |= {_read(shapes.required_id, row, AskedAction.READ): row for row in found}
            position = after_page(position, page, count=len(found), by_cursor=operation in self._by_cursor)
        raise NetworkBusy("too_many_pages")

    @contextlib.asynccontextmanager
    async def _understood(self, account_id: str) -> AsyncIterator[None]:
        """Turn an error answer into what it means, looking at the account where that decides."""
        try:
            yield
        except ProblemAnswer as error:
            trouble = await self._trouble(account_id) if needs_look(error.problem) else None
            raise meaning(error, standing=trouble) from None

    async def _trouble(self, account_id: str) -> Trouble | None:
        """What is wrong with the account; null when nothing is. The call that led here was not executed for sure."""
        found = await self.account(account_id)
        if found is None:
            return Trouble.DISCONNECTED
        if found.standing is ProviderStanding.SUSPENDED:
            raise NetworkNotConfigured("paused")
        return _TROUBLES.get(found.standing)


def _read(reading: Callable[[Json], Value], body: Json, action: AskedAction) -> Value:
    """Read a value out of an answer. Raises `OutcomeUnknown` after an act, `NetworkBusy` after a read."""
    try:
        return reading(body)
    except shapes.Unreadable:
        raise interrupted_call(action, "unreadable") from None


def _rows(body: Json) -> list[Json]:
    try:
        return rows_of(body)
    except shapes.Unreadable:
        raise NetworkBusy("unreadable") from None


def _expect(body: Json, name: str, action: AskedAction) -> None:
    """Check what kind of object was answered: anything else after an act tells nothing."""
    if body.get("object") != name:
        raise interrupted_call(action, "unreadable")
