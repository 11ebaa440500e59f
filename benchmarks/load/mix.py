"""The usual mix of API calls: their weights, and the objects that they use.

Objects are those of `benchmarks.large`, whose ids are numbers; row `n` belongs to the large workspace unless it ends in
9.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from uuid import uuid4

import httpx

from benchmarks.large import OTHERS
from benchmarks.large_rows import ACCOUNTS, ENROLLED, EVENTS, PEOPLE, RUNS, SEQUENCES


@dataclass(frozen=True, slots=True)
class Call:
    """One request. `answers`: statuses that the contract allows for it besides 2xx."""

    method: str
    path: str
    body: Mapping[str, object] | None = None
    params: Mapping[str, str | int] = field(default_factory=dict)
    is_keyed: bool = False
    answers: frozenset[int] = frozenset()

    async def send(self, http: httpx.AsyncClient) -> httpx.Response:
        """Send the request, with a new Idempotency-Key if the call needs one."""
        headers = {"Idempotency-Key": uuid4().hex} if self.is_keyed else {}
        return await http.request(self.method, self.path, json=self.body, params=dict(self.params), headers=headers)


class Objects:
    """Picks objects of the large workspace."""

    def __init__(self, scale: float, seed: int) -> None:
        self._scale = scale
        self._random = random.Random(seed)  # noqa: S311 - the same calls in every run
        self._fresh = 0
        self._seed = seed

    def many(self, count: int) -> int:
        """Return the number of rows, at this scale, of a table that has `count` rows at full scale."""
        return max(1, round(count * self._scale))

    def one(self, prefix: str, count: int) -> str:
        """Return the id of a random object of a kind that has `count` rows at full scale."""
        return self._within(prefix, 1, self.many(count))

    def newcomer(self) -> str:
        """Return a known person who is in no sequence; each is returned once or twice in a run."""
        return self._within("prof", self.many(ENROLLED) + 1, self.many(PEOPLE))

    def word(self) -> str:
        """Return an unused word."""
        self._fresh += 1
        return f"{self._seed}-{self._fresh}"

    def _within(self, prefix: str, first: int, last: int) -> str:
        number = self._random.randint(first, last)
        return f"{prefix}_{number - (number % 10 == OTHERS):026d}"  # these belong to other workspaces


Make = Callable[[Objects], Call]

MIX: dict[str, tuple[int, Make]] = {
    "events, newest": (6, lambda _: Call("GET", "/v1/events", params={"limit": 100})),
    "events of a type": (2, lambda _: Call("GET", "/v1/events", params={"limit": 50, "types": "credits.low"})),
    "event": (3, lambda o: Call("GET", f"/v1/events/{o.one('evt', EVENTS)}")),
    "runs": (3, lambda _: Call("GET", "/v1/runs")),
    "run": (8, lambda o: Call("GET", f"/v1/runs/{o.one('run', RUNS)}")),
    "candidates": (8, lambda o: Call("GET", f"/v1/runs/{o.one('run', RUNS)}/candidates", params={"limit": 50})),
    "profile": (6, lambda o: Call("GET", f"/v1/people/{o.one('prof', PEOPLE)}")),
    "intents": (2, lambda _: Call("GET", "/v1/intents")),
    "lists": (2, lambda _: Call("GET", "/v1/lists")),
    "people of a list": (4, lambda o: Call("GET", f"/v1/lists/{o.one('list', 60)}/people", params={"limit": 50})),
    "seen": (2, lambda _: Call("GET", "/v1/seen", params={"limit": 50})),
    "seen, contacted": (1, lambda _: Call("GET", "/v1/seen", params={"limit": 50, "contacted": "true"})),
    "suppressions": (2, lambda _: Call("GET", "/v1/suppressions", params={"limit": 50})),
    "balance": (4, lambda _: Call("GET", "/v1/billing/balance")),
    "ledger": (2, lambda _: Call("GET", "/v1/billing/ledger", params={"limit": 50})),
    "accounts": (2, lambda _: Call("GET", "/v1/outreach/accounts")),
    "limits": (2, lambda o: Call("GET", f"/v1/outreach/accounts/{o.one('acc', ACCOUNTS)}/limits")),
    "activity": (2, lambda o: Call("GET", "/v1/outreach/activity", params={"account_id": o.one("acc", ACCOUNTS)})),
    "enrollments": (4, lambda _: Call("GET", "/v1/outreach/enrollments", params={"limit": 50})),
    "enrollments, open": (
        2,
        lambda _: Call("GET", "/v1/outreach/enrollments", params={"limit": 50, "status": "scheduled"}),
    ),
    "enrollment": (4, lambda o: Call("GET", f"/v1/outreach/enrollments/{o.one('enr', ENROLLED)}")),
    "actions": (3, lambda _: Call("GET", "/v1/outreach/actions", params={"limit": 50})),
    "actions, held": (2, lambda _: Call("GET", "/v1/outreach/actions", params={"outcome": "awaiting_approval"})),
    "conversations": (3, lambda _: Call("GET", "/v1/outreach/conversations")),
    "messages": (
        3,
        lambda o: Call("GET", f"/v1/outreach/conversations/{o.one('conv', ENROLLED // 3)}/messages"),
    ),
    "deliveries": (1, lambda o: Call("GET", f"/v1/webhook-endpoints/{o.one('whe', 20)}/deliveries")),
    "check seen": (2, lambda o: Call("POST", "/v1/seen:check", {"profile_ids": [o.one("prof", PEOPLE)]})),
    "preview of enrolling": (2, lambda o: _enroll(o, 5, preview=True)),
    "enroll": (1, lambda o: _enroll(o, 1, preview=False)),
    "add to a list": (
        3,
        lambda o: Call("POST", f"/v1/lists/{o.one('list', 60)}/people", {"profile_ids": [o.one("prof", PEOPLE)]}),
    ),
    "note on a person": (3, lambda o: Call("PATCH", f"/v1/seen/{o.one('prof', PEOPLE)}", {"note": o.word()})),
    "suppress": (
        1,
        lambda o: Call(
            "POST",
            "/v1/suppressions",
            {"profile_url": f"https://www.linkedin.com/in/gone-{o.word()}"},
            is_keyed=True,
        ),
    ),
    "rename a sequence": (
        1,
        lambda o: Call("PATCH", f"/v1/outreach/sequences/{o.one('seq', SEQUENCES)}", {"name": o.word()}),
    ),
    "new intent": (1, lambda o: Call("POST", "/v1/intents", {"intent": {"titles": ["Data Engineer"]}}, is_keyed=True)),
}
"""The calls with their weights."""


def _enroll(objects: Objects, count: int, *, preview: bool) -> Call:
    ids = sorted({objects.newcomer() for _ in range(count)})
    body = {"sequence_id": objects.one("seq", SEQUENCES), "profile_ids": ids}
    # 409: an earlier call of the run has enrolled the person
    params = {"dry_run": "true"} if preview else {}
    return Call("POST", "/v1/outreach/enrollments", body, params, is_keyed=not preview, answers=frozenset({409}))
