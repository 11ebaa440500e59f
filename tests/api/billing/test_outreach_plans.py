"""What outreach accounts cost, against a real provider: charged once, brought back after every lost answer."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from models.base.database import Database, service_time
from models.base.tenants import Tenant
from models.billing.engine import callbacks
from models.billing.rules.payments import OutreachSubscriptionChanged, PlanStatus
from models.outreach.engine import account_states, stop
from models.outreach.store import accounts
from tests.api.billing.conftest import opened, until, worked_in
from tests.api.billing.test_auto_refill import with_card
from tests.api.conftest import Workspace, error_of, run_sql
from tests.provider import Hand, Provider

PRICE = 4900


@pytest.fixture(autouse=True)
async def connects(app: FastAPI, database: Database) -> AsyncIterator[None]:
    """An installation with an outreach provider, whose clock is put back afterwards."""
    kernel = app.state.kernel
    before = kernel.settings
    kernel.settings = before.model_copy(update={"unipile_api_key": before.secret_key, "email_verification": False})
    await run_sql(database, "update outreach_plans set rings = answered, wake_at = null")
    yield
    kernel.settings = before


async def connected(database: Database, workspace: Workspace, customer: str | None = None) -> str:
    """An account whose owner has signed in."""
    tenant = Tenant(workspace.id, customer)
    async with database.transaction() as session:
        row = accounts.new_account(tenant, name=None, now=await service_time(session))
        session.add(row)
        await session.flush()
        await account_states.activate(session, await accounts.lock_account(session, tenant, row.id))
        return row.id


async def removed(database: Database, workspace: Workspace, account_id: str) -> None:
    tenant = Tenant(workspace.id, None)
    async with database.transaction() as session:
        await stop.remove_account(session, await accounts.lock_account(session, tenant, account_id))


async def cost(workspace: Workspace) -> dict[str, Any]:
    shown: dict[str, Any] = (await workspace.http.get("/v1/billing/balance")).json()["outreach"]
    return shown


async def becomes(workspace: Workspace, status: str) -> dict[str, Any]:
    async def reached() -> bool:
        return bool((await cost(workspace))["status"] == status)

    await until(reached)
    return await cost(workspace)


async def quiet(database: Database, workspace: Workspace) -> None:
    """Wait until every wake-up of the workspace is answered and every callback processed."""

    async def done() -> bool:
        return not await run_sql(
            database,
            "select 1 from outreach_plans where rings > answered and id = :id"
            " union all select 1 from outreach_changes where status in ('pending', 'calling') and workspace_id = :id"
            " union all select 1 from payment_callbacks where body is not null",
            id=workspace.id,
        )

    await until(done)


async def subscriptions(shop: Provider) -> list[tuple[str, int]]:
    """Status and quantity of what is charged monthly, newest first."""
    shown = await shop.shown()
    return [(each["status"], each["items"]["data"][0]["quantity"]) for each in shown["subscription"]]


async def invoices(shop: Provider) -> list[int]:
    """What was charged or credited, oldest first."""
    return [each["total"] for each in reversed((await shop.shown())["invoice"])]


async def passes(database: Database, by: timedelta, workspace: Workspace) -> None:
    """Time passes for the workspace's plan alone."""
    await run_sql(
        database,
        "update outreach_plans p set wake_at = wake_at - d, retry_at = retry_at - d, looked_at = looked_at - d,"
        " unpaid_since = unpaid_since - d from (select cast(:by as interval) as d) as passed where id = :id",
        by=by,
        id=workspace.id,
    )


async def test_every_account_of_the_workspace_and_its_customers_is_charged_until_it_is_removed(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database
) -> None:
    assert (await cost(workspace)) == {
        "accounts": 0,
        "account_price_cents": PRICE,
        "monthly_cents": 0,
        "status": "off",
        "unpaid_since": None,
    }
    await with_card(workspace, shop, database)
    first = await connected(database, workspace)
    await becomes(workspace, "active")
    assert await subscriptions(shop) == [("active", 1)]
    customer = (await workspace.http.post("/v1/customers", json={"name": "Theirs"})).json()["id"]
    await connected(database, workspace, customer)
    await quiet(database, workspace)
    assert await subscriptions(shop) == [("active", 2)]
    shown = await becomes(workspace, "active")
    assert (shown["accounts"], shown["monthly_cents"]) == (2, 2 * PRICE)
    charged = await invoices(shop)
    assert charged[0] == PRICE
    assert charged[1] == pytest.approx(PRICE, abs=1)
    await removed(database, workspace, first)
    await quiet(database, workspace)
    assert await subscriptions(shop) == [("active", 1)]
    rows = await run_sql(
        database, "select accounts, status from outreach_changes where workspace_id = :id order by id", id=workspace.id
    )
    assert [tuple(row) for row in rows] == [(1, "done"), (2, "done"), (1, "done")]


