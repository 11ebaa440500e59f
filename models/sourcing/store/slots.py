"""Taking, keeping and freeing the rows that bound the upstream calls of the installation.

Leases are wall time (`clock_timestamp()`), read by the database, so that workers with wrong clocks agree. Times are
in seconds.
"""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

_SECONDS = "make_interval(secs => cast(:seconds as double precision))"
_MINE = "slot = :slot and fence = :fence and holder is not null"

_ENSURE = text(
    "insert into upstream_slots (slot, fence, working)"
    " select slot, 0, false from generate_series(1, cast(:slots as integer)) as slot"
    " where slot not in (select slot from upstream_slots) on conflict do nothing"
)
"""Rows that are there are not tried: `on conflict` would wait for whoever has one locked, who may be frozen."""
_TAKE = text(
    "update upstream_slots"  # noqa: S608 - built from constants
    f" set holder = :holder, fence = fence + 1, working = false, busy_until = clock_timestamp() + {_SECONDS}"
    " where slot = (select slot from upstream_slots"
    "  where slot <= :slots and (busy_until is null or busy_until < clock_timestamp())"
    "  order by slot limit 1 for update skip locked)"
    " returning slot, fence"
)
_KEEP = text(
    "update upstream_slots as held"  # noqa: S608
    f" set busy_until = greatest(busy_until, clock_timestamp() + {_SECONDS})"
    " from unnest(cast(:slots as integer[]), cast(:fences as bigint[])) as mine (slot, fence)"
    " where held.slot = mine.slot and held.fence = mine.fence and held.holder is not null"
    " returning held.slot, held.fence"
)
_BEGIN = text(
    f"update upstream_slots set working = true, busy_until = clock_timestamp() + {_SECONDS}"  # noqa: S608
    f" where {_MINE} returning slot"
)
_END = text(
    f"update upstream_slots set working = false, busy_until = clock_timestamp() + {_SECONDS}"  # noqa: S608
    f" where {_MINE} returning slot"
)
_FREE = text(
    f"update upstream_slots set holder = null, busy_until = null, working = false where {_MINE}"  # noqa: S608
)


@dataclass(frozen=True, slots=True)
class SlotLease:
    """A row taken: it is ours as long as its fence still has this number."""

    slot: int
    fence: int


async def ensure_slots(session: AsyncSession, *, slots: int) -> None:
    """Have the rows 1 to `slots`; rows above are left and no longer taken."""
    await session.execute(_ENSURE, {"slots": slots})


async def take_slot(session: AsyncSession, *, holder: str, slots: int, seconds: float) -> SlotLease | None:
    """Take one free or abandoned row of 1 to `slots` for so long; null when all are held."""
    row = (await session.execute(_TAKE, {"holder": holder, "slots": slots, "seconds": seconds})).one_or_none()
    return SlotLease(slot=row.slot, fence=row.fence) if row else None


async def keep_slots(session: AsyncSession, holds: Collection[SlotLease], *, seconds: float) -> frozenset[SlotLease]:
    """Renew leases, never shortening one; the holds that are still ours, also after their time if nobody took them."""
    asked = {"slots": [h.slot for h in holds], "fences": [h.fence for h in holds], "seconds": seconds}
    return frozenset(SlotLease(slot=row.slot, fence=row.fence) for row in await session.execute(_KEEP, asked))


async def begin_slot_call(session: AsyncSession, hold: SlotLease, *, seconds: float) -> bool:
    """Say that a call begins which ends within so long; false when somebody else has the row by now."""
    asked = {"slot": hold.slot, "fence": hold.fence, "seconds": seconds}
    return (await session.execute(_BEGIN, asked)).one_or_none() is not None


async def end_slot_call(session: AsyncSession, hold: SlotLease, *, seconds: float) -> bool:
    """Say that the call is over and the row is kept idle for so long; false when it was lost meanwhile."""
    asked = {"slot": hold.slot, "fence": hold.fence, "seconds": seconds}
    return (await session.execute(_END, asked)).one_or_none() is not None


async def free(session: AsyncSession, hold: SlotLease) -> None:
    """Give the row back; nothing happens when it was lost meanwhile."""
    await session.execute(_FREE, {"slot": hold.slot, "fence": hold.fence})
