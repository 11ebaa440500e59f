"""Deadlocks in PostgreSQL's log: the server's own counter is reset by every crash."""


def deadlocks(log: str) -> list[str]:
    """Return the log lines that report a deadlock."""
    return [line for line in log.splitlines() if "deadlock detected" in line]
