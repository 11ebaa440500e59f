"""What a workspace pays for its outreach accounts: how many are charged, what is due next, and whether it is paid.

The rows say how many accounts there are, and the provider's subscription follows. An account counts from its first
sign-in until it is removed, even while it is paused; the provider charges and credits parts of a month.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from models.billing.rules.payments import BACK_OFF, PlanStatus

LOOK_EVERY = timedelta(days=1)
"""How often the provider's subscription is read, in case an event got lost or the subscription was changed there."""
GRACE = timedelta(days=14)
"""How long outreach continues while it is unpaid; then sends are put on hold until it is paid."""


class OutreachPaying(StrEnum):
    """Whether outreach accounts are paid.

    `pending`: a change is being sent to the provider. `unpaid`: the card was declined or is missing, and sends go on
    for `GRACE`. `on_hold`: sends are on hold.
    """

    OFF = "off"
    PENDING = "pending"
    ACTIVE = "active"
    UNPAID = "unpaid"
    ON_HOLD = "on_hold"


class ChangeStatus(StrEnum):
    """The state of one change of what is charged. The first two are open; a workspace has at most one open change."""

    PENDING = "pending"
    CALLING = "calling"
    DONE = "done"
    DECLINED = "declined"
    FAILED = "failed"


class DueChange(StrEnum):
    """What a workspace's outreach plan needs next: a change, a look, a payment method, time, or nothing."""

    CHANGE = "change"
    LOOK = "look"
    METHOD = "method"
    TIME = "time"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class ProviderSubscription:
    """The provider's subscription: accounts charged for, 0 and null where there is none."""

    subscription_id: str | None
    accounts: int
    method_id: str | None
    status: PlanStatus


@dataclass(frozen=True, slots=True)
class Charging:
    """Everything that decides: the accounts that exist (`wanted`) and those that the provider charges for (`charged`).

    `method` is the payment method of the workspace, `charged_method` the one that the provider charges.
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
        """Whether the provider charges for every account, and is paid."""
        return self.wanted == self.charged and not self.past_due


def due_change(at: Charging) -> tuple[DueChange, datetime | None]:
    """Return what is due, and until when to wait for it."""
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
    """Return how long to wait after this number of declines in a row; trying again never ends while accounts exist."""
    return BACK_OFF[min(failures, len(BACK_OFF)) - 1]


def paying(*, wanted: int, charged: int, unpaid_since: datetime | None, now: datetime) -> OutreachPaying:
    """Return whether the outreach accounts are paid."""
    if unpaid_since is not None:
        return OutreachPaying.ON_HOLD if unpaid_since + GRACE <= now else OutreachPaying.UNPAID
    if wanted != charged:
        return OutreachPaying.PENDING
    return OutreachPaying.ACTIVE if wanted else OutreachPaying.OFF
