"""Search pages kept as checkpoints, and the chunks of people on them delivered as candidates.

A stored page is not paid for again by a later run. A chunk of people becomes candidates in one transaction.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.statuses import RunStatus, StopReason
from models.billing.rules import prices as rules_prices
from models.billing.rules.prices import CreditCharge
from models.billing.store import credits
from models.people.rules import profiles as rules_profiles
from models.people.rules.profiles import Profile
from models.people.store import people
from models.people.store import profiles as store_profiles
from models.people.store.people import KnownPerson, Sighting
from models.sourcing.engine.decide import (
    CHECKPOINT_LIFE,
    PlannedTier,
    called,
    checkpoint,
    end_call,
    finish_run,
    lock_run,
    payer_of_run,
    plan_of,
    start_call,
    tenant_of_run,
)
from models.sourcing.rules.filters import PeopleFilters
from models.sourcing.rules.order import nearest_km, wishes_met
from models.sourcing.rules.plans import PAGE_SIZE, Anchor
from models.sourcing.rules.runs import FINAL, UNUSABLE_ANSWERS, Stop, affordable, retry_delay
from models.sourcing.tables import Candidate, QueryTotal, Run, SearchPageRow


@dataclass(frozen=True, slots=True)
class PageToRead:
    """A page to read: the tier's filters, where its search stands, and by what its people are put in order."""

    tier: PlannedTier
    number: int
    token: str | None
    size: int = PAGE_SIZE
    wishes: tuple[PeopleFilters, ...] = ()
    anchors: tuple[Anchor, ...] = ()


async def begin_page(session: AsyncSession, run_id: str, number: int) -> PageToRead | None:
    """Note that the page call starts; null when the call is out of date."""
    run, now = await called(session, run_id, number)
    if run is None or run.chunk is not None:
        return None
    plan = await plan_of(session, run)
    start_call(run, RunStatus.RUNNING, now)
    if run.tier >= plan.end:
        return None
    tier = plan.search(run.tier)
    before = await checkpoint(session, run.workspace_id, tier.query_key, run.page - 1, now)
    token = before.next_token if before else None
    size = PAGE_SIZE if run.tier < len(plan.tiers) else 1
    return PageToRead(tier, run.page, token, size=size, wishes=plan.wishes, anchors=plan.anchors)


async def begin_ahead(session: AsyncSession, run_id: str) -> PageToRead | None:
    """Return the page after the one whose people are being fetched; null when it is not needed any more."""
    run, now = await lock_run(session, run_id)
    if run.status in FINAL or run.chunk is None:
        return None
    plan = await plan_of(session, run)
    tier = plan.tiers[run.tier]
    before = await checkpoint(session, run.workspace_id, tier.query_key, run.page, now)
    if before is None or before.next_token is None:
        return None
    if await checkpoint(session, run.workspace_id, tier.query_key, run.page + 1, now) is not None:
        return None
    return PageToRead(tier, run.page + 1, before.next_token, wishes=plan.wishes, anchors=plan.anchors)


@dataclass(frozen=True, slots=True)
class PageRead:
    """A page as the source gave it."""

    sightings: tuple[Sighting, ...]
    next_token: str | None
    total: int | None


async def keep_page(
    session: AsyncSession, vault: Vault, run_id: str, *, number: int | None, ask: PageToRead, page: PageRead
) -> None:
    """Store the page as a checkpoint. A page that another run stored first stays, and only that one is counted as paid.

    A page that was read ahead has no `number`: the checkpoint itself is its fence.
    """
    workspace_id = await session.scalar(select(col(Run.workspace_id)).where(col(Run.id) == run_id))
    ids = await people.identify(session, vault, page.sightings, workspace_id=workspace_id)
    run, now = await lock_run(session, run_id)
    if run.status in FINAL or number not in {None, run.call_number}:
        return
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
    if number is not None:
        end_call(run)
        run.failures = 0


