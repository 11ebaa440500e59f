"""Assembles the payments side: calls, pages, events and control."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sandbox.clock import Clock
from sandbox.faults import Faults
from sandbox.payments.billing import Billing
from sandbox.payments.calls import Calls, Operation
from sandbox.payments.control import payments_control
from sandbox.payments.gate import PROVIDER, Gate
from sandbox.payments.ledger import Ledger
from sandbox.payments.outbox import CALLBACK, Outbox
from sandbox.payments.pages import Pages
from sandbox.payments.wire import answer, invalid
from sandbox.side import Side
from sandbox.state import State

DEFAULT_KEY = "sk_test_sandbox"
DEFAULT_SECRET = "whsec_sandbox"  # noqa: S105 - of an invented provider
_ANY = ["GET", "POST", "DELETE"]


@dataclass(frozen=True, slots=True)
class PaymentsSettings:
    """Options of the payments side: valid keys, the URL for events and their signing secret."""

    api_keys: frozenset[str] = frozenset({DEFAULT_KEY})
    callback_url: str | None = None
    callback_secret: str = DEFAULT_SECRET


def payments_side(*, state: State, clock: Clock, faults: Faults, settings: PaymentsSettings) -> Side:
    """Build the payments side of the sandbox."""
    ledger = Ledger(state, clock)
    billing = Billing(ledger)
    outbox = Outbox(ledger, billing, clock, faults, url=settings.callback_url, secret=settings.callback_secret)
    gate = Gate(state, clock, faults, ledger, settings.api_keys)
    operations = Calls(ledger, billing).operations()
    pages = Pages(ledger, billing, outbox)

    def endpoint(operation: Operation) -> Callable[[Request], Awaitable[Response]]:
        async def serve(request: Request) -> Response:
            return await gate.serve(request, operation)

        return serve

    def next_at() -> datetime | None:
        moments = [billing.next_at(), ledger.next_event_at() if outbox.has_receiver else None]
        return min((moment for moment in moments if moment is not None), default=None)

    return Side(
        provider=PROVIDER,
        operations=frozenset(operation.name for operation in operations) | {CALLBACK},
        routes=(
            *(Route(one.path, endpoint(one), methods=[one.method], name=one.name) for one in operations),
            Route("/v1/{path:path}", _unknown_path, methods=_ANY),
            Route("/pay/{id}", pages.show, methods=["GET"]),
            Route("/pay/{id}", pages.act, methods=["POST"]),
        ),
        control=payments_control(state=state, ledger=ledger, billing=billing, outbox=outbox),
        next_at=next_at,
        run=outbox.run,
    )


async def _unknown_path(request: Request) -> Response:
    error = invalid(f"Unrecognized request URL ({request.method}: {request.url.path}).", status=404)
    return answer(error.status, error.body)
