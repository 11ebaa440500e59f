"""A recruiter who writes to people on the network, and what the network's own log says of it, counted anew."""

import hashlib
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import httpx

from tests.journeys.installation import Installation
from tests.journeys.paying import with_card
from tests.journeys.recruiter import Recruiter

Json = dict[str, Any]
BRUSSELS = ZoneInfo("Europe/Brussels")
DEFAULTS = {"invites_per_day": 20, "invites_per_week": 100, "new_outreach_per_day": 25, "profile_views_per_day": 100}


@dataclass
class Outreach:
    """A recruiter with a connected account, on an installation whose time can be moved."""

    installation: Installation
    recruiter: Recruiter
    account_id: str = ""
    provider_id: str = ""

    @classmethod
    def begin(cls, installation: Installation) -> "Outreach":
        """Join, and connect an account without a past by signing in on the hosted page."""
        made = cls(installation, Recruiter.join(installation.facts))
        with_card(installation.facts, made.recruiter)
        answer = made.post("/v1/outreach/accounts", {"name": "Sam"})
        made.account_id = answer["account"]["id"]
        pressed = httpx.post(answer["connect_url"], data={"outcome": "succeed"}, trust_env=False)
        assert pressed.status_code == 303, pressed.text
        made.advance("5m")
        account = made.recruiter.get(f"/v1/outreach/accounts/{made.account_id}")
        assert account["status"] == "active", account
        made.provider_id = httpx.URL(pressed.headers["location"]).params["account_id"]
        return made

    def post(self, path: str, body: Json) -> Json:
        answer = self.recruiter.call("POST", path, json=body, headers={"Idempotency-Key": uuid4().hex})
        assert answer.is_success, answer.text
        read: Json = answer.json()
        return read

    def control(self, path: str, **query: Any) -> Any:
        """Ask the sandbox's network."""
        url = f"{self.installation.facts['sandbox_url']}/_control/network/{path}"
        answer = httpx.get(url, params=query, trust_env=False, timeout=30)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def strangers(self, count: int) -> list[Json]:
        """People whom the account's owner has nothing to do with."""
        found: list[Json] = self.control("people", account_id=self.provider_id, tie="none", limit=count)["data"]
        return found

    def advance(self, duration: str) -> None:
        self.installation.command("advance", duration)

    def log(self) -> list[Json]:
        """Everything executed on the network from the account, in order."""
        found: list[Json] = self.control("log", account_id=self.provider_id)["data"]
        return found

    def listed(self, path: str, **query: Any) -> list[Json]:
        """All rows of a list."""
        rows: list[Json] = []
        cursor: str | None = None
        while True:
            page = self.recruiter.get(path, params={"limit": 100, **query} | ({"cursor": cursor} if cursor else {}))
            rows += page["data"]
            cursor = page["next_cursor"]
            if cursor is None:
                return rows


def moment(entry: Mapping[str, Any]) -> datetime:
    """When an entry of the network's log was executed."""
    return datetime.fromisoformat(entry["at"])


def unit(seed: str) -> float:
    """The design's chance: the first 8 bytes of the SHA-256 as a fraction of 2^64."""
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big") / 2**64


def outside_hours(log: Iterable[Json]) -> list[Json]:
    """What was done outside Monday to Friday, 08:00 to 19:00 in Brussels."""
    local = [(entry, moment(entry).astimezone(BRUSSELS)) for entry in log]
    return [entry for entry, at in local if at.isoweekday() > 5 or not 8 <= at.hour < 19]


def too_close(log: list[Json], seeds: Mapping[tuple[str, str, str | None], str]) -> list[tuple[Json, Json, float]]:
    """Neighbours closer than the rest after the earlier one asks for; the seeds are those of the actions."""
    found = []
    for earlier, later in itertools.pairwise(log):
        at = moment(earlier)
        hour = at.astimezone(BRUSSELS).hour
        times = 3 if hour == 12 else 1 if 10 <= hour < 16 else 1.5
        rest = (45 + 135 * unit(seeds[key_of(earlier)])) * times
        gap = (moment(later) - at).total_seconds()
        if gap < rest - 1:
            found.append((earlier, later, rest))
    return found


def key_of(entry: Mapping[str, Any]) -> tuple[str, str, str | None]:
    """What tells one execution from another: kind, person and text."""
    return entry["kind"], entry["person_id"], entry["text"]


def capped(base: int, account_id: str, day: date, started: date, *, weekly: bool = False, jitters: bool = True) -> int:
    """The effective cap of a day (design, section 1), computed here on its own."""
    warm = min(1, 0.4 + 0.6 * max(0, (day - started).days) / 14)
    of = day - timedelta(days=day.weekday()) if weekly else day
    jitter = 1 - 0.15 * unit(f"{account_id}:{of.isoformat()}") if jitters else 1
    return max(1, math.floor(base * warm * jitter + 1e-9))


def over_caps(log: list[Json], account_id: str, started: date) -> list[tuple[str, date, int, int]]:
    """Days and weeks with more invites, views or first touches than their caps: which, when, how many, of how many."""
    invites = Counter(moment(entry).astimezone(UTC).date() for entry in log if entry["kind"] == "invite")
    views = Counter(moment(entry).astimezone(UTC).date() for entry in log if entry["kind"] == "visit")
    touched: Counter[date] = Counter()
    known: set[str] = set()
    for entry in log:
        if entry["kind"] in {"invite", "message"} and entry["person_id"] not in known:
            known.add(entry["person_id"])
            touched[moment(entry).astimezone(UTC).date()] += 1
    found = []
    for name, counts, jitters in (
        ("invites_per_day", invites, True),
        ("profile_views_per_day", views, True),
        ("new_outreach_per_day", touched, False),
    ):
        for day, count in counts.items():
            cap = capped(DEFAULTS[name], account_id, day, started, jitters=jitters)
            if count > cap:
                found.append((name, day, count, cap))
    for day in invites:
        monday = day - timedelta(days=day.weekday())
        so_far = sum(count for other, count in invites.items() if monday <= other <= day)
        cap = capped(DEFAULTS["invites_per_week"], account_id, day, started, weekly=True)
        if so_far > cap:
            found.append(("invites_per_week", day, so_far, cap))
    return found
