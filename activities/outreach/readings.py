"""Readings: what the network shows of an action whose outcome nobody saw. Reads only, always afresh."""

from datetime import datetime

from activities.outreach.calls import learned_of
from activities.upstream.ports import NetworkError, OutreachNetwork
from models.rules.outreach import reconciling
from models.rules.outreach.reconciling import CLOCK_TOLERANCE, Outgoing, Reading, Seen
from models.rules.outreach.states import ActionType
from models.rules.outreach.steps import text_hash
from models.stores.outreach.claims import Parcel
from models.stores.outreach.facts import Learned
from models.stores.outreach.reconciling import Read


class Readings:
    """Reads back what became of claimed actions."""

    def __init__(self, network: OutreachNetwork) -> None:
        self._network = network

    async def read(self, parcel: Parcel, at: datetime) -> Read:
        """One reading that begins now, `at` by service time."""
        if parcel.type is ActionType.PROFILE_VISIT:
            return Read(Reading(at, reconciling.read_visit()), done_at=parcel.claimed_at)
        if not parcel.person or not parcel.provider_id:
            return Read(Reading(at, Seen.UNREADABLE))
        try:
            match parcel.type:
                case ActionType.INVITE:
                    return await self._invite(parcel, at)
                case ActionType.WITHDRAW_INVITE:
                    return await self._withdrawal(parcel, at)
                case ActionType.MESSAGE:
                    return await self._message(parcel, at)
        except NetworkError:
            return Read(Reading(at, Seen.UNREADABLE))

    async def _invite(self, parcel: Parcel, at: datetime) -> Read:
        person = await self._network.person(parcel.provider_id, parcel.person, fresh=True)
        requests = await self._network.sent_requests(parcel.provider_id)
        listed = next((one for one in requests if person.id == one.person_id), None)
        learned = learned_of(person)
        requested_at = learned.invited_at or (listed.sent_at if listed is not None else None)
        seen = reconciling.read_invite(
            connected=person.connected,
            pending=bool(learned.pending),
            listed=listed is not None,
            requested_at=requested_at,
            claimed_at=parcel.claimed_at,
        )
        return Read(Reading(at, seen), learned, done_at=requested_at)

    async def _withdrawal(self, parcel: Parcel, at: datetime) -> Read:
        requests = await self._network.sent_requests(parcel.provider_id)
        if any(parcel.person in {one.person_id, one.public_identifier} for one in requests):
            return Read(Reading(at, reconciling.read_withdrawal(listed=True, connected=False)))
        person = await self._network.person(parcel.provider_id, parcel.person, fresh=True)
        seen = reconciling.read_withdrawal(listed=False, connected=person.connected)
        return Read(Reading(at, seen), learned_of(person))

    async def _message(self, parcel: Parcel, at: datetime) -> Read:
        person_id = parcel.person
        if not parcel.known:
            person_id = (await self._network.person(parcel.provider_id, parcel.person, fresh=True)).id
        chat = await self._network.chat_with(parcel.provider_id, person_id)
        if chat is None:
            return Read(Reading(at, Seen.ABSENT), Learned(network_id=person_id))
        since = parcel.claimed_at - CLOCK_TOLERANCE
        written = await self._network.messages(parcel.provider_id, chat.id, since=since)
        outgoing = [  # by the hashes of their texts: ours outlives an erasure
            Outgoing(one.id, text_hash(one.text or ""), one.sent_at or at)
            for one in written
            if one.from_owner and not one.is_event and not one.is_deleted
        ]
        explained = {one.id for one in outgoing if one.id in parcel.ours or one.text in parcel.ours}
        wanted = parcel.text_hash or ""
        seen = reconciling.read_messages(outgoing, text=wanted, claimed_at=parcel.claimed_at, explained=explained)
        sent = next((one for one in outgoing if one.text == wanted), None)
        found = sent if seen is Seen.DONE else None
        return Read(
            Reading(at, seen),
            Learned(network_id=person_id, chat_id=chat.id),
            done_at=found.sent_at if found else None,
            message_id=found.id if found else None,
        )
