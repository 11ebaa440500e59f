"""Spacing: how long an account rests after an action (specification, "Outreach caps", rules 7 and 8)."""

from datetime import datetime, timedelta
from functools import lru_cache

from models.rules.outreach.hours import WorkingHours
from models.rules.outreach.seeds import unit

GAP_SECONDS = 45
GAP_SPREAD_SECONDS = 135
LUNCH_HOUR = 12
PEAK_FROM_HOUR = 10
PEAK_UNTIL_HOUR = 16
LUNCH_MULTIPLIER = 3.0
PEAK_MULTIPLIER = 1.0
OFF_PEAK_MULTIPLIER = 1.5
SHORTEST_GAP = timedelta(seconds=GAP_SECONDS)
LONGEST_GAP = timedelta(seconds=(GAP_SECONDS + GAP_SPREAD_SECONDS) * LUNCH_MULTIPLIER)


@lru_cache(maxsize=8192)  # a search asks for the same seed at every place it tries
def base_gap(seed: str) -> timedelta:
    """45 to 180 s, the same for the same seed."""
    return timedelta(seconds=GAP_SECONDS + GAP_SPREAD_SECONDS * unit(seed))


def multiplier(local_hour: int) -> float:
    """3 for lunch, 1 for the rest of the peak hours, 1.5 otherwise; by the hour (0 to 23) of local wall time."""
    if local_hour == LUNCH_HOUR:
        return LUNCH_MULTIPLIER
    return PEAK_MULTIPLIER if PEAK_FROM_HOUR <= local_hour < PEAK_UNTIL_HOUR else OFF_PEAK_MULTIPLIER


def gap_after(seed: str, at: datetime, hours: WorkingHours) -> timedelta:
    """How long the account rests after an action at this moment: planned time, or the time of its result."""
    return base_gap(seed) * multiplier(hours.local_hour(at))
