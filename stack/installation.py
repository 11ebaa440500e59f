"""The data directory of one installation: its layout, its fixed choices, and the processes that run on it."""

import base64
import contextlib
import fcntl
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypedDict

import psutil

LOCK_PATIENCE_SECONDS = 1.0
POLL_SECONDS = 0.05
DEFAULT_POPULATION = 20_000
DEFAULT_SEED = 7
PREFERRED_PORTS = {
    "api": 8080,
    "temporal": 7233,
    "temporal_ui": 8233,
    "temporal_metrics": 7333,
    "sandbox": 8090,
    "smtp": 8025,
}
# Everything that an installation writes into its directory, and that `reset` removes.
ENTRIES = (
    *("postgres", "postgres.new", "temporal.db", "temporal.db-shm", "temporal.db-wal", "sandbox", "run", "logs"),
    *("choices.json", "account.json", "running.json", "control.sock", "lock"),
)


class StackError(Exception):
    """The stack cannot do what was asked; the message says why and what to do."""


class Addresses(TypedDict):
    """The addresses of a running installation, and a key of its verified workspace."""

    api_url: str
    mcp_url: str
    temporal_address: str
    temporal_ui_url: str
    database_url: str
    sandbox_url: str
    api_key: str
    workspace_id: str


class Facts(Addresses):
    """The output of `up`: the addresses, and process ids by name (None for a dead process)."""

    processes: dict[str, int | None]


@dataclass(frozen=True, slots=True)
class Choices:
    """The fixed choices of an installation: the sandbox's market, the clock, secrets, and the ports used last."""

    population: int
    seed: int
    virtual_time: bool
    secret_key: str
    people_api_key: str
    ports: dict[str, int]
    network_api_key: str = ""


@dataclass(frozen=True, slots=True)
class Account:
    """The workspace that `up` signed up and verified."""

    api_key: str
    workspace_id: str


@dataclass(frozen=True, slots=True)
class Running:
    """A recorded process: its id, and its start time because ids are reused."""

    pid: int
    began: float

    @classmethod
    def of(cls, pid: int) -> "Running":
        """Return the record of a process that runs now."""
        return cls(pid, psutil.Process(pid).create_time())

    @classmethod
    def me(cls) -> "Running":
        """Return the record of this process."""
        return cls.of(os.getpid())

    def process(self) -> psutil.Process | None:
        """Return the process; None if it no longer runs."""
        with contextlib.suppress(psutil.NoSuchProcess):
            found = psutil.Process(self.pid)
            if found.create_time() == self.began and found.status() != psutil.STATUS_ZOMBIE:
                return found
        return None


@dataclass(frozen=True, slots=True)
class Record:
    """What runs on the directory: the supervisor, its processes by name, and the addresses once all are ready."""

    supervisor: Running
    processes: dict[str, Running] = field(default_factory=dict)
    addresses: Addresses | None = None


class Installation:
    """One data directory."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self.postgres = self.root / "postgres"
        self.temporal = self.root / "temporal.db"
        self.sandbox = self.root / "sandbox"
        self.control = self.root / "control.sock"
        self._lock = self.root / "lock"
        self._choices = self.root / "choices.json"
        self._account = self.root / "account.json"
        self._record = self.root / "running.json"

    def log(self, process: str) -> Path:
        """Return the path of a process's log."""
        return self.root / "logs" / f"{process}.log"

    def ready_file(self, process: str) -> Path:
        """Return the path of the file that a worker writes once it polls."""
        return self.root / "run" / f"{process}.ready"

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Lock this directory for one supervisor; create it if it is missing.

        Raises:
            StackError: another supervisor holds the lock, or the directory cannot be written.
        """
        try:
            self.root.mkdir(mode=0o711, parents=True, exist_ok=True)
            for folder in (self.root / "logs", self.root / "run", self.sandbox):
                folder.mkdir(mode=0o700, exist_ok=True)
            lock = self._lock.open("a+")
        except OSError as problem:
            raise StackError(f"the data directory {self.root} cannot be used: {problem}") from problem
        with lock:
            deadline = time.monotonic() + LOCK_PATIENCE_SECONDS
            while not _try_lock(lock.fileno()):
                if time.monotonic() > deadline:
                    raise StackError(f"a stack is already running on {self.root}; see `python -m stack status`")
                time.sleep(POLL_SECONDS)
            yield

    def is_held(self) -> bool:
        """Return whether a supervisor runs on this directory."""
        if not self._lock.exists():
            return False
        with self._lock.open("a+") as lock:
            return not _try_lock(lock.fileno())

    def choices(self) -> Choices | None:
        """Return the choices made when the installation was created; None if there is no installation."""
        if not self._choices.exists():
            return None
        return Choices(**json.loads(self._choices.read_text()))

    def settle(self, *, population: int | None, seed: int | None, virtual_time: bool) -> Choices:
        """Make the choices that are still open; keep the others.

        Raises:
            StackError: the population or seed differs from the one of the existing installation.
        """
        known = self.choices()
        if known is None:
            return Choices(
                population=DEFAULT_POPULATION if population is None else population,
                seed=DEFAULT_SEED if seed is None else seed,
                virtual_time=virtual_time,
                secret_key=base64.b64encode(secrets.token_bytes(32)).decode(),
                people_api_key=secrets.token_hex(32),
                ports=dict(PREFERRED_PORTS),
                network_api_key=secrets.token_hex(32),
            )
        for name, asked, had in (("population", population, known.population), ("seed", seed, known.seed)):
            if asked is not None and asked != had:
                raise StackError(
                    f"{self.root} was created with --{name} {had}, not {asked}: use another --data-dir, "
                    "or `python -m stack reset` to start over"
                )
        # Once business time was moved, virtual time stays on. An older directory has no network.
        added = {
            "virtual_time": known.virtual_time or virtual_time,
            "network_api_key": known.network_api_key or secrets.token_hex(32),
        }
        return Choices(**asdict(known) | added)

    def remember(self, choices: Choices) -> None:
        """Store the choices for the next start."""
        write_private(self._choices, asdict(choices))

    def account(self) -> Account | None:
        """Return the verified workspace of this installation; None if there is none yet."""
        if not self._account.exists():
            return None
        return Account(**json.loads(self._account.read_text()))

    def remember_account(self, account: Account) -> None:
        """Store the key for the next start."""
        write_private(self._account, asdict(account))

    def record(self) -> Record | None:
        """Return the last stored record of running processes."""
        try:
            read = json.loads(self._record.read_text())
        except FileNotFoundError:
            return None
        processes = {name: Running(**one) for name, one in read["processes"].items()}
        return Record(Running(**read["supervisor"]), processes, read["addresses"])

    def write_record(self, record: Record) -> None:
        """Store which processes run."""
        write_private(self._record, asdict(record))

    def forget_record(self) -> None:
        """Record that no process is running."""
        self._record.unlink(missing_ok=True)

    def erase(self) -> None:
        """Remove everything that an installation writes into its directory, and the directory if it is then empty."""
        for entry in ENTRIES:
            path = self.root / entry
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.root.rmdir()


def write_private(path: Path, content: object) -> None:
    """Write JSON that only its owner can read; readers see the old file or the new one, never a partial one."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(content, file, indent=2)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
