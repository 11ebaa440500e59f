"""After a whole day of a recruiter, nothing that an operator reads contains personal data or a secret.

The tests search the logs of every service process, the whole database of Temporal, and the traces.
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.api.oauth.conftest import Form
from tests.api.oauth.sdk import SigningIn
from tests.collector import Collector, collecting
from tests.journeys.canaries import Canaries
from tests.journeys.installation import Installation, installed
from tests.journeys.outreach import Json, Outreach
from tests.journeys.receiver import Receiver
from tests.journeys.test_sign_in import link_to, owner
from tests.journeys.test_webhooks import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PROCESSES = ("api", "worker", "upstream")
NOTE, MESSAGE = "Canary note about vacancies", "Canary message about salaries"
REPLY, ANSWER = "Canary reply from a candidate", "Canary answer to a candidate"
TITLE = "Canary Lighthouse Keeper"
STEPS: list[Json] = [
    {"type": "invite", "note": f"{NOTE}, {{{{first_name}}}}."},
    {"type": "message", "only_after_accept": True, "body": f"{MESSAGE}, {{{{first_name}}}}."},
]
OUTSIDE_ACTIVITIES = ("worker.", "dispatcher.", "upstream_slots.", "metrics.")
"""Prefixes of the events that workers log outside activities."""
WITHOUT_WORKSPACE = ("housekeeping/", "client/", "callback/")
"""Prefixes of workflows that belong to the whole installation."""


@dataclass
class Day:
    """The secrets of the day, and the places where they may have been recorded."""

    canaries: Canaries
    logs: dict[str, bytes] = field(default_factory=dict)
    temporal: bytes = b""
    collector: Collector | None = None
    run_id: str = ""


@pytest.fixture(scope="module")
def day() -> Iterator[Day]:
    with pytest.MonkeyPatch.context() as patch, collecting() as collector:
        patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        patch.setenv("OTEL_BSP_SCHEDULE_DELAY", "200")
        patch.setenv("LOG_JSON", "true")
        patch.setenv("LOG_LEVEL", "DEBUG")
        with installed("--population", "1000", "--virtual-time") as installation:
            lived = Day(Canaries(), collector=collector)
            live(installation, lived)
            time.sleep(2)  # until the last spans have been sent
            for process in PROCESSES:
                lived.logs[process] = (installation.home / "logs" / f"{process}.log").read_bytes()
            lived.temporal = b"".join(file.read_bytes() for file in sorted(installation.home.glob("temporal.db*")))
            yield lived


def live(installation: Installation, lived: Day) -> None:
    """Do everything that a recruiter does."""
    canaries = lived.canaries
    canaries.keep_operators(installation)
    receiver = Receiver()
    outreach = connected(installation, canaries)
    recruiter = outreach.recruiter
    canaries.keep("API key", recruiter.api_key)
    another = outreach.post("/v1/api-keys", {"name": "Canary key of a colleague", "scopes": ["account:read"]})
    canaries.keep("another API key", another["secret"], another["name"])
    hook = f"{receiver.url}?token=canary-token-of-a-hook"
    endpoint = outreach.post("/v1/webhook-endpoints", {"url": hook})
    canaries.keep_address("webhook address", hook)
    canaries.keep("webhook secret", endpoint["secret"])
    lived.run_id = recruiter.start_run(target=30)
    recruiter.finished(lived.run_id)
    candidates(recruiter.get, lived, spend(outreach))
    conversation(outreach, canaries)
    until(lambda: bool(receiver.received))
    asyncio.run(sign_in(installation, canaries))
    refused(outreach, canaries)
    canaries.keep_mails(installation)
    receiver.shutdown()
    receiver.server_close()


def connected(installation: Installation, canaries: Canaries) -> Outreach:
    """Return a paying workspace with a connected account, and keep its connect link as a canary."""
    opened: list[str] = []
    post = httpx.post

    def watched(url: str, **more: Any) -> httpx.Response:
        opened.append(str(url))
        return post(url, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpx, "post", watched)  # pages that a person opens receive a POST
        outreach = Outreach.begin(installation)
    pages = [address for address in opened if "/v1/" not in address and "/_control/" not in address]
    assert len(pages) == 2, pages  # the checkout, and the connect link
    for address in pages:
        canaries.keep_address("hosted page", address)
    return outreach


def spend(outreach: Outreach) -> Callable[[str, Json], Json]:
    """Return a function whose calls cost credits."""
    return outreach.post


def candidates(get: Callable[..., Json], lived: Day, paid: Callable[[str, Json], Json]) -> None:
    """Keep the names, pages and addresses of candidates, and a title that is searched for."""
    found = get(f"/v1/runs/{lived.run_id}/candidates", params={"limit": 10})["data"]
    assert found
    lived.canaries.keep("candidate", *(one["full_name"] for one in found if len(one["full_name"] or "") > 7))
    lived.canaries.keep("candidate's page", *(one["profile_url"] for one in found))
    ids = [one["profile_id"] for one in found]
    lookup = paid("/v1/people/contacts:fetch", {"profile_ids": ids, "want": ["email"]})["id"]
    until(lambda: get(f"/v1/people/contacts/{lookup}")["status"] == "completed")
    reached = get(f"/v1/people/contacts/{lookup}")["contacts"]
    addresses = [address for one in reached for address in one["values"]]
    assert addresses
    lived.canaries.keep("candidate's address", *addresses)
    lived.canaries.keep("asked title", TITLE)
    paid("/v1/people/search", {"filters": {"titles": {"include": [TITLE]}}, "limit": 2})


def conversation(outreach: Outreach, canaries: Canaries) -> None:
    """Let a conversation run from invite with a note to message, reply and answer."""
    canaries.keep("text", NOTE, MESSAGE, REPLY, ANSWER)
    outreach.order("switches", natural=False)
    (person,) = outreach.strangers(1)
    canaries.keep_address("profile", person["profile_url"])
    outreach.enroll(outreach.sequence("Canary sequence", STEPS), [person])
    outreach.advance("4d")
    outreach.act("accept", person["person_id"])
    outreach.advance("4d")
    outreach.act("reply", person["person_id"], text=REPLY)
    outreach.advance("1m")
    (reply,) = outreach.recruiter.get("/v1/outreach/replies", params={"unread": "true"})["data"]
    outreach.post(f"/v1/outreach/conversations/{reply['conversation_id']}/replies", {"text": ANSWER})
    outreach.advance("2d")
    assert [entry["text"] for entry in outreach.log()] == [f"{NOTE}, Jo.", f"{MESSAGE}, Jo.", ANSWER]


async def sign_in(installation: Installation, canaries: Canaries) -> None:
    """Sign in an agent with the official client by a mailed link, and call a tool."""
    facts = installation.facts
    async with httpx.AsyncClient(base_url=facts["api_url"], trust_env=False, timeout=60) as browser:
        email = await owner(facts, browser)

        async def visit(address: str) -> str:
            form = Form((await browser.get(address)).text)
            assert (await browser.post(form.action, data=form.filled(email=email))).status_code == 200
            consent = Form((await browser.get(await link_to(facts, email, number=2))).text)
            decided = await browser.post(consent.action, data=consent.filled(decision="allow"))
            return str(decided.headers["location"])

        agent = SigningIn(facts["mcp_url"], visit)
        async with (
            httpx2.AsyncClient(auth=agent.provider(), trust_env=False, timeout=60) as http,
            Client(streamable_http_client(agent.address, http_client=http)) as client,
        ):
            assert not (await client.call_tool("get_guide", {})).is_error
    tokens = agent.memory.tokens
    assert tokens is not None
    canaries.keep("token", tokens.access_token, tokens.refresh_token)
    canaries.keep_address("code and state", agent.ended)


def refused(outreach: Outreach, canaries: Canaries) -> None:
    """Send requests that are refused, whose body, query or header must not be quoted either."""
    canaries.keep("refused", "canary.of.a.body@example.com", "canary-of-a-query", "canary-of-a-key")
    call = outreach.recruiter.call
    outside = {"headers": {"Authorization": f"Bearer canary-of-a-key-{uuid4().hex}"}}
    answers = [
        call("POST", "/v1/workspaces", json={"name": 1, "email": "canary.of.a.body@example.com"}),
        call("GET", "/v1/runs", params={"token": "canary-of-a-query"}),
        call("GET", "/v1/runs/canary-of-a-query"),
        call("GET", "/canary-of-a-query"),
        call("GET", "/v1/runs", **outside),
    ]
    assert [answer.status_code for answer in answers] == [400, 400, 404, 404, 401]


def lines(log: bytes) -> list[Json]:
    """Return every line that is an event of the service or of a Python library."""
    return [json.loads(line) for line in log.splitlines() if line.startswith(b"{")]


@pytest.mark.parametrize("process", PROCESSES)
def test_no_log_contains_personal_data_or_a_secret(day: Day, process: str) -> None:
    assert len(lines(day.logs[process])) > 3
    assert day.canaries.found_in(day.logs[process]) == []


def test_temporal_contains_no_personal_data_and_no_secret(day: Day) -> None:
    assert f"run/{day.run_id}".encode() in day.temporal
    assert day.canaries.found_in(day.temporal) == []


def test_no_trace_contains_personal_data_or_a_secret(day: Day) -> None:
    assert day.collector is not None
    assert {"sourcing-and-outreach-api", "sourcing-and-outreach-worker"} == {one.service for one in day.collector.spans}
    assert day.canaries.found_in(b"".join(day.collector.raw)) == []


def test_a_run_is_traced_from_its_request_to_the_calls_of_the_source(day: Day) -> None:
    assert day.collector is not None
    (request,) = day.collector.named("POST /v1/runs")
    names = {one.name for one in day.collector.spans if one.trace_id == request.trace_id}
    assert {"ring run", "run.next", "run.read_page", "people_data_labs /v5/person/search"} <= names


def test_every_line_of_a_request_has_its_id(day: Day) -> None:
    logged = lines(day.logs["api"])
    assert {"request"} <= {one["event"] for one in logged}
    assert [one for one in logged if "request_id" not in one] == []
    known = [one for one in logged if one["event"] == "request" and one["route"] == "/v1/runs"]
    assert all(one["workspace_id"] and one["trace_id"] for one in known if one["status"] != 401)


def registering(line: Json) -> bool:
    """Return whether a line is about the registration of callbacks, which happens outside activities."""
    return str(line.get("operation", "")).startswith("webhooks/") or line["event"] == "unipile.event_unknown"


@pytest.mark.parametrize("process", ["worker", "upstream"])
def test_every_line_of_an_activity_has_its_workflow_its_type_and_its_workspace(day: Day, process: str) -> None:
    logged = [
        one
        for one in lines(day.logs[process])
        if not one["event"].startswith(OUTSIDE_ACTIVITIES) and not registering(one)
    ]
    assert logged
    assert [one for one in logged if not one.get("workflow_id") or not one.get("activity")] == []
    of_workspaces = [one for one in logged if not one["workflow_id"].startswith(WITHOUT_WORKSPACE)]
    assert of_workspaces
    assert [one for one in of_workspaces if not one.get("workspace_id")] == []
