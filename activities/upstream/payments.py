"""The port to a payment provider, in our own terms; each provider has one adapter."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from models.billing.rules.outreach_plans import ProviderSubscription
from models.billing.rules.payments import PaymentEvent, PaymentKind
from models.billing.rules.prices import Offer


@dataclass(frozen=True, slots=True)
class Buyer:
    """The workspace as a customer of the provider."""

    workspace_id: str
    name: str
    email: str


@dataclass(frozen=True, slots=True)
class CheckoutAsk:
    """A page at the provider on which a person pays for an offer. `payment_id` is the idempotency key."""

    payment_id: str
    workspace_id: str
    customer_id: str
    offer: Offer
    success_url: str
    cancel_url: str


@dataclass(frozen=True, slots=True)
class Checkout:
    """The provider's page, open until `expires_at`."""

    session_id: str
    url: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class ChargeAsk:
    """A charge without the person being there. `payment_id` is the idempotency key."""

    payment_id: str
    workspace_id: str
    customer_id: str
    method_id: str
    offer: Offer


@dataclass(frozen=True, slots=True)
class ProviderCharge:
    """A charge at the provider: taken (its callback confirms the payment), or declined with a code."""

    charge_id: str | None
    declined: str | None = None


@dataclass(frozen=True, slots=True)
class OutreachAsk:
    """How many outreach accounts of a workspace are to be charged each month. `change_id` is the idempotency key.

    `method_id` is what is charged; null leaves it as it is.
    """

    change_id: str
    workspace_id: str
    customer_id: str
    method_id: str | None
    accounts: int


@dataclass(frozen=True, slots=True)
class Purchase:
    """What our own call wrote on an object of the provider: which payment it belongs to, of whom, for what."""

    payment_id: str
    workspace_id: str
    customer_id: str
    item: str
    kind: PaymentKind


class Payments(Protocol):
    """A payment provider.

    Errors of every call: `PaymentsBusy` (certainly nothing was done), `PaymentsUnclear` (it may have been done),
    `PaymentsRefused` (the provider understood and will never do it), `PaymentsNotConfigured`.
    """

    async def customer(self, buyer: Buyer) -> str:
        """The provider's id of a workspace, made when it has none. May be repeated: there is one for each workspace."""
        ...

    async def open_checkout(self, ask: CheckoutAsk) -> Checkout:
        """Open the page. Never repeated: without an answer, `find_checkout` says what became of it."""
        ...

    async def find_checkout(self, payment_id: str, customer_id: str) -> Checkout | None:
        """Return the page that was opened for a payment, null when there is none."""
        ...

    async def charge(self, ask: ChargeAsk) -> ProviderCharge:
        """Charge the payment method. It is never repeated: without an answer, `find_charge` tells the result."""
        ...

    async def find_charge(self, payment_id: str, customer_id: str) -> ProviderCharge | None:
        """Return the charge that was made for a payment, null when there is none."""
        ...

    async def end_plan(self, subscription_id: str) -> None:
        """End a plan when its paid month ends. May be repeated; a plan that has ended stays so."""
        ...

    async def hold_outreach(self, ask: OutreachAsk) -> ProviderSubscription:
        """Charge for this number of accounts from now on, 0 for none; parts of a month are charged and credited.

        May be repeated with the same ask: the present subscription is read first. Raises `PaymentsDeclined` when the
        payment method does not pay for more accounts; then nothing has changed.
        """
        ...

    async def find_outreach(self, workspace_id: str, customer_id: str) -> ProviderSubscription:
        """Return the provider's subscription for a workspace's outreach accounts."""
        ...

    def read_callback(self, body: bytes) -> tuple[PaymentEvent, ...]:
        """Return the events in a callback; none when it does not concern us. Raises `ValueError` for another shape."""
        ...

    def read_purchase(self, body: bytes) -> Purchase | None:
        """Return the purchase named in a callback, null when it names none. Raises `ValueError` for another shape."""
        ...

    def callbacks_since(self, since: datetime) -> AsyncIterator[bytes]:
        """Yield the bodies of all callbacks since then, newest first, as far back as the provider keeps them."""
        ...


class PaymentsError(Exception):
    """A payment provider did not do what was asked. Messages carry no personal data."""


class PaymentsBusy(PaymentsError):
    """The provider was not reached or is too busy; it certainly did nothing."""


class PaymentsNotConfigured(PaymentsBusy):
    """There is no key, or it is refused: an operator has to act."""


class PaymentsUnclear(PaymentsError):
    """There was no usable answer: it may have been done or not."""


class PaymentsRefused(PaymentsError):
    """The provider understood the request and refuses it; the message is its code."""


class PaymentsDeclined(PaymentsError):
    """The payment method does not pay; the message is the provider's code."""


class NoPayments:
    """The provider of an installation without one."""

    async def customer(self, buyer: Buyer) -> str:
        """Raise `PaymentsNotConfigured`."""
        raise PaymentsNotConfigured(buyer.workspace_id)

    async def open_checkout(self, ask: CheckoutAsk) -> Checkout:
        """Raise `PaymentsNotConfigured`."""
        raise PaymentsNotConfigured(ask.payment_id)

    async def find_checkout(self, payment_id: str, customer_id: str) -> Checkout | None:
        """Raise `PaymentsNotConfigured`."""
        raise PaymentsNotConfigured(payment_id, customer_id)

    async def charge(self, ask: ChargeAsk) -> ProviderCharge:
        """Raise `PaymentsNotConfigured`."""
        raise PaymentsNotConfigured(ask.payment_id)

    async def find_charge(self, payment_id: str, customer_id: str) -> ProviderCharge | None:
        """Raise `PaymentsNotConfigured`."""
        raise PaymentsNotConfigured(payment_id, customer_id)

    async def end_plan(self, subscription_id: str) -> None:
        """Raise `PaymentsNotConfigured`."""
        raise PaymentsNotConfigured(subscription_id)

    async def hold_outreach(self, ask: OutreachAsk) -> ProviderSubscription:
        """Raise `PaymentsNotConfigured`."""
        raise PaymentsNotConfigured(ask.change_id)

    async def find_outreach(self, workspace_id: str, customer_id: str) -> ProviderSubscription:
        """Raise `PaymentsNotConfigured`."""
        raise PaymentsNotConfigured(workspace_id, customer_id)

    def read_callback(self, body: bytes) -> tuple[PaymentEvent, ...]:
        """Return nothing: no callback is accepted here."""
        del body
        return ()

    def read_purchase(self, body: bytes) -> Purchase | None:
        """Return null."""
        del body
        return None

    def callbacks_since(self, since: datetime) -> AsyncIterator[bytes]:
        """Raise `PaymentsNotConfigured`."""
        raise PaymentsNotConfigured(since.isoformat())
