"""Buying credits: a page at the payment provider, its callbacks, and auto-refill (contract, section 4).

The API asks nothing of the provider: it writes the payment and waits for the worker that does.
"""

import asyncio
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.billing.credits import CREDITS
from api.billing.schemas import AutoRefillView, CheckoutPreview, CheckoutView, OpenCheckout, SetAutoRefill
from api.kernel import body
from api.kernel.kernel import Awaited, Kernel, OperationCall, Shape
from api.kernel.middleware import CALLBACKS
from api.kernel.operation import Context, Effect, operation
from models.access.rules.keys import CURRENT_VERSION, Scope
from models.base import outbox
from models.base.database import Database
from models.base.errors import InvalidRequest, NotFound, PaymentRefused, PaymentsUnavailable
from models.billing.engine import callbacks
from models.billing.engine.payments import RefillSettings, refill_standing, refill_subject, save_refill_settings
from models.billing.rules.payments import UNASKED, PaymentKind, PaymentStatus, is_signed
from models.billing.rules.prices import OFFER_OF, Offer
from models.billing.store import payments
from models.billing.store.payments import ReturnUrls

WAIT_SECONDS = 25.0
FIRST_LOOK_SECONDS = 0.03
LOOK_SECONDS = 0.25
RETRY_SECONDS = 5


@operation(
    "billing.checkout",
    scope=Scope.ACCOUNT_WRITE,
    effect=Effect.SPEND,
    route=CREDITS.post("/billing/checkout", status=201),
)
async def open_checkout(ctx: Context, ask: OpenCheckout) -> Awaited[CheckoutView] | CheckoutPreview:
    """Open a page of the payment provider on which a person pays, or preview what would be bought."""
    offer = OFFER_OF[ask.item]
    workspace_id = ctx.tenant.workspace_id
    await payments.refuse_second_plan(ctx.session, workspace_id, offer)
    if ctx.dry_run:
        return _preview(ask, offer)
    if ctx.settings.stripe_api_key is None:
        raise PaymentsUnavailable
    payment = await payments.find_open_payment(ctx.session, ctx.use, now=ctx.now)
    if payment is None:
        back = ReturnUrls(ask.success_url, ask.cancel_url)
        payment = payments.add_payment(
            ctx.session, workspace_id, PaymentKind.CHECKOUT, offer, now=ctx.now, use=ctx.use, back=back
        )
        await ctx.wake(payments.payment_subject(payment.id))
        await ctx.note("checkout.opened", subject_id=payment.id, data={"item": offer.id})
    payment_id = payment.id

    async def answer(later: Context) -> CheckoutView:
        made = await payments.find_payment(later.session, payment_id)
        if made is None or made.status == PaymentStatus.FAILED:
            if made is not None and made.reason == "provider_unavailable":
                raise PaymentsUnavailable(retry_after=RETRY_SECONDS)
            raise PaymentRefused("The payment provider refused the purchase. Nothing was charged.")
        if made.session_id is None or made.checkout_url is None or made.expires_at is None:
            raise PaymentsUnavailable(retry_after=RETRY_SECONDS)
        return CheckoutView(
            id=made.id,
            item=ask.item,
            checkout_url=made.checkout_url,
            session_id=made.session_id,
            expires_at=made.expires_at,
        )

    return Awaited(lambda waiter: _until_asked(waiter.database, payment_id), answer)


async def _until_asked(database: Database, payment_id: str) -> None:
    """Wait until the provider has answered. An equal request goes on waiting for the same payment."""
    deadline = asyncio.get_running_loop().time() + WAIT_SECONDS
    pause = FIRST_LOOK_SECONDS
    while await payments.payment_status_of(database.statements, payment_id) in UNASKED:
        if asyncio.get_running_loop().time() >= deadline:
            raise PaymentsUnavailable(retry_after=RETRY_SECONDS)
        await asyncio.sleep(pause)
        pause = min(2 * pause, LOOK_SECONDS)


