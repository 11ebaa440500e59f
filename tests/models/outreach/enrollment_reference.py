"""Reference model of enrollments: what the network executed, and whom no call may reach any more.

It uses no code of the product. Every claim and every execution is checked against the promises made to a person.
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
"""The least that the caps can be after the jitter of the day and the week: never below 1, and 0.85 to 1 times 3."""
CALL_LIVES = timedelta(seconds=130)
"""An account's next call may begin when the one before is answered, or so long after it began (design, section 5)."""
LONGEST_REST = timedelta(minutes=9)
ADDED = SequenceStep(ActionType.MESSAGE, "s_added", wait_days=2, body="One more thing.", only_after_accept=True)
"""A step that an edit puts at the end."""
REFUSED: dict[str, CallResult] = {
    "busy": Again("busy", timedelta(minutes=1)),
    "refused": RefusedSend(ActionReason.NETWORK_REFUSED),
    "dies": Unclear(),
}


@dataclass
class Person:
    """A person as the network knows them, and the commands that the service got about them."""

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
        """Take over what the network shows of the person."""
        return Learned(
            network_id=f"net-{self.profile_id}",
            connected=self.connected,
            pending=self.pending,
            chat_id=f"chat-{self.profile_id}",
        )

    def shows(self, kind: ActionType, text: str | None) -> Seen:
        """Return what a reading back finds of an action; an accepted invite can no longer be withdrawn."""
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
    """Of its claim, and of its answer once that is written."""
    type: ActionType
    seed: str
    action_id: str


@dataclass
class EnrollmentReference:
    """One account's network, and what its owner has said: how steps read, which are held, whether all rests."""

    approves: bool
    version: int = 1
    """Of the texts, which carry it as `(version)`."""
    removed: str | None = None
    """A step that an edit took away."""
    added: bool = False
    """Whether an edit put a step at the end."""
    resting: bool = False
    """The sequence is paused."""
    unread: bool = False
    """A callback of the account has not been looked into."""
    log: list[Entry] = field(default_factory=list)

    def may_claim(self, person: Person, claimed: ClaimedAction, decided: int, step_id: str, others: int) -> None:
        """Hold a claim against all that forbids one; `others` are calls of the account that are under way."""
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
        """Return the network's part of a call: what it does, and what it answers."""
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
        """Why the network does not execute it. A chat with news is not written into: that is the last look before."""
        if claimed.type is ActionType.MESSAGE and person.lines:
            return Heard(by_person=True, at=person.lines[0].sent_at)
        if claimed.type is ActionType.WITHDRAW_INVITE and not person.pending:
            return NotNeeded(ActionReason.INVITE_NOT_PENDING)
        if claimed.type is ActionType.INVITE and person.connected:
            return NotNeeded(ActionReason.ALREADY_CONNECTED)
        return REFUSED.get(answer)

    def answered(self, action_id: str, at: datetime) -> None:
        """The answer of a call is written: the account's rest counts from here."""
        if self.log and self.log[-1].action_id == action_id:
            self.log[-1] = replace(self.log[-1], at=at)

    def _in_its_time(self, done: Entry) -> None:
        """Working hours, rests and the caps of invites, by the network's own log."""
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
        """Hold what was executed against an enrollment that is told to be complete."""
        assert WITHDRAW.id in person.rejected or not person.pending, "an invite that nobody accepted is withdrawn"
        if MESSAGE.id in person.steps:  # accepted in time
            owed = {FOLLOW_UP.id} - {self.removed} | ({ADDED.id} if self.added else set())
            assert owed <= {*person.steps, *person.rejected}, "whoever accepted is sent every step"


def rest(last: Entry) -> timedelta:
    """Return how long the account rests after a call at least (design, section 2), recomputed from its seed.

    The rest counts from the result, and its hour's factor with it. One that comes later than the longest rest of all
    needs no looking at.
    """
    chance = int.from_bytes(hashlib.sha256(last.seed.encode()).digest()[:8], "big") / 2**64
    hours = {(last.at + later).astimezone(BRUSSELS).hour for later in (timedelta(), LONGEST_REST)}
    factor = min(3 if hour == 12 else 1 if 10 <= hour < 16 else 1.5 for hour in hours)
    return timedelta(seconds=45 + 135 * chance) * factor
