"""Messages are kept once whatever comes twice, late or at the same time, and mean something once."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database
from models.base.ids import new_id
from models.base.paging import Page
from models.base.secrets import Vault
from models.base.steps import Do
from models.base.tenants import Tenant
from models.outreach.engine import inbox, record
from models.outreach.engine.account_steps import decide_account
from models.outreach.engine.context import Learned
from models.outreach.engine.inbox import ChatLine
from models.outreach.engine.record import Done
from models.outreach.store import actions, conversations
from models.outreach.tables import Action
from models.people.store import people, suppressions
from tests.models.conftest import Member
from tests.models.outreach.sending_world import INVITE, MESSAGE, World

CHAT = "chat_1"


@pytest.fixture
async def world(database: Database, vault: Vault, member: Member) -> World:
    made = World(database, vault, member)
    await made.open(INVITE, MESSAGE)
    return made


async def invited(world: World) -> tuple[str, str]:
    """A person with a pending invite: the enrollment and the person's id."""
    profile_id = await world.person()
    enrollment = await world.enroll(profile_id)
    claimed = await world.when_due(enrollment)
    await world.result(claimed, Done(learned=Learned(network_id="ACoJo", connected=False, pending=True)))
    return enrollment, profile_id


async def take(world: World, profile_id: str, *lines: ChatLine, chat: str = CHAT) -> None:
    await world.run(
        lambda session: inbox.take_messages(session, world.account_id, profile_id, chat, lines, writer=world.writer)
    )


async def said(world: World, words: str | None = "Hello", *, id: str = "m1", by_owner: bool = False) -> ChatLine:
    return ChatLine(id, words, await world.now(), from_owner=by_owner)


async def test_a_message_received_twice_concurrently_is_stored_and_reported_once(world: World) -> None:
    enrollment, profile_id = await invited(world)
    line = await said(world)
    await asyncio.gather(*(take(world, profile_id, line) for _ in range(4)))
    await take(world, profile_id, line, line)
    assert len(await world.sql("select 1 from messages")) == 1
    assert len(await world.sql("select 1 from conversations")) == 1
    told = await world.told()
    assert [told.count(one) for one in ("reply.received", "invite.accepted", "enrollment.completed")] == [1, 1, 1]
    assert (await world.enrollment(enrollment)).status == "replied"


async def test_messages_in_any_order_give_the_same_conversation(world: World) -> None:
    _, profile_id = await invited(world)
    first = await said(world, "one", id="m1")
    await world.later(minutes=5)
    second = await said(world, "two", id="m2")
    await take(world, profile_id, second)
    await take(world, profile_id, first)
    (row,) = await world.sql("select last_message_at, last_inbound_at from conversations")
    assert row.last_message_at == row.last_inbound_at == second.sent_at
    assert (await world.told()).count("reply.received") == 2


async def test_a_reply_implies_acceptance_which_a_late_read_does_not_report_again(
    world: World,
) -> None:
    enrollment, profile_id = await invited(world)
    line = await said(world)
    await take(world, profile_id, line)
    assert (await world.enrollment(enrollment)).accepted_at == line.sent_at
    waits, shows = (Learned(network_id="ACoJo", connected=known, pending=not known) for known in (False, True))
    await world.run(lambda session: inbox.record_relation(session, world.account_id, profile_id, waits))
    await world.run(lambda session: inbox.record_relation(session, world.account_id, profile_id, shows))
    assert (await world.told()).count("invite.accepted") == 1


async def test_a_person_already_connected_accepted_nothing(world: World) -> None:
    profile_id = await world.person()
    await world.enroll(profile_id)
    await world.sql(
        "insert into network_people (workspace_id, tenant_id, account_id, profile_id, network_id, relation)"
        " values (:ws, :ws, :account, :id, 'ACoJo', 'none')",
        ws=world.member.tenant.id,
        account=world.account_id,
        id=profile_id,
    )
    seen = Learned(network_id="ACoJo", connected=True, pending=False)
    await world.run(lambda session: inbox.record_relation(session, world.account_id, profile_id, seen))
    await take(world, profile_id, await said(world))
    told = await world.told()
    assert (told.count("invite.accepted"), told.count("reply.received")) == (0, 1)


