"""Searching for people, as callers meet it: intents, plans, runs and the raw layer."""
