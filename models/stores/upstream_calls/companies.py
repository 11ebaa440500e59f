"""Companies asked for by id, domain or name: what is known already, and the result charged in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from models.rules import pricing
from models.rules.company_calls import (
    CompaniesAsk,
    CompaniesResult,
    CompanyDetails,
    CompanyRow,
    CompanyStatus,
    WantedCompany,
)
from models.rules.grants import Charge
from models.secrets import Vault
from models.stores import companies
from models.stores.companies import KnownCompany
from models.stores.upstream_calls.paying import pay
from models.stores.upstream_calls.rows import Begun, done, running


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of one input; `status` is null for a company to be looked up live."""

    wanted: WantedCompany
    status: CompanyStatus | None = None
    known: KnownCompany | None = None


async def look(session: AsyncSession, ask: CompaniesAsk) -> list[Standing]:
    """How each input stands now, in input order; of equal companies the first counts."""
    by_id = await companies.by_ids(session, {one.company_id for one in ask.wanted if one.company_id})
    by_domain = await companies.at_domains(session, {one.domain for one in ask.wanted if one.domain})
    standings: list[Standing] = []
    met: set[str] = set()
    for one in ask.wanted:
        known = by_id.get(one.company_id or "") or by_domain.get(one.domain or "")
        if one.name is not None:
            choices = await companies.named(session, one.name)
            known = choices[0] if len(choices) == 1 else None
        fresh = known if known is not None and known.fresh else None
        mark = fresh.id if fresh else one.company_id or one.domain or (one.name or "").casefold()
        status: CompanyStatus | None = None
        if mark in met:
            status = CompanyStatus.DUPLICATE
        elif fresh is not None:
            status = CompanyStatus.CACHED
        elif one.company_id is not None and known is None and not one.shipped:
            status = CompanyStatus.NOT_FOUND
        met.add(mark)
        standings.append(Standing(one, status, fresh))
    return standings


@dataclass(frozen=True, slots=True)
class FoundCompany:
    """What the source answered to one input. `suggested` is the id that the company gets if it has none yet."""

    source_id: str
    details: CompanyDetails
    suggested: str | None


def result_of(standings: Sequence[Standing]) -> CompaniesResult:
    """The result, when nothing is to be looked up live."""
    return CompaniesResult(rows=tuple(_row(each) for each in standings))


def _row(standing: Standing) -> CompanyRow:
    known = standing.known if standing.status is CompanyStatus.CACHED else None
    return CompanyRow(
        input=standing.wanted.input,
        status=standing.status or CompanyStatus.NOT_FOUND,
        company_id=known.id if known else None,
        details=known.details if known else None,
    )


async def settle(
    session: AsyncSession,
    vault: Vault,
    call: Begun,
    *,
    source: str,
    ask: CompaniesAsk,
    found: Mapping[int, FoundCompany],
) -> None:
    """Keep, charge and answer what was found, by the places of the inputs. Raises what `pay` raises: nothing stays."""
    await companies.lock(session)
    row = await running(session, call.id)
    if row is None:
        return
    rows: list[CompanyRow] = []
    charges: list[Charge] = []
    met: set[str] = set()
    for place, standing in enumerate(await look(session, ask)):
        answer = found.get(place)
        if standing.status is not None or answer is None:
            rows.append(_row(standing))
            met |= {standing.known.id} if standing.known else set()
            continue
        company_id = await companies.keep(
            session, source=source, source_id=answer.source_id, details=answer.details, suggested=answer.suggested
        )
        if company_id in met:
            rows.append(CompanyRow(input=standing.wanted.input, status=CompanyStatus.DUPLICATE))
            continue
        met.add(company_id)
        charges.append(Charge(f"company:{call.id}:{company_id}", "live_company", call.id, pricing.LIVE_COMPANY))
        rows.append(
            CompanyRow(
                input=standing.wanted.input,
                status=CompanyStatus.FOUND,
                company_id=company_id,
                details=answer.details,
                charged_credits=pricing.LIVE_COMPANY,
            )
        )
    await pay(session, call.payer, charges)
    done(vault, row, CompaniesResult(rows=tuple(rows)), about=())
