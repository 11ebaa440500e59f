"""Real servers for tests: started once per session on first use, shared by all xdist workers.

Each belongs to a keeper process (`python -m tests.services KIND FOLDER PID`), which stops it when the session's first
process asks for it or has ended for any reason.
"""

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from stack.children import PROJECT, Child
from stack.ports import Ports
from stack.postgres import ROLE, Postgres
from stack.temporal import Temporal

FOLDER_VARIABLE = "TEST_SERVICES"
TEMPLATE = "template_service"
POPULATION = 3000
START_SECONDS = 300.0
STOP_SECONDS = 60.0
POLL_SECONDS = 0.05
WATCH_SECONDS = 0.3
MEMORY = Path("/dev/shm")  # noqa: S108 - only the parent of folders with names of chance
ROOM_BYTES = 4 * 2**30

MIGRATE = [sys.executable, "-m", "models.migrations", "upgrade"]

Facts = dict[str, str | dict[str, int]]


def open_session() -> bool:
    """Create the session's folder unless an outer process has; return true in the process that must close it."""
    if FOLDER_VARIABLE in os.environ:
        return False
    os.environ[FOLDER_VARIABLE] = tempfile.mkdtemp(prefix="tests-", dir=storage())
    (folder() / "owner").write_text(str(os.getpid()))
    folder().chmod(0o711)  # the system user of the database must be able to traverse it
    return True


def close_session() -> None:
    """Stop every server of the session and remove its folder."""
    place = folder()
    keepers = [psutil.Process(int(file.read_text())) for file in place.glob("*.pid") if _lives(file)]
    for keeper in keepers:
        keeper.terminate()
    psutil.wait_procs(keepers, timeout=STOP_SECONDS)
    shutil.rmtree(place, ignore_errors=True)
    del os.environ[FOLDER_VARIABLE]


def storage() -> Path | None:
    """Return the folder for files of test servers: in memory if there is room, null for the usual temporary folder.

    Each test's database is about 300 files, created and removed hundreds of times. On a disk this takes twice the CPU
    time of the test itself, because the file system searches for file numbers that were not freed recently.
    """
    if "TMPDIR" in os.environ or not MEMORY.is_dir() or shutil.disk_usage(MEMORY).free < ROOM_BYTES:
        return None
    return MEMORY


def folder() -> Path:
    """Return the session's folder, the same in every xdist worker."""
    return Path(os.environ[FOLDER_VARIABLE])


def shared(kind: str) -> Facts:
    """Return the facts of the session's server of this kind, which is started if it is not running yet.

    Raises:
        RuntimeError: it could not be started; contains the end of its keeper's log.
    """
    facts = folder() / f"{kind}.json"
    with _locked(folder() / f"{kind}.lock"):
        if not facts.exists():
            _start_keeper(kind, facts)
    known: Facts = json.loads(facts.read_text())
    return known


def postgres() -> Postgres:
    """Return the session's running PostgreSQL, which has a migrated template database."""
    return _postgres(Path(str(shared("postgres")["home"])))


@contextlib.contextmanager
def database(server: Postgres) -> Iterator[str]:
    """Yield the URL of a new, migrated database, which is dropped afterwards."""
    name = f"t_{os.getpid()}_{time.monotonic_ns()}"
    server.sql(f"create database {name} owner {ROLE} template {TEMPLATE} strategy file_copy")
    try:
        yield server.url(name)
    finally:
        server.sql(f"drop database {name} with (force)")


def register_namespace(address: str, namespace: str) -> None:
    """Create a namespace with the installation's search attributes on the session's Temporal."""
    command = [sys.executable, "-m", "stack.register", "--address", address, "--namespace", namespace]
    subprocess.run(command, cwd=PROJECT, check=True, capture_output=True)


def _postgres(home: Path) -> Postgres:
    return Postgres(home=home, log=folder() / "postgres.log", durable=False)


def _start_keeper(kind: str, facts: Path) -> None:
    owner = (folder() / "owner").read_text()
    log = folder() / f"{kind}.keeper.log"
    keeper = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "tests.services", kind, str(folder()), owner],
        {**os.environ, "PYTHONPATH": str(PROJECT)},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setpgroup=0,
    )
    (folder() / f"{kind}.pid").write_text(str(keeper))
    deadline = time.monotonic() + START_SECONDS
    while not facts.exists():
        gone, _ = os.waitpid(keeper, os.WNOHANG)
        if gone or time.monotonic() > deadline:
            raise RuntimeError(f"{kind} for tests could not be started:\n{log.read_text()[-4000:]}")
        time.sleep(POLL_SECONDS)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _lives(pid_file: Path) -> bool:
    return psutil.pid_exists(int(pid_file.read_text()))


@contextlib.contextmanager
def _kept_postgres() -> Iterator[Facts]:
    server = _postgres(folder() / "postgres")
    try:
        server.start()
        server.ensure_database(TEMPLATE)
        environment = os.environ | {"DATABASE_URL": server.url(TEMPLATE)}
        subprocess.run(MIGRATE, cwd=PROJECT, check=True, env=environment)
        server.sql(f"alter database {TEMPLATE} allow_connections false")
        yield {"home": str(server.home)}
    finally:
        server.stop()


@contextlib.contextmanager
def _kept_temporal() -> Iterator[Facts]:
    ports = Ports()
    server = Temporal(
        database=folder() / "temporal.db",
        log=folder() / "temporal.log",
        port=ports.take(17233),
        ui_port=ports.take(18233),
        metrics_port=ports.take(19233),
    )
    try:
        server.start()
        yield {"address": server.address, "database": str(server.database)}
    finally:
        server.stop()


@contextlib.contextmanager
def _kept_stack() -> Iterator[Facts]:
    told = folder() / "stack.told.json"
    stack = Child(
        name="stack",
        command=[
            *(sys.executable, "-m", "stack", "up", "--data-dir", str(folder() / "stack")),
            *("--json", str(told), "--population", str(POPULATION)),
        ],
        log=folder() / "stack.log",
        ready=lambda _: told.exists(),
        start_limit=START_SECONDS,
        grace=STOP_SECONDS,
    )
    try:
        stack.start()
        facts: Facts = json.loads(told.read_text())
        yield facts
    finally:
        stack.stop()


KINDS = {"postgres": _kept_postgres, "temporal": _kept_temporal, "stack": _kept_stack}


def _keep(kind: str, owner: int) -> None:
    """Start a server, write down what others need to know, and stop it when the session ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    session = psutil.Process(owner)
    with KINDS[kind]() as facts:
        draft = folder() / f"{kind}.draft"
        draft.write_text(json.dumps(facts))
        draft.rename(folder() / f"{kind}.json")  # readers see the complete file or none
        while session.is_running() and session.status() != psutil.STATUS_ZOMBIE:
            time.sleep(WATCH_SECONDS)


if __name__ == "__main__":
    os.environ[FOLDER_VARIABLE] = sys.argv[2]
    _keep(sys.argv[1], int(sys.argv[3]))
