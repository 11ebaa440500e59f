"""Webhooks on a running installation: from a run to a receiver, with retries and killed processes."""

import asyncio
import itertools
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from threading import Event
from typing import Any

import pytest
import stripe

from models.base.database import Database, service_time
from models.base.tenants import Tenant, all_tenants
from models.events.rules.catalogue import CreditsLow, EventType
from models.events.rules.deliveries import IN_FLIGHT, signature
from models.events.store import events
from tests.journeys.installation import Installation
from tests.journeys.receiver import Receiver
from tests.journeys.recruiter import Recruiter

pytestmark = pytest.mark.timeout(600)

PATH = "/v1/webhook-endpoints"
Json = dict[str, Any]


@pytest.fixture
def installation(moved_installation: Installation) -> Installation:
    return moved_installation


@pytest.fixture
def recruiter(installation: Installation) -> Recruiter:
    return Recruiter.join(installation.facts)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    yield server
    server.shutdown()
    server.server_close()


def made(recruiter: Recruiter, url: str, **body: Any) -> Json:
    answer = recruiter.call("POST", PATH, json={"url": url} | body)
    assert answer.status_code == 201, answer.text
    found: Json = answer.json()
    return found


def log(recruiter: Recruiter, endpoint: Json) -> list[Json]:
    rows: list[Json] = []
    cursor: Json = {}
    while True:
        page = recruiter.get(f"{PATH}/{endpoint['id']}/deliveries", params={"limit": 100} | cursor)
        rows += page["data"]
        if not page["has_more"]:
            return rows
        cursor = {"cursor": page["next_cursor"]}


def until(condition: Callable[[], bool], *, within: float = 120) -> None:
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.3)


def emit(installation: Installation, recruiter: Recruiter, count: int, *, grant_id: str = "grt_1") -> None:
    """Publish `count` events, each in its own transaction, as changes on the account would."""

    async def work() -> None:
        database = Database(installation.facts["database_url"], pool_size=4).within(all_tenants("tests"))
        low = CreditsLow(grant_id=grant_id, balance_credits=1, threshold_credits=2)
        for _ in range(count):
            async with database.transaction() as session:
                now = await service_time(session)
                events.emit(session, Tenant(recruiter.workspace_id), EventType.CREDITS_LOW, low, now=now)
        await database.close()

    asyncio.run(work())


def test_the_end_of_a_run_reaches_both_the_receiver_and_the_poller(recruiter: Recruiter, receiver: Receiver) -> None:
    endpoint = made(recruiter, receiver.url, events=["run.completed"])
    run = recruiter.finished(recruiter.start_run(target=30))
    until(lambda: bool(receiver.received))
    ((_, headers, body),) = receiver.received
    assert stripe.WebhookSignature.verify_header(body.decode(), headers["X-Service-Signature"], endpoint["secret"], 300)
    event = json.loads(body)
    assert event["data"]["run_id"] == run["id"]
    assert event["data"]["candidates"] == run["progress"]["candidates_delivered"]
    assert recruiter.get(f"/v1/events/{event['id']}") == event
    assert recruiter.get("/v1/events", params={"types": "run.completed"})["data"] == [event]


def test_a_test_delivery_returns_the_endpoints_answer_and_is_not_retried(
    recruiter: Recruiter, receiver: Receiver
) -> None:
    endpoint = made(recruiter, receiver.url, events=["run.completed"])
    receiver.status = 418
    tested = recruiter.call("POST", f"{PATH}/{endpoint['id']}/test").json()
    assert (tested["status_code"], tested["error"]) == (418, None)
    ((_, _, body),) = receiver.received
    assert json.loads(body)["id"] == tested["event_id"]
    assert [row["status"] for row in log(recruiter, endpoint)] == ["failed"]


def test_retries_come_at_the_documented_times_and_then_stop(
    installation: Installation, recruiter: Recruiter, receiver: Receiver
) -> None:
    receiver.status = 503
    endpoint = made(recruiter, receiver.url)
    emit(installation, recruiter, 1)
    until(lambda: len(receiver.received) == 1)
    installation.command("advance", "8h")
    (row,) = log(recruiter, endpoint)
    times = [datetime.fromisoformat(attempt["at"]) for attempt in row["attempts"]]
    waits = [(later - earlier).total_seconds() for earlier, later in itertools.pairwise(times)]
    for wait, documented in zip(waits, [30, 120, 600, 3600, 21600], strict=True):
        assert documented <= wait < 2 * documented, waits
    assert (row["status"], row["next_attempt_at"]) == ("failed", None)
    assert len(receiver.received) == 6
    assert len({body for _, _, body in receiver.received}) == 1
    for _, headers, body in receiver.received:  # signed with the real clock, not with service time
        signed = headers["X-Service-Signature"]
        assert stripe.WebhookSignature.verify_header(body.decode(), signed, endpoint["secret"], 300)