async def _remember_total(session: AsyncSession, query_key: str, total: int, now: datetime) -> None:
    statement = insert(QueryTotal).values(query_key=query_key, total=total, created_at=now)
    await session.execute(
        statement.on_conflict_do_update(index_elements=["query_key"], set_={"total": total, "created_at": now})
    )


@dataclass(frozen=True, slots=True)
class ChunkAsk:
    """People whose profiles a workspace wants; `live` are those the cache does not have."""

    workspace_id: str
    chunk: tuple[str, ...]
    live: tuple[str, ...]


async def begin_profiles(session: AsyncSession, run_id: str, number: int) -> ChunkAsk | None:
    """Note that the profile call starts; null when the call is out of date."""
    run, now = await called(session, run_id, number)
    if run is None or run.chunk is None:
        return None
    start_call(run, RunStatus.FETCHING, now)
    found = await people.known_people(session, tenant_of_run(run), run.chunk, run_id=run.id)
    wanted = [known.profile_id for known in found.values() if not known.cached and not known.suppressed]
    return ChunkAsk(run.workspace_id, tuple(run.chunk), tuple(wanted)[: run.reserved_fetches])


async def deliver_chunk(
    session: AsyncSession, run_id: str, number: int, fetched: Mapping[str, Profile], *, again: Sequence[str] = ()
) -> None:
    """Make candidates of the chunk's people: cache, charges, counters and checkpoint in this one transaction.

    `fetched` are profiles just fetched live, by profile id; `again` are people whom the source refused for now: they
    stay in the chunk. A person without a profile no longer exists, costs nothing and is not delivered.
    """
    chunk = await session.scalar(select(col(Run.chunk)).where(col(Run.id) == run_id))
    await people.lock_people(session, chunk or ())
    run, now = await called(session, run_id, number)
    if run is None or run.chunk is None:
        return
    known = await people.known_people(session, tenant_of_run(run), run.chunk, run_id=run.id)
    live = await _store_fetched(session, known.values(), fetched, now)
    profiles = await people.cached_profiles(session, [one.profile_id for one in known.values() if one.cached]) | live
    wanted = [one for one in _count_new(run, known, again=again) if one in profiles]
    paid = await _charge(session, run, wanted, live=live)
    await _write_candidates(session, run, {one: profiles[one] for one in paid}, paid, now)
    await store_profiles.give_copies(session, tenant_of_run(run), paid)
    if run.mark_seen and paid:
        await people.mark_seen(session, tenant_of_run(run), paid.keys(), run_id=run.id)
    _settle(run, paid, live=len(fetched), again=[one for one in again if one in known], now=now)
    if len(paid) < len(wanted):
        await _come_back_for(session, run, wanted[len(paid)], now)
        finish_run(session, run, Stop(RunStatus.COMPLETED, StopReason.BUDGET), now)


async def _store_fetched(
    session: AsyncSession, known: Iterable[KnownPerson], fetched: Mapping[str, Profile], now: datetime
) -> dict[str, Profile]:
    """Cache the fetched profiles of people who are not suppressed, and return them."""
    allowed = {
        one.profile_id: fetched[one.profile_id].model_copy(update={"fetched_at": now})
        for one in known
        if one.profile_id in fetched and not one.suppressed
    }
    await people.store_profiles(session, allowed)
    return allowed


def _count_new(run: Run, known: Mapping[str, KnownPerson], *, again: Sequence[str]) -> list[str]:
    """Count the chunk's people who are left out as suppressed or as duplicates, and return the others."""
    chunk = run.chunk or ()
    settled = [known[one] for one in chunk if one in known and one not in again]
    new = dict.fromkeys(one.profile_id for one in settled if not (one.suppressed or one.seen or one.delivered))
    run.omitted_suppressed += sum(one.suppressed for one in settled) + sum(one not in known for one in chunk)
    run.duplicates_skipped += sum(not one.suppressed for one in settled) - len(new)
    return list(new)


