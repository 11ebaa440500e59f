"""Enrolling: who is enrolled and when their first step goes out, decided once for preview and execution alike."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from models.rules.outreach.calendar import Calendar, Request
from models.rules.outreach.caps import WEEKLY, Cap, counts_against, monday, utc_day
from models.rules.outreach.rendering import Caution, Rendered, first_message_lacks_notice, render_step
from models.rules.outreach.seeds import action_seed
from models.rules.outreach.sequences import WRITING, Step
from models.rules.outreach.slots import FIRST_TOUCH_HORIZON, Move, Refusal, Slot, find_slot
from models.stores.outreach import persons, sequences
from models.stores.outreach.prospects import Prospect
from models.stores.outreach.texts import Writer
from models.tables import OutreachAccount
from models.tables import Sequence as SequenceRow


@dataclass(frozen=True, slots=True)
class Decided:
    """What becomes of one person. `reason` is null for who is enrolled; `slot` is null for them when a step is held."""

    prospect: Prospect
    seed: str
    request: Request | None = None
    reason: str | None = None
    rendered: tuple[Rendered, ...] = ()
    slot: Slot | None = None
    next_available_at: datetime | None = None
    why: tuple[Move, ...] = ()

    @property
    def enrolled(self) -> bool:
        """Whether the person is enrolled."""
        return self.reason is None


@dataclass(frozen=True, slots=True)
class Enrolling:
    """What people are enrolled into, and how: the same for all of them."""

    sequence: SequenceRow
    steps: Sequence[Step]
    writer: Writer
    calendar: Calendar
    not_before: datetime

    @property
    def first(self) -> Step:
        """The step everybody starts with."""
        return self.steps[0]

    @property
    def holds(self) -> bool:
        """Whether the first step is held for approval."""
        return self.sequence.approve_every_message

    @property
    def cautions(self) -> list[Caution]:
        """What a preview warns of, for each person."""
        found = [Caution.NO_PRIVACY_NOTICE] if first_message_lacks_notice(self.steps) else []
        return [*found, Caution.NEEDS_APPROVAL] if self.holds else found


def into(sequence: SequenceRow, account: OutreachAccount, writer: Writer, calendar: Calendar) -> Enrolling:
    """Enrolling into a sequence with an account's calendar as it stands."""
    steps = sequences.steps_of(sequence)
    due = calendar.now + timedelta(days=steps[0].wait_days)
    held = account.holds.get(steps[0].type)
    not_before = due if held is None else max(due, datetime.fromisoformat(held))
    return Enrolling(sequence, steps, writer, calendar, not_before)


def decide(enrolling: Enrolling, prospects: Sequence[Prospect]) -> list[Decided]:
    """Decide about everybody in order; who gets a slot has it booked in the calendar before the next is looked at."""
    return [_decide(enrolling, one) for one in prospects]


def _decide(enrolling: Enrolling, prospect: Prospect) -> Decided:
    calendar = enrolling.calendar
    seed = action_seed(calendar.caps.account_id, prospect.key, enrolling.first.id or "", prospect.earlier)
    if prospect.obstacle is not None:
        return Decided(prospect, seed, reason=prospect.obstacle.value)
    rendered = _rendered(enrolling, prospect)
    problem = next((one.problem for one in rendered if one.problem is not None), None)
    if problem is not None:
        return Decided(prospect, seed, reason=problem.value, rendered=rendered)
    request = _request(enrolling, seed, rendered[0])
    if enrolling.holds:
        return Decided(prospect, seed, request, rendered=rendered)
    found = find_slot(calendar, request, enrolling.not_before, within=FIRST_TOUCH_HORIZON)
    if isinstance(found, Refusal):
        reason, later = found.rule.value, found.next_available_at
        return Decided(prospect, seed, request, reason, rendered, next_available_at=later, why=found.why)
    calendar.book(request, found.at)
    later = found.at if found.limit is not None else None
    return Decided(prospect, seed, request, None, rendered, found, next_available_at=later, why=found.why)


def _rendered(enrolling: Enrolling, prospect: Prospect) -> tuple[Rendered, ...]:
    writer = enrolling.writer
    notice = persons.notice(writer.vault, writer.public_url, prospect.link_id)
    return tuple(render_step(step, prospect.person, privacy_notice=notice) for step in enrolling.steps)


def _request(enrolling: Enrolling, seed: str, first: Rendered) -> Request:
    step, sequence = enrolling.first, enrolling.sequence
    caps = counts_against(step.type, with_note=first.text is not None, new_outreach=is_first_touch(step))
    return Request(seed=seed, caps=caps, sequence_id=sequence.id, pace=sequence.daily_pace_limit)


def is_first_touch(step: Step) -> bool:
    """Whether the step, taken with somebody not contacted before, counts as new outreach."""
    return step.type in WRITING


def counted(decided: Sequence[Decided]) -> Mapping[str, int]:
    """How many are skipped, by reason."""
    return Counter(one.reason for one in decided if one.reason is not None)


def reached(decided: Sequence[Decided], now: datetime) -> dict[Cap, datetime | None]:
    """The caps that kept somebody out of their present window, and when each next has room, as far as was seen."""
    found: dict[Cap, datetime | None] = {}
    for one in decided:
        for move in one.why:
            cap = _cap(move.rule)
            if cap is not None and cap not in found and _same_window(cap, move.moved_from, now):
                found[cap] = move.moved_to
        closed = _cap(one.reason) if one.reason is not None and one.next_available_at is None else None
        if closed is not None:  # a cap of 0 moves nothing
            found.setdefault(closed, None)
    return found


def _cap(rule: str) -> Cap | None:
    return Cap(rule) if rule in set(Cap) else None


def _same_window(cap: Cap, moment: datetime, now: datetime) -> bool:
    one, other = utc_day(moment), utc_day(now)
    return monday(one) == monday(other) if cap in WEEKLY else one == other
