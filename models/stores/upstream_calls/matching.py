"""A match becomes a result: suppressed people left out, near ties refused, charged in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from models.clock import service_time
from models.errors import Suppressed
from models.rules import pricing
from models.rules.grants import Charge
from models.rules.matching import MOST_ALTERNATIVES, Possible, meant
from models.rules.people import Profile
from models.rules.raw_calls import Alternative, MatchAsk, MatchResult
from models.secrets import Vault
from models.stores import people, profiles
from models.stores.upstream_calls.paying import lead_charges, pay
from models.stores.upstream_calls.rows import Begun, done, running


@dataclass(frozen=True, slots=True)
class Named:
    """Somebody whom the source named: `possible.person` is our id."""

    possible: Possible
    profile: Profile


async def settle(session: AsyncSession, vault: Vault, call: Begun, *, ask: MatchAsk, named: Sequence[Named]) -> None:
    """Say who is meant, charge and keep it. Raises `Suppressed` for somebody suppressed, and what `pay` raises."""
    await people.hold(session, {each.possible.person for each in named})
    row = await running(session, call.id)
    if row is None:
        return
    known = await people.known(session, call.tenant, {each.possible.person for each in named}, run_id="")
    distinct: dict[str, Named] = {}
    for each in named:
        standing = known.get(each.possible.person)
        distinct.setdefault(standing.profile_id if standing else each.possible.person, each)
    best = meant([each.possible for each in distinct.values()], min_confidence=ask.min_confidence)
    allowed = {one for one, each in known.items() if not each.suppressed}
    if best is None:
        left = [each for each in distinct.values() if each.possible.person in allowed]
        done(vault, row, _nobody(left), about=(each.possible.person for each in left))
        return
    if best.person not in allowed:
        raise Suppressed(status=409)
    person = known[best.person].profile_id
    result = await _charged(session, call, best, person=person, live=distinct[person].profile)
    done(vault, row, result, about=[person])


async def _charged(session: AsyncSession, call: Begun, best: Possible, *, person: str, live: Profile) -> MatchResult:
    now = await service_time(session)
    copies: Mapping[str, Profile] = await people.cached(session, [person])
    charges = await lead_charges(session, call.tenant.workspace_id, [person], subject_id=call.id)
    profile = copies.get(person)
    if profile is None:
        profile = live.model_copy(update={"id": person, "fetched_at": now})
        await people.store(session, {person: profile})
        reference = f"live:{call.id}:{person}"
        charges.append(Charge(reference, "live_profile", call.id, pricing.LIVE_PROFILE))
    await profiles.give(session, call.tenant, [person])
    return MatchResult(
        profile=profile,
        confidence=best.confidence,
        matched_on=tuple(sorted(best.matched_on)),
        alternatives=(),
        charged_credits=await pay(session, call.payer, charges),
    )


def _nobody(left: Sequence[Named]) -> MatchResult:
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
