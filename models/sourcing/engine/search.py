"""Results of raw searches and matches: sorted out, charged and kept in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.database import service_time
from models.base.errors import Suppressed
from models.base.secrets import Vault
from models.base.tenants import Tenant
from models.billing.rules import prices
from models.billing.rules.prices import CreditCharge
from models.people.rules.identity import MOST_ALTERNATIVES, PossiblePerson, best_match
from models.people.rules.profiles import Profile
from models.people.store import people, profiles
from models.people.store.people import KnownPerson
from models.sourcing.engine.calls import BegunCall, complete_call, lead_charges, pay, running
from models.sourcing.rules.raw_calls import (
    SCROLL_LIFE,
    Alternative,
    FoundRow,
    MatchAsk,
    MatchResult,
    SearchAsk,
    SearchResult,
)
from models.sourcing.tables import ScrollPage, ScrollPerson


@dataclass(frozen=True, slots=True)
class PageFound:
    """A page as the source gave it: its people with their profile ids, in its order, and the token of the next page."""

    people: tuple[FoundRow, ...]
    next_token: str | None


async def page_before(session: AsyncSession, tenant: Tenant, scroll_id: str, number: int) -> ScrollPage | None:
    """Return the page of a search that page `number` follows, if it is the tenant's and not too old."""
    query = select(ScrollPage).where(
        col(ScrollPage.scroll_id) == scroll_id,
        col(ScrollPage.number) == number - 1,
        col(ScrollPage.tenant_id) == tenant.id,
        col(ScrollPage.created_at) > await service_time(session) - SCROLL_LIFE,
    )
    return (await session.scalars(query)).one_or_none()


async def settle_search(
    session: AsyncSession, vault: Vault, call: BegunCall, *, ask: SearchAsk, page: PageFound
) -> None:
    """Sort out, charge and keep the page. Raises what `pay` raises; the transaction then keeps nothing."""
    everybody = [person.profile_id for person in page.people]
    await people.lock_people(session, everybody)
    row = await running(session, call.id)
    if row is None:
        return
    now = await service_time(session)
    shown_before = await _shown_before(session, ask)
    known = await people.known_people(session, call.tenant, everybody, run_id="")
    sorted_out = _sort_out(ask, page.people, known, shown_before)
    kept = [person.profile_id for person in sorted_out.rows]
    charges = await lead_charges(session, call.tenant.workspace_id, kept, subject_id=call.id)
    charged = await pay(session, call.payer, charges)
    await _keep_page(session, call, ask, next_token=page.next_token, kept=kept, now=now)
    result = sorted_out.model_copy(update={"charged_credits": charged, "more": page.next_token is not None})
    complete_call(vault, row, result, about=kept)


async def _shown_before(session: AsyncSession, ask: SearchAsk) -> set[str]:
    shown = select(col(ScrollPerson.profile_id)).where(
        col(ScrollPerson.scroll_id) == ask.scroll_id, col(ScrollPerson.number) < ask.page
    )
    return set(await session.scalars(shown))


def _sort_out(
    ask: SearchAsk, found: Sequence[FoundRow], known: dict[str, KnownPerson], shown_before: set[str]
) -> SearchResult:
    rows: dict[str, FoundRow] = {}
    suppressed = duplicates = seen = 0
    for person in found:
        standing = known.get(person.profile_id)
        if standing is None or standing.suppressed:
            suppressed += 1
        elif standing.profile_id in rows or not shown_before.isdisjoint({person.profile_id, standing.profile_id}):
            duplicates += 1
        elif ask.exclude_seen and standing.seen:
            seen += 1
        else:
            rows[standing.profile_id] = person.model_copy(update={"profile_id": standing.profile_id})
    return SearchResult(
        scroll_id=ask.scroll_id,
        page=ask.page,
        rows=tuple(rows.values()),
        suppressed=suppressed,
        duplicates=duplicates,
        seen=seen,
        charged_credits=0,
        more=False,
    )


