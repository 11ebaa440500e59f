"""What people do by themselves: by seed, after hours to weeks, told late, twice and out of order."""

import itertools
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import httpx

from sandbox.network.behaviour_profiles import REPLIES, BehaviourProfiles
from sandbox.network.people import OWNERS
from sandbox.network.service import NetworkSettings
from sandbox.people.population.draws import Draws
from sandbox.people.service import PeopleSettings
from sandbox.server import Settings
from tests.sandbox.network.conftest import Network
from tests.sandbox.serving import serving

KEY = "k" * 64
MANY = 3000
INVITED = 60
PATIENCE_SECONDS = 30.0


def test_about_half_accept_some_decline_and_the_rest_never_answer() -> None:
    profiles = [BehaviourProfiles(Draws(7)).of(OWNERS, person) for person in range(MANY)]
    accept, decline = sum(t.accepts for t in profiles) / MANY, sum(t.declines for t in profiles) / MANY
    assert 0.4 < accept < 0.5
    assert 0.07 < decline < 0.13
    assert not any(t.accepts and t.declines for t in profiles)
    assert 0.35 < sum(t.answers_message is not None for t in profiles) / MANY < 0.45
    assert {t.answers_message for t in profiles} == {None, 1, 2}
    assert {t.says for t in profiles} == set(REPLIES)


