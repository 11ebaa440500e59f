"""The network as a channel: what each type of action calls there, how it is read back, and what the answers mean.

Reads are always made afresh.
"""

import contextlib
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from activities.upstream.ports.network import NetworkMessage, OutreachNetwork, PersonOnNetwork, RequestState
from activities.upstream.ports.network_errors import (
    AccountTrouble,
    Already,
    AlreadyDone,
    AskRefused,
    FeatureMissing,
    Limit,
    LimitReached,
    NetworkBusy,
    NetworkError,
    NetworkNotConfigured,
    OutcomeUnknown,
    PersonRefusal,
    PersonRefused,
    Trouble,
)
from models.outreach.engine.account_states import AccountStanding
from models.outreach.engine.claim import ClaimedAction
from models.outreach.engine.context import Learned
from models.outreach.engine.record import (
    Again,
    CallResult,
    ChannelReading,
    Done,
    Heard,
    Limited,
    NotNeeded,
    RefusedSend,
    Troubled,
    Unclear,
)
from models.outreach.rules import answers
from models.outreach.rules.actions import ACTION_SPECS, ActionEffect, ChannelCall
from models.outreach.rules.answers import CLOCK_TOLERANCE, Outgoing, ReadingBack, Seen, Signal
from models.outreach.rules.sequences import text_hash
from models.outreach.rules.states import ActionReason
from models.people.rules.identity import profile_slug

NOT_CONFIGURED = timedelta(minutes=5)
STANDING_OF = {
    Trouble.DISCONNECTED: AccountStanding.DISCONNECTED,
    Trouble.RESTRICTED: AccountStanding.RESTRICTED,
    Trouble.INTERRUPTED: AccountStanding.INTERRUPTED,
    Trouble.NOT_READY: AccountStanding.CONNECTING,
}
SIGNAL_OF = {Limit.METHOD: Signal.VENDOR_LIMIT, Limit.DAILY: Signal.DAILY, Limit.WEEKLY: Signal.WEEKLY}
SKIPPED = {PersonRefusal.NO_VISIT: ActionReason.NO_VISIT_TOKEN}
"""Refusals that only pass over the step."""


class Abandoned(Exception):
    """Too much time has passed since the claim: the call is not made."""


