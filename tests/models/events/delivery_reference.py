"""Reference model of an account's webhook endpoints and of all deliveries to them.

It is written from the contract alone and processes one event after another.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

RETRIES = tuple(timedelta(seconds=one) for one in (30, 120, 600, 3600, 21600))
"""Time from each failed attempt to the next."""
AT_ONCE = 10
"""Attempts at one endpoint at the same time."""
LEASE = timedelta(minutes=1)
"""Time after which an attempt without a result is given up."""
KEPT = timedelta(days=30)
JUST_NOW = datetime.min.replace(tzinfo=UTC)
"""Stands for a time during a call, which only the row knows."""


@dataclass
class Hook:
    """An endpoint: the types it wants, null for all; the customer whose events it gets, null for all; its state."""

    secret: str
    kind: str | None = None
    whose: str | None = None
    enabled: bool = True
    there: bool = True

    def wants(self, kind: str, whose: str) -> bool:
        mine = self.kind in (None, kind) and self.whose in (None, whose)
        return mine and self.enabled and self.there


@dataclass
class Sent:
    """A delivery of an event to an endpoint. `log` has the answers; `lost`: the endpoint was disabled since."""

    id: str
    hook: str
    event: str
    created_at: datetime
    due: datetime | None
    status: str = "pending"
    turn: str | None = None
    wake: datetime | None = None
    single: bool = False
    ping: bool = False
    lost: bool = False
    rung: bool = True
    log: list[int | None] = field(default_factory=list)

    @property
    def pending(self) -> bool:
        return self.status == "pending"

    def close(self, status: str) -> None:
        self.status, self.turn, self.due, self.wake = status, None, None, None


@dataclass
class DeliveryReference:
    """The account. Deliveries past their retention are removed from `sent`."""

    hooks: dict[str, Hook] = field(default_factory=dict)
    sent: dict[str, Sent] = field(default_factory=dict)

    def to(self, hook_id: str) -> list[Sent]:
        return [one for one in self.sent.values() if one.hook == hook_id]

    def emit(self, kind: str, whose: str) -> set[str]:
        """Emit an event, and return its endpoints."""
        return {hook_id for hook_id, hook in self.hooks.items() if hook.wants(kind, whose)}

    def decide(self, sent_id: str, now: datetime) -> str:
        """Return the next step of the delivery."""
        sent = self.sent.get(sent_id)
        if sent is None:
            return "nothing"
        sent.rung = False
        need = self._next(sent, now)
        if sent.turn is None:
            self._hand_on(sent.hook, now)
        return need

    def _next(self, sent: Sent, now: datetime) -> str:
        hook = self.hooks[sent.hook]
        if sent.pending and (sent.lost or not (hook.there and hook.enabled)):
            sent.close("dropped")
        if not sent.pending or sent.due is None:
            return "nothing"
        if sent.due > now:
            sent.wake = sent.due
            return "time"
        if sent.turn != "given" and self._given(sent.hook) >= AT_ONCE:
            sent.turn, sent.wake = "asked", None
            return "turn"
        sent.turn, sent.wake = "given", now + LEASE
        return "attempt"

    def _given(self, hook_id: str) -> int:
        return sum(one.turn == "given" for one in self.to(hook_id))

    def _hand_on(self, hook_id: str, now: datetime) -> None:
        """Pass the turn to the delivery that has waited longest."""
        asked = sorted((one for one in self.to(hook_id) if one.turn == "asked"), key=lambda one: (one.due, one.id))
        for one in asked[: max(0, AT_ONCE - self._given(hook_id))]:
            one.turn, one.rung = "given", True
            one.wake = JUST_NOW if now == JUST_NOW else now + LEASE

    def begin(self, sent_id: str, number: int, now: datetime) -> tuple[str, str | None]:
        """Begin an attempt; return the next step, and the secret of the signature if the attempt is made."""
        need = self.decide(sent_id, now)
        if need != "attempt" or len(self.sent[sent_id].log) != number - 1:
            return need, None
        return need, self.hooks[self.sent[sent_id].hook].secret

    def note(self, sent_id: str, number: int, code: int | None, now: datetime) -> str:
        """Record the answer of an attempt, null for none."""
        sent = self.sent.get(sent_id)
        if sent is not None and len(sent.log) == number - 1:
            sent.log.append(code)
            if sent.pending:
                self._settle(sent, code, now)
        return self.decide(sent_id, now)

    def _settle(self, sent: Sent, code: int | None, now: datetime) -> None:
        if code is not None and 200 <= code < 300:
            sent.close("delivered")
        elif sent.single or len(sent.log) > len(RETRIES):
            sent.close("failed")
        else:
            sent.turn, sent.due = None, now + RETRIES[len(sent.log) - 1]

    def give_up(self, sent_id: str) -> None:
        """Give up a test delivery that was not attempted in time."""
        sent = self.sent.get(sent_id)
        if sent is not None and sent.pending:
            sent.close("dropped")
            sent.rung = False
            self._hand_on(sent.hook, JUST_NOW)

    def retry(self, hook_id: str, sent_id: str) -> str:
        """Retry by hand, and return the answer."""
        sent = self.sent.get(sent_id)
        if not self.hooks[hook_id].there or sent is None or sent.hook != hook_id:
            return "not_found"
        if not self.hooks[hook_id].enabled:
            return "conflict"
        if not sent.pending:
            sent.status, sent.single, sent.lost = "pending", True, False
        if sent.turn is None:
            sent.due = JUST_NOW
        sent.rung = True
        return "ok"

    def drop(self, hook_id: str) -> None:
        """Drop the pending deliveries of a disabled or deleted endpoint; late results are lost."""
        for sent in self.to(hook_id):
            sent.lost = True
            if sent.pending:
                sent.close("dropped")
                sent.rung = False

    def forget(self, now: datetime) -> None:
        """Remove what is past its retention."""
        self.sent = {name: one for name, one in self.sent.items() if one.created_at > now - KEPT}

    def stuck(self) -> Iterable[Sent]:
        """Return the pending deliveries that nothing will continue: no wake, no time, no turn that becomes free."""
        for sent in self.sent.values():
            waits = sent.turn == "asked" and self._given(sent.hook) > 0
            if sent.pending and not (sent.rung or sent.wake or waits):
                yield sent
