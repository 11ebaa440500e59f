"""Durable control flow: ids, waits and wakes only. No database, no HTTP, no profile, no text."""
