"""Webhook endpoints at the API: checked when saved, changed, rotated, tested, and their deliveries retried."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from api.events import endpoints
from models.base.database import Database
from models.base.outbound import Resolver
from models.base.secrets import Vault
from models.events.rules.deliveries import hint
from models.events.store import deliveries
from models.events.store.deliveries import AttemptOutcome
from tests.api.conftest import SECRET_KEY, Workspace, application, client, error_of, run_sql
from tests.api.events.test_events import new_customer, told

PATH = "/v1/webhook-endpoints"
HOOK = "https://hooks.example.com/in"
PUBLIC = "93.184.216.34"
NAMES = {
    "hooks.example.com": [PUBLIC, "2606:4700::1111"],
    "other.example.com": [PUBLIC],
    "half.example.com": [PUBLIC, "10.0.0.1"],
    "mapped.example.com": ["::ffff:127.0.0.1"],
    "meta.example.com": ["169.254.169.254"],
    "empty.example.com": [],
}


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An invented name server; the names that it was asked for."""
    asked: list[str] = []

    async def lookup(host: str) -> Sequence[str]:
        asked.append(host)
        if host == "gone.example.com":
            raise OSError
        if host == "slow.example.com":
            await asyncio.sleep(60)
        return NAMES[host]

    monkeypatch.setattr(endpoints, "RESOLVER", Resolver(lookup))
    return asked


async def made(workspace: Workspace, **body: Any) -> dict[str, Any]:
    answer = await workspace.http.post(PATH, json={"url": HOOK} | body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    assert answer.headers["location"] == f"{PATH}/{found['id']}"
    return found


async def log(workspace: Workspace, endpoint_id: str, query: str = "") -> list[dict[str, Any]]:
    answer = await workspace.http.get(f"{PATH}/{endpoint_id}/deliveries{query}")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["data"]
    return found


async def attempted(database: Database, delivery_id: str, number: int, status_code: int) -> None:
    """What a worker does."""
    async with database.transaction() as session:
        decision = await deliveries.decide_delivery(session, delivery_id)
        await deliveries.record_attempt(session, delivery_id, number, AttemptOutcome(decision.now, 7, status_code))


async def test_an_endpoint_is_made_with_defaults_and_shows_its_secret_once(
    workspace: Workspace, database: Database
) -> None:
    endpoint = await made(workspace)
    secret = endpoint.pop("secret")
    assert secret.startswith("whsec_")
    assert endpoint.pop("id").startswith("whe_")
    assert endpoint.pop("created_at").endswith("Z")
    assert endpoint == {
        "object": "webhook_endpoint",
        "url": HOOK,
        "events": ["*"],
        "customer_id": None,
        "description": None,
        "status": "enabled",
        "secret_hint": hint(secret),
    }
    listed = (await workspace.http.get(PATH)).json()["data"]
    assert "secret" not in listed[0]
    (stored,) = (
        await run_sql(database, "select secret from webhook_endpoints where workspace_id = :w", w=workspace.id)
    )[0]
    assert secret.encode() not in stored
    assert Vault(SECRET_KEY).open(deliveries.SECRET_PURPOSE, stored).decode() == secret


async def test_the_url_is_stored_in_its_normal_form(workspace: Workspace) -> None:
    endpoint = await made(workspace, url="HTTPS://Hooks.Example.com:443/a b".replace(" ", "%20"))
    assert endpoint["url"] == "https://hooks.example.com/a%20b"


@pytest.mark.parametrize(
    "url",
    [
        *("http://hooks.example.com/", "https://hooks.example.com:8443/", "https://u:p@hooks.example.com/"),
        *("https://127.0.0.1/", "https://localhost/", "https://2130706433/", "https://[::1]/", "https://10.0.0.1/"),
        *("https://hooks.example.com/#a", "https://example.com\\@127.0.0.1/", "hooks.example.com", "", "x" * 3000),
        *("https://half.example.com/", "https://mapped.example.com/", "https://meta.example.com/"),
        *("https://gone.example.com/", "https://empty.example.com/", "http://127.0.0.1:9000/hook"),
    ],
)
async def test_a_url_that_is_not_public_https_is_refused_and_nothing_is_written(workspace: Workspace, url: str) -> None:
    error_of(await workspace.http.post(PATH, json={"url": url}), 400, "invalid_request", "url")
    endpoint = await made(workspace)
    answer = await workspace.http.patch(f"{PATH}/{endpoint['id']}", json={"url": url})
    error_of(answer, 400, "invalid_request", "url")
    assert [row["url"] for row in (await workspace.http.get(PATH)).json()["data"]] == [HOOK]


async def test_a_name_server_that_hangs_is_not_waited_for(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "RESOLVE_SECONDS", 0.1)
    answer = await workspace.http.post(PATH, json={"url": "https://slow.example.com/"})
    error_of(answer, 400, "invalid_request", "url")


async def test_the_development_switch_allows_loopback(module_database_url: str, workspace: Workspace) -> None:
    async with (
        application(module_database_url, webhook_loopback=True) as app,
        client(app, api_key=workspace.api_key) as http,
    ):
        answer = await http.post(PATH, json={"url": "http://127.0.0.1:9000/hook"})
        assert answer.status_code == 201, answer.text
        error_of(await http.post(PATH, json={"url": "http://localhost:9000/"}), 400, "invalid_request", "url")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "url"),
        ({"url": 5}, "url"),
        ({"url": HOOK, "events": []}, "events"),
        ({"url": HOOK, "events": "ping"}, "events"),
        ({"url": HOOK, "events": ["run.ended"]}, "events.0"),
        ({"url": HOOK, "events": ["*", 5]}, "events.1"),
        ({"url": HOOK, "events": None}, "events"),
        ({"url": HOOK, "description": "d" * 501}, "description"),
        ({"url": HOOK, "description": "nul\x00"}, "description"),
        ({"url": HOOK, "customer_id": "cus_00000000000000000000000000"}, "customer_id"),
        ({"url": HOOK, "secret": "whsec_mine"}, "secret"),
        ({"url": HOOK, "status": "disabled"}, "status"),
    ],
)
async def test_a_refused_field_is_named(workspace: Workspace, body: dict[str, Any], field: str) -> None:
    error_of(await workspace.http.post(PATH, json=body), 400, "invalid_request", field)
    assert (await workspace.http.get(PATH)).json()["data"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        *(({name: None}, name) for name in ("url", "events", "status")),
        ({"status": "paused"}, "status"),
        ({"events": ["nothing"]}, "events.0"),
        ({"customer_id": None}, "customer_id"),
    ],
)
async def test_a_refused_change_is_named(workspace: Workspace, body: dict[str, Any], field: str) -> None:
    endpoint = await made(workspace)
    answer = await workspace.http.patch(f"{PATH}/{endpoint['id']}", json=body)
    error_of(answer, 400, "invalid_request", field)


