"""Registering where the provider sends its events: found by address, or made, with as many events as it knows."""

from collections.abc import Mapping
from typing import Any, Protocol

import structlog

from activities.upstream.ports.network import CallbackEndpoint
from activities.upstream.ports.network_errors import AskRefused, NetworkBusy
from activities.upstream.unipile import shapes
from activities.upstream.unipile.client import Json
from activities.upstream.unipile.paging import rows_of

log = structlog.get_logger(__name__)

REQUIRED = (
    *("account.add", "account.reconnect", "account.remove"),
    *("account.status.running", "account.status.disconnected", "account.status.errored", "message.new"),
)
# The provider's list differs by date, and one unknown name refuses the whole registration.
OPTIONAL = (
    *("relation.new", "relation.request.accept", "account.status.degraded", "account.status.partial"),
    *("account.locked", "account.unlocked", "account.status.paused"),
)
PATH = ("webhooks", "endpoints")
PER_PAGE = 100
MOST_PAGES = 20


class CoreCall(Protocol):
    """A call of the provider's own things."""

    async def __call__(
        self,
        operation: str,
        method: str,
        path: tuple[str, ...],
        *,
        body: Json | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Json:
        """The JSON object answered."""
        ...


class Endpoints:
    """The provider's webhook endpoints."""

    def __init__(self, call: CoreCall) -> None:
        self._call = call

    async def ensure(self, url: str) -> CallbackEndpoint:
        """The one enabled endpoint with this address and every event the provider agrees to send."""
        rows = [row for row in await self._all() if row.get("url") == url]
        for surplus in rows[1:]:  # left by a registration whose answer was lost: its secret would sign too
            await self._call("webhooks/delete", "DELETE", (*PATH, _id(surplus)))
        if not rows:
            return await self._registered(url)
        endpoint = _read(rows[0])
        if rows[0].get("enabled") is not True:
            endpoint = await self._changed(endpoint, {"enabled": True})
        missing = [name for name in REQUIRED if name not in endpoint.events]
        if missing:
            endpoint = await self._changed(endpoint, {"trigger_events": sorted({*endpoint.events, *REQUIRED})})
        return endpoint if endpoint.tells_acceptance else await self._completed(endpoint)

    async def _registered(self, url: str) -> CallbackEndpoint:
        try:
            return await self._made(url, (*REQUIRED, *OPTIONAL))
        except AskRefused:
            return await self._completed(await self._made(url, REQUIRED))

    async def _completed(self, endpoint: CallbackEndpoint) -> CallbackEndpoint:
        """Add each optional event that the provider knows."""
        for name in OPTIONAL:
            try:
                endpoint = await self._changed(endpoint, {"trigger_events": sorted({*endpoint.events, name})})
            except AskRefused:
                log.info("unipile.event_unknown", type=name)
        if not endpoint.tells_acceptance:
            log.warning("unipile.no_relation_event")
        return endpoint

    async def _made(self, url: str, events: tuple[str, ...]) -> CallbackEndpoint:
        body: Json = {"url": url, "trigger_events": list(events), "account_ids": []}
        return _read(await self._call("webhooks/create", "POST", PATH, body=body))

    async def _changed(self, endpoint: CallbackEndpoint, change: Json) -> CallbackEndpoint:
        return _read(await self._call("webhooks/change", "PATCH", (*PATH, endpoint.id), body=change))

    async def _all(self) -> list[Json]:
        found: dict[str, Json] = {}
        for _ in range(MOST_PAGES):
            query = {"limit": str(PER_PAGE), "offset": str(len(found))}
            page = await self._call("webhooks/list", "GET", PATH, query=query)
            rows = _rows(page)
            found |= {_id(row): row for row in rows}
            if not rows or page.get("has_more") is not True:
                return list(found.values())
        raise NetworkBusy("too_many_pages")


def _rows(page: Json) -> list[dict[str, Any]]:
    try:
        return rows_of(page)
    except shapes.Unreadable:
        raise NetworkBusy("unreadable") from None


def _read(body: Json) -> CallbackEndpoint:
    try:
        return shapes.endpoint(body)
    except shapes.Unreadable:
        raise NetworkBusy("unreadable") from None


def _id(body: Json) -> str:
    try:
        return shapes.required_id(body)
    except shapes.Unreadable:
        raise NetworkBusy("unreadable") from None
