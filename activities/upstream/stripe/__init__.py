"""Stripe as a payment provider: Checkout, payment intents, subscriptions, and their signed events."""

from activities.upstream.stripe.client import StripePayments

__all__ = ["StripePayments"]
