"""Outreach accounts as they are asked for and shown (contract, section 7)."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from api.kernel.schemas import Answer, Ask, Name, PageAsk
from api.outreach.settings_schemas import HoursView
from models.base.times import Time
from models.billing.rules.prices import OUTREACH_ACCOUNT_CENTS
from models.outreach.rules.answers import resumable
from models.outreach.rules.caps import utc_day, warmup_factor
from models.outreach.rules.states import AccountStatus, PauseReason
from models.outreach.store import calendars
from models.outreach.store.sequences import Rules
from models.outreach.tables import OutreachAccount


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
