"""Looking companies up live: what the source is asked for each, and whether its answer is the company meant."""

from activities.people import People
from activities.upstream.ports import CompanyClue
from activities.upstream.ports import FoundCompany as Answer
from models.data import Reference
from models.database import Database
from models.rules.company_calls import CompaniesAsk, WantedCompany, agrees
from models.stores import companies
from models.stores.companies import Names
from models.stores.upstream_calls.companies import FoundCompany, look


async def look_up(
    database: Database, source: People, reference: Reference, ask: CompaniesAsk
) -> dict[int, FoundCompany]:
    """What the source answers to the inputs that are not known yet, by their place; one question for each.

    Raises what `People.companies` raises.
    """
    async with database.transaction() as session:
        standings = await look(session, ask)
        open_at = {place: each.wanted for place, each in enumerate(standings) if each.status is None}
        ids = {wanted.company_id for wanted in open_at.values() if wanted.company_id is not None}
        known = await companies.names(session, source.source.name, ids)
    clues = {place: _clue(wanted, known.get(wanted.company_id or ""), reference) for place, wanted in open_at.items()}
    answers = await source.companies(list(clues.values())) if clues else ()
    return {
        place: FoundCompany(
            answer.source_id, answer.details, _suggested(open_at[place], answer.details.domain, reference)
        )
        for (place, clue), answer in zip(clues.items(), answers, strict=True)
        if answer is not None and _meant(clue, answer)
    }


def _meant(clue: CompanyClue, answer: Answer) -> bool:
    """Whether the source's best match is the company asked for."""
    if clue.source_id is not None:
        return True
    return agrees(domain=clue.domain, name=clue.name, found=answer.details, other_names=answer.other_names)


def _clue(wanted: WantedCompany, known: Names | None, reference: Reference) -> CompanyClue:
    """What to ask with."""
    if wanted.company_id is None:
        return CompanyClue(domain=wanted.domain, name=wanted.name)
    if known is not None and known.source_ids:
        return CompanyClue(source_id=known.source_ids[0], domain=next(iter(known.domains), None), name=known.name)
    company = reference.companies.get(wanted.company_id)
    if company.domain is not None:
        return CompanyClue(domain=company.domain)
    country = reference.places.country_name(company.country_code) if company.country_code else None
    return CompanyClue(name=company.name, country=country)


def _suggested(wanted: WantedCompany, domain: str | None, reference: Reference) -> str | None:
    """The id that a company gets: the one asked for, or that of the only shipped company at its domain."""
    if wanted.company_id is not None:
        return wanted.company_id
    at = reference.companies.at_domain(domain) if domain else ()
    return at[0].id if len(at) == 1 else None
