"""Workers that deliver an account's events step by step, checked against `delivery_reference`."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from sqlalchemy.ext.asyncio import AsyncSession

from models.access.tables import Customer
from models.base import outbox
from models.base.database import Database, service_time
from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.steps import Decision, Do
from models.base.tenants import Tenant
from models.events.rules.catalogue import CreditsExpiring, CreditsLow, EventData, EventType
from models.events.rules.deliveries import AttemptError, EndpointStatus
from models.events.store import deliveries
from models.events.store import events as store_events
from models.events.store.deliveries import AttemptOutcome
from models.events.tables import WebhookEndpoint
from models.operate import housekeeping
from tests.machines import Machine
from tests.models.conftest import SECRET, join
from tests.models.events.delivery_reference import DeliveryReference, Hook, Sent
from tests.models.events.delivery_rows import read, shown, with_moments, written
from tests.models.events.webhook_world import endpoint

T = TypeVar("T")
SOON = datetime.fromisoformat("2027-01-01T00:00:00Z")
DATA: dict[str, EventData] = {
    "credits.low": CreditsLow(grant_id="grt_1", balance_credits=1, threshold_credits=2),
    "credits.expiring": CreditsExpiring(grant_id="grt_1", credits=1, expires_at=SOON),
}
STAMPS = timedelta(milliseconds=200)
"""Tolerance of stamps: events of one moment are stamped one millisecond apart."""


def need_of(decision: Decision) -> str:
    """Return the delivery's next step in the terms of the model."""
    if decision.do is Do.WAIT:
        return "turn" if decision.until is None else "time"
    return "nothing" if decision.do is Do.DONE else "attempt"


@dataclass(frozen=True)
class Flight:
    """An attempt that a worker has begun: signed with a secret."""

    sent: str
    number: int
    secret: str


@dataclass(frozen=True)
class Event:
    """An event in one transaction; the model checks its answer."""

    work: Callable[[AsyncSession], Awaitable[Any]]
    apply_to: Callable[[DeliveryReference, Any], object]
    dies: bool = False