@pytest.mark.parametrize(
    ("victim", "count"),
    [
        ("worker", 50),
        ("temporal", 50),
        pytest.param("worker", 250, marks=pytest.mark.slow),
        pytest.param("temporal", 250, marks=pytest.mark.slow),
    ],
)
def test_a_kill_loses_no_delivery_and_repeats_only_what_was_in_flight(
    victim: str, count: int, installation: Installation, recruiter: Recruiter
) -> None:
    pid, struck = installation.pid(victim), Event()

    def strike(receiver: Receiver) -> None:
        if len(receiver.received) > count // 5 and not struck.is_set():
            struck.set()
            os.kill(pid, signal.SIGKILL)

    receivers = [Receiver(before_answer=strike), Receiver()]
    endpoints = [made(recruiter, receiver.url) for receiver in receivers]
    emit(installation, recruiter, count)
    until(struck.is_set)
    installation.command("restart", victim)
    for receiver in receivers:
        until(lambda: len(set(receiver.deliveries())) == count, within=240)  # noqa: B023 - called at once
    until(lambda: all(row["status"] == "delivered" for endpoint in endpoints for row in log(recruiter, endpoint)))
    for receiver, endpoint in zip(receivers, endpoints, strict=True):
        assert {row["id"] for row in log(recruiter, endpoint)} == set(receiver.deliveries())
        assert len(receiver.received) - count <= IN_FLIGHT
        assert len({body for _, _, body in receiver.received}) == count
        receiver.shutdown()
        receiver.server_close()


def test_events_committed_while_no_worker_runs_are_delivered_once_one_runs(
    installation: Installation, recruiter: Recruiter, receiver: Receiver
) -> None:
    endpoint = made(recruiter, receiver.url)
    installation.command("kill", "worker")
    emit(installation, recruiter, 20)
    assert receiver.received == []
    installation.command("restart", "worker")
    until(lambda: len(receiver.received) == 20)
    until(lambda: {row["status"] for row in log(recruiter, endpoint)} == {"delivered"})
    assert len(set(receiver.deliveries())) == 20


def test_all_deliveries_after_a_rotation_are_signed_with_the_new_secret(
    installation: Installation, recruiter: Recruiter, receiver: Receiver
) -> None:
    endpoint = made(recruiter, receiver.url)
    emit(installation, recruiter, 50)
    until(lambda: len(receiver.received) >= 5)
    rotated = recruiter.call("POST", f"{PATH}/{endpoint['id']}/rotate-secret").json()
    answered_at = int(time.time())
    emit(installation, recruiter, 10, grant_id="grt_after")
    until(lambda: len(set(receiver.deliveries())) == 60)
    by_secret: dict[str, list[int]] = {endpoint["secret"]: [], rotated["secret"]: []}
    for _, headers, body in receiver.received:
        at = int(headers["X-Service-Signature"].split(",")[0].removeprefix("t="))
        (signer,) = (
            secret for secret in by_secret if headers["X-Service-Signature"] == signature(secret, at=at, body=body)
        )
        by_secret[signer].append(at)
        if json.loads(body)["data"]["grant_id"] == "grt_after":
            assert signer == rotated["secret"]
    in_flight = [at for at in by_secret[endpoint["secret"]] if at > answered_at]
    assert len(in_flight) <= IN_FLIGHT


def test_disabling_drops_waiting_retries_and_enabling_restores_none(
    installation: Installation, recruiter: Recruiter, receiver: Receiver
) -> None:
    receiver.status = 503
    endpoint = made(recruiter, receiver.url)
    path = f"{PATH}/{endpoint['id']}"
    emit(installation, recruiter, 3)
    until(lambda: [len(row["attempts"]) for row in log(recruiter, endpoint)] == [1, 1, 1])
    assert recruiter.call("PATCH", path, json={"status": "disabled"}).status_code == 200
    assert {row["status"] for row in log(recruiter, endpoint)} == {"dropped"}
    assert recruiter.call("PATCH", path, json={"status": "enabled"}).status_code == 200
    installation.command("advance", "8h")
    assert len(receiver.received) == 3
    emit(installation, recruiter, 1)
    until(lambda: len(receiver.received) == 4)
