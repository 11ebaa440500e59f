"""Service time: the real clock plus an offset that the control API sets."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from sandbox.state import State


def rfc3339(moment: datetime) -> str:
    """Write a moment in UTC with a `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Clock:
    """The sandbox's clock; an offset given at the start replaces the remembered one."""

    def __init__(self, state: State, *, offset_seconds: float | None = None) -> None:
        self._state = state
        if offset_seconds is not None:
            state.remember("clock_offset", offset_seconds)
        self._offset = state.number("clock_offset")
        self._listeners: list[Callable[[], None]] = []

    @property
    def offset_seconds(self) -> float:
        """How far service time is ahead of the real clock."""
        return self._offset

    def now(self) -> datetime:
        """Return the service time."""
        return datetime.now(UTC) + timedelta(seconds=self._offset)

    def move(self, offset_seconds: float) -> None:
        """Set the offset."""
        self._state.remember("clock_offset", offset_seconds)
        self._offset = offset_seconds
        for callback in self._listeners:
            callback()

    def when_moved(self, callback: Callable[[], None]) -> None:
        """Register a callback that runs in the current event loop when the clock is moved."""
        self._listeners.append(callback)
