"""The network side's part of the control API: the log of writes, acts of people and accounts, and switches."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query
from pydantic import BaseModel, ConfigDict, Field

from sandbox.clock import rfc3339
from sandbox.network.accounts import Account, Accounts, Status
from sandbox.network.behaviour import Behaviour, Unfitting
from sandbox.network.cache import LIFE_SECONDS, Cache
from sandbox.network.chats import Chats
from sandbox.network.deliveries import Deliveries
from sandbox.network.events import Events, Generation
from sandbox.network.hosted import HostedSignIn
from sandbox.network.ledger import RateLimits, WriteLog
from sandbox.network.people import OWNERS, Members
from sandbox.network.relations import Relation, Relations, Tie
from sandbox.network.schedule import Schedule
from sandbox.network.schema import Ids, at_once, forget_all
from sandbox.network.wire import Json
from sandbox.state import State

_MOST_LISTED = 1000
_LONGEST_TEXT = 8000


class Strict(BaseModel):
    """Control input: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class LogFilter(Strict):
    """Which writes to show."""

    account_id: str | None = None
    after: Annotated[int, Field(ge=0)] = 0


class Act(Strict):
    """The acting person; `person_id` is an id of the network or of the people provider, or a slug."""

    account_id: str
    person_id: str
    text: Annotated[str, Field(min_length=1, max_length=_LONGEST_TEXT)] | None = None


class TieChange(Strict):
    """The new relation between an owner and a person."""

    account_id: str
    person_id: str
    tie: Tie
    readonly: bool = False
    """With `connected`: opens a chat that accepts no messages."""


class PeopleFilter(Strict):
    """Which people of the network to list, by their relation to an owner."""

    account_id: str
    tie: Tie | None = None
    visitable: bool | None = None
    limit: Annotated[int, Field(ge=1, le=_MOST_LISTED)] = 20


class AccountChange(Strict):
    """A change of an account."""

    account_id: str
    status: Status | Literal["locked", "unlocked", "removed"] | None = None
    classic: Literal["running", "disconnected"] = "running"
    reason: Literal["unipile", "proxy", "provider"] = "provider"
    limit: Literal["daily", "weekly", "none"] | None = None
    neutral: bool = False


class NewAccount(Strict):
    """An account connected without a link; without `owner`, of a new owner."""

    owner: Annotated[int, Field(ge=0, le=999_999)] | None = None
    past: bool = True
    """Whether the owner already has relations, pending invites and chats."""


class Switches(Strict):
    """Settings of the network side; omitted ones stay unchanged."""

    natural: bool | None = None
    events: Generation | None = None
    cache_seconds: Annotated[float, Field(ge=0, le=86400)] | None = None
    per_hour: dict[str, Annotated[int, Field(ge=0)]] | None = None


