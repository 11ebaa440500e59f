"""Limits of an account: what it may do today, what may be changed, and what a raise leaves behind."""

from datetime import timedelta
from typing import Any

import pytest

from models.base.database import Database, service_time
from models.base.tenants import Tenant
from models.outreach.rules.caps import CAPS, day_start, monday, utc_day
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.outreach.accounts import account_row, action, connected
from tests.api.people.people import fetched, slug

CAP_FIELDS = {
    "cap",
    "default",
    "ceiling",
    "configured",
    "workspace",
    "warmup_factor",
    "jitter_factor",
    "effective",
    "used",
    "reserved",
    "remaining",
    "resets_at",
}


async def limits(workspace: Workspace, account_id: str) -> dict[str, Any]:
    answer = await workspace.http.get(f"/v1/outreach/accounts/{account_id}/limits")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def change(workspace: Workspace, account_id: str, **body: Any) -> Any:
    return await workspace.http.patch(f"/v1/outreach/accounts/{account_id}/limits", json=body)


@pytest.fixture
async def account_id(workspace: Workspace, database: Database) -> str:
    return await connected(database, Tenant(workspace.id))


async def test_every_number_of_a_fresh_account_is_there(workspace: Workspace, account_id: str) -> None:
    found = await limits(workspace, account_id)
    assert [cap["cap"] for cap in found["caps"]] == [cap.value for cap in CAPS]
    for shown, (cap, rule) in zip(found["caps"], CAPS.items(), strict=True):
        assert set(shown) == CAP_FIELDS
        assert (shown["default"], shown["ceiling"]) == (rule.default, rule.ceiling)
        assert (shown["configured"], shown["workspace"], shown["used"], shown["reserved"]) == (None, None, 0, 0)
        assert shown["warmup_factor"] == 1
        assert shown["jitter_factor"] == 1 if cap == "new_outreach_per_day" else 0.85 <= shown["jitter_factor"] <= 1
        assert shown["remaining"] == shown["effective"] == max(1, int(rule.default * shown["jitter_factor"]))
    assert found["warmup_pending"] is True
    assert found["caps_after_warmup_start"]["new_outreach_per_day"] == 10
    assert found["risk_warning"] is None
    assert found["next_available_at"] is not None


async def test_what_is_done_and_booked_takes_its_place(
    workspace: Workspace, database: Database, account_id: str
) -> None:
    person = await fetched(database, Tenant(workspace.id), slug())
    async with database.transaction() as session:
        now = await service_time(session)
    week = day_start(monday(utc_day(now)))

    async def acted(type: str, outcome: str, **given: Any) -> None:
        await action(database, Tenant(workspace.id), account_id, person, type=type, outcome=outcome, **given)

    await acted("invite", "sent", text="Hello", first_touch=True)
    await acted("invite", "unknown", first_touch=True)
    await acted("invite", "reconciling")
    await acted("invite", "scheduled", first_touch=True)
    await acted("invite", "skipped")
    await acted("profile_visit", "sent")
    await acted("profile_visit", "awaiting_approval")
    await acted("invite", "sent", at=week - timedelta(days=2))
    await acted("profile_visit", "scheduled", at=day_start(utc_day(now)) + timedelta(days=1, hours=9))
    caps = {cap["cap"]: cap for cap in (await limits(workspace, account_id))["caps"]}
    taken = {name: (cap["used"], cap["reserved"]) for name, cap in caps.items()}
    assert taken == {
        "invites_per_day": (3, 1),
        "invites_per_week": (3, 1),
        "invites_without_note_per_week": (2, 1),
        "profile_views_per_day": (1, 0),
        "new_outreach_per_day": (2, 1),
    }
    assert all(cap["remaining"] == cap["effective"] - cap["used"] - cap["reserved"] for cap in caps.values())


