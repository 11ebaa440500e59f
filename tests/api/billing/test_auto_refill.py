"""Auto-refill as its owner sees it: off, without a card, bought, capped, declined, unanswered."""

from typing import Any

from models.base.database import Database
from tests.api.billing.conftest import balance, opened, until, worked_in
from tests.api.conftest import Workspace, run_sql
from tests.provider import Hand, Provider


async def refill(workspace: Workspace, **wished: Any) -> dict[str, Any]:
    body = {"enabled": True, "threshold_credits": 5000, "monthly_cap_cents": 19_800} | wished
    answer = await workspace.http.put("/v1/billing/auto-refill", json=body)
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


async def shown_refill(workspace: Workspace) -> tuple[str, int]:
    found = (await workspace.http.get("/v1/billing/auto-refill")).json()
    return found["status"], found["spent_this_month_cents"]


async def with_card(workspace: Workspace, shop: Provider, database: Database) -> str:
    """Buy a pack, so that there is a card; gives the provider's customer.

    The card is a minute old: the provider counts whole seconds, and one attached in the same second is not the newer.
    """
    made = await opened(workspace)
    customer: str = (await shop.complete(made["session_id"]))["session"]["customer"]
    await worked_in(database)
    await run_sql(
        database,
        "update payment_methods set attached_at = attached_at - interval '1 minute' where workspace_id = :w",
        w=workspace.id,
    )
    return customer


async def test_auto_refill_says_how_it_stands_from_off_to_bought(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database
) -> None:
    assert (await workspace.http.get("/v1/billing/auto-refill")).json() == {
        "object": "auto_refill",
        "enabled": False,
        "threshold_credits": 0,
        "monthly_cap_cents": 0,
        "spent_this_month_cents": 0,
        "currency": "EUR",
        "status": "off",
    }
    assert (await refill(workspace))["status"] == "needs_payment_method"
    await with_card(workspace, shop, database)
    assert await shown_refill(workspace) == ("ready", 0)
    await refill(workspace, threshold_credits=20_000)

    async def bought() -> bool:
        return (await balance(workspace)).get("top_up") == 22_500

    await until(bought)
    assert await shown_refill(workspace) == ("cap_reached", 19_800)
    shown = await shop.shown()
    assert [intent["amount"] for intent in shown["payment_intent"]] == [9900] * 3
    assert shown["calls"]["intents/create"] == 2


async def test_a_declined_refill_says_so_and_is_made_again_with_new_settings(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database
) -> None:
    customer = await with_card(workspace, shop, database)
    await shop.steer("cards", customer_id=customer, state="declines")
    await refill(workspace, threshold_credits=10_000, monthly_cap_cents=9900)

    async def failed() -> bool:
        return (await shown_refill(workspace))[0] == "payment_failed"

    await until(failed)
    await worked_in(database)
    rows = await run_sql(database, "select failures from auto_refills where id = :id", id=workspace.id)
    assert rows[0].failures == 1
    assert await balance(workspace) == {"top_up": 7500}
    await shop.steer("cards", customer_id=customer, state="works")
    await refill(workspace, threshold_credits=10_000, monthly_cap_cents=9900)

    async def bought() -> bool:
        return (await balance(workspace)).get("top_up") == 15_000

    await until(bought)


async def test_a_refill_that_was_charged_and_not_answered_is_not_charged_twice(
    workspace: Workspace, shop: Provider, hand: Hand, database: Database
) -> None:
    await with_card(workspace, shop, database)
    await shop.steer("events/hold", held=True)
    await shop.order("intents/create", "connection_lost", count=1, after_execution=True)
    await refill(workspace, threshold_credits=10_000)

    async def unclear() -> bool:
        return bool(
            await run_sql(database, "select 1 from payments where workspace_id = :id and unclear", id=workspace.id)
        )

    await until(unclear)
    await run_sql(database, "update payments set wake_at = service_now() where unclear")

    async def found() -> bool:
        query = "select 1 from payments where workspace_id = :id and status = 'processing'"
        return bool(await run_sql(database, query, id=workspace.id))

    await until(found)
    assert await balance(workspace) == {"top_up": 7500}  # the callback alone brings credits
    await shop.steer("events/hold", held=False)
    await worked_in(database)
    assert await balance(workspace) == {"top_up": 15_000}
    assert len([one for one in (await shop.shown())["payment_intent"] if one["amount_received"]]) == 2
