"""A separate installation for journeys that kill its processes or move its clock."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from stack.children import PROJECT
from tests import services

Facts = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Installation:
    """A running stack: its data directory and the facts that `up` printed."""

    home: Path
    facts: Facts

    def command(self, *arguments: str) -> str:
        """Run `python -m stack …` on this installation and return its output."""
        command = [sys.executable, "-m", "stack", *arguments, "--data-dir", str(self.home)]
        done = subprocess.run(command, cwd=PROJECT, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def fault(self, **asked: Any) -> None:
        """Inject a fault of a provider."""
        body = {"provider": "people", "operation": "*"} | asked
        httpx.post(f"{self.facts['sandbox_url']}/_control/faults", json=body, trust_env=False).raise_for_status()

    def no_faults(self) -> None:
        """Remove every fault."""
        httpx.delete(f"{self.facts['sandbox_url']}/_control/faults", trust_env=False).raise_for_status()

    def people_log(self) -> Facts:
        """Return the requests that the people provider got."""
        read: Facts = httpx.get(f"{self.facts['sandbox_url']}/_control/people/log", trust_env=False).json()
        return read

    def pid(self, process: str) -> int:
        """Return the current process id of a process."""
        told = self.home.parent / "status.json"
        self.command("status", "--json", str(told))
        return int(json.loads(told.read_text())["processes"][process])


@contextmanager
def installed(*options: str) -> Iterator[Installation]:
    """Start a stack with these options of `up`; it is stopped and removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="journey-", dir=services.storage()))
    folder.chmod(0o755)  # PostgreSQL runs as another user
    installation = Installation(folder / "data", {})
    try:
        installation.command("up", "--detach", "--json", str(folder / "facts.json"), *options)
        yield Installation(folder / "data", json.loads((folder / "facts.json").read_text()))
    finally:
        installation.command("down")
        shutil.rmtree(folder, ignore_errors=True)
