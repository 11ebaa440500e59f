"""The processes of an installation that are hit: how to see that one is at work, and how to kill and freeze it."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import psutil

from stack import control
from stack.installation import StackError
from stack.virtual_time import UNDER_WAY
from tests.journeys.installation import Installation

RESTART_SECONDS = 600.0
AGAIN_SECONDS = 1.0
END_SECONDS = 10.0
"""How long the kernel may take to end a killed process."""


@dataclass(frozen=True, slots=True)
class Target:
    """One process; `share` is its part of all hits, `at_work` a statement that is true while it works on something."""

    process: str
    share: int
    at_work: str
    sends: bool = False
    """Whether this process calls the network."""


WORKER = Target("worker", 3, "select exists (select from actions where outcome = 'sending')", sends=True)
API = Target(
    "api",
    2,
    "select exists (select from idempotency_records where locked_until > clock_timestamp())"
    " or exists (select from network_callbacks where processed_at is null)",
)


UPSTREAM = Target(
    "upstream",
    2,
    "select exists (select from upstream_slots where working and busy_until > clock_timestamp())",
)
BUSY = f"select exists ({UNDER_WAY.text})"
TEMPORAL = Target("temporal", 1, BUSY)
POSTGRES = Target("postgres", 1, BUSY)


class TargetProcess:
    """A target of a running installation, used by one thread at a time, since a restart changes the process id."""

    def __init__(self, installation: Installation, target: Target) -> None:
        self.target = target
        self._control = installation.home / "control.sock"
        self._pid = int(installation.facts["processes"][target.process])
        self._up = threading.Event()
        self._up.set()

    @property
    def is_up(self) -> bool:
        """Whether it is running, neither dead nor frozen."""
        return self._up.is_set()

    def kill(self) -> None:
        """Send SIGKILL without the supervisor and wait until the process is dead."""
        self._up.clear()
        process = psutil.Process(self._pid)
        os.kill(self._pid, signal.SIGKILL)
        deadline = time.monotonic() + END_SECONDS
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < deadline, f"{self.target.process} outlives a SIGKILL"
            time.sleep(0.002)

    def restart(self) -> None:
        """Let the supervisor restart a dead process until it is ready: it may end again while a dependency is down."""
        deadline = time.monotonic() + RESTART_SECONDS
        while True:
            try:
                answer = control.ask(self._control, {"do": "restart", "process": self.target.process})
                break
            except (StackError, OSError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(AGAIN_SECONDS)
        self._pid = int(answer["pid"])
        self._up.set()

    def freeze(self, seconds: float) -> None:
        """Send SIGSTOP to the process and its children, and SIGCONT after `seconds`."""
        self._up.clear()
        process = psutil.Process(self._pid)
        process.suspend()
        children = process.children(recursive=True)
        try:
            for child in children:
                _if_alive(child.suspend)
            time.sleep(seconds)
        finally:
            for child in children:
                _if_alive(child.resume)
            process.resume()
            self._up.set()


def _if_alive(signalled: Callable[[], None]) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):  # a child may end by itself
        signalled()
