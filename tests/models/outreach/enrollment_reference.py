"""Reference model of enrollments: what the network executed, and which people no call may reach any more.

It uses no code of the product. Every claim and every execution is checked against the promises to the person.
"""

import hashlib
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from models.outreach.engine.claim import ClaimedAction
from models.outreach.engine.context import Learned
from models.outreach.engine.inbox import ChatLine
from models.outreach.engine.record import Again, CallResult, Done, Heard, NotNeeded, RefusedSend, Unclear
from models.outreach.rules.actions import ActionType
from models.outreach.rules.answers import Seen
from models.outreach.rules.sequences import SequenceStep
from models.outreach.rules.states import ActionReason
from tests.models.outreach.sending_world import FOLLOW_UP, MESSAGE, WITHDRAW

BRUSSELS = ZoneInfo("Europe/Brussels")
CAPS = {"invites_per_day": 1, "invites_per_week": 3}
"""The configured caps of the account."""
INVITES_A_DAY, INVITES_A_WEEK = 1, 2
"""The lowest caps after the jitter of the day and the week: never below 1, and 0.85 to 1 times 3."""
CALL_LIVES = timedelta(seconds=130)
"""An account's next call may begin when the previous one is answered, or this long after its start."""
LONGEST_REST = timedelta(minutes=9)
ADDED = SequenceStep(ActionType.MESSAGE, "s_added", wait_days=2, body="One more thing.", only_after_accept=True)
"""A step that an edit appends."""
REFUSED: dict[str, CallResult] = {
    "busy": Again("busy", timedelta(minutes=1)),
    "refused": RefusedSend(ActionReason.NETWORK_REFUSED),
    "dies": Unclear(),
}


@dataclass
class Person:
    """A person as the network knows them, and the service's commands about them."""

    profile_id: str
    executed: list[ActionType] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    """Steps of the sequence that were executed."""
    texts: list[str] = field(default_factory=list)
    pending: bool = False
    connected: bool = False
    lines: list[ChatLine] = field(default_factory=list)
    left_alone: str | None = None
    """The reason why nothing may be claimed any more."""
    held: bool = False
    """A caller has paused it."""
    ended: str | None = None
    approved: dict[str, str | None] = field(default_factory=dict)
    """Approved texts by action."""
    rejected: set[str] = field(default_factory=set)
    """Actions and their steps."""
    claimed: set[str] = field(default_factory=set)
    """Actions that were claimed so far."""

    @property
    def open(self) -> bool:
        """Whether further calls may follow."""
        return self.ended is None and self.left_alone is None

    @property
    def learned(self) -> Learned:
        """Return what the network shows of the person."""
        return Learned(
            network_id=f"net-{self.profile_id}",
            connected=self.connected,
            pending=self.pending,
            chat_id=f"chat-{self.profile_id}",
        )

    def shows(self, kind: ActionType, text: str | None) -> Seen:
        """Return what reading back finds of an action; an accepted invite can no longer be withdrawn."""
        if kind is ActionType.WITHDRAW_INVITE and self.connected:
            return Seen.MOOT
        done = {
            ActionType.INVITE: ActionType.INVITE in self.executed,
            ActionType.WITHDRAW_INVITE: not self.pending,
            ActionType.MESSAGE: text in self.texts,
        }[kind]
        return Seen.DONE if done else Seen.ABSENT


@dataclass(frozen=True)
class Entry:
    """An executed call: when, of what kind, and the seed of the rest after it."""

    at: datetime
    """Time of its claim; once its answer is recorded, time of the answer."""
    type: ActionType
    seed: str
    action_id: str


