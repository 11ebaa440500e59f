"""Hours, rests, caps and silence, counted anew from the network's own log: nothing here is the product's arithmetic."""

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
"""A call begins within ten seconds of its claim, and the network notes it when it is done."""
CLOCKS_DIFFER = 0.5
"""Seconds by which the network's clock may differ from the service's."""
KINDS = {"invite": "invite", "message": "message", "withdraw": "withdraw_invite", "visit": "profile_visit"}
DONE = {"sent", "unknown", "reconciling", "sending"}


@dataclass(frozen=True)
class Terms:
    """What an account's executions are held against; `started` is the UTC day on which its warm-up began."""

    account_id: str
    started: date
    zone: str = "Europe/Brussels"
    opens: int = 8
    closes: int = 19
    bases: Mapping[str, int] = field(default_factory=lambda: DEFAULTS)

    def local(self, at: datetime) -> datetime:
        """The clock on the wall."""
        return at.astimezone(ZoneInfo(self.zone))

    def cap(self, name: str, day: date) -> int:
        """The effective cap of a day, or of a week's days up to this one (design, section 1)."""
        warm = min(Fraction(1), Fraction(4, 10) + Fraction(6, 10) * Fraction(max(0, (day - self.started).days), 14))
        counted_from = monday(day) if name.endswith("per_week") else day
        jitter = 1 - 0.15 * unit(f"{self.account_id}:{counted_from.isoformat()}")
        return max(1, floor(self.bases[name] * warm * (1 if name == "new_outreach_per_day" else Fraction(jitter))))


def unit(seed: str) -> float:
    """The design's chance: the first 8 bytes of the SHA-256 as a fraction of 2^64."""
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big") / 2**64


def moment(entry: Mapping[str, Any]) -> datetime:
    """When an entry of the network's log was executed."""
    return datetime.fromisoformat(entry["at"])


def utc_day(entry: Mapping[str, Any]) -> date:
    """The UTC day on which it was executed."""
    return moment(entry).astimezone(UTC).date()


def monday(day: date) -> date:
    """The first day of its ISO week."""
    return day - timedelta(days=day.weekday())


def key_of(entry: Mapping[str, Any]) -> tuple[str, str, str | None]:
    """What no execution may have in common with another: kind, person and text."""
    return entry["kind"], entry["person_id"], entry["text"]


def doubles(log: Iterable[Json]) -> list[tuple[str, str, str | None]]:
    """What was executed more than once."""
    return [key for key, count in Counter(map(key_of, log)).items() if count > 1]


def broken(log: list[Json], seeds: Mapping[int, str], terms: Terms) -> list[str]:
    """Every promise that an account's executions break, in words; `seeds` of the actions by the log's numbers."""
    return [
        *(f"outside hours: {entry}" for entry in outside_hours(log, terms)),
        *(f"in the last moments: {entry}" for entry in in_last_moments(log, terms)),
        *(f"too close: {pair}" for pair in too_close(log, seeds, terms)),
        *(f"over a cap: {one}" for one in over_caps(log, terms)),
    ]


def outside_hours(log: Iterable[Json], terms: Terms) -> list[Json]:
    """What was done at the weekend or outside the hours on the clock of the zone."""
    local = [(entry, terms.local(moment(entry))) for entry in log]
    return [entry for entry, at in local if at.isoweekday() > 5 or not terms.opens <= at.hour < terms.closes]


def in_last_moments(log: Iterable[Json], terms: Terms) -> list[Json]:
    """What was claimed in the last two minutes of a window or of a UTC day."""
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
    """Neighbours closer than the rest that the earlier one asks for (design, section 2)."""
    found = []
    for earlier, later in itertools.pairwise(log):
        hour = terms.local(moment(earlier)).hour
        times = 3 if hour == 12 else 1 if 10 <= hour < 16 else 1.5
        rest = (45 + 135 * unit(seeds[earlier["seq"]])) * times
        if (moment(later) - moment(earlier)).total_seconds() < rest - CLOCKS_DIFFER:
            found.append((earlier, later, rest))
    return found


def first_touches(log: Iterable[Json]) -> list[Json]:
    """The first invite or message to each person."""
    first: dict[str, Json] = {}
    for entry in log:
        if entry["kind"] in {"invite", "message"}:
            first.setdefault(entry["person_id"], entry)
    return list(first.values())


def over_caps(log: list[Json], terms: Terms) -> list[tuple[str, date, int, int]]:
    """Days and weeks with more than their caps: which, when, how many, of how many."""
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
    """For each day with an entry how many its ISO week has had up to that day: weeks cap every such sum."""
    days = Counter(map(utc_day, entries))
    return Counter({day: sum(days[other] for other in days if monday(day) <= other <= day) for day in days})


def seeds_of(log: Iterable[Json], actions: Iterable[Json], profile_of: Mapping[str, str]) -> dict[int, str]:
    """The seed of the action behind each execution, by the log's numbers.

    Those of a person and kind belong together in their order, or by their text where an action's execution is unsure.
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
    """What was done with people after the moment from which they are left alone, by person."""
    return [
        entry for entry in log if moment(entry) > left_alone.get(entry["person_id"], datetime.max.replace(tzinfo=UTC))
    ]


def replied_at(messages_of: Callable[[str], Sequence[Json]], people: Iterable[str]) -> dict[str, datetime]:
    """When each person wrote first, as the network has it."""
    found = {}
    for person in people:
        theirs = [datetime.fromisoformat(one["timestamp"]) for one in messages_of(person) if not one["is_sender"]]
        if theirs:
            found[person] = min(theirs)
    return found
