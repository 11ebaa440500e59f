"""The network side of the served sandbox, with a key and one account, where no person acts on their own."""

from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.sandbox.conftest import API_KEY, Running


@dataclass(frozen=True, slots=True)
class Network:
    """The provider's API at `api`, controlled through `control`; `account` has no history."""

    api: httpx.Client
    control: httpx.Client
    account: str

    def steer(self, path: str, **body: object) -> Any:
        answer = self.control.post(f"/_control/network/{path}", json=body)
        answer.raise_for_status()
        return answer.json()

    def look(self, path: str, **query: object) -> Any:
        answer = self.control.get(f"/_control/network/{path}", params={k: str(v) for k, v in query.items()})
        answer.raise_for_status()
        return answer.json()

    def people(self, **query: object) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.look("people", **{"account_id": self.account} | query)["data"]
        return found

    def invite(self, person_id: str, **more: object) -> httpx.Response:
        return self.api.post(f"/v2/{self.account}/users/me/relation-requests", json={"user_id": person_id} | more)

    def pass_time(self, seconds: float) -> None:
        offset = self.control.get("/_control/health").json()["offset_seconds"] + seconds
        self.control.post("/_control/clock", json={"offset_seconds": offset}).raise_for_status()


@pytest.fixture
def network(sandbox: Running) -> Network:
    sandbox.control.delete("/_control/network").raise_for_status()
    # The people's client sends the key in the same header, spelled differently.
    network = Network(sandbox.people, sandbox.control, "")
    network.steer("switches", natural=False)
    assert sandbox.people.headers["x-api-key"] == API_KEY
    return Network(sandbox.people, sandbox.control, network.steer("accounts", past=False)["id"])
