"""Erasure: nothing that names or describes the person is left in any table, and they stay refused."""

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI

from api.kernel.operation import Context, Effect, Noun, operation
from api.kernel.routing import OperationRoute
from api.kernel.schemas import Answer, Ask
from models import erase
from models.access.rules.keys import Scope
from models.base.database import Database, service_time
from models.base.errors import NotFound
from models.base.ids import new_id
from models.base.tables import JSON, Row
from models.base.tenants import Tenant
from models.people.store import people, suppressions
from models.sourcing.tables import Candidate, Run
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.kernel.traces import OPAQUE, SEALED, binary_columns, traces
from tests.api.people.people import VAULT, fetched, meet, profile, slug, url
from tests.api.people.test_suppressions import UNKNOWN, spellings
from tests.api.sourcing.sourcing import fund


class Tell(Ask):
    profile_id: str
    text: str


class Told(Answer):
    profile_id: str
    text: str


@operation("tests.tell", scope=Scope.SOURCING_SPEND, effect=Effect.SPEND)
async def tell(ctx: Context, ask: Tell) -> Told:
    """Answer about a person, so that the answer is stored for repeated calls."""
    return Told(profile_id=ask.profile_id, text=ask.text)


@pytest.fixture(scope="module", autouse=True)
def served(app: FastAPI) -> None:
    app.router.routes.append(OperationRoute(tell, Noun("Tests", "").post("/tests/tell")))
    app.state.paths.learn(app.router.routes)


async def delivered(database: Database, run: dict[str, Any], name: str, profile_id: str) -> None:
    async with database.transaction() as session:
        owner = await session.get_one(Run, run["id"])
        now = await service_time(session)
        session.add(
            Candidate(
                id=new_id("cand", now),
                workspace_id=owner.workspace_id,
                tenant_id=owner.tenant_id,
                run_id=owner.id,
                profile_id=profile_id,
                position=0,
                tier=1,
                charged_credits=3,
                content=profile(name, profile_id).model_dump(mode="json"),
                created_at=now,
            )
        )


async def known_everywhere(
    database: Database, workspace: Workspace, name: str, headers: dict[str, str]
) -> tuple[str, httpx.Response]:
    """Have a tenant know a person in every way there is; gives the profile id and an answer about them."""
    customer = headers.get("Service-Customer")
    profile_id = await fetched(database, Tenant(workspace.id, customer), name)
    http = workspace.http
    once = headers | {"Idempotency-Key": uuid4().hex}
    intent = {"titles": ["Data Engineer"], "location": {"countries": ["BE"]}}
    run = (await http.post("/v1/runs", json={"intent": intent}, headers=once)).json()["run"]
    await delivered(database, run, name, profile_id)
    made = (await http.post("/v1/lists", json={"name": "Mine"}, headers=headers)).json()
    body = {"profile_ids": [profile_id], "note": f"Note on {name}"}
    assert (await http.post(f"/v1/lists/{made['id']}/people", json=body, headers=headers)).is_success
    seen = {"people": [{"profile_url": url(name), "note": f"Note on {name}"}]}
    assert (await http.post("/v1/seen:import", json=seen, headers=headers)).is_success
    tell_of = {"profile_id": profile_id, "text": f"Full {name}"}
    told = await http.post("/v1/tests/tell", json=tell_of, headers=once | {"Idempotency-Key": f"tell-{customer}"})
    assert told.is_success, told.text
    return profile_id, told


async def customer_of(workspace: Workspace) -> dict[str, str]:
    made = await workspace.http.post("/v1/customers", json={"name": "One"})
    return {"Service-Customer": made.json()["id"]}


@pytest.mark.parametrize("way", ["profile_id", "profile_url"])
async def test_no_table_names_or_describes_an_erased_person(workspace: Workspace, database: Database, way: str) -> None:
    await fund(database, workspace)
    name, bystander = slug(), slug()
    inside = await customer_of(workspace)
    await fetched(database, Tenant(workspace.id), bystander)
    for headers in ({}, inside):
        profile_id, _ = await known_everywhere(database, workspace, name, headers)
    assert {"cached_profiles", "candidates", "list_people", "person_keys", "seen_entries"} <= set(
        await traces(database, name)
    )
    ask = {"profile_id": profile_id} if way == "profile_id" else {"profile_url": spellings(name)[6]}
    answer = await workspace.http.post("/v1/erasures", json=ask)
    assert answer.status_code == 202, answer.text
    erased = answer.json()
    assert (erased["object"], erased["status"], erased["profile_id"]) == ("erasure", "completed", profile_id)
    assert answer.headers["location"] == f"/v1/erasures/{erased['id']}"
    assert (await workspace.http.get(answer.headers["location"])).json() == erased
    assert await traces(database, name) == []
    assert await traces(database, bystander) == ["cached_profiles", "person_keys"]
    assert await run_sql(database, "select * from profile_copies where profile_id = :id", id=profile_id) == []


