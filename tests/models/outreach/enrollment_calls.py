"""Calls of the enrollment state machine: people in a sequence, and the steps up to the next call of each.

Everything goes through the stores, and every claim and call is compared with the reference model.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database
from models.base.errors import ServiceError
from models.base.secrets import Vault
from models.base.steps import Decision, Do
from models.outreach.engine import actions
from models.outreach.engine.claim import ClaimedAction
from models.outreach.engine.plan import OUTREACH_RECONCILE, OUTREACH_SEND
from models.outreach.engine.record import CallResult, ChannelReading, Heard
from models.outreach.rules.actions import ActionType
from models.outreach.rules.answers import ReadingBack, Seen
from models.outreach.rules.sequences import SequenceStep
from models.outreach.rules.states import FINAL_ENROLLMENTS, ActionOutcome
from models.outreach.tables import Action
from tests.models.conftest import SECRET, join
from tests.models.outreach.enrollment_reference import ADDED, CALL_LIVES, CAPS, EnrollmentReference, Entry, Person
from tests.models.outreach.sending_world import FOLLOW_UP, INVITE, MESSAGE, WITHDRAW, World

T = TypeVar("T")
TURNS = 14
"""The most decisions that lead to a person's next call; if there is none by then, it does not come."""
A_MOMENT = timedelta(milliseconds=5)
OPEN_CALL = "select type, text from actions where enrollment_id = :id and outcome in ('sending', 'reconciling')"
UNSETTLED = frozenset({ActionOutcome.SENDING, ActionOutcome.RECONCILING, ActionOutcome.UNKNOWN})


@dataclass(frozen=True)
class Claim:
    """A claim of an action: its number, and the action's step and seed."""

    number: int
    step_id: str
    seed: str


