"""Enrolling: who is named, what keeps a person out, and when the first step of each goes out.

The same decisions serve the preview and the execution.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base import outbox
from models.base.errors import InvalidRequest
from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.tenants import Tenant
from models.events.rules.catalogue import EventType
from models.outreach.engine.context import RecipientFacts, complete_recipient, facts_for_messages, opt_out_sentence
from models.outreach.engine.plan import Writer, publish_action_event, publish_enrollment_event, values_hash
from models.outreach.rules.actions import CONTACTING, OutreachCap
from models.outreach.rules.caps import WEEKLY, action_seed, counts_against, monday, utc_day
from models.outreach.rules.sequences import SequenceStep, steps_of
from models.outreach.rules.slots import FIRST_TOUCH_HORIZON, Calendar, Request, Slot, SlotMove, SlotRefusal, find_slot
from models.outreach.rules.states import ActionOutcome, ActionReason, EnrollmentStatus
from models.outreach.rules.texts import Caution, Recipient, StepText, first_message_lacks_notice, render_step
from models.outreach.store import calendars, sequences
from models.outreach.store.accounts import LockedAccount
from models.outreach.tables import OPEN_ENROLLMENTS, Action, Enrollment, OutreachAccount
from models.outreach.tables import OutreachSequence as SequenceRow
from models.people.store import lists, people, suppressions
from models.people.tables import ListPerson
from models.sourcing import store as sourcing_store
from models.sourcing.tables import Candidate

MOST = 500
"""People of one enrollment, all sources together."""


@dataclass(frozen=True, slots=True)
class Given:
    """A person whom the caller names by id or canonical profile URL, and the values the caller gives for them."""

    profile_id: str | None = None
    profile_url: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the people come from. `limit` bounds run and list, each."""

    run_id: str | None = None
    list_id: str | None = None
    given: Sequence[Given] = ()
    limit: int = 100


@dataclass(frozen=True, slots=True)
class EnrolledPerson:
    """A person to enroll. `profile_id` is the id that stands for them.

    It is null for an unknown person who is only previewed; `known` is false for an id that does not exist.
    """

    profile_id: str | None
    profile_url: str | None
    values: Mapping[str, str]
    known: bool = True


async def gather(session: AsyncSession, vault: Vault, tenant: Tenant, sources: Sources) -> list[EnrolledPerson]:
    """Return the people that the sources name, each once, in the order run, list, ids, candidates; only read.

    Raises `NotFound` for a run or list of another tenant, and `InvalidRequest` for more than 500 people.
    """
    given = [
        *(Given(profile_id=one) for one in await _of_run(session, tenant, sources)),
        *(Given(profile_id=one) for one in await _of_list(session, tenant, sources)),
        *sources.given,
    ]
    met = await _met(session, vault, {one.profile_url for one in given if one.profile_url is not None})
    asked = [one.profile_id or met.get(one.profile_url or "") for one in given]
    standing = await people.current_ids(session, {one for one in asked if one is not None})
    found = once(_named(one, profile_id, standing) for one, profile_id in zip(given, asked, strict=True))
    if len(found) > MOST:
        raise InvalidRequest(
            f"An enrollment takes at most {MOST} people; these are {len(found)}.", field=_last_field(sources)
        )
    return found


def _named(given: Given, profile_id: str | None, standing: Mapping[str, str]) -> EnrolledPerson:
    if profile_id is None:
        return EnrolledPerson(None, given.profile_url, given.values)
    known = profile_id in standing
    return EnrolledPerson(standing.get(profile_id, profile_id), given.profile_url, given.values, known=known)


def once(named: Iterable[EnrolledPerson]) -> list[EnrolledPerson]:
    """Return each person at the first place they are named; later values of the same field win."""
    found: dict[str, EnrolledPerson] = {}
    for one in named:
        key = one.profile_id or one.profile_url or ""
        there = found.get(key)
        values = one.values if there is None else {**there.values, **one.values}
        url = one.profile_url or (there.profile_url if there else None)
        found[key] = EnrolledPerson(one.profile_id, url, values, known=one.known)
    return list(found.values())


def _last_field(sources: Sources) -> str:
    if any(one.profile_url is not None or one.values for one in sources.given):
        return "candidates"
    return "profile_ids" if sources.given else "limit"


