"""What a workspace pays for its outreach accounts: how many are charged, what is due next, and how paying stands.

The rows say how many accounts there are; the provider's side is brought to that. An account counts from its first
sign-in until it is removed, whatever it rests for; the provider charges and credits parts of a month.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from models.billing.rules.payments import BACK_OFF, PlanStatus

LOOK_EVERY = timedelta(days=1)
"""How often the provider's side is read, in case that something was not told or was changed there by hand."""
GRACE = timedelta(days=14)
"""For so long outreach goes on while it is unpaid; after that sends hold until it is paid."""


class OutreachPaying(StrEnum):
    """How paying for outreach accounts stands.

    `pending`: the provider is being told of a change. `unpaid`: the card was declined or is missing, and sends hold at
    the end of the grace. `on_hold`: they do.
    """

    OFF = "off"
    PENDING = "pending"
    ACTIVE = "active"
    UNPAID = "unpaid"
    ON_HOLD = "on_hold"


class ChangeStatus(StrEnum):
    """How one change of what is charged stands. The first two are open, and a workspace has one open change at most."""

    PENDING = "pending"
    CALLING = "calling"
    DONE = "done"
    DECLINED = "declined"
    FAILED = "failed"


class DueChange(StrEnum):
    """What is due for a workspace's outreach plan."""

    CHANGE = "change"
    LOOK = "look"
    METHOD = "method"
    TIME = "time"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class ProviderSubscription:
    """What the provider holds: accounts charged for, 0 and null where there is no subscription."""

    subscription_id: str | None
    accounts: int
    method_id: str | None
    status: PlanStatus


@dataclass(frozen=True, slots=True)
class Charging:
    """Everything that decides: accounts there are (`wanted`) and that the provider charges for (`charged`).

    `method` is the payment method of the workspace, `charged_method` what the provider charges.
    """

    wanted: int
    charged: int
    method: str | None
    charged_method: str | None
    past_due: bool
    retry_at: datetime | None
    looked_at: datetime | None
    now: datetime

    @property
    def settled(self) -> bool:
        """Whether the provider charges for what there is, and is paid."""
        return self.wanted == self.charged and not self.past_due


def due_change(at: Charging) -> tuple[DueChange, datetime | None]:
    """What is due, and until when there is time."""
    less = at.wanted < at.charged
    other_method = at.wanted > 0 and at.method is not None and at.method != at.charged_method
    if at.wanted > at.charged and at.method is None:
        return DueChange.METHOD, None
    if less or at.wanted > at.charged or other_method:
        if at.retry_at is not None and at.retry_at > at.now:
            return DueChange.TIME, at.retry_at
        return DueChange.CHANGE, None
    if at.wanted == 0:
        return DueChange.NOTHING, None
    look_at = at.now if at.looked_at is None else at.looked_at + LOOK_EVERY
    return (DueChange.LOOK, None) if look_at <= at.now else (DueChange.TIME, look_at)


def plan_retry_after(failures: int) -> timedelta:
    """How long to wait after so many declines in a row; it is never given up, for the accounts are there."""
    return BACK_OFF[min(failures, len(BACK_OFF)) - 1]


def paying(*, wanted: int, charged: int, unpaid_since: datetime | None, now: datetime) -> OutreachPaying:
    """How paying stands."""
    if unpaid_since is not None:
        return OutreachPaying.ON_HOLD if unpaid_since + GRACE <= now else OutreachPaying.UNPAID
    if wanted != charged:
        return OutreachPaying.PENDING
    return OutreachPaying.ACTIVE if wanted else OutreachPaying.OFF
