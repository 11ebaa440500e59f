"""Runs whatever happens to them: steps that crash, repeat and come late, while people opt out and callers change minds.

After every step the rows are held against what a page of bookkeeping says: who may be delivered, and what is owed.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.clock import service_time
from models.database import Database
from models.errors import Conflict
from models.ids import new_id
from models.rules.run_states import EXTENDABLE, FINAL
from models.secrets import Vault
from models.stores import people, run_steps, runs
from models.stores.run_steps import Need, PageRead
from models.stores.runs import Budget
from models.tables import Run, Suppression
from tests import machines
from tests.models.stores.conftest import SECRET, join
from tests.models.stores.run_world import World

T = TypeVar("T")
TIERS = (9, 5)
LEAD, LIVE = 1, 2
"""Credits: of a person the first time, and of a profile that is fetched from the source (specification, prices)."""
GRANTED = 90
MOVES = {
    "queued": {"running", "fetching", "waiting_for_quota", *FINAL},
    "running": {"fetching", "waiting_for_quota", *FINAL},
    "fetching": {"running", "waiting_for_quota", *FINAL},
    "waiting_for_quota": {"running", "fetching", "queued", *FINAL},
    "completed": set(),
    "completed_no_audience": set(),
    "failed": set(),
    "aborted": set(),
}
"""Which status may follow on which, without an extension: that makes an ended run `queued`."""
TOLD = {
    "completed": "run.completed",
    "completed_no_audience": "run.completed",
    "failed": "run.failed",
    "aborted": "run.cancelled",
}


class Died(Exception):
    """The process ends before its commit."""


@dataclass
class Late:
    """An answer of the source that has not been kept yet: its step died, or is slow."""

    run_id: str
    number: int
    keep: Callable[[AsyncSession], Awaitable[Any]]


@dataclass
class Asked:
    """A run as the bookkeeping has it."""

    target: int
    max_credits: int
    mark_seen: bool
    status: str = "queued"
    ends: Counter[str] = field(default_factory=Counter)
    delivered: list[str] = field(default_factory=list)
    cancelled: bool = False


class Runs(RuleBasedStateMachine):
    """Some runs of one workspace over the same people."""

    started = Bundle("started")
    late = Bundle("late")

    def __init__(self, runner: asyncio.Runner, database: Database) -> None:
        super().__init__()
        self._runner, self._database = runner, database
        member = self.do(database.run(partial(join, granted=GRANTED)))
        self.world = World(database, Vault(SECRET), member, f"m{id(self)}", tiers=TIERS, vanished=frozenset({4}))
        self.asked: dict[str, Asked] = {}
        self.seen: set[str] = set()
        self.suppressed: set[str] = set()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    @initialize(target=started, mark_seen=st.booleans())
    def begin(self, *, mark_seen: bool) -> str:
        return str(self.start(people=6, credits=1000, mark_seen=mark_seen))

    @rule(target=started, people=st.integers(1, 8), credits=st.sampled_from([4, 12, 1000]), mark_seen=st.booleans())
    def start(self, *, people: int, credits: int, mark_seen: bool) -> str:
        budget = Budget(max_credits=credits)
        run_id = self.do(self.world.start(target=people, budget=budget, mark_seen=mark_seen))
        self.asked[run_id] = Asked(people, credits, mark_seen)
        return run_id

    @rule(target=late, run_id=started, dies=st.sampled_from(["", "", "deciding", "keeping"]), twice=st.booleans())
    def step(self, *, run_id: str, dies: str, twice: bool) -> Late | None:
        """What a worker does next; it may die before either commit, or do it twice. Its answer may come again later."""
        decision = self.do(self.attempt(lambda session: run_steps.decide(session, run_id), dies=dies == "deciding"))
        if decision is None or decision.need in (Need.NOTHING, Need.TIME):
            return None
        number = decision.run.call_number
        asking = self.page if decision.need is Need.PAGE else self.chunk
        keep = self.do(asking(run_id, number))
        if keep is None:
            return None
        for _ in range(2 if twice else 1):
            self.do(self.attempt(keep, dies=dies == "keeping"))
        return Late(run_id, number, keep)

    async def attempt(self, work: Callable[[AsyncSession], Awaitable[T]], *, dies: bool) -> T | None:
        async def dying(session: AsyncSession) -> T:
            done = await work(session)
            if dies:
                raise Died
            return done

        try:
            return await self._database.run(dying)
        except Died:
            return None

    async def page(self, run_id: str, number: int) -> Callable[[AsyncSession], Awaitable[Any]] | None:
        ask = await self._database.run(lambda session: run_steps.begin_page(session, run_id, number))
        if ask is None:
            return None
        found = self.world.people(int(ask.tier.query_key.rsplit("-", 1)[1]))
        start, size = int(ask.token or 0), ask.size
        token = str(start + size) if start + size < len(found) else None
        read = PageRead(tuple(self.world.sighting(one) for one in found[start : start + size]), token, len(found))
        return lambda session: run_steps.keep_page(session, self.world.vault, run_id, number=number, ask=ask, page=read)

    async def chunk(self, run_id: str, number: int) -> Callable[[AsyncSession], Awaitable[Any]] | None:
        ask = await self._database.run(lambda session: run_steps.begin_profiles(session, run_id, number))
        if ask is None:
            return None
        fetched = await self.world.profiles(ask.live)
        return lambda session: run_steps.deliver(session, run_id, number, fetched)

    def teardown(self) -> None:
        """Left alone, every run comes to its end. Random histories alone hardly ever come to a delivery."""
        for run_id in self.asked:
            for _ in range(60):
                if self.do(self.world.run(run_id)).status in FINAL:
                    break
                self.step(run_id=run_id, dies="", twice=True)
                self.time_passes(16)
            assert self.do(self.world.run(run_id)).status in FINAL, "no run goes on for ever"
            self.nobody_is_delivered_who_may_not_be()
            self.what_is_charged_is_what_was_delivered()
            self.each_status_follows_on_one_it_may_follow_on_and_each_end_is_told_once()

    @rule(answer=late)
    def comes_late(self, answer: Late | None) -> None:
        """From a worker that was frozen: it knows nothing of what happened meanwhile."""
        if answer is not None:
            self.do(self._database.run(answer.keep))

    @rule(run_id=started, answers=st.lists(st.sampled_from(["busy", "unusable"]), min_size=1, max_size=3))
    def source_fails(self, run_id: str, answers: list[str]) -> None:
        for answer in answers:
            number = self.do(self.world.run(run_id)).call_number
            self.do(self._database.run(partial(self.failed, run_id, number, answer)))

    async def failed(self, run_id: str, number: int, answer: str, session: AsyncSession) -> None:
        if answer == "busy":
            await run_steps.put_off(session, run_id, number, after=None)
        else:
            await run_steps.unusable(session, run_id, number, final=False)

    @rule(minutes=st.sampled_from([1, 16, 200]))
    def time_passes(self, minutes: int) -> None:
        self.do(self.world.advance(timedelta(minutes=minutes)))

    @rule(run_id=started)
    def cancel(self, run_id: str) -> None:
        """Is refused once the run has ended by itself, and may be repeated."""
        asked = self.asked[run_id]
        try:
            self.do(self._database.run(lambda session: runs.cancel(session, self.world.member.tenant, run_id)))
        except Conflict:
            assert asked.status in FINAL - {"aborted"}
        else:
            assert asked.status not in FINAL - {"aborted"}
            asked.cancelled = asked.status != "aborted"

    @rule(run_id=started, people=st.integers(1, 4))
    def extend(self, run_id: str, people: int) -> None:
        """Is refused unless the run has ended and not failed."""
        asked = self.asked[run_id]

        async def work(session: AsyncSession) -> Run:
            member = self.world.member
            return await runs.extend(
                session,
                member.tenant,
                run_id,
                api_key_id=member.api_key_id,
                add_target=people,
                add_budget=Budget(max_credits=6),
            )

        try:
            self.do(self._database.run(work))
        except Conflict:
            assert asked.status not in EXTENDABLE
        else:
            assert asked.status in EXTENDABLE
            asked.target, asked.max_credits = asked.target + people, asked.max_credits + 6
            asked.status, asked.cancelled = "queued", False

    @rule(tier=st.sampled_from([0, 1]), number=st.integers(0, 8))
    def opts_out(self, tier: int, number: int) -> None:
        """Somebody, whether they were delivered or not."""
        name = self.world.people(tier)[number % TIERS[tier]]
        if name in self.suppressed:
            return

        async def work(session: AsyncSession) -> None:
            now = await service_time(session)
            key_hash = people.url_hash(self.world.vault, f"https://www.linkedin.com/in/{name}")
            workspace_id = self.world.member.tenant.workspace_id
            session.add(
                Suppression(
                    id=new_id("sup", now),
                    workspace_id=workspace_id,
                    key_hash=key_hash,
                    reason="manual",
                    created_at=now,
                )
            )

        self.do(self._database.run(work))
        self.suppressed.add(name)

    @invariant()
    def nobody_is_delivered_who_may_not_be(self) -> None:
        for run_id, asked in self.asked.items():
            delivered = [f"{self.world.name}-{one}" for one in self.do(self.world.candidates(run_id))]
            new = delivered[len(asked.delivered) :]
            assert delivered[: len(asked.delivered)] == asked.delivered, "what was delivered stays, in its order"
            assert len(set(delivered)) == len(delivered) <= asked.target
            assert not set(new) & self.suppressed, "who opted out is not delivered"
            assert not set(new) & self.seen, "who was seen is not delivered"
            if asked.mark_seen:
                self.seen |= set(new)
            asked.delivered = delivered

    @invariant()
    def what_is_charged_is_what_was_delivered(self) -> None:
        everybody = {one for asked in self.asked.values() for one in asked.delivered}
        charged = dict(self.do(self.world.ledger()))
        assert charged.get("lead", 0) == LEAD * len(everybody)
        assert charged.get("live_profile", 0) <= LIVE * len(everybody), "fetched once, read from the cache afterwards"
        found = [self.do(self.world.run(run_id)) for run_id in self.asked]
        assert sum(run.spent_credits for run in found) == sum(charged.values()) <= GRANTED
        assert all(run.spent_credits + run.reserved_credits <= self.asked[run.id].max_credits for run in found)
        assert all((run.reserved_credits, run.chunk) == (0, None) for run in found if run.status in FINAL)

    @invariant()
    def each_status_follows_on_one_it_may_follow_on_and_each_end_is_told_once(self) -> None:
        told = self.do(self.told())
        for run_id, asked in self.asked.items():
            run = self.do(self.world.run(run_id))
            assert run.status == asked.status or run.status in MOVES[asked.status], (asked.status, run.status)
            if run.status != asked.status and run.status in FINAL:
                asked.ends[TOLD[run.status]] += 1
                assert run.status != "completed" or not asked.cancelled or run.stop_reason is None
            asked.status = run.status
            assert told[run_id] == asked.ends
            assert (run.finished_at is not None) == (run.status in FINAL)

    async def told(self) -> dict[str, Counter[str]]:
        """Events of the ends of each run."""
        statement = "select type, data->>'run_id' as run_id from events where workspace_id = :w and type like 'run.%'"
        found: dict[str, Counter[str]] = {run_id: Counter() for run_id in self.asked}
        async with self._database.transaction() as session:
            for kind, run_id in await session.execute(text(statement), {"w": self.world.member.tenant.workspace_id}):
                found[run_id][kind] += 1
        return found


def test_runs_keep_their_promises_whatever_happens_to_them(database_url: str) -> None:
    machines.run(Runs, database_url)
