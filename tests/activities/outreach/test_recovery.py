"""After a restore nothing that the network already has is done again, and what it has not is done."""

import json
from datetime import datetime
from typing import Any

import pytest

from models.rules.outreach.sequences import Step
from models.rules.outreach.states import ActionType
from models.stores.outreach import recovery
from tests.activities.outreach.sending import Stage
from tests.models.stores.outreach.sending_world import INVITE, MESSAGE, VISIT
from workflows.contracts import Do

pytestmark = pytest.mark.timeout(120)

GREETING = Step(ActionType.MESSAGE, "s_only", body="Hello {{first_name}}")
FORGETS = ("seen_entries", "network_people", "actions", "enrollments")
"""What a restore takes back, children first where rows refer to each other."""


async def backup(stage: Stage) -> dict[str, Any]:
    """Every row that sending changes, as it is now."""
    return {
        table: [row.row for row in await stage.sql(f"select to_jsonb(t) as row from {table} t")]  # noqa: S608 - our own names
        for table in FORGETS
    }


async def restore(stage: Stage, kept: dict[str, Any]) -> None:
    for table in FORGETS:
        await stage.sql(f"delete from {table}")  # noqa: S608
    for table in reversed(FORGETS):
        await stage.sql(
            f"insert into {table} select * from jsonb_populate_recordset(null::{table}, cast(:rows as jsonb))",  # noqa: S608
            rows=json.dumps(kept[table]),
        )


async def recover(stage: Stage, since: datetime) -> recovery.Begun:
    async with stage.database.transaction() as session:
        return await recovery.begin(session, since=since)


async def test_an_invite_of_the_lost_hour_is_found_and_not_sent_again(sending: Stage) -> None:
    await sending.connect(INVITE, MESSAGE)
    profile, person = await sending.somebody()
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
    profile, person = await sending.somebody()
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


async def test_what_the_network_does_not_have_is_sent_after_two_readings(sending: Stage) -> None:
    await sending.connect(INVITE, MESSAGE)
    profile, _ = await sending.somebody()
    enrollment = await sending.enroll(profile)
    since = await sending.now()
    await sending.later(hours=1)
    await recover(sending, since)
    await sending.drive(enrollment)
    assert [kind for kind, _, _ in sending.written() if kind != "withdraw"] == ["invite"]


async def test_a_visit_that_was_due_counts_as_done_and_is_not_repeated(sending: Stage) -> None:
    await sending.connect(VISIT)
    profile, _ = await sending.somebody()
    enrollment = await sending.enroll(profile)
    kept, since = await backup(sending), await sending.now()
    await sending.drive(enrollment)
    assert [kind for kind, _, _ in sending.written()] == ["visit"]
    await restore(sending, kept)
    await recover(sending, since)
    assert (await sending.drive(enrollment)).do is Do.DONE
    assert [kind for kind, _, _ in sending.written()] == ["visit"]


async def test_who_is_enrolled_after_the_recovery_is_in_no_doubt(sending: Stage) -> None:
    await sending.connect(INVITE)
    await recover(sending, await sending.now())
    await sending.later(seconds=1)
    profile, _ = await sending.somebody()
    enrollment = await sending.enroll(profile)
    call = await sending.until_call(enrollment)
    await sending.act(enrollment, call)
    (action,) = await sending.actions(enrollment)
    assert (action.outcome, action.doubted_at) == ("sent", None)


async def test_without_the_recovery_a_restore_would_send_the_visit_again(sending: Stage) -> None:
    """The danger is real: the same restore without the command repeats what the network did."""
    await sending.connect(VISIT)
    profile, _ = await sending.somebody()
    enrollment = await sending.enroll(profile)
    kept = await backup(sending)
    await sending.drive(enrollment)
    await restore(sending, kept)
    await sending.drive(enrollment)
    assert [kind for kind, _, _ in sending.written()] == ["visit", "visit"]
