"""The hosted sign-in: connect links and the page that they lead to."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from html import escape
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from sandbox.clock import Clock
from sandbox.network.accounts import Account, Accounts, Status
from sandbox.network.behaviour import READY, Behaviour
from sandbox.network.people import OWNERS
from sandbox.network.schema import at_once
from sandbox.state import State

_OWNER_DIGITS = 6
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Connect an account (sandbox)</title></head>
<body><h1>Connect an account</h1><p>An invented network: no real person is contacted.</p>
<form method="post">
<p><label>Sign in as owner number <input name="owner" value="{owner}" inputmode="numeric" pattern="[0-9]+"></label></p>
{buttons}
</form></body></html>"""


class Outcome(StrEnum):
    """The buttons of the page."""

    SUCCEED = "succeed"
    FAIL = "fail"
    FAIL_WITHOUT_STATE = "fail_without_state"
    EXPIRED = "expired"
    RESTRICTED = "restricted"
    SECOND_ACCOUNT = "second_account"
    """Succeed although the provider already has an account of this owner."""


_LABELS = {
    Outcome.SUCCEED: "Succeed",
    Outcome.FAIL: "Fail",
    Outcome.FAIL_WITHOUT_STATE: "Fail without state",
    Outcome.EXPIRED: "Expired",
    Outcome.RESTRICTED: "Account restricted",
    Outcome.SECOND_ACCOUNT: "Succeed with a second account of this owner",
}
_FAILURES = {
    Outcome.FAIL: ("provider/invalid_credentials", "Invalid credentials"),
    Outcome.FAIL_WITHOUT_STATE: ("provider/invalid_credentials", "Invalid credentials"),
    Outcome.EXPIRED: ("api/expired_link", "Expired link"),
    Outcome.RESTRICTED: ("api/account_restricted", "Account restricted"),
}


class Link(BaseModel):
    """A connect link; `account_id` is set for a reconnection."""

    model_config = ConfigDict(frozen=True)

    expires_on: datetime
    redirect_uri: str
    account_id: str | None = None
    state: str | None = None
    used: bool = False


class Links:
    """All connect links."""

    def __init__(self, state: State) -> None:
        self._state = state

    def write(self, token: str, link: Link) -> None:
        """Store a link."""
        self._state.database.execute(
            "insert or replace into network_links values (?, ?)", (token, link.model_dump_json())
        )

    def get(self, token: str) -> Link | None:
        """Return one link."""
        row = self._state.database.execute("select body from network_links where token = ?", (token,)).fetchone()
        return None if row is None else Link.model_validate_json(row[0])


@dataclass(frozen=True, slots=True)
class HostedSignIn:
    """Serves the page and executes its buttons."""

    state: State
    clock: Clock
    accounts: Accounts
    links: Links
    behaviour: Behaviour
    ready_after: timedelta

    async def serve(self, request: Request) -> Response:
        """Show the page, or execute a button."""
        token = str(request.path_params["token"])
        link = self.links.get(token)
        if link is None or link.used or link.expires_on <= self.clock.now():
            return HTMLResponse("<h1>This link is used or has expired.</h1>", status_code=410)
        if request.method == "GET":
            return HTMLResponse(self._page(link))
        form = parse_qs((await request.body()).decode("utf-8", "replace"))
        pressed, owner = form.get("outcome", [""])[0], form.get("owner", [""])[0]
        if pressed not in set(Outcome) or (owner and not self._is_owner(owner)):
            return HTMLResponse("<h1>No such button or owner.</h1>", status_code=400)
        with at_once(self.state):
            self.links.write(token, link.model_copy(update={"used": True}))
            query = self._carried_out(link, Outcome(pressed), OWNERS + int(owner) if owner else self._owner(link))
        return RedirectResponse(_with_query(link.redirect_uri, query), status_code=303)

    def connect(self, owner: int, *, past: bool = True) -> Account:
        """Connect an owner's account with their `past`; its first synchronisation ends later."""
        account = self.accounts.add(owner)
        self.state.remember("network_owners", max(self.state.number("network_owners"), owner - OWNERS + 1))
        if past:
            self.behaviour.settle_in(owner)
        return account

    def next_owner(self) -> int:
        """Return an owner who has never connected an account."""
        return OWNERS + int(self.state.number("network_owners"))

    def _carried_out(self, link: Link, outcome: Outcome, owner: int) -> dict[str, str]:
        """Execute the button and return the parameters of the redirect."""
        state = {} if link.state is None or outcome is Outcome.FAIL_WITHOUT_STATE else {"state": link.state}
        if outcome in _FAILURES:
            return _failure(*_FAILURES[outcome]) | state
        known = self.accounts.get(link.account_id) if link.account_id else None
        if link.account_id is not None and (known is None or known.owner != owner):
            return _failure("provider/account_mismatch", "Account mismatch") | state
        if known is None and outcome is Outcome.SUCCEED and self.accounts.of_owner(owner) is not None:
            return _failure("api/already_exists", "Already exists") | state
        account = self._connected(known, owner)
        state = {"state": link.state} if link.state is not None else {}
        type_ = "account.add" if known is None else "account.reconnect"
        self.behaviour.events.tell(type_, account.id, state | {"provider": "linkedin"}, ids_of=state, promptly=True)
        self.behaviour.schedule.add(READY, {"account_id": account.id}, after=self.ready_after)
        return {"account_id": account.id, "provider": "linkedin"} | state

    def _connected(self, known: Account | None, owner: int) -> Account:
        if known is None:
            return self.connect(owner)
        renewed = known.model_copy(update={"status": Status.RUNNING, "classic": "running", "synchronised": False})
        self.accounts.write(renewed)
        return renewed

    def _is_owner(self, text: str) -> bool:
        return text.isascii() and text.isdecimal() and len(text) <= _OWNER_DIGITS

    def _owner(self, link: Link) -> int:
        known = self.accounts.get(link.account_id) if link.account_id else None
        return self.next_owner() if known is None else known.owner

    def _page(self, link: Link) -> str:
        buttons = "\n".join(
            f'<p><button name="outcome" value="{outcome}">{escape(label)}</button></p>'
            for outcome, label in _LABELS.items()
        )
        return _PAGE.format(owner=self._owner(link) - OWNERS, buttons=buttons)


def _failure(type_: str, title: str) -> dict[str, str]:
    return {"error_title": title, "type": type_, "title": title, "detail": "refused in the sandbox"}


def _with_query(url: str, query: Mapping[str, str]) -> str:
    parts = urlsplit(url)
    joined = "&".join(filter(None, [parts.query, urlencode(query)]))
    return urlunsplit(parts._replace(query=joined))
