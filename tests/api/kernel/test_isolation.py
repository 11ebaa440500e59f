"""No operation reaches into another tenant: every route and every tool is tried, new ones by themselves.

A victim owns one object of every kind. Each route that names an object is called with the victim's ids by another
workspace, by another customer and by the account around it; each list is read; each body is sent with the victim's
ids in it. No attacker may see, change or cause anything.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from api.kernel import openapi
from api.kernel.operation import OPERATIONS
from api.mcp.tools import TOOLS
from models.access.rules.keys import Scope
from models.base.database import Database
from models.base.tenants import Tenant as Owner
from models.base.tenants import all_tenants
from tests.api.conftest import client, run_sql
from tests.api.events.test_events import told
from tests.api.kernel.bodies import body_schema, minimal
from tests.api.kernel.states import state_of
from tests.api.mcp.conftest import serving
from tests.api.mcp.intrusions import (
    FILTERING,
    HEADERS,
    NAMING,
    NEUTRAL,
    OF_WORKSPACES,
    REFUSED,
    message,
    object_arguments,
    refusal,
    tried_arguments,
)
from tests.api.outreach.accounts import connected
from tests.api.outreach.inbox import answered
from tests.api.people.people import fetched, slug, url

GIVEN = {
    "external_id",
    "company_id",
    "location_ids",
    "company_ids",
    "profile_id",
    "profile_ids",
    "anchor_location_id",
    "location_id",
}
"""Ids of shared reference data without an owner, and names that callers choose."""

OWN_NOTES = {"seen.change"}
"""Operations that name nothing but a person, about whom every tenant has notes of its own."""

CHANGED: dict[str, Any] = {"email_verification": False, "webhook_loopback": True, "unipile_api_key": "of nobody"}
"""Settings under which every operation gets as far as looking for its object."""


@dataclass
class Tenant:
    """A caller in one tenant, and what it owns: the id of an object by the name that paths and bodies give it."""

    workspace_id: str
    http: httpx.AsyncClient
    customer_id: str | None = None
    owned: dict[str, str] = field(default_factory=dict)

    async def call(self, method: str, path: str, body: Any = None) -> httpx.Response:
        headers = {"Idempotency-Key": uuid4().hex}
        if self.customer_id:
            headers["Service-Customer"] = self.customer_id
        return await self.http.request(method, path, json=body, headers=headers)

    async def tool(self, name: str, given: dict[str, Any]) -> httpx.Response:
        """A call of a tool, or whatever else the message says."""
        return await self.message(message("tools/call", name=name, arguments=given))

    async def message(self, asked: dict[str, Any]) -> httpx.Response:
        headers = HEADERS | ({"Service-Customer": self.customer_id} if self.customer_id else {})
        return await self.http.post("/mcp?toolsets=all", json=asked, headers=headers)

    async def state(self, database: Database) -> list[Any]:
        """Everything it owns, as digests."""
        return await state_of(database, self.workspace_id, self.customer_id)

    async def made(self, path: str, body: Any, *within: str) -> str:
        answer = await self.call("POST", path, body)
        assert answer.is_success, answer.text
        found = answer.json()
        for name in within:
            found = found[name]
        return str(found["id"])


@pytest.fixture(scope="module")
async def app(module_database_url: str) -> AsyncIterator[FastAPI]:
    async with serving(module_database_url, **CHANGED) as made:
        yield made


@pytest.fixture(scope="module")
def document(app: FastAPI) -> dict[str, Any]:
    return openapi.openapi_document(app, server="http://api.test")


async def new_workspace(app: FastAPI) -> Tenant:
    async with client(app) as visitor:
        body = {"name": "Acme", "email": f"{uuid4().hex}@example.com"}
        made = (await visitor.post("/v1/workspaces", json=body)).json()
    return Tenant(made["id"], client(app, api_key=made["api_key"]))


async def furnish(app: FastAPI, tenant: Tenant) -> None:
    """One object of every kind that lives in the tenant."""
    intent = {"titles": ["Data Engineer"], "location": {"countries": ["BE"]}}
    tenant.owned["intent_id"] = await tenant.made("/v1/intents", {"intent": intent})
    tenant.owned["plan_id"] = await tenant.made("/v1/search-plans", {"intent_id": tenant.owned["intent_id"]})
    tenant.owned["run_id"] = await tenant.made("/v1/runs", {"plan_id": tenant.owned["plan_id"]}, "run")
    wanted = {"profile_urls": ["https://www.linkedin.com/in/nobody-example"], "async": True}
    tenant.owned["job_id"] = await tenant.made("/v1/people:fetch", wanted)
    details = {"profile_ids": ["prof_" + "0" * 26], "want": ["email"]}
    tenant.owned["lookup_id"] = await tenant.made("/v1/people/contacts:fetch", details)
    database: Database = app.state.kernel.database.within(all_tenants("tests"))
    profile_id = await fetched(database, Owner(tenant.workspace_id, tenant.customer_id), slug())
    tenant.owned["profile_id"] = profile_id
    tenant.owned["list_id"] = await tenant.made("/v1/lists", {"name": "Mine"})
    added = await tenant.call("POST", f"/v1/lists/{tenant.owned['list_id']}/people", {"profile_ids": [profile_id]})
    tenant.owned["note"] = uuid4().hex
    noted = await tenant.call("PATCH", f"/v1/seen/{profile_id}", {"note": tenant.owned["note"]})
    assert added.is_success, added.text
    assert noted.is_success, noted.text
    await run_sql(
        database,
        "update jobs set status = 'failed', failure_code = 'upstream_busy', finished_at = now() where id = :j",
        j=tenant.owned["job_id"],
    )
    await furnish_outreach(database, tenant)
    tenant.owned["event_id"] = await told(database, tenant.workspace_id, tenant.customer_id)


async def furnish_outreach(database: Database, tenant: Tenant) -> None:
    """An account with a sequence and an enrolled person."""
    account_id = await connected(database, Owner(tenant.workspace_id, tenant.customer_id))
    tenant.owned["account_id"] = account_id
    steps = [{"type": "invite", "note": "Hi {{first_name}}"}]
    made = {"account_id": account_id, "name": "Mine", "steps": steps}
    tenant.owned["sequence_id"] = await tenant.made("/v1/outreach/sequences", made)
    asked = {"sequence_id": tenant.owned["sequence_id"], "profile_ids": [tenant.owned["profile_id"]]}
    answer = await tenant.call("POST", "/v1/outreach/enrollments", asked)
    (enrollment,) = answer.json()["enrollments"]
    tenant.owned["enrollment_id"] = enrollment["id"]
    (action,) = (await tenant.call("GET", f"/v1/outreach/actions?enrollment_id={enrollment['id']}")).json()["data"]
    tenant.owned["action_id"] = action["id"]
    owner = Owner(tenant.workspace_id, tenant.customer_id)
    conversation_id = await answered(database, owner, account_id, tenant.owned["profile_id"], tenant.owned["note"])
    tenant.owned["conversation_id"] = conversation_id


@pytest.fixture(scope="module")
async def account(app: FastAPI) -> Tenant:
    """A workspace with objects of its own, and those that belong to accounts."""
    tenant = await new_workspace(app)
    tenant.owned["endpoint_id"] = await tenant.made("/v1/webhook-endpoints", {"url": "http://127.0.0.1:9/"})
    await furnish(app, tenant)
    log = (await tenant.call("GET", f"/v1/webhook-endpoints/{tenant.owned['endpoint_id']}/deliveries")).json()
    tenant.owned["delivery_id"] = log["data"][0]["id"]
    tenant.owned["suppression_id"] = await tenant.made("/v1/suppressions", {"profile_url": url(slug())})
    tenant.owned["erasure_id"] = await tenant.made("/v1/erasures", {"profile_url": url(slug())})
    tenant.owned["customer_id"] = await tenant.made("/v1/customers", {"name": "One"})
    tenant.owned["key_id"] = await tenant.made("/v1/api-keys", {"name": "Other", "scopes": sorted(Scope)})
    return tenant


@pytest.fixture(scope="module")
async def customer(app: FastAPI, account: Tenant) -> Tenant:
    """A customer of that workspace, with objects of its own."""
    inside = Tenant(account.workspace_id, account.http, account.owned["customer_id"])
    await furnish(app, inside)
    return inside


@pytest.fixture(scope="module")
async def stranger(app: FastAPI) -> Tenant:
    return await new_workspace(app)


@pytest.fixture(scope="module")
async def sibling(account: Tenant) -> Tenant:
    """Another customer of the same workspace."""
    return Tenant(account.workspace_id, account.http, await account.made("/v1/customers", {"name": "Two"}))


@pytest.fixture(
    params=["stranger-account", "stranger-customer", "account-customer", "sibling-customer", "sibling-account"]
)
def pair(request: pytest.FixtureRequest) -> tuple[Tenant, Tenant]:
    """Who tries, and whose objects."""
    intruder, victim = request.param.split("-")
    return request.getfixturevalue(intruder), request.getfixturevalue(victim)


def routes(app: FastAPI) -> list[APIRoute]:
    return [
        route
        for route in app.router.routes
        if isinstance(route, APIRoute) and OPERATIONS[route.operation_id or ""].scope is not None
    ]


def concerns(route: APIRoute, intruder: Tenant, victim: Tenant) -> bool:
    """Account routes know workspaces alone, and events of customers are shown to their account."""
    operation = OPERATIONS[route.operation_id or ""]
    if intruder.workspace_id != victim.workspace_id:
        return True
    return operation.for_customers and not (intruder.customer_id is None and operation.name.startswith("events."))


def calls(document: dict[str, Any], route: APIRoute, victim: Tenant) -> list[tuple[str, str, Any]]:
    """Method, path with the victim's ids, and a body that the victim itself could send."""
    path = route.path_format
    for name in route.param_convertors:
        assert name in victim.owned or victim.customer_id, f"the victim owns nothing to put in {route.path}"
        path = path.replace(f"{{{name}}}", victim.owned.get(name, "none"))
    schemas = document["components"]["schemas"]
    made = []
    for method in route.methods or ():
        schema = body_schema(document, route.path_format, method)
        made.append((method, path, minimal(schemas, schema) if schema else None))
    return made


