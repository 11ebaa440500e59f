"""Webhook endpoints: made, changed, tested; their deliveries, and a retry by hand (contract, section 6)."""

import asyncio
import secrets
from dataclasses import dataclass

from api.events.schemas import (
    ChangeEndpoint,
    CreateEndpoint,
    DeliveryView,
    EndpointSecret,
    EndpointTested,
    EndpointView,
    ListDeliveries,
)
from api.kernel.operation import Context, Effect, Noun, operation
from api.kernel.schemas import Listing, PageAsk
from models.access.rules.keys import Scope
from models.access.store import workspaces
from models.base.database import Database
from models.base.errors import Conflict, InvalidRequest
from models.base.ids import new_id
from models.base.outbound import AddressRefused, RefusedUrl, Resolver, Target, Unresolved, parse_webhook_url
from models.base.settings import Settings
from models.events.rules.deliveries import ENDPOINTS, SECRET_BYTES, AttemptError, EndpointStatus, hint, new_secret
from models.events.store import deliveries, events
from models.events.tables import WebhookEndpoint

WEBHOOKS = Noun("Webhook endpoints", "Addresses that events are sent to, and the deliveries.")

RESOLVER = Resolver()
RESOLVE_SECONDS = 5.0
TEST_SECONDS = 6.0
LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class EndpointChange:
    """An endpoint and what is to become of it."""

    endpoint_id: str
    change: ChangeEndpoint


@dataclass(frozen=True, slots=True)
class DeliveryRetry:
    """A delivery of an endpoint that is to be attempted once more."""

    endpoint_id: str
    delivery_id: str


async def _check_new(settings: Settings, ask: CreateEndpoint) -> None:
    await _check_address(settings, ask.url)


async def _check_changed(settings: Settings, ask: EndpointChange) -> None:
    if ask.change.url is not None:
        await _check_address(settings, ask.change.url)


async def _check_address(settings: Settings, url: str) -> None:
    """Refuse a URL whose name leads to any address that is not public. Raises `InvalidRequest`."""
    target = _target(settings, url)
    try:
        async with asyncio.timeout(RESOLVE_SECONDS):
            await RESOLVER.addresses(target)
    except AddressRefused as error:
        raise InvalidRequest("url must lead to public addresses only.", field="url") from error
    except (Unresolved, TimeoutError) as error:
        raise InvalidRequest("The name in url has no address.", field="url") from error


def _target(settings: Settings, url: str) -> Target:
    try:
        return parse_webhook_url(url, loopback=settings.webhook_loopback)
    except RefusedUrl as error:
        raise InvalidRequest(f"url {error}.", field="url") from error


@operation(
    "webhook_endpoints.list", scope=Scope.ACCOUNT_READ, effect=Effect.READ, route=WEBHOOKS.get("/webhook-endpoints")
)
async def list_endpoints(ctx: Context, ask: PageAsk) -> Listing[EndpointView]:
    """Every endpoint of the account, disabled ones included."""
    paging = ctx.paging(ask)
    found = await deliveries.page_of_endpoints(ctx.session, ctx.tenant.workspace_id, paging.page)
    return paging.listing(found, EndpointView.of)


@operation(
    "webhook_endpoints.get",
    scope=Scope.ACCOUNT_READ,
    effect=Effect.READ,
    route=WEBHOOKS.get("/webhook-endpoints/{endpoint_id:id}"),
)
async def get_endpoint(ctx: Context, endpoint_id: str) -> EndpointView:
    """One endpoint."""
    return EndpointView.of(await deliveries.load_endpoint(ctx.session, ctx.tenant.workspace_id, endpoint_id))


