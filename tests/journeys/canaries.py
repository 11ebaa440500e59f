"""Secrets and personal data that must never reach an operator: collected during a journey, searched for in files."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx

from tests.journeys.installation import Installation

SHORTEST = 7
"""In characters: shorter texts would be found by chance."""


@dataclass
class Canaries:
    """Secrets and personal data by kind."""

    kept: dict[str, str] = field(default_factory=dict)

    def keep(self, what: str, *values: str | None) -> None:
        for number, value in enumerate(values):
            if value:
                assert len(value) >= SHORTEST, what
                self.kept[f"{what} {number}"] = value

    def keep_address(self, what: str, address: str) -> None:
        """Keep a secret address: the whole of it, its last segment and each value of its query."""
        parts = urlsplit(address)
        last = parts.path.rsplit("/", 1)[-1]
        values = [value for _, value in parse_qsl(parts.query)]
        self.keep(what, address, *(value for value in [last, *values] if len(value) >= 2 * SHORTEST))

    def keep_operators(self, installation: Installation) -> None:
        """Keep the keys of the installation and those that it shares with providers."""
        chosen: dict[str, Any] = json.loads((installation.home / "choices.json").read_text())
        self.keep("operator's key", *(chosen[name] for name in ("secret_key", "people_api_key", "network_api_key")))
        for purpose in ("key", "callbacks"):
            shared = hashlib.sha256(f"payments {purpose} {chosen['secret_key']}".encode()).hexdigest()
            self.keep(f"payments {purpose}", shared)

    def keep_mails(self, installation: Installation) -> None:
        """Keep the recipients of mails, and the links in them."""
        url = f"{installation.facts['sandbox_url']}/_control/mail"
        mails = httpx.get(url, trust_env=False, timeout=30).raise_for_status().json()["data"]
        assert mails
        for mail in mails:
            told = mail["to"]
            self.keep("recipient", *([told] if isinstance(told, str) else told))
            for link in mail["links"]:
                self.keep_address("mailed link", link)

    def found_in(self, content: bytes) -> list[str]:
        """Return the kinds that `content` contains, as plain text or JSON-escaped."""
        return sorted(
            what
            for what, value in self.kept.items()
            if value.encode() in content or json.dumps(value)[1:-1].encode() in content
        )
