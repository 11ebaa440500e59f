"""The steps of enrollments and direct sends: what is due, the send itself, and reading back an unclear outcome."""

import time
from collections.abc import Callable

import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_fixed

from activities.outreach.channel import Channel
from activities.steps import steps
from models.base.database import CONNECTION_LOST, LOCK_NOT_AVAILABLE, Database, sqlstate
from models.base.secrets import Vault
from models.base.steps import Decision, Do, NextStep, Queue, Step, served_step
from models.outreach.engine import claim, decide, plan, record
from models.outreach.engine.claim import ClaimedAction
from models.outreach.engine.plan import Writer
from models.outreach.engine.record import CallResult

log = structlog.get_logger(__name__)

LATEST_SECONDS = 10.0
"""A claimed call must start within this time; after that it is not made."""
BUSY_SECONDS = 3.0
WRITING_SECONDS = 20
"""How long a result waits for a database that is busy or restarted."""

Clock = Callable[[], float]


def boot_time() -> float:
    """Seconds since this machine started, those of its sleep included."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@steps
class SendSteps:
    """What enrollments and direct sends ask of the database and of a channel."""

    def __init__(
        self,
        database: Database,
        vault: Vault,
        channel: Channel,
        *,
        public_url: str,
        clock: Clock = boot_time,
    ) -> None:
        self._database = database
        self._writer = Writer(vault, public_url)
        self._channel = channel
        self._clock = clock

    @served_step("enrollment.next")
    async def enrollment_next(self, step: Step) -> NextStep:
        """Say what an enrollment needs next."""
        return await self._next(step)

    @served_step("action.next")
    async def action_next(self, step: Step) -> NextStep:
        """Say what a direct send needs next."""
        return await self._next(step)

    @served_step(plan.OUTREACH_SEND, Queue.NETWORK)
    async def send(self, step: Step) -> NextStep:
        """Claim what is planned, do it once, and write what came of it."""
        try:
            claimed, at = await self._database.run(lambda session: self._claim(session, step))
        except DBAPIError as error:
            return _busy(error)
        if isinstance(claimed, Decision):
            return claimed.next_step
        result = await self._channel.send(claimed, lambda: self._clock() - at <= LATEST_SECONDS)
        log.info("outreach.called", action_id=claimed.action_id, type=claimed.type, result=type(result).__name__)
        return (await self._written(claimed, result)).next_step

    async def _claim(self, session: AsyncSession, step: Step) -> tuple[ClaimedAction | Decision, float]:
        claimed = await claim.claim_action(session, self._writer, step.id, step.number)
        return claimed, self._clock()  # before the commit, so that a slow commit counts too

    async def _written(self, claimed: ClaimedAction, result: CallResult) -> Decision:
        """Write the result, patiently: a lost result can only be read back, a quarter of an hour later."""
        async for attempt in AsyncRetrying(
            retry=retry_if_exception_type((DBAPIError, *CONNECTION_LOST)),
            stop=stop_after_delay(WRITING_SECONDS),
            wait=wait_fixed(0.5),
            reraise=True,
        ):
            with attempt:
                return await self._database.run(
                    lambda session: record.record_result(session, self._writer, claimed, result)
                )
        raise AssertionError("unreachable: the retry either returns or raises")

    @served_step(plan.OUTREACH_RECONCILE, Queue.NETWORK)
    async def reconcile(self, step: Step) -> NextStep:
        """Read once what became of an action whose outcome is unclear."""
        asked = await self._database.run(lambda session: record.reading_wanted(session, step.id, step.number))
        if asked is None:
            return await self._next(step)
        read = await self._channel.read_back(*asked)
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
    """Return a short wait when another transaction holds the account for too long; raise any other error."""
    if sqlstate(error) != LOCK_NOT_AVAILABLE:
        raise error
    return NextStep(do=Do.WAIT, wait_seconds=BUSY_SECONDS, reason="the account is busy")
