"""From a request over its workflow to the activity and the call that it makes: one trace, and ids in every log line."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

import httpx
import pytest
import structlog
from structlog.testing import CapturingLogger

import worker
from activities.upstream.guard import Guard
from api.kernel import kernel, middleware
from models.base.database import service_time
from models.base.outbound import Resolver
from models.base.steps import Queue, Subject
from models.events.store import deliveries
from models.operate import traces
from tests.activities.upstream.receivers import OK, receiving, says
from tests.api.conftest import application, client, settings
from tests.collector import Collector, collecting
from workflows.connection import connect
from workflows.outbox import WorkflowWaker

pytestmark = pytest.mark.timeout(90)
REQUEST_ID = "req-of-the-test"
TOKEN = "canary-in-an-address"


@dataclass
class Seen:
    """What a request set off."""

    status: int = 0
    workspace_id: str = ""
    delivery_id: str = ""
    secrets: list[str] = field(default_factory=list)


@contextlib.asynccontextmanager
async def serving(url: str, address: str, namespace: str) -> AsyncIterator[httpx.AsyncClient]:
    """The API and the workers that deliver to webhook endpoints, as they are composed; no dispatcher."""
    changed: dict[str, Any] = {
        "temporal_address": address,
        "temporal_namespace": namespace,
        "webhook_loopback": True,
        "email_verification": False,
        "log_level": "INFO",
    }
    chosen = settings(url, **changed)
    async with contextlib.AsyncExitStack() as exits:
        parts = await worker.open_parts(chosen, exits)
        guard = await exits.enter_async_context(Guard(Resolver(), loopback=True, limit_seconds=5))
        parts = replace(parts, guard=guard)
        await exits.enter_async_context(worker.worker_of(Queue.WEBHOOKS, parts))
        await exits.enter_async_context(worker.worker_of(Queue.SERVICE, parts))
        made = await exits.enter_async_context(application(url, **changed))
        made.state.kernel.waker = WorkflowWaker(await connect(chosen))
        yield await exits.enter_async_context(client(made))


async def a_test(http: httpx.AsyncClient) -> Seen:
    """Sign up, make a webhook endpoint with a token in its address, and have it tested."""
    seen = Seen()
    email = f"{uuid4().hex}@example.com"
    made = (await http.post("/v1/workspaces", json={"name": "Canary Recruiting", "email": email})).json()
    http.headers["Authorization"] = f"Bearer {made['api_key']}"
    seen.workspace_id = made["id"]
    seen.secrets = [email, made["api_key"], "Canary Recruiting", TOKEN]
    async with receiving(says(OK)) as receiver:
        body = {"url": f"{receiver.url}&token={TOKEN}", "events": ["*"]}
        endpoint = (await http.post("/v1/webhook-endpoints", json=body)).json()
        seen.secrets += [endpoint["secret"], receiver.url]
        path = f"/v1/webhook-endpoints/{endpoint['id']}"
        answer = await http.post(f"{path}/test", headers={"X-Request-Id": REQUEST_ID})
        seen.status = answer.json()["status_code"]
        seen.delivery_id = (await http.get(f"{path}/deliveries")).json()["data"][0]["id"]
    return seen


@dataclass
class Traced:
    seen: Seen
    collector: Collector


@pytest.fixture
async def traced(
    database_url: str, temporal_address: str, temporal_namespace: str, monkeypatch: pytest.MonkeyPatch
) -> Traced:
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        async with traces.sending("tests"), serving(database_url, temporal_address, temporal_namespace) as http:
            seen = await a_test(http)
        return Traced(seen, collector)


async def test_a_request_is_one_trace_with_its_workflow_the_activities_and_their_calls(traced: Traced) -> None:
    seen, collector = traced.seen, traced.collector
    assert seen.status == 200
    (request,) = collector.named("POST /v1/webhook-endpoints/{endpoint_id:id}/test")
    ours = {span.name: span for span in collector.spans if span.trace_id == request.trace_id}
    assert ours.keys() == {*(request.name, "ring delivery", "delivery.next", "delivery.attempt", "stranger POST")}, (
        ours.keys()
    )
    above = {
        name: next((up.name for up in ours.values() if up.span_id == span.parent_id), "") for name, span in ours.items()
    }
    assert above == {
        request.name: "",
        "ring delivery": request.name,
        "delivery.next": "ring delivery",
        "delivery.attempt": "ring delivery",
        "stranger POST": "delivery.attempt",
    }
    assert request.facts == {
        "request.id": REQUEST_ID,
        "workspace.id": seen.workspace_id,
        "http.request.method": "POST",
        "http.route": "/v1/webhook-endpoints/{endpoint_id:id}/test",
        "http.response.status_code": 200,
    }
    attempt = ours["delivery.attempt"].facts
    assert attempt["temporal.workflow.id"] == f"delivery/{seen.delivery_id}"
    assert attempt["workspace.id"] == seen.workspace_id
    assert ours["stranger POST"].facts["http.response.status_code"] == 200


async def test_no_span_contains_a_secret_or_personal_data(traced: Traced) -> None:
    facts = {fact.value for fact in traces.Fact}
    assert traced.collector.spans
    for span in traced.collector.spans:
        assert span.facts.keys() <= facts
    sent = b"".join(traced.collector.raw).decode("latin-1")
    assert [secret for secret in traced.seen.secrets if secret in sent] == []


async def test_what_a_request_and_an_activity_log_has_their_ids(
    database_url: str, temporal_address: str, temporal_namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = CapturingLogger()
    log = structlog.wrap_logger(said, processors=[structlog.contextvars.merge_contextvars])
    begin = deliveries.begin_attempt

    async def telling_time(*asked: Any) -> Any:
        log.info("within a request")
        return await service_time(*asked)

    async def telling_begin(*asked: Any) -> Any:
        log.info("within an activity")
        return await begin(*asked)

    async with serving(database_url, temporal_address, temporal_namespace) as http:
        monkeypatch.setattr(middleware, "log", log)
        monkeypatch.setattr(kernel, "service_time", telling_time)
        monkeypatch.setattr(deliveries, "begin_attempt", telling_begin)
        seen = await a_test(http)
    told = [call.kwargs for call in said.calls]
    of_the_test = [one for one in told if one.get("request_id") == REQUEST_ID]
    assert {one["event"] for one in of_the_test} == {"request", "within a request"}
    assert {one["workspace_id"] for one in of_the_test} == {seen.workspace_id}
    all_in_activities = [one for one in told if one["event"] == "within an activity"]
    in_activities = [one for one in all_in_activities if one["workspace_id"] == seen.workspace_id]
    assert [(one["workflow_id"], one["activity"], one["workspace_id"]) for one in in_activities] == [
        (Subject("delivery", seen.delivery_id).workflow_id, "delivery.attempt", seen.workspace_id)
    ]
    assert all("request_id" in one for one in told if one not in all_in_activities)
    assert structlog.contextvars.get_contextvars() == {}
