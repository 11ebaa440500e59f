"""Deadlocks, as PostgreSQL's log tells of them: its counter starts anew with every crash."""


def deadlocks(log: str) -> list[str]:
    """The lines that tell of one."""
    return [line for line in log.splitlines() if "deadlock detected" in line]
