"""Activity: what was done per day, and shares that say of how many."""

from datetime import UTC, timedelta

import pytest

from models.base.database import Database, service_time
from models.base.tenants import Tenant
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.outreach.accounts import action, connected
from tests.api.outreach.inbox import answered
from tests.api.people.people import fetched, slug

PATH = "/v1/outreach/activity"


async def test_figures_are_counted_per_day_and_type_with_rates_and_their_samples(
    workspace: Workspace, database: Database
) -> None:
    tenant = Tenant(workspace.id)
    account_id, other = await connected(database, tenant), await connected(database, tenant)
    now = await database.run(service_time)
    yesterday = (now - timedelta(days=1)).astimezone(UTC)
    first, second, third = [await fetched(database, tenant, slug()) for _ in range(3)]
    for profile_id in (first, second):
        await action(
            database, tenant, account_id, profile_id, at=yesterday, type="invite", outcome="sent", sent_at=yesterday
        )
    await action(
        database, tenant, account_id, first, at=yesterday, type="profile_visit", outcome="sent", sent_at=yesterday
    )
    await action(database, tenant, account_id, third, at=yesterday, type="invite", outcome="failed")
    await answered(database, tenant, account_id, first)
    await run_sql(database, "update network_people set connected_at = :now where profile_id = :id", now=now, id=first)
    found = (await workspace.http.get(PATH, params={"account_id": account_id})).json()
    totals = {"invites": 2, "messages": 1, "profile_visits": 1, "withdrawn_invites": 0, "replies_received": 1}
    assert found["totals"] == totals
    assert found["acceptance"] == {"rate": 0.5, "count": 1, "sample_size": 2}
    assert found["replies"] == {"rate": 0.5, "count": 1, "sample_size": 2}
    of_day = next(day for day in found["days"] if day["date"] == yesterday.date().isoformat())
    assert (of_day["invites"], of_day["profile_visits"]) == (2, 1)
    all_of_it = (await workspace.http.get(PATH)).json()
    assert all_of_it["totals"] == totals
    nothing = (await workspace.http.get(PATH, params={"account_id": other})).json()
    assert (nothing["days"], nothing["acceptance"]) == ([], {"rate": None, "count": 0, "sample_size": 0})
    before = {"since": (yesterday - timedelta(days=2)).isoformat(), "until": yesterday.isoformat()}
    assert (await workspace.http.get(PATH, params=before)).json()["days"] == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"since": "2026-03-02", "until": "2026-03-01"}, "since"),
        ({"since": "2026-03-01", "until": "2026-03-01"}, "since"),
        ({"since": "2024-03-01", "until": "2026-03-01"}, "since"),
        ({"since": "yesterday"}, "since"),
        ({"until": "0001-01-02"}, "until"),
        ({"days": "3"}, "days"),
    ],
)
async def test_a_span_that_is_none_is_refused(workspace: Workspace, query: dict[str, str], field: str) -> None:
    error_of(await workspace.http.get(PATH, params=query), 400, "invalid_request", field)


async def test_an_account_of_another_workspace_is_unknown(workspace: Workspace) -> None:
    error_of(await workspace.http.get(PATH, params={"account_id": "acc_of_nobody"}), 404, "not_found")
