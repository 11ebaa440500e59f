"""Queries of outreach."""
