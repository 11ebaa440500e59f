"""What each command of `python -m stack` does."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stack import control
from stack.children import PROJECT
from stack.installation import Facts, Installation, Record, StackError
from stack.processes import NAMES
from stack.supervisor import end_leftovers, say, supervise

STOP_SECONDS = 90.0
POLL_SECONDS = 0.05
FOLLOW_SECONDS = 0.3
JSON_ON_STDOUT = Path("-")
PROBLEM = "error: "  # how a command that fails begins its message


@dataclass(frozen=True, slots=True)
class Wishes:
    """Options of `up`; None means: as before, or the default."""

    population: int | None = None
    seed: int | None = None
    virtual_time: bool = False

    def arguments(self) -> list[str]:
        """Return the options as command-line arguments of another `up`."""
        said = []
        if self.population is not None:
            said += ["--population", str(self.population)]
        if self.seed is not None:
            said += ["--seed", str(self.seed)]
        return said + (["--virtual-time"] if self.virtual_time else [])


def up(installation: Installation, wishes: Wishes, json_file: Path | None) -> None:
    """Run the whole installation in this process until it is told to stop.

    Raises:
        StackError, StartFailed: it could not be started; nothing is left running.
    """
    _forget_answer(json_file)
    choices = installation.settle(population=wishes.population, seed=wishes.seed, virtual_time=wishes.virtual_time)

    def announce(facts: Facts) -> None:
        tell(facts, json_file)
        say(f"ready; Ctrl-C or `python -m stack down --data-dir {installation.root}` stops it")

    supervise(installation, choices, announce)


def up_detached(installation: Installation, wishes: Wishes, json_file: Path | None) -> None:
    """Start the whole installation in a background process and return when it is ready.

    Raises:
        StackError: it could not be started; the message contains its output.
    """
    _forget_answer(json_file)
    log = installation.log("stack")
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with log.open("a") as said:
        start = said.tell()
        supervisor = subprocess.Popen(
            [sys.executable, "-m", "stack", "up", "--data-dir", str(installation.root), *wishes.arguments()],
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=said,
            start_new_session=True,
        )
    try:
        answer = _first_line(supervisor)
    except BaseException:
        supervisor.terminate()  # interrupted while waiting: stop what was started
        supervisor.wait()
        raise
    if not answer:
        supervisor.wait()
        steps, _, problem = f"\n{log.read_text()[start:]}".partition(f"\n{PROBLEM}")
        raise StackError((problem or steps).strip())
    facts: Facts = json.loads(answer)
    tell(facts, json_file)


def down(installation: Installation) -> None:
    """Stop a running installation and wait until none of its processes is left; does nothing if none runs."""
    record = installation.record()
    if record is None:
        say(f"nothing is running on {installation.root}")
        return
    _end_supervisor(installation, record)
    left = end_leftovers(installation)
    say("stopped" + (f", and stopped what was left: {', '.join(left)}" if left else ""))


def status(installation: Installation, json_file: Path | None) -> int:
    """Show the processes; return 0 if all run, 1 if some are dead or starting, 3 if none runs."""
    record = installation.record()
    if record is None or record.supervisor.process() is None:
        say(f"nothing is running on {installation.root}")
        return 3
    pids = pids_of(record)
    if json_file is not None:
        tell({**(record.addresses or {}), "processes": pids}, json_file)
    if json_file != JSON_ON_STDOUT:
        _print_status(record, pids)
    return 0 if record.addresses and all(pids.values()) else 1


def pids_of(record: Record) -> dict[str, int | None]:
    """Return the process ids by name; None for a dead process."""
    living = {name: one.pid for name, one in record.processes.items() if one.process() is not None}
    return {name: living.get(name) for name in NAMES}


def facts_of(installation: Installation) -> Facts:
    """Return the facts of a running installation, as `up` printed them.

    Raises:
        StackError: nothing is running there, or it is still starting.
    """
    record = installation.record()
    if record is None or record.supervisor.process() is None:
        raise StackError(f"no stack is running on {installation.root}; start one with `python -m stack up`")
    if record.addresses is None:
        raise StackError(f"the stack on {installation.root} is still starting")
    return {**record.addresses, "processes": pids_of(record)}


def reset(installation: Installation) -> None:
    """Stop the installation and remove all its data."""
    down(installation)
    installation.erase()
    say(f"removed the installation in {installation.root}")


def restart(installation: Installation, process: str) -> None:
    """Stop one process, start it again with the same environment and wait until it is ready."""
    answered = control.ask(installation.control, {"do": "restart", "process": process})
    print(f"{process} runs again with pid {answered['pid']}")


def kill(installation: Installation, process: str) -> None:
    """Send SIGKILL to one process; only `restart` starts it again."""
    answered = control.ask(installation.control, {"do": "kill", "process": process})
    print(f"{process} with pid {answered['pid']} was killed")


def logs(installation: Installation, process: str | None, *, lines: int, follow: bool) -> None:
    """Show the end of the log of one process, or of all.

    Raises:
        StackError: there is no such log.
    """
    names = [process] if process else [name for name in NAMES if installation.log(name).exists()]
    for name in names:
        if not installation.log(name).exists():
            raise StackError(f"there is no log {installation.log(name)}")
        if process is None:
            print(f"=== {name} ===")
        with installation.log(name).open(errors="replace") as log:
            for line in deque(log, maxlen=lines):
                print(line, end="")
            while follow and process:
                print(log.read(), end="", flush=True)
                time.sleep(FOLLOW_SECONDS)


def tell(facts: Mapping[str, object], json_file: Path | None) -> None:
    """Print the facts as JSON on standard output, and write them to the file if one is given."""
    if json_file is not None and json_file != JSON_ON_STDOUT:
        draft = json_file.with_name(json_file.name + ".draft")
        draft.touch(mode=0o600)  # it contains a key
        draft.write_text(json.dumps(facts, indent=2) + "\n")
        draft.replace(json_file)
    print(json.dumps(facts, indent=2 if sys.stdout.isatty() else None), flush=True)


def _forget_answer(json_file: Path | None) -> None:
    if json_file is not None and json_file != JSON_ON_STDOUT:
        json_file.unlink(missing_ok=True)  # a waiting caller must not read the file of an earlier start


def _first_line(supervisor: subprocess.Popen[bytes]) -> bytes:
    if supervisor.stdout is None:
        raise StackError("the supervisor has no output to read")
    with supervisor.stdout as out:
        return out.readline()


def _end_supervisor(installation: Installation, record: Record) -> None:
    supervisor = record.supervisor.process()
    if supervisor is None:
        return
    supervisor.send_signal(signal.SIGTERM)
    supervisor.send_signal(signal.SIGCONT)
    deadline = time.monotonic() + STOP_SECONDS
    while record.supervisor.process() is not None or installation.is_held():
        if time.monotonic() > deadline:
            os.kill(record.supervisor.pid, signal.SIGKILL)
        time.sleep(POLL_SECONDS)


def _print_status(record: Record, pids: dict[str, int | None]) -> None:
    for name, value in (record.addresses or {"state": "starting"}).items():
        print(f"{name:16} {'(hidden)' if name == 'api_key' else value}")
    for name, pid in pids.items():
        print(f"{name:16} {f'running, pid {pid}' if pid else 'dead'}")
