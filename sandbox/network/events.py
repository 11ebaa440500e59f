"""Webhook endpoints and their events: which events exist, when they are sent, and in which form."""

from datetime import timedelta
from typing import Literal

from pydantic import BaseModel, ConfigDict

from sandbox.clock import Clock, rfc3339
from sandbox.faults import FaultKind, Faults, OrderedFault
from sandbox.network.schedule import Schedule
from sandbox.network.schema import Ids
from sandbox.network.wire import Json
from sandbox.people.population.draws import Draws
from sandbox.state import State

PROVIDER = "network"
CALLBACK = "callback"
DELIVERY = "delivery"
Generation = Literal["2026-05", "2026-09"]
ACCEPTED = {"2026-05": "relation.request.accept", "2026-09": "relation.new"}
_ALWAYS = frozenset(
    f"account.{name}"
    for name in ("add", "reconnect", "remove", "status.running", "status.disconnected", "status.errored")
) | {"message.new"}
EVENTS = {
    "2026-05": _ALWAYS | {"account.status.paused", "relation.request.accept"},
    "2026-09": _ALWAYS
    | {"relation.new", "account.status.degraded", "account.status.partial", "account.locked", "account.unlocked"},
}
_DUPLICATED, _LATE = 0.03, 0.05
_LATEST_RELATION, _SOONEST_RELATION = 8 * 3600.0, 60.0


class Endpoint(BaseModel):
    """An endpoint for events."""

    model_config = ConfigDict(frozen=True)

    id: str
    url: str
    secret: str
    trigger_events: tuple[str, ...]
    account_ids: tuple[str, ...] = ()
    description: str | None = None
    enabled: bool = True

    def shown(self) -> Json:
        """Return an endpoint in the provider's format."""
        own = self.model_dump(mode="json")
        return {"object": "WebhookEndpoint", "application_id": "app_sandbox", "account_targets": []} | own

    def wants(self, type_: str, account_id: str) -> bool:
        """Return whether the endpoint receives an event."""
        return self.enabled and type_ in self.trigger_events and self.account_ids in ((), (account_id,))


class Endpoints:
    """All endpoints of the application."""

    def __init__(self, state: State) -> None:
        self._state = state

    def all(self) -> list[Endpoint]:
        """Return all endpoints, oldest first."""
        rows = self._state.database.execute("select body from network_endpoints order by rowid").fetchall()
        return [Endpoint.model_validate_json(body) for (body,) in rows]

    def get(self, endpoint_id: str) -> Endpoint | None:
        """Return one endpoint."""
        return next((each for each in self.all() if each.id == endpoint_id), None)

    def write(self, endpoint: Endpoint) -> None:
        """Store an endpoint."""
        self._state.database.execute(
            "insert into network_endpoints values (?, ?) on conflict (id) do update set body = excluded.body",
            (endpoint.id, endpoint.model_dump_json()),
        )

    def remove(self, endpoint_id: str) -> bool:
        """Delete an endpoint."""
        return self._state.database.execute("delete from network_endpoints where id = ?", (endpoint_id,)).rowcount > 0


class Events:
    """Sends events to endpoints."""

    def __init__(
        self, *, state: State, clock: Clock, ids: Ids, draws: Draws, schedule: Schedule, faults: Faults
    ) -> None:
        self._state, self._clock, self._ids, self._draws = state, clock, ids, draws
        self._schedule, self._faults = schedule, faults
        self.endpoints = Endpoints(state)

    @property
    def generation(self) -> Generation:
        """Which of the two lists of event names is in force."""
        return "2026-05" if self._state.number("network_generation", 9) == 5 else "2026-09"

    def change_generation(self, generation: Generation) -> None:
        """Set which list of event names is in force."""
        self._state.remember("network_generation", int(generation[-2:]))

    @property
    def natural(self) -> bool:
        """Whether people act on their own and events are delayed; otherwise everything waits for the control API."""
        return bool(self._state.number("network_natural", 1))

    def change_nature(self, *, natural: bool) -> None:
        """Set whether people act on their own."""
        self._state.remember("network_natural", int(natural))

    def tell(self, type_: str, account_id: str, payload: Json, *, ids_of: Json, promptly: bool = False) -> None:
        """Send an event to the endpoints that want it, after a delay unless `promptly`; `ids_of` is its short form."""
        if type_ not in EVENTS[self.generation]:
            return
        short = self._struck(FaultKind.IDS_ONLY) is not None
        event: Json = {
            "id": self._ids.plain("evt"),
            "type": type_,
            "created_at": rfc3339(self._clock.now()),
            "account_id": account_id,
            "payload": ids_of if short else payload,
        }
        number = int(event["id"][4:20], 16)
        for delay in self._delays(type_, number, promptly=promptly or not self.natural):
            for endpoint in self.endpoints.all():
                if endpoint.wants(type_, account_id):
                    body = {"endpoint_id": endpoint.id, "event": event, "attempt": 1}
                    self._schedule.add(DELIVERY, body, after=delay)

    def _delays(self, type_: str, number: int, *, promptly: bool) -> list[timedelta]:
        """Return the delays after which the event is sent; two delays when it is sent twice."""
        delayed = self._struck(FaultKind.DELAYED_CALLBACK)
        first = timedelta() if promptly else self._delay(type_, number)
        if delayed is not None:
            first += timedelta(seconds=delayed.delay_seconds)
        by_nature = not promptly and self._draws.unit_at("sent twice", number) < _DUPLICATED
        if self._struck(FaultKind.DUPLICATE_CALLBACK) is None and not by_nature:
            return [first]
        again = timedelta() if promptly else timedelta(minutes=1 + self._draws.below("sent again", number, 90))
        return [first, first + again]

    def _delay(self, type_: str, number: int) -> timedelta:
        unit = self._draws.unit_at("event delay", number)
        if type_.startswith("relation."):
            return timedelta(seconds=_SOONEST_RELATION * (_LATEST_RELATION / _SOONEST_RELATION) ** unit)
        if type_ == "message.new" and self._draws.unit_at("late event", number) < _LATE:
            return timedelta(minutes=10 + 50 * unit)
        return timedelta(seconds=1 + 14 * unit) if type_ == "message.new" else timedelta(seconds=unit)

    def _struck(self, kind: FaultKind) -> OrderedFault | None:
        return self._faults.strike(PROVIDER, CALLBACK, kind)
