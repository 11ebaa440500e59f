"""What every step of a run starts from: its locked row, its plan, its checkpoints, its end."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.database import service_time
from models.base.statuses import RunStatus, StopReason
from models.base.steps import Call, Decision, Do
from models.base.tables import Payload
from models.base.tenants import Tenant, customer_of
from models.billing.rules import prices
from models.billing.store import credits
from models.billing.store.credits import Payer
from models.events.rules.catalogue import RUN_ENDED, RunEnded
from models.events.store import events
from models.people.store import people
from models.sourcing import store as sourcing_store
from models.sourcing.engine.jobs import STANDING
from models.sourcing.rules.filters import PeopleFilters, TierFilters
from models.sourcing.rules.plans import Anchor, Relaxation
from models.sourcing.rules.runs import (
    FINAL,
    LIFE,
    QUEUE_SECONDS,
    UNUSABLE_ANSWERS,
    UPSTREAM_CALL_SECONDS,
    FailureCode,
    Price,
    Room,
    RunStanding,
    Stop,
    Walk,
    exhausted,
    failed_stop,
    retry_delay,
    stop_now,
    upstream_call,
    walk,
)
from models.sourcing.rules.suggestions import helpful
from models.sourcing.tables import Run, SearchPageRow, SearchPlan

CHECKPOINT_LIFE = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class PlannedTier:
    """A tier as the plan stored it."""

    filters: TierFilters
    query_key: str
    label: str


@dataclass(frozen=True, slots=True)
class PlanRead:
    """What a run follows of its plan. `relaxations` are only counted, behind the last tier."""

    tiers: tuple[PlannedTier, ...]
    anchors: tuple[Anchor, ...]
    wishes: tuple[PeopleFilters, ...]
    relaxations: tuple[Relaxation, ...]

    def search(self, number: int) -> PlannedTier:
        """Return the search of a tier (0-based), or behind the last one that of a relaxation."""
        if number < len(self.tiers):
            return self.tiers[number]
        counted = self.relaxations[number - len(self.tiers)]
        return PlannedTier(counted.filters, counted.query_key, f"without {counted.suggestion.field}")

    @property
    def end(self) -> int:
        """The number behind the last search."""
        return len(self.tiers) + len(self.relaxations)


def tenant_of_run(run: Run) -> Tenant:
    """Return the tenant of the run."""
    return Tenant(run.workspace_id, customer_of(run.tenant_id))


def payer_of_run(run: Run) -> Payer:
    """Return who pays for the run."""
    return Payer(run.workspace_id, run.api_key_id, customer_of(run.tenant_id))


_PLANS: dict[str, PlanRead] = {}
_PLANS_KEPT = 256


async def plan_of(session: AsyncSession, run: Run) -> PlanRead:
    """Return the run's plan; plans never change, so that a process reads each one once."""
    known = _PLANS.get(run.plan_id)
    if known is None:
        if len(_PLANS) >= _PLANS_KEPT:
            _PLANS.clear()
        plan = await session.get_one(SearchPlan, run.plan_id)
        known = _PLANS[run.plan_id] = _read(plan.content)
    return known


def _read(content: Payload) -> PlanRead:
    tiers = tuple(
        PlannedTier(TierFilters.model_validate(tier["filters"]), tier["query_key"], tier["label"])
        for tier in content["tiers"]
    )
    anchors = content.get("anchors") or ([content["anchor"]] if content["anchor"] else [])
    return PlanRead(
        tiers=tiers,
        anchors=tuple(map(Anchor.model_validate, anchors)),
        wishes=tuple(map(PeopleFilters.model_validate, content.get("wishes", ()))),
        relaxations=tuple(map(Relaxation.model_validate, content.get("relaxations", ()))),
    )


async def lock_run(session: AsyncSession, run_id: str) -> tuple[Run, datetime]:
    """Return the run, locked until the transaction ends, and the service time after the lock was taken."""
    run = (await session.scalars(select(Run).where(col(Run.id) == run_id).with_for_update())).one()
    return run, await service_time(session)


async def called(session: AsyncSession, run_id: str, number: int) -> tuple[Run | None, datetime]:
    """Return the run, locked, if it still waits for this call; and the service time."""
    run, now = await lock_run(session, run_id)
    return (run if run.call_number == number and run.status not in FINAL else None), now


