"""Enrollments whatever happens to them: calls that are lost, late or refused, replies nobody told of, people who stop.

Each turn is a story around somebody's next call: something happens before the worker decides, between its decision and
its claim, during its call, or before its answer is written. `enrollment_books` is what the rows are held against.
"""

import asyncio
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from models.base.database import Database
from models.outreach.engine.record import Done
from models.outreach.rules.states import FINAL_ACTIONS, FINAL_ENROLLMENTS
from tests import machines
from tests.models.outreach.enrollment_acts import Acts
from tests.models.outreach.enrollment_books import CALL_LIVES, Person
from tests.models.outreach.enrollment_calls import UNSETTLED
from tests.models.outreach.enrollment_stories import STORIES, Story

TO_AN_END = 10
"""More calls than anybody has steps."""
ENDS = {
    "completed": "enrollment.completed",
    "replied": "enrollment.completed",
    "stopped": "enrollment.failed",
    "failed": "enrollment.failed",
}
"""What is told of each end."""
ROWS = """
    select 'event' as kind, data->>'enrollment_id' as enrollment, id, type as what, '' as state from events
     where workspace_id = :w and type in ('enrollment.completed', 'enrollment.failed')
    union all select 'enrollment', id, id, '', status from enrollments where workspace_id = :w
    union all select 'action', enrollment_id, id, type, outcome from actions where workspace_id = :w
"""
DRAWN = st.sampled_from(range(5040))
"""A place in whatever list, each as likely as the next."""


class Enrollments(RuleBasedStateMachine):
    """A few people in one sequence of one account."""

    def __init__(self, runner: asyncio.Runner, database: Database) -> None:
        super().__init__()
        self._runner, self._database = runner, database
        self.finals: dict[str, str] = {}
        """Actions that came to an end, and which."""

    @initialize(approves=st.sampled_from([False, False, True]), order=st.permutations(range(len(STORIES))))
    def begin(self, *, approves: bool, order: list[int]) -> None:
        self.acts = Acts(self._runner, self._database, approves=approves)
        self.order = order

    @rule(who=DRAWN, numbers=st.tuples(*[DRAWN] * 8), more=st.tuples(*[DRAWN] * 8))
    def go_on(self, *, who: int, numbers: tuple[int, ...], more: tuple[int, ...]) -> None:
        """The next story, and what follows on it.

        It is one rule, for rules are switched off by turns, and so short a history could then hold no call at all.
        """
        place = self.order.pop(0)
        self.order.append(place)
        story = STORIES[place]
        drawn = story.drawn(numbers)
        enrollment = self.acts.somebody(drawn["whom"], who)
        self.tell(story, drawn, enrollment)
        if story.then is not None:
            self.all_is_as_told()
            self.tell(story.then, story.then.drawn(more), enrollment)
        self.acts.looked_into()

    def tell(self, story: Story, drawn: dict[str, str], enrollment: str) -> None:
        """Something happens to somebody, then comes their next call, and while it does, more happens."""
        acts = self.acts
        acts.happens(drawn["first"], enrollment)
        number = acts.until_due(enrollment, drawn["judged"])
        if number is not None:
            acts.happens(drawn["before"], enrollment, number)
            claimed = acts.claim(enrollment, number)
            if claimed is not None:
                result = acts.execute(enrollment, claimed, drawn["answer"])
                acts.happens(drawn["during"], enrollment, number)
                if drawn["written"] == "now":
                    if isinstance(result, Done) and acts.is_under_way(claimed):
                        acts.books.answered(claimed.action_id, acts.now)
                    acts.write(enrollment, claimed, result)
                if drawn["written"] == "late":
                    acts.late.append((enrollment, claimed, result))
        acts.happens(drawn["after"] if number is not None else "late answer", enrollment)

    def teardown(self) -> None:
        """Left alone, and let go on where it is paused, everybody comes to an end."""
        if not hasattr(self, "acts"):
            return
        self.acts.do(self.acts.world.later(seconds=CALL_LIVES.total_seconds()))
        for enrollment, person in self.acts.people.items():
            for _ in range(TO_AN_END):
                if person.ended is not None:
                    break
                if person.held:
                    self.acts.is_told(enrollment, "resume")
                self.acts.call(enrollment)
                self.acts.accepts(enrollment, told=True)
                self.all_is_as_told()
            assert person.ended is not None, "nobody waits for ever"

    @invariant()
    def all_is_as_told(self) -> None:
        """What the rows say holds, and is what the network knows."""
        if not hasattr(self, "acts"):
            return
        rows = self.acts.sql(ROWS, w=self.acts.world.member.tenant.workspace_id)
        for enrollment, person in self.acts.people.items():
            mine = [row for row in rows if row.enrollment == enrollment]
            self._ends_once(person, mine)
            self._sent_is_sent(person, [row for row in mine if row.kind == "action"])

    def _ends_once(self, person: Person, rows: list[Any]) -> None:
        """An end is final, and told of once."""
        (status,) = [row.state for row in rows if row.kind == "enrollment"]
        assert person.ended in {None, status}, f"{person.ended} became {status}"
        if person.ended is None and status in FINAL_ENROLLMENTS:
            person.ended = status
            if status == "completed":
                self.acts.books.all_was_done(person)
        told = [row.what for row in rows if row.kind == "event"]
        assert told == ([ENDS[person.ended]] if person.ended is not None else [])

    def _sent_is_sent(self, person: Person, actions: list[Any]) -> None:
        """What is over changes no more, and once nothing is under way, rows and network say the same."""
        for row in actions:
            assert self.finals.get(row.id, row.state) == row.state, "what is over changes no more"
            if row.state in FINAL_ACTIONS:
                self.finals[row.id] = row.state
        if not any(row.state in UNSETTLED for row in actions):
            sent = sorted(row.what for row in actions if row.state == "sent")
            assert sent == sorted(person.executed), (sent, person.executed)


def test_enrollments_keep_their_promises_whatever_happens_to_them(database_url: str) -> None:
    machines.run(Enrollments, database_url, pool_size=2, examples=3, steps=len(STORIES))
