"""Prices, credits, payments, refills and subscriptions."""
