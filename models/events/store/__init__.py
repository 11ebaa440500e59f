"""Queries of events and deliveries."""
