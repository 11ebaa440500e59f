"""After a restore nothing that the network already has is done again, and what it has not is done."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from activities.outreach.inbox import NetworkInbox
from activities.upstream.unipile.network import UnipileNetwork
from models.base.steps import Do
from models.operate import recovery
from models.outreach.rules.actions import ActionType
from models.outreach.rules.sequences import SequenceStep
from tests.activities.outreach.sending import Stage
from tests.models.outreach.sending_world import FOLLOW_UP, INVITE, MESSAGE, VISIT

pytestmark = pytest.mark.timeout(120)

GREETING = SequenceStep(ActionType.MESSAGE, "s_only", body="Hello {{first_name}}")
FORGETS = ("messages", "conversations", "seen_entries", "network_people", "actions", "enrollments")
"""What a restore takes back, children first where rows refer to each other."""


@pytest.fixture
def inbox(sending: Stage, network: UnipileNetwork) -> NetworkInbox:
    return NetworkInbox(sending.database, network, sending.vault, public_url="https://svc.example")


async def backup(stage: Stage) -> dict[str, Any]:
    """Every row that sending changes, as it is now."""
    return {
        table: [row.row for row in await stage.sql(f"select to_jsonb(t) as row from {table} t")] for table in FORGETS
    }


async def restore(stage: Stage, kept: dict[str, Any]) -> None:
    for table in FORGETS:
        await stage.sql(f"delete from {table}")
    for table in reversed(FORGETS):
        await stage.sql(
            f"insert into {table} select * from jsonb_populate_recordset(null::{table}, cast(:rows as jsonb))",
            rows=json.dumps(kept[table]),
        )


async def recover(stage: Stage, since: datetime) -> recovery.BegunRecovery:
    async with stage.database.transaction() as session:
        return await recovery.begin_recovery(session, since=since)


async def read_from(stage: Stage) -> datetime | None:
    """From where on the account's chats are read next."""
    rows = await stage.sql("select chats_read_until from outreach_accounts where id = :id", id=stage.account_id)
    found: datetime | None = rows[0].chats_read_until
    return found


async def test_an_invite_of_the_lost_hour_is_found_and_not_sent_again(sending: Stage) -> None:
    await sending.connect(INVITE, MESSAGE)
    profile, person = await sending.stranger()
    enrollment = await sending.enroll(profile)
    kept, since = await backup(sending), await sending.now()
    await sending.act(enrollment, await sending.until_call(enrollment))
    sent = sending.written()
    assert [kind for kind, _, _ in sent] == ["invite"]
    await sending.later(hours=1)
    await restore(sending, kept)
    begun = await recover(sending, since)
    assert begun.enrollments == 1
    waits = await sending.drive(enrollment)
    assert waits.call is None
    assert [one for one in sending.written() if one[0] != "withdraw"] == sent
    first = (await sending.actions(enrollment))[0]
    assert first.outcome == "sent"
    assert first.sent_at is not None
    assert first.sent_at > since
    assert person == sent[0][1]


async def test_a_message_of_the_lost_hour_is_found_and_the_next_one_follows(sending: Stage) -> None:
    await sending.connect(GREETING)
    profile, person = await sending.stranger()
    sending.far.tie(person, "connected")
    enrollment = await sending.enroll(profile)
    kept, since = await backup(sending), await sending.now()
    await sending.drive(enrollment)
    sent = sending.written()
    assert [kind for kind, _, _ in sent] == ["message"]
    await restore(sending, kept)
    await recover(sending, since)
    end = await sending.drive(enrollment)
    assert end.do is Do.DONE
    assert sending.written() == sent
    assert (await sending.enrollment(enrollment)).status == "completed"


async def test_what_our_own_lost_hours_wrote_is_not_the_owners_word_wherever_the_sequence_was(
    sending: Stage, inbox: NetworkInbox
) -> None:
    """Also steps that had no row yet at the backup: the chats are read before their turn comes."""
    await sending.connect(INVITE, MESSAGE, FOLLOW_UP)
    profile, person = await sending.stranger()
    enrollment = await sending.enroll(profile)
    kept, since = await backup(sending), await sending.now()
    await sending.drive(enrollment, until=timedelta(hours=12))
    sending.far.act("accept", person)
    await inbox.read_invites(sending.account_id, sending.far.account)
    await sending.drive(enrollment)
    sent = sending.written()
    assert [kind for kind, _, _ in sent] == ["invite", "message", "message"]
    await restore(sending, kept)
    await recover(sending, since)
    await inbox.read_chats(sending.account_id, sending.far.account, None)
    await sending.drive(enrollment, until=timedelta(hours=12))  # which finds out who it is on the network
    await inbox.read_chats(sending.account_id, sending.far.account, await read_from(sending))
    rows = await sending.sql("select sent_by, action_id from messages order by sent_at, id")
    assert {row.sent_by for row in rows} == {"service"}
    assert (await sending.drive(enrollment)).do is Do.DONE
    assert sending.written() == sent
    assert (await sending.enrollment(enrollment)).status == "completed"


