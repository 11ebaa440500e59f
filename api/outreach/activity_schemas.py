"""Activity: what was done on the network in a span of time, and what came of it (contract, section 7)."""

from datetime import date
from typing import Literal

from pydantic import Field

from api.kernel.schemas import Answer, Ask, Moment
from api.outreach.sequences_schemas import Id
from models.base.times import Time


class AskActivity(Ask):
    """The span: `since` inclusive (30 days before `until`), `until` exclusive (now); a year and a day at most."""

    account_id: Id | None = None
    since: Moment | None = None
    until: Moment | None = None


class ActivityCounts(Answer):
    """How many of each were done, and how many messages candidates wrote."""

    invites: int = 0
    messages: int = 0
    profile_visits: int = 0
    withdrawn_invites: int = 0
    replies_received: int = 0


class ActivityDay(ActivityCounts):
    """A UTC day on which anything happened."""

    date: date


class Rate(Answer):
    """A share of `sample_size`; null when that is 0. `count` is how many."""

    rate: float | None = Field(ge=0, le=1)
    count: int
    sample_size: int


class ActivityView(Answer):
    """`acceptance`: invites of the span accepted so far. `replies`: people contacted in it who wrote since."""

    object: Literal["activity"] = "activity"
    account_id: str | None
    since: Time
    until: Time
    days: list[ActivityDay]
    totals: ActivityCounts
    acceptance: Rate
    replies: Rate
