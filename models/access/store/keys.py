"""API keys, and the admission of requests. The caller of a change has locked the workspace (`lock_workspace`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.access.rules.keys import PREFIX, Caller, Power, Scope
from models.access.tables import ApiKey, DailySpend
from models.base.database import CONNECTION_LOST, Database
from models.base.ids import new_id
from models.base.paging import Page, Slice, fetch, newest_first
from models.base.tenants import all_tenants


@dataclass(frozen=True, slots=True)
class NewKey:
    """The values of a new key. `secret_hash` is the SHA-256 of its secret."""

    workspace_id: str
    name: str
    power: Power
    version: str
    secret_hash: bytes
    last4: str
    expires_at: datetime | None = None


def power_of(key: ApiKey) -> Power:
    """Return what a key may do."""
    return Power(
        scopes=frozenset(Scope(scope) for scope in key.scopes),
        daily_cap_credits=key.daily_cap_credits,
        customer_id=key.customer_id,
    )


async def add_key(session: AsyncSession, new: NewKey, *, now: datetime) -> ApiKey:
    """Add a key."""
    key = ApiKey(
        id=new_id("key", now),
        workspace_id=new.workspace_id,
        customer_id=new.power.customer_id,
        name=new.name,
        prefix=PREFIX,
        last4=new.last4,
        secret_hash=new.secret_hash,
        scopes=sorted(new.power.scopes),
        daily_cap_credits=new.power.daily_cap_credits,
        version=new.version,
        expires_at=new.expires_at,
        created_at=now,
    )
    session.add(key)
    await session.flush()
    return key


async def find_key(session: AsyncSession, workspace_id: str, key_id: str) -> ApiKey | None:
    """Return a key of the workspace, even a revoked one; null when there is none."""
    query = select(ApiKey).where(col(ApiKey.id) == key_id, col(ApiKey.workspace_id) == workspace_id)
    return (await session.scalars(query.execution_options(populate_existing=True))).one_or_none()


async def page_of_keys(session: AsyncSession, workspace_id: str, page: Page) -> Slice[ApiKey]:
    """Return the workspace's keys, revoked ones included, newest first."""
    return await fetch(
        session,
        select(ApiKey).where(col(ApiKey.workspace_id) == workspace_id),
        page,
        order=newest_first(col(ApiKey.created_at), col(ApiKey.id)),
        created_at=col(ApiKey.created_at),
    )


async def other_administrators(session: AsyncSession, workspace_id: str, key_id: str, now: datetime) -> int:
    """Return how many other keys can change the account's keys. OAuth grants cannot: their tokens are for MCP alone."""
    keys = await session.scalars(
        select(ApiKey).where(
            col(ApiKey.workspace_id) == workspace_id,
            col(ApiKey.id) != key_id,
            col(ApiKey.kind) == "key",
            col(ApiKey.revoked_at).is_(None),
            or_(col(ApiKey.expires_at).is_(None), col(ApiKey.expires_at) > now),
        )
    )
    return sum(power_of(key).administers for key in keys)


async def spent_on_day(session: AsyncSession, subject_ids: Sequence[str], day: date) -> dict[str, int]:
    """Return the credits that each of these keys or customers spent on a UTC day; those that spent none are missing."""
    rows = await session.execute(
        select(col(DailySpend.subject_id), col(DailySpend.credits)).where(
            col(DailySpend.subject_id).in_(subject_ids), col(DailySpend.day) == day
        )
    )
    return {row[0]: row[1] for row in rows}


# Admission: the caller and the rate limit in one statement (specification, "Request rate").


WINDOW_SECONDS = 60
USED_SECONDS = 60
"""`last_used_at` is exact to a minute, so that a busy key does not write its row with every call."""

