"""Loads: what an installation is kept busy with while it is hit, and what has to be true of it in the end."""

from typing import Protocol

PATIENCE_SECONDS = 600.0
"""For one call of the api, which may lie frozen for two minutes and be hit again."""


class Load(Protocol):
    """Work of one kind. A day is a day of service time; calls may take as long as processes lie down."""

    def day(self, number: int) -> None:
        """Give the installation its work of another day, and let happen what happens on it."""

    def noon(self) -> None:
        """Go on with what the morning's work has brought; most have nothing to."""
        return

    def evening(self) -> None:
        """Note what will be forgotten; most have nothing to."""
        return

    def told(self) -> str:
        """How far it is, in one line."""

    def has_ended(self) -> bool:
        """Whether all that was begun has ended."""

    def faults(self) -> list[str]:
        """Every promise that was broken, in words; asked when nothing is under way any more."""
