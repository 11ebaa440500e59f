"""Shared parts of the tests of sourcing: counts of rows, credits, and runs with candidates."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx

from models.base.database import Database, service_time
from models.base.ids import new_id
from models.base.secrets import Vault
from models.billing.store import credits
from models.people.rules.profiles import CurrentJob, Profile, ProfileLocation
from models.people.store import people
from models.people.store.people import Sighting
from models.sourcing.tables import Candidate, Run
from tests.api.conftest import SECRET_KEY, Workspace, run_sql

DATA_ENGINEER = {"titles": ["Data Engineer"], "location": {"countries": ["BE"]}}
ADVERTISEMENT = """Data Engineer (m/f/x)

Our team builds data pipelines in Ghent. You have at least 3 years of experience with Python and speak Dutch."""
WRITTEN = """select (select count(*) from intents), (select count(*) from search_plans), (select count(*) from runs),
                    (select count(*) from ledger_entries), (select count(*) from idempotency_records)"""


async def written(database: Database) -> tuple[int, ...]:
    """Return the numbers of rows in the tables that a call could have written."""
    (row,) = await run_sql(database, WRITTEN)
    return tuple(row)


async def fund(database: Database, workspace: Workspace, amount: int = 1250) -> None:
    """Give a workspace credits."""
    async with database.transaction() as session:
        await credits.grant_credits(
            session,
            workspace_id=workspace.id,
            source="adjustment",
            reference=uuid4().hex,
            credits=amount,
            expires_at=await service_time(session) + timedelta(days=1),
        )


async def start(http: httpx.AsyncClient, **body: Any) -> httpx.Response:
    """Start a run with a new Idempotency-Key."""
    ask = {"intent": DATA_ENGINEER} | body
    return await http.post("/v1/runs", json=ask, headers={"Idempotency-Key": uuid4().hex})


def profile(number: int, **changed: Any) -> Profile:
    """Return an invented profile."""
    return Profile.model_validate(
        {
            "id": "",
            "full_name": f"Person {number}",
            "profile_url": f"https://www.linkedin.com/in/person-{number}",
            "location": ProfileLocation(label="Ghent, Flanders, Belgium"),
            "current": CurrentJob(title="Data Engineer", company="Acme"),
            "skills": ("python",),
            "experience_years": number,
            "tenure_months": 10 * number,
            "source": "people_data_labs",
        }
        | changed
    )


async def deliver(database: Database, run: dict[str, Any], profiles: Sequence[Profile], **facts: Any) -> list[str]:
    """Write candidates of a run as its workflow would, and return their profile ids."""
    ids = []
    async with database.transaction() as session:
        now = await service_time(session)
        owner = await session.get_one(Run, run["id"])
        for position, one in enumerate(profiles):
            sighting = Sighting("people_data_labs", uuid4().hex, None)
            found = await people.identify(session, Vault(SECRET_KEY), [sighting], workspace_id=None)
            (profile_id,) = found.values()
            session.add(
                Candidate(
                    id=new_id("cand", now),
                    workspace_id=owner.workspace_id,
                    tenant_id=owner.tenant_id,
                    run_id=run["id"],
                    profile_id=profile_id,
                    position=position,
                    **{
                        "tier": 1,
                        "distance_km": None if one.experience_years is None else float(one.experience_years),
                        "experience_years": one.experience_years,
                        "tenure_months": one.tenure_months,
                        "charged_credits": 3,
                        "created_at": now,
                    }
                    | facts,
                    content=one.model_copy(update={"id": profile_id}).model_dump(mode="json"),
                )
            )
            ids.append(profile_id)
    return ids
