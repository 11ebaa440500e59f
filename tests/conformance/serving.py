"""The fixtured api beside a running installation."""

import secrets
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stack.children import Child
from stack.ports import LOOPBACK, Ports, is_answering
from stack.processes import base_environment

PREFERRED_PORT = 8180
MANY_A_MINUTE = 100_000


@contextmanager
def fixtured(facts: dict[str, Any], api_key: str) -> Iterator[str]:
    """Serve the api with fixtures on an installation's database and Temporal, and yield its MCP address.

    Callers without a key use this one.
    """
    ports = Ports()
    port = ports.take(PREFERRED_PORT)
    with tempfile.TemporaryDirectory(prefix="fixtured-") as folder:
        child = Child(
            name="fixtured api",
            command=[sys.executable, "-m", "tests.conformance.fixtured", "--port", str(port)],
            log=Path(folder) / "api.log",
            ready=lambda _: is_answering(port),
            environment=base_environment()
            | {
                "DATABASE_URL": str(facts["database_url"]),
                "TEMPORAL_ADDRESS": str(facts["temporal_address"]),
                "PUBLIC_URL": f"http://{LOOPBACK}:{port}",
                "SECRET_KEY": secrets.token_hex(),
                "RATE_LIMIT_PER_MINUTE": str(MANY_A_MINUTE),
                "CONFORMANCE_KEY": api_key,
            },
        )
        try:
            child.start()
            yield f"http://{LOOPBACK}:{port}/mcp"
        finally:
            child.stop()
            ports.release()