async def test_an_invite_read_back_as_accepted_is_reported_as_accepted(world: World) -> None:
    enrollment = await world.enroll()
    claimed = await world.when_due(enrollment)
    await world.result(claimed, record.Unclear())
    await world.result(claimed, Done(learned=Learned(network_id="ACoJo", connected=True)))
    assert (await world.told()).count("invite.accepted") == 1
    assert (await world.enrollment(enrollment)).accepted_at is not None


async def test_the_answer_to_a_direct_send_is_stored_and_reported_without_an_enrollment(world: World) -> None:
    profile_id = await world.person()

    async def sent(session: AsyncSession) -> None:
        now, tenant = await world.now(), world.member.tenant
        session.add(
            Action(
                id=new_id("act", now),
                workspace_id=tenant.workspace_id,
                tenant_id=tenant.id,
                type="message",
                outcome="sent",
                seed="s",
                account_id=world.account_id,
                profile_id=profile_id,
                claimed_at=now,
                sent_at=now,
                created_at=now,
            )
        )

    await world.run(sent)
    await take(world, profile_id, await said(world))
    (row,) = await world.sql("select enrollment_id from conversations")
    assert row.enrollment_id is None
    assert (await world.event("reply.received")).data["enrollment_id"] is None


async def test_words_of_before_the_enrollment_end_nothing(world: World) -> None:
    profile_id = await world.person()
    line = await said(world)
    await world.later(hours=1)
    enrollment = await world.enroll(profile_id)
    await take(world, profile_id, line)
    assert (await world.enrollment(enrollment)).status == "scheduled"


async def test_what_is_wanted_of_a_chat_begins_with_the_first_contact_and_goes_on_from_the_last_message(
    world: World,
) -> None:
    enrollment, profile_id = await invited(world)

    async def since(who: str = profile_id) -> datetime | None:
        return await world.run(lambda session: inbox.wanted_since(session, world.account_id, who, CHAT))

    assert await since() == (await world.enrollment(enrollment)).created_at
    await world.later(days=2)
    line = await said(world)
    await take(world, profile_id, line)
    assert line.sent_at is not None
    assert await since() == line.sent_at - timedelta(hours=1)
    assert await since(await world.person()) is None


async def test_texts_that_no_database_holds_are_kept_without_what_it_cannot_hold(world: World) -> None:
    _, profile_id = await invited(world)
    await take(
        world, profile_id, await said(world, json.loads('"a\\u0000b\\ud800c"')), await said(world, None, id="m2")
    )
    assert {row.text for row in await world.sql("select text from messages")} == {"ab?c", None}


async def test_an_erasure_beside_a_reply_leaves_nothing_behind(world: World) -> None:
    _, profile_id = await invited(world)
    line = await said(world)

    async def erase(session: AsyncSession) -> None:
        await people.lock_people(session, [profile_id])
        await suppressions.erase_person(session, world.member.tenant.workspace_id, profile_id)

    await asyncio.gather(world.run(erase), take(world, profile_id, line))
    await take(world, profile_id, line)
    assert await world.sql("select 1 from messages union all select 1 from conversations") == []


async def test_what_the_recruiter_noted_since_is_not_overwritten_by_a_reply(world: World) -> None:
    _, profile_id = await invited(world)
    await world.sql("update seen_entries set status = 'hired' where profile_id = :id", id=profile_id)
    await take(world, profile_id, await said(world))
    (row,) = await world.sql("select status from seen_entries where profile_id = :id", id=profile_id)
    assert row.status == "hired"


async def test_a_removed_accounts_messages_go_after_thirty_days(world: World) -> None:
    _, profile_id = await invited(world)
    await take(world, profile_id, await said(world))
    await world.sql("update outreach_accounts set status = 'removed', removed_at = service_now(), provider_id = null")
    for days, left in ((29.9, 1), (0.2, 0)):
        await world.later(days=days)
        answer = await world.run(lambda session: decide_account(session, world.account_id))
        assert len(await world.sql("select 1 from messages")) == left
    assert answer.do is Do.DONE