async def test_an_answer_about_an_erased_person_is_not_repeated_and_nothing_is_done_again(
    workspace: Workspace, database: Database
) -> None:
    await fund(database, workspace)
    name = slug()
    profile_id, told = await known_everywhere(database, workspace, name, {})
    headers = {"Idempotency-Key": "tell-None"}
    body = {"profile_id": profile_id, "text": f"Full {name}"}
    again = await workspace.http.post("/v1/tests/tell", json=body, headers=headers)
    assert (again.text, again.headers["idempotent-replayed"]) == (told.text, "true")
    await workspace.http.post("/v1/erasures", json={"profile_id": profile_id})
    error_of(await workspace.http.post("/v1/tests/tell", json=body, headers=headers), 409, "conflict")


async def test_an_erased_person_stays_refused_and_unnamed(workspace: Workspace, database: Database) -> None:
    name = slug()
    (profile_id,) = await meet(database, name, workspace_id=workspace.id)
    await workspace.http.post("/v1/erasures", json={"profile_url": url(name)})
    made = (await workspace.http.post("/v1/lists", json={"name": "Mine"})).json()
    added = await workspace.http.post(f"/v1/lists/{made['id']}/people", json={"profile_urls": [url(name)]})
    assert added.json()["omitted"]["suppressed"] == 1
    seen = await workspace.http.post("/v1/seen:import", json={"people": [{"profile_url": url(name), "note": "x"}]})
    assert seen.json()["omitted"]["suppressed"] == 1
    assert await meet(database, name, workspace_id=workspace.id) == [profile_id]
    (row,) = (await workspace.http.post("/v1/seen:check", json={"profile_urls": [url(name)]})).json()["data"]
    assert row["suppressed"] is True
    error_of(await workspace.http.get(f"/v1/people/{profile_id}"), 404, "suppressed")
    assert await traces(database, name) == []
    (kept,) = (await workspace.http.get("/v1/suppressions")).json()["data"]
    error_of(await workspace.http.delete(f"/v1/suppressions/{kept['id']}"), 409, "conflict")


async def test_what_another_account_has_of_the_person_stays_with_it(
    workspace: Workspace, database: Database, sign_up: Any
) -> None:
    name = slug()
    other = await sign_up()
    profile_id = await fetched(database, Tenant(workspace.id), name)
    await fetched(database, Tenant(other.id), name)
    await workspace.http.post("/v1/erasures", json={"profile_id": profile_id})
    error_of(await workspace.http.get(f"/v1/people/{profile_id}"), 404, "suppressed")
    assert (await other.http.get(f"/v1/people/{profile_id}")).json()["full_name"] == f"Full {name}"
    copies = await run_sql(database, "select workspace_id from profile_copies where profile_id = :id", id=profile_id)
    assert [row.workspace_id for row in copies] == [other.id]
    await other.http.post("/v1/erasures", json={"profile_id": profile_id})
    assert await traces(database, name) == []


async def test_an_account_that_meets_the_person_later_may_know_the_name(
    workspace: Workspace, database: Database, sign_up: Any
) -> None:
    name = slug()
    (profile_id,) = await meet(database, name, workspace_id=workspace.id)
    await workspace.http.post("/v1/erasures", json={"profile_id": profile_id})
    other = await sign_up()
    assert await meet(database, name, workspace_id=other.id) == [profile_id]
    async with database.transaction() as session:
        assert await people.source_ids(session, "people_data_labs", [profile_id]) == {profile_id: (f"pdl-{name}",)}


