"""A served sandbox with one ready account, and the adapter connected to it."""

import dataclasses
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from activities.upstream.unipile import client
from activities.upstream.unipile.network import UnipileNetwork
from sandbox.network.service import NetworkSettings
from sandbox.people.service import PeopleSettings
from sandbox.server import Settings
from tests.sandbox.serving import serving

KEY = "network-key"
PEOPLE = 600
CEILING = 7

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The network behind the adapter; `account` is ready, and people do not act on their own."""

    url: str
    control: httpx.Client
    account: str = ""

    def post(self, path: str, **body: object) -> Object:
        answer = self.control.post(f"/_control/network/{path}", json=body)
        answer.raise_for_status()
        found: Object = answer.json()
        return found

    def get(self, path: str, **query: str) -> Any:
        answer = self.control.get(f"/_control/network/{path}", params=query)
        answer.raise_for_status()
        return answer.json()

    def act(self, what: str, person_id: str, **more: object) -> Object:
        return self.post(what, account_id=self.account, person_id=person_id, **more)

    def tie(self, person_id: str, tie: str, **more: object) -> Object:
        return self.act("people", person_id, tie=tie, **more)

    def person(self, nth: int = 0, *, visitable: bool = True) -> str:
        """Return the id of a person without a relation to the account."""
        query = {"account_id": self.account, "tie": "none", "visitable": str(visitable).lower(), "limit": str(nth + 1)}
        found: str = self.get("people", **query)["data"][nth]["person_id"]
        return found

    def log(self) -> list[Object]:
        found: list[Object] = self.get("log")["data"]
        return found

    def order(self, operation: str, fault: str, **more: object) -> None:
        body = {"provider": "network", "operation": operation, "fault": fault} | more
        self.control.post("/_control/faults", json=body).raise_for_status()

    def struck(self) -> int:
        """Return how often those faults struck that can strike again."""
        return sum(fault["struck"] for fault in self.control.get("/_control/faults").json()["data"])

    def pass_time(self, seconds: float) -> None:
        offset = self.control.get("/_control/health").json()["offset_seconds"] + seconds
        self.control.post("/_control/clock", json={"offset_seconds": offset}).raise_for_status()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    settings = Settings(
        state_dir=tmp_path_factory.mktemp("network"),
        people=PeopleSettings(api_keys=frozenset({"k" * 64})),
        network=NetworkSettings(api_keys=frozenset({KEY}), ceiling=CEILING),
        population=PEOPLE,
    )
    with serving(settings) as url, httpx.Client(base_url=url, trust_env=False, timeout=30) as control:
        yield Sandbox(url, control)


@pytest.fixture
def sandbox(served: Sandbox) -> Sandbox:
    """Return the reset sandbox, with an account without history."""
    served.control.delete("/_control/network").raise_for_status()
    served.control.delete("/_control/faults").raise_for_status()
    served.control.post("/_control/clock", json={"offset_seconds": 0}).raise_for_status()
    served.post("switches", natural=False)
    account = served.post("accounts", past=False)
    return dataclasses.replace(served, account=account["id"])


@pytest.fixture(scope="session")
async def adapter(served: Sandbox) -> AsyncIterator[UnipileNetwork]:
    adapter = UnipileNetwork(base_url=served.url, api_key=KEY)
    yield adapter
    await adapter.close()


@pytest.fixture
async def network(adapter: UnipileNetwork, sandbox: Sandbox) -> UnipileNetwork:
    """Return the adapter, connected to the reset sandbox."""
    assert sandbox.account
    return adapter


@pytest.fixture(autouse=True)
def quick_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "wait_random_exponential", lambda **_: lambda _state: 0.001)
