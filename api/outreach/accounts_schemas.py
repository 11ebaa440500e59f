"""What operations on outreach accounts, their limits and the settings of outreach ask and answer."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict
from pydantic.json_schema import SkipJsonSchema

from api.kernel.schemas import Answer, Ask, Name, PageAsk
from models.base.values import Time
from models.billing.rules.prices import OUTREACH_ACCOUNT_CENTS
from models.outreach.rules.actions import OutreachCap
from models.outreach.rules.answers import resumable
from models.outreach.rules.caps import CAPS, EARLIEST_HOUR, LATEST_HOUR, CapRule, WorkingHours, utc_day, warmup_factor
from models.outreach.rules.states import AccountStatus, PauseReason
from models.outreach.store import calendars
from models.outreach.store.accounts import Rules
from models.outreach.store.calendars import Usage
from models.outreach.tables import OutreachAccount

HOURS: JsonDict = {"minimum": EARLIEST_HOUR, "maximum": LATEST_HOUR}
DAYS: JsonDict = {"minItems": 1, "uniqueItems": True, "items": {"type": "integer", "minimum": 1, "maximum": 5}}


def cap_bounds(highest: Callable[[CapRule], int]) -> Callable[[JsonDict], None]:
    """Adds to a schema with caps what each may be at most."""

    def add(schema: JsonDict) -> None:
        fields = schema["properties"]
        for cap, rule in CAPS.items():
            described = fields[cap.value] if isinstance(fields, dict) else None
            if isinstance(described, dict):
                described.update({"minimum": 0, "maximum": highest(rule)})

    return add


CapValue = Annotated[int, Field(description="A whole number; null takes it away.")]


class CapFields(Ask):
    """Caps by name. A cap that is left out stays, `null` takes it away."""

    invites_per_day: CapValue | None = None
    invites_per_week: CapValue | None = None
    invites_without_note_per_week: CapValue | None = None
    profile_views_per_day: CapValue | None = None
    new_outreach_per_day: CapValue | None = None
    risk_acknowledged: bool = False

    def given(self) -> dict[OutreachCap, int | None]:
        """The caps that are in the request."""
        return {cap: getattr(self, cap.value) for cap in OutreachCap if cap.value in self.model_fields_set}


def changed_caps(caps: Mapping[str, int], given: Mapping[OutreachCap, int | None]) -> dict[str, int]:
    """Stored caps after a change."""
    values: dict[str, int | None] = {**caps, **{cap.value: value for cap, value in given.items()}}
    return {name: value for name, value in values.items() if value is not None}


class ChangeSettings(CapFields):
    """What may change in the settings. Caps here only lower, whatever `risk_acknowledged` says."""

    model_config = ConfigDict(json_schema_extra=cap_bounds(lambda rule: rule.default))

    time_zone: Annotated[str, Field(max_length=64, description="An IANA name.")] | SkipJsonSchema[None] = None
    start_hour: int | SkipJsonSchema[None] = Field(
        default=None, description="Whole hour from 8, local time.", json_schema_extra=HOURS
    )
    end_hour: int | SkipJsonSchema[None] = Field(
        default=None, description="Whole hour to 19, at least two after `start_hour`.", json_schema_extra=HOURS
    )
    days: Annotated[list[int], Field(max_length=7)] | SkipJsonSchema[None] = Field(
        default=None, description="1 (Monday) to 5 (Friday), at least one.", json_schema_extra=DAYS
    )


class SettingsView(Answer):
    """The working hours, and the caps that were lowered; `null` where the default holds."""

    id: Literal["outreach_settings"] = "outreach_settings"
    object: Literal["outreach_settings"] = "outreach_settings"
    time_zone: str
    start_hour: int
    end_hour: int
    days: list[int]
    invites_per_day: int | None
    invites_per_week: int | None
    invites_without_note_per_week: int | None
    profile_views_per_day: int | None
    new_outreach_per_day: int | None

    @classmethod
    def of(cls, rules: Rules) -> "SettingsView":
        """The settings as they are shown."""
        return cls(
            time_zone=rules.hours.zone,
            start_hour=rules.hours.start_hour,
            end_hour=rules.hours.end_hour,
            days=list(rules.hours.days),
            **{cap.value: rules.caps.get(cap) for cap in OutreachCap},
        )


class HoursView(Answer):
    """When an account writes: local hours on weekdays, Monday is 1."""

    start_hour: int
    end_hour: int
    days: list[int]

    @classmethod
    def of(cls, hours: WorkingHours) -> "HoursView":
        """The hours as they are shown."""
        return cls(start_hour=hours.start_hour, end_hour=hours.end_hour, days=list(hours.days))


class ConnectAccount(Ask):
    """An account to connect. Asking again with the same name, or without one, goes on with the unfinished sign-in."""

    name: Name | None = Field(default=None, description="Yours; else the owner's name on the network.")


class ListAccounts(PageAsk):
    """The accounts, newest first; removed ones only when `status` asks for them."""

    status: AccountStatus | None = None


class WarmupView(Answer):
    """The 14 days in which the caps rise. Before the start `factor` is 1 and what it will be stands beside it."""

    pending: bool
    started_at: Time | None
    day: int | None
    factor: float
    caps_after_warmup_start: dict[str, int] | None

    @classmethod
    def of(cls, row: OutreachAccount, rules: Rules, now: datetime) -> "WarmupView":
        """The warm-up of an account on this UTC day."""
        caps, today = calendars.caps_of(row, rules), utc_day(now)
        started = row.warmup_started_at is not None
        day = caps.warmup_day(today)
        return cls(
            pending=not started,
            started_at=row.warmup_started_at,
            day=day,
            factor=warmup_factor(day),
            caps_after_warmup_start=None if started else after_start(row, rules, now),
        )


def after_start(row: OutreachAccount, rules: Rules, now: datetime) -> dict[str, int]:
    """What the caps would be if the warm-up started today."""
    return {cap.value: value for cap, value in calendars.after_warmup_start(row, rules, now).items()}


class AccountView(Answer):
    """A network account that messages are sent from.

    `connect_failure` says why the last sign-in led to nothing; `restored_as` names the older record of the same
    network account that took over.
    """

    id: str
    object: Literal["outreach_account"] = "outreach_account"
    name: str | None
    profile_url: str | None
    status: AccountStatus
    pause_reason: PauseReason | None
    paused_until: Time | None
    resumable: bool
    warmup: WarmupView
    time_zone: str
    working_hours: HoursView
    monthly_price_cents: int = OUTREACH_ACCOUNT_CENTS
    currency: Literal["EUR"] = "EUR"
    connect_failure: str | None
    restored_as: str | None
    created_at: Time
    connected_at: Time | None

    @classmethod
    def of(cls, row: OutreachAccount, rules: Rules, now: datetime) -> "AccountView":
        """The account as it is shown."""
        status = AccountStatus(row.status)
        reason = PauseReason(row.pause_reason) if row.pause_reason and status is not AccountStatus.REMOVED else None
        until = row.paused_until if status is AccountStatus.PAUSED else None
        limited = row.limited_until is not None and row.limited_until > now
        return cls(
            id=row.id,
            name=row.name,
            profile_url=row.profile_url,
            status=status,
            pause_reason=reason,
            paused_until=until,
            resumable=not limited and resumable(status, reason, until, now),
            warmup=WarmupView.of(row, rules, now),
            time_zone=rules.hours.zone,
            working_hours=HoursView.of(rules.hours),
            connect_failure=row.connect_failure,
            restored_as=row.restored_as,
            created_at=row.created_at,
            connected_at=row.connected_at,
        )


class AccountConnecting(Answer):
    """An account and the link by which its owner signs in, good until `expires_at`."""

    account: AccountView
    connect_url: str
    expires_at: Time


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
    """What the account may do today. `next_available_at`: when it may next invite another person, null when unknown."""

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
