"""A state machine of enrollments: lost, late or refused calls, replies without a callback, people who opt out.

Each turn is a scenario around a person's next call: something occurs before the worker decides, between its decision
and its claim, during its call, or before its answer is written. The rows are compared with `enrollment_reference`.
"""

import asyncio
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from models.base.database import Database
from models.outreach.engine.record import Done
from models.outreach.rules.states import FINAL_ACTIONS, FINAL_ENROLLMENTS
from tests import machines
from tests.models.outreach.enrollment_calls import UNSETTLED
from tests.models.outreach.enrollment_reference import CALL_LIVES, Person
from tests.models.outreach.enrollment_rules import EnrollmentRules
from tests.models.outreach.enrollment_scenarios import SCENARIOS, Scenario

TO_AN_END = 10
"""More calls than any person has steps."""
ENDS = {
    "completed": "enrollment.completed",
    "replied": "enrollment.completed",
    "stopped": "enrollment.failed",
    "failed": "enrollment.failed",
}
"""The event of each end."""
ROWS = """
    select 'event' as kind, data->>'enrollment_id' as enrollment, id, type as what, '' as state from events
     where workspace_id = :w and type in ('enrollment.completed', 'enrollment.failed')
    union all select 'enrollment', id, id, '', status from enrollments where workspace_id = :w
    union all select 'action', enrollment_id, id, type, outcome from actions where workspace_id = :w
"""
DRAWN = st.sampled_from(range(5040))
"""An index into a list of any length, uniformly distributed."""


class Enrollments(RuleBasedStateMachine):
    """A few people in one sequence of one account."""

    def __init__(self, runner: asyncio.Runner, database: Database) -> None:
        super().__init__()
        self._runner, self._database = runner, database
        self.finals: dict[str, str] = {}
        """The final outcome of each finished action."""

    @initialize(approves=st.sampled_from([False, False, True]), order=st.permutations(range(len(SCENARIOS))))
    def begin(self, *, approves: bool, order: list[int]) -> None:
        self.enrollments = EnrollmentRules(self._runner, self._database, approves=approves)
        self.order = order

    @rule(who=DRAWN, numbers=st.tuples(*[DRAWN] * 8), more=st.tuples(*[DRAWN] * 8))
    def next_scenario(self, *, who: int, numbers: tuple[int, ...], more: tuple[int, ...]) -> None:
        """Play the next scenario and its continuation.

        This is a single rule since Hypothesis disables rules at random, and a short history could then contain no call.
        """
        place = self.order.pop(0)
        self.order.append(place)
        scenario = SCENARIOS[place]
        drawn = scenario.drawn(numbers)
        enrollment = self.enrollments.person_at(drawn["whom"], who)
        self.play(scenario, drawn, enrollment)
        if scenario.then is not None:
            self.rows_agree_with_the_model()
            self.play(scenario.then, scenario.then.drawn(more), enrollment)
        self.enrollments.looked_into()

    def play(self, scenario: Scenario, drawn: dict[str, str], enrollment: str) -> None:
        """Let something occur to a person before and during their next call."""
        enrollments = self.enrollments
        enrollments.happens(drawn["first"], enrollment)
        number = enrollments.until_due(enrollment, drawn["judged"])
        if number is not None:
            enrollments.happens(drawn["before"], enrollment, number)
            claimed = enrollments.claim(enrollment, number)
            if claimed is not None:
                result = enrollments.execute(enrollment, claimed, drawn["answer"])
                enrollments.happens(drawn["during"], enrollment, number)
                if drawn["written"] == "now":
                    if isinstance(result, Done) and enrollments.is_under_way(claimed):
                        enrollments.model.answered(claimed.action_id, enrollments.now)
                    enrollments.write(enrollment, claimed, result)
                if drawn["written"] == "late":
                    enrollments.late.append((enrollment, claimed, result))
        enrollments.happens(drawn["after"] if number is not None else "late answer", enrollment)

    def teardown(self) -> None:
        """Check that every enrollment ends when it is resumed and left alone."""
        if not hasattr(self, "enrollments"):
            return
        self.enrollments.do(self.enrollments.world.later(seconds=CALL_LIVES.total_seconds()))
        for enrollment, person in self.enrollments.people.items():
            for _ in range(TO_AN_END):
                if person.ended is not None:
                    break
                if person.held:
                    self.enrollments.command(enrollment, "resume")
                self.enrollments.call(enrollment)
                self.enrollments.accepts(enrollment, told=True)
                self.rows_agree_with_the_model()
            assert person.ended is not None, "every enrollment ends"

    @invariant()
    def rows_agree_with_the_model(self) -> None:
        """The rows agree with the reference model and the network."""
        if not hasattr(self, "enrollments"):
            return
        rows = self.enrollments.sql(ROWS, w=self.enrollments.world.member.tenant.workspace_id)
        for enrollment, person in self.enrollments.people.items():
            mine = [row for row in rows if row.enrollment == enrollment]
            self._ends_once(person, mine)
            self._sent_is_sent(person, [row for row in mine if row.kind == "action"])

    def _ends_once(self, person: Person, rows: list[Any]) -> None:
        """An end is final and has exactly one event."""
        (status,) = [row.state for row in rows if row.kind == "enrollment"]
        assert person.ended in {None, status}, f"{person.ended} became {status}"
        if person.ended is None and status in FINAL_ENROLLMENTS:
            person.ended = status
            if status == "completed":
                self.enrollments.model.all_was_done(person)
        emitted = [row.what for row in rows if row.kind == "event"]
        assert emitted == ([ENDS[person.ended]] if person.ended is not None else [])

    def _sent_is_sent(self, person: Person, actions: list[Any]) -> None:
        """Finished actions never change, and when no call is under way, rows and network agree."""
        for row in actions:
            assert self.finals.get(row.id, row.state) == row.state, "what is over changes no more"
            if row.state in FINAL_ACTIONS:
                self.finals[row.id] = row.state
        if not any(row.state in UNSETTLED for row in actions):
            sent = sorted(row.what for row in actions if row.state == "sent")
            assert sent == sorted(person.executed), (sent, person.executed)


def test_enrollments_keep_their_promises_whatever_happens_to_them(database_url: str) -> None:
    machines.run(Enrollments, database_url, pool_size=2, examples=3, steps=len(SCENARIOS))
