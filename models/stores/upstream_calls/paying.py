"""Paying for an upstream call's result: all of it or nothing, in the transaction that keeps the result."""

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from models.clock import service_time
from models.errors import DailyCreditCapReached, InsufficientCredits, ServiceError
from models.rules import pricing
from models.rules.grants import Charge
from models.stores import credits, leads
from models.stores.credits import Cap, Payer


def refusal(*, required: int, balance: int, caps: Iterable[Cap], now: datetime) -> ServiceError | None:
    """What stands in the way of paying so many credits: the balance, a daily cap, or nothing."""
    if balance < required:
        return InsufficientCredits(required_credits=required, balance_credits=balance)
    cap = next((cap for cap in caps if cap.remaining < required), None)
    return None if cap is None else DailyCreditCapReached(cap=cap.kind, resets_at=credits.resets_at(now))


async def pay(session: AsyncSession, payer: Payer, charges: list[Charge]) -> int:
    """Pay every charge; the credits paid. Raises `InsufficientCredits` or `DailyCreditCapReached`."""
    required = sum(charge.credits for charge in charges)
    if required == 0:
        return 0
    purse = await credits.open_purse(session, payer)
    now = await service_time(session)
    refused = refusal(required=required, balance=purse.balance, caps=purse.caps, now=now)
    if refused is not None:
        raise refused
    await purse.spend(charges)
    return required


async def lead_charges(
    session: AsyncSession, workspace_id: str, profile_ids: Iterable[str], *, subject_id: str
) -> list[Charge]:
    """Write these people into the lead register; a charge for each that is new to it."""
    new = await leads.take(session, workspace_id, profile_ids)
    return [Charge(f"lead:{one}", "lead", subject_id, pricing.LEAD) for one in sorted(new)]
