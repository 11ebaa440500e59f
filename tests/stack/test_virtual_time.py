import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from stack import virtual_time
from stack.installation import StackError
from stack.virtual_time import Clockwork, wanted, written

NOW = datetime(2027, 1, 4, 8, 0, tzinfo=UTC)
WAKE_UP = """
update housekeeping set wake_at = wake_at + interval '6 hours', answered = rings
where rings > answered or wake_at <= service_now() returning id, service_now()
"""


@pytest.mark.parametrize(
    ("duration", "passed"),
    [
        ("3d", timedelta(days=3)),
        ("1d12h", timedelta(days=1, hours=12)),
        ("90m", timedelta(minutes=90)),
        ("2w1s", timedelta(days=14, seconds=1)),
    ],
)
def test_a_duration_is_added_to_service_time(duration: str, passed: timedelta) -> None:
    assert wanted(NOW, duration=duration, until=None) == NOW + passed


def test_a_moment_is_taken_as_it_is_written() -> None:
    assert wanted(NOW, duration=None, until="2027-01-05T09:00:00+01:00") == NOW + timedelta(days=1)
    assert wanted(NOW, duration=None, until="2027-01-05T08:00:00") == NOW + timedelta(days=1)


@pytest.mark.parametrize(
    ("duration", "until"), [("", None), ("3", None), ("d", None), ("-3d", None), (None, "soon"), (None, "2026-01-01")]
)
def test_what_cannot_be_read_or_is_past_is_refused(duration: str | None, until: str | None) -> None:
    with pytest.raises(StackError):
        wanted(NOW, duration=duration, until=until)


def test_times_are_written_as_the_api_writes_them() -> None:
    assert written(NOW) == "2027-01-04T08:00:00.000Z"


@dataclass(slots=True)
class Market:
    """A sandbox that acts at fixed moments of service time."""

    acts_at: list[datetime] = field(default_factory=list)
    acted: list[datetime] = field(default_factory=list)
    stuck: bool = False
    hands_over: Callable[[], Awaitable[None]] | None = None

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.get("/_control/next")
        async def upcoming() -> dict[str, str | None]:
            if self.hands_over is not None:
                await self.hands_over()
            return {"at": min(self.acts_at).isoformat() if self.acts_at else None}

        @app.post("/_control/clock")
        def clock(moved: dict[str, float]) -> None:
            now = datetime.now(UTC) + timedelta(seconds=moved["offset_seconds"])
            due = [] if self.stuck else [moment for moment in self.acts_at if moment <= now]
            self.acted += due
            self.acts_at = [moment for moment in self.acts_at if moment not in due]

        return app


@dataclass(slots=True)
class World:
    """A migrated database, a market, and a worker that answers wake-ups as the real one does."""

    database: AsyncConnection
    clockwork: Clockwork
    market: Market
    woken: list[tuple[str, datetime]] = field(default_factory=list)

    async def waits(self, name: str, wake_at: datetime | None) -> None:
        await self.database.execute(
            text(
                "insert into housekeeping (id, rings, answered, wake_at) values (:id, 0, 0, :at)"
                " on conflict (id) do update set wake_at = :at"
            ),
            {"id": name, "at": wake_at},
        )

    @contextlib.asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        rung = asyncio.Event()
        raw: Any = (await self.database.get_raw_connection()).driver_connection

        def hear(*_: object) -> None:
            rung.set()

        await raw.add_listener("doorbell", hear)
        worker = asyncio.create_task(self._work(rung))
        yield
        worker.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await worker
        await raw.remove_listener("doorbell", hear)

    async def _work(self, rung: asyncio.Event) -> None:
        while True:
            await rung.wait()
            rung.clear()
            async with self.database.engine.connect() as own:
                self.woken += [(name, at) for name, at in await own.execute(text(WAKE_UP))]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(virtual_time, "PATIENCE_SECONDS", 0.3)


@pytest.fixture
async def world(database_url: str) -> AsyncIterator[World]:
    settings = {"server_settings": virtual_time.EVERYWHERE}
    engine = create_async_engine(database_url, poolclass=NullPool, isolation_level="AUTOCOMMIT", connect_args=settings)
    market = Market()
    async with (
        engine.connect() as database,
        httpx.AsyncClient(transport=httpx.ASGITransport(market.app()), base_url="http://sandbox") as sandbox,
    ):
        await database.execute(text("delete from housekeeping"))
        yield World(database, Clockwork(database, sandbox), market)
    await engine.dispose()