MANY = (
    "insert into people (id, created_at) select 'prof_' || n, now() from generate_series(1, 2000) n",
    """insert into conversations (id, workspace_id, tenant_id, account_id, profile_id, chat_id, created_at)
       select 'conv_' || n, w.ws, w.ws || (n % 40), w.account, 'prof_' || n, 'c' || n, w.now - n * interval '1 minute'
         from whose w, generate_series(1, 2000) n""",
    """insert into messages (id, workspace_id, tenant_id, conversation_id, account_id, profile_id, direction, sent_by,
                             provider_id, sent_at, created_at)
       select 'msg_' || n, w.ws, w.ws || (n % 40), 'conv_' || (1 + n % 2000), w.account, 'prof_' || (1 + n % 2000),
              'in', 'candidate', 'p' || n, w.now - n * interval '1 minute', w.now - n * interval '1 minute'
         from whose w, generate_series(1, 8000) n""",
    """insert into actions (id, workspace_id, tenant_id, type, outcome, seed, account_id, profile_id, sent_at,
                            created_at, why, readings, first_touch, starts_sequence, text_fixed, failures,
                            attempts, call_number, rings, answered)
       select 'act_' || n, w.ws, w.ws || (n % 40), 'invite', 'sent', 's', w.account, 'prof_' || (1 + n % 2000),
              w.now - n * interval '1 minute', w.now, '[]', '[]', true, false, true, 0, 1, 1, 0, 0
         from whose w, generate_series(1, 8000) n""",
)
"""A lot of other tenants' rows, one for each minute of the last days."""
WHOSE = "with whose as (select id as account, workspace_id as ws, service_now() as now from outreach_accounts) "


async def plan_of(world: World, work: Callable[[AsyncSession], Awaitable[Any]]) -> str:
    """How PostgreSQL does all statements of some work."""
    asked: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        asked.append((statement, parameters))

    engine = world.database.engine.sync_engine
    async with world.database.transaction() as session:
        event.listen(engine, "before_cursor_execute", note)
        try:
            await work(session)
        finally:
            event.remove(engine, "before_cursor_execute", note)
        connection = await session.connection()
        told = [await connection.exec_driver_sql(f"explain {statement}", values) for statement, values in asked]
    return "\n".join(str(row[0]) for each in told for row in each)


async def test_lists_and_figures_are_read_by_their_indexes(world: World) -> None:
    for statement in MANY:
        await world.sql(WHOSE + statement)
    await world.sql("analyze people, conversations, messages, actions")
    tenant = Tenant(world.member.tenant.workspace_id + "7")
    span = actions.Span(await world.now() - timedelta(hours=12), await world.now())

    async def lists(session: AsyncSession) -> None:
        await conversations.page_of_conversations(session, tenant, conversations.ConversationFilters(), Page(25))
        await conversations.replies(session, tenant, conversations.ReplyFilters(), Page(25))

    async def figures(session: AsyncSession) -> None:
        await actions.days(session, tenant, span)
        await actions.count_accepted(session, tenant, span)
        await actions.count_replied(session, tenant, span)

    async def chat(session: AsyncSession) -> None:
        await conversations.last_is_theirs(session, "conv_7")
        await inbox.wanted_since(session, world.account_id, "prof_7", "c7")

    for work, indexes in (
        (lists, ["ix_conversations_tenant_id_created_at_id", "ix_messages_tenant_id_inbound"]),
        (figures, ["ix_actions_tenant_id_sent_at", "ix_messages_tenant_id_inbound"]),
        (chat, ["ix_messages_conversation_id_sent_at_id", "ix_actions_profile_id"]),
    ):
        plan = await plan_of(world, work)
        assert [one for one in indexes if one not in plan] == [], plan
        for table in ("messages", "actions", "conversations"):
            assert f"Seq Scan on {table}" not in plan, plan
