"""A run that exhausts its ladder below the target counts people without each demand, and says what would help."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial

import pytest

from models.base.database import Database
from models.base.secrets import Vault
from models.base.steps import Do
from models.sourcing.engine import decide
from models.sourcing.store import RunBudget
from models.sourcing.tables import Run
from tests.models.conftest import Member
from tests.models.sourcing.run_world import World

Failing = Callable[..., Awaitable[None]]


@pytest.fixture
def world(database: Database, vault: Vault, member: Member) -> World:
    return World(database, vault, member, "k", tiers=(4, 2), wider=(90, 5, 40))


def told(run: Run) -> list[tuple[str, int | None]]:
    return [(one["field"], one["people"]) for one in run.suggestions or ()]


async def test_the_demands_that_keep_most_people_out_are_counted_by_one_small_page_each(world: World) -> None:
    run = await world.drive(await world.start())
    assert (run.status, run.finish_detail, run.candidates_delivered) == ("completed", "ladder_exhausted", 6)
    assert told(run) == [("must.0", 90), ("must.2", 40)], "five people are fewer than the ladder holds"
    assert run.spent_pages == 2 + 3
    assert await world.ledger() == [("lead", 6), ("live_profile", 12)]


async def test_what_was_counted_before_is_not_counted_again(world: World) -> None:
    await world.drive(await world.start())
    again = await world.drive(await world.start())
    assert again.status == "completed_no_audience"
    assert told(again) == [("must.0", 90), ("must.2", 40)]
    assert again.spent_pages == 0


async def test_nothing_is_counted_beyond_the_bound_on_pages(world: World) -> None:
    run = await world.drive(await world.start(budget=RunBudget(max_pages=3)))
    assert run.spent_pages == 3
    assert told(run) == [("must.0", 90)]


async def counting(world: World) -> tuple[str, int]:
    """A run that waits for the first of its counts, and the number of that call."""
    run_id = await world.start(mark_seen=False)
    for _ in range(20):
        decision = await world.database.run(partial(decide.decide_run, run_id=run_id))
        if (await world.run(run_id)).tier == len(world.tiers):
            return run_id, decision.number
        await world.act(run_id, decision, None)
    raise AssertionError("the run never counts")


@pytest.mark.parametrize(
    "failing",
    [partial(decide.put_off_run, after=timedelta(hours=1)), partial(decide.unusable, final=True)],
    ids=["busy", "unusable"],
)
async def test_a_source_that_fails_while_counting_ends_the_run_at_once(world: World, failing: Failing) -> None:
    run_id, number = await counting(world)
    await world.database.run(partial(failing, run_id=run_id, number=number))
    after = await world.database.run(partial(decide.decide_run, run_id=run_id))
    assert after.do is Do.DONE
    assert (await world.run(run_id)).status == "completed"


async def test_a_run_that_reached_its_target_counts_nothing(database: Database, vault: Vault, member: Member) -> None:
    plenty = World(database, vault, member, "p", tiers=(70,), wider=(90,))
    run = await plenty.drive(await plenty.start())
    assert run.finish_detail == "target_reached"
    assert (run.suggestions, run.spent_pages) == (None, 1)
