"""Processes of a benchmark: a worker that serves during a measurement, and the resources that a process used."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from stack.children import PROJECT


@contextmanager
def serving(*command: str, ready: Path, environment: Mapping[str, str] = os.environ) -> Iterator[int]:
    """Start a worker with these arguments to Python, wait for its `ready` file, and yield its process id."""
    ready.unlink(missing_ok=True)
    running = subprocess.Popen([sys.executable, *command], cwd=PROJECT, env=environment)
    try:
        while not ready.exists():
            assert running.poll() is None, "the worker ended"
            time.sleep(0.02)
        yield running.pid
    finally:
        running.terminate()
        running.wait()


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU seconds so far and resident memory in MB, of a process and its children."""

    cpu: float
    memory: float

    @classmethod
    def of(cls, pid: int) -> "Usage":
        """Return the current usage of a process."""
        first = psutil.Process(pid)
        cpu, memory = 0.0, 0
        for process in (first, *first.children(recursive=True)):
            with process.oneshot():
                times = process.cpu_times()
                cpu += times.user + times.system
                memory += process.memory_info().rss
        return cls(cpu, memory / 1e6)
