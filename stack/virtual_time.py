"""Virtual time: reads service time, and advances it on the real stack from event to event."""

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from stack.commands import facts_of
from stack.installation import Facts, Installation, StackError
from stack.supervisor import say

EVERYWHERE = {"app.workspace": "*", "app.tenant": "*"}
"""Scope of the connection: time passes for every workspace."""
ONE_AT_A_TIME = 0x71AE  # advisory lock of `advance`
MOST_WAKES = 2
PATIENCE_SECONDS = 20.0
QUIET_LIMIT_SECONDS = 900.0
FIRST_PAUSE_SECONDS = 0.005
LONGEST_PAUSE_SECONDS = 0.1
REQUEST_SECONDS = 10.0
NAMED_AT_MOST = 5

NOW = text("select service_now()")
TAKE_TURN = text("select pg_try_advisory_lock(:lock)")
MOVE = text("""
update service_clock set shift = greatest(
    shift,
    make_interval(secs => extract(epoch from cast(:moment as timestamptz) - clock_timestamp())::float8 + 0.001)
)
returning extract(epoch from shift)::double precision
""")
RING = text("notify doorbell, 'again'")
NEXT_WAKE = text("select min(wake_at) from waiting_rows where wake_at > service_now()")
# The work in progress as (who, state). The clock does not move while there is any. An open row without a wake-up time
# is neither finished nor waiting, so a worker has it. A send ends within its own time-out and cannot hang, so it counts
# as movement.
UNDER_WAY = text("""
select kind || ' ' || id as who,
       'woken ' || rings || ' times, answered ' || answered || ', wakes at ' || coalesce(wake_at::text, 'no time')
from waiting_rows where rings > answered or wake_at <= service_now()
union all
select 'run ' || id, status || ', ' || call_number || ' calls, ' || people_looked_at || ' people looked at, '
       || candidates_delivered || ' delivered'
from runs where finished_at is null and wake_at is null and rings = answered
union all
select 'mail ' || id, 'attempt ' || attempts
from mails where secret is not null and wake_at is null and rings = answered
union all
select 'contacts ' || id, status || ', call ' || call_number
from contact_lookups where finished_at is null and wake_at is null and rings = answered
union all
select 'job ' || id, status || ', call ' || call_number
from jobs where finished_at is null and wake_at is null and rings = answered
union all
select 'delivery ' || id, 'attempt ' || made + 1 || ' has its turn' from deliveries where turn = 'given'
union all
select 'account ' || id, status || ', ' || call_number || ' calls' from outreach_accounts
where wake_at is null and rings = answered and (status <> 'removed' or provider_id is not null)
union all
select 'callback ' || id, 'attempt ' || failures + 1 from network_callbacks
where processed_at is null and due_at <= service_now()
union all
select 'action ' || id, 'is being sent at ' || clock_timestamp() from actions where outcome = 'sending'
union all
select 'payment ' || id, status from payments where status = 'calling' and not unclear
union all
select 'outreach plan ' || workspace_id, status from outreach_changes where status = 'calling' and not unclear
order by who
""")
CALLS = text("""
select 'upstream call ' || slot, fence::text from upstream_slots where working and busy_until > clock_timestamp()
""")
DURATION = re.compile(
    r"(?:(?P<weeks>\d+)w)?(?:(?P<days>\d+)d)?(?:(?P<hours>\d+)h)?(?:(?P<minutes>\d+)m)?(?:(?P<seconds>\d+)s)?"
)

State = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Clockwork:
    """Moves the clock of a running installation; `database` and `sandbox` are connections to it."""

    database: AsyncConnection
    sandbox: httpx.AsyncClient

    async def now(self) -> datetime:
        """Service time."""
        moment: datetime = (await self.database.execute(NOW)).scalar_one()
        return moment

    async def pass_until(self, target: datetime) -> int:
        """Let everything due until `target` happen in order; return how often the clock was moved.

        Raises:
            StackError: some work in progress does not end; the message names it.
        """
        moves = 0
        await self._quiet()
        while await self.now() < target:
            upcoming = [target, await self._next_wake(), await self._next_in_sandbox()]
            await self._move_to(min(moment for moment in upcoming if moment is not None))
            moves += 1
            await self._quiet()
        return moves

    async def _move_to(self, moment: datetime) -> None:
        shift = (await self.database.execute(MOVE, {"moment": moment})).scalar_one()
        answer = await self.sandbox.post("/_control/clock", json={"offset_seconds": shift})
        answer.raise_for_status()
        await self._ring()

    async def _ring(self) -> None:
        await self.database.execute(RING)

    async def _next_wake(self) -> datetime | None:
        wake: datetime | None = (await self.database.execute(NEXT_WAKE)).scalar_one()
        return wake

    async def _next_in_sandbox(self) -> datetime | None:
        answer = (await self.sandbox.get("/_control/next")).raise_for_status().json()
        return None if answer["at"] is None else datetime.fromisoformat(answer["at"])

    async def _quiet(self) -> None:
        """Wait until no work is in progress; wake rows that do not move, and give up after two wakes."""
        limit = time.monotonic() + QUIET_LIMIT_SECONDS
        pause = FIRST_PAUSE_SECONDS
        seen: State = ()
        wakes, since = 1, time.monotonic()
        while under_way := await self._under_way():
            now = time.monotonic()
            if under_way != seen:
                seen, wakes, since = under_way, 1, now
            elif now - since > PATIENCE_SECONDS:
                if wakes == MOST_WAKES:
                    raise StackError(f"does not move after {MOST_WAKES} wakes: {_named(under_way)}")
                await self._ring()
                wakes, since = wakes + 1, now
            if now > limit:
                raise StackError(f"not quiet after {QUIET_LIMIT_SECONDS:.0f} seconds: {_named(under_way)}")
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)

    async def _under_way(self) -> State:
        """Return the work in progress in the database, else in the sandbox, else in the database once more.

        The sandbox may have sent its last callback right after the first query of the database.
        """
        return await self._in_database() or await self._in_sandbox() or await self._in_database()

    async def _in_database(self) -> State:
        calls = (await self.database.execute(CALLS)).all()
        if calls:
            # A call ends within its own time-out and cannot hang, so it counts as movement.
            return (("upstream calls", f"{len(calls)} at {time.monotonic()}"),)
        return tuple((str(who), str(state)) for who, state in await self.database.execute(UNDER_WAY))

    async def _in_sandbox(self) -> State:
        due = await self._next_in_sandbox()
        if due is None or due > await self.now():
            return ()
        return (("sandbox", f"is due to act since {due.isoformat()}"),)


def show_now(installation: Installation) -> None:
    """Print service time."""
    print(written(asyncio.run(_now(facts_of(installation)["database_url"]))))


def advance(installation: Installation, *, duration: str | None, until: str | None) -> None:
    """Let service time pass by a duration or until a moment, and print the new time.

    Raises:
        StackError: virtual time is off, a process is dead, the argument is invalid, or some work does not move.
    """
    facts = facts_of(installation)
    choices = installation.choices()
    if choices is None or not choices.virtual_time:
        raise StackError("virtual time is off; start the stack with --virtual-time to move its clock")
    dead = [name for name, pid in facts["processes"].items() if pid is None]
    if dead:
        raise StackError(f"time cannot pass while these are dead: {', '.join(dead)}")
    began = time.monotonic()
    moves, now = asyncio.run(_advance(facts, duration=duration, until=until))
    say(f"moved {moves} times in {time.monotonic() - began:.1f} seconds")
    print(written(now))


def wanted(now: datetime, *, duration: str | None, until: str | None) -> datetime:
    """Return the requested moment.

    Raises:
        StackError: it is invalid or in the past.
    """
    target = _until(until) if until is not None else now + _duration(duration or "")
    if target < now:
        raise StackError(f"{written(target)} is past: it is {written(now)}")
    return target


def written(moment: datetime) -> str:
    """Return the moment as RFC 3339 in UTC with milliseconds, like the API."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@contextlib.asynccontextmanager
async def _connected(database_url: str) -> AsyncIterator[AsyncConnection]:
    engine = create_async_engine(
        database_url, poolclass=NullPool, isolation_level="AUTOCOMMIT", connect_args={"server_settings": EVERYWHERE}
    )
    async with engine.connect() as database:
        yield database
    await engine.dispose()


async def _now(database_url: str) -> datetime:
    async with _connected(database_url) as database:
        moment: datetime = (await database.execute(NOW)).scalar_one()
        return moment


async def _advance(facts: Facts, *, duration: str | None, until: str | None) -> tuple[int, datetime]:
    async with (
        _connected(facts["database_url"]) as database,
        httpx.AsyncClient(base_url=facts["sandbox_url"], trust_env=False, timeout=REQUEST_SECONDS) as sandbox,
    ):
        if not (await database.execute(TAKE_TURN, {"lock": ONE_AT_A_TIME})).scalar_one():
            raise StackError("another `advance` is running")
        clockwork = Clockwork(database, sandbox)
        target = wanted(await clockwork.now(), duration=duration, until=until)
        try:
            moves = await clockwork.pass_until(target)
        except httpx.HTTPError as problem:
            raise StackError(f"the sandbox did not answer: {problem!r}") from problem
        return moves, await clockwork.now()


def _duration(text: str) -> timedelta:
    read = DURATION.fullmatch(text)
    if not text or read is None:
        raise StackError(f"cannot read the duration {text!r}; write it like 3d, 12h, 90m or 1d12h")
    return timedelta(**{unit: int(number) for unit, number in read.groupdict("0").items()})


def _until(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise StackError(f"cannot read the time {text!r}; write it like 2027-01-04T08:00:00Z") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _named(under_way: State) -> str:
    named = "; ".join(f"{who} ({state})" for who, state in under_way[:NAMED_AT_MOST])
    more = len(under_way) - NAMED_AT_MOST
    return named + (f"; and {more} more" if more > 0 else "")
