"""The parent process of an installation: it starts all others in order and stops them together."""

import contextlib
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import NoReturn

import psutil

from stack import control, processes
from stack.children import Child
from stack.installation import Account, Addresses, Choices, Facts, Installation, Record, Running, StackError
from stack.ports import Ports
from stack.postgres import DATABASE, Postgres
from stack.processes import Ground
from stack.temporal import Temporal

WATCH_SECONDS = 0.5
LEFTOVER_SECONDS = 10.0
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
OURS = ("api", "worker", "upstream")
SHIFT = "select extract(epoch from shift) from service_clock"
WORKSPACE_NAME = "First workspace"


class Ended(BaseException):
    """The stack was told to stop."""


@dataclass(slots=True)
class Supervisor:
    """One running installation; the caller holds the lock of its data directory."""

    installation: Installation
    ground: Ground
    _children: dict[str, Child] = field(default_factory=dict)
    _addresses: Addresses | None = None

    def run(self, announce: Callable[[Facts], None]) -> None:
        """Start everything, announce it, serve requests until told to stop, and leave no process behind.

        Raises:
            StartFailed: a process did not start; all others are stopped again.
            StackError: the first workspace could not be created, or the stack was told to stop before it was ready.
        """
        try:
            with _ending_on_signals():
                self._start()
                with control.listening(self.installation.control) as listener:
                    announce(self._facts())
                    self._serve(listener)
        except Ended:
            say("stopping")
            if self._addresses is None:
                raise StackError("ended before it was ready") from None
        finally:
            self._stop()

    def _start(self) -> None:
        ground = self.ground
        say("starting postgres and temporal")
        ground.postgres.prepare()
        self._spawn(ground.postgres.child)
        self._spawn(ground.temporal.child)
        ground.postgres.child.wait_ready()
        ground.postgres.ensure_database()
        say("starting the sandbox, migrating the database")
        self._spawn(self._built("sandbox"))
        migration = processes.migration(ground)
        migration.spawn()
        ground.temporal.child.wait_ready()
        ground.temporal.register()
        migration.wait_done()
        self._children["sandbox"].wait_ready()
        say("starting api, worker and upstream worker")
        for name in OURS:
            self._spawn(self._built(name))
        for name in OURS:
            self._children[name].wait_ready()
        self._addresses = self._found_addresses(self._verified_account())
        self._write_down()

    def _spawn(self, child: Child) -> None:
        self._children[child.name] = child
        child.spawn()
        self._write_down()

    def _built(self, name: str) -> Child:
        if name == "sandbox":
            return processes.sandbox(self.ground, clock_offset=self._clock_offset())
        if name == "api":
            return processes.api(self.ground)
        return processes.worker(self.ground, name)

    def _clock_offset(self) -> float:
        postgres = self.ground.postgres
        if not postgres.sql("select to_regclass('service_clock')", database=DATABASE):
            return 0.0  # a new database whose clock was never moved
        return float(postgres.sql(SHIFT, database=DATABASE))

    def _verified_account(self) -> Account:
        known = self.installation.account()
        if known is None:
            from stack.account import sign_up

            say("signing up the first workspace")
            known = sign_up(self.ground.url("api"), self.ground.url("sandbox"), name=WORKSPACE_NAME)
            self.installation.remember_account(known)
        return known

    def _found_addresses(self, owner: Account) -> Addresses:
        ground = self.ground
        return Addresses(
            api_url=ground.url("api"),
            mcp_url=ground.url("api") + "/mcp",
            temporal_address=ground.temporal.address,
            temporal_ui_url=ground.temporal.ui_url,
            database_url=ground.postgres.url(),
            sandbox_url=ground.url("sandbox"),
            api_key=owner.api_key,
            workspace_id=owner.workspace_id,
        )

    def _facts(self) -> Facts:
        if self._addresses is None:
            raise StackError("the stack is not ready")
        pids = {name: child.pid for name, child in self._children.items()}
        return {**self._addresses, "processes": {name: pids.get(name) for name in processes.NAMES}}

    def _write_down(self) -> None:
        alive = {name: child.pid for name, child in self._children.items()}
        running = {name: Running.of(pid) for name, pid in alive.items() if pid is not None}
        self.installation.write_record(Record(Running.me(), running, self._addresses))

    def _serve(self, listener: socket.socket) -> None:
        alive = self._alive()
        while True:
            asked, _, _ = select.select([listener], [], [], WATCH_SECONDS)
            if asked:
                control.answer(listener, self._handle)
            if alive != (alive := self._alive()):
                self._write_down()

    def _alive(self) -> dict[str, int | None]:
        # Reading the pid also reaps a child that has ended, so that none stays a zombie.
        return {name: child.pid for name, child in self._children.items()}

    def _handle(self, request: control.Request) -> control.Answer:
        name = request["process"]
        if name not in self._children:
            raise StackError(f"there is no process {name!r}; there are {', '.join(processes.NAMES)}")
        if request["do"] == "kill":
            return {"pid": self._killed(name)}
        return {"pid": self._restarted(name)}

    def _killed(self, name: str) -> int:
        pid = self._children[name].pid
        if pid is None:
            raise StackError(f"{name} is not running")
        self._children[name].kill()
        self._write_down()
        return pid

    def _restarted(self, name: str) -> int:
        self._children[name].stop()
        if name == "postgres":
            self.ground.postgres.start()
        elif name == "temporal":
            self.ground.temporal.start()
        else:
            self._children[name] = self._built(name)
            self._children[name].start()
        self._write_down()
        pid = self._children[name].pid
        if pid is None:
            raise StackError(f"{name} ended right after its start; see `python -m stack logs {name}`")
        return pid

    def _stop(self) -> None:
        for together in (("api", "worker", "upstream"), ("sandbox", "temporal"), ("postgres",)):
            children = [self._children[name] for name in together if name in self._children]
            for child in children:
                child.ask_to_stop()
            for child in children:
                child.stop()
        self.installation.forget_record()