async def test_the_last_account_ends_the_subscription_and_the_rest_of_the_month_is_credited(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database
) -> None:
    customer = await with_card(workspace, shop, database)
    account_id = await connected(database, workspace)
    await becomes(workspace, "active")
    await removed(database, workspace, account_id)
    assert (await becomes(workspace, "off"))["accounts"] == 0
    await quiet(database, workspace)
    assert await subscriptions(shop) == [("canceled", 1)]
    balance = {each["id"]: each["balance"] for each in (await shop.shown())["customer"]}[customer]
    assert balance == pytest.approx(-PRICE, abs=1)
    await connected(database, workspace)  # what was credited pays for it
    await becomes(workspace, "active")
    paid = [each["amount_paid"] for each in (await shop.shown())["invoice"] if each["customer"] == customer]
    assert sum(paid) == pytest.approx(PRICE, abs=1)


@pytest.mark.parametrize(
    ("operation", "fault", "executed"),
    [
        ("subscriptions/create", "connection_lost", "after"),
        ("subscriptions/create", "connection_lost", "before"),
        ("subscriptions/create", "server_error", "after"),
        ("subscriptions/list", "rate_limited", "before"),
        ("products/create", "html_body", "after"),
    ],
)
async def test_a_lost_answer_charges_an_account_once(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database, operation: str, fault: str, executed: str
) -> None:
    await with_card(workspace, shop, database)
    await shop.order(operation, fault, count=2, after_execution=executed == "after")
    await connected(database, workspace)

    async def active() -> bool:
        await passes(database, timedelta(minutes=1), workspace)
        return bool((await cost(workspace))["status"] == "active")

    await until(active)
    await quiet(database, workspace)
    assert await subscriptions(shop) == [("active", 1)]
    assert await invoices(shop) == [PRICE]


