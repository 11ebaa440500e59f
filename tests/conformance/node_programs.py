"""Running the pinned programs of `node/`, which `make mcp-conformance` installs from its lock file."""

import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from stack.processes import base_environment

FOLDER = Path(__file__).parent / "node"
MODULES = FOLDER / "node_modules"
NODE = MODULES / ".bin" / "node"
LIMIT_SECONDS = 300.0

Done = subprocess.CompletedProcess[str]


def are_installed() -> bool:
    """Whether there is a Node, and all that it runs."""
    return NODE.exists()


def _environment(home: str) -> dict[str, str]:
    """What a program keeps goes into `home`. It may ask for a browser, though there is no terminal to ask at."""
    return base_environment() | {"HOME": home, "MCP_AUTO_OPEN_ENABLED": "true", "MCP_INSPECTOR_SECRET_STORE": "memory"}


def converse(program: Path, *arguments: str, heard: Callable[[str], None]) -> Done:
    """The same for a program that is answered while it runs: `heard` gets each line that it says."""
    said: list[str] = []
    with tempfile.TemporaryDirectory(prefix="conformance-home-") as home:
        running = subprocess.Popen(
            [str(NODE), str(program), *arguments],
            cwd=FOLDER,
            env=_environment(home),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        limit = threading.Timer(LIMIT_SECONDS, running.kill)
        limit.start()
        with running:
            try:
                assert running.stdout is not None
                for line in running.stdout:
                    said.append(line)
                    heard(line.strip())
            except BaseException:
                running.kill()
                raise
            finally:
                limit.cancel()
    return Done(running.args, running.returncode, "".join(said), "")


def run(program: Path, *arguments: str) -> Done:
    """A program with these arguments, once it has ended. What it keeps in its user's home goes nowhere."""
    with tempfile.TemporaryDirectory(prefix="conformance-home-") as home:
        return subprocess.run(
            [str(NODE), str(program), *arguments],
            cwd=FOLDER,
            env=_environment(home),
            check=False,
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
        )
