"""Queries about people."""
