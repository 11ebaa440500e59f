"""The HTTP of Stripe's library: one call, pages of a customer's objects, and what errors mean."""

from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import httpx
import stripe

from activities.upstream.payments import PaymentsBusy, PaymentsNotConfigured, PaymentsRefused, PaymentsUnclear
from models.operate import traces
from models.operate.traces import Fact


class SpannedClient(stripe.HTTPXClient):
    """The library's HTTP, with a span around each call; spans leave out the URL, which holds the provider's ids."""

    async def request_async(self, method: str, *asked: Any, **more: Any) -> tuple[bytes, int, Mapping[str, str]]:  # noqa: ANN401 - the library's own
        """Make one call."""
        with traces.upstream("stripe", method.upper()) as span:
            answer = await super().request_async(method, *asked, **more)
            traces.set_attribute(span, Fact.STATUS, answer[1])
            return answer


T = TypeVar("T")

PAGE = 100
MOST_READ = 1000
"""Objects of one customer, newest first; the one in question was made in the last minutes."""
SERVER_ERROR = 500
TOO_MANY = 429
CONFLICT = 409


async def asked(call: Awaitable[T]) -> T:
    """Return the answer. Raises the errors of the port."""
    try:
        return await call
    except stripe.StripeError as error:
        raise translated(error) from error


@asynccontextmanager
async def list_objects(service: Any, customer_id: str) -> AsyncIterator[AsyncIterator[Any]]:  # noqa: ANN401 - one of several services
    """Yield a customer's objects, newest first, page by page. Raises the errors of the port."""
    try:
        first = await service.list_async({"customer": customer_id, "limit": PAGE})
        yield _pages(first)
    except stripe.StripeError as error:
        raise translated(error) from error


async def _pages(first: Any) -> AsyncIterator[Any]:  # noqa: ANN401 - the library's list
    read = 0
    async for found in first.auto_paging_iter():
        yield found
        read += 1
        if read >= MOST_READ:
            return


def translated(error: stripe.StripeError) -> Exception:
    """Return the port's error for one of the library: certainly not done, unclear, or refused for good."""
    status = error.http_status
    if isinstance(error, stripe.APIConnectionError):
        never_left = isinstance(error.__cause__, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
        return PaymentsBusy("not reached") if never_left else PaymentsUnclear("no answer")
    if isinstance(error, stripe.AuthenticationError | stripe.PermissionError):
        return PaymentsNotConfigured("the key is refused")
    if status == TOO_MANY:
        return PaymentsBusy("too many calls")
    if status is None or status >= SERVER_ERROR or status == CONFLICT:
        return PaymentsUnclear(f"status {status}")
    if isinstance(error, stripe.InvalidRequestError | stripe.CardError | stripe.IdempotencyError):
        return PaymentsRefused(error.code or type(error).__name__)
    return PaymentsUnclear(type(error).__name__)
