"""What a plan is: its tiers, its estimate, and what was applied, ignored and warned about (contract, section 5)."""

from enum import StrEnum

from models.rules.filters import LocationId, Strict, TierFilters

PAGE_SIZE = 50
"""People on a search page; constant, because paid pages are remembered by query."""


class Origin(StrEnum):
    """Where an applied filter comes from: the caller's intent, the text of the description, or our default."""

    INTENT = "intent"
    DESCRIPTION = "description"
    DEFAULT = "default"


class AppliedFilter(Strict):
    """A filter in plain form: `field` is dotted (`must.location.radius_km`)."""

    field: str
    value: str | int | tuple[str, ...] | dict[str, int]
    origin: Origin


class Tier(Strict):
    """One rung of the ladder; `tier` counts from 1. People and pages are null where nobody can estimate them."""

    tier: int
    label: str
    filters: TierFilters
    query_key: str
    estimated_people: int | None
    estimated_pages: int | None


class TargetRange(Strict):
    """How many people the role can yield within the limits of a run."""

    min: int
    max: int


class PerPerson(Strict):
    """Credits for one person: the lead, and the profile when it is fetched live."""

    lead: int
    live_profile: int


class Estimate(Strict):
    """Credits and search pages a run may take. Not a quote; `pages_max` is null where the people are not known."""

    credits_min: int
    credits_max: int
    per_person: PerPerson
    pages_min: int
    pages_max: int | None


class Anchor(Strict):
    """The point distances are measured from; degrees."""

    location_id: LocationId
    lat: float
    lon: float


class Plan(Strict):
    """A priced, disjoint ladder of searches; immutable."""

    summary: str
    target: int
    target_range: TargetRange
    tiers: tuple[Tier, ...]
    estimate: Estimate
    anchor: Anchor | None
    applied_filters: tuple[AppliedFilter, ...]
    ignored_fields: tuple[str, ...]
    warnings: tuple[str, ...]
