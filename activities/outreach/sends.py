"""Readings: what the network shows of an action whose outcome nobody saw. Reads only, always afresh."""

import time
from collections.abc import Callable
from datetime import datetime

import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession
from temporalio import activity
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_fixed

from activities.outreach.calls import NetworkCalls, learned_of
from activities.upstream.ports.network import OutreachNetwork
from activities.upstream.ports.network_errors import NetworkError
from models.base.database import CONNECTION_LOST, LOCK_NOT_AVAILABLE, Database, sqlstate
from models.base.secrets import Vault
from models.base.steps import Decision, Do, NextStep, Step
from models.outreach.engine import claim, decide, plan, record
from models.outreach.engine.claim import ClaimedAction
from models.outreach.engine.context import Learned
from models.outreach.engine.plan import Writer
from models.outreach.engine.record import CallResult, NetworkReading
from models.outreach.rules import answers
from models.outreach.rules.actions import ActionType
from models.outreach.rules.answers import CLOCK_TOLERANCE, Outgoing, ReadingBack, Seen
from models.outreach.rules.sequences import text_hash


class Readings:
    """Reads back what became of claimed actions."""

    def __init__(self, network: OutreachNetwork) -> None:
        self._network = network

    async def read(self, parcel: ClaimedAction, at: datetime) -> NetworkReading:
        """One reading that begins now, `at` by service time."""
        if parcel.type is ActionType.PROFILE_VISIT:
            return NetworkReading(ReadingBack(at, answers.read_visit()), done_at=parcel.claimed_at)
        if not parcel.person or not parcel.provider_id:
            return NetworkReading(ReadingBack(at, Seen.UNREADABLE))
        try:
            match parcel.type:
                case ActionType.INVITE:
                    return await self._invite(parcel, at)
                case ActionType.WITHDRAW_INVITE:
                    return await self._withdrawal(parcel, at)
                case ActionType.MESSAGE:
                    return await self._message(parcel, at)
        except NetworkError:
            return NetworkReading(ReadingBack(at, Seen.UNREADABLE))

    async def _invite(self, parcel: ClaimedAction, at: datetime) -> NetworkReading:
        person = await self._network.person(parcel.provider_id, parcel.person, fresh=True)
        requests = await self._network.sent_requests(parcel.provider_id)
        listed = next((one for one in requests if person.id == one.person_id), None)
        learned = learned_of(person)
        requested_at = learned.invited_at or (listed.sent_at if listed is not None else None)
        seen = answers.read_invite(
            connected=person.connected,
            pending=bool(learned.pending),
            listed=listed is not None,
            requested_at=requested_at,
            claimed_at=parcel.claimed_at,
        )
        return NetworkReading(ReadingBack(at, seen), learned, done_at=requested_at)

    async def _withdrawal(self, parcel: ClaimedAction, at: datetime) -> NetworkReading:
        requests = await self._network.sent_requests(parcel.provider_id)
        if any(parcel.person in {one.person_id, one.public_identifier} for one in requests):
            return NetworkReading(ReadingBack(at, answers.read_withdrawal(listed=True, connected=False)))
        person = await self._network.person(parcel.provider_id, parcel.person, fresh=True)
        seen = answers.read_withdrawal(listed=False, connected=person.connected)
        return NetworkReading(ReadingBack(at, seen), learned_of(person))

    async def _message(self, parcel: ClaimedAction, at: datetime) -> NetworkReading:
        person_id = parcel.person
        if not parcel.known:
            person_id = (await self._network.person(parcel.provider_id, parcel.person, fresh=True)).id
        chat = await self._network.chat_with(parcel.provider_id, person_id)
        if chat is None:
            return NetworkReading(ReadingBack(at, Seen.ABSENT), Learned(network_id=person_id))
        since = parcel.claimed_at - CLOCK_TOLERANCE
        written = await self._network.messages(parcel.provider_id, chat.id, since=since)
        outgoing = [  # by the hashes of their texts: ours outlives an erasure
            Outgoing(one.id, text_hash(one.text or ""), one.sent_at or at)
            for one in written
            if one.from_owner and not one.is_event and not one.is_deleted
        ]
        explained = {one.id for one in outgoing if one.id in parcel.ours or one.text in parcel.ours}
        wanted = parcel.text_hash or ""
        seen = answers.read_messages(outgoing, text=wanted, claimed_at=parcel.claimed_at, explained=explained)
        sent = next((one for one in outgoing if one.text == wanted), None)
        found = sent if seen is Seen.DONE else None
        return NetworkReading(
            ReadingBack(at, seen),
            Learned(network_id=person_id, chat_id=chat.id),
            done_at=found.sent_at if found else None,
            message_id=found.id if found else None,
        )


