"""The row of a synchronous call: admitted or attached to, begun, ended once, answered once."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import func, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.database import Statements, service_time, widened
from models.base.errors import (
    DailyCreditCapReached,
    IdempotencyKeyReused,
    InsufficientCredits,
    InternalError,
    ServiceError,
    UpstreamBusy,
    restored,
    serialized,
)
from models.base.idempotency import Use
from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.tenants import Tenant, all_tenants, customer_of
from models.base.values import Kept
from models.billing.rules import prices
from models.billing.rules.prices import CreditCharge
from models.billing.store import credits
from models.billing.store.credits import DailyCap, Payer
from models.people.store import people
from models.sourcing.rules.raw_calls import (
    BUSY_RETRY_SECONDS,
    MOST_WAITING,
    MOST_WAITING_OF_WORKSPACE,
    OPEN,
    RUN_SECONDS,
    WAIT_SECONDS,
    CallKind,
    CallStatus,
)
from models.sourcing.tables import UpstreamCall

PURPOSE = "upstream_call"
PROFILE = "prof_"
GRACE_SECONDS = 10
R = TypeVar("R", bound=Kept)


@dataclass(frozen=True, slots=True)
class BegunCall:
    """A call to make now: the question, and for whom it is asked."""

    id: str
    kind: CallKind
    ask: bytes
    tenant: Tenant
    payer: Payer


async def find_open_call(session: AsyncSession, use: Use) -> str | None:
    """Return the open call of an earlier attempt with this key; null when a new one is to be made.

    A call that no caller waited for any more, or that was lost on its way, is ended here. Raises
    `IdempotencyKeyReused` when the open call was asked for by another request.
    """
    query = select(UpstreamCall, func.clock_timestamp()).where(
        col(UpstreamCall.tenant_id) == use.tenant.id,
        col(UpstreamCall.idempotency_key) == use.key,
        col(UpstreamCall.status).in_(OPEN),
    )
    found = (await session.execute(query.with_for_update(of=UpstreamCall))).one_or_none()
    if found is None:
        return None
    row, wall = found
    if row.fingerprint != use.fingerprint:
        raise IdempotencyKeyReused
    if row.status != CallStatus.DONE and row.until < wall:
        _end(row, InternalError())
        await session.flush()
        return None
    if row.status == CallStatus.WAITING:
        row.until = wall + timedelta(seconds=WAIT_SECONDS + GRACE_SECONDS)
    call_id: str = row.id
    return call_id


LOCK = text("select pg_advisory_xact_lock(hashtextextended('upstream_calls', 0))")
QUEUE = text(
    """
    select count(*) as everybody, count(*) filter (where workspace_id = :workspace) as own,
           (select count(*) from upstream_slots
             where holder is not null and not working and busy_until > (select clock_timestamp())) as idle,
           clock_timestamp() as wall
      from upstream_calls where status = 'waiting' and until > (select clock_timestamp())
    """
)


async def admit_call(
    session: AsyncSession,
    vault: Vault,
    use: Use,
    *,
    api_key_id: str,
    kind: CallKind,
    ask: Kept,
    about: Collection[str] = (),
) -> str:
    """Queue a call, with the marks of people whom `ask` names.

    Raises `UpstreamBusy` when too many wait; calls that find a slot idle do not wait.
    """
    await session.execute(LOCK)
    async with widened(session, all_tenants("how many upstream calls wait in the installation")):
        queue = (await session.execute(QUEUE, {"workspace": use.tenant.workspace_id})).one()
    if queue.everybody >= MOST_WAITING + queue.idle or queue.own >= MOST_WAITING_OF_WORKSPACE + queue.idle:
        raise UpstreamBusy(status=429, retry_after=BUSY_RETRY_SECONDS)
    now = await service_time(session)
    row = UpstreamCall(
        id=new_id("call", now),
        workspace_id=use.tenant.workspace_id,
        tenant_id=use.tenant.id,
        api_key_id=api_key_id,
        idempotency_key=use.key,
        fingerprint=use.fingerprint,
        kind=kind,
        status=CallStatus.WAITING,
        ask=vault.seal(PURPOSE, ask.model_dump_json(exclude_unset=True).encode()),
        about=sorted(set(about)),
        until=queue.wall + timedelta(seconds=WAIT_SECONDS + GRACE_SECONDS),
        created_at=now,
    )
    session.add(row)
    await session.flush()
    return row.id


async def _locked(session: AsyncSession, call_id: str) -> UpstreamCall | None:
    query = select(UpstreamCall).where(col(UpstreamCall.id) == call_id)
    return (await session.scalars(query.with_for_update())).one_or_none()


async def begin_call(session: AsyncSession, vault: Vault, call_id: str) -> BegunCall | None:
    """Note that the call leaves the queue; null when it has ended or no caller waits for it any more."""
    row = await _locked(session, call_id)
    wall = await session.scalar(select(func.clock_timestamp()))
    if row is None or wall is None or row.status not in {CallStatus.WAITING, CallStatus.RUNNING} or row.ask is None:
        return None
    if row.status == CallStatus.WAITING and row.until < wall:
        _end(row, UpstreamBusy(status=429, retry_after=BUSY_RETRY_SECONDS))
        return None
    row.status = CallStatus.RUNNING
    row.until = wall + timedelta(seconds=RUN_SECONDS)
    customer_id = customer_of(row.tenant_id)
    return BegunCall(
        id=row.id,
        kind=CallKind(row.kind),
        ask=vault.open(PURPOSE, row.ask),
        tenant=Tenant(row.workspace_id, customer_id),
        payer=Payer(row.workspace_id, row.api_key_id, customer_id),
    )


async def running(session: AsyncSession, call_id: str) -> UpstreamCall | None:
    """Return the call, locked, if it has not ended. Callers that find null must not change anything."""
    row = await _locked(session, call_id)
    return row if row is not None and row.status == CallStatus.RUNNING else None


def complete_call(vault: Vault, row: UpstreamCall, result: Kept, *, about: Iterable[str]) -> None:
    """Keep the result, which names the people `about`, until it is collected."""
    row.status = CallStatus.DONE
    row.result = vault.seal(PURPOSE, result.model_dump_json().encode())
    row.about = sorted({*row.about, *about})
    row.ask = None


async def fail(session: AsyncSession, call_id: str, error: ServiceError) -> None:
    """End the call with an error, unless it has ended. Nothing is charged."""
    row = await running(session, call_id)
    if row is not None:
        _end(row, error)


async def give_up_raw_call(session: AsyncSession, call_id: str) -> bool:
    """End a call whose caller waits no longer, unless it has started; return whether it was ended."""
    row = await _locked(session, call_id)
    if row is None or row.status != CallStatus.WAITING:
        return False
    _end(row, UpstreamBusy(status=429, retry_after=BUSY_RETRY_SECONDS))
    return True


def _end(row: UpstreamCall, error: ServiceError) -> None:
    row.status = CallStatus.FAILED
    row.failure = serialized(error)
    row.ask = None
    row.about = []


class _State:
    """What `STATE` returns."""

    status: str
    failure: dict[str, Any] | None


STATE = "select status, failure from upstream_calls where id = $1"


async def ended(statements: Statements, call_id: str) -> bool:
    """Return whether the call is done. Raises the error it failed with."""
    row = await statements.one(_State, STATE, call_id)
    if row is None or row.status == CallStatus.COLLECTED:
        raise LookupError(call_id)
    if row.failure is not None:
        raise restored(row.failure)
    return row.status == CallStatus.DONE


async def collect(session: AsyncSession, vault: Vault, call_id: str, kind: type[R]) -> R:
    """Return the result, which the row forgets with this transaction, and lock its people.

    Raises `LookupError` when it was collected before, and the error that the call ended with, an erasure's too.
    """
    about = await session.scalar(select(col(UpstreamCall.about)).where(col(UpstreamCall.id) == call_id))
    await people.lock_people(session, [mark for mark in about or () if mark.startswith(PROFILE)])
    row = await _locked(session, call_id)
    if row is not None and row.failure is not None:
        raise restored(row.failure)
    if row is None or row.status != CallStatus.DONE or row.result is None:
        raise LookupError(call_id)
    result = kind.model_validate_json(vault.open(PURPOSE, row.result))
    row.status = CallStatus.COLLECTED
    row.result = None
    row.about = []
    return result


# Paying for an upstream call's result: all of it or nothing, in the transaction that keeps the result.


def payment_refusal(*, required: int, balance: int, caps: Iterable[DailyCap], now: datetime) -> ServiceError | None:
    """Return the error that keeps so many credits from being paid: the balance, a daily cap, or null."""
    if balance < required:
        return InsufficientCredits(required_credits=required, balance_credits=balance)
    cap = next((cap for cap in caps if cap.remaining < required), None)
    return None if cap is None else DailyCreditCapReached(cap=cap.kind, resets_at=credits.caps_reset_at(now))


async def pay(session: AsyncSession, payer: Payer, charges: list[CreditCharge]) -> int:
    """Pay every charge, and return the credits paid. Raises `InsufficientCredits` or `DailyCreditCapReached`."""
    required = sum(charge.credits for charge in charges)
    if required == 0:
        return 0
    purse = await credits.open_spending_limit(session, payer)
    now = await service_time(session)
    refused = payment_refusal(required=required, balance=purse.balance, caps=purse.caps, now=now)
    if refused is not None:
        raise refused
    await purse.spend(charges)
    return required


async def lead_charges(
    session: AsyncSession, workspace_id: str, profile_ids: Iterable[str], *, subject_id: str
) -> list[CreditCharge]:
    """Write these people into the lead register, and return a charge for each new one."""
    new = await credits.take_leads(session, workspace_id, profile_ids)
    return [CreditCharge(f"lead:{one}", "lead", subject_id, prices.LEAD) for one in sorted(new)]