async def test_a_worker_that_dies_after_the_call_finds_what_it_did(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await with_card(workspace, shop, database)
    await connected(database, workspace)
    await becomes(workspace, "active")
    await hand.rest()
    died = type("Died", (BaseException,), {})

    async def dies(*_: object, **__: object) -> None:
        raise died

    with monkeypatch.context() as patched:
        patched.setattr("models.billing.engine.outreach_plans.note_held", dies)
        await connected(database, workspace)
        with pytest.raises(died):
            await hand.drive("outreach_plan", workspace.id)
    assert await subscriptions(shop) == [("active", 2)]
    charged = await invoices(shop)
    await passes(database, timedelta(minutes=5), workspace)
    hand.working = True
    await quiet(database, workspace)
    assert await subscriptions(shop) == [("active", 2)]
    assert await invoices(shop) == charged
    assert (await cost(workspace))["status"] == "active"


async def test_a_declined_card_is_shown_and_another_card_pays_at_once(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database
) -> None:
    customer = await with_card(workspace, shop, database)
    await shop.steer("cards", customer_id=customer, state="declines")
    await connected(database, workspace)
    shown = await becomes(workspace, "unpaid")
    assert shown["unpaid_since"] is not None
    assert await subscriptions(shop) == []
    refused = await workspace.http.post("/v1/outreach/accounts", json={})
    assert error_of(refused, 409, "conflict")["details"]["reason"] == "outreach_unpaid"
    await passes(database, timedelta(days=14), workspace)
    assert (await cost(workspace))["status"] == "on_hold"
    await shop.complete((await opened(workspace))["session_id"])
    await worked_in(database)
    await becomes(workspace, "active")
    assert await subscriptions(shop) == [("active", 1)]


async def test_a_month_that_is_not_paid_is_unpaid_until_it_is(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database
) -> None:
    await with_card(workspace, shop, database)
    await connected(database, workspace)
    await becomes(workspace, "active")
    subscription = await run_sql(database, "select subscription_id from outreach_plans where id = :id", id=workspace.id)
    told = {"subscription_id": subscription[0].subscription_id, "workspace_id": workspace.id}
    for status, at, stands in [
        ("past_due", 2_000_000_100, "unpaid"),
        ("active", 2_000_000_050, "unpaid"),  # heard too late
        ("active", 2_000_000_200, "active"),
        ("active", 2_000_000_200, "active"),
    ]:
        await hear(database, told, status, at)
        await becomes(workspace, stands)
        await quiet(database, workspace)
        assert (await cost(workspace))["status"] == stands
    await hear(database, told | {"subscription_id": "sub_other"}, "ended", 2_000_000_300)
    assert (await cost(workspace))["status"] == "active"


async def hear(database: Database, told: dict[str, str], status: str, at: int) -> None:
    happening = OutreachSubscriptionChanged(**told, status=PlanStatus(status), at=datetime.fromtimestamp(at, UTC))
    async with database.transaction() as session:
        await callbacks.apply_payment_event(session, happening, now=await service_time(session))


async def test_callbacks_that_come_twice_and_in_reverse_change_nothing(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database
) -> None:
    await with_card(workspace, shop, database)
    await shop.steer("events/hold", held=True)
    first = await connected(database, workspace)
    await becomes(workspace, "active")
    await connected(database, workspace)
    await removed(database, workspace, first)
    await quiet(database, workspace)
    await shop.steer("events/hold", held=False, backwards=True)
    for event in (await shop.shown())["events"]:
        await shop.steer("events/repeat", event_id=event["id"])
    await worked_in(database)
    await quiet(database, workspace)
    assert await subscriptions(shop) == [("active", 1)]
    assert (await cost(workspace))["status"] == "active"


async def test_what_was_changed_at_the_provider_by_hand_is_found_on_the_next_day(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database
) -> None:
    await with_card(workspace, shop, database)
    await connected(database, workspace)
    await becomes(workspace, "active")
    subscription = (await shop.shown())["subscription"][0]["id"]
    headers = {"Authorization": "Bearer sk_test_sandbox"}
    await shop.steer("events/hold", held=True)  # no callback reports it
    cancelled = await shop.control.delete(f"/v1/subscriptions/{subscription}", headers=headers)
    assert cancelled.is_success, cancelled.text
    await passes(database, timedelta(days=1), workspace)

    async def found() -> bool:
        return await subscriptions(shop) == [("active", 1), ("canceled", 1)]

    await until(found)


async def test_connecting_needs_a_payment_method_where_payments_are_configured(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database, app: FastAPI
) -> None:
    refused = await workspace.http.post("/v1/outreach/accounts", json={"name": "Sam"})
    assert error_of(refused, 409, "conflict")["details"]["reason"] == "payment_method_missing"
    assert not await run_sql(database, "select 1 from outreach_accounts where workspace_id = :id", id=workspace.id)
    await with_card(workspace, shop, database)
    assert await linked(workspace, database) == 503  # no worker creates links here, so a link was requested
    assert await run_sql(database, "select 1 from outreach_accounts where workspace_id = :id", id=workspace.id)
    kernel = app.state.kernel
    kernel.settings = kernel.settings.model_copy(update={"stripe_api_key": None, "stripe_webhook_secret": None})
    await run_sql(database, "delete from payment_methods where workspace_id = :id", id=workspace.id)
    assert await linked(workspace, database) == 503


async def linked(workspace: Workspace, database: Database) -> int:
    """What connecting answers once the worker has found the provider busy."""
    await run_sql(
        database,
        "update outreach_accounts set connect_failure = null where workspace_id = :id",
        id=workspace.id,
    )

    async def fails() -> None:
        async def asked() -> bool:
            rows = await run_sql(
                database,
                "update outreach_accounts set connect_failure = 'upstream_busy', connect_expires_at = null"
                " where workspace_id = :id and connect_expires_at is not null returning id",
                id=workspace.id,
            )
            return bool(rows)

        await until(asked)

    answer: httpx.Response
    answer, _ = await asyncio.gather(workspace.http.post("/v1/outreach/accounts", json={"name": "Sam"}), fails())
    return answer.status_code
