"""Enrollments whatever happens to them: calls that are lost, late or refused, replies nobody told of, people who stop.

Most rules go on to somebody's next call, and let something happen between the decision and the claim, during the call,
or before its answer is written. `enrollment_books` is what the rows are held against.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sqlalchemy.ext.asyncio import AsyncSession

from models.database import Database
from models.errors import ServiceError
from models.rules.outreach.reconciling import SENDING_LIVES, Reading, Seen
from models.rules.outreach.sequences import Step
from models.rules.outreach.states import FINAL_ENROLLMENTS, ActionOutcome, ActionType
from models.secrets import Vault
from models.stores import people
from models.stores.outreach import approvals, messages, pausing, relations, scenes, sequences
from models.stores.outreach.answers import Decision, Need
from models.stores.outreach.claims import Parcel
from models.stores.outreach.messages import Line
from models.stores.outreach.reconciling import Read
from models.stores.outreach.results import Heard, Result
from models.tables import Action
from tests import machines
from tests.models.stores.conftest import SECRET, join
from tests.models.stores.outreach.enrollment_books import INVITES_A_DAY, Books, Person
from tests.models.stores.outreach.sending_world import FOLLOW_UP, INVITE, MESSAGE, WITHDRAW, World
from tests.models.stores.outreach.test_stopping import WAYS

T = TypeVar("T")
PEOPLE = 3
TURNS = 14
"""So many decisions lead to somebody's next call, or it does not come."""
A_MOMENT = timedelta(milliseconds=5)
STAGES = ("enrolled", "invited", "accepted", "written to")
ANSWERS = ("done", "done", "done", "lost", "lost", "busy", "refused", "dies")
WRITTEN = ("now", "now", "now", "late", "never")
FORBIDS = ("manual", "opt_out", "erasure", "note")
EDITS = ("edit", "step removed", "sequence pauses")
WORDS = ("stop", "pause", "resume")
HOURS = (1, 30, 400)
FOGGY_HOURS = 1
FIRST = (
    *["nothing"] * 3,
    *["acceptance"] * 3,
    *("untold acceptance", "untold reply", "reply", "poll", "resume", "resume", "pause", "another", "another"),
    *(f"{hours} h" for hours in HOURS),
)
"""What happens before somebody works."""
BETWEEN = (
    *["nothing"] * 8,
    *("second worker", "late answer", "late answer", "reply", "untold reply", "acceptance", "stop", "pause"),
    *("time-out", "somebody else", "callback", *FORBIDS, *EDITS),
)
"""What happens while a worker does not look."""
ENDS = {
    "completed": "enrollment.completed",
    "replied": "enrollment.completed",
    "stopped": "enrollment.failed",
    "failed": "enrollment.failed",
}
"""What is told of each end."""
TOLD = "select data->>'enrollment_id' as id, type from events where workspace_id = :w and type like 'enrollment.%'"
STATUS = "select id, status from enrollments where workspace_id = :w"
OUTCOMES = "select enrollment_id as id, type, outcome from actions where workspace_id = :w"
CALLBACK = """
    insert into network_callbacks (id, event_id, type, account_id, failures, due_at, received_at)
    values (:a || service_now(), :a || service_now(), 'message.new', :a, 0, service_now(), service_now())
"""
LOOKED_INTO = "update network_callbacks set processed_at = service_now() where account_id = :a"