async def test_no_route_reaches_an_object_of_another_tenant(
    app: FastAPI, document: dict[str, Any], database: Database, pair: tuple[Tenant, Tenant]
) -> None:
    intruder, victim = pair
    before = await victim.state(database)
    tried = 0
    for route in routes(app):
        if not route.param_convertors or not concerns(route, intruder, victim):
            continue
        for method, path, body in calls(document, route, victim):
            answer = await intruder.call(method, path, body)
            refused = answer.status_code in (403, 404) or route.operation_id in OWN_NOTES
            assert refused, f"{method} {path}: {answer.status_code} {answer.text}"
            assert victim.owned["note"] not in answer.text
            tried += 1
    assert tried >= 5
    assert await victim.state(database) == before


async def test_no_list_shows_an_object_of_another_tenant(app: FastAPI, pair: tuple[Tenant, Tenant]) -> None:
    intruder, victim = pair
    for route in routes(app):
        if route.param_convertors or "GET" not in (route.methods or ()) or not concerns(route, intruder, victim):
            continue
        answer = await intruder.call("GET", route.path)
        for name, owned in victim.owned.items():
            assert name in GIVEN or owned not in answer.text, f"{route.path} shows {name}"


async def test_no_body_reaches_an_object_of_another_tenant(
    app: FastAPI, document: dict[str, Any], database: Database, pair: tuple[Tenant, Tenant]
) -> None:
    intruder, victim = pair
    schemas = document["components"]["schemas"]
    before = await victim.state(database)
    tried = set()
    for route in routes(app):
        if route.param_convertors or not concerns(route, intruder, victim):
            continue
        for method in route.methods or ():
            schema = body_schema(document, route.path, method)
            if schema is None:
                continue
            properties = schemas[schema["$ref"].rpartition("/")[2]]["properties"]
            for name in properties:
                if not name.endswith(("_id", "_ids")) or name in GIVEN:
                    continue
                assert name in victim.owned or victim.customer_id, f"the victim owns nothing to put in {name}"
                if name not in victim.owned:
                    continue
                body = minimal(schemas, schema) | {name: victim.owned[name]}
                answer = await intruder.call(method, route.path, body)
                assert answer.is_client_error, f"{method} {route.path} {name}: {answer.status_code} {answer.text}"
                tried.add(name)
    assert {"intent_id", "plan_id"} <= tried
    assert await victim.state(database) == before