async def _of_run(session: AsyncSession, tenant: Tenant, sources: Sources) -> Sequence[str]:
    if sources.run_id is None:
        return ()
    await sourcing_store.load_run(session, tenant, sources.run_id)
    query = select(col(Candidate.profile_id)).where(
        col(Candidate.run_id) == sources.run_id, col(Candidate.tenant_id) == tenant.id
    )
    return (await session.scalars(query.order_by(col(Candidate.position)).limit(sources.limit))).all()


async def _of_list(session: AsyncSession, tenant: Tenant, sources: Sources) -> Sequence[str]:
    if sources.list_id is None:
        return ()
    await lists.load_people_list(session, tenant, sources.list_id)
    query = select(col(ListPerson.profile_id)).where(col(ListPerson.list_id) == sources.list_id)
    order = (col(ListPerson.created_at).desc(), col(ListPerson.profile_id).desc())
    return (await session.scalars(query.order_by(*order).limit(sources.limit))).all()


MET = text("select hash, profile_id from person_keys where hash = any(cast(:hashes as bytea[]))")


async def _met(session: AsyncSession, vault: Vault, profile_urls: Iterable[str]) -> dict[str, str]:
    """Return the ids of known people by canonical URL."""
    hashes = {people.url_hash(vault, url): url for url in profile_urls}
    rows = await session.execute(MET, {"hashes": list(hashes)})
    return {hashes[key_hash]: profile_id for key_hash, profile_id in rows}


