"""A process of a test's own beside those of an installation, started as they were: to be told to end, and watched."""

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
"""More than any process documents; past it the test has found one that does not end."""


@dataclass(slots=True)
class Beside:
    """The process, what it has written, and where it listens: its own address, and the operator's."""

    running: "subprocess.Popen[bytes]"
    said: Path
    url: str
    internal_url: str
    code: int | None = field(default=None)

    def log(self) -> str:
        """All it has written."""
        return self.said.read_text()

    def ask_to_end(self) -> None:
        """SIGTERM."""
        self.running.send_signal(signal.SIGTERM)

    def ended(self) -> int:
        """The exit code, once it has ended. Raises `TimeoutExpired` for one that does not."""
        self.code = self.running.wait(END_SECONDS)
        return self.code


def free_port() -> int:
    """A port that nobody listens at now."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


@contextlib.contextmanager
def beside(installation: Installation, name: str, *options: str, **environment: str) -> Iterator[Beside]:
    """One more `api`, `worker` or `upstream`, ready, and ended at the end of the block."""
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
    made = Beside(running, said, f"http://127.0.0.1:{port}", f"http://127.0.0.1:{internal}")
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


def until_serving(made: Beside, ready: Path | None) -> None:
    """Wait until it works: until its file is written, or its address answers."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert made.running.poll() is None, made.log()
        with contextlib.suppress(httpx.TransportError):
            if ready.exists() if ready is not None else httpx.get(f"{made.url}/health", trust_env=False).is_success:
                return
        time.sleep(0.05)
    raise AssertionError(made.log())