async def test_the_owner_reaches_all_of_it(app: FastAPI, account: Tenant, customer: Tenant) -> None:
    """Else the tests above would pass for a service that finds nothing at all."""
    for route in routes(app):
        if not route.param_convertors or route.methods != {"GET"}:
            continue
        owners = [account, customer] if OPERATIONS[route.operation_id or ""].for_customers else [account]
        for owner in owners:
            path = route.path_format
            for name in route.param_convertors:
                path = path.replace(f"{{{name}}}", owner.owned[name])
            assert (await owner.call("GET", path)).status_code == 200, path


@pytest.fixture(scope="module")
async def bound(app: FastAPI, account: Tenant, customer: Tenant) -> Tenant:
    """A key with every scope that is bound to the customer."""
    body = {"name": "Bound", "scopes": sorted(Scope), "customer_id": customer.customer_id}
    made = await account.call("POST", "/v1/api-keys", body)
    return Tenant(account.workspace_id, client(app, api_key=made.json()["secret"]))


async def test_a_key_bound_to_a_customer_uses_no_account_route(
    app: FastAPI, document: dict[str, Any], database: Database, account: Tenant, bound: Tenant
) -> None:
    before = await account.state(database)
    tried = 0
    for route in routes(app):
        if OPERATIONS[route.operation_id or ""].for_customers:
            continue
        for method, path, body in calls(document, route, account):
            answer = await bound.call(method, path, body)
            assert answer.status_code == 403, f"{method} {path}: {answer.status_code} {answer.text}"
            assert answer.json()["error"]["code"] == "forbidden"
            tried += 1
    assert tried >= 20
    assert await account.state(database) == before


