"""Starting, watching and stopping a process of the installation, so that none outlives its parent."""

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]

PR_SET_PDEATHSIG = 1
LOG_LIMIT_BYTES = 20_000_000
TAIL_LINES = 30
POLL_SECONDS = 0.05
LIBC = ctypes.CDLL(None, use_errno=True)


class StartFailed(Exception):
    """A process of the installation did not become ready; carries its name and the end of its log."""

    def __init__(self, process: str, reason: str, tail: str = "") -> None:
        text = f"{process} {reason}"
        if tail:
            text += f"\n--- end of the log of {process} ---\n{tail}"
        super().__init__(text)
        self.process = process


@dataclass(frozen=True, slots=True)
class RunAs:
    """The system user as which a process runs if the stack runs as root."""

    uid: int
    gid: int


@dataclass(slots=True, kw_only=True)
class Child:
    """One process of the installation: started, awaited, stopped, killed.

    `ready` is called until it returns true; a process that ends first, or is not ready after `start_limit` seconds,
    raises `StartFailed`. `farewell` is the signal that asks the process to end.
    """

    name: str
    command: Sequence[str]
    log: Path
    ready: Callable[[int], bool]
    environment: Mapping[str, str] | None = None
    directory: Path = PROJECT
    run_as: RunAs | None = None
    farewell: signal.Signals = signal.SIGTERM
    start_limit: float = 90.0
    grace: float = 20.0
    _popen: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _log_start: int = field(default=0, init=False)

    @property
    def pid(self) -> int | None:
        """The process id, or None if it is not running."""
        if self._popen is None or self._popen.poll() is not None:
            return None
        return self._popen.pid

    def start(self) -> None:
        """Start the process and wait until it is ready.

        Raises:
            StartFailed: it ended early or was not ready in time.
        """
        self.spawn()
        self.wait_ready()

    def spawn(self) -> None:
        """Start the process without waiting for it."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        if self.log.exists() and self.log.stat().st_size > LOG_LIMIT_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))
        with self.log.open("ab") as log:
            self._log_start = log.tell()
            self._popen = subprocess.Popen(
                list(self.command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.directory,
                env=dict(self.environment) if self.environment is not None else None,
                start_new_session=True,  # Ctrl-C in a terminal reaches only the parent, which stops in order
                user=self.run_as.uid if self.run_as else None,
                group=self.run_as.gid if self.run_as else None,
                extra_groups=[] if self.run_as else None,
                preexec_fn=_die_with(os.getpid(), self.farewell),  # noqa: PLW1509 (one thread here, by design)
            )

    def wait_ready(self) -> None:
        """Wait until the process is ready.

        Raises:
            StartFailed: it ended early or was not ready in time.
        """
        if self._popen is None:
            raise StartFailed(self.name, "was not spawned")
        deadline = time.monotonic() + self.start_limit
        while time.monotonic() < deadline:
            code = self._popen.poll()
            if code is not None:
                raise StartFailed(self.name, f"ended while starting (exit code {code})", self.tail())
            if self.ready(self._popen.pid):
                return
            time.sleep(POLL_SECONDS)
        raise StartFailed(self.name, f"was not ready after {self.start_limit:.0f} seconds", self.tail())

    def wait_done(self) -> None:
        """Wait until the process has done its task and ended.

        Raises:
            StartFailed: it ended with an error, or had not ended after `start_limit` seconds.
        """
        if self._popen is None:
            raise StartFailed(self.name, "was not spawned")
        try:
            code = self._popen.wait(self.start_limit)
        except subprocess.TimeoutExpired:
            self.kill()
            raise StartFailed(self.name, f"took more than {self.start_limit:.0f} seconds", self.tail()) from None
        if code != 0:
            raise StartFailed(self.name, f"failed (exit code {code})", self.tail())

    def ask_to_stop(self) -> None:
        """Send the farewell signal, also to a frozen process, without waiting."""
        if self._popen is None or self._popen.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._popen.send_signal(self.farewell)
            self._popen.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """Ask the process to end, wait for `grace` seconds, then kill it and all its children."""
        self.ask_to_stop()
        if self._popen is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(self.grace)
        self.kill()

    def kill(self) -> None:
        """SIGKILL the process and everything in its session's first process group, and wait for its end."""
        if self._popen is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.wait()

    def tail(self, lines: int = TAIL_LINES) -> str:
        """Return the last lines that the process has written since this start."""
        with self.log.open("rb") as log:
            log.seek(self._log_start)
            return "\n".join(log.read().decode(errors="replace").splitlines()[-lines:])


def _die_with(parent: int, farewell: signal.Signals) -> Callable[[], None]:
    """Return a function that makes the kernel send `farewell` when the parent dies, for whatever reason."""

    def arrange() -> None:
        LIBC.prctl(PR_SET_PDEATHSIG, int(farewell), 0, 0, 0)
        if os.getppid() != parent:  # the parent died before this call
            os._exit(1)

    return arrange
