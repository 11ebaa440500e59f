"""The planner: an intent becomes a priced ladder of searches that share no person (contract, section 5)."""

from models.rules.planner.asked import (
    CompanyKnowledge,
    Knowledge,
    KnownCompany,
    PeopleStatistics,
    Source,
    TitleKnowledge,
)
from models.rules.planner.planning import Draft, draft, plan
from models.rules.planner.query_key import query_key
from models.rules.planner.values import (
    PAGE_SIZE,
    TARGET_MAX,
    TARGET_MIN,
    Anchor,
    AppliedFilter,
    Estimate,
    Origin,
    PerPerson,
    Plan,
    TargetRange,
    Tier,
)

__all__ = [
    "PAGE_SIZE",
    "TARGET_MAX",
    "TARGET_MIN",
    "Anchor",
    "AppliedFilter",
    "CompanyKnowledge",
    "Draft",
    "Estimate",
    "Knowledge",
    "KnownCompany",
    "Origin",
    "PeopleStatistics",
    "PerPerson",
    "Plan",
    "Source",
    "TargetRange",
    "Tier",
    "TitleKnowledge",
    "draft",
    "plan",
    "query_key",
]
