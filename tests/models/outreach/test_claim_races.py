"""A transaction that forbids a send and one that claims it interleave at every statement: the first commit wins.

A call that forbids is answered once it is committed. From then on nothing may be claimed; what was claimed before is
brought to its end by its own workflow.
"""

from collections.abc import Awaitable, Callable

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database, service_time
from models.base.secrets import Vault
from models.base.steps import Decision
from models.outreach.engine import account_states, inbox
from models.outreach.engine import claim as engine_claim
from models.outreach.engine import stop as engine_stop
from models.outreach.engine.claim import ClaimedAction
from models.outreach.engine.inbox import ChatLine
from models.outreach.engine.plan import OUTREACH_SEND
from models.outreach.store import accounts
from models.people.rules.registers import SuppressionReason
from models.people.store import people, suppressions
from tests.interleaving import Meeting, meet
from tests.models.conftest import Member
from tests.models.outreach.sending_world import INVITE, MESSAGE, World

pytestmark = pytest.mark.timeout(240)

MOST_STATEMENTS = 60

Forbid = Callable[[World, str, str, AsyncSession], Awaitable[None]]


@pytest.fixture
def world(database: Database, vault: Vault, member: Member) -> World:
    return World(database, vault, member)


async def stop(world: World, enrollment_id: str, profile_id: str, session: AsyncSession) -> None:
    await people.lock_people(session, [profile_id])
    await engine_stop.stop_enrollments(session, [enrollment_id], engine_stop.BY_HAND, await service_time(session))


async def suppress(world: World, enrollment_id: str, profile_id: str, session: AsyncSession) -> None:
    await people.lock_people(session, [profile_id])
    await suppressions.suppress(session, world.member.tenant, profile_id, reason=SuppressionReason.MANUAL)


async def opt_out(world: World, enrollment_id: str, profile_id: str, session: AsyncSession) -> None:
    await people.lock_people(session, [profile_id])
    await suppressions.suppress(session, None, profile_id, reason=SuppressionReason.OPT_OUT)


async def erase(world: World, enrollment_id: str, profile_id: str, session: AsyncSession) -> None:
    await people.lock_people(session, [profile_id])
    await suppressions.erase_person(session, world.member.tenant.workspace_id, profile_id)


async def reply(world: World, enrollment_id: str, profile_id: str, session: AsyncSession) -> None:
    line = ChatLine(f"msg_{profile_id}", "Hello", await service_time(session), from_owner=False)
    await inbox.take_messages(session, world.account_id, profile_id, f"chat_{profile_id}", [line], writer=world.writer)


async def pause_account(world: World, enrollment_id: str, profile_id: str, session: AsyncSession) -> None:
    await account_states.pause_account_by_hand(session, await accounts.lock_account_by_id(session, world.account_id))


OTHERS: list[Forbid] = [suppress, opt_out, erase, reply, pause_account]
FORBIDDING = [stop, *(pytest.param(one, marks=pytest.mark.slow, id=one.__name__) for one in OTHERS)]


async def due(world: World) -> tuple[str, str, int]:
    """A person whose invite may be claimed now: enrollment, person, number."""
    await world.sql("delete from actions")
    await world.sql("delete from enrollments")
    await world.sql("update outreach_accounts set status = 'active', pause_reason = null")
    enrollment_id = await world.enroll()
    await world.sql("update actions set scheduled_at = service_now(), not_before = service_now()")
    decision = await world.decide(enrollment_id)
    assert decision.need == OUTREACH_SEND
    return enrollment_id, (await world.enrollment(enrollment_id)).profile_id, decision.number


async def judge(world: World, enrollment_id: str, claimed: ClaimedAction | Decision, *, forbidden_first: bool) -> None:
    action = await world.last(enrollment_id)
    if isinstance(claimed, ClaimedAction):
        assert not forbidden_first, "claimed although it was forbidden before"
        assert action.outcome == "sending"
    else:
        assert action.outcome in {"cancelled", "scheduled"}
        assert action.attempts == 0


@pytest.mark.parametrize("forbid", FORBIDDING)
async def test_a_claim_stopped_at_any_statement_loses_to_an_earlier_commit(
    world: World, database_url: str, forbid: Forbid
) -> None:
    await world.open(INVITE, MESSAGE)
    wins = {True: 0, False: 0}
    for place in range(MOST_STATEMENTS):
        enrollment_id, profile_id, number = await due(world)

        async def claim(
            database: Database, subject: str = enrollment_id, number: int = number
        ) -> ClaimedAction | Decision:
            return await database.run(lambda session: engine_claim.claim_action(session, world.writer, subject, number))

        async def forbidding(subject: str = enrollment_id, who: str = profile_id) -> None:
            await world.run(lambda session: forbid(world, subject, who, session))

        meeting: Meeting[ClaimedAction | Decision, None] = await meet(database_url, claim, forbidding, at=place)
        await judge(world, enrollment_id, meeting.first, forbidden_first=meeting.second_came_first)
        if not meeting.reached:
            break
        wins[isinstance(meeting.first, ClaimedAction)] += 1
    assert not meeting.reached, "more statements than expected: raise the limit"
    assert all(wins.values()), wins  # both orders were seen


@pytest.mark.parametrize("forbid", FORBIDDING)
async def test_a_ban_stopped_at_any_statement_is_not_overtaken_after_its_commit(
    world: World, database_url: str, forbid: Forbid
) -> None:
    await world.open(INVITE, MESSAGE)
    wins = {True: 0, False: 0}
    for place in range(MOST_STATEMENTS):
        enrollment_id, profile_id, number = await due(world)

        async def forbidding(database: Database, subject: str = enrollment_id, who: str = profile_id) -> None:
            await database.run(lambda session: forbid(world, subject, who, session))

        async def claim(subject: str = enrollment_id, number: int = number) -> ClaimedAction | Decision:
            return await world.run(lambda session: engine_claim.claim_action(session, world.writer, subject, number))

        meeting: Meeting[None, ClaimedAction | Decision] = await meet(database_url, forbidding, claim, at=place)
        if not meeting.reached:
            assert isinstance(meeting.second, Decision)
            break
        # The claim that ended before the forbidding began to commit may have won; any other must have lost.
        if not meeting.second_came_first:
            assert isinstance(meeting.second, Decision), f"claimed behind the commit, statement {place}"
        await judge(world, enrollment_id, meeting.second, forbidden_first=not meeting.second_came_first)
        wins[isinstance(meeting.second, ClaimedAction)] += 1
    assert not meeting.reached
    assert all(wins.values()), wins