async def test_an_eleventh_endpoint_is_refused_also_when_all_come_at_once(workspace: Workspace) -> None:
    answers = await asyncio.gather(*(workspace.http.post(PATH, json={"url": HOOK}) for _ in range(14)))
    refused = [answer for answer in answers if answer.status_code != 201]
    assert len(refused) == 4
    for answer in refused:
        error_of(answer, 409, "conflict")
    (first, *_) = (await workspace.http.get(PATH)).json()["data"]
    assert (await workspace.http.delete(f"{PATH}/{first['id']}")).status_code == 204
    await made(workspace)


async def test_fields_are_changed_and_kept(workspace: Workspace, names: list[str]) -> None:
    endpoint = await made(workspace, description="first", events=["run.completed", "run.completed", "ping"])
    assert endpoint["events"] == ["run.completed", "ping"]
    path = f"{PATH}/{endpoint['id']}"
    changed = (await workspace.http.patch(path, json={"url": "https://other.example.com", "events": ["*"]})).json()
    assert (changed["url"], changed["events"], changed["description"]) == ("https://other.example.com/", ["*"], "first")
    names.clear()
    changed = (await workspace.http.patch(path, json={"description": None})).json()
    assert changed["description"] is None
    assert names == []  # an address is looked up when it is saved
    assert (await workspace.http.get(path)).json() == changed


async def test_a_rotation_shows_a_new_secret_once(workspace: Workspace, database: Database) -> None:
    endpoint = await made(workspace)
    rotated = (await workspace.http.post(f"{PATH}/{endpoint['id']}/rotate-secret")).json()
    assert rotated["secret"] != endpoint["secret"]
    assert rotated["secret_hint"] == hint(rotated["secret"])
    assert "secret" not in (await workspace.http.get(f"{PATH}/{endpoint['id']}")).json()
    await told(database, workspace.id)
    (row,) = await log(workspace, endpoint["id"])
    async with database.transaction() as session:
        _, parcel = await deliveries.begin_attempt(session, row["id"], 1)
    assert parcel is not None
    assert Vault(SECRET_KEY).open(deliveries.SECRET_PURPOSE, parcel.sealed_secret).decode() == rotated["secret"]


async def test_the_delivery_log_shows_every_attempt(workspace: Workspace, database: Database) -> None:
    endpoint = await made(workspace)
    event_id = await told(database, workspace.id)
    (row,) = await log(workspace, endpoint["id"])
    assert (row["object"], row["event_id"], row["event_type"]) == ("delivery", event_id, "credits.low")
    assert (row["status"], row["attempts"]) == ("pending", [])
    assert row["next_attempt_at"] is not None
    await attempted(database, row["id"], 1, 503)
    (row,) = await log(workspace, endpoint["id"], "?status=pending")
    (attempt,) = row["attempts"]
    assert (attempt["status_code"], attempt["error"], attempt["duration_ms"]) == (503, None, 7)
    assert row["next_attempt_at"] > attempt["at"]
    await attempted(database, row["id"], 2, 200)
    (row,) = await log(workspace, endpoint["id"], "?status=delivered")
    assert (len(row["attempts"]), row["next_attempt_at"]) == (2, None)
    assert await log(workspace, endpoint["id"], "?status=failed") == []
    answer = await workspace.http.get(f"{PATH}/{endpoint['id']}/deliveries?status=lost")
    error_of(answer, 400, "invalid_request", "status")


