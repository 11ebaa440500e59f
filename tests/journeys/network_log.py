"""Hours, rests, caps and silence, computed from the network's own log without any code of the product."""

import hashlib
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from math import floor
from typing import Any
from zoneinfo import ZoneInfo

Json = dict[str, Any]
DEFAULTS = {
    "invites_per_day": 20,
    "invites_per_week": 100,
    "invites_without_note_per_week": 75,
    "new_outreach_per_day": 25,
    "profile_views_per_day": 100,
}
LAST_SECONDS = 120
CALL_SECONDS = 12
"""A call starts within ten seconds of its claim, and the network logs it when it is done."""
CLOCKS_DIFFER = 0.5
"""Seconds by which the network's clock may differ from the service's."""
KINDS = {"invite": "invite", "message": "message", "withdraw": "withdraw_invite", "visit": "profile_visit"}
DONE = {"sent", "unknown", "reconciling", "sending"}


@dataclass(frozen=True)
class Terms:
    """The terms that an account's executions must keep; `started` is the UTC day on which its warm-up began."""

    account_id: str
    started: date
    zone: str = "Europe/Brussels"
    opens: int = 8
    closes: int = 19
    bases: Mapping[str, int] = field(default_factory=lambda: DEFAULTS)

    def local(self, at: datetime) -> datetime:
        """Return the local time of the account's zone."""
        return at.astimezone(ZoneInfo(self.zone))

    def cap(self, name: str, day: date) -> int:
        """Return the effective cap of a day, or of a week's days up to this one."""
        warm = min(Fraction(1), Fraction(4, 10) + Fraction(6, 10) * Fraction(max(0, (day - self.started).days), 14))
        counted_from = monday(day) if name.endswith("per_week") else day
        jitter = 1 - 0.15 * unit(f"{self.account_id}:{counted_from.isoformat()}")
        return max(1, floor(self.bases[name] * warm * (1 if name == "new_outreach_per_day" else Fraction(jitter))))


def unit(seed: str) -> float:
    """Return the random number of a seed: the first 8 bytes of its SHA-256 as a fraction of 2^64."""
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big") / 2**64


def moment(entry: Mapping[str, Any]) -> datetime:
    """Return when an entry of the network's log was executed."""
    return datetime.fromisoformat(entry["at"])


def utc_day(entry: Mapping[str, Any]) -> date:
    """Return the UTC day on which an entry was executed."""
    return moment(entry).astimezone(UTC).date()


def monday(day: date) -> date:
    """Return the first day of the ISO week of a day."""
    return day - timedelta(days=day.weekday())


def key_of(entry: Mapping[str, Any]) -> tuple[str, str, str | None]:
    """Return what must be unique among executions: kind, person and text."""
    return entry["kind"], entry["person_id"], entry["text"]


def duplicates(log: Iterable[Json]) -> list[tuple[str, str, str | None]]:
    """Return the keys that were executed more than once."""
    return [key for key, count in Counter(map(key_of, log)).items() if count > 1]


def broken_promises(log: list[Json], seeds: Mapping[int, str], terms: Terms) -> list[str]:
    """Return a description of every broken promise; `seeds` are those of the actions by log number."""
    return [
        *(f"outside hours: {entry}" for entry in outside_hours(log, terms)),
        *(f"in the last moments: {entry}" for entry in in_last_moments(log, terms)),
        *(f"too close: {pair}" for pair in too_close(log, seeds, terms)),
        *(f"over a cap: {one}" for one in over_caps(log, terms)),
    ]


def outside_hours(log: Iterable[Json], terms: Terms) -> list[Json]:
    """Return executions at the weekend or outside the sending hours in local time."""
    local = [(entry, terms.local(moment(entry))) for entry in log]
    return [entry for entry, at in local if at.isoweekday() > 5 or not terms.opens <= at.hour < terms.closes]


