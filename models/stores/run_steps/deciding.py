"""What a run needs next, read from its row and everything that may stop it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy.ext.asyncio import AsyncSession

from models.rules import pricing
from models.rules.run_states import FINAL, LIFE, RunStatus, StopReason
from models.rules.run_steps import Price, Room, Standing, Stop, Walk, exhausted, stop_now, walk
from models.stores import credits, people
from models.stores.run_steps.rows import PlanRead, checkpoint, finish, locked, payer_of, plan_of, tenant_of
from models.stores.standing import STANDING
from models.tables import Run
from models.tenancy import customer_of


class Need(StrEnum):
    """What a run needs next."""

    PAGE = "page"
    PROFILES = "profiles"
    DELIVERY = "delivery"  # everybody of the chunk is cached: no upstream call
    TIME = "time"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Decision:
    """What is next, with the run as it is now. `until` is service time, with `Need.TIME` only.

    `ahead` goes with `Need.PROFILES`: even if everybody of the chunk is delivered the next page will be needed, so it
    may be read while the profiles are fetched.
    """

    need: Need
    run: Run
    tiers: int
    now: datetime
    until: datetime | None = None
    ahead: bool = False


async def _standing(session: AsyncSession, run: Run, now: datetime) -> Standing:
    asked = {"key": run.api_key_id, "customer": customer_of(run.tenant_id), "now": now}
    row = (await session.execute(STANDING, asked)).one()
    return Standing(
        cancelled=run.cancel_requested_at is not None,
        key_valid=row.key_valid,
        workspace_suspended=row.suspended,
        customer_disabled=row.disabled,
        delivered=run.candidates_delivered,
        target=run.target,
        deadline_at=run.deadline_at,
    )


async def decide(session: AsyncSession, run_id: str) -> Decision:
    """Say what the run needs next; answers every ring up to now and sets `wake_at`."""
    run, now = await locked(session, run_id)
    plan = await plan_of(session, run)
    run.answered = run.rings
    run.wake_at = None
    if run.status in FINAL:
        return Decision(Need.NOTHING, run, len(plan.tiers), now)
    if run.started_at is None:
        run.started_at = now
    if run.deadline_at is None:
        run.deadline_at = now + LIFE
    stop = stop_now(await _standing(session, run, now), now)
    if stop is None and run.retry_at is not None and run.retry_at > now:
        run.wake_at = min(run.retry_at, run.deadline_at)
        return Decision(Need.TIME, run, len(plan.tiers), now, run.wake_at)
    need = Need.PROFILES
    if stop is None and run.chunk is None:
        stop, need = await _next_people(session, run, plan, now)
    if stop is not None:
        finish(session, run, stop, now)
        return Decision(Need.NOTHING, run, len(plan.tiers), now)
    run.call_number += 1
    run.call_started_at = None
    if run.chunk is None:
        return Decision(need, run, len(plan.tiers), now)
    need = Need.PROFILES if run.reserved_fetches else Need.DELIVERY
    ahead = need is Need.PROFILES and await _needs_next_page(session, run, now)
    return Decision(need, run, len(plan.tiers), now, ahead=ahead)


async def _needs_next_page(session: AsyncSession, run: Run, now: datetime) -> bool:
    """Whether the page after this one is needed for certain, whatever comes of the chunk, and may still be paid."""
    if run.query_key is None or run.candidates_delivered + len(run.chunk or ()) >= run.target:
        return False
    may_read = run.max_pages is None or run.spent_pages < run.max_pages
    may_fetch = (
        run.max_profile_fetches is None or run.spent_profile_fetches + run.reserved_fetches < run.max_profile_fetches
    )
    may_pay = await _funds(session, run) - run.reserved_credits >= pricing.LEAD
    if not (may_read and may_fetch and may_pay):
        return False
    page = await checkpoint(session, run.workspace_id, run.query_key, run.page, now)
    return page is not None and page.next_token is not None and run.chunk_offset >= len(page.profile_ids)


async def _next_people(session: AsyncSession, run: Run, plan: PlanRead, now: datetime) -> tuple[Stop | None, Need]:
    """Walk the paid pages until there is a chunk to deliver, a page to read, or a reason to stop."""
    while run.tier < len(plan.tiers):
        run.query_key = plan.tiers[run.tier].query_key
        page = await checkpoint(session, run.workspace_id, run.query_key, run.page, now)
        if page is None:
            return await _before_page(session, run), Need.PAGE
        people_left = page.profile_ids[run.page_offset :]
        if people_left:
            sorted_out = await _sort_out(session, run, people_left)
            _count(run, sorted_out)
            if sorted_out.chunk:
                return None, Need.PROFILES
            if sorted_out.limit is not None:
                return Stop(RunStatus.COMPLETED, sorted_out.limit), Need.NOTHING
        if run.page_offset >= len(page.profile_ids):
            _turn_page(run, last=page.next_token is None)
    return exhausted(delivered=run.candidates_delivered), Need.NOTHING


async def _before_page(session: AsyncSession, run: Run) -> Stop | None:
    """Whether reading another page is ruled out: no pages left to read, or nothing to pay a person with."""
    pages_used_up = run.max_pages is not None and run.spent_pages >= run.max_pages
    if pages_used_up or await _funds(session, run) < pricing.LEAD:
        return Stop(RunStatus.COMPLETED, StopReason.BUDGET)
    return None


def _turn_page(run: Run, *, last: bool) -> None:
    run.page_offset = 0
    run.page = 0 if last else run.page + 1
    run.tier += 1 if last else 0


async def _funds(session: AsyncSession, run: Run) -> int:
    """Credits the run may still spend: its budget, the balance and the daily caps, as they are now."""
    return min(run.max_credits - run.spent_credits, await credits.spendable(session, payer_of(run)))


async def _sort_out(session: AsyncSession, run: Run, page_people: Sequence[str]) -> Walk:
    found = await people.known(session, tenant_of(run), page_people, run_id=run.id)
    now_called = {one: found[one].profile_id if one in found else one for one in page_people}
    by_person = {known.profile_id: known for known in found.values()}

    def price(person: str) -> Price:
        known = by_person[person]
        credits_due = (0 if known.paid else pricing.LEAD) + (0 if known.cached else pricing.LIVE_PROFILE)
        return Price(credits_due, live=not known.cached)

    return walk(
        [now_called[one] for one in page_people],
        # Somebody erased has no row any more and counts as suppressed.
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
