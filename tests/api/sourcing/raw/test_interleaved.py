"""An opt-out or erasure wins, before whatever statement of a call it commits: nothing is shown or charged after it.

Each way of handing a person out is tried with the other transaction before its first statement, its second, and so on.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy.ext.asyncio import AsyncSession

from activities.sourcing.background import ContactSteps, JobSteps
from activities.sourcing.people import PeopleCalls
from models.base.database import Database
from models.people.rules.registers import SuppressionReason
from models.people.store import people, suppressions
from tests.api.conftest import Workspace, run_sql
from tests.api.kernel.traces import traces
from tests.api.sourcing.raw.conftest import charged, spend
from tests.api.sourcing.raw.driving import drive
from tests.api.sourcing.sourcing import fund
from tests.interleaving import interleaving

FETCH = "/v1/people:fetch"
MOST_STATEMENTS = 200
OWN_WORDS = {"idempotency_records.body"}
"""Where a caller's own request is echoed, made after the erasure."""
Flow = Callable[[Workspace, dict[str, Any]], Awaitable[str]]
"""Hands a person out; gives everything that was answered."""


async def erase(session: AsyncSession, workspace: Workspace, profile_id: str) -> None:
    await suppressions.erase_person(session, workspace.id, profile_id)


async def opt_out(session: AsyncSession, workspace: Workspace, profile_id: str) -> None:
    await suppressions.suppress(session, None, profile_id, reason=SuppressionReason.OPT_OUT)


Forbid = Callable[[AsyncSession, Workspace, str], Awaitable[None]]


@pytest.fixture
def flows(app: FastAPI, database: Database, source: PeopleCalls, calls: object) -> dict[str, Flow]:
    jobs = JobSteps(database, app.state.kernel.vault, source)
    contacts = ContactSteps(database, app.state.kernel.vault, source)

    async def search(workspace: Workspace, person: dict[str, Any]) -> str:
        ask = {"filters": {"titles": {"include": [person["title"]]}}, "limit": 5, "view": "compact"}
        return (await spend(workspace, "/v1/people/search", ask)).text

    async def fetch(workspace: Workspace, person: dict[str, Any]) -> str:
        ask = {"profile_ids": [person["id"]], "profile_urls": [person["profile_url"]], "max_age_days": 0}
        return shown((await spend(workspace, FETCH, ask)).json())

    async def cached(workspace: Workspace, person: dict[str, Any]) -> str:
        return shown((await spend(workspace, FETCH, {"profile_ids": [person["id"]]})).json())

    async def match(workspace: Workspace, person: dict[str, Any]) -> str:
        ask = {"full_name": person["full_name"], "company": person["company"], "profile_url": person["profile_url"]}
        return (await spend(workspace, "/v1/people:match", ask)).text

    async def job(workspace: Workspace, person: dict[str, Any]) -> str:
        ask = {"profile_urls": [person["profile_url"]], "max_age_days": 0, "async": True}
        made = (await spend(workspace, FETCH, ask)).json()["id"]
        await drive(jobs.next, jobs.fetch, database, made)
        return shown((await workspace.http.get(f"/v1/jobs/{made}/results")).json())

    async def details(workspace: Workspace, person: dict[str, Any]) -> str:
        ask = {"profile_ids": [person["id"]], "want": ["email", "phone"]}
        made = (await spend(workspace, "/v1/people/contacts:fetch", ask)).json()["id"]
        await drive(contacts.next, contacts.find, database, made)
        rows = (await workspace.http.get(f"/v1/people/contacts/{made}")).json()["contacts"]
        return person["profile_url"] if any(row["values"] for row in rows) else ""

    return {
        "search": search,
        "fetch": fetch,
        "cached": cached,
        "match": match,
        "job": job,
        "contacts": details,
    }


def shown(answer: dict[str, Any]) -> str:
    """What of people is in the rows: an input is the caller's own."""
    return str([row["profile"] for row in answer.get("data", ())])


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("provider")
@pytest.mark.parametrize(
    ("name", "forbid"),
    [
        *((name, erase) for name in ("search", "fetch", "cached", "match", "job", "contacts")),
        *((name, opt_out) for name in ("fetch", "job", "contacts")),
    ],
)
async def test_who_is_forbidden_before_any_statement_is_neither_shown_nor_charged_afterwards(
    workspace: Workspace,
    database: Database,
    flows: dict[str, Flow],
    name: str,
    forbid: Forbid,
) -> None:
    await fund(database, workspace, 20_000)
    found = iter(await all_people(workspace))
    orders: set[bool] = set()
    with interleaving(database) as race:
        for at in range(MOST_STATEMENTS):
            person = next(found)
            if name == "cached":
                await flows["fetch"](workspace, person)
            paid: list[dict[str, int]] = []

            async def forbidding(person: dict[str, Any] = person, paid: list[dict[str, int]] = paid) -> None:
                async def work(session: AsyncSession) -> None:
                    await people.lock_people(session, [person["id"]])
                    await forbid(session, workspace, person["id"])

                await database.run(work)
                paid.append(await charged(database, workspace))

            race.start(at, forbidding)
            answer = await flows[name](workspace, person)
            if not await race.over():
                break
            orders.add(race.first)
            slug = str(person["profile_url"]).rsplit("/", 1)[-1]
            if race.first:
                assert slug not in answer, f"shown after statement {at}"
                assert name == "search" or await charged(database, workspace) == paid[0], f"charged after {at}"
            assert (await workspace.http.get(f"/v1/people/{person['id']}")).status_code == 404
            profile = f'"public_identifier":"{slug}"'
            assert OWN_WORDS.isdisjoint(await traces(database, profile)), f"repeated after statement {at}"
            if forbid is erase:
                kept = set(await traces(database, slug)) - (OWN_WORDS if race.first else set())
                assert kept == set(), f"left after statement {at}"
    assert any(orders), "the other never came first"
    assert await run_sql(database, "select count(*) from suppressions") == [(at,)]


async def all_people(workspace: Workspace) -> list[dict[str, Any]]:
    """People of every kind, each a lead."""
    found: list[dict[str, Any]] = []
    for country in ("US", "GB", "DE", "FR"):
        ask = {"filters": {"countries": [country]}, "limit": 100, "view": "compact"}
        found += (await spend(workspace, "/v1/people/search", ask)).json()["data"]
    return [one for one in found if one["profile_url"] and one["company"] and one["title"]]
