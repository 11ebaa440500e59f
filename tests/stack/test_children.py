import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from stack.children import Child, StartFailed

Maker = Callable[[str], Child]


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Maker]:
    """Makes a child that runs a Python script and is ready when the file `ready` exists in its directory."""
    made: list[Child] = []

    def make(script: str) -> Child:
        one = Child(
            name="sample",
            command=[sys.executable, "-c", textwrap.dedent(script)],
            log=tmp_path / "logs" / "sample.log",
            ready=lambda _: (tmp_path / "ready").exists(),
            directory=tmp_path,
            start_limit=20,
            grace=0.5,
        )
        made.append(one)
        return one

    yield make
    for one in made:
        one.kill()


SLEEPER = "import time; open('ready', 'w').close(); time.sleep(60)"


def gone(pid: int) -> bool:
    """Whether the process has ended, within a few seconds."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


def test_a_started_child_is_ready_and_has_a_pid(child: Maker, tmp_path: Path) -> None:
    one = child(SLEEPER)
    one.start()
    assert (tmp_path / "ready").exists()
    assert one.pid is not None


def test_a_child_that_ends_while_starting_is_named_with_the_end_of_its_log(child: Maker) -> None:
    one = child("import sys; print('\\n'.join(f'line {n}' for n in range(100))); sys.exit(3)")
    with pytest.raises(StartFailed) as failed:
        one.start()
    assert failed.value.process == "sample"
    assert "exit code 3" in str(failed.value)
    assert "line 99" in str(failed.value)
    assert "line 10\n" not in str(failed.value)


def test_the_log_of_an_earlier_start_is_not_shown_for_this_one(child: Maker) -> None:
    with pytest.raises(StartFailed, match="first words"):
        child("print('first words'); raise SystemExit(1)").start()
    with pytest.raises(StartFailed) as failed:
        child("print('second words'); raise SystemExit(1)").start()
    assert "first words" not in str(failed.value)


def test_a_child_that_is_never_ready_is_named(child: Maker) -> None:
    one = child("import time; time.sleep(60)")
    one.start_limit = 0.3
    with pytest.raises(StartFailed, match="not ready"):
        one.start()


def test_stop_ends_a_child_that_does_not_listen(child: Maker) -> None:
    one = child(f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n{SLEEPER}")
    one.start()
    pid = one.pid
    one.stop()
    assert pid is not None
    assert gone(pid)
    assert one.pid is None


def test_stop_lets_a_frozen_child_end_in_order(child: Maker, tmp_path: Path) -> None:
    script = """
    import signal, sys, time
    signal.signal(signal.SIGTERM, lambda *_: (open('farewell', 'w').close(), sys.exit(0)))
    open('ready', 'w').close()
    time.sleep(60)
    """
    one = child(script)
    one.grace = 10
    one.start()
    assert one.pid is not None
    os.kill(one.pid, signal.SIGSTOP)
    one.stop()
    assert (tmp_path / "farewell").exists()


def test_kill_takes_what_the_child_has_started_along(child: Maker, tmp_path: Path) -> None:
    script = f"""
    import subprocess, sys
    inner = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])
    open('inner', 'w').write(str(inner.pid))
    {SLEEPER}
    """
    one = child(script)
    one.start()
    one.kill()
    assert gone(int((tmp_path / "inner").read_text()))


def test_a_child_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    script = f"""
    import sys, time
    from pathlib import Path
    from stack.children import Child
    here = Path({str(tmp_path)!r})
    child = Child(name="inner", command=[sys.executable, "-c", "import time; time.sleep(60)"], log=here / "log",
                  ready=lambda _: True)
    child.start()
    print(child.pid, flush=True)
    time.sleep(60)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        inner = int(parent.stdout.readline())
        assert psutil.pid_exists(inner)
        parent.kill()
    assert gone(inner)
