"""Companies looked up live, beside the shipped ones: by id, domain or name, mapped to what sources call them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.database import service_time
from models.base.ids import new_id
from models.market.companies import COMPANY_LIFE, CompanyDetails, company_key, plain_domain
from models.market.tables import CompanyKey, CompanyRecord

BY_ID, BY_DOMAIN, BY_SOURCE = "id", "domain", "source"


@dataclass(frozen=True, slots=True)
class KnownCompany:
    """A company of the cache. `fresh` is whether it need not be asked for again yet."""

    id: str
    details: CompanyDetails
    fresh: bool


def _known(row: CompanyRecord, now: datetime) -> KnownCompany:
    return KnownCompany(row.id, CompanyDetails.model_validate(row.details), row.fetched_at > now - COMPANY_LIFE)


async def companies_by_id(session: AsyncSession, company_ids: Collection[str]) -> dict[str, KnownCompany]:
    """Return the companies of these ids, by the id as given; unknown ones are missing."""
    asked = list(company_ids)
    aliases = (
        select(col(CompanyKey.value), CompanyRecord)
        .join(CompanyRecord, col(CompanyRecord.id) == col(CompanyKey.company_id))
        .where(col(CompanyKey.kind) == BY_ID, col(CompanyKey.value).in_(asked))
    )
    now = await service_time(session)
    found = {given: _known(row, now) for given, row in await session.execute(aliases)}
    own = await session.scalars(select(CompanyRecord).where(col(CompanyRecord.id).in_(asked)))
    return found | {row.id: _known(row, now) for row in own}


async def companies_at_domains(session: AsyncSession, domains: Collection[str]) -> dict[str, KnownCompany]:
    """Return the companies at these plain domains."""
    query = (
        select(col(CompanyKey.value), CompanyRecord)
        .join(CompanyRecord, col(CompanyRecord.id) == col(CompanyKey.company_id))
        .where(col(CompanyKey.kind) == BY_DOMAIN, col(CompanyKey.value).in_(list(domains)))
    )
    now = await service_time(session)
    return {domain: _known(row, now) for domain, row in await session.execute(query)}


async def companies_named(session: AsyncSession, name: str, *, limit: int = 2) -> list[KnownCompany]:
    """Return companies of this name, whatever their legal form."""
    query = select(CompanyRecord).where(col(CompanyRecord.name_key) == company_key(name))
    now = await service_time(session)
    rows = await session.scalars(query.order_by(col(CompanyRecord.id)).limit(limit))
    return [_known(row, now) for row in rows]


async def companies_beginning(session: AsyncSession, name: str, *, limit: int) -> list[KnownCompany]:
    """Return the companies whose name begins with this text, exact names first."""
    key = company_key(name)
    if not key:
        return []
    begins = col(CompanyRecord.name_key).startswith(key, autoescape=True)
    query = select(CompanyRecord).where(begins).order_by(col(CompanyRecord.name_key), col(CompanyRecord.id))
    now = await service_time(session)
    return [_known(row, now) for row in await session.scalars(query.limit(limit))]


@dataclass(frozen=True, slots=True)
class Names:
    """What a source knows a company by."""

    name: str
    domains: tuple[str, ...]
    source_ids: tuple[str, ...]


async def source_names(session: AsyncSession, source: str, company_ids: Collection[str]) -> Mapping[str, Names]:
    """Return the names of these companies, by the id as given; those never looked up are missing."""
    known = await companies_by_id(session, company_ids)
    query = select(CompanyKey).where(col(CompanyKey.company_id).in_({each.id for each in known.values()}))
    keys = (await session.scalars(query.order_by(col(CompanyKey.value)))).all()
    return {
        asked: Names(
            each.details.name,
            tuple(key.value for key in keys if key.company_id == each.id and key.kind == BY_DOMAIN),
            tuple(key.value for key in keys if key.company_id == each.id and key.source == source),
        )
        for asked, each in known.items()
    }


LOCK = text("select pg_advisory_xact_lock(hashtextextended('companies', 0))")


async def lock_companies(session: AsyncSession) -> None:
    """Write companies one transaction at a time: two that meet the same one give it one id."""
    await session.execute(LOCK)


async def keep_company(
    session: AsyncSession, *, source: str, source_id: str, details: CompanyDetails, suggested: str | None
) -> str:
    """Keep what a source says of a company and give its id; the caller holds the lock of companies.

    A company met by the source's id or at the domain keeps its id; otherwise it gets the `suggested` one (of a shipped
    company, or the one asked for), or a new one. Another id it was asked for by becomes an alias.
    """
    now = await service_time(session)
    domain = plain_domain(details.domain or "")
    company_id = await _met(session, source, source_id, domain)
    if company_id is None and suggested is not None and not await _is_another(session, source, suggested):
        company_id = suggested
    company_id = company_id or new_id("co", now)
    record = insert(CompanyRecord).values(
        id=company_id,
        name_key=company_key(details.name),
        details=details.model_dump(mode="json"),
        source=source,
        fetched_at=now,
    )
    changed = {name: record.excluded[name] for name in ("name_key", "details", "source", "fetched_at")}
    await session.execute(record.on_conflict_do_update(index_elements=["id"], set_=changed))
    keys = [(BY_SOURCE, source, source_id), (BY_DOMAIN, "", domain)]
    if suggested not in {None, company_id} and not await companies_by_id(session, [suggested or ""]):
        keys.append((BY_ID, "", suggested or ""))
    await session.execute(
        insert(CompanyKey).on_conflict_do_nothing(),
        [
            {"kind": kind, "source": whose, "value": value, "company_id": company_id}
            for kind, whose, value in keys
            if value
        ],
    )
    return company_id


async def _met(session: AsyncSession, source: str, source_id: str, domain: str) -> str | None:
    query = select(col(CompanyKey.company_id))
    by_source = query.where(
        col(CompanyKey.kind) == BY_SOURCE, col(CompanyKey.source) == source, col(CompanyKey.value) == source_id
    )
    found = await session.scalar(by_source)
    if found is not None or not domain:
        return found
    at = await session.scalar(query.where(col(CompanyKey.kind) == BY_DOMAIN, col(CompanyKey.value) == domain))
    return None if at is None or await _is_another(session, source, at) else at


async def _is_another(session: AsyncSession, source: str, company_id: str) -> bool:
    """Return whether the source knows the company already, then by another id."""
    query = select(col(CompanyKey.value)).where(
        col(CompanyKey.company_id) == company_id, col(CompanyKey.kind) == BY_SOURCE, col(CompanyKey.source) == source
    )
    return await session.scalar(query.limit(1)) is not None
