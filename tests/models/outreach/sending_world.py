"""An account with people in a sequence, a movable clock, and a driver that acts as the network."""

from collections.abc import Awaitable, Callable
from collections.abc import Sequence as Ordered
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database, service_time
from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.steps import Decision, Do
from models.events.tables import Event
from models.outreach.engine import claim as engine_claim
from models.outreach.engine import decide as engine_decide
from models.outreach.engine import record as engine_record
from models.outreach.engine.claim import ClaimedAction
from models.outreach.engine.context import lock_enrollment_context, new_step_action
from models.outreach.engine.plan import OUTREACH_SEND, Writer
from models.outreach.engine.record import CallResult, ChannelReading
from models.outreach.rules.actions import ActionType
from models.outreach.rules.sequences import SequenceStep, stored_steps
from models.outreach.store import sequences
from models.outreach.tables import Action, Enrollment, NetworkPerson, OutreachAccount, OutreachSequence
from models.people.store import people
from models.people.store.people import Sighting
from tests.models.conftest import Member

MONDAY = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
"""10:00 in Brussels, on a working day."""
T = TypeVar("T")

INVITE = SequenceStep(ActionType.INVITE, "s_invite", note="Hi {{first_name}}, glad to meet you.")
MESSAGE = SequenceStep(ActionType.MESSAGE, "s_message", wait_days=1, body="Hi {{first_name}}!", only_after_accept=True)
FOLLOW_UP = SequenceStep(ActionType.MESSAGE, "s_follow_up", wait_days=5, body="Still there?", only_after_accept=True)
WITHDRAW = SequenceStep(ActionType.WITHDRAW_INVITE, "s_withdraw", wait_days=1)
VISIT = SequenceStep(ActionType.PROFILE_VISIT, "s_visit")


