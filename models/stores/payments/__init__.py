"""Payments as rows: made by whoever buys, called by the worker, settled by the provider's callbacks."""
