"""A person who signs in: a browser that keeps cookies and sends forms, and a mailbox."""

import time
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import httpx

MAIL_SECONDS = 60.0
POLL_SECONDS = 0.1
LINK_PATH = "/authorize/link"


@dataclass
class Form(HTMLParser):
    """The only form of a page: its address and the unchanged values of its fields."""

    action: str = ""
    fields: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    @classmethod
    def of(cls, page: httpx.Response) -> "Form":
        """Return the form of a page."""
        assert page.status_code == 200, f"{page.url.path} answered {page.status_code}: {page.text[:2000]}"
        read = cls()
        read.feed(page.text)
        assert read.action, f"there is no form on this page: {page.text[:2000]}"
        return read

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record a form, or a field with its value."""
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.action = given["action"]
        sent = given.get("type") == "hidden" or "checked" in given
        if tag == "input" and sent:
            self.fields.append((given["name"], given["value"]))


@dataclass(frozen=True, slots=True)
class Person:
    """The owner of a workspace of an installation."""

    facts: dict[str, Any]
    email: str

    def allow(self, authorize_url: str) -> None:
        """Sign in at the address to which a client sent the browser, allow everything, and follow the redirect back."""
        with httpx.Client(base_url=str(self.facts["api_url"]), trust_env=False, timeout=30) as browser:
            began = Form.of(browser.get(authorize_url))
            mailed = browser.post(began.action, data=_sent(began, email=self.email))
            assert mailed.status_code == 200, mailed.text[:2000]
            consent = Form.of(browser.get(self._mailed_link()))
            decided = browser.post(consent.action, data=_sent(consent, decision="allow"))
            assert decided.is_redirect, decided.text[:2000]
            browser.get(decided.headers["location"]).raise_for_status()

    def _mailed_link(self) -> str:
        """Return the link of the only sign-in mail."""
        deadline = time.monotonic() + MAIL_SECONDS
        while time.monotonic() < deadline:
            mails = httpx.get(f"{self.facts['sandbox_url']}/_control/mail", params={"to": self.email}, trust_env=False)
            for mail in mails.raise_for_status().json()["data"]:
                for link in mail["links"]:
                    if httpx.URL(link).path == LINK_PATH:
                        return str(link)
            time.sleep(POLL_SECONDS)
        raise AssertionError(f"no mail with a link to sign in came to {self.email}")


def _sent(form: Form, **filled: str) -> dict[str, list[str]]:
    """Return the form's values with these fields filled in."""
    sent: dict[str, list[str]] = {name: [value] for name, value in filled.items()}
    for name, value in form.fields:
        sent.setdefault(name, []).append(value)
    return sent
