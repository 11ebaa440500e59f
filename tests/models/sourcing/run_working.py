"""Workers of a workspace's runs, driven step by step by a test and checked against `run_reference`."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database, service_time
from models.base.errors import Conflict
from models.base.secrets import Vault
from models.base.steps import Decision, Do, Queue
from models.billing.rules.prices import CreditCharge
from models.billing.store import credits
from models.people.rules.registers import SuppressionReason
from models.people.store import people, seen, suppressions
from models.people.store.seen import ImportedEntry
from models.sourcing import store as sourcing_store
from models.sourcing.engine import decide as engine_decide
from models.sourcing.engine import deliver
from models.sourcing.engine.deliver import PageRead, PageToRead
from tests.machines import Machine
from tests.models.conftest import SECRET, join
from tests.models.sourcing.run_reference import LIFE, PAGE, RunReference
from tests.models.sourcing.run_rows import Rows, read, take_moments, written
from tests.models.sourcing.run_world import SOURCE, World

T = TypeVar("T")
Work = Callable[[AsyncSession], Awaitable[Any]]
TIERS = (9, 5)
VANISHED = frozenset({4})
GRANTED = 90
PAUSE = 0.03
"""Seconds for which a transaction pauses before its commit while another begins."""
NUMBERS = itertools.count()


def need_of(decision: Decision) -> str:
    """Return the run's next step in the terms of the model."""
    match decision.need:
        case engine_decide.RUN_READ_PAGE:
            return "page"
        case engine_decide.RUN_FETCH_PROFILES:
            return "profiles" if decision.call is not None and decision.call.queue is Queue.UPSTREAM else "delivery"
    return "time" if decision.do is Do.WAIT else "nothing"


@dataclass(frozen=True)
class Called:
    """A call that a worker has begun. `number` is null for a page that is read ahead; `live` are names by id."""

    run_id: str
    number: int | None
    page: tuple[int, int] | None
    ask: Any
    live: dict[str, str]


@dataclass(frozen=True)
class Event:
    """An event in one transaction: the service's part, and the model's part."""

    work: Work
    apply_to: Callable[[RunReference], object]
    dies: bool = False


