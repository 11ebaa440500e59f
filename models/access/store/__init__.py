"""Queries of access."""