@operation(
    "webhook_endpoints.create",
    scope=Scope.ACCOUNT_WRITE,
    effect=Effect.WRITE,
    route=WEBHOOKS.post("/webhook-endpoints", status=201, location="/webhook-endpoints/{answer.id}"),
    beforehand=_check_new,
)
async def create_endpoint(ctx: Context, ask: CreateEndpoint) -> EndpointSecret:
    """Add an endpoint, at most {webhooks.most} for an account. Its secret is shown this once."""
    workspace_id = ctx.tenant.workspace_id
    await workspaces.lock_workspace(ctx.session, workspace_id)
    now = await ctx.read_clock()
    if await deliveries.count_endpoints(ctx.session, workspace_id) >= ENDPOINTS:
        raise Conflict(f"An account has at most {ENDPOINTS} webhook endpoints.", limit=ENDPOINTS)
    if ask.customer_id and await workspaces.find_customer(ctx.session, workspace_id, ask.customer_id) is None:
        raise InvalidRequest("There is no such customer in this workspace.", field="customer_id")
    secret = new_secret(secrets.token_bytes(SECRET_BYTES))
    row = WebhookEndpoint(
        id=new_id("whe", now),
        workspace_id=workspace_id,
        customer_id=ask.customer_id or None,
        url=_target(ctx.settings, ask.url).url,
        events=list(dict.fromkeys(ask.events)),
        description=ask.description or None,
        secret=ctx.vault.seal(deliveries.SECRET_PURPOSE, secret.encode()),
        secret_hint=hint(secret),
        created_at=now,
    )
    ctx.session.add(row)
    await ctx.note("webhook_endpoint.created", subject_id=row.id)
    return _with_secret(row, secret)


@operation(
    "webhook_endpoints.change",
    scope=Scope.ACCOUNT_WRITE,
    effect=Effect.WRITE,
    route=WEBHOOKS.patch("/webhook-endpoints/{endpoint_id:id}"),
    beforehand=_check_changed,
)
async def change_endpoint(ctx: Context, ask: EndpointChange) -> EndpointView:
    """Change an endpoint. `disabled` drops its pending deliveries for good."""
    row = await _lock(ctx, ask.endpoint_id)
    change, given = ask.change, ask.change.model_fields_set
    for name in given & {"url", "events", "status"}:
        if getattr(change, name) is None:
            raise InvalidRequest(f"{name} cannot be null.", field=name)
    if change.url is not None:
        row.url = _target(ctx.settings, change.url).url
    if change.events is not None:
        row.events = list(dict.fromkeys(change.events))
    if "description" in given:
        row.description = change.description or None
    if change.status is EndpointStatus.DISABLED and row.status != EndpointStatus.DISABLED:
        await deliveries.disable_endpoint(ctx.session, row)
    row.status = change.status or row.status
    await ctx.note("webhook_endpoint.changed", subject_id=row.id, data={"fields": sorted(given)})
    return EndpointView.of(row)


@operation(
    "webhook_endpoints.delete",
    scope=Scope.ACCOUNT_WRITE,
    effect=Effect.WRITE,
    route=WEBHOOKS.delete("/webhook-endpoints/{endpoint_id:id}"),
)
async def delete_endpoint(ctx: Context, endpoint_id: str) -> None:
    """Delete an endpoint and drop its pending deliveries."""
    row = await _lock(ctx, endpoint_id)
    await deliveries.remove_endpoint(ctx.session, row)
    await ctx.note("webhook_endpoint.deleted", subject_id=row.id)


@operation(
    "webhook_endpoints.rotate_secret",
    scope=Scope.ACCOUNT_WRITE,
    effect=Effect.WRITE,
    route=WEBHOOKS.post("/webhook-endpoints/{endpoint_id:id}/rotate-secret"),
)
async def rotate_secret(ctx: Context, endpoint_id: str) -> EndpointSecret:
    """Give an endpoint a new secret, shown this once. The old one stops at once, for queued retries too."""
    row = await _lock(ctx, endpoint_id)
    secret = new_secret(secrets.token_bytes(SECRET_BYTES))
    row.secret, row.secret_hint = ctx.vault.seal(deliveries.SECRET_PURPOSE, secret.encode()), hint(secret)
    await ctx.note("webhook_endpoint.rotated", subject_id=row.id)
    return _with_secret(row, secret)


