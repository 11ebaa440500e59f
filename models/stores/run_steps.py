"""The steps of a run as transactions: decide what is next, keep a page, deliver a chunk, put off, fail.

Every write is fenced by `call_number`: a call whose number is no longer the run's changes nothing, so that a step that
runs twice, late or at the same time as another ends in the same candidates and the same ledger.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.database import lock_people
from models.ids import new_id
from models.rules import facts, pricing
from models.rules.filters import TierFilters
from models.rules.grants import Charge
from models.rules.people import Profile
from models.rules.planner.values import PAGE_SIZE, Anchor
from models.rules.run_states import FINAL, LIFE, FailureCode, RunStatus, StopReason, retry_delay
from models.rules.run_steps import (
    UNUSABLE_ANSWERS,
    Price,
    Room,
    Standing,
    Stop,
    Walk,
    affordable,
    exhausted,
    failed,
    stop_now,
    walk,
)
from models.secrets import Vault
from models.stores import credits, people
from models.stores.credits import Payer
from models.stores.people import Sighting
from models.tables import Candidate, QueryTotal, Run, SearchPageRow, SearchPlan
from models.tenancy import Tenant, customer_of

CHECKPOINT_LIFE = timedelta(days=30)
DELIVERED = text("select profile_id from candidates where run_id = :run and profile_id = any(cast(:ids as text[]))")


class Need(StrEnum):
    """What a run needs next."""

    PAGE = "page"
    PROFILES = "profiles"
    DELIVERY = "delivery"  # everybody of the chunk is cached: no upstream call
    TIME = "time"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Decision:
    """What is next, with the run as it is now. `until` is service time, with `Need.TIME` only."""

    need: Need
    run: Run
    tiers: int
    now: datetime
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class PlannedTier:
    """A tier as the plan stored it."""

    filters: TierFilters
    query_key: str
    label: str


@dataclass(frozen=True, slots=True)
class _Plan:
    tiers: tuple[PlannedTier, ...]
    anchor: Anchor | None


def tenant_of(run: Run) -> Tenant:
    """Whose run it is."""
    return Tenant(run.workspace_id, customer_of(run.tenant_id))


def payer_of(run: Run) -> Payer:
    """Who pays for the run."""
    return Payer(run.workspace_id, run.api_key_id, customer_of(run.tenant_id))


async def _plan(session: AsyncSession, run: Run) -> _Plan:
    plan = await session.get_one(SearchPlan, run.plan_id)
    tiers = tuple(
        PlannedTier(TierFilters.model_validate(tier["filters"]), tier["query_key"], tier["label"])
        for tier in plan.content["tiers"]
    )
    anchor = plan.content["anchor"]
    return _Plan(tiers, None if anchor is None else Anchor.model_validate(anchor))


async def _locked(session: AsyncSession, run_id: str) -> Run:
    return (await session.scalars(select(Run).where(col(Run.id) == run_id).with_for_update())).one()


async def _called(session: AsyncSession, run_id: str, number: int) -> Run | None:
    """The run, locked, if this call is still the one it waits for."""
    run = await _locked(session, run_id)
    return run if run.call_number == number and run.status not in FINAL else None


STANDING = text(
    """
    select k.revoked_at is null and (k.expires_at is null or k.expires_at > :now) as key_valid,
           w.suspended_at is not null as suspended,
           coalesce((select c.status = 'disabled' from customers c where c.id = cast(:customer as text)), false)
             as disabled
      from api_keys k join workspaces w on w.id = k.workspace_id where k.id = :key
    """
)


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
    run = await _locked(session, run_id)
    now = await service_time(session)
    plan = await _plan(session, run)
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
        finish(run, stop, now)
        return Decision(Need.NOTHING, run, len(plan.tiers), now)
    run.call_number += 1
    run.call_started_at = None
    if run.chunk is not None:
        need = Need.PROFILES if run.reserved_fetches else Need.DELIVERY
    return Decision(need, run, len(plan.tiers), now)


async def _next_people(session: AsyncSession, run: Run, plan: _Plan, now: datetime) -> tuple[Stop | None, Need]:
    """Walk the paid pages until there is a chunk to deliver, a page to read, or a reason to stop."""
    while run.tier < len(plan.tiers):
        run.query_key = plan.tiers[run.tier].query_key
        page = await _checkpoint(session, run.workspace_id, run.query_key, run.page, now)
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


async def _checkpoint(
    session: AsyncSession, workspace_id: str, query_key: str, number: int, now: datetime
) -> SearchPageRow | None:
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


async def _funds(session: AsyncSession, run: Run) -> int:
    """Credits the run may still spend: its budget, the balance and the daily caps, as they are now."""
    payer = payer_of(run)
    bounds = [cap.remaining for cap in await credits.caps(session, payer)]
    balance = await credits.balance(session, run.workspace_id)
    return min([run.max_credits - run.spent_credits, balance, *bounds])


async def _sort_out(session: AsyncSession, run: Run, page_people: Sequence[str]) -> Walk:
    tenant = tenant_of(run)
    standing_for = await people.survivors(session, page_people)
    ids = [standing_for[one] for one in page_people if one in standing_for]
    unpaid = await people.unpaid_leads(session, run.workspace_id, ids)
    cached = await people.cached_ids(session, ids)
    delivered = set((await session.scalars(DELIVERED, {"run": run.id, "ids": ids})).all())
    funds = await _funds(session, run)

    def price(person: str) -> Price:
        live = person not in cached
        return Price((pricing.LEAD if person in unpaid else 0) + (pricing.LIVE_PROFILE if live else 0), live)

    return walk(
        [standing_for.get(one, one) for one in page_people],
        suppressed=await people.suppressed(session, tenant, ids) | (set(page_people) - standing_for.keys()),
        known=delivered | await people.seen(session, tenant, ids),
        price=price,
        room=Room(
            people=run.target - run.candidates_delivered,
            credits=funds,
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


def finish(run: Run, stop: Stop, now: datetime) -> None:
    """Bring the run to a final state and give back what it had set aside."""
    run.status = stop.status
    run.stop_reason = stop.reason
    run.finish_detail = stop.detail
    run.failure_code = stop.failure
    run.finished_at = now
    run.retry_at = run.wake_at = None
    _drop_chunk(run)


def _drop_chunk(run: Run) -> None:
    run.chunk = None
    run.reserved_credits = run.reserved_fetches = 0


@dataclass(frozen=True, slots=True)
class PageAsk:
    """A page to read: the tier's filters and where its search stands."""

    tier: PlannedTier
    number: int
    token: str | None
    size: int = PAGE_SIZE


