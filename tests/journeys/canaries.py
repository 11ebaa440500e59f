"""What must never be written down where an operator reads: collected on the way, looked for in whole files."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx

from tests.journeys.installation import Installation

SHORTEST = 7
"""Characters: what is shorter is found by chance."""


@dataclass
class Canaries:
    """Secrets and personal data by what they are."""

    kept: dict[str, str] = field(default_factory=dict)

    def keep(self, what: str, *values: str | None) -> None:
        for number, value in enumerate(values):
            if value:
                assert len(value) >= SHORTEST, what
                self.kept[f"{what} {number}"] = value

    def keep_address(self, what: str, address: str) -> None:
        """An address that opens something: all of it, its last segment and each value of its query."""
        parts = urlsplit(address)
        last = parts.path.rsplit("/", 1)[-1]
        values = [value for _, value in parse_qsl(parts.query)]
        self.keep(what, address, *(value for value in [last, *values] if len(value) >= 2 * SHORTEST))

    def keep_operators(self, installation: Installation) -> None:
        """The keys of the installation itself, and those it shares with providers."""
        chosen: dict[str, Any] = json.loads((installation.home / "choices.json").read_text())
        self.keep("operator's key", *(chosen[name] for name in ("secret_key", "people_api_key", "network_api_key")))
        for purpose in ("key", "callbacks"):
            shared = hashlib.sha256(f"payments {purpose} {chosen['secret_key']}".encode()).hexdigest()
            self.keep(f"payments {purpose}", shared)

    def keep_mails(self, installation: Installation) -> None:
        """Recipients, and the links that they were sent."""
        url = f"{installation.facts['sandbox_url']}/_control/mail"
        mails = httpx.get(url, trust_env=False, timeout=30).raise_for_status().json()["data"]
        assert mails
        for mail in mails:
            told = mail["to"]
            self.keep("recipient", *([told] if isinstance(told, str) else told))
            for link in mail["links"]:
                self.keep_address("mailed link", link)

    def found_in(self, content: bytes) -> list[str]:
        """What of all this stands in there, by what it is; as it is, or as JSON would have it."""
        return sorted(
            what
            for what, value in self.kept.items()
            if value.encode() in content or json.dumps(value)[1:-1].encode() in content
        )
