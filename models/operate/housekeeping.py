"""Recurring duties of the installation: expiring credits, deleting old rows, reading opt-outs."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import TextClause, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.access.store.oauth import wall_time
from models.base.database import service_time
from models.base.steps import Subject
from models.base.tables import Housekeeping
from models.billing.store import credits

EXPIRY, RETAIN, OPT_OUTS = "expiry", "retention", "opt_outs"
DUTIES = (EXPIRY, RETAIN, OPT_OUTS)
"""Names of the duties."""
AT_LEAST_EVERY = timedelta(days=1)
"""Longest time between two rounds of a duty, in service time; expiry is due earlier if a grant expires earlier."""

BATCH = 1000

RETENTION = (
    "delete from idempotency_records where expires_at <= :now",
    "delete from search_pages where created_at <= :now - interval '30 days'",
    "delete from upstream_calls where created_at <= :now - interval '2 days'",
    "delete from contact_lookups where created_at <= :now - interval '30 days'",
    "delete from contacts where found_at <= :now - interval '365 days'",
    "delete from jobs where created_at <= :now - interval '30 days'",
    "delete from scroll_pages where created_at <= :now - interval '30 days'",
    "delete from query_totals where created_at <= :now - interval '30 days'",
    "delete from cached_profiles where fetched_at <= :now - interval '30 days'",
    "delete from verifications where expires_at <= :now - interval '7 days'",
    "delete from mails where created_at <= :now - interval '7 days' and secret is null",
    "delete from payment_callbacks where received_at <= :now - interval '60 days'"
    " and processed_at <= :now - interval '60 days'",
    "delete from signup_counts where day < (:now at time zone 'UTC')::date - 1",
    "delete from cap_notices where created_at <= :now - interval '30 days'",
    "delete from oauth_sign_ins where expires_at <= :wall - interval '1 day'",
    "delete from oauth_tokens where expires_at <= :wall",
    "delete from oauth_tokens where used_at <= :wall - interval '30 days'",
    "delete from oauth_tokens t using api_keys k"
    " where k.id = t.grant_id and k.kind = 'oauth' and k.revoked_at is not null",
    "delete from oauth_tokens t using api_keys k where k.id = t.grant_id and k.kind = 'oauth' and k.expires_at <= :now",
    "delete from oauth_clients c where c.used_at is null"
    " and not exists (select 1 from oauth_sign_ins s where s.client_id = c.id)"
    " and coalesce(c.fetched_at, c.created_at) <= :wall - interval '7 days'",
    "delete from rate_windows where started_at <= :wall - interval '10 minutes'",
)

RETENTION_IN_BATCHES = (
    "delete from deliveries where id in (select id from deliveries"
    " where created_at <= :now - interval '30 days' limit :batch)",
    "delete from events where id in (select id from events where created_at <= :now - interval '30 days' limit :batch)",
    "delete from network_callbacks where id in (select id from network_callbacks"
    " where received_at <= :now - interval '30 days' limit :batch)",
)
"""Deletions in batches: deleting a whole day's events would exceed the statement time-out.

`now` is service time and `wall` wall time, passed as values: a volatile function in the condition rules out an index.
"""


async def ensure_duties(session: AsyncSession) -> list[Subject]:
    """Create the missing rows of duties when a worker starts; return all duties."""
    await session.execute(insert(Housekeeping).on_conflict_do_nothing(), [{"id": name, "rings": 1} for name in DUTIES])
    return [Subject("housekeeping", name) for name in DUTIES]


async def next_due(session: AsyncSession, name: str) -> tuple[datetime, datetime | None]:
    """Return the service time and when the duty is due, null for now. Answers the wakes so far."""
    row = await _locked(session, name)
    now = await service_time(session)
    row.answered = row.rings
    return now, row.wake_at if row.wake_at is not None and row.wake_at > now else None


async def _locked(session: AsyncSession, name: str) -> Housekeeping:
    return (await session.scalars(select(Housekeeping).where(col(Housekeeping.id) == name).with_for_update())).one()


async def do(session: AsyncSession, name: str) -> None:
    """Do the duty once and set when it is due again."""
    if name == EXPIRY:
        while await credits.expire_grants(session, limit=BATCH) == BATCH:
            pass
        while await credits.emit_expiring(session, limit=BATCH) == BATCH:
            pass
    else:
        times = {"now": await service_time(session), "wall": await wall_time(session)}
        for statement in RETENTION:
            await session.execute(_at(statement, times))
        for statement in RETENTION_IN_BATCHES:
            await _delete_all(session, statement, times)
    row = await _locked(session, name)
    row.wake_at = await service_time(session) + AT_LEAST_EVERY
    if name == EXPIRY:
        row.wake_at = min(row.wake_at, await credits.next_expiry(session) or row.wake_at)


async def rest(session: AsyncSession, name: str, *, after: timedelta = AT_LEAST_EVERY) -> None:
    """Set when a duty that was done elsewhere is due again."""
    row = await _locked(session, name)
    row.wake_at = await service_time(session) + after


def _at(statement: str, times: Mapping[str, datetime]) -> TextClause:
    for name in (said := [name for name in times if f":{name}" in statement]):
        statement = statement.replace(f":{name}", f"cast(:{name} as timestamptz)")
    return text(statement).bindparams(**{name: times[name] for name in said})


async def _delete_all(session: AsyncSession, statement: str, times: Mapping[str, datetime]) -> None:
    counted = _at(f"with gone as ({statement} returning 1) select count(*) from gone", times)  # noqa: S608 - constants
    while await session.scalar(counted, {"batch": BATCH}) == BATCH:
        pass