async def begin_page(session: AsyncSession, run_id: str, number: int) -> PageAsk | None:
    """Note that the page call starts; null when the call is out of date."""
    run = await _called(session, run_id, number)
    if run is None or run.chunk is not None:
        return None
    now = await service_time(session)
    plan = await _plan(session, run)
    _start_call(run, RunStatus.RUNNING, now)
    tier = plan.tiers[run.tier]
    before = await _checkpoint(session, run.workspace_id, tier.query_key, run.page - 1, now)
    return PageAsk(tier, run.page, before.next_token if before else None)


def _start_call(run: Run, status: RunStatus, now: datetime) -> None:
    run.status = status
    run.call_started_at = now
    run.retry_at = None


@dataclass(frozen=True, slots=True)
class PageRead:
    """A page as the source gave it."""

    sightings: tuple[Sighting, ...]
    next_token: str | None
    total: int | None


async def keep_page(
    session: AsyncSession, vault: Vault, run_id: str, *, number: int, ask: PageAsk, page: PageRead
) -> None:
    """Store the page as a checkpoint. A page somebody else stored first stays; it is then theirs that was paid."""
    ids = await people.identify(session, vault, page.sightings)
    run = await _called(session, run_id, number)
    if run is None:
        return
    now = await service_time(session)
    values = {
        "workspace_id": run.workspace_id,
        "query_key": ask.tier.query_key,
        "number": ask.number,
        "size": ask.size,
        "next_token": page.next_token,
        "profile_ids": list(dict.fromkeys(ids[sighting.source_id] for sighting in page.sightings)),
        "total": page.total,
        "created_at": now,
    }
    statement = insert(SearchPageRow).values(values)
    kept = await session.scalar(
        statement.on_conflict_do_update(
            index_elements=["workspace_id", "query_key", "number"],
            set_={
                name: statement.excluded[name] for name in ("size", "next_token", "profile_ids", "total", "created_at")
            },
            where=col(SearchPageRow.created_at) <= now - CHECKPOINT_LIFE,
        ).returning(col(SearchPageRow.number))
    )
    if page.total is not None:
        await _remember_total(session, ask.tier.query_key, page.total, now)
    run.spent_pages += 1 if kept is not None else 0
    run.failures = 0


