"""Loads: the work that an installation does while it is hit, and the promises that must hold in the end."""

from typing import Protocol

PATIENCE_SECONDS = 600.0
"""For one call of the API, which may be frozen for two minutes and hit again."""


class Load(Protocol):
    """Work of one kind. Days are days of service time; calls may last as long as processes are down."""

    def day(self, number: int) -> None:
        """Start the work of one more day."""

    def noon(self) -> None:
        """Continue with the results of the morning; does nothing by default."""
        return

    def evening(self) -> None:
        """Note what will be deleted later; does nothing by default."""
        return

    def progress(self) -> str:
        """Return the progress in one line."""

    def has_ended(self) -> bool:
        """Return whether all started work has ended."""

    def faults(self) -> list[str]:
        """Return a description of every broken promise; called when no work is under way."""
