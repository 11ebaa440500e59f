"""Enrollments whatever happens to them: calls that are lost, late or refused, replies nobody told of, people who stop.

The network is a page of bookkeeping here: what it executed, and when each person accepted, replied or had to be left
alone. It is what the rows are held against.
"""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule
from sqlalchemy.ext.asyncio import AsyncSession

from models.database import Database
from models.errors import Conflict
from models.rules.outreach.reconciling import Reading, Seen
from models.rules.outreach.states import FINAL_ENROLLMENTS, ActionReason, ActionType
from models.secrets import Vault
from models.stores import people
from models.stores.outreach import messages, pausing, relations, scenes
from models.stores.outreach.answers import Decision, Need
from models.stores.outreach.claims import Parcel
from models.stores.outreach.facts import Learned
from models.stores.outreach.messages import Line
from models.stores.outreach.reconciling import Read
from models.stores.outreach.results import Again, Done, Heard, NotNeeded, Refused, Result, Unclear
from tests import machines
from tests.models.stores.conftest import SECRET, join
from tests.models.stores.outreach.sending_world import FOLLOW_UP, INVITE, MESSAGE, WITHDRAW, World
from tests.models.stores.outreach.test_stopping import WAYS

T = TypeVar("T")
PEOPLE = 3
ANSWERS = ("done", "done", "done", "lost", "busy", "refused", "dies before", "dies after")
ENDS = {
    "completed": "enrollment.completed",
    "replied": "enrollment.completed",
    "stopped": "enrollment.failed",
    "failed": "enrollment.failed",
}
"""What is told of each end."""


@dataclass
class Person:
    """What the network knows of somebody, and what the service was told."""

    profile_id: str
    executed: list[ActionType] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    pending: bool = False
    connected: bool = False
    lines: list[Line] = field(default_factory=list)
    left_alone: str | None = None
    """Why nothing may be sent from now on."""
    held: bool = False
    """A caller has paused it."""
    ended: str | None = None