def _preview(ask: OpenCheckout, offer: Offer) -> CheckoutPreview:
    return CheckoutPreview(
        item=ask.item,
        credits=offer.credits,
        price_cents=offer.price_cents,
        interval="month" if offer.monthly else None,
    )


@operation(
    "billing.get_auto_refill", scope=Scope.ACCOUNT_READ, effect=Effect.READ, route=CREDITS.get("/billing/auto-refill")
)
async def get_auto_refill(ctx: Context, _: None) -> AutoRefillView:
    """When a pack is bought by itself, and how that stands."""
    return await _view(ctx)


@operation(
    "billing.set_auto_refill", scope=Scope.ACCOUNT_WRITE, effect=Effect.WRITE, route=CREDITS.put("/billing/auto-refill")
)
async def set_auto_refill(ctx: Context, ask: SetAutoRefill) -> AutoRefillView:
    """Buy a pack when the balance falls below a threshold, up to so much a UTC month."""
    workspace_id = ctx.tenant.workspace_id
    wished = RefillSettings(ask.enabled, ask.threshold_credits, ask.monthly_cap_cents)
    await save_refill_settings(ctx.session, workspace_id, wished, now=ctx.now)
    await ctx.wake(refill_subject(workspace_id))
    await ctx.note("auto_refill.changed", subject_id=workspace_id, data=ask.model_dump(mode="json"))
    return await _view(ctx)


async def _view(ctx: Context) -> AutoRefillView:
    found = await refill_standing(
        ctx.session, ctx.tenant.workspace_id, now=ctx.now, configured=ctx.settings.stripe_api_key is not None
    )
    return AutoRefillView(
        enabled=found.enabled,
        threshold_credits=found.threshold_credits,
        monthly_cap_cents=found.monthly_cap_cents,
        spent_this_month_cents=found.spent_cents,
        status=found.status,
    )


# Callbacks of the payment provider. They are stored unread and answered at once; a worker applies them.


SIGNATURE = "stripe-signature"
EVENT_ID = re.compile(r"[A-Za-z0-9_]{1,200}")


@dataclass(frozen=True, slots=True)
class PaymentEvent:
    """One event, whose signature has been checked."""

    id: str
    body: bytes


@operation("callbacks.payments", scope=None, effect=Effect.WRITE)
async def keep_payment_event(ctx: Context, event: PaymentEvent) -> None:
    """Store a new event, encrypted since it may name people. The dispatcher wakes its workflow, to answer at once."""
    sealed = ctx.vault.seal(callbacks.BODY_PURPOSE, event.body)
    subject = await callbacks.keep_payment_callback(ctx.session, event.id, sealed, now=ctx.now)
    if subject is not None:
        await outbox.wake(ctx.session, subject)


async def receive_payment_event(request: Request) -> Response:
    """Take an event with a good signature; whether it was known already is no matter."""
    kernel: Kernel = request.app.state.kernel
    secret = kernel.settings.stripe_webhook_secret
    if secret is None:
        raise NotFound("There is nothing at this path.")
    content = await body.read_body(request)
    now = datetime.now(UTC)
    if not is_signed(content, request.headers.get(SIGNATURE, ""), [secret.get_secret_value()], now=now):
        raise InvalidRequest("The signature is missing, wrong, or of another time.", field="Stripe-Signature")
    event = PaymentEvent(_event_id(content), content)
    call = OperationCall(version=CURRENT_VERSION, now=now)
    await kernel.invoke(keep_payment_event, event, call, shape=Shape(status=lambda _: 204))
    return Response(status_code=204)


def _event_id(content: bytes) -> str:
    value = body.parse_body(content)
    found = value.get("id") if isinstance(value, dict) else None
    if not isinstance(found, str) or not EVENT_ID.fullmatch(found):
        raise InvalidRequest("An event has an id.", field="id")
    return found


ROUTES = [Route(f"{CALLBACKS}payments", receive_payment_event, methods=["POST"])]
