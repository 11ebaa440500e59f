"""The provider's own objects: accounts, connect links, webhook endpoints and the deliveries to them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import Field

from sandbox.clock import Clock
from sandbox.network.accounts import Accounts
from sandbox.network.behaviour import Behaviour
from sandbox.network.deliveries import Deliveries
from sandbox.network.events import EVENTS, Endpoint, Events
from sandbox.network.gate import Call
from sandbox.network.hosted import Link, Links
from sandbox.network.schema import Ids
from sandbox.network.wire import Answer, ApiError, Ask, listed_by_core, page_of, read

_LONGEST = 255


class CreateLink(Ask):
    """The request body of a connect link."""

    expires_on: str
    redirect_uri: str | None = None
    providers: str | list[str] | None = None
    account_id: str | None = None
    state: str | None = None
    domain: str | None = None
    config: dict[str, Any] | None = None


class CreateEndpoint(Ask):
    """The request body of a new webhook endpoint."""

    url: str
    trigger_events: list[str]
    account_ids: list[str] = Field(default_factory=list)
    description: str | None = None


class ChangeEndpoint(Ask):
    """The changeable fields of a webhook endpoint."""

    url: str | None = None
    trigger_events: list[str] | None = None
    account_ids: list[str] | None = None
    description: str | None = None
    enabled: bool | None = None


@dataclass(frozen=True, slots=True)
class Core:
    """Answers the core calls."""

    clock: Clock
    ids: Ids
    accounts: Accounts
    links: Links
    events: Events
    deliveries: Deliveries
    behaviour: Behaviour

    def create_link(self, call: Call) -> Answer:
        """Create a link to the hosted sign-in."""
        ask = read(CreateLink, call.content)
        expires = _moment(ask.expires_on)
        if expires <= self.clock.now():
            raise ApiError("api/invalid_parameters", "expires_on is past")
        if (ask.account_id is None) is (ask.providers is None):
            raise ApiError("api/invalid_parameters", "either providers or account_id")
        if not ask.redirect_uri:
            raise ApiError("api/invalid_parameters", "redirect_uri is required")
        if ask.account_id is not None and self.accounts.get(ask.account_id) is None:
            raise ApiError("api/resource_not_found", "there is no such account")
        link = Link(expires_on=expires, redirect_uri=ask.redirect_uri, account_id=ask.account_id, state=ask.state)
        token = self.ids.plain("link")
        self.links.write(token, link)
        return Answer({"object": "HostedAuthLink", "link": f"{call.base_url}/hosted-auth/{token}"})

    def list_accounts(self, call: Call) -> Answer:
        """Return all accounts by name."""
        page = page_of(call.query, by_cursor=False)
        rows = [self.accounts.shown(account) for account in self.accounts.all()]
        wanted = [row for row in rows if call.query.get("status") in (None, row["status"])]
        return Answer(listed_by_core("AccountList", sorted(wanted, key=lambda row: str(row["name"])), page))

    def show_account(self, call: Call) -> Answer:
        """Return an account, whatever its status."""
        account = self.accounts.get(call.values[0])
        if account is None:
            raise ApiError("api/resource_not_found", "there is no such account")
        return Answer(self.accounts.shown(account))

    def delete_account(self, call: Call) -> Answer:
        """Delete an account permanently."""
        account = self.accounts.get(call.values[0])
        if account is None:
            raise ApiError("api/resource_not_found", "there is no such account")
        self.accounts.remove(account.id)
        self.behaviour.tell_status(account, "account.remove", {})
        return Answer({"success": True})

    def create_endpoint(self, call: Call) -> Answer:
        """Register an endpoint for events; the answer contains its secret."""
        ask = read(CreateEndpoint, call.content)
        self._check(ask.url, ask.trigger_events, ask.description)
        endpoint = Endpoint(
            id=self.ids.plain("we"),
            url=ask.url,
            secret=self.ids.secret(),
            trigger_events=tuple(ask.trigger_events),
            account_ids=tuple(ask.account_ids),
            description=ask.description,
        )
        self.events.endpoints.write(endpoint)
        return Answer(endpoint.shown())

    def list_endpoints(self, call: Call) -> Answer:
        """Return all endpoints."""
        page = page_of(call.query, by_cursor=False)
        rows = [endpoint.shown() for endpoint in self.events.endpoints.all()]
        return Answer(listed_by_core("WebhookEndpointList", rows, page))

    def show_endpoint(self, call: Call) -> Answer:
        """Return one endpoint."""
        return Answer(self._endpoint(call).shown())

    def change_endpoint(self, call: Call) -> Answer:
        """Change an endpoint but not its secret."""
        ask, endpoint = read(ChangeEndpoint, call.content), self._endpoint(call)
        given = ask.model_dump(exclude_none=True)
        changed = Endpoint.model_validate(endpoint.model_dump() | given)
        self._check(changed.url, list(changed.trigger_events), changed.description)
        self.events.endpoints.write(changed)
        return Answer(changed.shown())

    def delete_endpoint(self, call: Call) -> Answer:
        """Delete an endpoint."""
        self.events.endpoints.remove(self._endpoint(call).id)
        return Answer({"success": True})

    def list_conversations(self, call: Call) -> Answer:
        """Return every attempt to send an event, the newest first."""
        page = page_of(call.query, by_cursor=False)
        rows = self.deliveries.conversations(call.query.get("endpoint_id"))
        return Answer(listed_by_core("WebhookConversationList", rows, page))

    def _endpoint(self, call: Call) -> Endpoint:
        endpoint = self.events.endpoints.get(call.values[0])
        if endpoint is None:
            raise ApiError("api/resource_not_found", "there is no such endpoint")
        return endpoint

    def _check(self, url: str, trigger_events: list[str], description: str | None) -> None:
        if not url.startswith(("http://", "https://")) or len(url) > _LONGEST or len(description or "") > _LONGEST:
            raise ApiError("api/invalid_parameters", f"url and description have at most {_LONGEST} characters")
        unknown = sorted(set(trigger_events) - EVENTS[self.events.generation])
        if unknown or not trigger_events:
            raise ApiError("api/invalid_parameters", f"trigger_events: unknown event {unknown[:1]}")


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ApiError("api/invalid_parameters", "expires_on must be a time in UTC")
    return moment