def test_they_take_hours_to_weeks() -> None:
    profiles = [BehaviourProfiles(Draws(7)).of(OWNERS, person) for person in range(MANY)]
    decided = sorted(t.decides_after for t in profiles)
    assert timedelta(hours=1) <= decided[0]
    assert decided[-1] <= timedelta(days=21)
    assert decided[MANY // 10] < timedelta(hours=3) < timedelta(days=7) < decided[-MANY // 10]


def test_the_same_seed_yields_the_same_behaviour_and_another_owner_gets_another() -> None:
    def whole(seed: int, owner: int) -> list[object]:
        return [BehaviourProfiles(Draws(seed)).of(owner, person) for person in range(100)]

    assert whole(7, OWNERS) == whole(7, OWNERS)
    assert whole(7, OWNERS) != whole(8, OWNERS)
    assert whole(7, OWNERS) != whole(7, OWNERS + 1)


@contextmanager
def started(directory: Path, seed: int) -> Iterator[Network]:
    settings = Settings(
        state_dir=directory,
        people=PeopleSettings(api_keys=frozenset({KEY})),
        network=NetworkSettings(api_keys=frozenset({KEY})),
        population=400,
        seed=seed,
    )
    with (
        serving(settings) as url,
        httpx.Client(base_url=url, headers={"x-api-key": KEY}, trust_env=False, timeout=30) as api,
        httpx.Client(base_url=url, trust_env=False, timeout=30) as control,
    ):
        account = Network(api, control, "").steer("accounts", past=False)["id"]
        yield Network(api, control, account)


def settled(network: Network) -> None:
    """Wait until nothing is due any more."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        due, now = (network.control.get(f"/_control/{path}").json()["at"] for path in ("next", "health"))
        if due is None or due > now:
            return
        assert time.monotonic() < deadline
        time.sleep(0.002)


def pass_days(network: Network, days: int) -> list[str]:
    """Advance time from event to event, and return the events that were scheduled at each step."""
    seen: list[str] = []
    end = datetime.fromisoformat(network.control.get("/_control/health").json()["at"]) + timedelta(days=days)
    for _ in itertools.count():
        coming = network.look("schedule")["data"]
        if not coming or datetime.fromisoformat(coming[0]["due"]) > end:
            return seen
        seen.append(f"{coming[0]['kind']} {coming[0]['body'].get('person')}")
        now = datetime.fromisoformat(network.control.get("/_control/health").json()["at"])
        network.pass_time((datetime.fromisoformat(coming[0]["due"]) - now).total_seconds() + 0.001)
        settled(network)
    raise AssertionError


def lived(network: Network) -> tuple[list[str], dict[str, int]]:
    """Invite many people, write to those who accept, and return what happened and their final ties."""
    for row in network.people(limit=INVITED):
        assert network.invite(row["person_id"], message="Hi").status_code == 201
    seen = pass_days(network, 25)
    connected = network.people(tie="connected", limit=INVITED)
    for row in connected:
        body = {"users_ids": [row["person_id"]], "text": "A first message"}
        network.api.post(f"/v2/{network.account}/chats/send", json=body).raise_for_status()
    seen += pass_days(network, 15)
    return seen, Counter(row["tie"] for row in network.people(limit=400))


def test_a_month_passes_the_same_way_twice_and_otherwise_with_another_seed(tmp_path: Path) -> None:
    months = []
    for directory, seed in (("first", 7), ("second", 7), ("other", 8)):
        with started(tmp_path / directory, seed) as network:
            months.append(lived(network))
    (seen, ties), second, (other, _) = months
    assert (seen, ties) == second
    assert seen != other
    assert 15 < ties["connected"] < 40
    assert ties["pending"] > 10
    assert ties["ignored"] > 0
    assert {text.split()[0] for text in seen} == {"accept", "decline", "reply"}


def test_an_invite_withdrawn_meanwhile_is_not_accepted(tmp_path: Path) -> None:
    with started(tmp_path, 7) as network:
        willing = next(row for row in network.people(limit=50) if row["accepts"])
        request = network.invite(willing["person_id"]).json()["id"]
        path = f"/v2/{network.account}/users/me/relation-requests/{httpx.QueryParams({'id': request})}/cancel"
        assert network.api.post(path.replace("id=", "")).status_code == 200
        pass_days(network, 25)
        (row,) = [row for row in network.people(limit=50) if row["person_id"] == willing["person_id"]]
        assert row["tie"] == "withdrawn"


def test_with_natural_behaviour_switched_off_no_person_acts(network: Network) -> None:
    for row in network.people(limit=INVITED):
        network.invite(row["person_id"])
    assert network.look("schedule")["data"] == []
    assert network.control.get("/_control/next").json()["at"] is None


def test_acceptances_are_reported_up_to_eight_hours_late_some_twice_and_out_of_order(tmp_path: Path) -> None:
    with started(tmp_path, 7) as network:
        body = {"url": "http://127.0.0.1:9/nobody", "trigger_events": ["relation.new"]}
        network.api.post("/v2/webhooks/endpoints/", json=body).raise_for_status()
        for account in (network.account, network.steer("accounts", past=False)["id"]):
            for row in network.people(limit=95):
                path = f"/v2/{account}/users/me/relation-requests"
                network.api.post(path, json={"user_id": row["person_id"]}).raise_for_status()
        network.pass_time(21 * 86400 + 60)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while any(each["kind"] in ("accept", "decline") for each in network.look("schedule")["data"]):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        told = [each for each in network.look("schedule")["data"] if each["kind"] == "delivery"]
        accepted = sum(
            len(network.people(account_id=account["id"], tie="connected", limit=400))
            for account in network.api.get("/v2/accounts/").json()["data"]
        )
    first: dict[str, float] = {}
    for each in told:
        event = each["body"]["event"]
        late = datetime.fromisoformat(each["due"]) - datetime.fromisoformat(event["created_at"])
        first.setdefault(event["id"], late.total_seconds())
    assert len(first) == accepted > 60
    assert min(first.values()) >= 59
    assert 3600 < max(first.values()) <= 8 * 3600 + 1
    assert 0 < len(told) - len(first) < 15
    created = [each["body"]["event"]["created_at"] for each in told]
    assert created != sorted(created)


def test_an_owner_who_connects_has_a_past(network: Network) -> None:
    account = network.steer("accounts")["id"]
    sizes = {tie: len(network.people(account_id=account, tie=tie, limit=1000)) for tie in ("connected", "pending")}
    assert 5 < sizes["connected"] < 50
    assert 0 < sizes["pending"] < 30
    requests = network.api.get(f"/v2/{account}/users/me/relation-requests", params={"type": "sent"}).json()
    assert requests["total_count"] == sizes["pending"]
    relations = network.api.get(f"/v2/{account}/users/me/relations", params={"limit": "5"}).json()
    assert [row["object"] for row in relations["data"]] == ["UserRelation"] * 5
    assert {row["person_id"] for row in network.people(tie="connected")} == set()