async def checkpoint(
    session: AsyncSession, workspace_id: str, query_key: str, number: int, now: datetime
) -> SearchPageRow | None:
    """Return a page this workspace has paid for and that is not too old."""
    return (
        await session.scalars(
            select(SearchPageRow).where(
                col(SearchPageRow.workspace_id) == workspace_id,
                col(SearchPageRow.query_key) == query_key,
                col(SearchPageRow.number) == number,
                col(SearchPageRow.created_at) > now - CHECKPOINT_LIFE,
            )
        )
    ).one_or_none()


def start_call(run: Run, status: RunStatus, now: datetime) -> None:
    """Note that an upstream call left the queue."""
    run.status = status
    run.call_started_at = now
    run.retry_at = None


def end_call(run: Run) -> None:
    """End the current call: a later or repeated answer is out of date, and the call is not begun again."""
    run.call_number += 1


def finish_run(session: AsyncSession, run: Run, stop: Stop, now: datetime) -> None:
    """Bring the run to a final state, give back its reservation, and emit the event."""
    run.status = stop.status
    run.stop_reason = stop.reason
    run.finish_detail = stop.detail
    run.failure_code = stop.failure
    run.finished_at = now
    run.retry_at = run.wake_at = None
    end_call(run)  # a call under way, too, is out of date: its answer must not reach an extension
    _drop_chunk(run)
    ended = RunEnded(
        run_id=run.id,
        plan_id=run.plan_id,
        status=stop.status,
        stop_reason=stop.reason,
        candidates=run.candidates_delivered,
        spent_credits=run.spent_credits,
    )
    events.emit(session, tenant_of_run(run), RUN_ENDED[stop.status], ended, now=now)


def _drop_chunk(run: Run) -> None:
    run.chunk = None
    run.reserved_credits = run.reserved_fetches = 0


# What a run does when the source gives no data: put off, fail, or show that it queues.


async def put_off_run(
    session: AsyncSession, run_id: str, number: int, *, after: timedelta | None, at_least: timedelta = timedelta()
) -> None:
    """Put the run off while the source is busy: as long as it said, else longer each time, at least `at_least`."""
    run, now = await called(session, run_id, number)
    if run is None or await _counts_no_more(session, run):
        return
    end_call(run)
    run.failures += 1
    run.status = RunStatus.WAITING_FOR_QUOTA
    run.retry_at = now + (max(retry_delay(run.failures), at_least) if after is None else after)


async def unusable(session: AsyncSession, run_id: str, number: int, *, final: bool) -> None:
    """Handle an unusable answer: try again, and after a few times (or at once) fail."""
    run, now = await called(session, run_id, number)
    if run is None or await _counts_no_more(session, run):
        return
    end_call(run)
    run.failures += 1
    if final or run.failures >= UNUSABLE_ANSWERS:
        finish_run(session, run, failed_stop(FailureCode.UPSTREAM_ERROR), now)
        return
    run.retry_at = now + retry_delay(run.failures)
    run.status = RunStatus.WAITING_FOR_QUOTA


async def _counts_no_more(session: AsyncSession, run: Run) -> bool:
    """Give up counting people without a demand, if that is what the run does: it is not worth waiting for."""
    plan = await plan_of(session, run)
    if run.tier < len(plan.tiers):
        return False
    end_call(run)
    run.tier = plan.end
    return True


async def still_queued(session: AsyncSession, run_id: str, number: int, *, look_again: timedelta) -> Decision:
    """Show the run as waiting for quota, once a call has queued for long, until it starts."""
    run, now = await lock_run(session, run_id)
    if run.call_number == number and run.call_started_at is None and run.status not in FINAL:
        run.status = RunStatus.WAITING_FOR_QUOTA
        run.retry_at = now + look_again
    return _decision(Do.WAIT, run, now, "waits for its turn at the data source")


# What a run needs next, read from its row and everything that may stop it.


RUN_READ_PAGE = "run.read_page"
RUN_READ_AHEAD = "run.read_ahead"
RUN_FETCH_PROFILES = "run.fetch_profiles"
RUN_QUEUED = "run.queued"


async def _standing(session: AsyncSession, run: Run, now: datetime) -> RunStanding:
    asked = {"key": run.api_key_id, "customer": customer_of(run.tenant_id), "now": now}
    row = (await session.execute(STANDING, asked)).one()
    return RunStanding(
        cancelled=run.cancel_requested_at is not None,
        key_valid=row.key_valid,
        workspace_suspended=row.suspended,
        customer_disabled=row.disabled,
        delivered=run.candidates_delivered,
        target=run.target,
        deadline_at=run.deadline_at,
    )