async def test_disabling_drops_what_is_pending(workspace: Workspace, database: Database) -> None:
    endpoint = await made(workspace)
    path = f"{PATH}/{endpoint['id']}"
    await told(database, workspace.id)
    assert (await workspace.http.patch(path, json={"status": "disabled"})).json()["status"] == "disabled"
    await told(database, workspace.id)
    assert [row["status"] for row in await log(workspace, endpoint["id"])] == ["dropped"]
    (row,) = await log(workspace, endpoint["id"])
    for refused in (f"{path}/test", f"{path}/deliveries/{row['id']}/retry"):
        error_of(await workspace.http.post(refused), 409, "conflict")
    await workspace.http.patch(path, json={"status": "enabled"})
    await told(database, workspace.id)
    assert [row["status"] for row in await log(workspace, endpoint["id"])] == ["pending", "dropped"]


async def test_a_retry_queues_one_more_attempt_now(workspace: Workspace, database: Database) -> None:
    endpoint = await made(workspace)
    await told(database, workspace.id)
    (row,) = await log(workspace, endpoint["id"])
    await attempted(database, row["id"], 1, 200)
    retry = f"{PATH}/{endpoint['id']}/deliveries/{row['id']}/retry"
    again = await workspace.http.post(retry)
    assert (again.status_code, again.json()["status"]) == (200, "pending")
    assert again.json()["next_attempt_at"] is not None
    (rung,) = (await run_sql(database, "select rings > answered from deliveries where id = :id", id=row["id"]))[0]
    assert rung
    await attempted(database, row["id"], 2, 500)
    assert [row["status"] for row in await log(workspace, endpoint["id"])] == ["failed"]
    other = await made(workspace)
    answer = await workspace.http.post(f"{PATH}/{other['id']}/deliveries/{row['id']}/retry")
    error_of(answer, 404, "not_found")


async def test_a_deleted_endpoint_is_gone(workspace: Workspace, database: Database) -> None:
    endpoint = await made(workspace)
    await told(database, workspace.id)
    path = f"{PATH}/{endpoint['id']}"
    assert (await workspace.http.delete(path)).status_code == 204
    for method, gone in (("GET", path), ("DELETE", path), ("GET", f"{path}/deliveries"), ("POST", f"{path}/test")):
        error_of(await workspace.http.request(method, gone), 404, "not_found")
    found = await run_sql(database, "select status from deliveries where endpoint_id = :id", id=endpoint["id"])
    assert [status for (status,) in found] == ["dropped"]


async def test_an_endpoint_for_one_customer(workspace: Workspace, database: Database) -> None:
    customer_id = await new_customer(workspace)
    endpoint = await made(workspace, customer_id=customer_id)
    assert endpoint["customer_id"] == customer_id
    await told(database, workspace.id)
    own = await told(database, workspace.id, customer_id)
    assert [row["event_id"] for row in await log(workspace, endpoint["id"])] == [own]


async def test_a_test_tells_what_was_answered(workspace: Workspace, database: Database) -> None:
    endpoint = await made(workspace, events=["run.failed"])

    async def answer_the_ping() -> None:
        while not (pending := await log(workspace, endpoint["id"])):  # noqa: ASYNC110 - another request's row
            await asyncio.sleep(0.02)
        await attempted(database, pending[0]["id"], 1, 418)

    testing, _ = await asyncio.gather(workspace.http.post(f"{PATH}/{endpoint['id']}/test"), answer_the_ping())
    tested = testing.json()
    assert testing.status_code == 200
    assert (tested["status_code"], tested["error"], tested["duration_ms"]) == (418, None, 7)
    event = (await workspace.http.get(f"/v1/events/{tested['event_id']}")).json()
    assert (event["type"], event["data"]) == ("ping", {"endpoint_id": endpoint["id"]})
    (row,) = await log(workspace, endpoint["id"])
    assert (row["status"], row["next_attempt_at"]) == ("failed", None)  # it is not retried


async def test_a_test_that_no_worker_gets_to_is_given_up(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "TEST_SECONDS", 0.2)
    endpoint = await made(workspace)
    tested = (await workspace.http.post(f"{PATH}/{endpoint['id']}/test")).json()
    assert (tested["status_code"], tested["error"]) == (None, "not_attempted")
    assert [row["status"] for row in await log(workspace, endpoint["id"])] == ["dropped"]


async def test_what_is_done_to_endpoints_is_in_the_audit_trail_without_secrets(workspace: Workspace) -> None:
    endpoint = await made(workspace)
    path = f"{PATH}/{endpoint['id']}"
    await workspace.http.patch(path, json={"description": "d"})
    await workspace.http.post(f"{path}/rotate-secret")
    await workspace.http.delete(path)
    trail = await workspace.http.get("/v1/audit-entries")
    actions = [entry["action"] for entry in trail.json()["data"] if entry["subject_id"] == endpoint["id"]]
    done = ("deleted", "rotated", "changed", "created")
    assert actions == [f"webhook_endpoint.{action}" for action in done]
    assert "whsec_" not in trail.text
