"""A small invented market for run steps: pages of people, their profiles, and a driver that can crash and repeat."""

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database, service_time
from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.steps import Decision, Do
from models.people.rules.profiles import Profile, ProfileLocation
from models.people.store import people
from models.people.store.people import Sighting
from models.sourcing import store as sourcing_store
from models.sourcing.engine import decide, deliver
from models.sourcing.engine.decide import RUN_READ_PAGE
from models.sourcing.engine.deliver import PageRead, PageToRead
from models.sourcing.store import RunBudget
from models.sourcing.tables import Run, SearchPlan
from tests.models.conftest import Member

SOURCE = "people_data_labs"
T = TypeVar("T")
CRASHES = 0.25


class Crash(Exception):
    """The process dies before its commit."""


@dataclass
class World:
    """People of each tier by source id; `vanished` ones no longer have a profile. Ids begin with `name`.

    `wider` are the people of the ladder without each of its demands.
    """

    database: Database
    vault: Vault
    member: Member
    name: str
    tiers: Sequence[int] = (70, 40)
    vanished: frozenset[int] = frozenset()
    wider: Sequence[int] = ()
    calls: list[str] = field(default_factory=list)

    def people(self, tier: int) -> list[str]:
        return [f"{self.name}-{tier}-{n:03}" for n in range([*self.tiers, *self.wider][tier])]

    def sighting(self, source_id: str) -> Sighting:
        return Sighting(SOURCE, source_id, f"linkedin.com/in/{source_id}")

    def profile(self, source_id: str, profile_id: str) -> Profile:
        return Profile(
            id=profile_id,
            source=SOURCE,
            full_name=f"Person {source_id}",
            profile_url=f"https://www.linkedin.com/in/{source_id}",
            location=ProfileLocation(lat=51.05, lon=3.72),
            experience_years=7,
        )

    async def start(self, *, target: int = 30, budget: RunBudget | None = None, mark_seen: bool = True) -> str:
        async def work(session: AsyncSession) -> str:
            now = await service_time(session)
            tiers = [
                {"tier": n + 1, "label": f"tier {n + 1}", "filters": {}, "query_key": f"{self.name}-{n}"}
                for n in range(len(self.tiers))
            ]
            relaxations = [
                {
                    "suggestion": {
                        "field": f"must.{n}",
                        "value": None,
                        "people": None,
                        "patch": {"must": {f"{n}": None}},
                    },
                    "filters": {},
                    "query_key": f"{self.name}-{len(self.tiers) + n}",
                }
                for n in range(len(self.wider))
            ]
            anchor = {"location_id": "loc_1", "lat": 51.05, "lon": 3.72}
            plan = SearchPlan(
                id=new_id("plan", now),
                workspace_id=self.member.tenant.workspace_id,
                tenant_id=self.member.tenant.id,
                intent_id="int_1",
                content={"tiers": tiers, "anchor": anchor, "relaxations": relaxations},
                created_at=now,
            )
            session.add(plan)
            await session.flush()
            run = await sourcing_store.add_run(
                session,
                self.member.tenant,
                api_key_id=self.member.api_key_id,
                plan_id=plan.id,
                intent_id="int_1",
                tiers=len(self.tiers),
                target=target,
                budget=budget or RunBudget(),
                default_max_credits=3 * target,
                mark_seen=mark_seen,
            )
            return run.id

        return await self.database.run(work)

    async def run(self, run_id: str) -> Run:
        async with self.database.transaction() as session:
            return await session.get_one(Run, run_id)

    async def drive(self, run_id: str, *, chaos: random.Random | None = None, steps: int = 200) -> Run:
        """Drive the run to its end. With `chaos`, transactions crash before their commit and steps run twice."""
        for _ in range(steps):
            decision = await self.attempt(lambda session: decide.decide_run(session, run_id), chaos)
            if decision is None:
                continue
            if decision.do is Do.DONE:
                return await self.run(run_id)
            if decision.do is Do.WAIT:
                await self.advance(timedelta(minutes=16))
                continue
            for _ in range(1 if chaos is None else chaos.choice([1, 1, 2])):
                await self.act(run_id, decision, chaos)
        raise AssertionError("the run did not end")

    async def advance(self, by: timedelta) -> None:
        async with self.database.transaction() as session:
            await session.execute(text("update service_clock set shift = shift + :by"), {"by": by})

    async def attempt(self, work: Callable[[AsyncSession], Awaitable[T]], chaos: random.Random | None) -> T | None:
        """Run a transaction. With `chaos`, one in four rolls back at its end, as if the process had died: null."""

        async def dying(session: AsyncSession) -> T:
            done = await work(session)
            if chaos is not None and chaos.random() < CRASHES:
                raise Crash
            return done

        try:
            return await self.database.run(dying)
        except Crash:
            return None

    async def act(self, run_id: str, decision: Decision, chaos: random.Random | None) -> None:
        number = decision.number
        if decision.need == RUN_READ_PAGE:
            await self.read_page(run_id, number, chaos)
        else:
            await self.fetch_profiles(run_id, number, chaos)

    async def read_page(self, run_id: str, number: int, chaos: random.Random | None = None) -> None:
        ask = await self.attempt(lambda session: deliver.begin_page(session, run_id, number), chaos)
        if ask is None:
            return
        await self.keep(run_id, number, ask, chaos)

    async def read_ahead(self, run_id: str) -> None:
        ask = await self.database.run(lambda session: deliver.begin_ahead(session, run_id))
        if ask is not None:
            await self.keep(run_id, None, ask, None)

    async def keep(self, run_id: str, number: int | None, ask: PageToRead, chaos: random.Random | None) -> None:
        self.calls.append("page")
        all_people = self.people(int(ask.tier.query_key.rsplit("-", 1)[1]))
        start = int(ask.token or 0)
        found = all_people[start : start + ask.size]
        token = str(start + ask.size) if start + ask.size < len(all_people) else None
        read = PageRead(tuple(self.sighting(one) for one in found), token, len(all_people))
        await self.attempt(
            lambda session: deliver.keep_page(session, self.vault, run_id, number=number, ask=ask, page=read), chaos
        )

    async def fetch_profiles(self, run_id: str, number: int, chaos: random.Random | None = None) -> None:
        ask = await self.attempt(lambda session: deliver.begin_profiles(session, run_id, number), chaos)
        if ask is None:
            return
        if ask.live:
            self.calls.append("profiles")
        fetched = await self.profiles(ask.live)
        await self.attempt(lambda session: deliver.deliver_chunk(session, run_id, number, fetched), chaos)

    async def profiles(self, profile_ids: Sequence[str]) -> dict[str, Profile]:
        async with self.database.transaction() as session:
            named = await people.source_ids(session, SOURCE, profile_ids)
        return {
            profile_id: self.profile(ids[0], profile_id)
            for profile_id, ids in named.items()
            if int(ids[0].rsplit("-", 1)[1]) not in self.vanished
        }

    async def candidates(self, run_id: str) -> list[str]:
        """Return the names of the delivered people in delivery order."""
        async with self.database.transaction() as session:
            rows = await session.scalars(
                text("select content->>'full_name' from candidates where run_id = :run order by position"),
                {"run": run_id},
            )
            return [name.removeprefix(f"Person {self.name}-") for name in rows]

    async def ledger(self) -> list[tuple[str, int]]:
        """Return the total credits charged, by reason."""
        async with self.database.transaction() as session:
            rows = await session.execute(
                text(
                    "select reason, -sum(credits)::int from ledger_entries"
                    " where workspace_id = :w and kind = 'charge' group by reason order by reason"
                ),
                {"w": self.member.tenant.workspace_id},
            )
            return [(reason, spent) for reason, spent in rows]