@dataclass
class World:
    """One account that has long been active, its sequence, and the enrolled people."""

    database: Database
    vault: Vault
    member: Member
    account_id: str = ""
    sequence_id: str = ""
    enrolled: int = 0

    @property
    def writer(self) -> Writer:
        return Writer(self.vault, "https://svc.example")

    async def run(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        return await self.database.run(work)

    async def sql(self, statement: str, **values: Any) -> list[Any]:
        async with self.database.transaction() as session:
            done = await session.execute(text(statement), values)
            return list(done) if done.returns_rows else []  # type: ignore[attr-defined]  # a cursor result has it

    async def now(self) -> datetime:
        return await self.run(service_time)

    async def at(self, moment: datetime) -> None:
        """Move the clock to a time, from which it continues."""
        await self.sql("update service_clock set shift = cast(:at as timestamptz) - clock_timestamp()", at=moment)

    async def later(self, **by: float) -> None:
        await self.sql("update service_clock set shift = shift + :by", by=timedelta(**by))

    async def open(self, *steps: SequenceStep, at: datetime = MONDAY, **sequence: Any) -> None:
        """Connect the account and save the sequence."""
        await self.at(at)

        async def work(session: AsyncSession) -> tuple[str, str]:
            now, tenant = await service_time(session), self.member.tenant
            account = OutreachAccount(
                id=new_id("acc", now),
                workspace_id=tenant.workspace_id,
                tenant_id=tenant.id,
                name="Sam",
                status="active",
                provider_id="acc_provider",
                network_user_id="ACoOwner",
                warmup_started_at=now - timedelta(days=60),
                created_at=now - timedelta(days=60),
                connected_at=now - timedelta(days=60),
            )
            session.add(account)
            await session.flush()
            made = OutreachSequence(
                id=new_id("seq", now),
                workspace_id=tenant.workspace_id,
                tenant_id=tenant.id,
                account_id=account.id,
                name="A sequence",
                steps=stored_steps(steps),
                created_at=now,
                updated_at=now,
                **sequence,
            )
            session.add(made)
            return account.id, made.id

        self.account_id, self.sequence_id = await self.run(work)

    async def person(self, name: str | None = None) -> str:
        """Create a person with an address on the network and the first name Jo."""
        self.enrolled += 1
        slug = name or f"person-{self.enrolled}"

        async def work(session: AsyncSession) -> str:
            sighting = Sighting("people_data_labs", f"src-{slug}", f"https://www.linkedin.com/in/{slug}")
            workspace_id = self.member.tenant.workspace_id
            found = await people.identify(session, self.vault, [sighting], workspace_id=workspace_id)
            return found[sighting.source_id]

        return await self.run(work)

    async def enroll(self, profile_id: str | None = None, **given: Any) -> str:
        """Enroll a person; the first step is planned for now."""
        who = profile_id or await self.person()

        async def work(session: AsyncSession) -> str:
            now, tenant = await service_time(session), self.member.tenant
            enrollment = Enrollment(
                id=new_id("enr", now),
                workspace_id=tenant.workspace_id,
                tenant_id=tenant.id,
                sequence_id=self.sequence_id,
                account_id=self.account_id,
                profile_id=who,
                given={"first_name": "Jo"} | given,
                position=self.enrolled,
                created_at=now,
                rings=1,
            )
            session.add(enrollment)
            await session.flush()
            context = await lock_enrollment_context(session, enrollment.id)
            assert context is not None
            await new_step_action(session, context, enrollment, context.steps[0])
            await people.lock_people(session, [who])
            await sequences.mark_contacted(session, tenant, [who], now)
            return enrollment.id

        return await self.run(work)

    async def decide(self, subject_id: str) -> Decision:
        return await self.run(lambda session: engine_decide.decide_send(session, self.writer, subject_id))

    async def claim(self, subject_id: str, number: int | None = None) -> ClaimedAction | Decision:
        """Claim the action that is due now."""
        if number is None:
            number = (await self.decide(subject_id)).number
        return await self.run(lambda session: engine_claim.claim_action(session, self.writer, subject_id, number))

    async def claim_one(self, subject_id: str) -> ClaimedAction:
        """Claim the action that is due now; fail if it cannot be claimed."""
        claimed = await self.claim(subject_id)
        assert isinstance(claimed, ClaimedAction), claimed
        return claimed

    async def when_due(self, subject_id: str, *, turns: int = 20) -> ClaimedAction:
        """Advance time until the next action can be claimed, and claim it."""
        for _ in range(turns):
            decision = await self.decide(subject_id)
            if decision.do is Do.WAIT:
                assert decision.until is not None
                await self.at(decision.until + timedelta(milliseconds=5))
                continue
            assert decision.need == OUTREACH_SEND, decision
            claimed = await self.claim(subject_id, decision.number)
            if isinstance(claimed, ClaimedAction):
                return claimed
        raise AssertionError("never due")

    async def result(self, claimed: ClaimedAction, result: CallResult) -> Decision:
        return await self.run(lambda session: engine_record.record_result(session, self.writer, claimed, result))

    async def record(self, subject_id: str, number: int, read: ChannelReading) -> Decision:
        return await self.run(
            lambda session: engine_record.record_reading(session, self.writer, subject_id, number, read)
        )

    async def enrollment(self, enrollment_id: str) -> Enrollment:
        return await self.run(lambda session: session.get_one(Enrollment, enrollment_id))

    async def action(self, action_id: str) -> Action:
        return await self.run(lambda session: session.get_one(Action, action_id))

    async def actions(self, enrollment_id: str) -> list[Action]:
        rows = await self.sql(
            "select id from actions where enrollment_id = :id order by created_at, id", id=enrollment_id
        )
        return [await self.action(row.id) for row in rows]

    async def last(self, enrollment_id: str) -> Action:
        return (await self.actions(enrollment_id))[-1]

    async def last_open(self, enrollment_id: str) -> Action:
        """Return the open action."""
        (action,) = [one for one in await self.actions(enrollment_id) if one.outcome in ("sending", "reconciling")]
        return action

    async def known(self, profile_id: str) -> NetworkPerson:
        return await self.run(lambda session: session.get_one(NetworkPerson, (self.account_id, profile_id)))

    async def account(self) -> OutreachAccount:
        return await self.run(lambda session: session.get_one(OutreachAccount, self.account_id))

    async def told(self) -> Ordered[str]:
        """Return the types of the events, in order."""
        return [row.type for row in await self.sql("select type from events order by created_at, id")]

    async def event(self, type: str) -> Event:
        (row,) = await self.sql("select id from events where type = :type", type=type)
        return await self.run(lambda session: session.get_one(Event, row.id))
