"""Conversations: what candidates wrote is read apart, labelled by the caller, and answered once, when asked."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest

from models.base.database import Database
from models.base.tenants import Tenant
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.outreach.accounts import connected
from tests.api.outreach.enrolling import enroll, sequence
from tests.api.outreach.inbox import answered, writes
from tests.api.people.people import fetched, slug

PATH = "/v1/outreach/conversations"
ROWS = "select (select count(*) from actions), (select count(*) from events), (select sum(rings) from actions)"


@dataclass
class Talk:
    """A conversation in which the candidate wrote last."""

    workspace: Workspace
    database: Database
    account_id: str
    profile_id: str
    id: str

    async def patch(self, **change: Any) -> httpx.Response:
        return await self.workspace.http.patch(f"{PATH}/{self.id}", json=change)

    async def reply(self, text: str = "Gladly!", *, dry_run: bool = False, key: str | None = None) -> httpx.Response:
        headers = {} if dry_run else {"Idempotency-Key": key or uuid4().hex}
        path = f"{PATH}/{self.id}/replies{'?dry_run=true' if dry_run else ''}"
        return await self.workspace.http.post(path, json={"text": text}, headers=headers)

    async def get(self, path: str = "", **query: Any) -> Any:
        answer = await self.workspace.http.get(path or f"{PATH}/{self.id}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def hears(self, text: str, *, by_owner: bool = False) -> None:
        (row,) = await run_sql(self.database, "select chat_id from conversations where id = :id", id=self.id)
        await writes(self.database, self.account_id, self.profile_id, row.chat_id, text, by_owner=by_owner)

    async def seen(self) -> Any:
        (row,) = await run_sql(
            self.database,
            "select status, do_not_contact from seen_entries where tenant_id = :ws and profile_id = :id",
            ws=self.workspace.id,
            id=self.profile_id,
        )
        return row


@pytest.fixture
async def talk(database: Database, workspace: Workspace) -> Talk:
    await run_sql(database, "update workspaces set verified_at = now() where id = :id", id=workspace.id)
    tenant = Tenant(workspace.id)
    account_id = await connected(database, tenant)
    profile_id = await fetched(database, tenant, slug())
    return Talk(workspace, database, account_id, profile_id, await answered(database, tenant, account_id, profile_id))


async def test_a_conversation_is_listed_and_read_with_the_candidates_words_apart(talk: Talk) -> None:
    (listed,) = (await talk.get(PATH))["data"]
    assert listed == await talk.get()
    assert (listed["object"], listed["profile_id"], listed["account_id"]) == (
        "conversation",
        talk.profile_id,
        talk.account_id,
    )
    assert (listed["read"], listed["unread_messages"], listed["intent"]) == (False, 1, None)
    await talk.hears("By hand", by_owner=True)
    second, first = (await talk.get(f"{PATH}/{talk.id}/messages"))["data"]
    assert (first["direction"], first["sent_by"]) == ("in", "candidate")
    assert (first["untrusted_text"], first["text"]) == ("Tell me more", None)
    assert (second["direction"], second["sent_by"]) == ("out", "owner")
    assert (second["untrusted_text"], second["text"]) == (None, "By hand")


async def test_replies_are_unread_until_the_conversation_is_marked_read_and_new_ones_are_unread_again(
    talk: Talk,
) -> None:
    (reply,) = (await talk.get("/v1/outreach/replies", unread="true"))["data"]
    assert (reply["conversation_id"], reply["untrusted_text"], reply["read"]) == (talk.id, "Tell me more", False)
    marked = await talk.patch(read=True)
    assert (marked.json()["read"], marked.json()["unread_messages"]) == (True, 0)
    assert (await talk.get("/v1/outreach/replies", unread="true"))["data"] == []
    assert (await talk.get(PATH, unread="true"))["data"] == []
    (read,) = (await talk.get("/v1/outreach/replies", unread="false"))["data"]
    assert read["read"] is True
    await talk.hears("And?")
    (again,) = (await talk.get("/v1/outreach/replies", unread="true"))["data"]
    assert again["untrusted_text"] == "And?"
    later = (await talk.get("/v1/outreach/replies", since=again["received_at"]))["data"]
    assert [one["id"] for one in later] == [again["id"]]
    unread = (await talk.patch(read=False)).json()
    assert (unread["read"], unread["unread_messages"]) == (False, 2)


async def test_pages_of_replies_follow_one_another(talk: Talk) -> None:
    for word in ("two", "three"):
        await talk.hears(word)
    first = await talk.get("/v1/outreach/replies", limit=2)
    second = await talk.get("/v1/outreach/replies", limit=2, cursor=first["next_cursor"])
    words = [one["untrusted_text"] for one in first["data"] + second["data"]]
    assert words == ["three", "two", "Tell me more"]
    assert second["has_more"] is False


async def test_not_interested_forbids_contact_in_the_same_transaction(talk: Talk) -> None:
    assert (await talk.reply("Thank you")).status_code == 202
    done = await talk.patch(intent="not_interested")
    assert done.json()["intent"] == "not_interested"
    seen = await talk.seen()
    assert (seen.status, seen.do_not_contact) == ("not_interested", True)
    outcomes = (await talk.get("/v1/outreach/actions", outcome="scheduled"))["data"]
    assert outcomes == []  # what was queued is cancelled with it
    made = await sequence(talk.workspace, talk.account_id)
    refused = (await enroll(talk.workspace, made["id"], profile_ids=[talk.profile_id])).json()
    assert (refused["enrolled"], refused["skipped"][0]["reason"]) == (0, "do_not_contact")


@pytest.mark.parametrize(("intent", "status"), [("interested", "interested"), ("question", "replied")])
async def test_other_labels_forbid_nothing(talk: Talk, intent: str, status: str) -> None:
    assert (await talk.patch(intent=intent)).json()["intent"] == intent
    seen = await talk.seen()
    assert (seen.status, seen.do_not_contact) == (status, False)
    assert [one["id"] for one in (await talk.get(PATH, intent=intent))["data"]] == [talk.id]
    assert (await talk.patch(intent=None)).json()["intent"] is None


async def test_an_answer_is_queued_once_ahead_of_any_cap(talk: Talk) -> None:
    await talk.workspace.http.patch(
        f"/v1/outreach/accounts/{talk.account_id}/limits", json={"new_outreach_per_day": 0, "invites_per_day": 0}
    )
    before = await run_sql(talk.database, ROWS)
    preview = await talk.reply(dry_run=True)
    assert preview.status_code == 200, preview.text
    assert (preview.json()["would_fail"], preview.json()["rendered"]) == (None, {"text": "Gladly!"})
    assert await run_sql(talk.database, ROWS) == before
    key = uuid4().hex
    done = await talk.reply(key=key)
    assert done.status_code == 202, done.text
    action = done.json()
    assert done.headers["Location"] == f"/v1/outreach/actions/{action['id']}"
    assert (action["type"], action["outcome"], action["enrollment_id"]) == ("message", "scheduled", None)
    assert action["scheduled_at"] == preview.json()["scheduled_at"]
    assert (await talk.reply(key=key)).json() == action
    (row,) = await run_sql(
        talk.database,
        "select rings > answered as rung, first_touch, conversation_id, text from actions where id = :id",
        id=action["id"],
    )
    assert (row.rung, row.first_touch, row.conversation_id, row.text) == (True, False, talk.id, "Gladly!")


async def test_who_asked_not_to_be_contacted_is_answered_only_when_they_wrote_last(talk: Talk) -> None:
    await talk.workspace.http.patch(f"/v1/seen/{talk.profile_id}", json={"do_not_contact": True})
    assert (await talk.reply("As you wrote last")).status_code == 202
    error = error_of(await talk.reply("And another thing"), 409, "conflict")
    assert error["details"]["reason"] == "do_not_contact"
    await run_sql(talk.database, "update actions set outcome = 'cancelled' where outcome = 'scheduled'")
    await talk.hears("By hand", by_owner=True)
    error_of(await talk.reply(), 409, "conflict")
    await talk.hears("One more question")
    assert (await talk.reply()).status_code == 202


async def test_suppressed_people_are_hidden_and_not_answered(talk: Talk) -> None:
    await talk.workspace.http.post("/v1/suppressions", json={"profile_id": talk.profile_id})
    assert (await talk.get(PATH))["data"] == []
    assert (await talk.get("/v1/outreach/replies"))["data"] == []
    for path in (f"{PATH}/{talk.id}", f"{PATH}/{talk.id}/messages"):
        error_of(await talk.workspace.http.get(path), 404, "suppressed")
    error_of(await talk.reply(), 409, "suppressed")
    error_of(await talk.reply(dry_run=True), 409, "suppressed")
    error_of(await talk.patch(intent="other"), 409, "suppressed")


async def test_an_erasure_takes_the_words_away(talk: Talk) -> None:
    erased = await talk.workspace.http.post("/v1/erasures", json={"profile_id": talk.profile_id})
    assert erased.status_code == 202, erased.text
    left = await run_sql(
        talk.database, "select 1 from messages where profile_id = :id", id=talk.profile_id
    ) + await run_sql(talk.database, "select 1 from conversations where profile_id = :id", id=talk.profile_id)
    assert left == []
    error_of(await talk.workspace.http.get(f"{PATH}/{talk.id}"), 404, "not_found")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"text": ""}, "text"),
        ({"text": " \n "}, "text"),
        ({"text": "x" * 8001}, "text"),
        ({}, "text"),
        ({"text": "Hi", "send_at": "now"}, "send_at"),
    ],
)
async def test_a_bad_answer_queues_nothing(talk: Talk, body: dict[str, Any], field: str) -> None:
    before = await run_sql(talk.database, ROWS)
    answer = await talk.workspace.http.post(
        f"{PATH}/{talk.id}/replies", json=body, headers={"Idempotency-Key": uuid4().hex}
    )
    error_of(answer, 400, "invalid_request", field)
    assert await run_sql(talk.database, ROWS) == before


async def test_the_longest_answer_counts_code_points(talk: Talk) -> None:
    assert (await talk.reply("\U0001f600" * 8000)).status_code == 202


async def test_a_paused_account_sends_no_replies(talk: Talk) -> None:
    await run_sql(
        talk.database,
        "update outreach_accounts set status = 'paused', pause_reason = 'manual' where id = :id",
        id=talk.account_id,
    )
    error_of(await talk.reply(), 409, "account_paused")
    assert (await talk.reply(dry_run=True)).json()["would_fail"] == {"code": "account_paused"}


async def test_bad_labels_are_refused(talk: Talk) -> None:
    error_of(await talk.patch(intent="maybe"), 400, "invalid_request", "intent")
    error_of(await talk.patch(read=None), 400, "invalid_request", "read")
    error_of(await talk.patch(read="yes"), 400, "invalid_request", "read")
