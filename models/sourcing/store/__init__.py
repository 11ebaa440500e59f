"""Queries of sourcing."""
