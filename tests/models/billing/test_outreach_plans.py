"""What is due for an outreach plan, and how paying stands."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from models.billing.rules.outreach_plans import (
    GRACE,
    LOOK_EVERY,
    Charging,
    DueChange,
    OutreachPaying,
    due_change,
    paying,
    plan_retry_after,
)

NOW = datetime(2026, 11, 28, tzinfo=UTC)
SOON = NOW + timedelta(hours=1)
SETTLED: dict[str, Any] = {"wanted": 2, "charged": 2, "method": "pm_1", "charged_method": "pm_1", "looked_at": NOW}


def charging(**changed: Any) -> Charging:
    return Charging(**{"past_due": False, "retry_at": None, "now": NOW} | SETTLED | changed)


@pytest.mark.parametrize(
    ("changed", "what", "until"),
    [
        ({}, DueChange.TIME, NOW + LOOK_EVERY),
        ({"looked_at": None}, DueChange.LOOK, None),
        ({"looked_at": NOW - LOOK_EVERY}, DueChange.LOOK, None),
        ({"wanted": 3}, DueChange.CHANGE, None),
        ({"wanted": 1}, DueChange.CHANGE, None),
        ({"wanted": 0}, DueChange.CHANGE, None),
        ({"wanted": 3, "retry_at": SOON}, DueChange.TIME, SOON),
        ({"wanted": 3, "retry_at": NOW}, DueChange.CHANGE, None),
        ({"wanted": 3, "method": None}, DueChange.METHOD, None),
        ({"wanted": 1, "method": None}, DueChange.CHANGE, None),
        ({"method": None}, DueChange.TIME, NOW + LOOK_EVERY),
        ({"method": "pm_2"}, DueChange.CHANGE, None),
        ({"wanted": 0, "charged": 0, "method": "pm_2"}, DueChange.NOTHING, None),
    ],
)
def test_the_providers_side_is_brought_to_the_accounts_there_are(
    changed: dict[str, Any], what: DueChange, until: datetime | None
) -> None:
    assert due_change(charging(**changed)) == (what, until)


def test_a_decline_is_tried_again_later_each_time_and_never_given_up() -> None:
    hours = [plan_retry_after(failures) / timedelta(hours=1) for failures in (1, 2, 3, 4, 5, 50)]
    assert hours == [1, 6, 24, 72, 72, 72]


@pytest.mark.parametrize(
    ("wanted", "charged", "unpaid_for", "stands"),
    [
        (0, 0, None, OutreachPaying.OFF),
        (1, 0, None, OutreachPaying.PENDING),
        (1, 1, None, OutreachPaying.ACTIVE),
        (1, 0, timedelta(0), OutreachPaying.UNPAID),
        (1, 1, GRACE - timedelta(seconds=1), OutreachPaying.UNPAID),
        (1, 1, GRACE, OutreachPaying.ON_HOLD),
    ],
)
def test_unpaid_outreach_goes_on_for_the_grace_and_holds_after_it(
    wanted: int, charged: int, unpaid_for: timedelta | None, stands: OutreachPaying
) -> None:
    since = None if unpaid_for is None else NOW - unpaid_for
    assert paying(wanted=wanted, charged=charged, unpaid_since=since, now=NOW) is stands
