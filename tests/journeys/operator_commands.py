"""The operator of a running installation: the commands of docs/operations.md as written there, and a restore."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psutil

from stack.children import PROJECT
from stack.postgres import binaries
from tests.journeys.installation import Installation

DOCUMENT = PROJECT / "docs" / "operations.md"
OURS = ("api", "worker", "upstream")
SHIFT = "select extract(epoch from shift) from service_clock"


def documented(words: str) -> str:
    """Return the one command of the document with these words. Raises `AssertionError` unless there is exactly one."""
    found = {one for one in re.findall(r"`([^`\n]+)`", DOCUMENT.read_text()) if words in one}
    assert len(found) == 1, f"{words!r} is in {found}"
    return str(found.pop())


@dataclass(frozen=True, slots=True)
class Operator:
    """Runs commands in a directory, with the environment of the service's processes and the tools of PostgreSQL."""

    installation: Installation
    environment: dict[str, str]
    folder: Path

    @classmethod
    def at(cls, installation: Installation) -> "Operator":
        """Return an operator with the environment of the worker, which must be running."""
        told = psutil.Process(installation.pid("worker")).environ()
        url = urlsplit(told["DATABASE_URL"])
        path = os.pathsep.join([str(Path(sys.executable).parent), str(binaries()), told["PATH"]])
        here = {"PGHOST": parse_qs(url.query)["host"][0], "PGUSER": url.username or "", "PATH": path}
        return cls(installation, told | here | {"PYTHONPATH": str(PROJECT)}, installation.home.parent)

    def run(self, command: str, **more: str) -> str:
        """Run a command and return its output. Raises `AssertionError` with the output if it fails."""
        done = subprocess.run(
            ["/bin/bash", "-euc", command],
            cwd=self.folder,
            env=self.environment | more,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def sql(self, statement: str) -> str:
        """Run a statement as the database owner, who sees all workspaces, and return its output."""
        return self.run('psql -XqAt -v ON_ERROR_STOP=1 -d service -c "$STATEMENT"', STATEMENT=statement).strip()

    def back_up(self) -> None:
        """Dump the database as documented."""
        self.run(documented("pg_dump --enable-row-security -Fc"))

    def stop_ours(self) -> None:
        """Stop every process of the service."""
        for name in OURS:
            self.installation.command("kill", name)

    def restore(self, *, without_temporal: bool) -> None:
        """Do steps 2 and 3: restore the backup into a new database; `without_temporal` also deletes Temporal's file.

        The clock continues: under virtual time it is part of the database, while a real clock is not restored.
        """
        shift = self.sql(SHIFT)
        self.run("dropdb --force service; createdb service")
        self.run(documented("pg_restore"))
        self.sql(f"update service_clock set shift = make_interval(secs => {shift})")
        self.run(documented("models.migrations upgrade"))
        if without_temporal:
            self.installation.command("kill", "temporal")
            for part in self.installation.home.glob("temporal.db*"):
                part.unlink()
            self.installation.command("restart", "temporal")