async def test_an_unknown_address_is_refused_from_now_on(workspace: Workspace, database: Database) -> None:
    address = f"{slug()}@example.com"
    erased = (await workspace.http.post("/v1/erasures", json={"email": address})).json()
    again = (await workspace.http.post("/v1/erasures", json={"email": address.upper()})).json()
    assert erased["profile_id"] == again["profile_id"]
    assert await traces(database, address) == []
    keys = await run_sql(database, "select * from person_keys where profile_id = :id", id=erased["profile_id"])
    assert [(row.kind, row.value) for row in keys] == [("email", None)]


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({}, 400, "profile_id"),
        ({"profile_id": UNKNOWN, "email": "ada@example.com"}, 400, "email"),
        ({"profile_id": UNKNOWN, "profile_url": url("ada")}, 400, "profile_url"),
        ({"profile_id": UNKNOWN}, 404, "profile_id"),
        ({"profile_url": "https://example.com/in/ada"}, 400, "profile_url"),
        ({"email": "nobody"}, 400, "email"),
        ({"name": "Ada"}, 400, "name"),
    ],
)
async def test_a_bad_request_is_named_and_erases_no_person(
    workspace: Workspace, database: Database, body: dict[str, Any], status: int, field: str
) -> None:
    before = await run_sql(database, "select count(*) from erasures")
    code = "not_found" if status == 404 else "invalid_request"
    error_of(await workspace.http.post("/v1/erasures", json=body), status, code, field)
    assert await run_sql(database, "select count(*) from erasures") == before


async def test_a_customers_key_may_not_erase(workspace: Workspace, key_of: Any) -> None:
    inside = await customer_of(workspace)
    http = await key_of(workspace, scopes=["sourcing:write"], customer_id=inside["Service-Customer"])
    error_of(await http.post("/v1/erasures", json={"profile_url": url(slug())}), 403, "forbidden")
    await http.aclose()


@pytest.mark.parametrize("by", ["profile_id", "profile_url"])
async def test_an_operator_erases_from_the_whole_installation(
    workspace: Workspace, database: Database, sign_up: Any, by: str
) -> None:
    name = slug()
    other = await sign_up()
    profile_id = await fetched(database, Tenant(workspace.id), name)
    await fetched(database, Tenant(other.id), name)
    await erase.erase(database, VAULT, by=by, value=profile_id if by == "profile_id" else url(name))
    assert await traces(database, name) == []
    await meet(database, name, workspace_id=other.id)
    assert await traces(database, name) == []
    for one in (workspace, other):
        error_of(await one.http.get(f"/v1/people/{profile_id}"), 404, "suppressed")
    with pytest.raises(NotFound):
        await erase.erase(database, VAULT, by="profile_id", value=UNKNOWN)


BARE_IDS = {"leads", "suppressions", "person_keys", "cached_profiles", "erasures", "job_inputs"}
"""Tables with a `profile_id` whose rows stay, or go by a statement of their own."""


def columns(kind: type) -> Sequence[tuple[str, str]]:
    return sorted(
        (table.name, column.name)
        for table in Row.metadata.tables.values()
        for column in table.columns
        if isinstance(column.type, kind)
    )


def test_every_table_about_a_person_is_erased() -> None:
    about = {table.name for table in Row.metadata.tables.values() if "profile_id" in table.columns}
    assert about - BARE_IDS == set(suppressions.PERSONAL) | set(suppressions.CLEARED)


def test_every_json_column_contains_no_personal_data_or_is_erased() -> None:
    describing = {("candidates", "content"), ("cached_profiles", "content"), ("enrollments", "given")}
    harmless = {
        ("actions", "readings"),
        ("actions", "why"),
        ("audit_entries", "data"),
        ("companies", "details"),
        ("deliveries", "attempts"),
        ("events", "data"),
        ("idempotency_records", "headers"),
        ("intents", "content"),
        ("intents", "reading"),
        ("outreach_accounts", "caps"),
        ("outreach_accounts", "holds"),
        ("outreach_settings", "caps"),
        ("runs", "suggestions"),
        ("search_plans", "content"),
        ("upstream_calls", "failure"),
        ("sequences", "steps"),
        ("workspaces", "attribution"),
    }
    assert set(columns(type(JSON))) == describing | harmless


def test_every_binary_column_is_known_to_be_opaque_or_is_opened_to_look_for_traces() -> None:
    assert binary_columns() == OPAQUE | SEALED.keys()