async def test_every_wake_up_happens_at_its_time_and_in_order(world: World) -> None:
    start = await world.clockwork.now()
    await world.waits("first", start + timedelta(hours=1))
    await world.waits("second", start + timedelta(hours=3))
    async with world.working():
        moves = await world.clockwork.pass_until(start + timedelta(days=1))
    hours = [round((at - start) / timedelta(hours=1), 2) for _, at in world.woken]
    assert [name for name, _ in world.woken] == ["first", "second"] * 4
    assert hours == [1, 3, 7, 9, 13, 15, 19, 21]
    assert moves == 9
    assert await world.clockwork.now() >= start + timedelta(days=1)


async def test_events_of_the_sandbox_happen_at_their_time(world: World) -> None:
    start = await world.clockwork.now()
    world.market.acts_at = [start + timedelta(hours=2), start + timedelta(days=3)]
    await world.clockwork.pass_until(start + timedelta(days=1))
    assert world.market.acted == [start + timedelta(hours=2)]


async def test_time_never_passes_the_target(world: World) -> None:
    start = await world.clockwork.now()
    await world.waits("later", start + timedelta(days=2))
    await world.clockwork.pass_until(start + timedelta(days=1))
    assert start + timedelta(days=1) <= await world.clockwork.now() < start + timedelta(days=1, minutes=1)
    assert world.woken == []


@pytest.mark.usefixtures("impatient")
async def test_a_row_that_does_not_move_is_named(world: World) -> None:
    start = await world.clockwork.now()
    await world.waits("lazy", start + timedelta(hours=1))
    with pytest.raises(StackError, match=r"after 2 wakes: housekeeping lazy \(woken 0 times, answered 0"):
        await world.clockwork.pass_until(start + timedelta(days=1))
    assert await world.clockwork.now() < start + timedelta(hours=2)


@pytest.mark.usefixtures("impatient")
async def test_a_wake_up_without_an_answer_is_named(world: World) -> None:
    await world.waits("deaf", None)
    await world.database.execute(text("update housekeeping set rings = 3, answered = 1"))
    with pytest.raises(StackError, match="housekeeping deaf"):
        await world.clockwork.pass_until(await world.clockwork.now() + timedelta(hours=1))


@pytest.mark.usefixtures("impatient")
async def test_a_sandbox_that_does_not_act_is_named(world: World) -> None:
    start = await world.clockwork.now()
    world.market.acts_at, world.market.stuck = [start + timedelta(hours=1)], True
    with pytest.raises(StackError, match="sandbox"):
        await world.clockwork.pass_until(start + timedelta(days=1))


@pytest.mark.usefixtures("impatient")
async def test_time_waits_for_what_the_sandbox_sends_during_its_check(world: World) -> None:
    start = await world.clockwork.now()

    async def hand_over() -> None:
        await world.waits("callback", start)

    world.market.hands_over = hand_over
    with pytest.raises(StackError, match="housekeeping callback"):
        await world.clockwork.pass_until(start + timedelta(days=1))
    assert await world.clockwork.now() < start + timedelta(hours=1)


@pytest.mark.usefixtures("impatient")
async def test_time_stands_still_while_an_upstream_call_runs(world: World) -> None:
    start = await world.clockwork.now()
    await world.database.execute(
        text(
            "insert into upstream_slots (slot, fence, working, busy_until)"
            " values (1, 1, true, clock_timestamp() + interval '1 second')"
            " on conflict (slot) do update set working = true, busy_until = excluded.busy_until"
        )
    )
    passing = asyncio.create_task(world.clockwork.pass_until(start + timedelta(days=1)))
    await asyncio.sleep(0.7)
    async with world.database.engine.connect() as own:
        during = (await own.execute(text("select service_now()"))).scalar_one()
    assert during < start + timedelta(minutes=1)
    await passing
    assert await world.clockwork.now() >= start + timedelta(days=1)
