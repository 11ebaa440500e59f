"""Rules of the enrollment state machine: acts of the network, the owner, callers and the people themselves.

It also has the acts of a second or frozen worker while the first one is between two of its steps.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import partial

from sqlalchemy.ext.asyncio import AsyncSession

from models.base.steps import Do
from models.outreach.engine import inbox, stop
from models.outreach.engine.claim import ClaimedAction
from models.outreach.engine.context import lock_enrollment_context
from models.outreach.engine.inbox import ChatLine
from models.outreach.engine.plan import OUTREACH_RECONCILE, OUTREACH_SEND
from models.outreach.rules.sequences import stored_steps
from models.outreach.rules.states import ActionOutcome
from models.outreach.store import sequences
from models.people.store import people
from tests.models.outreach.enrollment_calls import A_MOMENT, Calls
from tests.models.outreach.enrollment_reference import CALL_LIVES, Person
from tests.models.outreach.enrollment_scenarios import COMMANDS, EDITS, FORBIDDEN, FORBIDS, HOURS, STAGES
from tests.models.outreach.sending_world import FOLLOW_UP
from tests.models.outreach.test_stopping import WAYS

PEOPLE = 3
"""The number of people with an open enrollment at a time."""
NOTED = ("manual", "opt_out", "note")
"""Ways to forbid sends to a person who can still be enrolled."""
SOON = timedelta(days=8)
SLOW = timedelta(seconds=100)
"""A duration of a call that is not yet given up as lost."""
UNDER_WAY = frozenset({ActionOutcome.SENDING, ActionOutcome.RECONCILING})
REPLANNED = frozenset({ActionOutcome.CANCELLED, ActionOutcome.SKIPPED, ActionOutcome.AWAITING_APPROVAL})
CALLBACK = """
    insert into network_callbacks (id, event_id, type, account_id, failures, due_at, received_at)
    values (:a || service_now(), :a || service_now(), 'message.new', :a, 0, service_now(), service_now())
"""
SUPPRESSED = """
    insert into suppressions (id, workspace_id, key_hash, reason, created_at)
    select 'sup_' || :id, :w, hash, 'manual', service_now() from person_keys where profile_id = :id limit 1