# The request counts for the key when its secret works, else for the network. Rate windows follow the wall clock; a
# window that lies in the future, after the clock was set back, starts again. Keys follow the service clock. A key row
# that another transaction is changing is skipped: the next request notes its last use. An access token is a secret of
# its grant for an hour of the wall clock, at one audience alone.
ADMIT = f"""
with clock as materialized (
  select service_now() as now, clock_timestamp() as wall
), asked as materialized (
  select k.id, null as audience from clock, api_keys k
   where k.secret_hash = $1 or (k.previous_hash = $1 and k.previous_expires_at > clock.now)
  union all
  select g.id, g.resource from clock, oauth_tokens t join oauth_grants g on g.id = t.grant_id
   where t.token_hash = $1 and t.kind = 'access' and t.expires_at > clock.wall
), presented as materialized (
  select k.id, k.workspace_id, k.customer_id, k.scopes, k.daily_cap_credits, k.version, k.last_used_at,
         w.suspended_at is not null as suspended, asked.audience
    from clock, asked join api_keys k on k.id = asked.id join workspaces w on w.id = k.workspace_id
   where k.revoked_at is null and (k.expires_at is null or k.expires_at > clock.now)
), hit as (
  insert into rate_windows as r (id, started_at, hits)
  select coalesce((select id from presented), $2), wall, 1 from clock
  on conflict (id) do update set
    started_at = case when r.started_at > excluded.started_at - interval '{WINDOW_SECONDS} seconds'
                       and r.started_at <= excluded.started_at then r.started_at else excluded.started_at end,
    hits = case when r.started_at > excluded.started_at - interval '{WINDOW_SECONDS} seconds'
                 and r.started_at <= excluded.started_at then least(r.hits, 1000000) + 1 else 1 end
  returning r.started_at, r.hits
), used as (
  update api_keys set last_used_at = (select now from clock)
   where id in (
     select k.id from api_keys k join presented p on p.id = k.id
      where p.last_used_at is null or p.last_used_at < (select now from clock) - interval '{USED_SECONDS} seconds'
        for no key update of k skip locked)
)
select p.id as key_id, p.workspace_id, p.customer_id as bound_to, p.scopes, p.daily_cap_credits, p.version, p.suspended,
       p.audience, c.status as customer_status,
       hit.hits,
       greatest(1, ceil(extract(epoch from hit.started_at - clock.wall) + {WINDOW_SECONDS}))::int as resets_in,
       clock.now
  from clock cross join hit left join presented p on true
  left join customers c on c.workspace_id = p.workspace_id and c.id = coalesce($3, p.customer_id)
"""  # noqa: S608 - the two windows are constants of this module


@dataclass(frozen=True, slots=True)
class Selected:
    """The customer that the header or the key selects. `status` is null when there is no such customer."""

    id: str
    status: str | None


@dataclass(frozen=True, slots=True)
class Admission:
    """The answer to one request. `caller` is null without a working key; `now` is service time.

    `audience` is the resource of an access token, null for keys, which have no audience.
    """

    hits: int
    resets_in: int
    now: datetime
    caller: Caller | None = None
    suspended: bool = False
    customer: Selected | None = None
    audience: str | None = None


class _Row:
    """The row that `ADMIT` returns."""

    key_id: str | None
    workspace_id: str
    bound_to: str | None
    scopes: list[str]
    daily_cap_credits: int | None
    version: str
    suspended: bool
    audience: str | None
    customer_status: str | None
    hits: int
    resets_in: int
    now: datetime


async def admit_request(
    database: Database, *, secret_hash: bytes | None, network: str, customer_id: str | None
) -> Admission:
    """Count one request and return who made it.

    `network` is the rate window of requests without a working key; `customer_id` is the one in the header.
    """
    statements = database.within(all_tenants("the key of a request says whose it is")).statements
    try:
        row = await statements.one(_Row, ADMIT, secret_hash, network, customer_id)
    except CONNECTION_LOST:  # counting one request twice does less harm than refusing it
        await database.renew()
        row = await statements.one(_Row, ADMIT, secret_hash, network, customer_id)
    if row is None:
        raise AssertionError("the statement returns a row for every request")
    if row.key_id is None:
        return Admission(hits=row.hits, resets_in=row.resets_in, now=row.now)
    return Admission(
        hits=row.hits,
        resets_in=row.resets_in,
        now=row.now,
        caller=_caller(row, row.key_id),
        suspended=row.suspended,
        customer=_selected(row, customer_id),
        audience=row.audience,
    )


def _caller(row: _Row, key_id: str) -> Caller:
    scopes = frozenset(Scope(scope) for scope in row.scopes)
    power = Power(scopes=scopes, daily_cap_credits=row.daily_cap_credits, customer_id=row.bound_to)
    return Caller(workspace_id=row.workspace_id, api_key_id=key_id, power=power, version=row.version)


def _selected(row: _Row, customer_id: str | None) -> Selected | None:
    wanted = customer_id or row.bound_to
    return None if wanted is None else Selected(wanted, row.customer_status)