@operation(
    "webhook_endpoints.test",
    scope=Scope.ACCOUNT_WRITE,
    effect=Effect.WRITE,
    route=WEBHOOKS.post("/webhook-endpoints/{endpoint_id:id}/test"),
)
async def test_endpoint(ctx: Context, endpoint_id: str) -> EndpointTested:
    """Send one signed `ping` now and tell what the endpoint answered. It is not retried."""
    row = await deliveries.load_endpoint(ctx.session, ctx.tenant.workspace_id, endpoint_id)
    if row.status != EndpointStatus.ENABLED:
        raise Conflict("This endpoint is disabled.", status=row.status)
    event_id, delivery_id = events.emit_ping(ctx.session, row, now=ctx.now)
    ctx.woken.append(deliveries.delivery_subject(delivery_id))  # inserted as waiting; woken after the commit
    ctx.afterwards = lambda database: _tested(database, event_id, delivery_id)
    return _untested(event_id)


async def _tested(database: Database, event_id: str, delivery_id: str) -> EndpointTested:
    """What the attempt came to; the worker makes it, this looks at its row."""
    deadline = asyncio.get_running_loop().time() + TEST_SECONDS
    while asyncio.get_running_loop().time() < deadline:
        shown = DeliveryView.of(await deliveries.show_delivery(database.statements, delivery_id))
        if shown.attempts:
            made = shown.attempts[0]
            return EndpointTested(
                event_id=event_id, status_code=made.status_code, error=made.error, duration_ms=made.duration_ms
            )
        await asyncio.sleep(LOOK_SECONDS)
    await database.run(lambda session: deliveries.give_up_delivery(session, delivery_id))
    return _untested(event_id)


def _untested(event_id: str) -> EndpointTested:
    return EndpointTested(event_id=event_id, status_code=None, error=AttemptError.NOT_ATTEMPTED, duration_ms=0)


@operation(
    "deliveries.list",
    scope=Scope.ACCOUNT_READ,
    effect=Effect.READ,
    route=WEBHOOKS.get("/webhook-endpoints/{endpoint_id:id}/deliveries"),
)
async def list_deliveries(ctx: Context, ask: ListDeliveries) -> Listing[DeliveryView]:
    """The endpoint's deliveries with every attempt, newest first."""
    await deliveries.load_endpoint(ctx.session, ctx.tenant.workspace_id, ask.endpoint_id)
    paging = ctx.paging(ask, within=ask.endpoint_id)
    found = await deliveries.page_of_deliveries(ctx.session, ask.endpoint_id, paging.page, status=ask.status)
    return paging.listing(found, DeliveryView.of)


@operation(
    "deliveries.retry",
    scope=Scope.ACCOUNT_WRITE,
    effect=Effect.WRITE,
    route=WEBHOOKS.post("/webhook-endpoints/{endpoint_id:id}/deliveries/{delivery_id:id}/retry"),
)
async def retry_delivery(ctx: Context, ask: DeliveryRetry) -> DeliveryView:
    """Queue one more attempt now, whatever has become of the delivery."""
    endpoint = await _lock(ctx, ask.endpoint_id)
    delivery = await deliveries.retry_now(ctx.session, endpoint, ask.delivery_id)
    await ctx.wake(deliveries.delivery_subject(delivery.id))
    return DeliveryView.of(delivery)


async def _lock(ctx: Context, endpoint_id: str) -> WebhookEndpoint:
    return await deliveries.load_endpoint(ctx.session, ctx.tenant.workspace_id, endpoint_id, lock=True)


def _with_secret(row: WebhookEndpoint, secret: str) -> EndpointSecret:
    return EndpointSecret(**EndpointView.of(row).model_dump(), secret=secret)