def in_last_moments(log: Iterable[Json], terms: Terms) -> list[Json]:
    """Return executions claimed in the last two minutes of a window or of a UTC day."""
    least = timedelta(seconds=LAST_SECONDS - CALL_SECONDS)
    found = []
    for entry in log:
        at = moment(entry)
        local = terms.local(at)
        closing = local.replace(hour=terms.closes, minute=0, second=0, microsecond=0).astimezone(UTC) - at
        midnight = datetime.combine(utc_day(entry) + timedelta(days=1), datetime.min.time(), UTC) - at
        if timedelta() <= closing < least or midnight < least:
            found.append(entry)
    return found


def too_close(log: list[Json], seeds: Mapping[int, str], terms: Terms) -> list[tuple[Json, Json, float]]:
    """Return consecutive executions that are closer than the rest after the earlier one."""
    found = []
    for earlier, later in itertools.pairwise(log):
        hour = terms.local(moment(earlier)).hour
        times = 3 if hour == 12 else 1 if 10 <= hour < 16 else 1.5
        rest = (45 + 135 * unit(seeds[earlier["seq"]])) * times
        if (moment(later) - moment(earlier)).total_seconds() < rest - CLOCKS_DIFFER:
            found.append((earlier, later, rest))
    return found


def first_touches(log: Iterable[Json]) -> list[Json]:
    """Return the first invite or message to each person."""
    first: dict[str, Json] = {}
    for entry in log:
        if entry["kind"] in {"invite", "message"}:
            first.setdefault(entry["person_id"], entry)
    return list(first.values())


def over_caps(log: list[Json], terms: Terms) -> list[tuple[str, date, int, int]]:
    """Return days and weeks beyond their caps: name of the cap, day, count and cap."""
    invites = [entry for entry in log if entry["kind"] == "invite"]
    counted = {
        "invites_per_day": Counter(map(utc_day, invites)),
        "profile_views_per_day": Counter(utc_day(entry) for entry in log if entry["kind"] == "visit"),
        "new_outreach_per_day": Counter(map(utc_day, first_touches(log))),
        "invites_per_week": so_far_in_week(invites),
        "invites_without_note_per_week": so_far_in_week([entry for entry in invites if not entry["text"]]),
    }
    return [
        (name, day, count, terms.cap(name, day))
        for name, counts in counted.items()
        for day, count in counts.items()
        if count > terms.cap(name, day)
    ]


def so_far_in_week(entries: Iterable[Json]) -> Counter[date]:
    """Return for each day with an entry the count of its ISO week up to that day, for which weekly caps hold."""
    days = Counter(map(utc_day, entries))
    return Counter({day: sum(days[other] for other in days if monday(day) <= other <= day) for day in days})


def seeds_of(log: Iterable[Json], actions: Iterable[Json], profile_of: Mapping[str, str]) -> dict[int, str]:
    """Return the seed of the action behind each execution, by log number.

    Executions and actions of the same person and kind are matched by order, or by text where an outcome is unclear.
    Raises `AssertionError` for an execution without an action.
    """
    waiting: dict[tuple[str, str], list[Json]] = defaultdict(list)
    for action in sorted(actions, key=lambda one: one["created_at"]):
        if action["outcome"] in DONE:
            waiting[action["profile_id"], action["type"]].append(action)
    found = {}
    for entry in log:
        mine = waiting[profile_of[entry["person_id"]], KINDS[entry["kind"]]]
        same = [one for one in mine if one["rendered"]["text"] in {entry["text"], None}]
        assert same, f"no action explains {entry}"
        mine.remove(same[0])
        found[entry["seq"]] = same[0]["seed"]
    return found


def written_after(log: Iterable[Json], left_alone: Mapping[str, datetime]) -> list[Json]:
    """Return executions after the moment from which their person must be left alone."""
    return [
        entry for entry in log if moment(entry) > left_alone.get(entry["person_id"], datetime.max.replace(tzinfo=UTC))
    ]


def replied_at(messages_of: Callable[[str], Sequence[Json]], people: Iterable[str]) -> dict[str, datetime]:
    """Return when each person wrote first, by the network's records."""
    found = {}
    for person in people:
        theirs = [datetime.fromisoformat(one["timestamp"]) for one in messages_of(person) if not one["is_sender"]]
        if theirs:
            found[person] = min(theirs)
    return found
