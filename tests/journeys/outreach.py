"""A recruiter who writes to people on the network, and the network's own records of it."""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import asyncpg
import httpx

from tests.journeys.installation import Installation
from tests.journeys.network_log import Terms
from tests.journeys.paying import with_card
from tests.journeys.recruiter import Recruiter

Json = dict[str, Any]


@dataclass
class Outreach:
    """A recruiter with a connected account, on an installation under virtual time."""

    installation: Installation
    recruiter: Recruiter
    account_id: str = ""
    provider_id: str = ""

    @classmethod
    def begin(cls, installation: Installation) -> "Outreach":
        """Sign up, and connect an account without history by signing in on the hosted page."""
        made = cls(installation, Recruiter.join(installation.facts))
        with_card(installation.facts, made.recruiter)
        answer = made.post("/v1/outreach/accounts", {"name": "Sam"})
        made.account_id = answer["account"]["id"]
        pressed = httpx.post(answer["connect_url"], data={"outcome": "succeed"}, trust_env=False)
        assert pressed.status_code == 303, pressed.text
        made.advance("5m")
        account = made.recruiter.get(f"/v1/outreach/accounts/{made.account_id}")
        assert account["status"] == "active", account
        made.provider_id = httpx.URL(pressed.headers["location"]).params["account_id"]
        return made

    def post(self, path: str, body: Json) -> Json:
        answer = self.recruiter.call("POST", path, json=body, headers={"Idempotency-Key": uuid4().hex})
        assert answer.is_success, answer.text
        read: Json = answer.json()
        return read

    def control(self, path: str, **query: Any) -> Any:
        """Query the sandbox's network."""
        url = f"{self.installation.facts['sandbox_url']}/_control/network/{path}"
        answer = httpx.get(url, params=query, trust_env=False, timeout=30)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def strangers(self, count: int) -> list[Json]:
        """Return people without any relation to the account's owner."""
        found: list[Json] = self.control("people", account_id=self.provider_id, tie="none", limit=count)["data"]
        return found

    def advance(self, duration: str) -> None:
        self.installation.command("advance", duration)

    def log(self) -> list[Json]:
        """Return everything that the account executed on the network, in order."""
        found: list[Json] = self.control("log", account_id=self.provider_id)["data"]
        return found

    def listed(self, path: str, **query: Any) -> list[Json]:
        """Return all rows of a list."""
        rows: list[Json] = []
        cursor: str | None = None
        while True:
            page = self.recruiter.get(path, params={"limit": 100, **query} | ({"cursor": cursor} if cursor else {}))
            rows += page["data"]
            cursor = page["next_cursor"]
            if cursor is None:
                return rows

    def now(self) -> datetime:
        """Return the service time."""

        async def ask() -> datetime:
            database = await asyncpg.connect(self.installation.facts["database_url"].replace("+asyncpg", ""))
            try:
                found: datetime = await database.fetchval("select service_now()")
            finally:
                await database.close()
            return found

        return asyncio.run(ask())

    def until(self, moment: datetime) -> None:
        """Advance time to a moment."""
        self.installation.command("advance", "--until", moment.astimezone(UTC).isoformat())

    def sequence(self, name: str, steps: list[Json], **more: Any) -> str:
        """Create a sequence of the account and return its id."""
        body = {"account_id": self.account_id, "name": name, "steps": steps} | more
        return str(self.post("/v1/outreach/sequences", body)["id"])

    def enroll(self, sequence_id: str, people: Iterable[Json]) -> Json:
        """Enroll people of the network, all with the first name Jo."""
        return self.post("/v1/outreach/enrollments", self.asked(sequence_id, people))

    @staticmethod
    def asked(sequence_id: str, people: Iterable[Json]) -> Json:
        """Return the request body that enrolls people of the network."""
        candidates = [{"profile_url": one["profile_url"], "first_name": "Jo"} for one in people]
        return {"sequence_id": sequence_id, "candidates": candidates}

    def profiles(self, sequence_id: str, people: list[Json]) -> dict[str, str]:
        """Return the service's id of each enrolled person by the network's id."""
        url = {one["profile_url"]: one["person_id"] for one in people}
        body = self.asked(sequence_id, people)
        answer = self.recruiter.call("POST", "/v1/outreach/enrollments", params={"dry_run": "true"}, json=body)
        assert answer.status_code == 200, answer.text
        found = {url[row["profile_url"]]: row["profile_id"] for row in answer.json()["data"]}
        assert len(found) == len(people)
        return found

    def act(self, path: str, person_id: str, **body: Any) -> None:
        """Let a person act on the network towards the account."""
        self.order(path, account_id=self.provider_id, person_id=person_id, **body)

    def order(self, path: str, **body: Any) -> None:
        """Change a setting of the sandbox's network."""
        url = f"{self.installation.facts['sandbox_url']}/_control/network/{path}"
        httpx.post(url, json=body, trust_env=False, timeout=30).raise_for_status()

    def messages_with(self, person_id: str) -> list[Json]:
        """Return the chat with a person as the account's owner sees it on the network."""
        chats = self._network(f"users/{quote(person_id, safe='')}/chat")
        return [
            message for chat in chats for message in self._network(f"chats/{quote(chat['chat_id'], safe='')}/messages")
        ]

    def _network(self, path: str) -> list[Json]:
        key = json.loads((self.installation.home / "choices.json").read_text())["network_api_key"]
        url = f"{self.installation.facts['sandbox_url']}/v2/{self.provider_id}/{path}"
        answer = httpx.get(url, params={"limit": 50}, headers={"X-API-KEY": key}, trust_env=False, timeout=30)
        assert answer.status_code == 200, answer.text
        read = answer.json()
        assert read.get("next_cursor") is None, "more than one page"
        rows: list[Json] = read["data"]
        return rows

    def terms(self, zone: str = "Europe/Brussels") -> Terms:
        """Return the terms that the account's executions must keep."""
        account = self.recruiter.get(f"/v1/outreach/accounts/{self.account_id}")
        return Terms(self.account_id, datetime.fromisoformat(account["warmup"]["started_at"]).date(), zone)