class Working(Machine):
    """One workspace, its workers, and events in between; the rules choose the order."""

    def __init__(self, runner: asyncio.Runner, database: Database) -> None:
        super().__init__(runner, database)
        self.vault = Vault(SECRET)
        self.settle_again()

    def settle_again(self) -> None:
        """Move to a new workspace with people whom no run has seen."""
        member = self.do(self._database.run(partial(join, granted=GRANTED)))
        self.world = World(self._database, self.vault, member, f"m{next(NUMBERS)}", tiers=TIERS, vanished=VANISHED)
        ladder = [self.world.people(tier) for tier in range(len(TIERS))]
        gone = [name for name in itertools.chain(*ladder) if int(name.rsplit("-", 1)[1]) in VANISHED]
        self.model = RunReference(ladder, gone, GRANTED)
        self.calls: list[Called] = []

    def happen_while_it_is_written(self, slow: Event, quick: Event) -> bool:
        """Start the quick event before the slow one has ended, and return whether it was answered first."""
        journal: list[Event] = []

        async def slowly(session: AsyncSession) -> Any:
            done = await slow.work(session)
            await asyncio.sleep(PAUSE)
            journal.append(slow)
            return done

        async def quickly() -> Any:
            await asyncio.sleep(PAUSE / 2)
            done = await self.outcome_of(quick)
            journal.append(quick)
            return done

        async def both() -> Sequence[Any]:
            return await asyncio.gather(self.outcome_of(Event(slowly, slow.apply_to)), quickly())

        self.happen(slow, quick, run=both())
        return journal[0] is quick

    def happen(self, *events: Event, run: Coroutine[Any, Any, Sequence[Any]] | None = None) -> None:
        """Run events concurrently: in some order the model must yield the same rows and answers.

        `run` runs them in another way.
        """
        before = self.now()
        answers = self.do(run or self.together(events))
        rows = self.rows()
        after = self.now()
        for order in itertools.permutations(range(len(events))):
            model = deepcopy(self.model)
            said = {place: events[place].apply_to(model) for place in order if not events[place].dies}
            agree = all(said.get(place) in (None, answer) for place, answer in enumerate(answers))
            if agree and len(events) > 1 and not self._alike(model, rows):
                continue
            if agree:
                take_moments(model, rows, before, after, LIFE)
                self.model = model
                return
        raise AssertionError(f"in no order: {answers}, {rows.shown}")

    def _alike(self, model: RunReference, rows: Rows) -> bool:
        """Return whether model and rows agree, except for times that only the rows know."""
        said, shown = written(model), deepcopy(rows.shown)
        for run_id, run in model.runs.items():
            if run.waits is not None:
                said[run_id]["retry_at"] = shown[run_id]["retry_at"]
        return said == shown

    def rows(self) -> Rows:
        async def work(session: AsyncSession) -> tuple[Rows, datetime]:
            found = await read(session, self.world.member.tenant.workspace_id, self.world.name)
            return found, await service_time(session)

        found, self._now = self.do(self._database.run(work))
        return found

    def decide(self, run_id: str, *, workers: int = 1, dies: bool = False) -> list[tuple[str, int]]:
        """Let this number of workers ask at once; return the decision, with the number of the call."""
        asked = Event(lambda session: engine_decide.decide_run(session, run_id), lambda _: None, dies)
        told = self.do(self.together([asked] * workers))
        decisions = sorted((one for one in told if one is not None), key=lambda one: one.now)
        for decision in decisions:
            assert need_of(decision) == self.model.decide(run_id, decision.now, decision.number)
        if decisions:
            run, row = self.model.runs[run_id], self.do(self.world.run(run_id))
            waits = run.retry_at if decisions[-1].do is Do.WAIT else None
            assert row.answered == row.rings, "every ring is answered"
            assert row.wake_at == (waits and min(waits, run.deadline or waits))
            assert row.deadline_at == run.deadline
        return [(need_of(one), one.number) for one in decisions]

    def ask(self, run_id: str, *, dies: str = "") -> Called | None:
        """Let a worker ask for the next step and begin it; it may die before either commit."""
        ((need, number),) = self.decide(run_id, dies=dies == "deciding") or [("nothing", 0)]
        if need in {"nothing", "time"}:
            return None
        return self.begin(run_id, number, page=need == "page", dies=dies == "beginning")

    def begin(self, run_id: str, number: int, *, page: bool, dies: bool = False) -> Called | None:
        model = deepcopy(self.model)
        expected = model.begin(run_id, number, page=page)
        start = deliver.begin_page if page else deliver.begin_profiles
        ask: Any = self.do(self.outcome_of(Event(lambda session: start(session, run_id, number), lambda _: None, dies)))
        if dies:
            return None
        assert (ask is None) == (expected is None), "a call that is out of date is not made"
        self.model = model
        if ask is None:
            return None
        live = {} if page else self.do(self._names(ask.live))
        assert page or set(live.values()) == expected, "whoever is cached or suppressed is not fetched"
        return self._called(run_id, number, ask, live)

    def _called(self, run_id: str, number: int | None, ask: Any, live: dict[str, str]) -> Called:
        page = (int(ask.tier.query_key.rsplit("-", 1)[1]), ask.number) if isinstance(ask, PageToRead) else None
        made = Called(run_id, number, page, ask, live)
        self.calls.append(made)
        return made

    async def _names(self, ids: Sequence[str]) -> dict[str, str]:
        async with self._database.transaction() as session:
            named = await people.source_ids(session, SOURCE, ids)
        return {one: names[0] for one, names in named.items()}

    def answer(self, call: Called, how: str, *, dies: bool = False) -> Event:
        """Return the event of a worker that records the result of a call."""
        run_id, number, page = call.run_id, call.number, call.page
        if how not in {"profiles", "again"} and number is not None:
            return Event(partial(self._failed, call, how), lambda model: model.fail(run_id, number, how), dies)
        if page is not None:
            return Event(partial(self._page, call), lambda model: model.keep_page(run_id, number, *page), dies)
        in_order = sorted(call.live.items(), key=lambda item: item[1])
        again = dict(in_order[::2] if how == "again" else ())
        live = [name for one, name in call.live.items() if one not in again and name not in self.model.vanished]
        refused = list(again.values())
        return Event(
            partial(self._profiles, call, again),
            lambda model: model.deliver(run_id, number or 0, live, refused),
            dies,
        )

    async def _page(self, call: Called, session: AsyncSession) -> None:
        tier, number = call.page or (0, 0)
        assert int(call.ask.token or 0) == number * PAGE
        names = self.model.ladder[tier]
        found = [self.world.sighting(name) for name in names[number * PAGE : (number + 1) * PAGE]]
        token = str((number + 1) * PAGE) if (number + 1) * PAGE < len(names) else None
        page = PageRead(tuple(found), token, len(names))
        await deliver.keep_page(session, self.vault, call.run_id, number=call.number, ask=call.ask, page=page)

    async def _profiles(self, call: Called, again: dict[str, str], session: AsyncSession) -> None:
        fetched = {
            one: self.world.profile(name, one)
            for one, name in call.live.items()
            if one not in again and name not in self.model.vanished
        }
        await deliver.deliver_chunk(session, call.run_id, call.number or 0, fetched, again=list(again))

    async def _failed(self, call: Called, how: str, session: AsyncSession) -> None:
        number = call.number or 0
        if how == "busy":
            await engine_decide.put_off_run(session, call.run_id, number, after=None)
        else:
            await engine_decide.unusable(session, call.run_id, number, final=how == "refused")

    def lead_to_profiles(self, run_id: str) -> Called | None:
        """Drive the run until the profiles of a chunk are being fetched, if it gets there."""
        for _ in range(12):
            call = self.ask(run_id)
            if call is None or call.page is None:
                return call
            self.happen(self.answer(call, "profiles"))
        raise AssertionError("pages without end")

    def one(self, number: int) -> str:
        return list(self.model.runs)[number % len(self.model.runs)]

    def call(self, number: int) -> Called:
        """Return one of the open calls, newest first."""
        return self.calls[-1 - number % len(self.calls)]

    def person_set_aside(self, number: int) -> str:
        """Return a person whom a run has set aside, if there is one."""
        aside = sorted({name for run in self.model.runs.values() for name in run.chunk})
        names = aside or list(itertools.chain(*self.model.ladder))
        return names[number % len(names)]

    def opts_out(self, name: str) -> Event:
        member, url = self.world.member, f"https://www.linkedin.com/in/{name}"

        async def work(session: AsyncSession) -> None:
            ids = await people.people_by_url(session, self.vault, [url], workspace_id=member.tenant.workspace_id)
            await suppressions.suppress(session, member.tenant, ids[url], reason=SuppressionReason.MANUAL)

        return Event(work, lambda model: model.suppressed.add(name))

    def is_noted(self, name: str, said: ImportedEntry) -> Event:
        """Let the tenant mark a person as seen."""
        member, url = self.world.member, f"https://www.linkedin.com/in/{name}"

        async def work(session: AsyncSession) -> None:
            ids = await people.people_by_url(session, self.vault, [url], workspace_id=member.tenant.workspace_id)
            await seen.import_entries(session, member.tenant, {ids[url]: said})

        return Event(work, lambda model: model.seen.add(name))

    def spends(self, left: int) -> Event:
        reference = f"other:{next(NUMBERS)}"

        async def work(session: AsyncSession) -> None:
            purse = await credits.open_spending_limit(session, self.world.member.payer)
            await purse.spend([CreditCharge(reference, "contact", "elsewhere", max(0, purse.available - left))])

        def apply_to(model: RunReference) -> None:
            model.balance = min(model.balance, left)

        return Event(work, apply_to)

    def cancels(self, run_id: str) -> Event:
        async def work(session: AsyncSession) -> bool:
            await sourcing_store.request_cancellation(session, self.world.member.tenant, run_id)
            return True

        return Event(work, lambda model: model.cancel(run_id) or Conflict.code)
