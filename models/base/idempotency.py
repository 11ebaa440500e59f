"""Idempotency records: claimed in one statement, completed in the operation's own transaction (contract, section 1).

A claim is committed at once, so that equal calls find it. It carries a lock that fences its holder: completing a
record that another call has taken over in the meantime changes no row, and the transaction rolls back.
"""

import json
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from models.base.tenants import Tenant

LEASE_SECONDS = 60
REPLAY_HOURS = 24


class KeyStanding(StrEnum):
    """What a claim found."""

    CLAIMED = "claimed"
    FINISHED = "finished"
    RUNNING = "running"
    REUSED = "reused"


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a key by a tenant; the fingerprint is of method, path, query and body."""

    tenant: Tenant
    key: str
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class KeyClaim:
    """How the key stands.

    `lock` comes with CLAIMED; `status`, `headers` and the sealed `body` with FINISHED, `body` null when it
    names a person who may no longer be shown; `retry_after`, in seconds, with RUNNING.
    """

    standing: KeyStanding
    lock: str = ""
    status: int = 0
    headers: dict[str, str] | None = None
    body: bytes | None = None
    retry_after: int = 1


CLAIM = text(
    """
    with taken as (
      insert into idempotency_records as r
             (tenant_id, key, workspace_id, fingerprint, lock, locked_until, expires_at)
      values (:tenant, :key, :workspace, :fingerprint, :lock, clock_timestamp() + make_interval(secs => :lease),
              service_now() + make_interval(hours => :hours))
      on conflict (tenant_id, key) do update
         set fingerprint = excluded.fingerprint, lock = excluded.lock, locked_until = excluded.locked_until,
             expires_at = excluded.expires_at, status = null, headers = null, body = null, subject_id = null
       where (r.status is null and r.locked_until < clock_timestamp() and r.fingerprint = excluded.fingerprint)
          or r.expires_at <= service_now()
      returning tenant_id, key, lock
    ), named_before as (
      delete from idempotency_marks m using taken where m.tenant_id = taken.tenant_id and m.key = taken.key
    )
    select lock from taken
    """
)

READ = text(
    """
    select fingerprint, status, headers, body,
           greatest(1, ceil(extract(epoch from locked_until - clock_timestamp())))::int as retry_after
      from idempotency_records where tenant_id = :tenant and key = :key
    """
)

COMPLETE = text(
    """
    with done as (
      update idempotency_records set status = :status, headers = cast(:headers as jsonb), body = :body
       where tenant_id = :tenant and key = :key and lock = :lock and status is null
      returning workspace_id, tenant_id, key
    ), named as (
      insert into idempotency_marks (workspace_id, tenant_id, key, mark)
      select workspace_id, tenant_id, key, unnest(cast(:marks as text[])) from done
    )
    select key from done
    """
)

RELEASE = text(
    "delete from idempotency_records where tenant_id = :tenant and key = :key and lock = :lock and status is null"
)


async def claim_key(connection: AsyncConnection, use: Use, *, lease_seconds: float = LEASE_SECONDS) -> KeyClaim:
    """Take the key for this call, or say what it was used for. `connection` commits each statement by itself."""
    lock = secrets.token_hex(16)
    named = {"tenant": use.tenant.id, "key": use.key}
    taken = await connection.execute(
        CLAIM,
        named
        | {
            "workspace": use.tenant.workspace_id,
            "fingerprint": use.fingerprint,
            "lock": lock,
            "lease": lease_seconds,
            "hours": REPLAY_HOURS,
        },
    )
    if taken.scalar_one_or_none() == lock:
        return KeyClaim(KeyStanding.CLAIMED, lock=lock)
    row = (await connection.execute(READ, named)).one_or_none()
    if row is None:  # released between the two statements: its caller may have failed, this one asks again
        return KeyClaim(KeyStanding.RUNNING)
    if row.fingerprint != use.fingerprint:
        return KeyClaim(KeyStanding.REUSED)
    if row.status is None:
        return KeyClaim(KeyStanding.RUNNING, retry_after=row.retry_after)
    return KeyClaim(KeyStanding.FINISHED, status=row.status, headers=row.headers, body=row.body)


async def complete_record(
    session: AsyncSession,
    use: Use,
    *,
    lock: str,
    status: int,
    headers: dict[str, str],
    body: bytes,
    marks: Collection[str],
) -> bool:
    """Store the sealed answer as the last statement of the operation. False when the claim is no longer ours.

    `marks` are of the people whom the body names.
    """
    named = {"tenant": use.tenant.id, "key": use.key, "lock": lock}
    stored = {"status": status, "headers": json.dumps(headers), "body": body}
    done = await session.execute(COMPLETE, named | stored | {"marks": sorted(set(marks))})
    return done.scalar_one_or_none() is not None


async def release(connection: AsyncConnection, use: Use, *, lock: str) -> None:
    """Give the key back after a failure, unless the answer was stored after all."""
    await connection.execute(RELEASE, {"tenant": use.tenant.id, "key": use.key, "lock": lock})


FORGET_PEOPLE = text(
    """
    with forgotten as (
      update idempotency_records set body = null
       where (tenant_id, key) in (select tenant_id, key from idempotency_marks
                                   where mark = any(cast(:marks as text[]))
                                     and (cast(:workspace as text) is null or workspace_id = :workspace)
                                     and (cast(:customer as text) is null or tenant_id = :customer))
      returning tenant_id, key
    )
    delete from idempotency_marks m using forgotten f where m.tenant_id = f.tenant_id and m.key = f.key
    """
)


async def forget_people(session: AsyncSession, tenant: Tenant | None, marks: Collection[str]) -> None:
    """Drop stored answers that name one of these people: of a customer, of an account with all its customers, or all.

    Their keys stay used.
    """
    await session.execute(
        FORGET_PEOPLE,
        {
            "marks": list(marks),
            "workspace": tenant.workspace_id if tenant else None,
            "customer": tenant.customer_id if tenant else None,
        },
    )


LET_GO = text(
    """
    update idempotency_records set locked_until = clock_timestamp()
     where tenant_id = :tenant and key = :key and lock = :lock and status is null
    """
)


async def let_go(connection: AsyncConnection, use: Use, *, lock: str) -> None:
    """End the lease of a call that goes on: an equal request may take it up at once, another one is still refused."""
    await connection.execute(LET_GO, {"tenant": use.tenant.id, "key": use.key, "lock": lock})
