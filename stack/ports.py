"""Choosing free ports on loopback, so that several stacks run side by side."""

import contextlib
import socket
from dataclasses import dataclass, field

SEARCH_WIDTH = 500
LOOPBACK = "127.0.0.1"


class NoFreePort(Exception):
    """No port near the preferred one is free."""


@dataclass(slots=True)
class Ports:
    """Reserves ports that are free and that no other stack on this machine has reserved.

    A reservation is an abstract Unix socket named after the port: it exists in the same network namespace as the port,
    and the kernel releases it when the process that holds this object ends.
    """

    _promises: dict[int, socket.socket] = field(default_factory=dict)

    def take(self, preferred: int) -> int:
        """Return the preferred port, or the next free one above it.

        Raises:
            NoFreePort: none of the next 500 is free.
        """
        for port in range(preferred, preferred + SEARCH_WIDTH):
            promise = _promise(port)
            if promise is None:
                continue
            if is_free(port):
                self._promises[port] = promise
                return port
            promise.close()
        raise NoFreePort(f"no free port between {preferred} and {preferred + SEARCH_WIDTH}")

    def release(self) -> None:
        """Release all reservations."""
        for promise in self._promises.values():
            promise.close()
        self._promises.clear()


def is_free(port: int) -> bool:
    """Return whether a server could listen on this loopback port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            probe.bind((LOOPBACK, port))
            return True
    return False


def is_answering(port: int) -> bool:
    """Return whether a server accepts connections on this loopback port now."""
    with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, port), timeout=1):
        return True
    return False


def _promise(port: int) -> socket.socket | None:
    promise = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        promise.bind(f"\0stack/port/{port}")
    except OSError:
        promise.close()
        return None
    return promise
