"""Reading payments again after a restore: what the provider was paid is granted once, whatever the backup held."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from activities.reread import Reread, reread
from activities.upstream.payments import Buyer, ChargeAsk, CheckoutAsk, PaymentsUnclear
from models.base.database import Database
from models.base.tenants import Tenant, all_tenants
from models.billing.rules.payments import PaymentKind
from models.billing.rules.prices import OFFER_OF
from models.billing.store import credits, payments
from tests.models.conftest import Member, join
from tests.provider import Provider, provider

SINCE = datetime.now(UTC) - timedelta(hours=1)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    opened = Database(database_url, pool_size=4).within(all_tenants("tests"))
    yield opened
    await opened.close()


@pytest.fixture
async def member(database: Database) -> Member:
    return await database.run(join)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Provider]:
    async with provider(tmp_path) as made:
        yield made


async def bought(shop: Provider, member: Member, payment_id: str, item: str, kind: PaymentKind) -> str:
    """Something that the provider was paid for a workspace, and of which this database knows nothing."""
    workspace_id = member.tenant.workspace_id
    customer = await shop.adapter.customer(Buyer(workspace_id, "Acme", "acme@example.com"))
    page = await shop.adapter.open_checkout(
        CheckoutAsk(payment_id, workspace_id, customer, OFFER_OF[item], "https://a.example/", "https://a.example/")
    )
    await shop.complete(page.session_id)
    if kind is PaymentKind.REFILL:
        method = (await shop.shown())["payment_method"][0]["id"]
        ask = ChargeAsk(f"{payment_id}_refill", workspace_id, customer, method, OFFER_OF["pack"])
        await shop.adapter.charge(ask)
    return customer


async def balance(database: Database, member: Member) -> int:
    async with database.transaction() as session:
        return await credits.balance(session, member.tenant.workspace_id)


async def statuses(database: Database) -> list[tuple[str, str, str]]:
    async with database.transaction() as session:
        return [tuple(row) for row in await session.execute(text("select id, kind, status from payments order by id"))]


async def test_what_a_restored_database_does_not_know_is_granted_once_however_often_it_is_read(
    database: Database, member: Member, shop: Provider
) -> None:
    await bought(shop, member, "pay_1", "pack", PaymentKind.REFILL)
    await bought(shop, member, "pay_2", "starter", PaymentKind.CHECKOUT)
    before = await balance(database, member)
    first = await reread(database, shop.adapter, SINCE)
    assert first.payments == 3
    assert await balance(database, member) == before + 2 * 7500 + 5000
    assert await statuses(database) == [
        ("pay_1", "checkout", "paid"),
        ("pay_1_refill", "refill", "paid"),
        ("pay_2", "checkout", "paid"),
    ]
    async with database.transaction() as session:
        assert await payments.payment_method(session, member.tenant.workspace_id) is not None
    assert await reread(database, shop.adapter, SINCE) == Reread(first.callbacks, 0, 0)
    assert await balance(database, member) == before + 2 * 7500 + 5000


async def test_what_was_given_back_stays_given_back(database: Database, member: Member, shop: Provider) -> None:
    await bought(shop, member, "pay_1", "pack", PaymentKind.CHECKOUT)
    intent = (await shop.shown())["payment_intent"][0]["id"]
    await shop.steer("refund", payment_intent=intent)
    before = await balance(database, member)
    for _ in range(2):
        await reread(database, shop.adapter, SINCE)
        assert await balance(database, member) == before
    assert await statuses(database) == [("pay_1", "checkout", "refunded")]


async def test_what_is_older_or_of_a_workspace_that_is_not_there_is_left_alone(
    database: Database, member: Member, shop: Provider
) -> None:
    await bought(shop, member, "pay_1", "pack", PaymentKind.CHECKOUT)
    assert await reread(database, shop.adapter, datetime.now(UTC) + timedelta(hours=1)) == Reread()
    stranger = Member(Tenant("ws_stranger"), member.api_key_id)
    await bought(shop, stranger, "pay_2", "pack", PaymentKind.CHECKOUT)
    done = await reread(database, shop.adapter, SINCE)
    assert done.strange > 0
    assert [payment_id for payment_id, _, _ in await statuses(database)] == ["pay_1"]


async def test_a_provider_that_does_not_answer_is_an_error_and_the_command_is_repeated(
    database: Database, member: Member, shop: Provider
) -> None:
    await bought(shop, member, "pay_1", "pack", PaymentKind.CHECKOUT)
    await shop.order("events/list", "server_error", count=1)
    before = await balance(database, member)
    with pytest.raises(PaymentsUnclear):
        await reread(database, shop.adapter, SINCE)
    await reread(database, shop.adapter, SINCE)
    assert await balance(database, member) == before + 7500
