"""A sandbox that is killed forgets nothing of the network, and makes up for what it missed."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from sandbox.__main__ import DEFAULT_KEY
from tests.activities.upstream.receivers import OK, Receiver, receiving
from tests.sandbox.network.conftest import Network
from tests.sandbox.test_process import started

KEY = {"x-api-key": DEFAULT_KEY}
PATIENCE_SECONDS = 30.0


def network_of(client: httpx.Client, account: str = "") -> Network:
    client.headers.update(KEY)
    return Network(client, client, account)


def remembered(network: Network) -> list[Any]:
    """All that the network side can be asked for."""
    chats = network.api.get(f"/v2/{network.account}/chats", headers={"cache-control": "no-store"}).json()
    talks = [f"/v2/{network.account}/chats/{quote(row['id'], safe='')}/messages" for row in chats["data"]]
    sent = f"/v2/{network.account}/users/me/relation-requests?type=sent"
    paths = ["/v2/accounts/", "/v2/webhooks/endpoints/", "/v2/webhooks/conversations/", sent, *talks]
    answers = [network.api.get(path, headers={"cache-control": "no-store"}).json() for path in paths]
    looks = [network.look(path) for path in ("log", "schedule", "callbacks")]
    ties = [row["tie"] for row in network.people(limit=200)]
    faults = network.control.get("/_control/faults").json()
    return [chats, answers, looks, ties, faults, network.steer("switches")]


def test_a_killed_sandbox_remembers_the_whole_network(tmp_path: Path) -> None:
    with started(tmp_path) as (process, client, _):
        network = network_of(client)
        network = network_of(client, network.steer("accounts")["id"])
        first, second, third = (row["person_id"] for row in network.people(tie="none", limit=3))
        for person_id in (first, second):
            assert network.invite(person_id, message="Hi").status_code == 201
        network.steer("accept", account_id=network.account, person_id=first)
        network.steer("reply", account_id=network.account, person_id=first, text="Hello")
        body = {"url": "http://127.0.0.1:9/nobody", "trigger_events": ["message.new"]}
        assert network.api.post("/v2/webhooks/endpoints/", json=body).status_code == 200
        fault = {"provider": "network", "operation": "users/invite", "fault": "timeout", "count": 2}
        assert network.control.post("/_control/faults", json=fault).status_code == 201
        network.steer("switches", events="2026-05", cache_seconds=7200)
        network.api.get(f"/v2/{network.account}/users/{third}")
        before = remembered(network)
        process.kill()
        process.wait(10)
    with started(tmp_path) as (_, client, _):
        network = network_of(client, network.account)
        assert remembered(network) == before
        assert network.api.get(f"/v2/{network.account}/users/{third}").headers["x-cache"] == "HIT"
        network.control.delete("/_control/faults")
        later = network.invite(third).json()["id"]
        assert later not in str(before)


async def until(told: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not told():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


async def test_after_a_restart_callbacks_under_way_are_sent_again_and_people_do_what_fell_due(tmp_path: Path) -> None:
    taking: list[bool] = []

    async def behave(_: Receiver, writer: asyncio.StreamWriter) -> None:
        if taking:
            writer.write(OK)
            await writer.drain()
        else:
            await asyncio.sleep(60)

    async with receiving(behave) as receiver:
        with started(tmp_path) as (process, client, _):
            network = network_of(client)
            network = network_of(client, network.steer("accounts", past=False)["id"])
            willing = next(row["person_id"] for row in network.people(limit=100) if row["accepts"])
            assert network.invite(willing).status_code == 201
            body = {"url": receiver.url, "trigger_events": ["message.new"]}
            network.api.post("/v2/webhooks/endpoints/", json=body).raise_for_status()
            network.steer("reply", account_id=network.account, person_id=willing, text="Hello")
            await until(lambda: len(receiver.received) == 1)
            assert network.people(tie="connected") == []
            process.kill()
            process.wait(10)
        taking.append(True)
        with started(tmp_path, "--clock-offset", str(22 * 86400)) as (_, client, _):
            network = network_of(client, network.account)
            await until(lambda: len(receiver.received) > 1)
            assert receiver.received[1].body == receiver.received[0].body
            await until(lambda: len(network.people(tie="connected")) == 1)
