"""A separate installation with an owner who has a connected account of the invented network."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from stack.account import sign_up
from stack.children import PROJECT

Json = dict[str, Any]
POPULATION = 1_000
BACK = {"success_url": "https://app.example/paid", "cancel_url": "https://app.example/left"}


@dataclass
class Owner:
    """A connected account, and calls with the key of its workspace."""

    home: Path
    facts: Json
    http: httpx.Client
    account_id: str = ""
    provider_id: str = ""
    workspace_id: str = ""

    def stack(self, *arguments: str) -> str:
        """Run `python -m stack …` on the installation and return its output. Raises `CalledProcessError`."""
        command = [sys.executable, "-m", "stack", *arguments, "--data-dir", str(self.home)]
        return subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True).stdout

    def post(self, path: str, body: Json) -> Json:
        """Call the API once."""
        answer = self.http.post(path, json=body, headers={"Idempotency-Key": uuid4().hex})
        read: Json = answer.raise_for_status().json()
        return read

    def order(self, path: str, **body: Any) -> None:
        """Send a request to the sandbox's control API of the network."""
        url = f"{self.facts['sandbox_url']}/_control/network/{path}"
        httpx.post(url, json=body, trust_env=False, timeout=30).raise_for_status()

    def stranger(self) -> Json:
        """Return a person without any relation to the owner."""
        url = f"{self.facts['sandbox_url']}/_control/network/people"
        asked: dict[str, str | int] = {"account_id": self.provider_id, "tie": "none", "limit": 1}
        found: Json = httpx.get(url, params=asked, trust_env=False, timeout=30).raise_for_status().json()["data"][0]
        return found

    def buy(self) -> None:
        """Buy a pack on the provider's page, which stores the card that connecting an account needs."""
        made = self.post("/v1/billing/checkout", {"item": "pack", **BACK})
        httpx.post(made["checkout_url"], data={"outcome": "paid"}, trust_env=False)
        self.stack("advance", "5m")

    def connect(self) -> None:
        """Sign in on the hosted page, and wait until the account can send."""
        self.buy()
        self.order("switches", natural=False)
        answer = self.post("/v1/outreach/accounts", {"name": "Bench"})
        self.account_id = answer["account"]["id"]
        pressed = httpx.post(answer["connect_url"], data={"outcome": "succeed"}, trust_env=False)
        self.provider_id = httpx.URL(pressed.headers["location"]).params["account_id"]
        self.stack("advance", "5m")


@contextmanager
def owner() -> Iterator[Owner]:
    """Start an installation under virtual time, and stop it at the end."""
    with tempfile.TemporaryDirectory(prefix="bench-outreach-") as folder:
        Path(folder).chmod(0o755)  # PostgreSQL runs as another user
        made = Owner(Path(folder, "data"), {}, httpx.Client())
        told = Path(folder, "facts.json")
        made.stack("up", "--detach", "--virtual-time", "--population", str(POPULATION), "--json", str(told))
        try:
            made.facts = json.loads(told.read_text())
            account = sign_up(made.facts["api_url"], made.facts["sandbox_url"], name="Bench")
            made.workspace_id = account.workspace_id
            headers = {"Authorization": f"Bearer {account.api_key}"}
            made.http = httpx.Client(base_url=made.facts["api_url"], headers=headers, trust_env=False, timeout=60)
            made.connect()
            yield made
        finally:
            made.http.close()
            made.stack("down")
