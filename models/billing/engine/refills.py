"""Auto-refill: its settings, how it stands, and the purchase that follows when the balance is low."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.access.tables import Workspace
from models.base import outbox
from models.base.clock import service_time
from models.base.subjects import Subject
from models.billing.rules import payments as rules_payments
from models.billing.rules.payments import PaymentKind, RefillDecision, Refilling
from models.billing.rules.prices import PACK
from models.billing.store import credits, payments
from models.billing.tables import AutoRefill

KIND = "refill"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What an owner sets."""

    enabled: bool
    threshold_credits: int
    monthly_cap_cents: int


NOTHING = Wishes(enabled=False, threshold_credits=0, monthly_cap_cents=0)


def refill_subject(workspace_id: str) -> Subject:
    """Whose doorbell is rung for a workspace's auto-refill."""
    return Subject(KIND, workspace_id)


async def wishes(session: AsyncSession, workspace_id: str) -> Wishes:
    """What is set; nothing where nobody has set anything."""
    row = await _find(session, workspace_id)
    return Wishes(row.enabled, row.threshold_credits, row.monthly_cap_cents) if row else NOTHING


async def save(session: AsyncSession, workspace_id: str, wished: Wishes, *, now: datetime) -> None:
    """Set it. Declines are forgotten: the owner has looked at it. The caller rings."""
    said = {
        "enabled": wished.enabled,
        "threshold_credits": wished.threshold_credits,
        "monthly_cap_cents": wished.monthly_cap_cents,
        "failures": 0,
        "retry_at": None,
        "updated_at": now,
    }
    made = {"id": workspace_id, "workspace_id": workspace_id, "rings": 0, "answered": 0}
    await session.execute(
        insert(AutoRefill).values(**made, **said).on_conflict_do_update(index_elements=["id"], set_=said)
    )


async def refill_standing(session: AsyncSession, workspace_id: str, *, now: datetime, configured: bool) -> Refilling:
    """Everything that decides about a workspace's refilling; `configured`: payments can be made at all."""
    row = await _find(session, workspace_id)
    workspace = (await session.scalars(select(Workspace).where(col(Workspace.id) == workspace_id))).one()
    method = await payments.payment_method(session, workspace_id) if configured else None
    return Refilling(
        enabled=row is not None and row.enabled,
        can_be_charged=method is not None and workspace.suspended_at is None,
        balance_credits=await credits.balance(session, workspace_id),
        threshold_credits=row.threshold_credits if row else 0,
        monthly_cap_cents=row.monthly_cap_cents if row else 0,
        spent_cents=await payments.spent_on_refills(session, workspace_id, now),
        in_flight=await payments.refill_in_flight(session, workspace_id),
        failures=row.failures if row else 0,
        retry_at=row.retry_at if row else None,
        now=now,
    )


async def decide_auto_refill(
    session: AsyncSession, workspace_id: str, *, configured: bool
) -> tuple[RefillDecision, datetime]:
    """Say whether to buy now; when so, the purchase is added and rung. Answers the rings up to now."""
    query = select(AutoRefill).where(col(AutoRefill.id) == workspace_id).with_for_update()
    row = (await session.scalars(query)).one()
    now = await service_time(session)
    verdict = rules_payments.decide_refill(await refill_standing(session, workspace_id, now=now, configured=configured))
    row.answered, row.wake_at = row.rings, verdict.until
    if verdict.buy:
        payment = payments.add_payment(session, workspace_id, PaymentKind.REFILL, PACK, now=now)
        await session.flush()
        await outbox.wake(session, payments.payment_subject(payment.id))
    return verdict, now


async def wake_refill(session: AsyncSession, workspace_id: str) -> None:
    """Have a workspace's refilling looked at, if it has one."""
    await outbox.wake(session, refill_subject(workspace_id))


async def forget_declines(session: AsyncSession, workspace_id: str) -> None:
    """Begin anew: with another payment method, or after a success."""
    await session.execute(
        text("update auto_refills set failures = 0, retry_at = null where id = :id"), {"id": workspace_id}
    )


async def note_decline(session: AsyncSession, workspace_id: str, now: datetime) -> None:
    """A refill was declined: wait longer each time."""
    query = select(AutoRefill).where(col(AutoRefill.id) == workspace_id).with_for_update()
    row = (await session.scalars(query.execution_options(populate_existing=True))).one_or_none()
    if row is None:
        return
    row.failures += 1
    after = rules_payments.refill_retry_after(row.failures)
    row.retry_at = now + after if after else None
    await session.flush()


async def _find(session: AsyncSession, workspace_id: str) -> AutoRefill | None:
    query = select(AutoRefill).where(col(AutoRefill.id) == workspace_id).execution_options(populate_existing=True)
    return (await session.scalars(query)).one_or_none()
