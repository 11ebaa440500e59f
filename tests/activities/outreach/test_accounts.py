"""Accounts between the database and the sandbox's network: links, callbacks, looks and polls, whatever goes wrong."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import text

from activities.outreach.accounts import AccountSteps
from activities.upstream.ports.network_errors import NetworkBusy, NetworkError
from activities.upstream.unipile.network import UnipileNetwork
from models.base.database import Database, service_time
from models.base.secrets import Vault
from models.base.steps import Do, NextStep, Step
from models.outreach.engine import connect
from models.outreach.engine.account_steps import ACCOUNT_CONNECT, ACCOUNT_PROCESS
from models.outreach.engine.connect import LINK_PURPOSE
from models.outreach.rules.callbacks import Callback, callback_token, callback_url
from models.outreach.store import accounts
from models.outreach.store.accounts import ATTEMPTS, BODY_PURPOSE, Arrived
from models.outreach.tables import OutreachAccount
from tests.activities.upstream.unipile.conftest import Sandbox
from tests.models.conftest import Member

PUBLIC = "https://svc.example"


@dataclass
class Heard:
    """An inbox that notes what it is asked; `breaks` is what it raises instead, once for each entry."""

    calls: list[tuple[Any, ...]] = field(default_factory=list)
    breaks: list[Exception] = field(default_factory=list)

    async def arrived(self, account_id: str, provider_id: str, callback: Callback) -> None:
        self._note(("arrived", callback.type, provider_id))

    async def read_chats(self, account_id: str, provider_id: str, since: datetime | None) -> None:
        self._note(("chats", since))

    async def read_invites(self, account_id: str, provider_id: str) -> None:
        self._note(("invites",))

    def _note(self, call: tuple[Any, ...]) -> None:
        if self.breaks:
            raise self.breaks.pop(0)
        self.calls.append(call)


@dataclass
class Post:
    """One account, and the steps that look after it."""

    database: Database
    vault: Vault
    sandbox: Sandbox
    steps: AccountSteps
    inbox: Heard
    account_id: str = ""

    async def row(self) -> OutreachAccount:
        async with self.database.transaction() as session:
            return (await accounts.lock_account_by_id(session, self.account_id)).account

    async def ask_link(self) -> None:
        async with self.database.transaction() as session:
            held = await accounts.lock_account_by_id(session, self.account_id)
            connect.ask_link(held.account, held.now)

    async def next(self) -> NextStep:
        return await self.steps.next(Step(id=self.account_id))

    async def do(self, name: str) -> NextStep:
        """Ask what is due, which is this step, and do it."""
        step = await self.next()
        assert step.call is not None, step
        assert step.call.step == name
        steps = {ACCOUNT_CONNECT: self.steps.connect, ACCOUNT_PROCESS: self.steps.process}
        return await steps[name](Step(id=self.account_id, number=step.call.number))

    async def link(self) -> str:
        await self.ask_link()
        await self.do(ACCOUNT_CONNECT)
        sealed = (await self.row()).connect_url
        assert sealed is not None
        return self.vault.open(LINK_PURPOSE, sealed).decode()

    async def arrive(self, id: str, type: str, provider_id: str, **payload: Any) -> None:
        raw = json.dumps({"id": id, "type": type, "account_id": provider_id, "payload": payload}).encode()
        arrived = Arrived(id, type, self.account_id, self.vault.seal(BODY_PURPOSE, raw))
        await self.database.run(lambda session: accounts.keep_network_callback(session, arrived))

    async def sign_in(self, link: str, *, owner: int) -> str:
        """The owner presses the button; the provider's id of the account. Its callback comes as `evt_add`."""
        back = self.sandbox.control.post(link, data={"outcome": "succeed", "owner": str(owner)})
        query = parse_qs(urlsplit(back.headers["location"]).query)
        await self.arrive("evt_add", "account.add", query["account_id"][0], state=query["state"][0])
        return query["account_id"][0]

    def signed_in_unheard(self, link: str, *, owner: int) -> tuple[str, str]:
        """The same without a callback: what the browser comes back with, the provider's id and the state."""
        back = self.sandbox.control.post(link, data={"outcome": "succeed", "owner": str(owner)})
        query = parse_qs(urlsplit(back.headers["location"]).query)
        return query["account_id"][0], query["state"][0]

    async def came_back(self, provider_id: str, state: str) -> None:
        """The browser does; it is kept as the page keeps it."""
        arrived = accounts.browser_returned(self.vault, self.account_id, provider_id=provider_id, state=state)
        await self.database.run(
            lambda session: accounts.keep_network_callback(session, arrived, after=accounts.RETURN_WAITS)
        )

    async def open_callbacks(self) -> int:
        async with self.database.transaction() as session:
            found = await session.scalar(text("select count(*) from network_callbacks where processed_at is null"))
            return int(found or 0)

    async def pass_time(self, seconds: float) -> None:
        async with self.database.transaction() as session:
            moved = "update service_clock set shift = shift + make_interval(secs => :by)"
            await session.execute(text(moved), {"by": seconds})
        self.sandbox.pass_time(seconds)


