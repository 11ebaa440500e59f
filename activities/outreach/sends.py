"""The steps of enrollments and direct sends: what is due, the send itself, and reading back what nobody saw.

Claim and call are one activity: no more than ten seconds by the clock that also runs while a machine sleeps may lie
between the two, so that a worker that was frozen does not send late.
"""

import time
from collections.abc import Callable

import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession
from temporalio import activity
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_fixed

from activities.outreach.calls import Calls
from activities.outreach.readings import Readings
from activities.upstream.ports import OutreachNetwork
from models.database import CONNECTION_LOST, LOCK_NOT_AVAILABLE, Database, sqlstate
from models.secrets import Vault
from models.stores.outreach import claims, deciding, reconciling, results
from models.stores.outreach.answers import Decision, Need
from models.stores.outreach.claims import Parcel
from models.stores.outreach.results import Result
from models.stores.outreach.texts import Writer
from workflows import names
from workflows.contracts import Call, Do, NextStep, Queue, Step

log = structlog.get_logger(__name__)

SEND_SECONDS = 120
"""For the claim, the call with its own limit of 90 s, and the result; after that the network is read back."""
READ_SECONDS = 120
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

    @activity.defn(name=names.ENROLLMENT_NEXT)
    async def enrollment_next(self, step: Step) -> NextStep:
        """Say what an enrollment needs next."""
        return await self._next(step)

    @activity.defn(name=names.ACTION_NEXT)
    async def action_next(self, step: Step) -> NextStep:
        """Say what a direct send needs next."""
        return await self._next(step)

    @activity.defn(name=names.OUTREACH_SEND)
    async def send(self, step: Step) -> NextStep:
        """Claim what is planned, do it once, and write what came of it."""
        try:
            claimed, at = await self._database.run(lambda session: self._claim(session, step))
        except DBAPIError as error:
            return _busy(error)
        if isinstance(claimed, Decision):
            return answer(claimed)
        result = await Calls(self._network).carry_out(claimed, lambda: self._clock() - at <= LATEST_SECONDS)
        log.info("outreach.called", action_id=claimed.action_id, type=claimed.type, result=type(result).__name__)
        return answer(await self._written(claimed, result))

    async def _claim(self, session: AsyncSession, step: Step) -> tuple[Parcel | Decision, float]:
        claimed = await claims.claim(session, self._writer, step.id, step.number)
        return claimed, self._clock()  # before the commit: whatever holds that up counts too

    async def _written(self, parcel: Parcel, result: Result) -> Decision:
        """Write the result, with patience: what is lost here can only be read back, a quarter of an hour later."""
        async for attempt in AsyncRetrying(
            retry=retry_if_exception_type((DBAPIError, *CONNECTION_LOST)),
            stop=stop_after_delay(WRITING_SECONDS),
            wait=wait_fixed(0.5),
            reraise=True,
        ):
            with attempt:
                return await self._database.run(lambda session: results.write(session, self._writer, parcel, result))
        raise AssertionError("unreachable: the retry either returns or raises")

    @activity.defn(name=names.OUTREACH_RECONCILE)
    async def reconcile(self, step: Step) -> NextStep:
        """Read once what became of an action whose outcome nobody saw."""
        asked = await self._database.run(lambda session: reconciling.to_read(session, step.id, step.number))
        if asked is None:
            return await self._next(step)
        read = await Readings(self._network).read(*asked)
        return answer(
            await self._database.run(
                lambda session: reconciling.record(session, self._writer, step.id, step.number, read)
            )
        )

    async def _next(self, step: Step) -> NextStep:
        try:
            decision = await self._database.run(lambda session: deciding.decide(session, self._writer, step.id))
        except DBAPIError as error:
            return _busy(error)
        return answer(decision)


def _busy(error: DBAPIError) -> NextStep:
    """Somebody holds the account for longer than a lock is waited for: ask again shortly. Raises any other error."""
    if sqlstate(error) != LOCK_NOT_AVAILABLE:
        raise error
    return NextStep(do=Do.WAIT, wait_seconds=BUSY_SECONDS, reason="the account is busy")


def answer(decision: Decision) -> NextStep:
    """What a decision asks of the workflow."""
    match decision.need:
        case Need.NOTHING:
            return NextStep(do=Do.DONE, details=decision.details)
        case Need.SEND:
            return _act(decision, names.OUTREACH_SEND, SEND_SECONDS)
        case Need.READ:
            return _act(decision, names.OUTREACH_RECONCILE, READ_SECONDS)
        case Need.TIME | Need.RING:
            return NextStep(
                do=Do.WAIT, wait_seconds=decision.wait_seconds, reason=decision.reason, details=decision.details
            )


def _act(decision: Decision, step: str, limit_seconds: float) -> NextStep:
    call = Call(
        step=step,
        number=decision.number,
        queue=Queue.NETWORK,
        summary=decision.reason,
        limit_seconds=limit_seconds,
        fairness_key=decision.account_id,
    )
    return NextStep(do=Do.ACT, call=call, details=decision.details)