class NetworkChannel:
    """The network as a channel (`activities.outreach.channel.Channel`)."""

    def __init__(self, network: OutreachNetwork) -> None:
        self._network = network
        self._sends = {
            ChannelCall.INVITE: self._invite,
            ChannelCall.MESSAGE: self._message,
            ChannelCall.WITHDRAW: self._withdraw,
            ChannelCall.VISIT: self._visit,
        }
        self._readings = {
            ChannelCall.INVITE: self._read_invite,
            ChannelCall.MESSAGE: self._read_message,
            ChannelCall.WITHDRAW: self._read_withdrawal,
        }

    @property
    def sends(self) -> Set[ChannelCall]:
        """The calls it can make."""
        return self._sends.keys()

    @property
    def reads(self) -> Set[ChannelCall]:
        """The calls whose outcome it can read back."""
        return self._readings.keys()

    async def find(self, account: str, person: str) -> Learned:
        """See `Channel`."""
        return learned_of(await self._network.person(account, person, fresh=True))

    async def send(self, claimed: ClaimedAction, in_time: Callable[[], bool]) -> CallResult:
        """See `Channel`."""

        def still() -> None:
            if not in_time():
                raise Abandoned

        try:
            return await self._sends[ACTION_SPECS[claimed.type].call](claimed, still)
        except Abandoned:
            return Again(ActionReason.ABANDONED.value, timedelta())
        except AlreadyDone as error:
            return await self._already(claimed, error)
        except NetworkError as error:
            return result_of_failure(error)

    async def read_back(self, claimed: ClaimedAction, at: datetime) -> ChannelReading:
        """See `Channel`."""
        spec = ACTION_SPECS[claimed.type]
        if not spec.is_read_back:
            return ChannelReading(ReadingBack(at, Seen.DONE), done_at=claimed.claimed_at)
        if not name_of(claimed) or not claimed.provider_id:
            return ChannelReading(ReadingBack(at, Seen.UNREADABLE))
        try:
            return await self._readings[spec.call](claimed, at)
        except NetworkError:
            return ChannelReading(ReadingBack(at, Seen.UNREADABLE))

    async def _invite(self, claimed: ClaimedAction, still: Callable[[], None]) -> CallResult:
        person = await self._network.person(claimed.provider_id, name_of(claimed), fresh=True)
        learned = learned_of(person)
        if person.connected:
            return NotNeeded(ActionReason.ALREADY_CONNECTED, learned=learned)
        if learned.pending:
            return NotNeeded(ActionReason.ALREADY_INVITED, learned=learned)
        still()
        sent = await self._network.invite(claimed.provider_id, person.id, claimed.text or None)
        return Done(learned=Learned(network_id=person.id, connected=False, pending=True, invited_at=sent.sent_at))

    async def _message(self, claimed: ClaimedAction, still: Callable[[], None]) -> CallResult:
        person_id = await self._id_of(claimed)
        learned = Learned(network_id=person_id)
        chat = await self._network.chat_with(claimed.provider_id, person_id)
        if chat is not None:
            learned = Learned(network_id=person_id, chat_id=chat.id)
            heard = await self._heard(claimed, chat.id, learned)
            if heard is not None:
                return heard
            if not chat.writable:
                return RefusedSend(PersonRefusal.READ_ONLY.value, learned=learned)
        text = claimed.text or ""
        still()
        if chat is not None:
            sent = await self._network.send_message(claimed.provider_id, chat.id, text)
        else:
            sent = await self._network.start_chat(claimed.provider_id, person_id, text)
        return Done(sent.message_id, learned=Learned(network_id=person_id, chat_id=sent.chat_id or learned.chat_id))

    async def _heard(self, claimed: ClaimedAction, chat_id: str, learned: Learned) -> Heard | None:
        """Return what the person, or the owner by hand, wrote since the enrollment began."""
        if claimed.news_since is None:
            return None
        messages = await self._network.messages(claimed.provider_id, chat_id, since=claimed.news_since)
        news = news_in(messages, claimed)
        return None if news is None else Heard(by_person=news.by_person, at=news.at, learned=learned)

    async def _withdraw(self, claimed: ClaimedAction, still: Callable[[], None]) -> CallResult:
        requests = await self._network.sent_requests(claimed.provider_id)
        pending = next((one for one in requests if name_of(claimed) in {one.person_id, one.public_identifier}), None)
        if pending is None:
            person = await self._network.person(claimed.provider_id, name_of(claimed), fresh=True)
            return NotNeeded(ActionReason.INVITE_NOT_PENDING, learned=learned_of(person))
        still()
        await self._network.withdraw(claimed.provider_id, pending.id)
        return Done()

    async def _visit(self, claimed: ClaimedAction, still: Callable[[], None]) -> CallResult:
        person_id = await self._id_of(claimed)
        still()
        with contextlib.suppress(OutcomeUnknown):  # it cannot be read back: it counts as done and is never repeated
            await self._network.visit(claimed.provider_id, person_id)
        return Done(learned=Learned(network_id=person_id))

    async def _id_of(self, claimed: ClaimedAction) -> str:
        if claimed.person is not None:
            return claimed.person
        return (await self._network.person(claimed.provider_id, name_of(claimed), fresh=True)).id

    async def _already(self, claimed: ClaimedAction, error: AlreadyDone) -> CallResult:
        """The network says that it is so already: one look at the person decides whether it is."""
        try:
            person = await self._network.person(claimed.provider_id, name_of(claimed), fresh=True)
        except NetworkError:
            return Unclear()
        learned = learned_of(person)
        effect = ACTION_SPECS[claimed.type].effect
        if effect is ActionEffect.WITHDRAWS:
            return NotNeeded(ActionReason.INVITE_NOT_PENDING, learned=learned)
        if effect is not ActionEffect.INVITES:
            return RefusedSend(ActionReason.NETWORK_REFUSED.value, learned=learned)
        if person.connected:
            return NotNeeded(ActionReason.ALREADY_CONNECTED, learned=learned)
        if learned.pending:
            return NotNeeded(ActionReason.ALREADY_INVITED, learned=learned)
        recent = error.already is Already.INVITED
        return RefusedSend(
            (ActionReason.RECENTLY_WITHDRAWN if recent else ActionReason.NETWORK_REFUSED).value, learned=learned
        )

    async def _read_invite(self, claimed: ClaimedAction, at: datetime) -> ChannelReading:
        person = await self._network.person(claimed.provider_id, name_of(claimed), fresh=True)
        requests = await self._network.sent_requests(claimed.provider_id)
        listed = next((one for one in requests if person.id == one.person_id), None)
        learned = learned_of(person)
        requested_at = learned.invited_at or (listed.sent_at if listed is not None else None)
        seen = answers.read_invite(
            connected=person.connected,
            pending=bool(learned.pending),
            listed=listed is not None,
            requested_at=requested_at,
            claimed_at=claimed.claimed_at,
        )
        return ChannelReading(ReadingBack(at, seen), learned, done_at=requested_at)

    async def _read_withdrawal(self, claimed: ClaimedAction, at: datetime) -> ChannelReading:
        requests = await self._network.sent_requests(claimed.provider_id)
        if any(name_of(claimed) in {one.person_id, one.public_identifier} for one in requests):
            return ChannelReading(ReadingBack(at, answers.read_withdrawal(listed=True, connected=False)))
        person = await self._network.person(claimed.provider_id, name_of(claimed), fresh=True)
        seen = answers.read_withdrawal(listed=False, connected=person.connected)
        return ChannelReading(ReadingBack(at, seen), learned_of(person))

    async def _read_message(self, claimed: ClaimedAction, at: datetime) -> ChannelReading:
        person_id = await self._id_of(claimed)
        chat = await self._network.chat_with(claimed.provider_id, person_id)
        if chat is None:
            return ChannelReading(ReadingBack(at, Seen.ABSENT), Learned(network_id=person_id))
        since = claimed.claimed_at - CLOCK_TOLERANCE
        written = await self._network.messages(claimed.provider_id, chat.id, since=since)
        outgoing = [  # by the hashes of their texts: ours outlives an erasure
            Outgoing(one.id, text_hash(one.text or ""), one.sent_at or at)
            for one in written
            if one.from_owner and not one.is_event and not one.is_deleted
        ]
        explained = {one.id for one in outgoing if one.id in claimed.ours or one.text in claimed.ours}
        wanted = claimed.text_hash or ""
        seen = answers.read_messages(outgoing, text=wanted, claimed_at=claimed.claimed_at, explained=explained)
        sent = next((one for one in outgoing if one.text == wanted), None)
        found = sent if seen is Seen.DONE else None
        return ChannelReading(
            ReadingBack(at, seen),
            Learned(network_id=person_id, chat_id=chat.id),
            done_at=found.sent_at if found else None,
            message_id=found.id if found else None,
        )


