"""Outreach accounts on a running installation: sign-in, disconnect, review, and lost callbacks."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from models.base.database import Database
from models.base.tenants import all_tenants
from models.outreach.store import accounts
from tests.journeys.installation import Installation, installed
from tests.journeys.paying import with_card
from tests.journeys.recruiter import Recruiter

pytestmark = pytest.mark.timeout(600)

PATH = "/v1/outreach/accounts"
Json = dict[str, Any]


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with installed("--virtual-time", "--population", "300") as made:
        yield made


@pytest.fixture
def recruiter(installation: Installation) -> Recruiter:
    joined = Recruiter.join(installation.facts)
    with_card(installation.facts, joined)
    return joined


def control(installation: Installation, method: str, path: str, body: Json | None = None) -> Json:
    url = f"{installation.facts['sandbox_url']}/_control/{path}"
    answer = httpx.request(method, url, json=body, trust_env=False)
    answer.raise_for_status()
    read: Json = answer.json() if answer.content else {}
    return read


def connect(recruiter: Recruiter, **body: Any) -> Json:
    answer = recruiter.call("POST", PATH, json=body)
    assert answer.status_code == 201, answer.text
    made: Json = answer.json()
    return made


def sign_in(link: str, owner: int, outcome: str = "succeed") -> httpx.Response:
    """Press a button on the provider's page as the owner, and follow the redirect back."""
    form = {"outcome": outcome, "owner": str(owner)}
    return httpx.post(link, data=form, follow_redirects=True, trust_env=False)


def account(recruiter: Recruiter, account_id: str) -> Json:
    return recruiter.get(f"{PATH}/{account_id}")


def until(read: Callable[[], Json], status: str, *, within: float = 30) -> Json:
    deadline = time.monotonic() + within
    while (found := read())["status"] != status:
        assert time.monotonic() < deadline, found
        time.sleep(0.2)
    return found


def provider_id_of(installation: Installation, account_id: str) -> str | None:
    """Return the provider's id of the account, which the API does not show."""

    async def read() -> str | None:
        database = Database(installation.facts["database_url"], pool_size=0).within(all_tenants("tests"))
        async with database.transaction() as session:
            found = (await accounts.lock_account_by_id(session, account_id)).account.provider_id
        await database.close()
        return found

    return asyncio.run(read())


def changed(installation: Installation, account_id: str, **change: Any) -> None:
    """Change the account at the provider."""
    body = {"account_id": provider_id_of(installation, account_id), **change}
    control(installation, "POST", "network/account", body)


def told(recruiter: Recruiter) -> list[str]:
    """Return the events of accounts, oldest first."""
    names = "account.connected,account.paused,account.disconnected"
    return [event["type"] for event in reversed(recruiter.get("/v1/events", params={"types": names})["data"])]


def active(installation: Installation, recruiter: Recruiter, owner: int) -> str:
    made = connect(recruiter, name=f"Owner {owner}")
    sign_in(made["connect_url"], owner)
    account_id: str = made["account"]["id"]
    installation.command("advance", "10m")
    assert account(recruiter, account_id)["status"] == "active"
    return account_id


def test_an_owner_signs_in_on_the_providers_page_and_the_account_is_connected(
    installation: Installation, recruiter: Recruiter
) -> None:
    made = connect(recruiter)
    assert made["account"]["status"] == "connecting"
    assert made["account"]["monthly_price_cents"] == 4900
    again = connect(recruiter)
    assert (again["account"]["id"], again["connect_url"]) == (made["account"]["id"], made["connect_url"])
    page = sign_in(made["connect_url"], owner=11)
    assert page.status_code == 200
    assert "Thank you" in page.text
    installation.command("advance", "10m")
    connected = account(recruiter, made["account"]["id"])
    assert connected["status"] == "active"
    assert connected["connected_at"]
    assert connected["profile_url"]
    assert told(recruiter) == ["account.connected"]


def test_the_page_alone_does_not_connect_an_account(installation: Installation, recruiter: Recruiter) -> None:
    made = connect(recruiter)
    back = f"{installation.facts['api_url']}/outreach/connected"
    shown = httpx.get(back, params={"account_id": "acc_1", "state": "x", "provider": "linkedin"}, trust_env=False)
    assert shown.status_code == 200
    assert "script-src" not in shown.headers["content-security-policy"]
    assert "not connected" in sign_in(made["connect_url"], owner=12, outcome="fail").text
    installation.command("advance", "10m")
    assert account(recruiter, made["account"]["id"])["status"] == "connecting"


