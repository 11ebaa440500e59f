"""A state machine of deliveries to an account's endpoints: dying workers, late and repeated answers, changes.

After every step the rows are compared with `delivery_reference`. A history begins with more deliveries due at an
endpoint than may be attempted at once.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from models.base.tenants import Tenant
from tests import machines
from tests.models.events.delivery_reference import AT_ONCE, RETRIES, Sent
from tests.models.events.delivery_rows import shown, written
from tests.models.events.delivery_working import Flight, Working

NUMBER = st.integers(0, 15)
KINDS = st.sampled_from(["credits.low", "credits.expiring"])
CODES = st.sampled_from([200, 204, 299, 300, 404, 500, None])
REFUSALS = [300, 404, None, 500, 199, 503]
PAUSE = 0.03
"""Seconds that signing takes in a race; what waits for it is started in between."""


class Deliveries(Working):
    """One account with some endpoints."""

    @initialize()
    def more_is_due_than_may_fly(self) -> None:
        self.new_hook()
        self.new_hook(kind="credits.low", whose=self.customer.customer_id)
        self.emit(AT_ONCE + 2, "credits.low", self.member.tenant)
        for sent_id in list(self.model.sent):
            self.fly(sent_id, 1)

    def hook(self, number: int) -> str:
        """The first is asked for more often than all others."""
        hooks = list(self.model.hooks)
        return hooks[0] if number % 2 else hooks[number // 2 % len(hooks)]

    def one(self, number: int) -> Sent:
        """Those that are pending come first, the newest of them before the others."""
        ordered = sorted(self.model.sent.values(), key=lambda sent: (not sent.pending, sent.turn is None))
        return ordered[number % len(ordered)]

    def flight(self, number: int) -> Flight:
        """The newest come first, with those that have been answered long ago behind them."""
        return self.flights[-1 - number % len(self.flights)]

    @rule(kind=st.sampled_from([None, "credits.low"]), of_customer=st.booleans())
    def an_endpoint_is_made(self, kind: str | None, *, of_customer: bool) -> None:
        self.new_hook(kind, self.customer.customer_id if of_customer else None)

    @rule(many=st.integers(1, 6), kind=KINDS, of_customer=st.booleans())
    def something_happens(self, many: int, kind: str, *, of_customer: bool) -> None:
        self.emit(many, kind, self.tenant(of_customer=of_customer))

    def tenant(self, *, of_customer: bool) -> Tenant:
        return self.customer if of_customer else self.member.tenant

    has_sent = precondition(lambda self: self.model.sent)
    has_flown = precondition(lambda self: self.flights)

    @has_sent
    @rule(number=NUMBER, dies=st.booleans())
    def is_asked(self, number: int, *, dies: bool) -> None:
        self.happen(self.decides(self.one(number).id, dies=dies))

    @has_sent
    @rule(number=NUMBER, dies=st.sampled_from([False, False, True]), off=st.sampled_from([0, 0, 0, -1, 1]))
    def is_begun(self, number: int, off: int, *, dies: bool) -> None:
        """By a worker that may be late or early by one attempt."""
        sent = self.one(number)
        self.fly(sent.id, len(sent.log) + 1 + off, dies=dies)

    @has_flown
    @rule(number=NUMBER, code=CODES, dies=st.sampled_from([False, False, True]))
    def is_answered(self, number: int, code: int | None, *, dies: bool) -> None:
        """Now, late, or once more."""
        self.happen(self.notes(self.flight(number), code, dies=dies))

    @rule(number=NUMBER, code=CODES)
    def everything_due_is_attempted(self, number: int, code: int | None) -> None:
        for sent in [one for one in self.model.sent.values() if one.hook == self.hook(number)]:
            flight = self.fly(sent.id, len(sent.log) + 1)
            if flight is not None:
                self.happen(self.notes(flight, code))

    @rule(seconds=st.sampled_from([29, 31, 121, 601, 3601, 21601]))
    def time_passes(self, seconds: int) -> None:
        self.advance(timedelta(seconds=seconds))

    @rule(days=st.sampled_from([0, 29, 31]))
    def house_is_kept(self, days: int) -> None:
        self.advance(timedelta(days=days))
        self.keep_house()

    @rule(number=NUMBER, forever=st.sampled_from([False, False, False, True]))
    def an_endpoint_is_closed(self, number: int, *, forever: bool) -> None:
        self.happen(self.closes(self.hook(number), forever=forever))

    @rule(number=NUMBER)
    def an_endpoint_is_enabled(self, number: int) -> None:
        self.happen(self.enables(self.hook(number)))

    @rule(number=NUMBER)
    def a_secret_is_rotated(self, number: int) -> None:
        self.happen(self.rotates(self.hook(number)))

    @has_sent
    @rule(number=NUMBER, of_another=st.sampled_from([False, False, False, True]))
    def is_retried_by_hand(self, number: int, *, of_another: bool) -> None:
        sent = self.one(-1 - number)
        self.happen(self.retries(self.hook(0) if of_another else sent.hook, sent.id))

    @rule(number=NUMBER, in_time=st.booleans())
    def an_endpoint_is_tested(self, number: int, *, in_time: bool) -> None:
        hook_id = self.hook(number)
        if not (self.model.hooks[hook_id].enabled and self.model.hooks[hook_id].there):
            return
        self.ping(hook_id)
        sent_id = list(self.model.sent)[-1]
        if in_time:
            flight = self.fly(sent_id, 1)
            assert flight is not None, "a test delivery waits for no turn"
            self.happen(self.notes(flight, 200 + number))
        self.happen(self.gives_up(sent_id))

    # What meets.

    @rule(number=NUMBER, forever=st.booleans())
    def something_happens_while_an_endpoint_is_closed(self, number: int, *, forever: bool) -> None:
        """A delivery queued at the moment of closing is dropped, even if the endpoint is enabled again."""
        hook_id = self.hook(number)
        hook = self.model.hooks[hook_id]
        if hook.there and hook.enabled:
            closing = self.closes(hook_id, forever=forever and number % 4 == 0)
            self.emit(2, "credits.low", self.customer, meanwhile=closing, hook=hook_id)
            if hook.there:
                self.happen(self.enables(hook_id))

    @has_flown
    @rule(number=NUMBER, code=CODES, other=st.sampled_from(["again", "closed", "retried", "begun", "decided"]))
    def an_answer_meets(self, number: int, code: int | None, other: str) -> None:
        flight = self.flight(number)
        sent = self.model.sent.get(flight.sent)
        hook_id = sent.hook if sent else self.hook(0)
        meets = {
            "again": self.notes(flight, 500),
            "closed": self.closes(hook_id, forever=False),
            "retried": self.retries(hook_id, flight.sent),
            "begun": self.begins(flight.sent, flight.number),
            "decided": self.decides(self.one(-1).id) if self.model.sent else self.decides(flight.sent),
        }
        self.happen(self.notes(flight, code), meets[other])

    @has_sent
    @rule(numbers=st.tuples(NUMBER, NUMBER, NUMBER))
    def some_are_asked_at_once(self, numbers: tuple[int, int, int]) -> None:
        """For the last turns, perhaps."""
        self.happen(*(self.decides(self.one(number).id) for number in numbers))

    @has_sent
    @rule(number=NUMBER)
    def a_rotation_meets_an_attempt(self, number: int) -> None:
        """Once the rotation has been answered, nothing is signed with the old secret any more."""
        sent = self.one(number)
        journal: list[str] = []

        async def signing() -> None:
            await asyncio.sleep(PAUSE)
            journal.append("signed")

        begins, rotates = self.begins(sent.id, len(sent.log) + 1, slowly=signing), self.rotates(sent.hook)

        async def rotating() -> Any:
            await asyncio.sleep(PAUSE / 2)
            done = await self.outcome_of(rotates)
            journal.append("rotated")
            return done

        async def both() -> Sequence[Any]:
            return await asyncio.gather(self.outcome_of(begins), rotating())

        old = self.model.hooks[sent.hook].secret
        (_, secret), _ = self.happen(begins, rotates, run=both())
        if secret is not None:
            self.flights.append(Flight(sent.id, len(sent.log) + 1, secret))
            assert secret != old or journal == ["signed", "rotated"]

    @invariant()
    def the_rows_agree_with_the_model(self) -> None:
        rows, events, hooks = self.rows()
        assert {row.id: shown(row) for row in rows} == {name: written(one) for name, one in self.model.sent.items()}
        assert {one.event for one in self.model.sent.values()} <= events, "an event is kept as long as its deliveries"
        standing = {name: hook for name, hook in self.model.hooks.items() if hook.there}
        assert hooks == {name: "enabled" if hook.enabled else "disabled" for name, hook in standing.items()}

    @invariant()
    def at_most_ten_attempts_run_at_an_endpoint_and_no_delivery_is_forgotten(self) -> None:
        for hook_id in self.model.hooks:
            assert sum(one.turn == "given" and not one.ping for one in self.model.to(hook_id)) <= AT_ONCE
        assert not list(self.model.stuck())
        assert all(one.turn is None for one in self.model.sent.values() if not one.pending)

    def teardown(self) -> None:
        """With receivers that answer, everything pending comes to its end by what the dispatcher finds alone."""
        for _ in range(40):
            if not any(one.pending for one in self.model.sent.values()):
                break
            self.advance(RETRIES[-1])
            for sent_id in self.do(self.due()):
                self.attempt(sent_id, 200)
        assert not any(one.pending for one in self.model.sent.values()), "nobody waits for ever"
        self.the_rows_agree_with_the_model()
        self.a_receiver_takes_nothing_until_its_event_is_given_up()
        self.an_endpoint_is_tested_and_deleted()
        self.everything_is_forgotten_after_thirty_days()

    def attempt(self, sent_id: str, code: int | None) -> None:
        """One attempt, if it is due, whose outcome is written twice: the second time it is another, and comes late."""
        flight = self.fly(sent_id, len(self.model.sent[sent_id].log) + 1)
        if flight is not None:
            self.happen(self.notes(flight, code))
            self.happen(self.notes(flight, 500 if code == 200 else 200))

    def a_receiver_takes_nothing_until_its_event_is_given_up(self) -> None:
        hook_id = self.new_hook(kind="credits.expiring")
        self.emit(1, "credits.expiring", self.member.tenant)
        (sent_id,) = (one.id for one in self.model.to(hook_id))
        for code, wait in zip(REFUSALS, (*RETRIES, None), strict=True):
            if code == REFUSALS[1]:
                assert self.fly(sent_id, 1) is None
                assert self.fly(sent_id, 3) is None
            self.attempt(sent_id, code)
            if wait is not None:
                self.happen(self.decides(sent_id))
                self.advance(wait)
        for code, status in ((500, "failed"), (299, "delivered")):
            assert self.model.sent[sent_id].status == "failed"
            self.happen(self.retries(hook_id, sent_id))
            self.attempt(sent_id, code)
            assert self.model.sent[sent_id].status == status
        self.happen(self.closes(hook_id, forever=False))
        self.emit(1, "credits.expiring", self.member.tenant)
        self.the_rows_agree_with_the_model()

    def an_endpoint_is_tested_and_deleted(self) -> None:
        hook_id = self.new_hook()
        self.emit(2, "credits.expiring", self.customer)
        first = self.model.to(hook_id)[0].id
        self.attempt(first, 204)
        self.happen(self.retries(hook_id, first))
        self.attempt(first, 404)  # one more attempt is no new schedule
        self.ping(hook_id)
        self.attempt(self.model.to(hook_id)[-1].id, 404)
        self.happen(self.closes(hook_id, forever=True))
        assert [one.status for one in self.model.to(hook_id)] == ["failed", "dropped", "failed"]

    def everything_is_forgotten_after_thirty_days(self) -> None:
        """A day before it is all there."""
        for days, left in ((29, True), (2, False)):
            self.advance(timedelta(days=days))
            self.keep_house()
            self.the_rows_agree_with_the_model()
            assert bool(self.model.sent) is left


def test_deliveries_keep_their_promises_whatever_happens_to_them(database_url: str) -> None:
    machines.run(Deliveries, database_url, pool_size=4, examples=4, steps=10)
