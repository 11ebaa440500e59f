"""Routes of credits."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.access.schemas import BalanceView, CreditPlan, LedgerEntryView
from api.billing import credits, purchases
from api.billing.schemas import AutoRefillView, CheckoutPreview, CheckoutView, OpenCheckout, SetAutoRefill
from api.kernel.routing import Invoke, Router
from api.kernel.schemas import Listing, PageAsk

router = Router(tags=["Credits"])


@router.get("/billing/balance", operation_id="billing.balance", response_model=BalanceView)
async def get_balance(invoke: Invoke) -> Response:
    """What can be spent, where it comes from and when it expires."""
    return await invoke(credits.get_balance, None)


@router.get("/billing/ledger", operation_id="billing.ledger", response_model=Listing[LedgerEntryView])
async def list_ledger(ask: Annotated[PageAsk, Query()], invoke: Invoke) -> Response:
    """Every movement of credits."""
    return await invoke(credits.list_ledger, ask)


@router.get("/billing/plans", operation_id="billing.plans", response_model=Listing[CreditPlan])
async def list_plans(invoke: Invoke) -> Response:
    """The plans and the pack."""
    return await invoke(credits.list_billing_plans, None)


@router.post(
    "/billing/checkout",
    status_code=201,
    operation_id="billing.checkout",
    response_model=CheckoutView | CheckoutPreview,
)
async def open_checkout(ask: OpenCheckout, invoke: Invoke) -> Response:
    """Open a page of the payment provider on which a person pays, or preview what would be bought."""
    return await invoke(purchases.open_checkout, ask)


@router.get("/billing/auto-refill", operation_id="billing.get_auto_refill", response_model=AutoRefillView)
async def get_auto_refill(invoke: Invoke) -> Response:
    """When a pack is bought by itself, and how that stands."""
    return await invoke(purchases.get_auto_refill, None)


@router.put("/billing/auto-refill", operation_id="billing.set_auto_refill", response_model=AutoRefillView)
async def set_auto_refill(ask: SetAutoRefill, invoke: Invoke) -> Response:
    """Buy a pack when the balance falls below a threshold, up to so much a UTC month."""
    return await invoke(purchases.set_auto_refill, ask)