def name_of(claimed: ClaimedAction) -> str:
    """Return what the network calls the person: its own id, or else the end of the profile's URL; empty without one."""
    if claimed.person is not None:
        return claimed.person
    return "" if claimed.profile_url is None else profile_slug(claimed.profile_url)


def learned_of(person: PersonOnNetwork) -> Learned:
    """What a profile says of the two; a pending invite counts only when it is the owner's."""
    request = person.request if person.request_state is RequestState.PENDING else None
    return Learned(
        network_id=person.id,
        connected=person.connected,
        pending=request is not None,
        invited_at=request.sent_at if request is not None else None,
    )


@dataclass(frozen=True, slots=True)
class News:
    """Words in a chat that are not ours: the person's (the first of them), or the owner's own (the last)."""

    by_person: bool
    at: datetime | None


class Ear(Protocol):
    """What distinguishes the owner's words from ours: see `models.outreach.engine.claim.ClaimedAction`."""

    @property
    def ours(self) -> frozenset[str]:
        """Ids and text hashes of what the service wrote."""

    @property
    def owner_since(self) -> datetime | None:
        """Up to when the owner's own messages are known."""


def news_in(messages: Sequence[NetworkMessage], ear: Ear) -> News | None:
    """Return what others wrote among these messages, oldest first; the person's words go before the owner's."""
    replies = [one for one in messages if one.written_by_person]
    if replies:
        return News(by_person=True, at=replies[0].sent_at)
    by_owner = [one for one in messages if _by_owner(one, ear)]
    return News(by_person=False, at=by_owner[-1].sent_at) if by_owner else None


def _by_owner(message: NetworkMessage, ear: Ear) -> bool:
    """Whether the owner wrote it by hand, later than what is known of them; our own notes and messages are not."""
    if not message.from_owner or message.is_event or message.is_deleted or message.id in ear.ours:
        return False
    if message.text is not None and text_hash(message.text) in ear.ours:
        return False
    known = ear.owner_since
    return known is None or message.sent_at is None or message.sent_at > known


def result_of_failure(error: NetworkError) -> CallResult:
    """Return what a failed call means for its action; an unknown failure counts as perhaps executed."""
    return _about_person(error) or _about_account(error) or Unclear(getattr(error, "interrupted", False))


def _about_person(error: NetworkError) -> CallResult | None:
    match error:
        case PersonRefused(reason=reason) if reason in SKIPPED:
            return NotNeeded(SKIPPED[reason])
        case PersonRefused(reason=reason):
            return RefusedSend(reason.value)
        case FeatureMissing():
            return NotNeeded(ActionReason.NETWORK_REFUSED)
        case AskRefused():
            return RefusedSend(ActionReason.NETWORK_REFUSED.value)
    return None


def _about_account(error: NetworkError) -> CallResult | None:
    match error:
        case LimitReached(limit=limit, retry_after=seconds, read_back=doubtful):
            return Limited(SIGNAL_OF[limit], _wait(seconds), doubtful)
        case AccountTrouble(trouble=trouble):
            return Troubled(STANDING_OF[trouble])
        case NetworkBusy(retry_after=seconds):
            return Again(error.code, _wait(seconds))
        case NetworkNotConfigured():
            return Again(error.code, NOT_CONFIGURED)
    return None


def _wait(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)