@dataclass
class EnrollmentReference:
    """One account's network, and its owner's decisions: texts of steps, removed and added steps, pauses."""

    approves: bool
    version: int = 1
    """Version of the texts, which contain it as `(version)`."""
    removed: str | None = None
    """The step that an edit removed."""
    added: bool = False
    """Whether an edit appended a step."""
    resting: bool = False
    """Whether the sequence is paused."""
    unread: bool = False
    """Whether a callback of the account is unprocessed."""
    log: list[Entry] = field(default_factory=list)

    def may_claim(self, person: Person, claimed: ClaimedAction, decided: int, step_id: str, others: int) -> None:
        """Check a claim against everything that forbids one; `others` are the account's calls in progress."""
        assert claimed.number == decided + 1, "a claim takes the number that was decided for"
        assert person.left_alone is None, f"is claimed although {person.left_alone}"
        assert person.ended is None, f"is claimed although {person.ended}"
        assert not person.held, "a paused enrollment is not claimed"
        assert not self.resting, "nothing is claimed of a paused sequence"
        assert not self.unread, "nothing is claimed before what has come is looked into"
        assert not others, "an account makes one call at a time"
        assert claimed.action_id not in person.rejected, "what was rejected is not sent"
        assert step_id not in person.steps, "a step that was done is not begun again"
        if claimed.action_id not in person.claimed:
            self._is_as_it_reads_now(person, claimed, step_id)
        person.claimed.add(claimed.action_id)

    def _is_as_it_reads_now(self, person: Person, claimed: ClaimedAction, step_id: str) -> None:
        assert step_id != self.removed, "a step that was taken away is not done"
        if claimed.action_id in person.approved:
            assert person.approved[claimed.action_id] == claimed.text, "nothing is sent but what was approved"
            return
        assert not self.approves, "nothing is sent without approval"
        if claimed.text is not None:
            assert f"({self.version})" in claimed.text, "an edit holds for whoever has not reached the step"

    def execute(self, person: Person, claimed: ClaimedAction, answer: str, done: Entry, step_id: str) -> CallResult:
        """Execute a call on the network, and return its answer."""
        refusal = self._refused(person, claimed, answer)
        if refusal is not None:
            return refusal
        self._in_its_time(done)
        person.executed.append(claimed.type)
        person.steps.append(step_id)
        if claimed.type is ActionType.MESSAGE:
            assert person.connected, "only who accepted is written to"
            assert claimed.text not in person.texts, "nothing is written twice"
            person.texts.append(str(claimed.text))
        else:
            assert person.executed.count(claimed.type) == 1, f"{claimed.type} twice"
            person.pending = claimed.type is ActionType.INVITE
        learned = Learned(network_id=f"net-{person.profile_id}", chat_id=f"chat-{person.profile_id}")
        return Unclear(learned=learned) if answer == "lost" else Done(learned=learned)

    @staticmethod
    def _refused(person: Person, claimed: ClaimedAction, answer: str) -> CallResult | None:
        """Return why the network does not execute a call. The last check is for news in the chat."""
        if claimed.type is ActionType.MESSAGE and person.lines:
            return Heard(by_person=True, at=person.lines[0].sent_at)
        if claimed.type is ActionType.WITHDRAW_INVITE and not person.pending:
            return NotNeeded(ActionReason.INVITE_NOT_PENDING)
        if claimed.type is ActionType.INVITE and person.connected:
            return NotNeeded(ActionReason.ALREADY_CONNECTED)
        return REFUSED.get(answer)

    def answered(self, action_id: str, at: datetime) -> None:
        """Record the answer of a call: the account's rest counts from it."""
        if self.log and self.log[-1].action_id == action_id:
            self.log[-1] = replace(self.log[-1], at=at)

    def _in_its_time(self, done: Entry) -> None:
        """Check working hours, rests and the caps of invites by the network's own log."""
        local = done.at.astimezone(BRUSSELS)
        assert local.isoweekday() <= 5, f"on a weekend: {local}"
        assert 8 <= local.hour < 19, f"outside the working hours: {local}"
        if self.log:
            last = self.log[-1]
            assert done.at - last.at >= rest(last), (
                f"{done.at - last.at} after the one before, which rests {rest(last)}"
            )
        if done.type is ActionType.INVITE:
            invites = [one.at for one in self.log if one.type is done.type]
            today = [at for at in invites if at.date() == done.at.date()]
            assert len(today) < INVITES_A_DAY, "more invites in a day than the account may send"
            week = [at for at in invites if at.isocalendar()[:2] == done.at.isocalendar()[:2]]
            assert len(week) < INVITES_A_WEEK, "more invites in a week than the account may send"
        self.log.append(done)

    def all_was_done(self, person: Person) -> None:
        """Check the executed steps of an enrollment that is reported as complete."""
        assert WITHDRAW.id in person.rejected or not person.pending, "an invite that nobody accepted is withdrawn"
        if MESSAGE.id in person.steps:  # accepted in time
            owed = {FOLLOW_UP.id} - {self.removed} | ({ADDED.id} if self.added else set())
            assert owed <= {*person.steps, *person.rejected}, "whoever accepted is sent every step"


def rest(last: Entry) -> timedelta:
    """Return the shortest rest of the account after a call, recomputed from its seed.

    The rest, with its hour's factor, counts from the result. A call after the longest possible rest needs no check.
    """
    chance = int.from_bytes(hashlib.sha256(last.seed.encode()).digest()[:8], "big") / 2**64
    hours = {(last.at + later).astimezone(BRUSSELS).hour for later in (timedelta(), LONGEST_REST)}
    factor = min(3 if hour == 12 else 1 if 10 <= hour < 16 else 1.5 for hour in hours)
    return timedelta(seconds=45 + 135 * chance) * factor
