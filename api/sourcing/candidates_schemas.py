"""Candidates as they are asked for and shown (contract, section 5)."""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from api.kernel.schemas import Answer, PageAsk
from models.people.rules.profiles import Profile
from models.sourcing.rules.plans import MAX_YEARS
from models.sourcing.store import CandidateFilters
from models.sourcing.tables import Candidate

MAX_KM = 20_040
"""Half way around the world."""
MAX_TIER = 100

Years = Annotated[int, Field(ge=0, le=MAX_YEARS)]


class CandidateShape(StrEnum):
    """`compact` is one flat row; `full` adds the profile."""

    COMPACT = "compact"
    FULL = "full"


class CandidateQuery(PageAsk):
    """Which candidates to show, in delivery order. A bound drops people whose value is not known."""

    free: ClassVar[frozenset[str]] = PageAsk.free | {"view"}

    min_years: Years | None = None
    max_years: Years | None = None
    max_distance_km: Annotated[float, Field(ge=0, le=MAX_KM)] | None = None
    tier: Annotated[int, Field(ge=1, le=MAX_TIER)] | None = None
    view: CandidateShape = CandidateShape.FULL


class ListCandidates(CandidateQuery):
    """The candidates of one run."""

    run_id: str

    def filters(self) -> CandidateFilters:
        """The same, as the store takes it."""
        return CandidateFilters(
            min_years=self.min_years, max_years=self.max_years, max_distance_km=self.max_distance_km, tier=self.tier
        )


class CandidateRow(Answer):
    """A candidate in one flat row; what the profile does not say is null."""

    id: str
    object: Literal["candidate"] = "candidate"
    profile_id: str
    tier: int
    full_name: str | None
    title: str | None
    company: str | None
    location: str | None
    distance_km: float | None
    experience_years: int | None
    tenure_months: int | None
    profile_url: str | None

    @classmethod
    def of(cls, row: Candidate) -> "CandidateRow":
        """The row as shown."""
        return cls.model_validate(_facts(row, Profile.model_validate(row.content)))


class FullCandidate(CandidateRow):
    """A candidate with the whole profile, as it was when delivered."""

    profile: Profile

    @classmethod
    def of(cls, row: Candidate) -> "FullCandidate":
        """The row as shown."""
        profile = Profile.model_validate(row.content)
        return cls.model_validate({**_facts(row, profile), "profile": profile})


COMPACT_COLUMNS = tuple(name for name in CandidateRow.model_fields if name not in {"id", "object"})

VIEWS: dict[CandidateShape, Callable[[Candidate], CandidateRow]] = {
    CandidateShape.COMPACT: CandidateRow.of,
    CandidateShape.FULL: FullCandidate.of,
}


def _facts(row: Candidate, profile: Profile) -> dict[str, object]:
    current = profile.current
    return {
        "id": row.id,
        "profile_id": row.profile_id,
        "tier": row.tier,
        "full_name": profile.full_name,
        "title": current.title if current else None,
        "company": current.company if current else None,
        "location": profile.location.label,
        "distance_km": row.distance_km,
        "experience_years": row.experience_years,
        "tenure_months": row.tenure_months,
        "profile_url": profile.profile_url,
    }
