"""Outreach settings: a window that may be narrowed but not emptied, caps that only go down."""

from typing import Any

import pytest

from models.base.database import Database
from tests.api.conftest import Workspace, error_of, run_sql

PATH = "/v1/outreach/settings"
DEFAULTS = {
    "time_zone": "Europe/Brussels",
    "start_hour": 8,
    "end_hour": 19,
    "days": [1, 2, 3, 4, 5],
    "invites_per_day": None,
    "invites_per_week": None,
    "invites_without_note_per_week": None,
    "profile_views_per_day": None,
    "new_outreach_per_day": None,
}


async def read(workspace: Workspace) -> dict[str, Any]:
    found: dict[str, Any] = (await workspace.http.get(PATH)).json()
    return {name: found[name] for name in DEFAULTS}


async def test_the_defaults_hold_until_something_is_set(workspace: Workspace) -> None:
    assert await read(workspace) == DEFAULTS


async def test_what_is_given_changes_and_the_rest_stays(workspace: Workspace) -> None:
    body = {"time_zone": "America/Los_Angeles", "days": [5, 1], "invites_per_day": 7}
    changed = await workspace.http.patch(PATH, json=body)
    assert changed.status_code == 200, changed.text
    assert await read(workspace) == DEFAULTS | body | {"days": [1, 5]}
    await workspace.http.patch(PATH, json={"start_hour": 9, "end_hour": 11})
    assert await read(workspace) == DEFAULTS | body | {"days": [1, 5], "start_hour": 9, "end_hour": 11}


async def test_null_takes_a_cap_away_and_zero_means_stop(workspace: Workspace) -> None:
    await workspace.http.patch(PATH, json={"invites_per_day": 0, "profile_views_per_day": 3})
    assert (await read(workspace))["invites_per_day"] == 0
    await workspace.http.patch(PATH, json={"invites_per_day": None})
    assert await read(workspace) == DEFAULTS | {"profile_views_per_day": 3}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"time_zone": "Brussels"}, "time_zone"),
        ({"time_zone": None}, "time_zone"),
        ({"start_hour": 7}, "start_hour"),
        ({"start_hour": 18}, "end_hour"),
        ({"end_hour": 20}, "end_hour"),
        ({"end_hour": 9}, "end_hour"),
        ({"days": []}, "days"),
        ({"days": [6]}, "days"),
        ({"days": [1, 1]}, "days"),
        ({"start_hour": 8.5}, "start_hour"),
        ({"invites_per_day": 21}, "invites_per_day"),
        ({"invites_per_day": -1}, "invites_per_day"),
        ({"invites_per_week": 101, "risk_acknowledged": True}, "invites_per_week"),
        ({"invites_without_note_per_week": 76}, "invites_without_note_per_week"),
        ({"profile_views_per_day": 101}, "profile_views_per_day"),
        ({"new_outreach_per_day": 26, "risk_acknowledged": True}, "new_outreach_per_day"),
        ({"new_outreach_per_day": "3"}, "new_outreach_per_day"),
        ({"invites": 3}, "invites"),
    ],
)
async def test_anything_else_is_refused_and_changes_nothing(
    workspace: Workspace, body: dict[str, Any], field: str
) -> None:
    good = {"time_zone": "Pacific/Auckland", "profile_views_per_day": 1}
    error_of(await workspace.http.patch(PATH, json=good | body), 400, "invalid_request", field)
    assert await read(workspace) == DEFAULTS


async def test_a_customer_has_settings_of_its_own(workspace: Workspace) -> None:
    customer = (await workspace.http.post("/v1/customers", json={"name": "One"})).json()["id"]
    inside = {"Service-Customer": customer}
    await workspace.http.patch(PATH, json={"time_zone": "Pacific/Auckland"}, headers=inside)
    assert (await read(workspace))["time_zone"] == "Europe/Brussels"
    assert (await workspace.http.get(PATH, headers=inside)).json()["time_zone"] == "Pacific/Auckland"


async def test_a_change_is_in_the_audit_and_a_repetition_is_not(workspace: Workspace, database: Database) -> None:
    for _ in range(2):
        await workspace.http.patch(PATH, json={"end_hour": 12})
    noted = "select count(*) from audit_entries where workspace_id = :id and action = 'outreach.settings.changed'"
    assert (await run_sql(database, noted, id=workspace.id))[0][0] == 1
