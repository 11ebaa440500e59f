"""What every subject stands on: database, clock, ids, errors, settings, tenant scope, outbox, idempotency."""