# The steps of enrollments and direct sends: what is due, the send itself, and reading back what nobody saw.


log = structlog.get_logger(__name__)

LATEST_SECONDS = 10.0
"""A call begins so soon after its claim or not at all."""
BUSY_SECONDS = 3.0
WRITING_SECONDS = 20
"""How long a result waits for a database that is busy or restarted."""

Clock = Callable[[], float]


def boot_time() -> float:
    """Seconds since this machine started, those of its sleep included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class SendSteps:
    """What enrollments and direct sends ask of the database and of the network. Without a `network` nothing is sent."""

    def __init__(
        self,
        database: Database,
        vault: Vault,
        network: OutreachNetwork | None,
        *,
        public_url: str,
        clock: Clock = boot_time,
    ) -> None:
        self._database = database
        self._writer = Writer(vault, public_url)
        self._given_network = network
        self._clock = clock

    @property
    def _network(self) -> OutreachNetwork:
        if self._given_network is None:
            raise RuntimeError("this worker serves no network queue")
        return self._given_network

    @activity.defn(name="enrollment.next")
    async def enrollment_next(self, step: Step) -> NextStep:
        """Say what an enrollment needs next."""
        return await self._next(step)

    @activity.defn(name="action.next")
    async def action_next(self, step: Step) -> NextStep:
        """Say what a direct send needs next."""
        return await self._next(step)

    @activity.defn(name=plan.OUTREACH_SEND)
    async def send(self, step: Step) -> NextStep:
        """Claim what is planned, do it once, and write what came of it."""
        try:
            claimed, at = await self._database.run(lambda session: self._claim(session, step))
        except DBAPIError as error:
            return _busy(error)
        if isinstance(claimed, Decision):
            return claimed.next_step
        result = await NetworkCalls(self._network).carry_out(claimed, lambda: self._clock() - at <= LATEST_SECONDS)
        log.info("outreach.called", action_id=claimed.action_id, type=claimed.type, result=type(result).__name__)
        return (await self._written(claimed, result)).next_step

    async def _claim(self, session: AsyncSession, step: Step) -> tuple[ClaimedAction | Decision, float]:
        claimed = await claim.claim_action(session, self._writer, step.id, step.number)
        return claimed, self._clock()  # before the commit: whatever holds that up counts too

    async def _written(self, parcel: ClaimedAction, result: CallResult) -> Decision:
        """Write the result, with patience: what is lost here can only be read back, a quarter of an hour later."""
        async for attempt in AsyncRetrying(
            retry=retry_if_exception_type((DBAPIError, *CONNECTION_LOST)),
            stop=stop_after_delay(WRITING_SECONDS),
            wait=wait_fixed(0.5),
            reraise=True,
        ):
            with attempt:
                return await self._database.run(
                    lambda session: record.record_result(session, self._writer, parcel, result)
                )
        raise AssertionError("unreachable: the retry either returns or raises")

    @activity.defn(name=plan.OUTREACH_RECONCILE)
    async def reconcile(self, step: Step) -> NextStep:
        """Read once what became of an action whose outcome nobody saw."""
        asked = await self._database.run(lambda session: record.reading_wanted(session, step.id, step.number))
        if asked is None:
            return await self._next(step)
        read = await Readings(self._network).read(*asked)
        decision = await self._database.run(
            lambda session: record.record_reading(session, self._writer, step.id, step.number, read)
        )
        return decision.next_step

    async def _next(self, step: Step) -> NextStep:
        try:
            decision = await self._database.run(lambda session: decide.decide_send(session, self._writer, step.id))
        except DBAPIError as error:
            return _busy(error)
        return decision.next_step


def _busy(error: DBAPIError) -> NextStep:
    """Somebody holds the account for longer than a lock is waited for: ask again shortly. Raises any other error."""
    if sqlstate(error) != LOCK_NOT_AVAILABLE:
        raise error
    return NextStep(do=Do.WAIT, wait_seconds=BUSY_SECONDS, reason="the account is busy")