async def _charge(session: AsyncSession, run: Run, wanted: Sequence[str], *, live: Container[str]) -> dict[str, int]:
    """Pay for as many of the people, in order, as budget, balance and daily caps allow; credits paid by person."""
    new = await credits.take_leads(session, run.workspace_id, wanted)
    prices = [
        (rules_prices.LEAD if one in new else 0) + (rules_prices.LIVE_PROFILE if one in live else 0) for one in wanted
    ]
    purse = await credits.open_spending_limit(session, payer_of_run(run))
    count = affordable(prices, min(purse.available, run.max_credits - run.spent_credits))
    await credits.release_leads(session, run.workspace_id, [one for one in wanted[count:] if one in new])
    charges: list[CreditCharge] = []
    for one in wanted[:count]:
        if one in new:
            charges.append(CreditCharge(f"lead:{one}", "lead", run.id, rules_prices.LEAD))
        if one in live:
            charges.append(CreditCharge(f"live:{run.id}:{one}", "live_profile", run.id, rules_prices.LIVE_PROFILE))
    await purse.spend(charges)
    return dict(zip(wanted[:count], prices[:count], strict=True))


async def _write_candidates(
    session: AsyncSession, run: Run, profiles: Mapping[str, Profile], paid: Mapping[str, int], now: datetime
) -> None:
    if not profiles:
        return
    plan = await plan_of(session, run)
    profiles = {one: _as_of(profile, now.date()) for one, profile in profiles.items()}
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
                "distance_km": nearest_km(plan.anchors, profile),
                "nice_met": list(wishes_met(plan.wishes, profile)) if plan.wishes else None,
                "experience_years": profile.experience_years,
                "tenure_months": profile.tenure_months,
                "charged_credits": paid[profile_id],
                "content": profile.model_dump(mode="json"),
                "created_at": now,
            }
            for place, (profile_id, profile) in enumerate(profiles.items())
        ],
    )


def _as_of(profile: Profile, today: date) -> Profile:
    """Return the profile with its years and tenure counted to the day of delivery, also when it was fetched before."""
    start = profile.current.start_date if profile.current else None
    return profile.model_copy(
        update={
            "experience_years": rules_profiles.experience_years(profile.experience, as_of=today),
            "tenure_months": rules_profiles.tenure_months(start, as_of=today),
        }
    )


def _settle(run: Run, paid: Mapping[str, int], *, live: int, again: Sequence[str], now: datetime) -> None:
    """Exchange the reservation for what was spent and move the checkpoint."""
    end_call(run)
    run.candidates_delivered += len(paid)
    run.spent_credits += sum(paid.values())
    run.spent_profile_fetches += live
    run.reserved_credits = run.reserved_fetches = 0
    run.status = RunStatus.RUNNING
    if again and run.failures + 1 < UNUSABLE_ANSWERS:
        run.failures += 1
        run.chunk = list(again)
        run.reserved_fetches = len(again)
        run.reserved_credits = min(len(again) * rules_prices.MOST_PER_PERSON, run.max_credits - run.spent_credits)
        run.retry_at = now + retry_delay(run.failures)
        run.status = RunStatus.WAITING_FOR_QUOTA
        return
    run.failures = 0
    run.chunk = None
    run.page_offset = run.chunk_offset


async def _come_back_for(session: AsyncSession, run: Run, person: str, now: datetime) -> None:
    """Move the checkpoint back so that an extension goes on with the first person of the chunk who was not paid for.

    Where people of the chunk stay to be fetched again, the checkpoint stands before them already.
    """
    page = await checkpoint(session, run.workspace_id, run.query_key or "", run.page, now)
    if page is None or run.chunk is not None:
        return
    standing = await people.current_ids(session, page.profile_ids)
    on_page = [standing.get(one) for one in page.profile_ids]
    place = on_page.index(person) if person in on_page else run.page_offset  # the page may have been read again
    run.people_looked_at -= run.page_offset - place
    run.page_offset = place