async def lock_named(
    session: AsyncSession, vault: Vault, tenant: Tenant, named: Sequence[EnrolledPerson]
) -> list[EnrolledPerson]:
    """Lock the same people under their present ids; unknown people get an id."""
    new = {one.profile_url for one in named if one.profile_id is None and one.profile_url is not None}
    made = await people.people_by_url(session, vault, new, workspace_id=tenant.workspace_id) if new else {}
    asked = [one.profile_id or made[one.profile_url or ""] for one in named]
    standing = await people.lock_people(session, asked)
    return once(
        EnrolledPerson(standing.get(profile_id, profile_id), one.profile_url, one.values, known=profile_id in standing)
        for one, profile_id in zip(named, asked, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Prospect:
    """A person to enroll. `obstacle` is why they are not; `key` and `earlier` go into the seed of the first action.

    `link_id` is the id that the opt-out link is made of: their own, or for an unknown person an unused one, which makes
    a link of the same length.
    """

    profile_id: str | None
    profile_url: str | None
    link_id: str
    values: dict[str, str]
    person: Recipient
    key: str
    earlier: int
    obstacle: ActionReason | None


REGISTERED = text(
    f"""
    select asked.id, coalesce(e.do_not_contact, false) as do_not_contact,
           e.contacted_at is not null
           or exists (select from enrollments o where o.tenant_id = :tenant and o.profile_id = asked.id
                         and {OPEN_ENROLLMENTS}) as contacted,
           (select count(*) from actions x where x.profile_id = asked.id and x.account_id = :account) as earlier
      from unnest(cast(:ids as text[])) as asked(id)
      left join seen_entries e on e.tenant_id = :tenant and e.profile_id = asked.id
    """  # noqa: S608 - a constant of the tables
)


@dataclass(frozen=True, slots=True)
class _Registered:
    do_not_contact: bool = False
    contacted: bool = False
    earlier: int = 0


async def read_prospects(
    session: AsyncSession, vault: Vault, held: LockedAccount, named: Sequence[EnrolledPerson]
) -> list[Prospect]:
    """Return what is known of each person, in order, with three queries whatever their number."""
    ids = [one.profile_id for one in named if one.profile_id is not None and one.known]
    hidden = await suppressions.suppressed_among(session, held.tenant, ids)
    asked = {"ids": ids, "tenant": held.tenant.id, "account": held.account.id}
    registered = {row.id: _Registered(*row[1:]) for row in await session.execute(REGISTERED, asked)}
    facts = await facts_for_messages(session, held.tenant, ids)
    unused_id = new_id("prof", held.now)
    return [_prospect(vault, one, hidden, registered, facts, unused_id=unused_id) for one in named]


def _prospect(
    vault: Vault,
    named: EnrolledPerson,
    hidden: set[str],
    registered: dict[str, _Registered],
    facts: dict[str, RecipientFacts],
    *,
    unused_id: str,
) -> Prospect:
    noted = registered.get(named.profile_id or "", _Registered())
    known = facts.get(named.profile_id or "")
    url = (known.profile_url if known else None) or named.profile_url
    suppressed = named.profile_id in hidden
    values = dict(named.values)
    return Prospect(
        profile_id=named.profile_id,
        profile_url=None if suppressed or not named.known else url,
        link_id=named.profile_id or unused_id,
        values=values,
        person=complete_recipient(known.person if known else Recipient(), values),
        key=known.key if known else people.url_hash(vault, url).hex() if url else "",
        earlier=noted.earlier,
        obstacle=_obstacle(noted, found=named.known and url is not None, suppressed=suppressed),
    )


def _obstacle(noted: _Registered, *, found: bool, suppressed: bool) -> ActionReason | None:
    if suppressed:
        return ActionReason.SUPPRESSED
    if not found:
        return ActionReason.NOT_FOUND
    if noted.do_not_contact:
        return ActionReason.DO_NOT_CONTACT
    return ActionReason.ALREADY_CONTACTED if noted.contacted else None


@dataclass(frozen=True, slots=True)
class EnrollingDecision:
    """What becomes of one person. `reason` is null for an enrolled one, whose `slot` is null when the step is held."""

    prospect: Prospect
    seed: str
    request: Request | None = None
    reason: str | None = None
    rendered: tuple[StepText, ...] = ()
    slot: Slot | None = None
    next_available_at: datetime | None = None
    why: tuple[SlotMove, ...] = ()

    @property
    def enrolled(self) -> bool:
        """Whether the person is enrolled."""
        return self.reason is None


@dataclass(frozen=True, slots=True)
class Enrolling:
    """What people are enrolled into, and how: the same for all of them."""

    sequence: SequenceRow
    steps: Sequence[SequenceStep]
    writer: Writer
    calendar: Calendar
    not_before: datetime

    @property
    def first(self) -> SequenceStep:
        """The first step of the sequence."""
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
    """Prepare enrolling into a sequence with an account's present calendar."""
    steps = steps_of(sequence.steps)
    due = calendar.now + timedelta(days=steps[0].wait_days)
    held = account.holds.get(steps[0].type)
    not_before = due if held is None else max(due, datetime.fromisoformat(held))
    return Enrolling(sequence, steps, writer, calendar, not_before)


def decide_enrolling(enrolling: Enrolling, prospects: Sequence[Prospect]) -> list[EnrollingDecision]:
    """Decide about each person in order; a slot is booked in the calendar before the next person is decided."""
    return [_decide(enrolling, one) for one in prospects]


def _decide(enrolling: Enrolling, prospect: Prospect) -> EnrollingDecision:
    calendar = enrolling.calendar
    seed = action_seed(calendar.caps.account_id, prospect.key, enrolling.first.id or "", prospect.earlier)
    if prospect.obstacle is not None:
        return EnrollingDecision(prospect, seed, reason=prospect.obstacle.value)
    writer, sequence, first = enrolling.writer, enrolling.sequence, enrolling.first
    notice = opt_out_sentence(writer.vault, writer.public_url, prospect.link_id)
    rendered = tuple(render_step(step, prospect.person, privacy_notice=notice) for step in enrolling.steps)
    problem = next((one.problem for one in rendered if one.problem is not None), None)
    if problem is not None:
        return EnrollingDecision(prospect, seed, reason=problem.value, rendered=rendered)
    with_text, new_outreach = rendered[0].text is not None, first.type in CONTACTING
    caps = counts_against(first.type, with_text=with_text, new_outreach=new_outreach)
    request = Request(seed=seed, caps=caps, sequence_id=sequence.id, pace=sequence.daily_pace_limit)
    if enrolling.holds:
        return EnrollingDecision(prospect, seed, request, rendered=rendered)
    found = find_slot(calendar, request, enrolling.not_before, within=FIRST_TOUCH_HORIZON)
    if isinstance(found, SlotRefusal):
        reason, later = found.rule.value, found.next_available_at
        return EnrollingDecision(prospect, seed, request, reason, rendered, next_available_at=later, why=found.why)
    calendar.book(request, found.at)
    later = found.at if found.limit is not None else None
    return EnrollingDecision(prospect, seed, request, None, rendered, found, next_available_at=later, why=found.why)


def counted(decided: Sequence[EnrollingDecision]) -> Mapping[str, int]:
    """Return how many people are skipped, by reason."""
    return Counter(one.reason for one in decided if one.reason is not None)


def reached(decided: Sequence[EnrollingDecision], now: datetime) -> dict[OutreachCap, datetime | None]:
    """Return the caps that kept people out of their present window, and when each next has room as far as known."""
    found: dict[OutreachCap, datetime | None] = {}
    for one in decided:
        for move in one.why:
            cap = move.rule
            if isinstance(cap, OutreachCap) and cap not in found and _same_window(cap, move.moved_from, now):
                found[cap] = move.moved_to
        if one.reason in set(OutreachCap) and one.next_available_at is None:  # a cap of 0 moves nothing
            found.setdefault(OutreachCap(one.reason), None)
    return found


def _same_window(cap: OutreachCap, moment: datetime, now: datetime) -> bool:
    one, other = utc_day(moment), utc_day(now)
    return monday(one) == monday(other) if cap in WEEKLY else one == other


async def enter(
    session: AsyncSession,
    held: LockedAccount,
    enrolling: Enrolling,
    decided: Sequence[EnrollingDecision],
    *,
    api_key_id: str,
) -> list[Enrollment]:
    """Write the enrollments and their first actions, mark the people contacted, publish the events and wake the rows.

    The caller holds the locks. The first people of an account start its warm-up. A cap that kept people out is
    published once in its window.
    """
    account, now = held.account, held.now
    entered = [one for one in decided if one.enrolled]
    rows = [_enrollment(held, enrolling, one, place) for place, one in enumerate(entered)]
    session.add_all(rows)
    await session.flush()
    for row, one in zip(rows, entered, strict=True):
        action = _action(row, enrolling, one, api_key_id=api_key_id)
        session.add(action)
        publish_enrollment_event(session, EventType.ENROLLMENT_CREATED, row, now)
        if action.outcome == ActionOutcome.AWAITING_APPROVAL:
            publish_action_event(session, EventType.ACTION_AWAITING_APPROVAL, action, now)
    if rows:
        account.warmup_started_at = account.warmup_started_at or now
        await sequences.mark_contacted(session, held.tenant, {row.profile_id for row in rows}, now)
        await outbox.notify(session)
    for cap, later in reached(decided, now).items():
        await calendars.tell_reached(session, account, cap, next_available_at=later, now=now)
    return rows


def _enrollment(held: LockedAccount, enrolling: Enrolling, one: EnrollingDecision, place: int) -> Enrollment:
    return Enrollment(
        id=new_id("enr", held.now),
        workspace_id=held.tenant.workspace_id,
        tenant_id=held.tenant.id,
        sequence_id=enrolling.sequence.id,
        account_id=held.account.id,
        profile_id=one.prospect.profile_id or "",
        status=(EnrollmentStatus.AWAITING_APPROVAL if enrolling.holds else EnrollmentStatus.SCHEDULED).value,
        given=one.prospect.values,
        position=place,
        next_action_at=one.slot.at if one.slot is not None else None,
        rings=1,
        created_at=held.now,
    )


def _action(row: Enrollment, enrolling: Enrolling, one: EnrollingDecision, *, api_key_id: str) -> Action:
    step, first = enrolling.first, one.rendered[0]
    held = enrolling.holds
    return Action(
        id=new_id("act", row.created_at),
        workspace_id=row.workspace_id,
        tenant_id=row.tenant_id,
        type=step.type.value,
        outcome=(ActionOutcome.AWAITING_APPROVAL if held else ActionOutcome.SCHEDULED).value,
        why=[move.shown() for move in one.why],
        seed=one.seed,
        account_id=row.account_id,
        profile_id=row.profile_id,
        enrollment_id=row.id,
        sequence_id=row.sequence_id,
        step_id=step.id,
        step_index=0,
        first_touch=step.type in CONTACTING,
        starts_sequence=True,
        text=first.text,
        text_fixed=held,
        values_hash=values_hash(one.prospect.person) if held else None,
        not_before=enrolling.not_before,
        scheduled_at=one.slot.at if one.slot is not None else None,
        api_key_id=api_key_id,
        created_at=row.created_at,
    )
