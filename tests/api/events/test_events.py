"""Events are polled and looked up: by the account with its customers, by a customer alone, never by other callers."""

from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from models.base.database import Database, service_time
from models.base.tenants import Tenant
from models.events.rules.catalogue import CreditsLow, EventData, EventType, Pinged
from models.events.store import events
from tests.api.conftest import Workspace, client, error_of

LOW = CreditsLow(grant_id="grt_1", balance_credits=1, threshold_credits=250)


async def told(
    database: Database,
    workspace_id: str,
    customer_id: str | None = None,
    *,
    kind: EventType = EventType.CREDITS_LOW,
    data: EventData = LOW,
) -> str:
    async with database.transaction() as session:
        now = await service_time(session)
        return events.emit(session, Tenant(workspace_id, customer_id), kind, data, now=now)


async def ids(http: httpx.AsyncClient, query: str = "", **headers: str) -> list[str]:
    answer = await http.get(f"/v1/events{query}", headers=headers)
    assert answer.status_code == 200, answer.text
    return [event["id"] for event in answer.json()["data"]]


async def new_customer(workspace: Workspace, name: str = "One") -> str:
    made = await workspace.http.post("/v1/customers", json={"name": name})
    return str(made.json()["id"])


async def test_an_event_is_shown_as_specified(workspace: Workspace, database: Database) -> None:
    customer_id = await new_customer(workspace)
    event_id = await told(database, workspace.id, customer_id)
    answer = (await workspace.http.get(f"/v1/events/{event_id}")).json()
    assert answer.pop("created_at").endswith("Z")
    assert answer == {
        "id": event_id,
        "object": "event",
        "type": "credits.low",
        "customer_id": customer_id,
        "data": {"grant_id": "grt_1", "balance_credits": 1, "threshold_credits": 250},
    }
    listed = (await workspace.http.get("/v1/events")).json()
    assert listed["object"] == "list"
    assert [event["id"] for event in listed["data"]] == [event_id]


async def test_a_poller_goes_on_from_the_newest_stamp_it_has_seen(workspace: Workspace, database: Database) -> None:
    first = await told(database, workspace.id)
    seen = (await workspace.http.get("/v1/events")).json()["data"][0]["created_at"]
    assert await ids(workspace.http, f"?created_after={seen}") == []  # exclusive
    second, third = [await told(database, workspace.id) for _ in range(2)]
    assert await ids(workspace.http, f"?created_after={seen}") == [third, second]
    assert await ids(workspace.http, f"?created_before={seen}") == []
    assert await ids(workspace.http) == [third, second, first]


async def test_pages_of_a_poller_meet_events_that_come_meanwhile_later(
    workspace: Workspace, database: Database
) -> None:
    told_first = [await told(database, workspace.id) for _ in range(5)]
    page = (await workspace.http.get("/v1/events?limit=2")).json()
    await told(database, workspace.id)
    rest = (await workspace.http.get(f"/v1/events?limit=10&cursor={page['next_cursor']}")).json()
    assert [event["id"] for event in page["data"] + rest["data"]] == told_first[::-1]
    assert rest["has_more"] is False


async def test_types_filter(workspace: Workspace, database: Database) -> None:
    low = await told(database, workspace.id)
    ping = await told(database, workspace.id, kind=EventType.PING, data=Pinged(endpoint_id="whe_1"))
    assert await ids(workspace.http, "?types=ping") == [ping]
    assert await ids(workspace.http, "?types=credits.low,%20ping") == [ping, low]
    assert await ids(workspace.http, "?types=run.failed") == []


@pytest.mark.parametrize("types", ["", "run", "run.completed,", "ping,pong", "*", "RUN.COMPLETED"])
async def test_an_unknown_type_is_refused(workspace: Workspace, types: str) -> None:
    error_of(await workspace.http.get(f"/v1/events?types={types}"), 400, "invalid_request", "types")


async def test_customers_filter(workspace: Workspace, database: Database) -> None:
    one, two = await new_customer(workspace), await new_customer(workspace, "Two")
    of_account = await told(database, workspace.id)
    of_one, of_two = await told(database, workspace.id, one), await told(database, workspace.id, two)
    assert await ids(workspace.http) == [of_two, of_one, of_account]
    assert await ids(workspace.http, "?customer_id=none") == [of_account]
    assert await ids(workspace.http, f"?customer_id={one}") == [of_one]
    assert await ids(workspace.http, "?customer_id=cus_unknown") == []
    inside = {"Service-Customer": one}
    assert await ids(workspace.http, **inside) == [of_one]
    assert await ids(workspace.http, "?customer_id=none", **inside) == []
    assert await ids(workspace.http, f"?customer_id={two}", **inside) == []
    answer = await workspace.http.get(f"/v1/events/{of_two}", headers=inside)
    error_of(answer, 404, "not_found")


async def test_a_customer_bound_key_reads_its_own_events_and_no_endpoint(
    app: FastAPI, workspace: Workspace, database: Database
) -> None:
    customer_id = await new_customer(workspace)
    made = await workspace.http.post(
        "/v1/api-keys", json={"name": "Bound", "scopes": ["account:read"], "customer_id": customer_id}
    )
    of_account = await told(database, workspace.id)
    own = await told(database, workspace.id, customer_id)
    async with client(app, api_key=made.json()["secret"]) as bound:
        assert await ids(bound) == [own]
        error_of(await bound.get(f"/v1/events/{of_account}"), 404, "not_found")
        error_of(await bound.get("/v1/webhook-endpoints"), 403, "forbidden")


async def test_events_need_the_scope(workspace: Workspace, key_of: Any) -> None:
    narrow = await key_of(workspace, scopes=["sourcing:read"])
    for path in ("/v1/events", "/v1/events/evt_1", "/v1/webhook-endpoints"):
        error_of(await narrow.get(path), 403, "insufficient_scope")
    reader = await key_of(workspace, scopes=["account:read"])
    answer = await reader.post("/v1/webhook-endpoints", json={"url": "https://hooks.example.com/"})
    error_of(answer, 403, "insufficient_scope")
