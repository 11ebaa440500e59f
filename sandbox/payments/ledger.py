"""The stored state of the payments side: objects, answered idempotency keys, and pending events."""

import json
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from typing import Any

from sandbox.clock import Clock
from sandbox.payments.wire import API_VERSION, Object, missing, new_id, shown
from sandbox.state import State

_SCHEMA = """
create table if not exists payment_objects (
    number integer primary key, id text not null unique, kind text not null, body text not null);
create index if not exists payment_objects_by_kind on payment_objects (kind);
create table if not exists payment_keys (
    key text primary key, fingerprint text not null, status integer not null, body text not null);
create table if not exists payment_events (
    number integer primary key, id text not null, body text not null, due real, attempts integer not null,
    status integer, held integer not null);
"""


class Ledger:
    """Objects by id and by kind, newest first; each write is stored immediately."""

    def __init__(self, state: State, clock: Clock) -> None:
        self._database = state.database
        self._state = state
        self._clock = clock
        self._database.executescript(_SCHEMA)

    def now(self) -> int:
        """Service time in whole seconds, as the provider stamps things."""
        return int(self._clock.now().timestamp())

    def put(self, thing: Object) -> Object:
        """Store a new or changed object."""
        self._database.execute(
            "insert into payment_objects (id, kind, body) values (?, ?, ?)"
            " on conflict (id) do update set body = excluded.body",
            (thing["id"], thing["object"], json.dumps(thing)),
        )
        return thing

    def get(self, object_id: str) -> Object | None:
        """Return an object by its id."""
        row = self._database.execute("select body from payment_objects where id = ?", (object_id,)).fetchone()
        return None if row is None else self._read(row[0])

    def all(self, kind: str) -> list[Object]:
        """Return every object of a kind, newest first."""
        rows = self._database.execute("select body from payment_objects where kind = ? order by number desc", (kind,))
        return [self._read(row[0]) for row in rows.fetchall()]

    def answered(self, key: str) -> tuple[str, int, Object] | None:
        """Return fingerprint, status and body of the answer stored under an idempotency key."""
        row = self._database.execute(
            "select fingerprint, status, body from payment_keys where key = ?", (key,)
        ).fetchone()
        return None if row is None else (row[0], row[1], self._read(row[2]))

    def remember_answer(self, key: str, fingerprint: str, status: int, body: Object) -> None:
        """Store an answer for repeated calls."""
        self._database.execute(
            "insert or ignore into payment_keys values (?, ?, ?, ?)", (key, fingerprint, status, json.dumps(body))
        )

    def emit(self, kind: str, thing: Object, *, previous: Object | None = None, times: int = 1) -> str:
        """Send an event about an object now, or hold it back while events are held."""
        data: Object = {"object": shown(thing)} | ({"previous_attributes": previous} if previous else {})
        event = {
            "id": new_id("evt"),
            "object": "event",
            "api_version": API_VERSION,
            "created": self.now(),
            "data": data,
            "livemode": False,
            "pending_webhooks": 1,
            "request": {"id": None, "idempotency_key": None},
            "type": kind,
        }
        for _ in range(times):
            self._queue(event["id"], json.dumps(event))
        return str(event["id"])

    def _queue(self, event_id: Any, body: str) -> None:  # noqa: ANN401 - an id read from an object
        self._database.execute(
            "insert into payment_events (id, body, due, attempts, status, held) values (?, ?, ?, 0, null, ?)",
            (event_id, body, self._clock.now().timestamp(), int(self.holding)),
        )

    def send_again(self, event_id: str) -> bool:
        """Send an event once more, whatever its state."""
        row = self._database.execute("select body from payment_events where id = ?", (event_id,)).fetchone()
        if row is None:
            return False
        self._queue(event_id, row[0])
        return True

    @property
    def holding(self) -> bool:
        """Whether new events are held back."""
        return bool(self._state.number("payments_hold"))

    def hold(self) -> None:
        """Hold back events from now on."""
        self._state.remember("payments_hold", 1)

    def release(self, *, backwards: bool) -> int:
        """Release held events in order or in reverse, and return their number."""
        self._state.remember("payments_hold", 0)
        held = self._database.execute("select number, id, body from payment_events where held = 1 order by number")
        rows = held.fetchall()
        for number, event_id, body in reversed(rows) if backwards else rows:
            self._database.execute("delete from payment_events where number = ?", (number,))
            self._queue(event_id, body)
        return len(rows)

    def due_events(self) -> list[tuple[int, str, str, int]]:
        """Return number, id, body and attempts of the events that are due."""
        rows = self._database.execute(
            "select number, id, body, attempts from payment_events"
            " where held = 0 and due is not null and due <= ? order by due, number",
            (self._clock.now().timestamp(),),
        )
        return rows.fetchall()

    def note_attempt(self, number: int, status: int | None, *, due: float | None) -> None:
        """Store the result of an attempt, and when the next one is due (None: no further attempt)."""
        self._database.execute(
            "update payment_events set attempts = attempts + 1, status = ?, due = ? where number = ?",
            (status, due, number),
        )

    def next_event_at(self) -> datetime | None:
        """Return when the next event is to be sent."""
        row = self._database.execute("select min(due) from payment_events where held = 0").fetchone()
        return None if row[0] is None else datetime.fromtimestamp(row[0], UTC)

    def events_since(self, *, since: int, kinds: Collection[str]) -> list[Object]:
        """Return the events of these kinds since then, newest first, whether they were delivered or not."""
        rows = self._database.execute("select id, body from payment_events order by number desc")
        found = [self._read(body) for body in dict(reversed(rows.fetchall())).values()]
        return [event for event in reversed(found) if event["created"] >= since and event["type"] in kinds]

    def events(self) -> list[Object]:
        """Return every event with its deliveries, oldest first."""
        rows = self._database.execute("select id, body, attempts, status, held from payment_events order by number")
        return [
            {
                "id": event_id,
                "type": json.loads(body)["type"],
                "attempts": attempts,
                "status": status,
                "held": bool(held),
            }
            for event_id, body, attempts, status, held in rows.fetchall()
        ]

    def clear(self) -> None:
        """Delete everything."""
        self._database.executescript(
            "delete from payment_objects; delete from payment_keys; delete from payment_events;"
        )
        self._state.remember("payments_hold", 0)

    @staticmethod
    def _read(body: str) -> Object:
        read: Object = json.loads(body)
        return read


def of_customer(things: Iterable[Object], customer_id: str | None) -> list[Object]:
    """Return the objects of one customer; all objects if no customer is given."""
    return [thing for thing in things if customer_id in (None, thing.get("customer"))]


def found(ledger: Ledger, object_id: str, kind: str, *, param: str = "id") -> Object:
    """Return the object of a kind that a call names. Raises the provider's error if there is none."""
    thing = ledger.get(object_id)
    if thing is None or thing["object"] != kind:
        raise missing(kind, object_id, param=param)
    return thing