async def _keep_page(
    session: AsyncSession,
    call: BegunCall,
    ask: SearchAsk,
    *,
    next_token: str | None,
    kept: Sequence[str],
    now: datetime,
) -> None:
    page = {
        "workspace_id": call.tenant.workspace_id,
        "tenant_id": call.tenant.id,
        "scroll_id": ask.scroll_id,
        "number": ask.page,
    }
    statement = insert(ScrollPage).values(page | {"next_token": next_token, "created_at": now})
    await session.execute(
        statement.on_conflict_do_update(
            index_elements=["scroll_id", "number"],
            set_={name: statement.excluded[name] for name in ("next_token", "created_at")},
        )
    )
    shown_then = (col(ScrollPerson.scroll_id) == ask.scroll_id, col(ScrollPerson.number) == ask.page)
    await session.execute(delete(ScrollPerson).where(*shown_then))
    if kept:
        await session.execute(insert(ScrollPerson), [page | {"profile_id": one} for one in kept])


# Matches: suppressed people are left out, near ties refused.


@dataclass(frozen=True, slots=True)
class IdentifiedCandidate:
    """A person whom the source named: `possible.person` is the profile id."""

    possible: PossiblePerson
    profile: Profile


async def settle_match(
    session: AsyncSession, vault: Vault, call: BegunCall, *, ask: MatchAsk, named: Sequence[IdentifiedCandidate]
) -> None:
    """Decide who is meant, charge and keep it. Raises `Suppressed` for a suppressed person, and what `pay` raises."""
    await people.lock_people(session, {each.possible.person for each in named})
    row = await running(session, call.id)
    if row is None:
        return
    known = await people.known_people(session, call.tenant, {each.possible.person for each in named}, run_id="")
    distinct: dict[str, IdentifiedCandidate] = {}
    for each in named:
        standing = known.get(each.possible.person)
        distinct.setdefault(standing.profile_id if standing else each.possible.person, each)
    best = best_match([each.possible for each in distinct.values()], min_confidence=ask.min_confidence)
    allowed = {one for one, each in known.items() if not each.suppressed}
    if best is None:
        left = [each for each in distinct.values() if each.possible.person in allowed]
        complete_call(vault, row, _nobody(left), about=(each.possible.person for each in left))
        return
    if best.person not in allowed:
        raise Suppressed(status=409)
    person = known[best.person].profile_id
    result = await _charged(session, call, best, person=person, live=distinct[person].profile)
    complete_call(vault, row, result, about=[person])


async def _charged(
    session: AsyncSession, call: BegunCall, best: PossiblePerson, *, person: str, live: Profile
) -> MatchResult:
    now = await service_time(session)
    copies: Mapping[str, Profile] = await people.cached_profiles(session, [person])
    charges = await lead_charges(session, call.tenant.workspace_id, [person], subject_id=call.id)
    profile = copies.get(person)
    if profile is None:
        profile = live.model_copy(update={"id": person, "fetched_at": now})
        await people.store_profiles(session, {person: profile})
        reference = f"live:{call.id}:{person}"
        charges.append(CreditCharge(reference, "live_profile", call.id, prices.LIVE_PROFILE))
    await profiles.give_copies(session, call.tenant, [person])
    return MatchResult(
        profile=profile,
        confidence=best.confidence,
        matched_on=tuple(sorted(best.matched_on)),
        alternatives=(),
        charged_credits=await pay(session, call.payer, charges),
    )


def _nobody(left: Sequence[IdentifiedCandidate]) -> MatchResult:
    ranked = sorted(left, key=lambda each: -each.possible.confidence)[:MOST_ALTERNATIVES]
    alternatives = tuple(
        Alternative(
            person=each.possible.person,
            full_name=each.profile.full_name,
            title=each.profile.current.title if each.profile.current else None,
            company=each.profile.current.company if each.profile.current else None,
        )
        for each in ranked
    )
    return MatchResult(profile=None, confidence=None, matched_on=(), alternatives=alternatives, charged_credits=0)
