"""The route on which the payment provider tells what happened: signed, answered at once, worked in later."""

import re
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.billing import purchases
from api.billing.purchases import PaymentEvent
from api.kernel import body
from api.kernel.kernel import Kernel, OperationCall, Shape
from api.kernel.middleware import CALLBACKS, entry_of
from models.base.errors import InvalidRequest, NotFound
from models.billing.rules.payments import is_signed

SIGNATURE = "stripe-signature"
EVENT_ID = re.compile(r"[A-Za-z0-9_]{1,200}")


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
    call = OperationCall(version=entry_of(request.scope).version, now=now)
    await kernel.invoke(purchases.keep_payment_event, event, call, shape=Shape(status=lambda _: 204))
    return Response(status_code=204)


def _event_id(content: bytes) -> str:
    value = body.parse_body(content)
    found = value.get("id") if isinstance(value, dict) else None
    if not isinstance(found, str) or not EVENT_ID.fullmatch(found):
        raise InvalidRequest("An event has an id.", field="id")
    return found


ROUTES = [Route(f"{CALLBACKS}payments", receive_payment_event, methods=["POST"])]