async def decide_run(session: AsyncSession, run_id: str, *, queue_seconds: float = QUEUE_SECONDS) -> Decision:
    """Say what the run needs next; answers every wake up to now and sets `wake_at`."""
    run, now = await lock_run(session, run_id)
    plan = await plan_of(session, run)
    run.answered = run.rings
    run.wake_at = None
    if run.status in FINAL:
        return _decision(Do.DONE, run, now, "has ended")
    if run.started_at is None:
        run.started_at = now
    if run.deadline_at is None:
        run.deadline_at = now + LIFE
    stop = stop_now(await _standing(session, run, now), now)
    if stop is None and run.retry_at is not None and run.retry_at > now:
        run.wake_at = min(run.retry_at, run.deadline_at)
        what = f"data source busy until {run.wake_at:%d %b %H:%M:%S} UTC"
        return _decision(Do.WAIT, run, now, what, until=run.wake_at)
    if stop is None and run.chunk is None:
        stop = await _next_people(session, run, plan, now)
    if stop is not None:
        finish_run(session, run, stop, now)
        return _decision(Do.DONE, run, now, "has ended")
    return await _call(session, run, plan, now, queue_seconds=queue_seconds)


async def _call(session: AsyncSession, run: Run, plan: PlanRead, now: datetime, *, queue_seconds: float) -> Decision:
    """Return the call that delivers the run's chunk, or reads the next page."""
    run.call_number += 1
    run.call_started_at = None
    call = partial(upstream_call, workspace_id=run.workspace_id, number=run.call_number, queue_seconds=queue_seconds)
    tier = f"tier {run.tier + 1} of {len(plan.tiers)}"
    if run.tier >= len(plan.tiers):
        what = f"counts people {plan.search(run.tier).label}"
        return _decision(Do.ACT, run, now, what, call=call(RUN_READ_PAGE, summary=what, queued=RUN_QUEUED))
    if run.chunk is None:
        what = f"reads page {run.page + 1} of {tier}"
        return _decision(Do.ACT, run, now, what, call=call(RUN_READ_PAGE, summary=what, queued=RUN_QUEUED))
    if not run.reserved_fetches:  # everyone in the chunk is cached: no upstream call
        what = f"delivers {len(run.chunk)} known profiles of {tier}"
        deliver = Call(
            step=RUN_FETCH_PROFILES, number=run.call_number, summary=what, limit_seconds=2 * UPSTREAM_CALL_SECONDS
        )
        return _decision(Do.ACT, run, now, what, call=deliver)
    what = f"fetches {run.reserved_fetches} profiles of {tier}"
    fetch = _decision(Do.ACT, run, now, what, call=call(RUN_FETCH_PROFILES, summary=what, queued=RUN_QUEUED))
    if await _needs_next_page(session, run, now):
        then = f"reads page {run.page + 2} of tier {run.tier + 1} meanwhile"
        return replace(fetch, ahead=call(RUN_READ_AHEAD, summary=then))
    return fetch


def _decision(
    do: Do, run: Run, now: datetime, what: str, *, call: Call | None = None, until: datetime | None = None
) -> Decision:
    lines = [
        f"**{run.status}**: {what}",
        f"- delivered {run.candidates_delivered} of {run.target}; looked at {run.people_looked_at} people,"
        f" skipped {run.duplicates_skipped} duplicates, left out {run.omitted_suppressed} suppressed",
        f"- spent {run.spent_credits} of {run.max_credits} credits, {run.spent_pages} pages,"
        f" {run.spent_profile_fetches} live profiles",
    ]
    if run.status in FINAL:
        lines.append(f"- ended: {run.stop_reason or run.failure_code or run.status} ({run.finish_detail or '-'})")
    reason = "" if until is None else what
    return Decision(do, now, call, until=until, reason=reason, status=run.status, details="\n".join(lines))


async def _needs_next_page(session: AsyncSession, run: Run, now: datetime) -> bool:
    """Return whether the page after this one will be needed whatever the chunk yields, and may still be paid."""
    if run.query_key is None or run.candidates_delivered + len(run.chunk or ()) >= run.target:
        return False
    may_read = run.max_pages is None or run.spent_pages < run.max_pages
    may_fetch = (
        run.max_profile_fetches is None or run.spent_profile_fetches + run.reserved_fetches < run.max_profile_fetches
    )
    may_pay = await _funds(session, run) - run.reserved_credits >= prices.LEAD
    if not (may_read and may_fetch and may_pay):
        return False
    page = await checkpoint(session, run.workspace_id, run.query_key, run.page, now)
    return page is not None and page.next_token is not None and run.chunk_offset >= len(page.profile_ids)