class Calls:
    """A few people in one sequence of one account."""

    def __init__(self, runner: asyncio.Runner, database: Database, *, approves: bool) -> None:
        self._runner = runner
        self.world = World(database, Vault(SECRET), self.do(database.run(join)))
        self.model = EnrollmentReference(approves)
        self.people: dict[str, Person] = {}
        self.late: list[tuple[str, ClaimedAction, CallResult]] = []
        self.under_way: dict[str, datetime] = {}
        self.last_claims: dict[str, Claim] = {}
        """By action."""
        self.fog = False
        """Whether reading back fails."""
        self.do(self.world.open(*self._steps(), approve_every_message=approves))
        self.sql(
            "update outreach_accounts set provider_id = id, network_user_id = id, caps = cast(:caps as json)"
            " where id = :id",
            caps=str(CAPS).replace("'", '"'),
            id=self.world.account_id,
        )

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def sql(self, statement: str, **values: Any) -> list[Any]:
        return self.do(self.world.sql(statement, **values))

    @property
    def now(self) -> datetime:
        return self.do(self.world.now())

    def asked(self, work: Callable[[AsyncSession], Coroutine[Any, Any, T]]) -> T | None:
        """Run an operation of a caller; return null when it is refused."""
        try:
            return self.do(self.world.run(work))
        except ServiceError:
            return None

    def _steps(self) -> list[SequenceStep]:
        mark = f" ({self.model.version})"
        written = [
            replace(INVITE, note=f"{INVITE.note}{mark}"),
            replace(MESSAGE, body=f"{MESSAGE.body}{mark}"),
            replace(FOLLOW_UP, body=f"{FOLLOW_UP.body}{mark}"),
            WITHDRAW,
            *([replace(ADDED, body=f"{ADDED.body}{mark}")] if self.model.added else []),
        ]
        return [step for step in written if step.id != self.model.removed]

    def call(self, enrollment: str) -> None:
        """Make the next call without anything else in between."""
        number = self.until_due(enrollment, "approve")
        claimed = self.claim(enrollment, number) if number is not None else None
        if claimed is not None:
            self.write(enrollment, claimed, self.execute(enrollment, claimed, "done"))

    def until_due(self, enrollment: str, judged: str) -> int | None:
        """Advance time until a person's next call, and return its number, or null when none comes on its own."""
        for _ in range(TURNS):
            decision = self.do(self.world.decide(enrollment))
            self._means_something(enrollment, decision)
            if decision.need == OUTREACH_SEND:
                return decision.number
            if decision.need == OUTREACH_RECONCILE:
                self._read(enrollment, decision.number)
            elif decision.do is Do.WAIT and decision.until is not None:
                self.do(self.world.at(decision.until + A_MOMENT))
            elif not self._decided_by_a_person(enrollment, judged):
                return None
        return None

    def _means_something(self, enrollment: str, decision: Decision) -> None:
        """Check that no person is forgotten: there is a time, a step, or a reason why a caller has to act."""
        if decision.do is Do.WAIT:
            assert decision.until is not None or decision.reason
        has_ended = any((decision.details or "").startswith(f"**{status}**") for status in FINAL_ENROLLMENTS)
        if decision.do is Do.DONE:
            assert has_ended, decision
        elif has_ended:  # it was stopped in the middle of a call
            assert self.do(self.world.last(enrollment)).outcome in UNSETTLED, decision

    def _read(self, enrollment: str, number: int) -> None:
        """Read the action under way back from the network."""
        ((kind, text),) = self.sql(OPEN_CALL, id=enrollment)
        seen = Seen.UNREADABLE if self.fog else self.people[enrollment].shows(ActionType(kind), text)
        self.do(self.world.record(enrollment, number, ChannelReading(ReadingBack(self.now, seen))))

    def _decided_by_a_person(self, enrollment: str, judged: str) -> bool:
        """Let a person approve or reject a pending action, or settle the outcome of a call."""
        found = self.sql("select id from actions where enrollment_id = :id and ended_at is null", id=enrollment)
        action = self.do(self.world.action(found[0].id)) if found else None
        if action is not None and action.outcome == ActionOutcome.AWAITING_APPROVAL:
            return self._judged(self.people[enrollment], action, judged)
        if action is not None and action.outcome == ActionOutcome.UNKNOWN:
            sent = self.people[enrollment].shows(ActionType(action.type), action.text) is Seen.DONE
            self.asked(lambda session: actions.settle(session, self.world.member.tenant, action.id, sent=sent))
            return True
        return False

    def _judged(self, person: Person, action: Action, judged: str) -> bool:
        tenant = self.world.member.tenant

        async def approve(session: AsyncSession) -> list[str | None]:
            seen = await actions.preview_approval(session, self.world.writer, tenant, action.id)
            actions.approve(seen, preview_hash=seen.preview_hash)
            return [seen.action.text]

        if judged == "reject":
            if self.asked(lambda session: actions.reject(session, tenant, action.id)) is not None:
                person.rejected |= {action.id, str(action.step_id)}
            return True
        approved = self.asked(approve)
        if approved is not None:
            (person.approved[action.id],) = approved
            return True
        self.do(self.world.later(hours=24))  # today's cap has no room for it
        return not (person.left_alone or person.held or self.model.resting)

    def claim(self, enrollment: str, number: int) -> ClaimedAction | None:
        """Claim the decided action, unless something forbids it by now."""
        claimed = self.do(self.world.claim(enrollment, number))
        if not isinstance(claimed, ClaimedAction):
            return None
        at = claimed.claimed_at
        others = [one for one, then in self.under_way.items() if one != claimed.action_id and at - then < CALL_LIVES]
        ((step_id, seed),) = self.sql("select step_id, seed from actions where id = :id", id=claimed.action_id)
        self.model.may_claim(self.people[enrollment], claimed, number, step_id, len(others))
        self.under_way[claimed.action_id] = at
        self.last_claims[claimed.action_id] = Claim(claimed.number, step_id, seed)
        return claimed

    def execute(self, enrollment: str, claimed: ClaimedAction, answer: str) -> CallResult:
        """Execute the call on the network."""
        claim = self.last_claims[claimed.action_id]
        entry = Entry(claimed.claimed_at, claimed.type, claim.seed, claimed.action_id)
        return self.model.execute(self.people[enrollment], claimed, answer, entry, claim.step_id)

    def write(self, enrollment: str, claimed: ClaimedAction, result: CallResult) -> None:
        """Record the result of a call."""
        self.do(self.world.result(claimed, result))
        self.under_way.pop(claimed.action_id, None)
        if isinstance(result, Heard):
            person = self.people[enrollment]
            person.left_alone = person.left_alone or "replied"
