"""The planner: an intent becomes a priced ladder of searches that share no person (contract, section 5)."""

from models.rules.planner.asked import (
    Knowledge,
    PeopleStatistics,
    TitleKnowledge,
)
from models.rules.planner.ground import default_radius
from models.rules.planner.planning import Draft, draft, plan, retargeted
from models.rules.planner.query_key import query_key
from models.rules.planner.values import (
    PAGE_SIZE,
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
    "Anchor",
    "AppliedFilter",
    "Draft",
    "Estimate",
    "Knowledge",
    "Origin",
    "PeopleStatistics",
    "PerPerson",
    "Plan",
    "TargetRange",
    "Tier",
    "TitleKnowledge",
    "default_radius",
    "draft",
    "plan",
    "query_key",
    "retargeted",
]