@pytest.fixture
async def post(database: Database, member: Member, vault: Vault, sandbox: Sandbox, network: UnipileNetwork) -> Post:
    inbox = Heard()
    steps = AccountSteps(database, vault, network, inbox, public_url=PUBLIC)
    made = Post(database, vault, sandbox, steps, inbox)
    async with database.transaction() as session:
        row = accounts.new_account(member.tenant, name=None, now=await service_time(session))
        session.add(row)
        made.account_id = row.id
    return made


async def running(post: Post) -> str:
    """The account of the sandbox that is ready, taken over by ours."""
    values = {"id": post.account_id, "provider": post.sandbox.account}
    change = (
        "update outreach_accounts set status = 'active', provider_id = :provider, network_user_id = 'u' where id = :id"
    )
    async with post.database.transaction() as session:
        await session.execute(text(change), values)
    return post.sandbox.account


async def test_a_link_leads_to_the_providers_page_and_callbacks_are_registered_first(post: Post) -> None:
    page = post.sandbox.control.get(await post.link())
    assert page.status_code == 200
    assert "Connect an account" in page.text
    url = callback_url(PUBLIC, callback_token(post.vault))
    async with post.database.transaction() as session:
        assert len(await accounts.callback_secrets(session, post.vault, url)) == 1


async def test_an_owner_who_signed_in_is_bound_and_connected_when_the_provider_says_so(post: Post) -> None:
    provider_id = await post.sign_in(await post.link(), owner=5)
    await post.do(ACCOUNT_PROCESS)
    row = await post.row()
    assert (row.status, row.provider_id) == ("connecting", provider_id)
    await post.pass_time(600)
    await post.arrive("evt_running", "account.status.running", provider_id)
    await post.do(ACCOUNT_PROCESS)
    assert (await post.row()).status == "active"
    assert await post.open_callbacks() == 0


async def test_a_sign_in_whose_callback_got_lost_is_found_by_what_the_browser_came_back_with(post: Post) -> None:
    provider_id, state = post.signed_in_unheard(await post.link(), owner=5)
    await post.came_back(provider_id, state)
    assert (await post.next()).do is Do.WAIT, "the provider's own word may still come"
    await post.pass_time(125)
    await post.do(ACCOUNT_PROCESS)
    row = await post.row()
    assert (row.provider_id, row.state_hash) == (provider_id, None)
    await post.pass_time(600)
    step = await post.next()
    assert step.call is not None
    await post.steps.look(Step(id=post.account_id, number=step.call.number))
    assert (await post.row()).status == "active"
    assert await post.open_callbacks() == 0


OTHER = """
insert into outreach_accounts select (json_populate_record(a, cast(:changed as json))).* from outreach_accounts a
"""


@pytest.mark.parametrize(
    ("changed", "other"),
    [
        ("created_at = service_now() + interval '10 minutes'", None),
        (None, {"provider_id": "theirs"}),
        (None, {"status": "active", "tenant_id": "cus_other", "provider_id": "x", "network_user_id": "theirs"}),
        ("network_user_id = 'somebody_else'", None),
        ("status = 'removed', removed_at = service_now()", None),
    ],
    ids=["connected before", "of another link", "of another tenant", "another owner", "removed"],
)
async def test_a_browsers_redirect_takes_deletes_and_ends_nothing_of_another_workspace(
    post: Post, network: UnipileNetwork, changed: str | None, other: dict[str, Any] | None
) -> None:
    provider_id, state = post.signed_in_unheard(await post.link(), owner=6)
    known = await network.account(provider_id)
    assert known is not None
    theirs = {"provider_id": provider_id, "network_user_id": known.user_id}
    async with post.database.transaction() as session:
        if changed is not None:
            await session.execute(text(f"update outreach_accounts set {changed}"))
        if other is not None:
            others = {"id": "acc_other", "state_hash": None} | other
            others |= {name: theirs[name] for name, value in others.items() if value == "theirs"}
            await session.execute(text(OTHER), {"changed": json.dumps(others)})
    before = await post.row()
    await post.came_back(provider_id, state)
    await post.pass_time(125)
    await post.do(ACCOUNT_PROCESS)
    row = await post.row()
    assert (row.status, row.provider_id, row.state_hash) == (before.status, before.provider_id, before.state_hash)
    assert await network.account(provider_id) is not None
    assert await post.open_callbacks() == 0


@pytest.mark.parametrize(
    ("fault", "more", "failure"),
    [
        ("provider_error", {"type": "api/internal_error"}, "upstream_busy"),
        ("provider_error", {"type": "api/inactive_subscription", "status": 403}, "account_connect_unavailable"),
        ("provider_error", {"type": "api/invalid_parameters"}, "upstream_error"),
    ],
)
async def test_why_no_link_is_made_is_kept_and_the_next_one_is(
    post: Post, fault: str, more: dict[str, Any], failure: str
) -> None:
    post.sandbox.order("auth/link", fault, **more)
    await post.ask_link()
    await post.do(ACCOUNT_CONNECT)
    assert (await post.row()).connect_failure == failure
    post.sandbox.control.delete("/_control/faults").raise_for_status()
    assert (await post.link()).startswith("http")