async def test_a_key_without_a_scope_does_nothing_that_needs_it(
    app: FastAPI, document: dict[str, Any], database: Database, account: Tenant
) -> None:
    """Each operation with every scope but its own; a preview needs the family's read scope alone."""
    keys = {}
    for missing in Scope:
        body = {"name": "Less", "scopes": sorted(set(Scope) - {missing})}
        keys[missing] = client(app, api_key=(await account.call("POST", "/v1/api-keys", body)).json()["secret"])
    before = await account.state(database)
    for route in routes(app):
        operation = OPERATIONS[route.operation_id or ""]
        assert operation.scope is not None
        for method, path, body in calls(document, route, account):
            intruder = Tenant(account.workspace_id, keys[operation.scope])
            answer = await intruder.call(method, path, body)
            assert answer.status_code == 403, f"{method} {path}: {answer.status_code} {answer.text}"
    assert await account.state(database) == before


def test_every_operation_of_the_description_is_tried(app: FastAPI, document: dict[str, Any]) -> None:
    described = {
        (method.upper(), path)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if operation["security"]
    }
    assert described == {(method, route.path_format) for route in routes(app) for method in route.methods or ()}


def reaches(name: str, intruder: Tenant, victim: Tenant) -> bool:
    """As `concerns`, for the operation of a tool."""
    operation = TOOLS[name].operation
    if operation is None or intruder.workspace_id != victim.workspace_id:
        return True
    if name in OF_WORKSPACES:
        return False
    return operation.for_customers and not (intruder.customer_id is None and operation.name.startswith("events."))


def test_every_tool_is_tried_with_every_argument_that_names_an_object() -> None:
    assert NAMING.keys() | FILTERING.keys() | NEUTRAL.keys() == TOOLS.keys()
    for name in TOOLS:
        assert tried_arguments(name) == object_arguments(name), name


async def test_no_tool_reaches_an_object_of_another_tenant(database: Database, pair: tuple[Tenant, Tenant]) -> None:
    intruder, victim = pair
    before = [await one.state(database) for one in pair]
    for name, calls_of in NAMING.items():
        for given in calls_of(victim.owned):
            answer = await intruder.tool(name, given)
            assert refusal(answer) in REFUSED, f"{name} {given}: {answer.text}"
            assert victim.owned["note"] not in answer.text
    for kind, name in (("runs", "run_id"), ("lists", "list_id")):
        answer = await intruder.message(message("resources/read", uri=f"recruitmcp://{kind}/{victim.owned[name]}"))
        assert refusal(answer) in REFUSED, answer.text
    assert [await one.state(database) for one in pair] == before


async def test_no_tool_shows_an_object_of_another_tenant(database: Database, pair: tuple[Tenant, Tenant]) -> None:
    intruder, victim = pair
    before = await victim.state(database)
    asked = [(name, given) for kind in (FILTERING, NEUTRAL) for name in kind for given in kind[name](victim.owned)]
    for name, given in asked:
        if not reaches(name, intruder, victim):
            continue
        answer = await intruder.tool(name, given)
        for each, owned in victim.owned.items():
            assert each in GIVEN or owned in given.values() or owned not in answer.text, f"{name} shows {each}"
    assert await victim.state(database) == before


async def test_a_key_bound_to_a_customer_uses_no_account_tool(
    database: Database, account: Tenant, bound: Tenant
) -> None:
    before = await account.state(database)
    tried = 0
    for name, tool in TOOLS.items():
        if tool.operation is None or tool.operation.for_customers:
            continue
        samples = next(kind[name] for kind in (NAMING, NEUTRAL) if name in kind)
        for given in samples(account.owned):
            assert refusal(await bound.tool(name, given)) == "forbidden", name
            tried += 1
    assert tried >= 3
    assert await account.state(database) == before


async def test_the_owner_reaches_it_by_tools_too(account: Tenant, customer: Tenant) -> None:
    for owner in (account, customer):
        for name in ("get_search_results", "get_people_job", "find_contact_details", "get_list", "get_outreach_limits"):
            (given,) = NAMING[name](owner.owned)
            answer = await owner.tool(name, given)
            assert refusal(answer) is None, answer.text
        answer = await owner.message(message("resources/read", uri=f"recruitmcp://runs/{owner.owned['run_id']}"))
        assert owner.owned["run_id"] in answer.text
