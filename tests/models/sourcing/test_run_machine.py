"""A state machine of runs: steps that crash, repeat, collide and come late, while people and callers interfere.

After every step the rows are compared with `run_reference`: who is delivered, and what is owed. A history
begins where everything may still happen: two runs have set the same people aside, and their profiles are being fetched.
"""

from datetime import timedelta

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import service_time
from models.base.errors import Conflict
from models.billing.store import credits as store_credits
from models.people.store.seen import ImportedEntry
from models.sourcing import store as sourcing_store
from models.sourcing.engine import decide, deliver
from models.sourcing.store import RunBudget
from tests import machines
from tests.models.sourcing.run_reference import ENDED, Ordered, RunReference
from tests.models.sourcing.run_rows import written
from tests.models.sourcing.run_working import GRANTED, NUMBERS, Called, Event, Working

NUMBER = st.integers(0, 5)
ANSWERS = ["profiles", "profiles", "profiles", "again", "busy", "unusable", "refused"]
BETWEEN = ["another run delivers them", "one opts out", "one is noted as seen", "credits go elsewhere"]
QUEUED_SECONDS = 15
SUSPEND = "update workspaces set suspended_at = case when :yes then service_now() end where id = :w"


class Runs(Working):
    """Some runs of one workspace over the same people."""

    @initialize(
        marks=st.tuples(st.booleans(), st.booleans()),
        between=st.one_of(st.permutations(BETWEEN), st.permutations(BETWEEN), st.just([])),
        left=st.integers(0, 12),
        dies=st.booleans(),
        how=st.sampled_from(["", "", "again", "busy", "unusable"]),
    )
    def two_runs_fetch_the_same_people(
        self, marks: tuple[bool, bool], between: list[str], left: int, how: str, *, dies: bool
    ) -> None:
        """Before the first worker has them, events may occur to these very people, or another run may start again."""
        for mark_seen in marks:
            self.start(people=6, budget=RunBudget(max_credits=1000), mark_seen=mark_seen)
            self.lead_to_profiles(self.one(-1))
        first, second = (call for call in self.calls if call.page is None)
        opts_out, is_seen, *_ = self.model.runs[first.run_id].chunk
        for what in between:
            if what == "another run delivers them":
                self.start(people=4, budget=RunBudget(max_credits=1000), mark_seen=False)
                self.finish(self.lead_to_profiles(self.one(-1)))
            elif what == "credits go elsewhere":
                self.happen(self.spends(left))
            else:
                self.happen(
                    self.opts_out(opts_out) if what == "one opts out" else self.is_noted(is_seen, ImportedEntry())
                )
        if between:
            self.finish(self.ask(self.one(0)) if dies else first)
        if how:
            self.happen(self.answer(second, how))

    def finish(self, call: Called | None) -> None:
        if call is not None:
            self.happen(self.answer(call, "profiles"))

    @rule(
        people=st.integers(1, 8),
        budget=st.builds(
            RunBudget,
            max_credits=st.sampled_from([4, 12, 1000]),
            max_pages=st.sampled_from([None, None, 1]),
            max_profile_fetches=st.sampled_from([None, None, 3]),
        ),
        mark_seen=st.booleans(),
    )
    def start(self, *, people: int, budget: RunBudget, mark_seen: bool) -> None:
        run_id = self.do(self.world.start(target=people, budget=budget, mark_seen=mark_seen))
        self.model.runs[run_id] = Ordered(
            people, budget.max_credits or 0, mark_seen, budget.max_pages, budget.max_profile_fetches
        )

    @rule(run=NUMBER, dies=st.sampled_from(["", "", "deciding", "beginning"]))
    def is_asked(self, run: int, dies: str) -> None:
        self.ask(self.one(run), dies=dies)

    @rule(call=NUMBER, how=st.sampled_from(ANSWERS), dies=st.sampled_from([False, False, False, True]))
    def is_answered(self, call: int, how: str, *, dies: bool) -> None:
        """Now, late, or once more: a frozen worker knows nothing of what happened meanwhile."""
        self.happen(self.answer(self.call(call), how, dies=dies))

    @rule(call=NUMBER, how=st.sampled_from(ANSWERS))
    def is_begun_again(self, call: int, how: str) -> None:
        """A step that runs twice from its beginning: the first time its worker died, or its end was not heard of."""
        made = self.call(call)
        if made.number is not None:
            again = self.begin(made.run_id, made.number, page=made.page is not None)
            self.happen(self.answer(again or made, how))

    @rule(run=NUMBER)
    def takes_a_step(self, run: int) -> None:
        self.finish(self.ask(self.one(run)))

    @rule(run=NUMBER, how=st.sampled_from(ANSWERS))
    def two_workers_take_a_step_at_once(self, run: int, how: str) -> None:
        """The first is out of date by then; the second writes twice."""
        run_id = self.one(run)
        (_, first), (need, number) = self.decide(run_id, workers=2)
        if need in {"nothing", "time"}:
            return
        assert self.begin(run_id, first, page=need == "page") is None
        call = self.begin(run_id, number, page=need == "page")
        assert call is not None
        stale = Called(run_id, first, call.page, call.ask, call.live)
        self.happen(self.answer(stale, how), self.answer(call, how), self.answer(call, how))

    @rule(calls=st.tuples(NUMBER, NUMBER), hows=st.tuples(st.sampled_from(ANSWERS), st.sampled_from(ANSWERS)))
    def two_are_answered_at_once(self, calls: tuple[int, int], hows: tuple[str, str]) -> None:
        self.happen(*(self.answer(self.call(call), how) for call, how in zip(calls, hows, strict=True)))

    @rule(run=NUMBER)
    def is_read_ahead(self, run: int) -> None:
        run_id = self.one(run)
        ask = self.do(self._database.run(lambda session: deliver.begin_ahead(session, run_id)))
        if ask is not None:
            self.happen(self.answer(self._called(run_id, None, ask, {}), "profiles"))

    @rule(run=NUMBER)
    def is_still_queued(self, run: int) -> None:
        run_id = self.one(run)
        number, look = self.model.runs[run_id].call, timedelta(seconds=QUEUED_SECONDS)

        async def work(session: AsyncSession) -> None:
            await decide.still_queued(session, run_id, number, look_again=look)

        if number:
            self.happen(Event(work, lambda model: model.still_queued(run_id, number, QUEUED_SECONDS)))

    @rule(minutes=st.sampled_from([1, 16, 200]))
    def time_passes(self, minutes: int) -> None:
        self.advance(timedelta(minutes=minutes))

    @rule(who=NUMBER)
    def a_person_opts_out(self, who: int) -> None:
        self.happen(self.opts_out(self.person_set_aside(who)))

    @rule(who=NUMBER, call=NUMBER)
    def a_person_opts_out_at_the_delivery(self, who: int, call: int) -> None:
        self.opts_out_while(self.person_set_aside(who), self.call(call))

    def opts_out_while(self, name: str, call: Called) -> None:
        """Once that has been answered, they are not delivered any more."""
        had = name in self.model.runs[call.run_id].delivered
        first = self.happen_while_it_is_written(self.answer(call, "profiles"), self.opts_out(name))
        assert had or not first or name not in self.model.runs[call.run_id].delivered

    @rule(who=NUMBER, said=st.sampled_from([ImportedEntry(), ImportedEntry(do_not_contact=True)]))
    def a_person_is_marked_as_seen(self, who: int, said: ImportedEntry) -> None:
        self.happen(self.is_noted(self.person_set_aside(who), said))

    @rule(who=NUMBER, call=NUMBER)
    def a_person_is_marked_as_seen_at_the_delivery(self, who: int, call: int) -> None:
        self.happen(
            self.is_noted(self.person_set_aside(who), ImportedEntry()), self.answer(self.call(call), "profiles")
        )

    @rule(left=st.integers(0, 9))
    def credits_go_elsewhere(self, left: int) -> None:
        self.happen(self.spends(left))

    @rule(left=st.integers(0, 9), call=NUMBER)
    def credits_go_elsewhere_at_the_delivery(self, left: int, call: int) -> None:
        self.happen(self.spends(left), self.answer(self.call(call), "profiles"))

    @rule()
    def credits_come(self) -> None:
        async def work(session: AsyncSession) -> None:
            await store_credits.grant_credits(
                session,
                workspace_id=self.world.member.tenant.workspace_id,
                source="top_up",
                reference=f"pay_{next(NUMBERS)}",
                credits=GRANTED,
                expires_at=await service_time(session) + timedelta(days=30),
            )

        def apply_to(model: RunReference) -> None:
            model.balance += GRANTED

        self.happen(Event(work, apply_to))

    @rule(run=NUMBER)
    def is_cancelled(self, run: int) -> None:
        """Is refused once the run has ended by itself, and may be repeated."""
        self.happen(self.cancels(self.one(run)))

    @rule(call=NUMBER, how=st.sampled_from(ANSWERS))
    def is_cancelled_at_the_answer(self, call: int, how: str) -> None:
        made = self.call(call)
        self.happen(self.cancels(made.run_id), self.answer(made, how))

    @rule(run=NUMBER, people=st.integers(1, 4), credits=st.sampled_from([0, 6, 20]))
    def is_extended(self, run: int, people: int, credits: int) -> None:
        """Is refused unless the run has ended and not failed."""
        run_id, member = self.one(run), self.world.member
        budget = RunBudget(max_credits=credits, max_pages=1, max_profile_fetches=1)

        async def work(session: AsyncSession) -> bool:
            await sourcing_store.raise_bounds(
                session,
                member.tenant,
                run_id,
                api_key_id=member.api_key_id,
                add_target=people,
                add_budget=budget,
            )
            return True

        self.happen(Event(work, lambda model: model.extend(run_id, people, credits, 1) or Conflict.code))

    @precondition(lambda self: len(self.model.runs) > 2)
    @rule(run=NUMBER)
    def is_asked_while_the_workspace_is_suspended(self, run: int) -> None:
        self.suspend(yes=True)
        self.ask(self.one(run))
        self.suspend(yes=False)

    def suspend(self, *, yes: bool) -> None:
        async def work(session: AsyncSession) -> None:
            asked = {"w": self.world.member.tenant.workspace_id, "yes": yes}
            await session.execute(text(SUSPEND), asked)

        self.do(self._database.run(work))
        self.model.suspended = yes

    @invariant()
    def the_rows_agree_with_the_model_and_no_run_exceeds_its_budget(self) -> None:
        found, model = self.rows(), self.model
        assert found.shown == written(model)
        assert model.balance >= 0
        for run_id, row in found.runs.items():
            assert row.spent_credits + row.reserved_credits <= model.runs[run_id].max_credits
            assert row.status not in ENDED or not row.reserved_credits

    def teardown(self) -> None:
        """Every run ends when it is left alone, and has no deliverable person when it says that none is left."""
        for run_id in self.model.runs:
            self.work_to_the_end(run_id)
            run = self.model.runs[run_id]
            if run.status == "completed_no_audience" or run.why[1] == "ladder_exhausted":
                assert not self.model.forgotten(run), "no person is skipped"
        self.the_rows_agree_with_the_model_and_no_run_exceeds_its_budget()
        self.a_poor_run_waits_for_a_busy_source_and_is_extended()

    def work_to_the_end(self, run_id: str) -> None:
        for _ in range(60):
            if self.model.runs[run_id].status in ENDED:
                return
            self.finish(self.ask(run_id))
            self.time_passes(16)
        raise AssertionError("no run goes on for ever")

    def a_poor_run_waits_for_a_busy_source_and_is_extended(self) -> None:
        self.settle_again()
        self.start(people=8, budget=RunBudget(max_credits=7), mark_seen=True)
        run_id = self.one(0)
        for how in ("busy", "again"):
            call = self.lead_to_profiles(run_id)
            assert call is not None
            self.happen(self.answer(call, how))
            assert self.ask(run_id) is None, "it waits"
            self.time_passes(16)
        for more in (6, 0):
            call = self.lead_to_profiles(run_id)
            assert call is not None
            self.opts_out_while(self.person_set_aside(0), call)
            self.work_to_the_end(run_id)
            self.is_extended(0, 4, more)
        self.the_rows_agree_with_the_model_and_no_run_exceeds_its_budget()


def test_runs_keep_their_promises_whatever_happens_to_them(database_url: str) -> None:
    machines.run(Runs, database_url, pool_size=4, examples=8, steps=8)