async def test_a_reply_of_a_person_without_a_network_id_in_the_backup_is_found(
    sending: Stage, inbox: NetworkInbox
) -> None:
    """The chats are read right after the recovery, when they are still a stranger, and again when they are none."""
    await sending.connect(GREETING)
    profile, person = await sending.stranger()
    sending.far.tie(person, "connected")
    enrollment = await sending.enroll(profile)
    kept, since = await backup(sending), await sending.now()
    await sending.drive(enrollment, until=timedelta(hours=12))
    sending.far.act("reply", person, text="Tell me more")
    await sending.later(hours=1)
    await restore(sending, kept)
    await recover(sending, since)
    await inbox.read_chats(sending.account_id, sending.far.account, None)
    assert await sending.sql("select id from messages") == []
    await sending.sql("update outreach_accounts set chats_read_until = service_now()")
    await sending.later(hours=2)
    await sending.drive(enrollment)
    again = await read_from(sending)
    assert again is not None
    assert again <= since
    await inbox.read_chats(sending.account_id, sending.far.account, again)
    assert (await sending.told()).count("reply.received") == 1
    assert [kind for kind, _, _ in sending.written()] == ["message"]


async def test_what_the_owner_wrote_in_the_lost_hour_holds_the_enrollment(sending: Stage, inbox: NetworkInbox) -> None:
    await sending.connect(GREETING, replace(GREETING, id="s_second", wait_days=1, body="Still there?"))
    profile, person = await sending.stranger()
    sending.far.tie(person, "connected")
    enrollment = await sending.enroll(profile)
    await sending.drive(enrollment, until=timedelta(hours=12))
    kept, since = await backup(sending), await sending.now()
    sending.far.act("owner_message", person, text="It is me, Sam.")
    await sending.later(hours=1)
    await restore(sending, kept)
    await recover(sending, since)
    await inbox.read_chats(sending.account_id, sending.far.account, None)
    row = await sending.enrollment(enrollment)
    assert (row.status, row.reason) == ("paused", "owner_wrote")


async def test_what_the_network_does_not_have_is_sent_after_two_readings(sending: Stage) -> None:
    await sending.connect(INVITE, MESSAGE)
    profile, _ = await sending.stranger()
    enrollment = await sending.enroll(profile)
    since = await sending.now()
    await sending.later(hours=1)
    await recover(sending, since)
    await sending.drive(enrollment)
    assert [kind for kind, _, _ in sending.written() if kind != "withdraw"] == ["invite"]


async def test_a_visit_that_was_due_counts_as_done_and_is_not_repeated(sending: Stage) -> None:
    await sending.connect(VISIT)
    profile, _ = await sending.stranger()
    enrollment = await sending.enroll(profile)
    kept, since = await backup(sending), await sending.now()
    await sending.drive(enrollment)
    assert [kind for kind, _, _ in sending.written()] == ["visit"]
    await restore(sending, kept)
    await recover(sending, since)
    assert (await sending.drive(enrollment)).do is Do.DONE
    assert [kind for kind, _, _ in sending.written()] == ["visit"]


async def test_rows_in_the_middle_of_a_call_are_woken_as_well(sending: Stage) -> None:
    """The row's worker has ended or was lost with Temporal, and the row has no time to wake at."""
    await sending.connect(INVITE)
    profile, _ = await sending.stranger()
    enrollment = await sending.enroll(profile)
    await sending.sql("update enrollments set wake_at = null, answered = rings")
    await recover(sending, await sending.now())
    rows = await sending.sql("select rings > answered as rung from enrollments where id = :id", id=enrollment)
    assert [row.rung for row in rows] == [True]


async def test_who_is_enrolled_after_the_recovery_is_in_no_doubt(sending: Stage) -> None:
    await sending.connect(INVITE)
    await recover(sending, await sending.now())
    await sending.later(seconds=1)
    profile, _ = await sending.stranger()
    enrollment = await sending.enroll(profile)
    call = await sending.until_call(enrollment)
    await sending.act(enrollment, call)
    (action,) = await sending.actions(enrollment)
    assert (action.outcome, action.doubted_at) == ("sent", None)


async def test_without_the_recovery_a_restore_would_send_the_visit_again(sending: Stage) -> None:
    """The danger is real: the same restore without the command repeats what the network did."""
    await sending.connect(VISIT)
    profile, _ = await sending.stranger()
    enrollment = await sending.enroll(profile)
    kept = await backup(sending)
    await sending.drive(enrollment)
    await restore(sending, kept)
    await sending.drive(enrollment)
    assert [kind for kind, _, _ in sending.written()] == ["visit", "visit"]