def test_a_disconnect_waits_for_the_sign_in_and_the_owners_review(
    installation: Installation, recruiter: Recruiter
) -> None:
    account_id = active(installation, recruiter, owner=21)
    changed(installation, account_id, status="disconnected")
    until(lambda: account(recruiter, account_id), "disconnected")
    refused = recruiter._once("POST", f"{PATH}/{account_id}/resume")
    assert refused.json()["error"]["code"] == "account_not_ready", refused.text
    made = recruiter.call("POST", f"{PATH}/{account_id}/reconnect").json()
    sign_in(made["connect_url"], owner=21)
    installation.command("advance", "10m")
    assert account(recruiter, account_id)["status"] == "needs_review"
    resumed = recruiter.call("POST", f"{PATH}/{account_id}/resume")
    assert resumed.json()["status"] == "active", resumed.text
    assert told(recruiter) == ["account.connected", "account.disconnected", "account.connected"]


def test_a_disconnect_whose_callback_is_lost_is_found_by_the_poll(
    installation: Installation, recruiter: Recruiter
) -> None:
    account_id = active(installation, recruiter, owner=31)
    lost = {"provider": "network", "operation": "callback", "fault": "lost_callback"}
    control(installation, "POST", "faults", lost)
    changed(installation, account_id, status="disconnected")
    installation.command("advance", "7h")  # under virtual time chats are read every six hours
    control(installation, "DELETE", "faults")
    assert account(recruiter, account_id)["status"] == "disconnected"


@pytest.mark.parametrize("kind", ["missing_signature", "wrong_signature", "stale_signature"])
def test_a_callback_with_a_wrong_signature_changes_nothing(
    installation: Installation, recruiter: Recruiter, kind: str
) -> None:
    account_id = active(installation, recruiter, owner=41)
    control(installation, "POST", "faults", {"provider": "network", "operation": "callback", "fault": kind})
    changed(installation, account_id, status="disconnected")
    installation.command("advance", "1m")
    control(installation, "DELETE", "faults")
    assert account(recruiter, account_id)["status"] == "active"
    recruiter.call("DELETE", f"{PATH}/{account_id}")
    installation.command("advance", "1m")


def test_temporary_trouble_becomes_a_pause_only_after_half_an_hour(
    installation: Installation, recruiter: Recruiter
) -> None:
    account_id = active(installation, recruiter, owner=51)
    changed(installation, account_id, status="errored")
    installation.command("advance", "20m")
    assert account(recruiter, account_id)["status"] == "active"
    installation.command("advance", "20m")
    assert account(recruiter, account_id)["status"] == "paused"
    changed(installation, account_id, status="running")
    installation.command("advance", "6m")
    assert account(recruiter, account_id)["status"] == "active"
    assert told(recruiter) == ["account.connected", "account.paused", "account.connected"]


def test_a_removed_account_is_deleted_at_the_provider_and_reconnects_as_the_same_record(
    installation: Installation, recruiter: Recruiter
) -> None:
    account_id = active(installation, recruiter, owner=61)
    provider_id = provider_id_of(installation, account_id)
    assert recruiter.call("DELETE", f"{PATH}/{account_id}").status_code == 204
    installation.command("advance", "1m")
    assert provider_id_of(installation, account_id) is None
    with pytest.raises(httpx.HTTPStatusError):
        control(installation, "POST", "network/account", {"account_id": provider_id, "status": "running"})
    made = connect(recruiter)
    sign_in(made["connect_url"], owner=61)
    installation.command("advance", "10m")
    assert account(recruiter, account_id)["status"] == "active"
    assert account(recruiter, made["account"]["id"])["restored_as"] == account_id
    assert [row["id"] for row in recruiter.get(PATH)["data"]] == [account_id]


def test_a_network_account_belongs_to_one_workspace(installation: Installation, recruiter: Recruiter) -> None:
    account_id = active(installation, recruiter, owner=71)
    other = Recruiter.join(installation.facts, name="Other")
    with_card(installation.facts, other)
    made = connect(other)
    sign_in(made["connect_url"], owner=71, outcome="second_account")
    installation.command("advance", "10m")
    assert account(other, made["account"]["id"])["connect_failure"] == "bound_elsewhere"
    assert account(recruiter, account_id)["status"] == "active"
