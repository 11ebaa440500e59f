"""Routes of credits."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.operations import billing as operations
from api.rest.routing import Invoke, Router
from api.schemas.account import BalanceView, CreditPlan, LedgerEntryView
from api.schemas.lists import Listing, PageAsk

router = Router(tags=["Credits"])


@router.get("/billing/balance", operation_id="billing.balance", response_model=BalanceView)
async def get_balance(invoke: Invoke) -> Response:
    """What can be spent, where it comes from and when it expires."""
    return await invoke(operations.get_balance, None)


@router.get("/billing/ledger", operation_id="billing.ledger", response_model=Listing[LedgerEntryView])
async def list_ledger(ask: Annotated[PageAsk, Query()], invoke: Invoke) -> Response:
    """Every movement of credits."""
    return await invoke(operations.list_ledger, ask)


@router.get("/billing/plans", operation_id="billing.plans", response_model=Listing[CreditPlan])
async def list_plans(invoke: Invoke) -> Response:
    """The plans and the pack."""
    return await invoke(operations.list_plans, None)
