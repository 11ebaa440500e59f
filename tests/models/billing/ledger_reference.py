"""Reference model of an account's credits, grant by grant (specification, "Credits")."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

NOTICE = timedelta(days=7)
"""How long before its expiry a grant is announced."""
PLAN_MONTHS, PACK_MONTHS = 3, 12
"""Months after which credits expire: those of a plan, which roll over for two months, and those of a pack."""
LOW, REFILL = 20, 15
"""Balances below which the account is notified, and its auto-refill is checked."""

Entry = tuple[str, str, int, str]
"""Kind, grant, credits, and the charge."""


def months_later(at: datetime, months: int) -> datetime:
    """Return the same day this many months later, or the last day of a shorter month."""
    year, month = at.year + (at.month - 1 + months) // 12, (at.month - 1 + months) % 12 + 1
    for day in range(at.day, 27, -1):
        try:
            return at.replace(year=year, month=month, day=day)
        except ValueError:
            continue
    return at.replace(year=year, month=month)


@dataclass
class Block:
    """A grant."""

    left: int
    expires_at: datetime
    low_told: bool = False
    expiry_told: bool = False


@dataclass
class Payment:
    """A purchase at the provider: `pending`, `paid` or `refunded`."""

    credits: int
    status: str = "pending"


@dataclass
class LedgerReference:
    """The account. `caps` are daily caps of subjects; `woken`: its refill is due for a check."""

    caps: dict[str, int]
    now: datetime
    blocks: dict[str, Block] = field(default_factory=dict)
    packs: dict[str, Payment] = field(default_factory=dict)
    spent: Counter[tuple[str, date]] = field(default_factory=Counter)
    entries: Counter[Entry] = field(default_factory=Counter)
    told: Counter[str] = field(default_factory=Counter)
    woken: bool = False

    def open(self) -> list[tuple[str, Block]]:
        """Return the grants that can be spent, earliest expiry first."""
        blocks = [(name, block) for name, block in self.blocks.items() if block.left and block.expires_at > self.now]
        return sorted(blocks, key=lambda one: one[1].expires_at)

    def balance(self) -> int:
        return sum(block.left for _, block in self.open())

    def grant(self, reference: str, credits: int, expires_at: datetime) -> int:
        """Grant credits once for a reference, and return the credits added."""
        if reference in self.blocks:
            return 0
        self.blocks[reference] = Block(credits, expires_at)
        self.entries["grant", reference, credits, ""] += 1
        return credits

    def spend(self, charges: Sequence[tuple[str, int]], subjects: Sequence[str]) -> list[int]:
        """Charge as much of each charge, in order, as balance and caps allow."""
        today = self.now.date()
        room = [self.caps[one] - self.spent[one, today] for one in subjects if one in self.caps]
        before = self.balance()
        available = max(0, min([before, *room]))
        paid = []
        for reference, amount in charges:
            due = min(amount, available)
            available -= due
            paid.append(due)
            for one in subjects:
                self.spent[one, today] += due
            self._charge(reference, due)
        self._fall(before)
        return paid

    def _charge(self, reference: str, due: int) -> None:
        for name, block in self.open():
            share = min(due, block.left)
            if share:
                block.left, due = block.left - share, due - share
                self.entries["charge", name, -share, reference] += 1

    def _fall(self, before: int) -> None:
        """Apply the consequences of a balance that has fallen below a threshold."""
        after = self.balance()
        if after < LOW <= before:
            newest = list(self.blocks.values())[-1]
            self.told["credits.low"] += not newest.low_told
            newest.low_told = True
        self.woken = self.woken or after < REFILL <= before

    def take_back(self, reference: str) -> int:
        """Remove the rest of a refunded purchase, and return it."""
        block, before = self.blocks.get(reference), self.balance()
        if block is None or not block.left:
            return 0
        taken, block.left = block.left, 0
        self.entries["adjustment", reference, -taken, ""] += 1
        self._fall(before)
        return taken

    def expire(self) -> None:
        """Empty expired grants, and apply the consequences of the lower balance."""
        gone = {name: block for name, block in self.blocks.items() if block.left and block.expires_at <= self.now}
        before = self.balance() + sum(block.left for block in gone.values())
        for name, block in gone.items():
            self.entries["expiry", name, -block.left, ""] += 1
            block.left = 0
        if gone:
            self._fall(before)

    def tell_expiring(self) -> None:
        """Announce each grant once that has credits left to expire."""
        for _, block in self.open():
            if block.expires_at <= self.now + NOTICE and not block.expiry_told:
                block.expiry_told = True
                self.told["credits.expiring"] += 1

    def month_paid(self, invoice: str, credits: int, starts_at: datetime) -> None:
        """Grant a month of the plan."""
        self.grant(f"invoice:{invoice}", credits, months_later(starts_at, PLAN_MONTHS))
        self.woken = True

    def pack_paid(self, name: str) -> None:
        """Grant a pack once; a refunded one stays refunded."""
        pack = self.packs[name]
        if pack.status == "pending":
            pack.status, self.woken = "paid", True
            self.grant(name, pack.credits, months_later(self.now, PACK_MONTHS))

    def pack_refunded(self, name: str) -> None:
        """Remove the rest of a pack; a payment that arrives afterwards grants nothing."""
        self.packs[name].status, self.woken = "refunded", True
        self.take_back(name)