@dataclass(frozen=True, slots=True)
class NetworkControl:
    """The objects that the control API uses."""

    state: State
    ids: Ids
    members: Members
    accounts: Accounts
    relations: Relations
    chats: Chats
    log: WriteLog
    cache: Cache
    limits: RateLimits
    events: Events
    schedule: Schedule
    deliveries: Deliveries
    behaviour: Behaviour
    hosted: HostedSignIn
    operations: frozenset[str]

    def router(self) -> APIRouter:
        """Return the routes under `/_control/network`."""
        router = APIRouter(prefix="/_control/network")
        self._add_readings(router)
        self._add_acts(router)
        self._add_switches(router)
        return router

    def _add_readings(self, router: APIRouter) -> None:
        @router.get("/log")
        async def show_log(wanted: Annotated[LogFilter, Query()]) -> dict[str, Any]:
            return {"data": self.log.all(account_id=wanted.account_id, after=wanted.after)}

        @router.get("/callbacks")
        async def show_callbacks(_: Annotated[Strict, Query()]) -> dict[str, Any]:
            return {"data": list(reversed(self.deliveries.conversations(None)))}

        @router.get("/schedule")
        @router.get("/happenings", include_in_schema=False)  # the earlier path
        async def show_schedule(_: Annotated[Strict, Query()]) -> dict[str, Any]:
            rows = [{"due": rfc3339(each.due), "kind": each.kind, "body": each.body} for each in self.schedule.all()]
            return {"data": rows}

        @router.get("/people")
        async def list_people(wanted: Annotated[PeopleFilter, Query()]) -> dict[str, Any]:
            account = self._account(wanted.account_id)
            found = (self._truth(account, number) for number in range(len(self.members)))
            rows = (row for row in found if _fits(row, wanted))
            return {"data": [row for row, _ in zip(rows, range(wanted.limit), strict=False)]}

        @router.get("/people/{person_id}")
        async def show_person(person_id: str, account_id: str) -> dict[str, Any]:
            return self._truth(self._account(account_id), self._person(person_id))

    def _add_acts(self, router: APIRouter) -> None:
        @router.post("/accept")
        async def accept(act: Act) -> dict[str, Any]:
            account, person = self._account(act.account_id), self._person(act.person_id)
            with self._now():
                self.behaviour.accept(self.relations.between(account.owner, person), promptly=True)
            return self._truth(account, person)

        @router.post("/reply")
        async def reply(act: Act) -> dict[str, Any]:
            return self._written(act, by_owner=False)

        @router.post("/owner_message")
        async def owner_message(act: Act) -> dict[str, Any]:
            return self._written(act, by_owner=True)

        @router.post("/people")
        async def change_tie(change: TieChange) -> dict[str, Any]:
            account, person = self._account(change.account_id), self._person(change.person_id)
            with self._now():
                self._tie(account, person, change)
            return self._truth(account, person)

        @router.post("/account")
        async def change_account(change: AccountChange) -> Json:
            account = self._account(change.account_id)
            with self._now():
                return self._changed(account, change)

        @router.post("/accounts", status_code=201)
        async def add_account(wanted: NewAccount) -> Json:
            owner = self.hosted.next_owner() if wanted.owner is None else OWNERS + wanted.owner
            with self._now():
                account = self.hosted.connect(owner, past=wanted.past)
                account = account.model_copy(update={"synchronised": True})
                self.accounts.write(account)
            return self.accounts.shown(account)

    def _add_switches(self, router: APIRouter) -> None:
        @router.post("/switches")
        async def switch(wanted: Switches) -> dict[str, Any]:
            unknown = sorted(set(wanted.per_hour or {}) - self.operations - {"*"})
            if unknown:
                raise HTTPException(400, f"per_hour: unknown operation {unknown[0]}")
            if wanted.natural is not None:
                self.events.change_nature(natural=wanted.natural)
            if wanted.events is not None:
                self.events.change_generation(wanted.events)
            if wanted.cache_seconds is not None:
                self.cache.change_life(wanted.cache_seconds)
            if wanted.per_hour is not None:
                self.limits.change(wanted.per_hour)
            return {
                "natural": self.events.natural,
                "events": self.events.generation,
                "cache_seconds": self.cache.life_seconds,
                "per_hour": self.limits.per_hour,
            }

        @router.delete("/log")
        async def clear_log(_: Annotated[Strict, Query()]) -> dict[str, int]:
            return {"deleted": self.log.clear()}

        @router.delete("")
        async def reset_network(_: Annotated[Strict, Query()]) -> dict[str, Any]:
            with at_once(self.state):
                forget_all(self.state)
                self.state.remember("network_owners", 0)
                self.events.change_nature(natural=True)
                self.events.change_generation("2026-09")
                self.cache.change_life(LIFE_SECONDS)
            self.limits.per_hour.clear()
            self.limits.change({})
            return {"accounts": 0}

    @contextmanager
    def _now(self) -> Iterator[None]:
        try:
            with at_once(self.state):
                yield
        except Unfitting as problem:
            raise HTTPException(409, str(problem)) from None

    def _account(self, account_id: str) -> Account:
        account = self.accounts.get(account_id)
        if account is None:
            raise HTTPException(404, "there is no such account")
        return account

    def _person(self, person_id: str) -> int:
        number = self.members.find(person_id)
        if number is None:
            raise HTTPException(404, "no person has this id")
        return number

    def _written(self, act: Act, *, by_owner: bool) -> Json:
        account, person = self._account(act.account_id), self._person(act.person_id)
        text = act.text or (
            "Hello from the owner." if by_owner else self.behaviour.profiles.of(account.owner, person).says
        )
        with self._now():
            chat = self.chats.opened(account.owner, person)
            message = self.behaviour.write(chat, text, by_owner=by_owner, promptly=True)
        return self.chats.shown_message(chat, message)

    def _tie(self, account: Account, person: int, change: TieChange) -> None:
        now = self.behaviour.clock.now()
        invited = change.tie in (Tie.PENDING, Tie.IGNORED, Tie.WITHDRAWN)
        relation = Relation(
            owner=account.owner,
            person=person,
            tie=change.tie,
            request_id=self.ids.awkward("inv") if change.tie is Tie.PENDING else None,
            invited_at=now if invited else None,
            since=now,
        )
        self.relations.write(relation)
        if change.tie is Tie.CONNECTED and change.readonly:
            chat = self.chats.opened(account.owner, person)
            self.chats.write(chat.model_copy(update={"readonly": True}))

    def _changed(self, account: Account, change: AccountChange) -> Json:
        if change.limit == "none":
            account = account.model_copy(update={"limit": None, "limit_until": None})
        elif change.limit is not None:
            account = self.accounts.limited(account, change.limit, neutral=change.neutral)
        if change.status == "removed":
            self.accounts.remove(account.id)
            self.behaviour.tell_status(account, "account.remove", {}, promptly=True)
            return self.accounts.shown(account)
        if change.status in ("locked", "unlocked"):
            account = account.model_copy(update={"is_locked": change.status == "locked"})
            self.behaviour.tell_status(account, f"account.{change.status}", {}, promptly=True)
        elif change.status is not None:
            update = {"status": change.status, "classic": change.classic, "synchronised": True}
            account = account.model_copy(update=update)
            more = {"reason": change.reason} if change.status is Status.ERRORED else {}
            self.behaviour.tell_status(account, f"account.status.{change.status}", more, promptly=True)
        self.accounts.write(account)
        return self.accounts.shown(account)

    def _truth(self, account: Account, number: int) -> Json:
        member, relation = self.members.member(number), self.relations.between(account.owner, number)
        profile = self.behaviour.profiles.of(account.owner, number)
        return {
            "person_id": member.id,
            "public_identifier": member.public_identifier,
            "profile_url": member.profile_url,
            "display_name": member.display_name,
            "tie": relation.tie.value,
            "visitable": self.relations.visitable(number),
            "accepts": profile.accepts,
            "declines": profile.declines,
            "answers_message": profile.answers_message,
        }


def _fits(row: Json, wanted: PeopleFilter) -> bool:
    if wanted.tie is not None and row["tie"] != wanted.tie:
        return False
    return wanted.visitable is None or row["visitable"] is wanted.visitable