class Working(Machine):
    """One account with a customer, its deliveries, and events in between; the rules choose the order."""

    def __init__(self, runner: asyncio.Runner, database: Database) -> None:
        super().__init__(runner, database)
        self.vault = Vault(SECRET)
        self.member = self.do(database.run(partial(join, granted=0)))
        self.workspace_id = self.member.tenant.workspace_id
        self.customer = Tenant(self.workspace_id, self.do(database.run(self._customer)))
        self.model = DeliveryReference()
        self.events: dict[str, datetime] = {}
        self.flights: list[Flight] = []
        self.secrets = itertools.count()

    async def _customer(self, session: AsyncSession) -> str:
        now = await service_time(session)
        row = Customer(id=new_id("cus", now), workspace_id=self.workspace_id, name="One", created_at=now)
        session.add(row)
        return row.id

    def rows(self) -> tuple[Sequence[Any], set[str], dict[str, str]]:
        async def work(session: AsyncSession) -> tuple[tuple[Sequence[Any], set[str], dict[str, str]], datetime]:
            return await read(session, self.workspace_id), await service_time(session)

        found, self._now = self.do(self._database.run(work))
        return found

    def happen(self, *events: Event, run: Coroutine[Any, Any, Sequence[Any]] | None = None) -> Sequence[Any]:
        """Run events concurrently: in some order the model must yield the same rows and answers.

        `run` runs them in another way.
        """
        before = self.now()
        answers = self.do(run or self.together(events))
        rows, _, _ = self.rows()
        after = self.now()
        for order in itertools.permutations(range(len(events))):
            model = deepcopy(self.model)
            agree = all(
                events[place].dies or events[place].apply_to(model, answers[place]) is not False for place in order
            )
            model = with_moments(model, rows, before, after)
            if agree and {row.id: shown(row) for row in rows} == {n: written(one) for n, one in model.sent.items()}:
                self.model = model
                return answers
        said = {name: written(one) for name, one in model.sent.items()}
        found = {row.id: shown(row) for row in rows}
        differ = {name: (said.get(name), found.get(name)) for name in said | found if said.get(name) != found.get(name)}
        raise AssertionError(f"in no order: {answers}; the model, then the rows: {differ}")

    # Events of workers.

    def decides(self, sent_id: str, *, dies: bool = False) -> Event:
        return Event(
            lambda session: deliveries.decide_delivery(session, sent_id),
            lambda model, told: need_of(told) == model.decide(sent_id, told.now),
            dies,
        )

    def begins(
        self, sent_id: str, number: int, *, dies: bool = False, slowly: Callable[[], Awaitable[None]] | None = None
    ) -> Event:
        """Sign the attempt before the transaction ends, perhaps slowly; it is sent after the commit."""

        async def work(session: AsyncSession) -> tuple[Any, str | None]:
            decision, parcel = await deliveries.begin_attempt(session, sent_id, number)
            if slowly is not None:
                await slowly()
            if parcel is None:
                return decision, None
            return decision, self.vault.open(deliveries.SECRET_PURPOSE, parcel.sealed_secret).decode()

        def apply_to(model: DeliveryReference, told: Any) -> bool:
            decision, secret = told
            return (need_of(decision), secret) == model.begin(sent_id, number, decision.now)

        return Event(work, apply_to, dies)

    def notes(self, flight: Flight, code: int | None, *, dies: bool = False) -> Event:
        async def work(session: AsyncSession) -> Any:
            error = AttemptError.TIMEOUT if code is None else None
            outcome = AttemptOutcome(await service_time(session), 3, code, error)
            return await deliveries.record_attempt(session, flight.sent, flight.number, outcome)

        return Event(
            work, lambda model, told: need_of(told) == model.note(flight.sent, flight.number, code, told.now), dies
        )

    def fly(self, sent_id: str, number: int, *, dies: bool = False) -> Flight | None:
        (told,) = self.happen(self.begins(sent_id, number, dies=dies))
        if dies or told[1] is None:
            return None
        self.flights.append(Flight(sent_id, number, told[1]))
        return self.flights[-1]

    # Events of the account.

    def new_hook(self, kind: str | None = None, whose: str | None = None) -> str:
        secret = f"secret {next(self.secrets)}"
        hook_id = self.do(
            self._database.run(
                lambda session: endpoint(
                    session,
                    self.workspace_id,
                    events=["*" if kind is None else kind],
                    customer_id=whose,
                    secret=self._sealed(secret),
                )
            )
        )
        self.model.hooks[hook_id] = Hook(secret, kind, whose)
        return hook_id

    def _sealed(self, secret: str) -> bytes:
        return self.vault.seal(deliveries.SECRET_PURPOSE, secret.encode())

    async def _lock(self, session: AsyncSession, hook_id: str) -> WebhookEndpoint:
        return await deliveries.load_endpoint(session, self.workspace_id, hook_id, lock=True)

    def emit(self, many: int, kind: str, tenant: Tenant, *, meanwhile: Event | None = None, hook: str = "") -> None:
        """Emit events in one transaction, while `meanwhile` closes an endpoint and ends once they are written."""

        async def emitting() -> None:
            async with self._database.transaction() as session:
                now = await service_time(session)
                for _ in range(many):
                    store_events.emit(session, tenant, EventType(kind), DATA[kind], now=now)

        async def around(session: AsyncSession) -> None:
            assert meanwhile is not None
            await meanwhile.work(session)
            await emitting()

        expected, before = self.model.emit(kind, tenant.id), self.now()
        self.do(emitting() if meanwhile is None else self._database.run(around))
        if meanwhile is not None:
            meanwhile.apply_to(self.model, None)
        rows, _, _ = self.rows()
        after = self.now()
        made = [row for row in rows if row.id not in self.model.sent]
        assert sorted(row.endpoint_id for row in made) == sorted(many * list(expected)), "to whoever wants it, once"
        for row in made:
            assert before - STAMPS <= row.created_at <= after + STAMPS
            self.model.sent[row.id] = Sent(row.id, row.endpoint_id, row.event_id, row.created_at, row.created_at)
            self.model.sent[row.id].lost = row.endpoint_id == hook

    def closes(self, hook_id: str, *, forever: bool) -> Event:
        """Return the event of disabling or deleting the endpoint."""

        async def work(session: AsyncSession) -> None:
            row = await self._lock(session, hook_id)
            await (deliveries.remove_endpoint if forever else deliveries.disable_endpoint)(session, row)

        def apply_to(model: DeliveryReference, told: object) -> bool:
            hook = model.hooks[hook_id]
            if not hook.there:
                return told == "not_found"
            hook.enabled, hook.there = hook.enabled and forever, not forever
            model.drop(hook_id)
            return told is None

        return Event(work, apply_to)

    def enables(self, hook_id: str) -> Event:
        async def work(session: AsyncSession) -> None:
            (await self._lock(session, hook_id)).status = EndpointStatus.ENABLED

        def apply_to(model: DeliveryReference, told: object) -> bool:
            hook = model.hooks[hook_id]
            hook.enabled = hook.there
            return told == (None if hook.there else "not_found")

        return Event(work, apply_to)

    def rotates(self, hook_id: str) -> Event:
        secret = f"secret {next(self.secrets)}"

        async def work(session: AsyncSession) -> None:
            (await self._lock(session, hook_id)).secret = self._sealed(secret)

        def apply_to(model: DeliveryReference, told: object) -> bool:
            model.hooks[hook_id].secret = secret
            return told == (None if model.hooks[hook_id].there else "not_found")

        return Event(work, apply_to)

    def retries(self, hook_id: str, sent_id: str) -> Event:
        async def work(session: AsyncSession) -> str:
            row = await deliveries.retry_now(session, await self._lock(session, hook_id), sent_id)
            await session.flush()
            await outbox.wake(session, deliveries.delivery_subject(row.id))
            return "ok"

        return Event(work, lambda model, told: told == model.retry(hook_id, sent_id))

    def ping(self, hook_id: str) -> None:
        """Send a test event to an enabled endpoint: one attempt."""

        async def work(session: AsyncSession) -> tuple[str, str]:
            row = await deliveries.load_endpoint(session, self.workspace_id, hook_id)
            return store_events.emit_ping(session, row, now=await service_time(session))

        before = self.now()
        event_id, sent_id = self.do(self._database.run(work))
        (row,) = [row for row in self.rows()[0] if row.id not in self.model.sent]
        assert row.id == sent_id
        assert before - STAMPS <= row.created_at <= self.now() + STAMPS
        sent = Sent(sent_id, hook_id, event_id, row.created_at, row.created_at, turn="given", single=True, ping=True)
        assert shown(row) == written(sent), "a test delivery waits for no turn"
        self.model.sent[sent_id] = sent

    def gives_up(self, sent_id: str) -> Event:
        return Event(
            lambda session: deliveries.give_up_delivery(session, sent_id), lambda model, _: model.give_up(sent_id)
        )

    def keep_house(self) -> None:
        async def work(session: AsyncSession) -> datetime:
            await housekeeping.ensure_duties(session)
            await housekeeping.do(session, housekeeping.RETAIN)
            return await service_time(session)

        self.model.forget(self.do(self._database.run(work)))

    async def due(self) -> list[str]:
        """Return the rows that the dispatcher would wake."""
        async with self._database.transaction() as session:
            found = await outbox.rows_due(session, limit=10_000)
        return [one.subject.id for one in found if one.workspace_id == self.workspace_id]
