"""Limits of an outreach account as they are asked for and shown (contract, section 7)."""

from dataclasses import asdict
from datetime import datetime
from typing import Literal

from pydantic import ConfigDict

from api.kernel.schemas import Answer
from api.outreach.accounts_schemas import after_start
from api.outreach.settings_schemas import CapFields, cap_bounds
from models.base.times import Time
from models.outreach.rules.caps import OutreachCap
from models.outreach.store import calendars
from models.outreach.store.calendars import Usage
from models.outreach.store.sequences import Rules
from models.outreach.tables import OutreachAccount

RISK_WARNING = (
    "These caps are above what networks tolerate without question. Going faster can get the account restricted or"
    " closed, for good. Warm-up, jitter, spacing, working hours and automatic pauses stay on."
)


class ChangeLimits(CapFields):
    """The account's own caps. Above the default only with `risk_acknowledged: true`, above the ceiling never."""

    model_config = ConfigDict(json_schema_extra=cap_bounds(lambda rule: rule.ceiling))


class CapView(Answer):
    """A cap in its present window. `configured` is the account's own value, `workspace` the settings' lower one.

    `reserved` is booked for the rest of the window. `new_outreach_per_day` is counted over the workspace.
    """

    cap: OutreachCap
    default: int
    ceiling: int
    configured: int | None
    workspace: int | None
    warmup_factor: float
    jitter_factor: float
    effective: int
    used: int
    reserved: int
    remaining: int
    resets_at: Time


class LimitsView(Answer):
    """What the account may do today. `next_available_at`: when it may next invite somebody new, null when unknown."""

    id: str
    object: Literal["outreach_limits"] = "outreach_limits"
    account_id: str
    caps: list[CapView]
    warmup_pending: bool
    caps_after_warmup_start: dict[str, int] | None
    next_available_at: Time | None
    risk_warning: str | None = None

    @classmethod
    def of(
        cls, row: OutreachAccount, rules: Rules, usage: Usage, now: datetime, *, risk_warning: str | None = None
    ) -> "LimitsView":
        """The limits as they are shown."""
        pending = row.warmup_started_at is None
        return cls(
            id=row.id,
            account_id=row.id,
            caps=[CapView(**asdict(one)) for one in calendars.readings(row, rules, usage, now)],
            warmup_pending=pending,
            caps_after_warmup_start=after_start(row, rules, now) if pending else None,
            next_available_at=calendars.next_invite_at(row, rules, usage, now),
            risk_warning=risk_warning,
        )
