"""A recruiter who uses the API over HTTP as an integrator's client would."""

import ssl
import time
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx

from stack.account import sign_up

FINAL = {"completed", "completed_no_audience", "failed", "aborted"}
DATA_ENGINEERS = {"must": {"titles": ["Data Engineer"], "location": {"countries": ["BE", "NL", "DE", "FR", "GB"]}}}
Json = dict[str, Any]
CERTIFICATES = ssl.create_default_context()
"""Read once: that takes longer than most calls."""


@dataclass
class Recruiter:
    """One workspace. Calls are retried while the service is unreachable, as a client with a retry policy does."""

    api_url: str
    api_key: str
    workspace_id: str
    patience: float = 90

    @classmethod
    def join(cls, facts: Json, *, name: str = "Journey") -> "Recruiter":
        """Sign up a new verified workspace."""
        account = sign_up(facts["api_url"], facts["sandbox_url"], name=name)
        return cls(facts["api_url"], account.api_key, account.workspace_id)

    def call(self, method: str, path: str, **asked: Any) -> httpx.Response:
        """Make a call, retried with the same Idempotency-Key while no answer comes or the answer says to wait."""
        deadline = time.monotonic() + self.patience
        while True:
            try:
                answer = self._once(method, path, **asked)
                waits = "Retry-After" in answer.headers or answer.status_code == 500
                if answer.status_code not in {409, 429, 500, 503} or not waits:
                    return answer
            except httpx.TransportError:
                answer = None
            if time.monotonic() > deadline:
                raise AssertionError(f"{method} {path} was not answered: {answer and answer.text}")
            time.sleep(float(answer.headers.get("Retry-After", 0.5)) if answer is not None else 0.5)

    def _once(self, method: str, path: str, **asked: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.api_key}"} | asked.pop("headers", {})
        options = {"headers": headers, "trust_env": False, "timeout": 20, "verify": CERTIFICATES}
        url = path if path.startswith("http") else f"{self.api_url}{path}"  # links in messages are whole addresses
        return httpx.request(method, url, **asked, **options)

    def get(self, path: str, **asked: Any) -> Json:
        """Return the body of a successful GET."""
        answer = self.call("GET", path, **asked)
        assert answer.status_code == 200, answer.text
        read: Json = answer.json()
        return read

    def start_run(self, **ask: Any) -> str:
        """Start a run and return its id."""
        body = {"intent": DATA_ENGINEERS, "target": 60} | ask
        answer = self.call("POST", "/v1/runs", json=body, headers={"Idempotency-Key": uuid4().hex})
        assert answer.status_code == 202, answer.text
        return str(answer.json()["run"]["id"])

    def run(self, run_id: str) -> Json:
        """Return the current state of the run."""
        return self.get(f"/v1/runs/{run_id}")

    def finished(self, run_id: str, *, within: float = 120) -> Json:
        """Wait until the run has ended and return it."""
        deadline = time.monotonic() + within
        while (run := self.run(run_id))["status"] not in FINAL:
            assert time.monotonic() < deadline, run
            time.sleep(0.6)  # below the 120 requests a minute
        return run

    def candidates(self, run_id: str) -> list[Json]:
        """Return all candidates in compact form and delivery order."""
        rows: list[Json] = []
        cursor: str | None = None
        while True:
            page = self.get(
                f"/v1/runs/{run_id}/candidates",
                params={"view": "compact", "limit": 100} | ({"cursor": cursor} if cursor else {}),
            )
            rows += page["data"]
            cursor = page["next_cursor"]
            if cursor is None:
                return rows

    def charges(self) -> list[tuple[str, int]]:
        """Return the credits charged by reason, from the ledger."""
        sums: dict[str, int] = {}
        cursor: str | None = None
        while True:
            page = self.get("/v1/billing/ledger", params={"limit": 100} | ({"cursor": cursor} if cursor else {}))
            for entry in page["data"]:
                if entry["kind"] == "charge":
                    sums[entry["reason"]] = sums.get(entry["reason"], 0) - entry["credits"]
            cursor = page["next_cursor"]
            if cursor is None:
                return sorted(sums.items())