async def _remember_total(session: AsyncSession, query_key: str, total: int, now: datetime) -> None:
    statement = insert(QueryTotal).values(query_key=query_key, total=total, created_at=now)
    await session.execute(
        statement.on_conflict_do_update(index_elements=["query_key"], set_={"total": total, "created_at": now})
    )


@dataclass(frozen=True, slots=True)
class ChunkAsk:
    """People whose profiles are wanted; `live` are those the cache does not have."""

    chunk: tuple[str, ...]
    live: tuple[str, ...]


async def begin_profiles(session: AsyncSession, run_id: str, number: int) -> ChunkAsk | None:
    """Note that the profile call starts; null when the call is out of date."""
    run = await _called(session, run_id, number)
    if run is None or run.chunk is None:
        return None
    _start_call(run, RunStatus.FETCHING, await service_time(session))
    cached = await people.cached_ids(session, run.chunk)
    suppressed = await people.suppressed(session, tenant_of(run), run.chunk)
    wanted = (one for one in run.chunk if one not in cached and one not in suppressed)
    return ChunkAsk(tuple(run.chunk), tuple(wanted)[: run.reserved_fetches])


async def deliver(
    session: AsyncSession, run_id: str, number: int, fetched: Mapping[str, Profile], *, again: Sequence[str] = ()
) -> None:
    """Make the chunk's people candidates: cache, charges, counters and checkpoint in this one transaction.

    `fetched` are profiles just fetched live, by our id; `again` are people the source refused for now: they stay in the
    chunk. Somebody without a profile no longer exists, costs nothing and is not delivered.
    """
    chunk = await session.scalar(select(col(Run.chunk)).where(col(Run.id) == run_id))
    await lock_people(session, chunk or ())
    run = await _called(session, run_id, number)
    if run is None or run.chunk is None:
        return
    now = await service_time(session)
    tenant = tenant_of(run)
    present = await people.survivors(session, run.chunk)
    gone = await people.suppressed(session, tenant, list(present.values()))
    allowed = {one: profile for one, profile in fetched.items() if one in present and one not in gone}
    await people.store(session, allowed)
    profiles = {**await people.cached(session, list(present.values())), **allowed}
    known = set((await session.scalars(DELIVERED, {"run": run.id, "ids": list(present.values())})).all())
    known |= await people.seen(session, tenant, list(present.values()))
    standing = [present[one] for one in run.chunk if one in present and one not in again]
    run.omitted_suppressed += sum(one in gone for one in standing) + sum(one not in present for one in run.chunk)
    run.duplicates_skipped += sum(one in known and one not in gone for one in standing)
    wanted = [one for one in dict.fromkeys(standing) if one in profiles and one not in gone and one not in known]
    paid = await _charge(session, run, wanted, live=fetched.keys())
    await _write_candidates(session, run, {one: profiles[one] for one in paid}, paid, now)
    if run.mark_seen and paid:
        await people.mark_seen(session, tenant, paid.keys(), run_id=run.id)
    _settle(run, paid, live=len(fetched), again=[one for one in again if one in present], now=now)
    if len(paid) < len(wanted):
        finish(run, Stop(RunStatus.COMPLETED, StopReason.BUDGET), now)