async def test_an_account_that_the_provider_deleted_has_to_sign_in_again(post: Post) -> None:
    await running(post)
    async with post.database.transaction() as session:
        gone = "update outreach_accounts set provider_id = 'acc_gone', status = 'disconnected' where id = :id"
        await session.execute(text(gone), {"id": post.account_id})
    assert post.sandbox.control.get(await post.link()).status_code == 200


@pytest.mark.parametrize(
    ("change", "status", "trouble"),
    [
        ({"status": "disconnected"}, "disconnected", None),
        ({"status": "locked"}, "needs_review", None),
        ({"status": "errored"}, "active", "interrupted"),
        ({"status": "paused"}, "active", "suspended"),
        ({"status": "partial", "classic": "disconnected"}, "active", "interrupted"),
        ({"status": "degraded"}, "active", None),
        ({"status": "removed"}, "disconnected", None),
    ],
)
async def test_a_callback_is_a_hint_and_the_provider_says_what_is(
    post: Post, change: dict[str, str], status: str, trouble: str | None
) -> None:
    provider_id = await running(post)
    post.sandbox.post("account", account_id=provider_id, **change)
    await post.arrive("evt_1", "account.status.disconnected", provider_id)
    await post.do(ACCOUNT_PROCESS)
    row = await post.row()
    assert (row.status, row.trouble) == (status, trouble)


async def test_messages_and_acceptances_are_handed_to_the_inbox(post: Post) -> None:
    provider_id = await running(post)
    await post.arrive("evt_1", "message.new", provider_id, chat_id="c", message_id="m")
    await post.arrive("evt_2", "relation.new", provider_id, user={"id": "u"})
    await post.arrive("evt_3", "message.new", "acc_of_before", chat_id="c", message_id="m")
    for _ in range(3):
        await post.do(ACCOUNT_PROCESS)
    assert post.inbox.calls == [("arrived", "message.new", provider_id), ("arrived", "relation.new", provider_id)]
    assert await post.open_callbacks() == 0


async def test_a_callback_waits_for_a_network_that_is_out_of_reach(post: Post) -> None:
    provider_id = await running(post)
    post.inbox.breaks = [NetworkBusy("out") for _ in range(ATTEMPTS + 2)]
    await post.arrive("evt_1", "message.new", provider_id, chat_id="c", message_id="m")
    for _ in range(ATTEMPTS + 2):
        await post.do(ACCOUNT_PROCESS)
        await post.pass_time(60)
    assert post.inbox.calls == []
    await post.do(ACCOUNT_PROCESS)
    assert len(post.inbox.calls) == 1


@pytest.mark.parametrize("defect", [ValueError("a name"), NetworkError("refused")])
async def test_a_callback_that_always_fails_is_given_up(post: Post, defect: Exception) -> None:
    provider_id = await running(post)
    post.inbox.breaks = [defect] * (ATTEMPTS + 5)
    await post.arrive("evt_1", "message.new", provider_id, chat_id="c", message_id="m")
    for attempt in range(ATTEMPTS):
        if isinstance(defect, NetworkError) or attempt == ATTEMPTS - 1:
            await post.do(ACCOUNT_PROCESS)
        else:
            with pytest.raises(ValueError, match="a name"):
                await post.do(ACCOUNT_PROCESS)
        await post.pass_time(3600)
    assert await post.open_callbacks() == 0


async def test_a_poll_finds_a_disconnect_without_a_callback_and_reads_from_where_it_stopped(post: Post) -> None:
    provider_id = await running(post)
    number = (await post.row()).call_number
    await post.steps.read_chats(Step(id=post.account_id, number=number))
    first = (await post.row()).chats_read_until
    assert post.inbox.calls == [("chats", None)]
    await post.steps.read_chats(Step(id=post.account_id, number=(await post.row()).call_number))
    assert first is not None
    (_, since) = post.inbox.calls[-1]
    assert (first - since).total_seconds() == 600
    post.sandbox.post("account", account_id=provider_id, status="disconnected")
    await post.steps.read_chats(Step(id=post.account_id, number=(await post.row()).call_number))
    assert (await post.row()).status == "disconnected"
    assert len(post.inbox.calls) == 2, "nobody reads the chats of a disconnected account"


async def test_a_removed_account_is_deleted_at_the_provider_also_when_it_is_gone_already(
    post: Post, network: UnipileNetwork
) -> None:
    provider_id = await running(post)
    post.sandbox.order("accounts/delete", "provider_error", type="api/internal_error", count=3)
    async with post.database.transaction() as session:
        removed = "update outreach_accounts set status = 'removed', removed_at = service_now() where id = :id"
        await session.execute(text(removed), {"id": post.account_id})
    for _ in range(4):
        step = await post.next()
        if step.call is None:
            break
        await post.steps.delete(Step(id=post.account_id, number=step.call.number))
        await post.pass_time(3600)
    assert (await post.row()).provider_id is None
    assert await network.account(provider_id) is None
