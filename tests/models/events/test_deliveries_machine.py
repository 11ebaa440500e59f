"""Deliveries of one endpoint in any order of events: no turn too many, no delivery forgotten, none after the end."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from models.events.rules.deliveries import (
    IN_FLIGHT,
    RETRY_AFTER,
    DeliveryNeed,
    DeliveryStanding,
    DeliveryStatus,
    Turn,
    after_attempt,
    closed,
    decided,
)

BEGIN = datetime(2026, 11, 28, 9, tzinfo=UTC)


class Endpoint(RuleBasedStateMachine):
    """What the store does around the rules: it counts turns, hands them on, and asks for the next step."""

    sent = Bundle("sent")
    flying = Bundle("flying")

    def __init__(self) -> None:
        super().__init__()
        self.now = BEGIN
        self.enabled = True
        self.rows: dict[int, DeliveryStanding] = {}
        self.unwanted: set[int] = set()
        self.ended: dict[int, DeliveryStatus] = {}
        self.attempts: dict[int, list[datetime]] = {}
        self.by_hand: set[int] = set()

    @rule(target=sent, many=st.integers(1, 6))
    def emit(self, many: int) -> object:
        return multiple(*[self._emit() for _ in range(many)])

    def _emit(self) -> int:
        number = len(self.rows)
        self.rows[number] = DeliveryStanding(DeliveryStatus.PENDING, made=0, single=False, turn=None, due_at=self.now)
        self.attempts[number] = []
        if not self.enabled:
            self.unwanted.add(number)
        return number

    @rule(target=flying)
    def ask_all(self) -> object:
        return multiple(*[attempt for number in self.rows for attempt in self._asked(number)])

    @rule(target=flying, number=sent)
    def ask(self, number: int) -> object:
        return multiple(*self._asked(number))

    def _asked(self, number: int) -> list[tuple[int, int]]:
        need, after = self._decide(number)
        before = self.rows[number]
        self.rows[number] = after
        if need is DeliveryNeed.TIME:
            assert before.due_at is not None
            assert before.due_at > self.now
            assert after.wake_at == before.due_at
        if need is DeliveryNeed.TURN:
            assert sum(row.turn is Turn.GIVEN for row in self.rows.values()) >= IN_FLIGHT
        if need is DeliveryNeed.ATTEMPT:
            assert before.due_at is not None
            assert before.due_at <= self.now
            assert after.turn is Turn.GIVEN
            return [(number, before.made)]
        return []

    @rule(attempt=consumes(flying), code=st.sampled_from([None, 200, 204, 301, 404, 500]))
    def answer(self, attempt: tuple[int, int], code: int | None) -> None:
        number, made = attempt
        before = self.rows[number]
        if before.made != made:
            return  # the outcome of this attempt is known already: it counts once
        after = after_attempt(before, code, now=self.now)
        assert after.made == before.made + 1
        assert after.turn is not Turn.GIVEN or not after.pending
        assert not (before.single and after.pending)
        if before.pending:
            self.attempts[number].append(self.now)
            if code in (200, 204):
                assert after.status is DeliveryStatus.DELIVERED
            elif after.pending:
                assert after.due_at is not None
                assert after.due_at - self.now == RETRY_AFTER[after.made - 1]
        self.rows[number] = after

    @rule(seconds=st.sampled_from([1, 30, 120, 600, 3600, 21600]))
    def pass_time(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule()
    def disable(self) -> None:
        self.enabled = False
        self.unwanted |= set(self.rows)
        for number, row in self.rows.items():
            if row.pending:
                self.rows[number] = closed(row, DeliveryStatus.DROPPED)

    @rule()
    def enable(self) -> None:
        self.enabled = True

    @rule()
    def retry_all_that_have_ended(self) -> None:
        for number in list(self.ended):
            self._retry(number)

    @rule(number=sent)
    def retry_by_hand(self, number: int) -> None:
        self._retry(number)

    def _retry(self, number: int) -> None:
        row = self.rows[number]
        if not self.enabled:
            return
        if not row.pending:
            row = replace(row, status=DeliveryStatus.PENDING, single=True)
            self.unwanted.discard(number)
            self.ended.pop(number, None)
        if row.turn is None:
            row = replace(row, due_at=self.now)
        self.rows[number] = row
        self.by_hand.add(number)

    def _decide(self, number: int) -> tuple[DeliveryNeed, DeliveryStanding]:
        given = sum(row.turn is Turn.GIVEN for other, row in self.rows.items() if other != number)
        return decided(self.rows[number], wanted=number not in self.unwanted, given=given, now=self.now)

    @invariant()
    def no_more_than_ten_are_in_flight(self) -> None:
        assert sum(row.turn is Turn.GIVEN for row in self.rows.values()) <= IN_FLIGHT

    @invariant()
    def what_has_ended_stays_as_it_is_and_holds_nothing(self) -> None:
        for number, row in self.rows.items():
            if row.pending:
                assert number not in self.ended
                continue
            assert (row.turn, row.due_at, row.wake_at) == (None, None, None)
            assert self.ended.setdefault(number, row.status) is row.status

    @invariant()
    def every_pending_delivery_has_something_that_brings_it_on(self) -> None:
        for number, row in self.rows.items():
            need, after = self._decide(number)
            if row.pending and number not in self.unwanted:
                assert need is not DeliveryNeed.NOTHING
                assert need is DeliveryNeed.TURN or after.wake_at is not None

    @invariant()
    def no_delivery_is_attempted_more_often_than_documented(self) -> None:
        for number, attempts in self.attempts.items():
            assert number in self.by_hand or len(attempts) <= 1 + len(RETRY_AFTER)


TestEndpoint = Endpoint.TestCase
TestEndpoint.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