async def _charge(session: AsyncSession, run: Run, wanted: Sequence[str], *, live: Collection[str]) -> dict[str, int]:
    """Pay for as many of the people, in order, as budget, balance and daily caps allow; credits paid by person."""
    new = await people.take_leads(session, run.workspace_id, wanted)
    prices = [(pricing.LEAD if one in new else 0) + (pricing.LIVE_PROFILE if one in live else 0) for one in wanted]
    purse = await credits.open_purse(session, payer_of(run))
    count = affordable(prices, min(purse.available, run.max_credits - run.spent_credits))
    await people.give_back_leads(session, run.workspace_id, [one for one in wanted[count:] if one in new])
    charges: list[Charge] = []
    for one in wanted[:count]:
        if one in new:
            charges.append(Charge(f"lead:{one}", "lead", run.id, pricing.LEAD))
        if one in live:
            charges.append(Charge(f"live:{run.id}:{one}", "live_profile", run.id, pricing.LIVE_PROFILE))
    await purse.spend(charges)
    return dict(zip(wanted[:count], prices[:count], strict=True))


async def _write_candidates(
    session: AsyncSession, run: Run, profiles: Mapping[str, Profile], paid: Mapping[str, int], now: datetime
) -> None:
    if not profiles:
        return
    anchor = (await _plan(session, run)).anchor
    await session.execute(
        insert(Candidate),
        [
            {
                "id": new_id("cand", now),
                "workspace_id": run.workspace_id,
                "tenant_id": run.tenant_id,
                "run_id": run.id,
                "profile_id": profile_id,
                "position": run.candidates_delivered + place,
                "tier": run.tier + 1,
                "distance_km": facts.distance_km(anchor, profile.location),
                "experience_years": profile.experience_years,
                "tenure_months": profile.tenure_months,
                "charged_credits": paid[profile_id],
                "content": profile.model_dump(mode="json"),
                "created_at": now,
            }
            for place, (profile_id, profile) in enumerate(profiles.items())
        ],
    )


def _settle(run: Run, paid: Mapping[str, int], *, live: int, again: Sequence[str], now: datetime) -> None:
    """Exchange the reservation for what was spent and move the checkpoint."""
    run.candidates_delivered += len(paid)
    run.spent_credits += sum(paid.values())
    run.spent_profile_fetches += live
    run.reserved_credits = run.reserved_fetches = 0
    run.status = RunStatus.RUNNING
    if again and run.failures + 1 < UNUSABLE_ANSWERS:
        run.failures += 1
        run.chunk = list(again)
        run.reserved_fetches = len(again)
        run.reserved_credits = min(len(again) * pricing.MOST_PER_PERSON, run.max_credits - run.spent_credits)
        run.retry_at = now + retry_delay(run.failures)
        run.status = RunStatus.WAITING_FOR_QUOTA
        return
    run.failures = 0
    run.chunk = None
    run.page_offset = run.chunk_offset


async def put_off(session: AsyncSession, run_id: str, number: int, *, after: timedelta | None) -> None:
    """The source is busy: wait so long, or by the doubling delay when it did not say."""
    run = await _called(session, run_id, number)
    if run is None:
        return
    run.failures += 1
    run.status = RunStatus.WAITING_FOR_QUOTA
    run.retry_at = await service_time(session) + (retry_delay(run.failures) if after is None else after)


async def unusable(session: AsyncSession, run_id: str, number: int, *, final: bool) -> None:
    """The source answered with something unusable: try again, and after a few times (or at once) fail."""
    run = await _called(session, run_id, number)
    if run is None:
        return
    now = await service_time(session)
    run.failures += 1
    if final or run.failures >= UNUSABLE_ANSWERS:
        finish(run, failed(FailureCode.UPSTREAM_ERROR), now)
        return
    run.retry_at = now + retry_delay(run.failures)
    run.status = RunStatus.WAITING_FOR_QUOTA


async def still_queued(session: AsyncSession, run_id: str, number: int, *, look_again: timedelta) -> Run:
    """A call has queued for long: show the run as waiting for quota until it starts."""
    run = await _locked(session, run_id)
    if run.call_number == number and run.call_started_at is None and run.status not in FINAL:
        run.status = RunStatus.WAITING_FOR_QUOTA
        run.retry_at = await service_time(session) + look_again
    return run