class Enrollments(RuleBasedStateMachine):
    """Up to three people in one sequence of one account."""

    def __init__(self, runner: asyncio.Runner, database: Database) -> None:
        super().__init__()
        self._runner = runner
        self.world = World(database, Vault(SECRET), self.do(database.run(join)))
        self.people: dict[str, Person] = {}
        self.late: list[tuple[str, Parcel, Result]] = []
        self.under_way: dict[str, datetime] = {}
        self.fog = False

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def sql(self, statement: str, **values: Any) -> list[Any]:
        return self.do(self.world.sql(statement, **values))

    @initialize(approves=st.sampled_from([False, False, True]), stages=st.lists(st.sampled_from(STAGES), max_size=2))
    def begin(self, *, approves: bool, stages: list[str]) -> None:
        """Somebody is enrolled, and others are on their way."""
        self.books = Books(approves)
        self.do(self.world.open(*self._steps(), approve_every_message=approves))
        cap = f'{{"invites_per_day": {INVITES_A_DAY}}}'
        self.sql(
            "update outreach_accounts set provider_id = id, network_user_id = id, caps = cast(:caps as json)"
            " where id = :id",
            caps=cap,
            id=self.world.account_id,
        )
        for stage in ("enrolled", *stages):
            enrollment, far = self.enroll(), STAGES.index(stage)
            if far >= STAGES.index("invited"):
                self.call(enrollment)
            if far >= STAGES.index("accepted"):
                self.accepts(enrollment, told=True)
            if far >= STAGES.index("written to"):
                self.call(enrollment)

    def _steps(self) -> list[Step]:
        mark = f" ({self.books.version})"
        written = [
            replace(INVITE, note=f"{INVITE.note}{mark}"),
            replace(MESSAGE, body=f"{MESSAGE.body}{mark}"),
            replace(FOLLOW_UP, body=f"{FOLLOW_UP.body}{mark}"),
            WITHDRAW,
        ]
        return [step for step in written if step.id != self.books.removed]

    def enroll(self) -> str:
        name = f"{self.world.member.tenant.workspace_id}-{len(self.people)}".replace("_", "-")
        profile_id = self.do(self.world.person(name))
        enrollment = self.do(self.world.enroll(profile_id))
        self.people[enrollment] = Person(profile_id)
        return enrollment

    @rule(
        first=st.sampled_from(FIRST),
        who=st.integers(0, PEOPLE - 1),
        before=st.sampled_from(BETWEEN),
        during=st.sampled_from(BETWEEN),
        answer=st.sampled_from(ANSWERS),
        written=st.sampled_from(WRITTEN),
        approval=st.sampled_from(["approve", "approve", "approve", "reject"]),
    )
    def go_on(
        self, *, first: str, who: int, before: str, during: str, answer: str, written: str, approval: str
    ) -> None:
        """Something happens to somebody, then comes their next call, and while it does, more happens.

        It is one rule, for rules are switched off by turns, and so short a history could then hold no call at all.
        """
        enrollment = list(self.people)[who % len(self.people)]
        self.happens(first, enrollment)
        number = self.until_due(enrollment, approval)
        if number is None:
            return
        self.happens(before, enrollment, number)
        claimed = self.claim(enrollment, number)
        if claimed is not None:
            result = self.books.execute(self.people[enrollment], claimed, answer, self.now)
            self.happens(during, enrollment, number)
            if written == "now":
                self.write(enrollment, claimed, result)
            if written == "late":
                self.late.append((enrollment, claimed, result))
        self.looked_into()

    def call(self, enrollment: str) -> None:
        """The next call, and nothing happens meanwhile."""
        number = self.until_due(enrollment, "approve")
        claimed = self.claim(enrollment, number) if number is not None else None
        if claimed is not None:
            result = self.books.execute(self.people[enrollment], claimed, "done", self.now)
            self.write(enrollment, claimed, result)

    def until_due(self, enrollment: str, approval: str) -> int | None:
        """Let time pass until somebody's next call; its number, null when none comes by itself."""
        for _ in range(TURNS):
            decision = self.do(self.world.decide(enrollment))
            self._means_something(enrollment, decision)
            if decision.need is Need.SEND:
                return decision.number
            if decision.need is Need.READ:
                self._read(enrollment, decision.number)
            elif decision.need is Need.TIME and decision.until is not None:
                self.do(self.world.at(decision.until + A_MOMENT))
            elif not self._decided_by_somebody(enrollment, approval):
                return None
        return None

    def _means_something(self, enrollment: str, decision: Decision) -> None:
        """Nobody is forgotten: there is a time, a step, or a reason why somebody else has to do something."""
        if decision.need is Need.TIME:
            assert decision.until is not None
        if decision.need is Need.RING:
            assert decision.reason
        row = self.do(self.world.enrollment(enrollment))
        assert (decision.need is Need.NOTHING) == (row.status in FINAL_ENROLLMENTS), decision

    def _read(self, enrollment: str, number: int) -> None:
        """The network is looked at for the action under way."""
        person, action = self.people[enrollment], self.do(self.world.last_open(enrollment))
        seen = Seen.UNREADABLE if self.fog else person.shows(ActionType(action.type), action.text)
        read = Read(Reading(self.now, seen))
        self.do(self.world.record(enrollment, number, read))

    def _decided_by_somebody(self, enrollment: str, approval: str) -> bool:
        """A person approves or rejects what waits for one, or says what became of a call."""
        action = next((one for one in self.do(self.world.actions(enrollment)) if one.ended_at is None), None)
        if action is None:
            return False
        if action.outcome == ActionOutcome.AWAITING_APPROVAL:
            return self._judged(self.people[enrollment], action, approval)
        if action.outcome == ActionOutcome.UNKNOWN:
            sent = self.people[enrollment].shows(ActionType(action.type), action.text) is Seen.DONE
            self._asked(lambda session: approvals.settle(session, self.world.member.tenant, action.id, sent=sent))
            return True
        return False

    def _judged(self, person: Person, action: Action, approval: str) -> bool:
        tenant = self.world.member.tenant

        async def approve(session: AsyncSession) -> str:
            seen = await approvals.preview(session, self.world.writer, tenant, action.id)
            approvals.approve(seen, preview_hash=seen.preview_hash)
            return str(seen.action.text)

        if approval == "reject":
            if self._asked(lambda session: approvals.reject(session, tenant, action.id)) is not None:
                person.rejected.add(action.id)
            return True
        text = self._asked(approve)
        if text is not None:
            person.approved[action.id] = text
            return True
        self.do(self.world.later(hours=24))  # today's cap has no room for it
        return not (person.left_alone or person.held or self.books.resting)

    def _asked(self, work: Any) -> Any | None:
        """What a caller asks for; null when it is refused."""
        try:
            return self.do(self.world.run(work))
        except ServiceError:
            return None

    def claim(self, enrollment: str, number: int) -> Parcel | None:
        """Claim what was decided, if nothing is in the way by now."""
        claimed = self.do(self.world.claim(enrollment, number))
        if not isinstance(claimed, Parcel):
            return None
        now = self.now
        others = [one for one, at in self.under_way.items() if one != claimed.action_id and now - at < SENDING_LIVES]
        step_id = self.do(self.world.action(claimed.action_id)).step_id
        self.books.may_claim(self.people[enrollment], claimed, number, str(step_id), len(others))
        self.under_way[claimed.action_id] = now
        return claimed

    def write(self, enrollment: str, parcel: Parcel, result: Result) -> None:
        """Write what came of a call."""
        self.do(self.world.result(parcel, result))
        self.under_way.pop(parcel.action_id, None)
        if isinstance(result, Heard):
            person = self.people[enrollment]
            person.left_alone = person.left_alone or "replied"

    def happens(self, what: str, enrollment: str, number: int = 0) -> None:
        """Something happens while the worker that has decided, or calls, does not look."""
        person = self.people[enrollment]
        does: dict[str, Callable[[], object]] = {
            "nothing": lambda: None,
            "second worker": lambda: self._second_worker(enrollment, number),
            "late answer": lambda: self._late_answer(enrollment),
            "reply": lambda: self.replies(enrollment, told=True),
            "untold reply": lambda: self.replies(enrollment, told=False),
            "acceptance": lambda: self.accepts(enrollment, told=True),
            "untold acceptance": lambda: self.accepts(enrollment, told=False),
            "poll": lambda: self._look(person),
            "another": self._another,
            "time-out": lambda: self._times_out(enrollment),
            "somebody else": lambda: self._somebody_else(enrollment),
            "callback": self._callback,
        }
        does |= {way: partial(self._forbids, person, way) for way in FORBIDS}
        does |= {edit: partial(self._edits, edit) for edit in EDITS}
        does |= {word: partial(self._is_told, enrollment, word) for word in WORDS}
        does |= {f"{hours} h": partial(self._nobody_works, hours) for hours in HOURS}
        does[what]()

    def _times_out(self, enrollment: str) -> None:
        """Whoever calls has been silent for so long that the call is given up for lost."""
        self.do(self.world.later(seconds=SENDING_LIVES.total_seconds() + 2))
        self.do(self.world.decide(enrollment))

    def _callback(self) -> None:
        self.sql(CALLBACK, a=self.world.account_id)
        self.books.unread = True

    def _second_worker(self, enrollment: str, number: int) -> None:
        """Another worker has decided the same, and is done first."""
        claimed = self.claim(enrollment, number)
        if claimed is not None:
            result = self.books.execute(self.people[enrollment], claimed, "busy", self.now)
            self.write(enrollment, claimed, result)
            self.do(self.world.later(minutes=5))

    def _late_answer(self, enrollment: str) -> None:
        """A worker that was frozen writes what came of its call."""
        for answer in [one for one in self.late if one[0] == enrollment]:
            self.late.remove(answer)
            self.do(self.world.result(*answer[1:]))

    def _somebody_else(self, enrollment: str) -> None:
        """Another worker is at another enrollment of the account, and does it if nothing is under way."""
        other = next((one for one in self.people if one != enrollment), None)
        decision = self.do(self.world.decide(other)) if other is not None else None
        if other is not None and decision is not None and decision.need is Need.SEND:
            claimed = self.claim(other, decision.number)
            if claimed is not None:
                self.late.append((other, claimed, self.books.execute(self.people[other], claimed, "done", self.now)))

    @property
    def now(self) -> datetime:
        return self.do(self.world.now())

    def accepts(self, enrollment: str, *, told: bool) -> None:
        person = self.people[enrollment]
        if person.pending:
            person.pending, person.connected = False, True
            if told:
                self._look(person)

    def replies(self, enrollment: str, *, told: bool) -> None:
        """Nothing may be written afterwards, whether a callback tells of it or not."""
        person = self.people[enrollment]
        if person.connected:
            line = Line(f"{person.profile_id}-{len(person.lines)}", "Not now", self.now, from_owner=False)
            person.lines.append(line)
            if told:
                self._look(person)

    def _look(self, person: Person) -> None:
        """What the network shows of somebody is read."""
        account_id, chat = self.world.account_id, f"chat-{person.profile_id}"

        async def work(session: AsyncSession) -> None:
            await people.hold(session, [person.profile_id])
            await relations.learn(session, account_id, person.profile_id, person.learned)
            await messages.take(session, account_id, person.profile_id, chat, person.lines, writer=self.world.writer)

        self.do(self.world.run(work))
        if person.lines:
            person.left_alone = person.left_alone or "replied"

    def _forbids(self, person: Person, way: str) -> None:
        """Opt-out, suppression, erasure: when it has committed, nothing is claimed."""
        if person.left_alone in {"suppressed", "erased"}:
            return
        forbid = WAYS[way][0]

        async def work(session: AsyncSession) -> None:
            await people.hold(session, [person.profile_id])
            await forbid(session, self.world.vault, self.world.member.tenant, person.profile_id)

        self.do(self.world.run(work))
        person.left_alone = WAYS[way][1]

    def _is_told(self, enrollment: str, what: str) -> None:
        person = self.people[enrollment]
        if self._asked(partial(self._tell, enrollment, what)) is None:
            return
        if what == "stop":
            person.left_alone = person.left_alone or "stopped"
        person.held = what == "pause"

    async def _tell(self, enrollment: str, what: str, session: AsyncSession) -> bool | None:
        scene = await scenes.of_enrollment(session, enrollment)
        if scene is None or scene.enrollment is None:
            return None
        if what == "pause":
            pausing.pause(scene, scene.enrollment)
        elif what == "stop":
            await pausing.stop(session, scene, scene.enrollment)
        else:
            pausing.refuse_resume(scene, scene.enrollment)
            if scene.enrollment.status == "paused":
                pausing.resume(scene, scene.enrollment, await pausing.ahead(session, scene, scene.enrollment))
        return True

    def _edits(self, what: str) -> None:
        """The owner of the sequence changes it."""
        self.books.version += 1
        if what == "step removed":
            self.books.removed = FOLLOW_UP.id
        if what in {"sequence pauses", "sequence goes on"}:
            self.books.resting = what == "sequence pauses"

        async def work(session: AsyncSession) -> None:
            sequence = await sequences.changing(session, self.world.member.tenant, self.world.sequence_id)
            sequence.steps = sequences.stored(self._steps())
            sequence.status = "paused" if self.books.resting else "active"
            await sequences.ring(session, sequence.id)

        self.do(self.world.run(work))

    def looked_into(self) -> None:
        """What has come is looked into, and a resting sequence goes on."""
        if self.books.unread:
            self.sql(LOOKED_INTO, a=self.world.account_id)
            self.books.unread = False
        if self.books.resting:
            self._edits("sequence goes on")

    def _nobody_works(self, hours: int) -> None:
        """Time passes meanwhile; what was called before may not be readable afterwards."""
        self.do(self.world.later(hours=hours))
        self.fog = hours == FOGGY_HOURS

    def _another(self) -> None:
        if len(self.people) < PEOPLE:
            self.enroll()

    def teardown(self) -> None:
        """Left alone, everybody comes to an end who is not paused."""
        if not self.people:
            return
        self.fog = False
        for enrollment, person in self.people.items():
            for _ in range(8):
                if person.held or self.do(self.world.enrollment(enrollment)).status in FINAL_ENROLLMENTS:
                    break
                self.call(enrollment)
                self.accepts(enrollment, told=True)
            status = self.do(self.world.enrollment(enrollment)).status
            assert person.held or status in FINAL_ENROLLMENTS, f"nobody waits for ever: {status}"
        self.an_end_is_an_end_and_told_once()
        self.what_counts_as_sent_was_sent()

    @invariant()
    def an_end_is_an_end_and_told_once(self) -> None:
        whose = {"w": self.world.member.tenant.workspace_id}
        told = [(row.id, row.type) for row in self.sql(TOLD, **whose) if row.type != "enrollment.created"]
        for row in self.sql(STATUS, **whose):
            person = self.people[row.id]
            if person.ended is not None:
                assert row.status == person.ended, "an end is final"
            if row.status in FINAL_ENROLLMENTS:
                person.ended = row.status
            ends = [ENDS[person.ended]] if person.ended is not None else []
            assert [kind for id, kind in told if id == row.id] == ends

    @invariant()
    def what_counts_as_sent_was_sent(self) -> None:
        """Once nothing is under way, rows and network say the same."""
        rows = self.sql(OUTCOMES, w=self.world.member.tenant.workspace_id)
        for enrollment, person in self.people.items():
            mine = [row for row in rows if row.id == enrollment]
            if not any(row.outcome in ("sending", "reconciling", "unknown") for row in mine):
                sent = sorted(row.type for row in mine if row.outcome == "sent")
                assert sent == sorted(person.executed), (enrollment, sent, person.executed)


def test_enrollments_keep_their_promises_whatever_happens_to_them(database_url: str) -> None:
    machines.run(Enrollments, database_url, pool_size=2)
