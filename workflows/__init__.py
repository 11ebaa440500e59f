"""Durable control flow: ids, waits and rings only. No database, no HTTP, no profile, no text."""
