"""An extra process of a test beside those of an installation, started in the same way, to be stopped and watched."""

import contextlib
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil

from stack.children import PROJECT
from tests.journeys.installation import Installation

START_SECONDS = 90
END_SECONDS = 60
"""Longer than any process needs by its documentation; a process that takes longer does not end."""


@dataclass(slots=True)
class ExtraProcess:
    """The process, its log, its address and the operator's address."""

    running: "subprocess.Popen[bytes]"
    said: Path
    url: str
    internal_url: str
    code: int | None = field(default=None)

    def log(self) -> str:
        """Return the whole log."""
        return self.said.read_text()

    def ask_to_end(self) -> None:
        """Send SIGTERM."""
        self.running.send_signal(signal.SIGTERM)

    def ended(self) -> int:
        """Wait for the end and return the exit code. Raises `TimeoutExpired` for a process that does not end."""
        self.code = self.running.wait(END_SECONDS)
        return self.code


def free_port() -> int:
    """Return a port that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


@contextlib.contextmanager
def extra_process(installation: Installation, name: str, *options: str, **environment: str) -> Iterator[ExtraProcess]:
    """Start one more `api`, `worker` or `upstream`, wait until it is ready, and stop it at the end of the block."""
    first = psutil.Process(installation.pid(name))
    port, internal = free_port(), free_port()
    label = f"{name}-{port}"
    ready, said = (installation.home.parent / f"{label}.{end}" for end in ("ready", "log"))
    own = str(installation.facts["api_url"]).rpartition(":")[2]
    changed = {own: str(port)} if name == "api" else {}
    command = [str(ready) if one.endswith(".ready") else changed.get(one, one) for one in first.cmdline()]
    settings = first.environ() | {"INTERNAL_ADDRESS": f"127.0.0.1:{internal}"} | environment
    with said.open("wb") as log:
        running = subprocess.Popen([*command, *options], cwd=PROJECT, env=settings, stdout=log, stderr=log)
    made = ExtraProcess(running, said, f"http://127.0.0.1:{port}", f"http://127.0.0.1:{internal}")
    try:
        until_serving(made, ready if name != "api" else None)
        yield made
    finally:
        with contextlib.suppress(ProcessLookupError):
            running.terminate()
        try:
            running.wait(END_SECONDS)
        finally:
            running.kill()


def until_serving(made: ExtraProcess, ready: Path | None) -> None:
    """Wait until the process is ready: its file is written, or its address answers."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert made.running.poll() is None, made.log()
        with contextlib.suppress(httpx.TransportError):
            if ready.exists() if ready is not None else httpx.get(f"{made.url}/health", trust_env=False).is_success:
                return
        time.sleep(0.05)
    raise AssertionError(made.log())
