"""`python -m benchmarks.load`: sixteen clients call the usual mix for a minute, on small and on large data.

Prints for each call the answers per second, p50 and p99 in milliseconds, and errors: answers that the contract does not
allow for the call (aim: none). The same follows on data a hundred times as large (100,000 candidates, 10,000 open
enrollments, 1,000,000 events), with the factor by which p50 grew: the small data is the floor of the large. The API is
one process as the stack starts it; the clients share its two cores.
"""

import argparse
import asyncio
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx

from benchmarks import large
from benchmarks.api import database
from benchmarks.load.mix import MIX, Objects
from stack.children import PROJECT

SMALL, LARGE = 0.01, 1.0
CLIENTS = 16
WARM_SECONDS = 5.0
ERRORS_SHOWN = 10


@dataclass
class Measured:
    """The results of one call of the mix: latencies in milliseconds, and errors."""

    latencies: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)

    def at(self, share: float) -> float:
        """Return the latency below which this share of the answers stayed."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("nan")


@contextmanager
def serving(url: str, log: Path) -> Iterator[str]:
    """Run the API as the stack starts it, but without Temporal: wakes stay in the outbox. Yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {
        "DATABASE_URL": url,
        "SECRET_KEY": "a secret of the benchmark, long enough",
        "RATE_LIMIT_PER_MINUTE": "100000000",
        "TEMPORAL_ADDRESS": "127.0.0.1:9",
        "UNIPILE_API_KEY": "of an unknown owner",
        "EMAIL_VERIFICATION": "false",
    }
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "api", "--port", str(port)],
            cwd=PROJECT,
            env=environment,
            stdout=output,
            stderr=output,
        )
    try:
        _await_port(port, process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=30)


def _await_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"the server did not start:\n{log.read_text()[-2000:]}")


async def drive(base: str, made: large.Large, *, clients: int, seconds: float) -> tuple[dict[str, Measured], float]:
    """Run the clients for the given time; return the results of each call, and the duration in seconds."""
    measured = {name: Measured() for name in MIX}
    headers = {"Authorization": f"Bearer {made.secret}"}
    end = time.perf_counter() + seconds

    async def caller(seed: int) -> None:
        objects, chosen = Objects(made.scale, seed), random.Random(seed)  # noqa: S311 - the same calls in every run
        names, weights = list(MIX), [weight for weight, _ in MIX.values()]
        async with httpx.AsyncClient(base_url=base, headers=headers, timeout=30) as http:
            while time.perf_counter() < end:
                (name,) = chosen.choices(names, weights)
                call = MIX[name][1](objects)
                began = time.perf_counter()
                try:
                    answer = await call.send(http)
                except httpx.HTTPError as error:
                    measured[name].errors[type(error).__name__] += 1
                    continue
                measured[name].latencies.append((time.perf_counter() - began) * 1000)
                if not answer.is_success and answer.status_code not in call.answers:
                    measured[name].errors[f"{answer.status_code} {answer.text[:200]}"] += 1

    began = time.perf_counter()
    await asyncio.gather(*(caller(seed) for seed in range(clients)))
    return measured, time.perf_counter() - began


def measure(scale: float, *, clients: int, seconds: float) -> tuple[dict[str, Measured], float]:
    """Measure a new installation with data of that scale."""
    folder = Path(tempfile.mkdtemp(prefix="benchmark-"))
    folder.chmod(0o711)  # the system user of the database must be able to traverse it
    try:
        with database(folder) as url:
            began = time.perf_counter()
            made = asyncio.run(large.fill(url, datetime.now(UTC), scale=scale))
            print(f"\nscale {scale}: data written in {time.perf_counter() - began:.0f} s")
            with serving(url, folder / "api.log") as base:
                asyncio.run(drive(base, made, clients=clients, seconds=min(WARM_SECONDS, seconds)))
                return asyncio.run(drive(base, made, clients=clients, seconds=seconds))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def show(small: tuple[dict[str, Measured], float], much: tuple[dict[str, Measured], float]) -> int:
    """Print the table and return the number of errors."""
    head = f"{'':<22}{'small: 1/s':>11}{'p50':>8}{'p99':>8}{'large: 1/s':>12}{'p50':>8}{'p99':>8}"
    print(f"\n{head}{'p50 ×':>8}{'errors':>8}")
    for name in MIX:
        row, errors = f"{name:<22}", 0
        for (measured, seconds), width in ((small, 11), (much, 12)):
            one = measured[name]
            row += f"{len(one.latencies) / seconds:>{width}.1f}{one.at(0.5):>8.1f}{one.at(0.99):>8.1f}"
            errors += one.errors.total()
        print(f"{row}{much[0][name].at(0.5) / small[0][name].at(0.5):>8.2f}{errors:>8}")
    for title, (measured, seconds) in (("small", small), ("large", much)):
        whole = Measured([took for one in measured.values() for took in one.latencies])
        rate = len(whole.latencies) / seconds
        print(f"{title}: {rate:.0f} answers/s, p50 {whole.at(0.5):.1f} ms, p99 {whole.at(0.99):.1f} ms")
    wrong = Counter[str]()
    for measured, _ in (small, much):
        for name, one in measured.items():
            wrong.update({f"{name}: {what}": count for what, count in one.errors.items()})
    for what, count in wrong.most_common(ERRORS_SHOWN):
        print(f"  {count} × {what}")
    print(f"errors: {wrong.total()} (aim: none)")
    return wrong.total()


def main() -> int:
    """Measure small and large data, and return 1 after an error."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--seconds", type=float, default=60, help="of each of the two")
    parser.add_argument("--scale", type=float, default=LARGE, help="of the large data")
    parser.add_argument("--small", type=float, default=SMALL, help="scale of the small data")
    asked = parser.parse_args()
    both = [measure(scale, clients=asked.clients, seconds=asked.seconds) for scale in (asked.small, asked.scale)]
    return 1 if show(both[0], both[1]) else 0


if __name__ == "__main__":
    sys.exit(main())
