"""Enrolling people, and reading, pausing, resuming and stopping their enrollments (contract, section 7)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from api.kernel.operation import Context, Effect, operation
from api.kernel.schemas import Listing
from api.outreach.actions import tell_cap
from api.outreach.sequences import OUTREACH
from api.outreach.sequences_schemas import (
    Enroll,
    Enrolled,
    EnrollmentPreview,
    EnrollmentView,
    EnrollmentWithActions,
    GivenCandidate,
    ListEnrollments,
    PreviewCounts,
    PreviewRow,
    RenderedStep,
    ResumePreview,
    SkippedPerson,
)
from api.people.named_people import canonical, in_body
from api.sourcing.runs_schemas import WouldFail
from models.access.rules.keys import Scope
from models.base.errors import Conflict, InvalidRequest, NotFound, OutreachCapReached, ServiceError
from models.outreach.engine import enroll as engine_enroll
from models.outreach.engine import stop
from models.outreach.engine.actions import refuse_capped
from models.outreach.engine.context import EnrollmentContext, lock_enrollment_context
from models.outreach.engine.enroll import EnrolledPerson, Enrolling, EnrollingDecision, Given, Sources
from models.outreach.engine.plan import Writer
from models.outreach.engine.stop import Ahead
from models.outreach.rules.answers import next_available_at
from models.outreach.rules.states import AccountStatus, EnrollmentStatus, SequenceStatus
from models.outreach.store import accounts, calendars, sequences
from models.outreach.store.accounts import LockedAccount
from models.outreach.store.sequences import EnrollmentFilters
from models.outreach.tables import Enrollment, OutreachSequence
from models.people.store import people, suppressions


@operation(
    "outreach_enrollments.create",
    scope=Scope.OUTREACH_SEND,
    effect=Effect.SEND,
    route=OUTREACH.post("/outreach/enrollments", status=201),
)
async def enroll(ctx: Context, ask: Enroll) -> Enrolled | EnrollmentPreview:
    """Enroll up to 500 people into a sequence; `?dry_run=true` gives a row for each, and writes nothing."""
    asked = _sources(ask)
    sequence = await sequences.load_sequence(ctx.session, ctx.tenant, ask.sequence_id)
    named = await engine_enroll.gather(ctx.session, ctx.vault, ctx.tenant, asked)
    if ctx.dry_run:
        return await _preview(ctx, sequence, named)
    await accounts.refuse_unverified(ctx.session, ctx.tenant, needed=ctx.settings.email_verification)
    held = await accounts.lock_account(ctx.session, ctx.tenant, sequence.account_id)
    sequence = await sequences.keep_sequence(ctx.session, ctx.tenant, ask.sequence_id)
    refused = _refusal(sequence, held)
    if refused is not None:
        raise refused
    named = await engine_enroll.lock_named(ctx.session, ctx.vault, ctx.tenant, named)
    held = replace(held, now=await ctx.read_clock())
    into, decided = await _decided(ctx, sequence, held, named)
    made = await engine_enroll.enter(ctx.session, held, into, decided, api_key_id=ctx.caller.api_key_id)
    ctx.woken.extend(sequences.enrollment_subject(row.id) for row in made[:1])
    return Enrolled(
        enrolled=len(made),
        skipped=[_skipped(one) for one in decided if not one.enrolled],
        enrollments=[EnrollmentView.of(row) for row in made],
    )


async def _decided(
    ctx: Context, sequence: OutreachSequence, held: LockedAccount, named: Sequence[EnrolledPerson]
) -> tuple[Enrolling, list[EnrollingDecision]]:
    """What becomes of everybody: the same for preview and execution, from the same rows and clock."""
    found = await engine_enroll.read_prospects(ctx.session, ctx.vault, held, named)
    calendar = await calendars.load_calendar(ctx.session, held)
    into = engine_enroll.into(sequence, held.account, _writer(ctx), calendar)
    return into, engine_enroll.decide_enrolling(into, found)


def _writer(ctx: Context) -> Writer:
    return Writer(ctx.vault, ctx.settings.public_url)


def _sources(ask: Enroll) -> Sources:
    """Raises `InvalidRequest` for a body without a source, and for a candidate whom nothing names."""
    if ask.run_id is None and ask.list_id is None and not ask.profile_ids and not ask.candidates:
        raise InvalidRequest("Give at least one of run_id, list_id, profile_ids and candidates.", field="profile_ids")
    given = [Given(profile_id=one) for one in ask.profile_ids]
    given += [_given(one, place) for place, one in enumerate(ask.candidates)]
    return Sources(run_id=ask.run_id, list_id=ask.list_id, given=given, limit=ask.limit)


def _given(one: GivenCandidate, place: int) -> Given:
    named = in_body(one, within=f"candidates.{place}.")
    values = one.model_dump(include={"full_name", "first_name", "company"}, exclude_none=True)
    return Given(profile_id=one.profile_id, profile_url=canonical(named), values=values)


def _refusal(sequence: OutreachSequence, held: LockedAccount) -> ServiceError | None:
    """Return why the sequence takes no enrollments now; null if it does, or after a pause with a known end."""
    if sequence.status != SequenceStatus.ACTIVE:
        return Conflict(f"The sequence is {sequence.status}.", fix="Make it active first.", status=sequence.status)
    account = held.account
    status = AccountStatus(account.status)
    if status is AccountStatus.PAUSED and next_available_at(status, account.paused_until, held.now) is not None:
        return None
    if account.trouble is not None and status is AccountStatus.ACTIVE:
        return None  # passing trouble delays sends, not plans
    try:
        accounts.refuse_unready(account, held.now)
    except ServiceError as error:
        return error
    return None


async def _preview(ctx: Context, sequence: OutreachSequence, named: Sequence[EnrolledPerson]) -> EnrollmentPreview:
    """Read without a lock, so that no send has to wait for it."""
    account = await accounts.load_account(ctx.session, ctx.tenant, sequence.account_id)
    held = LockedAccount(account, await accounts.read_settings(ctx.session, ctx.tenant), ctx.now)
    refused = _refusal(sequence, held)
    if isinstance(refused, NotFound):
        raise refused
    refused = await _unverified(ctx) or refused
    into, decided = await _decided(ctx, sequence, held, named)
    enrolled = [one for one in decided if one.enrolled]
    later = [one.next_available_at for one in decided if one.next_available_at is not None]
    return EnrollmentPreview(
        data=[_row(into, one) for one in decided],
        counts=PreviewCounts(
            people=len(decided),
            schedule=len(enrolled),
            skip=len(decided) - len(enrolled),
            reasons=dict(engine_enroll.counted(decided)),
        ),
        next_available_at=min(later, default=None),
        would_fail=WouldFail(code=refused.code) if refused else None,
    )


async def _unverified(ctx: Context) -> ServiceError | None:
    return await accounts.unverified(ctx.session, ctx.tenant, needed=ctx.settings.email_verification)


def _row(into: Enrolling, one: EnrollingDecision) -> PreviewRow:
    return PreviewRow(
        profile_id=one.prospect.profile_id,
        profile_url=one.prospect.profile_url,
        decision="schedule" if one.enrolled else "skip",
        reason=one.reason,
        rendered=[RenderedStep.of(step) for step in one.rendered],
        scheduled_at=one.slot.at if one.slot else None,
        next_available_at=one.next_available_at,
        warnings=into.cautions if one.rendered else [],
    )


def _skipped(one: EnrollingDecision) -> SkippedPerson:
    return SkippedPerson(
        profile_id=one.prospect.profile_id,
        profile_url=one.prospect.profile_url,
        reason=one.reason or "",
        next_available_at=one.next_available_at,
    )


@operation(
    "outreach_enrollments.list",
    scope=Scope.OUTREACH_READ,
    effect=Effect.READ,
    route=OUTREACH.get("/outreach/enrollments"),
)
async def list_enrollments(ctx: Context, ask: ListEnrollments) -> Listing[EnrollmentView]:
    """Enrollments, newest first, by `status`, `sequence_id`, `account_id` and `profile_id`."""
    paging = ctx.paging(ask)
    ids = await people.ids_of_person(ctx.session, ask.profile_id) if ask.profile_id else None
    filters = EnrollmentFilters(ask.status, ask.sequence_id, ask.account_id, ids)
    return paging.listing(
        await sequences.page_of_enrollments(ctx.session, ctx.tenant, filters, paging.page), EnrollmentView.of
    )


@operation(
    "outreach_enrollments.get",
    scope=Scope.OUTREACH_READ,
    effect=Effect.READ,
    route=OUTREACH.get("/outreach/enrollments/{enrollment_id:id}"),
)
async def get_enrollment(ctx: Context, enrollment_id: str) -> EnrollmentWithActions:
    """One enrollment with its actions."""
    row = await sequences.load_enrollment(ctx.session, ctx.tenant, enrollment_id)
    hidden = await suppressions.suppressed_among(ctx.session, ctx.tenant, [row.profile_id])
    actions = await sequences.actions_of_enrollment(ctx.session, row.id)
    return EnrollmentWithActions.made(row, list(actions), hidden=bool(hidden))


@operation(
    "outreach_enrollments.pause",
    scope=Scope.OUTREACH_WRITE,
    effect=Effect.WRITE,
    route=OUTREACH.post("/outreach/enrollments/{enrollment_id:id}/pause"),
)
async def pause_enrollment(ctx: Context, enrollment_id: str) -> EnrollmentView:
    """Hold the next steps of a person."""
    context, enrollment = await _context(ctx, enrollment_id)
    stop.pause_enrollment_by_hand(context, enrollment)
    await ctx.wake(sequences.enrollment_subject(enrollment.id))
    return EnrollmentView.of(enrollment)


@operation(
    "outreach_enrollments.stop",
    scope=Scope.OUTREACH_WRITE,
    effect=Effect.WRITE,
    route=OUTREACH.post("/outreach/enrollments/{enrollment_id:id}/stop"),
)
async def stop_enrollment(ctx: Context, enrollment_id: str) -> EnrollmentView:
    """End it for good: nothing more is sent, and the person stays marked contacted."""
    context, enrollment = await _context(ctx, enrollment_id)
    await stop.stop(ctx.session, context, enrollment)
    ctx.woken.append(sequences.enrollment_subject(enrollment.id))
    return EnrollmentView.of(enrollment)


@operation(
    "outreach_enrollments.resume",
    scope=Scope.OUTREACH_SEND,
    effect=Effect.SEND,
    route=OUTREACH.post("/outreach/enrollments/{enrollment_id:id}/resume"),
)
async def resume_enrollment(ctx: Context, enrollment_id: str) -> EnrollmentView | ResumePreview:
    """Go on from now; `?dry_run=true` shows when the next step goes out."""
    context, enrollment = await _context(ctx, enrollment_id)
    stop.refuse_resume(context, enrollment)
    going = await stop.resumes_at(ctx.session, context, enrollment)
    refused = _resume_refusal(context, going)
    if ctx.dry_run:
        refused = await _unverified(ctx) or refused
        return ResumePreview(
            enrollment=EnrollmentView.of(enrollment),
            scheduled_at=going.at,
            next_available_at=_named_time(refused) or (going.at if refused else None),
            would_fail=WouldFail(code=refused.code) if refused else None,
        )
    await accounts.refuse_unverified(ctx.session, ctx.tenant, needed=ctx.settings.email_verification)
    if enrollment.status != EnrollmentStatus.PAUSED:
        return EnrollmentView.of(enrollment)
    if refused is not None:
        if isinstance(refused, OutreachCapReached):
            tell_cap(ctx, context.account, refused)
        raise refused
    stop.resume(context, enrollment, going)
    await ctx.wake(sequences.enrollment_subject(enrollment.id))
    return EnrollmentView.of(enrollment)


async def _context(ctx: Context, enrollment_id: str) -> tuple[EnrollmentContext, Enrollment]:
    """The tenant's enrollment with everything it depends on, locked. Raises `NotFound`."""
    await sequences.load_enrollment(ctx.session, ctx.tenant, enrollment_id)
    context = await lock_enrollment_context(ctx.session, enrollment_id)
    if context is None or context.enrollment is None:
        raise NotFound("There is no such enrollment.")
    ctx.now = context.now
    return context, context.enrollment


def _resume_refusal(context: EnrollmentContext, going: Ahead) -> ServiceError | None:
    try:
        accounts.refuse_unready(context.account, context.now)
        if going.slot is not None:
            refuse_capped(going.slot)
    except ServiceError as error:
        return error
    return None


def _named_time(refused: ServiceError | None) -> datetime | None:
    at = refused.details.get("next_available_at") if refused is not None else None
    return datetime.fromisoformat(at) if isinstance(at, str) else None
