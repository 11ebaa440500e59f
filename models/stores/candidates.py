"""Candidates as they are read: in delivery order, filtered before paging, without people suppressed since."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.stores import suppressions
from models.stores.paging import By, Page, Slice, fetch
from models.tables import Candidate
from models.tenancy import Tenant

ORDER = (By(col(Candidate.position)),)


@dataclass(frozen=True, slots=True)
class CandidateFilters:
    """What a caller wants to see; a bound drops people whose value is not known. Tiers count from 1."""

    min_years: int | None = None
    max_years: int | None = None
    max_distance_km: float | None = None
    tier: int | None = None


async def listed(
    session: AsyncSession, tenant: Tenant, run_id: str, filters: CandidateFilters, page: Page
) -> Slice[Candidate]:
    """A page of a run's candidates. The caller has checked that the run is the tenant's."""
    query = select(Candidate).where(
        col(Candidate.run_id) == run_id,
        col(Candidate.tenant_id) == tenant.id,
        *_wanted(filters),
        ~suppressions.hides(tenant, col(Candidate.profile_id)),
    )
    return await fetch(session, query, page, order=ORDER, created_at=col(Candidate.created_at))


def _wanted(filters: CandidateFilters) -> list[ColumnElement[bool]]:
    bounds: list[ColumnElement[bool]] = []
    if filters.min_years is not None:
        bounds.append(col(Candidate.experience_years) >= filters.min_years)
    if filters.max_years is not None:
        bounds.append(col(Candidate.experience_years) <= filters.max_years)
    if filters.max_distance_km is not None:
        bounds.append(col(Candidate.distance_km) <= filters.max_distance_km)
    if filters.tier is not None:
        bounds.append(col(Candidate.tier) == filters.tier)
    return bounds