def supervise(installation: Installation, choices: Choices, announce: Callable[[Facts], None]) -> None:
    """Run an installation in this process until told to stop; see `Supervisor.run`."""
    with installation.held():
        end_leftovers(installation)
        ports = Ports()
        chosen = replace(choices, ports={name: ports.take(port) for name, port in choices.ports.items()})
        installation.remember(chosen)
        ground = Ground(
            installation=installation,
            choices=chosen,
            postgres=Postgres(home=installation.postgres, log=installation.log("postgres")),
            temporal=Temporal(
                database=installation.temporal,
                log=installation.log("temporal"),
                port=chosen.ports["temporal"],
                ui_port=chosen.ports["temporal_ui"],
                metrics_port=chosen.ports["temporal_metrics"],
            ),
        )
        Supervisor(installation, ground).run(announce)
        ports.release()


def end_leftovers(installation: Installation) -> list[str]:
    """Stop the processes left by a killed supervisor, and return their names; the kernel has already signalled them."""
    record = installation.record()
    if record is None:
        return []
    left = {name: one.process() for name, one in record.processes.items()}
    names = [name for name, process in left.items() if process is not None]
    _end([process for process in left.values() if process is not None])
    installation.forget_record()
    return names


def say(text: str) -> None:
    """Write a progress message for the person at the terminal to standard error."""
    print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def _ending_on_signals() -> Iterator[None]:
    """Turn the first stop signal into `Ended`, and ignore further ones while stopping."""

    def end(_signal: int, _frame: FrameType | None) -> NoReturn:
        _be_deaf()
        raise Ended

    for one in ENDING:
        if one is not signal.SIGHUP or signal.getsignal(one) is not signal.SIG_IGN:  # started with nohup
            signal.signal(one, end)
    try:
        yield
    finally:
        _be_deaf()


def _be_deaf() -> None:
    for one in ENDING:
        signal.signal(one, signal.SIG_IGN)


def _end(left: list[psutil.Process]) -> None:
    for process in left:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
    _, stubborn = psutil.wait_procs(left, timeout=LEFTOVER_SECONDS)
    for process in stubborn:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(stubborn, timeout=LEFTOVER_SECONDS)