class Enrollments(RuleBasedStateMachine):
    """Three people in one sequence of one account."""

    enrolled = Bundle("enrolled")
    decided = Bundle("decided")
    late = Bundle("late")

    def __init__(self, runner: asyncio.Runner, database: Database) -> None:
        super().__init__()
        self._runner = runner
        self.world = World(database, Vault(SECRET), self.do(database.run(join)))
        self.do(self.world.open(INVITE, MESSAGE, FOLLOW_UP, WITHDRAW))
        self.do(self.world.sql("update outreach_accounts set provider_id = id, network_user_id = id"))
        self.people: dict[str, Person] = {}
        self.sent: Counter[str] = Counter()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    @initialize(target=enrolled)
    def begin(self) -> str:
        return str(self.enroll())

    @rule(target=enrolled)
    def enroll(self) -> str:
        if len(self.people) == PEOPLE:
            return next(iter(self.people))
        name = f"{self.world.member.tenant.workspace_id}-{len(self.people)}".replace("_", "-")
        profile_id = self.do(self.world.person(name))
        enrollment = self.do(self.world.enroll(profile_id))
        self.people[enrollment] = Person(profile_id)
        return enrollment

    @rule(target=late, enrollment=enrolled, answers=st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=6))
    def work(self, enrollment: str, answers: list[str]) -> tuple[Parcel, Result] | None:
        """What workers do next with it, and time passes until they may; the last answer may come once more, late."""
        last = None
        for answer in answers:
            decision = self.do(self.world.decide(enrollment))
            self._means_something(enrollment, decision)
            if decision.need is Need.TIME and decision.until is not None:
                self.do(self.world.at(decision.until + timedelta(milliseconds=5)))
            elif decision.need is Need.READ:
                self.do(self.world.record(enrollment, decision.number, self._reading(enrollment)))
            elif decision.need is Need.SEND:
                claimed = self.do(self.world.claim(enrollment, decision.number))
                if isinstance(claimed, Parcel):
                    last = self._call(enrollment, claimed, answer) or last
        return last

    def _means_something(self, enrollment: str, decision: Decision) -> None:
        """Nobody is forgotten: there is a time, a step, or a reason why somebody else has to do something."""
        if decision.need is Need.TIME:
            assert decision.until is not None
        if decision.need is Need.RING:
            assert decision.reason
        row = self.do(self.world.enrollment(enrollment))
        assert (decision.need is Need.NOTHING) == (row.status in FINAL_ENROLLMENTS), decision

    def _call(self, enrollment: str, parcel: Parcel, answer: str) -> tuple[Parcel, Result] | None:
        """The call of a claim. A message is not sent while its chat has news; that is the last look before it."""
        person = self.people[enrollment]
        assert person.left_alone in (None, "replied, untold"), person.left_alone
        assert not person.held, "a paused enrollment is not claimed"
        result = self._executed(person, parcel, answer)
        if answer in ("dies before", "dies after"):
            return None
        self.do(self.world.result(parcel, result))
        return parcel, result

    def _executed(self, person: Person, parcel: Parcel, answer: str) -> Result:
        refusal = self._refused(person, parcel, answer)
        if refusal is not None:
            return refusal
        person.executed.append(parcel.type)
        if parcel.type is ActionType.MESSAGE:
            assert person.connected, "only who accepted is written to"
            assert parcel.text not in person.texts, "nothing is written twice"
            person.texts.append(str(parcel.text))
        else:
            assert person.executed.count(parcel.type) == 1, f"{parcel.type} twice"
            person.pending = parcel.type is ActionType.INVITE
        learned = Learned(network_id=f"net-{person.profile_id}", chat_id=f"chat-{person.profile_id}")
        return Unclear(learned=learned) if answer == "lost" else Done(learned=learned)

    @staticmethod
    def _refused(person: Person, parcel: Parcel, answer: str) -> Result | None:
        """Why the network does not execute it."""
        if parcel.type is ActionType.MESSAGE and person.lines:
            return Heard(by_person=True, at=person.lines[0].sent_at)
        if parcel.type is ActionType.WITHDRAW_INVITE and not person.pending:
            return NotNeeded(ActionReason.INVITE_NOT_PENDING)
        if parcel.type is ActionType.INVITE and person.connected:
            return NotNeeded(ActionReason.ALREADY_CONNECTED)
        refused: dict[str, Result] = {
            "dies before": Unclear(),
            "busy": Again("busy", timedelta(minutes=1)),
            "refused": Refused(ActionReason.NETWORK_REFUSED),
        }
        return refused.get(answer)

    def _reading(self, enrollment: str) -> Read:
        """What the network shows of the action under way."""
        person, action = self.people[enrollment], self.do(self.world.last_open(enrollment))
        done = {
            ActionType.INVITE: ActionType.INVITE in person.executed,
            ActionType.WITHDRAW_INVITE: not person.pending,
            ActionType.MESSAGE: action.text in person.texts,
        }[ActionType(action.type)]
        return Read(Reading(self.do(self.world.now()), Seen.DONE if done else Seen.ABSENT))

    def teardown(self) -> None:
        """Left alone, everybody comes to an end who is not paused. Short histories hardly ever come to a message."""
        for enrollment, person in self.people.items():
            for _ in range(20):
                if person.held or self.do(self.world.enrollment(enrollment)).status in FINAL_ENROLLMENTS:
                    break
                self.work(enrollment, ["done"] * 4)
                self.accepts(enrollment=enrollment, told=True)
            status = self.do(self.world.enrollment(enrollment)).status
            assert person.held or status in FINAL_ENROLLMENTS, "nobody waits for ever"
        self.an_end_is_an_end_and_told_once()
        self.what_counts_as_sent_was_sent()

    @rule(target=decided, enrollment=enrolled)
    def decides(self, enrollment: str) -> tuple[str, int] | None:
        """A worker that is frozen between its decision and its claim."""
        decision = self.do(self.world.decide(enrollment))
        if decision.need is Need.TIME and decision.until is not None:
            self.do(self.world.at(decision.until + timedelta(milliseconds=5)))
            decision = self.do(self.world.decide(enrollment))
        return (enrollment, decision.number) if decision.need is Need.SEND else None

    @rule(target=late, claim=decided, answer=st.sampled_from(ANSWERS))
    def claims_late(self, claim: tuple[str, int] | None, answer: str) -> tuple[Parcel, Result] | None:
        """It knows nothing of what happened meanwhile, and may claim a second time."""
        claimed = self.do(self.world.claim(*claim)) if claim is not None else None
        return self._call(claim[0], claimed, answer) if claim is not None and isinstance(claimed, Parcel) else None

    @rule(answer=late)
    def comes_late(self, answer: tuple[Parcel, Result] | None) -> None:
        """The same answer once more, from a worker that was frozen."""
        if answer is not None:
            self.do(self.world.result(*answer))

    @rule(enrollment=enrolled, told=st.booleans())
    def accepts(self, *, enrollment: str, told: bool) -> None:
        person = self.people[enrollment]
        if not person.pending:
            return
        person.pending, person.connected = False, True
        if told:
            self._look(person)

    @rule(enrollment=enrolled, told=st.booleans())
    def replies(self, *, enrollment: str, told: bool) -> None:
        """Nothing may be sent afterwards, whether a callback tells of it or not."""
        person = self.people[enrollment]
        if not person.connected:
            return
        at = self.do(self.world.now())
        person.lines.append(Line(f"{person.profile_id}-{len(person.lines)}", "Not now", at, from_owner=False))
        person.left_alone = person.left_alone or "replied, untold"
        if told:
            self._look(person)

    @rule(enrollment=enrolled)
    def poll(self, enrollment: str) -> None:
        """The account is read in turns: what no callback told of is found."""
        self._look(self.people[enrollment])

    def _look(self, person: Person) -> None:
        learned = Learned(
            network_id=f"net-{person.profile_id}",
            connected=person.connected,
            pending=person.pending,
            chat_id=f"chat-{person.profile_id}",
        )

        async def work(session: AsyncSession) -> None:
            await people.hold(session, [person.profile_id])
            await relations.learn(session, self.world.account_id, person.profile_id, learned)
            await messages.take(
                session,
                self.world.account_id,
                person.profile_id,
                f"chat-{person.profile_id}",
                person.lines,
                writer=self.world.writer,
            )

        self.do(self.world.run(work))
        if person.lines and person.left_alone == "replied, untold":
            person.left_alone = "replied"

    @rule(enrollment=enrolled, way=st.sampled_from(sorted(WAYS)))
    def forbids(self, enrollment: str, way: str) -> None:
        """Opt-out, suppression, erasure: when it has committed, nothing is sent."""
        person = self.people[enrollment]
        if person.left_alone in {"suppressed", "erased"}:
            return
        forbid = WAYS[way][0]

        async def work(session: AsyncSession) -> None:
            await people.hold(session, [person.profile_id])
            await forbid(session, self.world.vault, self.world.member.tenant, person.profile_id)

        self.do(self.world.run(work))
        person.left_alone = WAYS[way][1]

    @rule(enrollment=enrolled, what=st.sampled_from(["pause", "stop", "resume"]))
    def is_told(self, enrollment: str, what: str) -> None:
        person = self.people[enrollment]
        try:
            self.do(self.world.run(partial(self._tell, enrollment, what)))
        except Conflict:
            return
        if what == "stop":
            person.left_alone = person.left_alone or "stopped"
        person.held = what == "pause"

    async def _tell(self, enrollment: str, what: str, session: AsyncSession) -> None:
        scene = await scenes.of_enrollment(session, enrollment)
        if scene is None or scene.enrollment is None:
            raise Conflict("erased")
        if what == "pause":
            pausing.pause(scene, scene.enrollment)
        elif what == "stop":
            await pausing.stop(session, scene, scene.enrollment)
        else:
            pausing.refuse_resume(scene, scene.enrollment)
            if scene.enrollment.status == "paused":
                pausing.resume(scene, scene.enrollment, await pausing.ahead(session, scene, scene.enrollment))

    @rule(hours=st.sampled_from([1, 30, 400]))
    def time_passes(self, hours: int) -> None:
        self.do(self.world.later(hours=hours))

    @invariant()
    def an_end_is_an_end_and_told_once(self) -> None:
        workspace_id = self.world.member.tenant.workspace_id
        rows = self.do(
            self.world.sql(
                "select type, data->>'enrollment_id' as id, count(*)::int as times from events"
                " where workspace_id = :w and type like 'enrollment.%' group by 1, 2",
                w=workspace_id,
            )
        )
        told = {(row.type, row.id): row.times for row in rows}
        for enrollment, person in self.people.items():
            status = self.do(self.world.enrollment(enrollment)).status
            if person.ended is not None:
                assert status == person.ended, "an end is final"
            if status in FINAL_ENROLLMENTS:
                person.ended = status
                assert [one for one in told if one[1] == enrollment] == [(ENDS[status], enrollment)]
                assert told[ENDS[status], enrollment] == 1

    @invariant()
    def what_counts_as_sent_was_sent(self) -> None:
        """Once nothing is under way, rows and network say the same."""
        for enrollment, person in self.people.items():
            rows = self.do(self.world.actions(enrollment))
            if any(row.outcome in ("sending", "reconciling", "unknown") for row in rows):
                continue
            sent = sorted(row.type for row in rows if row.outcome == "sent")
            assert sent == sorted(person.executed), (enrollment, sent, person.executed)


def test_enrollments_keep_their_promises_whatever_happens_to_them(database_url: str) -> None:
    machines.run(Enrollments, database_url)