"""
LOOKED_INTO = "update network_callbacks set processed_at = service_now() where account_id = :a"


class EnrollmentRules(Calls):
    """Acts on the people, on their sequence and around their calls."""

    def person_at(self, stage: str, which: int) -> str:
        """Return an open enrollment at a stage, brought there if there is none."""
        going = [one for one, person in self.people.items() if person.open and not person.held]
        there = [one for one in going if self._stage(self.people[one]) == stage]
        if there:
            return there[which % len(there)]
        if stage == FORBIDDEN:
            return self.enroll(forbidden=NOTED[which % len(NOTED)])
        if len(going) < PEOPLE:
            return self._brought_to(stage)
        return going[which % len(going)]

    @staticmethod
    def _stage(person: Person) -> str:
        if person.texts:
            return "written to"
        return "accepted" if person.connected else "invited" if person.pending else "enrolled"

    def _brought_to(self, stage: str) -> str:
        enrollment, far = self.enroll(), STAGES.index(stage)
        if far >= STAGES.index("invited"):
            self.call(enrollment)
        if far >= STAGES.index("accepted"):
            self.accepts(enrollment, told=True)
        if far >= STAGES.index("written to"):
            self.call(enrollment)
        return enrollment

    def enroll(self, *, forbidden: str | None = None) -> str:
        """Enroll a person, even one to whom sends were forbidden a moment before without a check."""
        name = f"{self.world.member.tenant.workspace_id}-{len(self.people)}".replace("_", "-")
        person = Person(self.do(self.world.person(name)))
        if forbidden is not None:
            self.forbids(person, forbidden)
        enrollment = self.do(self.world.enroll(person.profile_id))
        self.people[enrollment] = person
        return enrollment

    def happens(self, what: str, enrollment: str, number: int = 0) -> None:
        """Let something occur while the worker that decided or calls does not notice."""
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
            "time-out": lambda: self._times_out(enrollment),
            "both due": lambda: self._both_due(enrollment),
            "another worker": lambda: self._another_worker(enrollment),
            "another worker, slowly": lambda: self._another_worker(enrollment, after=SLOW),
            "callback": self._callback,
            "fog": lambda: setattr(self, "fog", True),
            "approval is asked for": lambda: self.edits("edit" if self.model.approves else "approval changes"),
        }
        does["a row alone"] = lambda: self.suppressed_by_a_row_alone(person)
        does |= {way: partial(self.forbids, person, way) for way in FORBIDS}
        does |= {edit: partial(self.edits, edit) for edit in EDITS}
        does |= {word: partial(self.command, enrollment, word) for word in COMMANDS}
        does |= {f"{hours} h": partial(self._no_worker_acts, hours) for hours in HOURS}
        does[what]()

    def _no_worker_acts(self, hours: int) -> None:
        self.do(self.world.later(hours=hours))

    def _times_out(self, enrollment: str) -> None:
        """Let the caller be silent for so long that the call is given up as lost."""
        self.do(self.world.later(seconds=CALL_LIVES.total_seconds() + 2))
        self.do(self.world.decide(enrollment))

    def _callback(self) -> None:
        self.sql(CALLBACK, a=self.world.account_id)
        self.model.unread = True

    def _second_worker(self, enrollment: str, number: int) -> None:
        """Let another worker that decided the same finish first; the network asks for a retry."""
        claimed = self.claim(enrollment, number)
        if claimed is not None:
            self.write(enrollment, claimed, self.execute(enrollment, claimed, "busy"))
            self.until_due(enrollment, "approve")

    def _late_answer(self, enrollment: str) -> None:
        """Let a frozen worker record its result, which counts unless the call has been decided since."""
        for one in [one for one in self.late if one[0] == enrollment]:
            self.late.remove(one)
            claimed, result = one[1:]
            before = self.do(self.world.action(claimed.action_id)).outcome
            stale = not self.is_under_way(claimed)
            self.write(enrollment, claimed, result)
            after = self.do(self.world.action(claimed.action_id)).outcome
            replanned = before == ActionOutcome.SCHEDULED and after in REPLANNED
            assert not stale or after == before or replanned, f"{before} became {after} by an answer that came too late"

    def is_under_way(self, claimed: ClaimedAction) -> bool:
        """Whether an answer of this call still counts: it is the action's latest call, and it is undecided."""
        outcome = self.do(self.world.action(claimed.action_id)).outcome
        return self.last_claims[claimed.action_id].number == claimed.number and outcome in UNDER_WAY

    def _other(self, enrollment: str) -> str:
        going = [one for one, person in self.people.items() if person.open and not person.held and one != enrollment]
        return going[-1] if going else self.enroll()

    def _both_due(self, enrollment: str) -> None:
        """Advance time until another enrollment of the account is due as well."""
        other = self._other(enrollment)
        while True:
            decision, now = self.do(self.world.decide(other)), self.now
            if decision.need == OUTREACH_RECONCILE:
                self._read(other, decision.number)
            elif decision.do is Do.WAIT and decision.until is not None and decision.until < now + SOON:
                self.do(self.world.at(decision.until + A_MOMENT))
            else:
                break

    def _another_worker(self, enrollment: str, *, after: timedelta = timedelta()) -> None:
        """Let another worker make the call of another enrollment of the account, unless something forbids it."""
        self.do(self.world.later(seconds=after.total_seconds()))
        other = self._other(enrollment)
        decision = self.do(self.world.decide(other))
        if decision.need == OUTREACH_SEND:
            claimed = self.claim(other, decision.number)
            if claimed is not None:
                self.write(other, claimed, self.execute(other, claimed, "done"))

    def accepts(self, enrollment: str, *, told: bool) -> None:
        person = self.people[enrollment]
        if person.pending:
            person.pending, person.connected = False, True
            if told:
                self._look(person)

    def replies(self, enrollment: str, *, told: bool) -> None:
        """Let the person reply: nothing may be sent afterwards, whether a callback reports the reply or not."""
        person = self.people[enrollment]
        if person.connected:
            line = ChatLine(f"{person.profile_id}-{len(person.lines)}", "Not now", self.now, from_owner=False)
            person.lines.append(line)
            if told:
                self._look(person)

    def _look(self, person: Person) -> None:
        """Read what the network shows of a person."""
        account_id, chat = self.world.account_id, f"chat-{person.profile_id}"

        async def work(session: AsyncSession) -> None:
            await people.lock_people(session, [person.profile_id])
            await inbox.record_relation(session, account_id, person.profile_id, person.learned)
            await inbox.take_messages(
                session, account_id, person.profile_id, chat, person.lines, writer=self.world.writer
            )

        self.do(self.world.run(work))
        if person.lines:
            person.left_alone = person.left_alone or "replied"

    def forbids(self, person: Person, way: str) -> None:
        """Forbid contact by opt-out, suppression or erasure: once it has committed, nothing is claimed."""
        if person.left_alone in {"suppressed", "erased"}:
            return
        forbid = WAYS[way][0]

        async def work(session: AsyncSession) -> None:
            await people.lock_people(session, [person.profile_id])
            await forbid(session, self.world.vault, self.world.member.tenant, person.profile_id)

        self.do(self.world.run(work))
        person.left_alone = WAYS[way][1]

    def suppressed_by_a_row_alone(self, person: Person) -> None:
        """Write only a suppression's row, which stops nothing: the claim has to find it."""
        if person.left_alone in {"suppressed", "erased"}:
            return
        self.sql(SUPPRESSED, id=person.profile_id, w=self.world.member.tenant.workspace_id)
        person.left_alone = "suppressed"

    def command(self, enrollment: str, what: str) -> None:
        """Run a caller's command, which may be refused."""
        person = self.people[enrollment]
        if self.asked(partial(self._tell, enrollment, what)) is None:
            return
        if what == "stop":
            person.left_alone = person.left_alone or "stopped"
        person.held = what == "pause"

    async def _tell(self, enrollment: str, what: str, session: AsyncSession) -> bool | None:
        context = await lock_enrollment_context(session, enrollment)
        if context is None or context.enrollment is None:
            return None
        if what == "pause":
            stop.pause_enrollment_by_hand(context, context.enrollment)
        elif what == "stop":
            await stop.stop(session, context, context.enrollment)
        else:
            stop.refuse_resume(context, context.enrollment)
            if context.enrollment.status == "paused":
                stop.resume(context, context.enrollment, await stop.resumes_at(session, context, context.enrollment))
        return True

    def edits(self, what: str) -> None:
        """Edit the sequence as its owner."""
        model = self.model
        model.version += 1
        model.removed = FOLLOW_UP.id if what == "step removed" else model.removed
        model.added = model.added or what == "step added"
        model.approves ^= what == "approval changes"
        if what in {"sequence pauses", "sequence goes on"}:
            model.resting = what == "sequence pauses"

        async def work(session: AsyncSession) -> None:
            sequence = await sequences.lock_sequence(session, self.world.member.tenant, self.world.sequence_id)
            sequence.steps = stored_steps(self._steps())
            sequence.status = "paused" if model.resting else "active"
            sequence.approve_every_message = model.approves
            await sequences.wake_sequence(session, sequence.id)

        self.do(self.world.run(work))

    def looked_into(self) -> None:
        """Process what has arrived, resume a paused sequence, and make the network readable again."""
        if self.model.unread:
            self.sql(LOOKED_INTO, a=self.world.account_id)
            self.model.unread = False
        if self.model.resting:
            self.edits("sequence goes on")
        self.fog = False