async def test_connecting_the_network_account_elsewhere_resets_no_cap(
    workspace: Workspace, database: Database, account_id: str, sign_up: Any
) -> None:
    person = await fetched(database, Tenant(workspace.id), slug())
    await action(database, Tenant(workspace.id), account_id, person, type="invite", outcome="sent", first_touch=True)
    await run_sql(database, "update outreach_accounts set status = 'removed' where id = :id", id=account_id)
    network_user_id = (await account_row(database, account_id)).network_user_id
    other = await sign_up()
    elsewhere = await connected(database, Tenant(other.id), network_user_id=network_user_id)
    caps = {cap["cap"]: cap["used"] for cap in (await limits(other, elsewhere))["caps"]}
    assert (caps["invites_per_day"], caps["invites_per_week"], caps["new_outreach_per_day"]) == (1, 1, 0)


async def test_lowering_needs_no_flag_and_the_lower_of_account_and_workspace_applies(
    workspace: Workspace, account_id: str
) -> None:
    answer = await change(workspace, account_id, invites_per_day=0, profile_views_per_day=50)
    assert answer.json()["risk_warning"] is None
    await workspace.http.patch("/v1/outreach/settings", json={"profile_views_per_day": 40, "invites_per_day": 5})
    found = await limits(workspace, account_id)
    caps = {cap["cap"]: cap for cap in found["caps"]}
    assert caps["invites_per_day"]["effective"] == 0
    assert caps["profile_views_per_day"]["effective"] == int(40 * caps["profile_views_per_day"]["jitter_factor"])
    assert (caps["profile_views_per_day"]["configured"], caps["profile_views_per_day"]["workspace"]) == (50, 40)
    assert found["next_available_at"] is None


async def test_a_raise_is_acknowledged_warned_of_and_noted(
    workspace: Workspace, database: Database, account_id: str
) -> None:
    refused = await change(workspace, account_id, invites_per_day=21, invites_per_week=10)
    error_of(refused, 400, "invalid_request", "invites_per_day")
    assert (await account_row(database, account_id)).caps == {}
    raised = await change(workspace, account_id, invites_per_day=30, invites_per_week=10, risk_acknowledged=True)
    assert raised.json()["risk_warning"]
    assert {cap["cap"]: cap["configured"] for cap in raised.json()["caps"]}["invites_per_day"] == 30
    noted = "select subject_id, data from audit_entries where workspace_id = :id and action = 'outreach.limits.raise'"
    assert [tuple(row) for row in await run_sql(database, noted, id=workspace.id)] == [
        (account_id, {"invites_per_day": 30})
    ]


@pytest.mark.parametrize(
    ("cap", "value"),
    [
        ("invites_per_day", 31),
        ("invites_per_week", 151),
        ("invites_without_note_per_week", 111),
        ("profile_views_per_day", 151),
        ("new_outreach_per_day", 41),
        ("invites_per_day", -1),
        ("invites_per_day", 1.5),
        ("invites_per_day", "5"),
        ("invites_per_day", True),
    ],
)
async def test_above_the_ceiling_negative_or_broken_numbers_are_refused(
    workspace: Workspace, account_id: str, cap: str, value: Any
) -> None:
    error_of(
        await change(workspace, account_id, **{cap: value, "risk_acknowledged": True}), 400, "invalid_request", cap
    )


async def test_a_change_recomputes_the_plan(workspace: Workspace, database: Database, account_id: str) -> None:
    async def asked() -> bool:
        """Whether it is asked for, and forgotten again."""
        row = await account_row(database, account_id)
        await run_sql(
            database, "update outreach_accounts set replan_asked = false, rings = 0 where id = :id", id=account_id
        )
        return row.replan_asked and row.rings > 0

    await change(workspace, account_id, invites_per_day=9)
    assert await asked()
    await change(workspace, account_id, invites_per_day=9)
    assert not await asked()
    await workspace.http.patch("/v1/outreach/settings", json={"end_hour": 12})
    assert await asked()
    await workspace.http.patch("/v1/outreach/settings", json={"end_hour": 12})
    assert not await asked()