async def _next_people(session: AsyncSession, run: Run, plan: PlanRead, now: datetime) -> Stop | None:
    """Walk the paid pages until the run has a chunk to deliver, a page to read, or a reason to stop."""
    while run.tier < len(plan.tiers):
        run.query_key = plan.tiers[run.tier].query_key
        page = await checkpoint(session, run.workspace_id, run.query_key, run.page, now)
        if page is None:
            return await _before_page(session, run)
        people_left = page.profile_ids[run.page_offset :]
        if people_left:
            sorted_out = await _sort_out(session, run, people_left)
            _count(run, sorted_out)
            if sorted_out.chunk:
                return None
            if sorted_out.limit is not None:
                return Stop(RunStatus.COMPLETED, sorted_out.limit)
        if run.page_offset >= len(page.profile_ids):
            _turn_page(run, last=page.next_token is None)
    if await _counts_next(session, run, plan):
        return None
    return exhausted(delivered=run.candidates_delivered)


async def _counts_next(session: AsyncSession, run: Run, plan: PlanRead) -> bool:
    """Go on to the next demand without which people are to be counted; else keep what would help as suggestions.

    A demand that was counted within 30 days is not counted again, and no page beyond the run's bound is read.
    """
    keys = [plan.search(number).query_key for number in range(plan.end)]
    known = (await sourcing_store.remembered_totals(session, keys)).people
    may_read = run.max_pages is None or run.spent_pages < run.max_pages
    while may_read and run.tier < plan.end:
        if plan.search(run.tier).query_key not in known:
            return True
        run.tier += 1
    held = sum(known.get(tier.query_key, 0) for tier in plan.tiers)
    counted = {one.query_key: known[one.query_key] for one in plan.relaxations if one.query_key in known}
    run.suggestions = [one.model_dump(mode="json") for one in helpful(plan.relaxations, counted, found=held)]
    return False


async def _before_page(session: AsyncSession, run: Run) -> Stop | None:
    """Return whether reading another page is ruled out: no pages left to read, or nothing to pay a person with."""
    pages_used_up = run.max_pages is not None and run.spent_pages >= run.max_pages
    if pages_used_up or await _funds(session, run) < prices.LEAD:
        return Stop(RunStatus.COMPLETED, StopReason.BUDGET)
    return None


def _turn_page(run: Run, *, last: bool) -> None:
    run.page_offset = 0
    run.page = 0 if last else run.page + 1
    run.tier += 1 if last else 0


async def _funds(session: AsyncSession, run: Run) -> int:
    """Return the credits the run may still spend: the least of its budget, the balance and the daily caps."""
    return min(run.max_credits - run.spent_credits, await credits.spendable(session, payer_of_run(run)))


async def _sort_out(session: AsyncSession, run: Run, page_people: Sequence[str]) -> Walk:
    found = await people.known_people(session, tenant_of_run(run), page_people, run_id=run.id)
    now_called = {one: found[one].profile_id if one in found else one for one in page_people}
    by_person = {known.profile_id: known for known in found.values()}

    def price(person: str) -> Price:
        known = by_person[person]
        credits_due = (0 if known.paid else prices.LEAD) + (0 if known.cached else prices.LIVE_PROFILE)
        return Price(credits_due, live=not known.cached)

    return walk(
        [now_called[one] for one in page_people],
        # An erased person has no row any more and counts as suppressed.
        suppressed={
            person for person in now_called.values() if person not in by_person or by_person[person].suppressed
        },
        known={person for person, known in by_person.items() if known.seen or known.delivered},
        price=price,
        room=Room(
            people=run.target - run.candidates_delivered,
            credits=await _funds(session, run),
            profile_fetches=None
            if run.max_profile_fetches is None
            else run.max_profile_fetches - run.spent_profile_fetches,
        ),
    )


def _count(run: Run, sorted_out: Walk) -> None:
    run.people_looked_at += sorted_out.walked
    run.duplicates_skipped += sorted_out.duplicates
    run.omitted_suppressed += sorted_out.suppressed
    if sorted_out.chunk:
        run.chunk = list(sorted_out.chunk)
        run.chunk_offset = run.page_offset + sorted_out.walked
        run.reserved_credits = sorted_out.credits
        run.reserved_fetches = sorted_out.live
    else:
        run.page_offset += sorted_out.walked
