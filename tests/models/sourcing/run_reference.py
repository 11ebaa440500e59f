"""Reference model of the runs of one workspace: the people delivered, and the credits charged.

It is written from the contract alone, has names in place of rows, and processes one event after another.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

LEAD, LIVE = 1, 2
"""Credits for a person the first time, and for a profile fetched from the source (specification, prices)."""
PAGE = 4
"""People on a page of the source."""
LIFE = timedelta(hours=3)
DELAYS = (30, 60, 120, 240, 480, 900)
"""Seconds to wait for a busy source after each consecutive answer without data."""
PATIENCE = 3
"""Consecutive unusable answers after which a run fails, and refusals after which a person is left out."""
ENDED = frozenset({"completed", "completed_no_audience", "failed", "aborted"})
EXTENDABLE = ENDED - {"failed"}
TOLD = {
    "completed": "run.completed",
    "completed_no_audience": "run.completed",
    "failed": "run.failed",
    "aborted": "run.cancelled",
}


@dataclass
class Ordered:
    """A run. `call` is the call decided last: `open` until its answer was taken, `queued` until it was begun.

    `waits`, `renewed`: it waits for so many seconds from now, has its whole life from now. The row knows the moment.
    """

    target: int
    max_credits: int
    mark_seen: bool
    max_pages: int | None = None
    max_fetches: int | None = None
    status: str = "queued"
    why: tuple[str | None, str | None, str | None] = (None, None, None)
    delivered: list[str] = field(default_factory=list)
    spent: int = 0
    pages: int = 0
    fetches: int = 0
    tier: int = 0
    place: int = 0
    chunk: list[str] = field(default_factory=list)
    chunk_end: int = 0
    live: int = 0
    failures: int = 0
    waits: int | None = None
    retry_at: datetime | None = None
    renewed: bool = False
    deadline: datetime | None = None
    cancelled: bool = False
    call: int = 0
    open: bool = False
    queued: bool = False
    told: Counter[str] = field(default_factory=Counter)

    def takes(self, number: int) -> bool:
        """Return whether an answer to this call still changes anything."""
        return self.status not in ENDED and self.open and self.call == number

    def end(self, status: str, reason: str | None = None, detail: str | None = None, code: str | None = None) -> str:
        self.status, self.why = status, (reason, detail, code)
        self.chunk, self.retry_at, self.waits, self.open = [], None, None, False
        self.told[TOLD[status]] += 1
        return "nothing"

    def put_off(self, status: str = "waiting_for_quota") -> None:
        self.failures += 1
        self.status, self.waits, self.open = status, DELAYS[min(self.failures, len(DELAYS)) - 1], False


@dataclass
class RunReference:
    """The workspace: its ladder of people, what was read and paid, who opted out, and its runs."""

    ladder: Sequence[Sequence[str]]
    vanished: Collection[str]
    balance: int
    suspended: bool = False
    runs: dict[str, Ordered] = field(default_factory=dict)
    read: set[tuple[int, int]] = field(default_factory=set)
    suppressed: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)
    owned: set[str] = field(default_factory=set)
    cached: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    charged: Counter[str] = field(default_factory=Counter)

    def out(self, run: Ordered, name: str) -> bool:
        """Return whether the person is not for this run (any more)."""
        return name in self.suppressed or name in self.seen or name in run.delivered

    def decide(self, run_id: str, now: datetime, number: int) -> str:
        """Return what the run needs next. A call gets the number."""
        run = self.runs[run_id]
        if run.status in ENDED:
            return "nothing"
        run.deadline = run.deadline or now + LIFE
        stops: dict[tuple[str, str | None, str | None, str | None], bool] = {
            ("aborted", None, None, None): run.cancelled,
            ("failed", None, None, "workspace_suspended"): self.suspended,
            ("completed", "finish", "target_reached", None): len(run.delivered) >= run.target,
            ("completed", "time", None, None): now >= run.deadline,
        }
        for end, holds in stops.items():
            if holds:
                return run.end(*end)
        if run.retry_at is not None and run.retry_at > now:
            return "time"
        need = self._walk(run) if not run.chunk else "profiles" if run.live else "delivery"
        if need != "nothing":
            assert number > run.call, "each call has a number of its own"
            run.call, run.open, run.queued = number, True, True
        return need

    def _walk(self, run: Ordered) -> str:
        while run.tier < len(self.ladder):
            page = run.place // PAGE
            if (run.tier, page) not in self.read:
                if (run.max_pages is not None and run.pages >= run.max_pages) or self.funds(run) < LEAD:
                    return run.end("completed", "budget")
                return "page"
            people = self.ladder[run.tier]
            limit = self._gather(run, people[: (page + 1) * PAGE])
            if run.chunk:
                return "profiles" if run.live else "delivery"
            if limit is not None:
                return run.end("completed", limit)
            if run.place >= len(people):
                run.tier, run.place = run.tier + 1, 0
        if run.delivered:
            return run.end("completed", "finish", "ladder_exhausted")
        return run.end("completed_no_audience")

    def _gather(self, run: Ordered, people: Sequence[str]) -> str | None:
        """Set people aside from where the run stands, up to its room; what limited it."""
        at, credits, live = run.place, 0, 0
        limit: str | None = None
        while at < len(people) and len(run.chunk) < run.target - len(run.delivered):
            name = people[at]
            if not self.out(run, name):
                fresh = name not in self.cached
                credits += (LEAD if name not in self.owned else 0) + (LIVE if fresh else 0)
                if credits > self.funds(run):
                    limit = "budget"
                    break
                if run.max_fetches is not None and run.fetches + live + fresh > run.max_fetches:
                    limit = "profile_cap"
                    break
                live += fresh
                run.chunk.append(name)
            at += 1
        run.chunk_end, run.live = at, live
        if not run.chunk:
            run.place = at
        return limit

    def funds(self, run: Ordered) -> int:
        return min(self.balance, run.max_credits - run.spent)

    def begin(self, run_id: str, number: int, *, page: bool) -> set[str] | None:
        """Return whom a call asks the source for; null when it is out of date."""
        run = self.runs[run_id]
        if not run.takes(number) or page is bool(run.chunk):
            return None
        run.status, run.retry_at, run.queued = "running" if page else "fetching", None, False
        return {name for name in run.chunk if name not in self.cached and name not in self.suppressed}

    def keep_page(self, run_id: str, number: int | None, tier: int, page: int) -> None:
        """A page came; one that was read ahead has no number."""
        run = self.runs[run_id]
        if run.status in ENDED or not (number is None or run.takes(number)):
            return
        run.pages += (tier, page) not in self.read
        self.read.add((tier, page))
        if number is not None:
            run.failures, run.open = 0, False

    def deliver(self, run_id: str, number: int, live: Collection[str], again: Collection[str]) -> None:
        """Profiles came for `live`; the source refused `again` for now."""
        run = self.runs[run_id]
        if not run.takes(number) or not run.chunk:
            return
        self.cached |= set(live) - self.suppressed
        wanted = [name for name in run.chunk if name not in again and not self.out(run, name) and name in self.cached]
        short = self._pay(run, wanted, live)
        run.fetches += len(live)
        run.status, run.open = "running", False
        if again and run.failures + 1 < PATIENCE:
            run.put_off()
            run.chunk, run.live = [name for name in run.chunk if name in again], len(again)
        else:
            self.refused |= set(again)
            run.failures, run.chunk, run.place = 0, [], run.chunk_end
            if short is not None:  # an extension goes on with whom nothing was left for
                run.place = self.ladder[run.tier].index(short)
        if short is not None:
            run.end("completed", "budget")

    def _pay(self, run: Ordered, wanted: Sequence[str], live: Collection[str]) -> str | None:
        """Deliver as many as can be paid, in order; the first for whom nothing was left."""
        for name in wanted:
            prices = {"lead": LEAD if name not in self.owned else 0, "live_profile": LIVE if name in live else 0}
            if sum(prices.values()) > self.funds(run):
                return name
            self._charge(run, prices)
            run.delivered.append(name)
            self.owned.add(name)
            if run.mark_seen:
                self.seen.add(name)
        return None

    def _charge(self, run: Ordered, prices: Mapping[str, int]) -> None:
        self.charged.update(prices)
        self.balance -= sum(prices.values())
        run.spent += sum(prices.values())

    def fail(self, run_id: str, number: int, answer: str) -> None:
        """The source gave no data: it was `busy`, its answer was `unusable`, or it `refused` for good."""
        run = self.runs[run_id]
        if not run.takes(number):
            return
        run.put_off()
        if answer == "refused" or (answer == "unusable" and run.failures >= PATIENCE):
            run.end("failed", code="upstream_error")

    def still_queued(self, run_id: str, number: int, seconds: int) -> None:
        """The call has not been begun for long: that is shown for a while."""
        run = self.runs[run_id]
        if run.takes(number) and run.queued:
            run.status, run.waits = "waiting_for_quota", seconds

    def cancel(self, run_id: str) -> bool:
        """Return whether that may be asked."""
        run = self.runs[run_id]
        run.cancelled = run.cancelled or run.status not in ENDED
        return run.status not in ENDED - {"aborted"}

    def extend(self, run_id: str, people: int, credits: int, more: int) -> bool:
        """Return whether that may be asked; `more` pages and profiles where those are bounded."""
        run = self.runs[run_id]
        if run.status not in EXTENDABLE:
            return False
        run.target, run.max_credits = run.target + people, run.max_credits + credits
        run.max_pages = None if run.max_pages is None else run.max_pages + more
        run.max_fetches = None if run.max_fetches is None else run.max_fetches + more
        run.status, run.why, run.cancelled, run.failures = "queued", (None, None, None), False, 0
        run.renewed = True
        return True

    def forgotten(self, run: Ordered) -> list[str]:
        """Return people whom a run without remaining people could still have delivered."""
        gone = self.refused | set(self.vanished)
        return [name for tier in self.ladder for name in tier if name not in gone and not self.out(run, name)]
