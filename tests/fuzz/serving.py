"""Runs the API and schemathesis as separate processes, and returns the results."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, STDOUT, Process, create_subprocess_exec
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from stack.children import PROJECT
from stack.ports import Ports
from tests.fuzz.world import ANSWERS_VARIABLE

PATIENCE = 300.0
CONFIGURATION = PROJECT / "tests" / "fuzz" / "schemathesis.toml"
ANSWERS = "answers.json"
UNLIMITED = {
    "RATE_LIMIT_PER_MINUTE": "100000000",
    "SIGNUPS_A_DAY": "100000000",
    "LOG_LEVEL": "ERROR",
    "LOG_JSON": "false",
}
CLEAN = {"PYTHONPATH": str(PROJECT), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


@asynccontextmanager
async def served(environment: Mapping[str, str], log: Path) -> AsyncIterator[str]:
    """Serve an API without rate limits within the block, and yield its address."""
    ports = Ports()
    port = ports.take(18180)
    address = f"http://127.0.0.1:{port}"
    told = {**os.environ, **CLEAN, **environment, **UNLIMITED, "PUBLIC_URL": address}
    with log.open("wb") as sink:
        command = [sys.executable, "-m", "api", "--port", str(port), "--drain-seconds", "1"]
        process = await create_subprocess_exec(*command, cwd=PROJECT, env=told, stdout=sink, stderr=STDOUT)
        try:
            await _answers(address, process, log)
            yield address
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()
            ports.release()


async def _answers(address: str, process: Process, log: Path) -> None:
    async with httpx.AsyncClient(trust_env=False) as http, asyncio.timeout(PATIENCE):
        while True:
            if process.returncode is not None:
                raise RuntimeError(f"the API did not start: {await asyncio.to_thread(log.read_text)}")
            try:
                (await http.get(f"{address}/health")).raise_for_status()
            except httpx.TransportError:
                await asyncio.sleep(0.1)
            else:
                return


async def fuzzed(
    address: str, folder: Path, *arguments: str, environment: Mapping[str, str], api_key: str
) -> tuple[int, str]:
    """Run schemathesis over the whole served document; return its exit code and its output."""
    told = {**os.environ, **CLEAN, **environment, "SCHEMATHESIS_HOOKS": "tests.fuzz.hooks"}
    told[ANSWERS_VARIABLE] = str(folder / ANSWERS)
    document = folder / "openapi.json"
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as http:
        document.write_bytes((await http.get(f"{address}/openapi.json")).raise_for_status().content)
    program = [str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(CONFIGURATION), "run"]
    command = [*program, str(document), "--url", address, "-H", f"Authorization: Bearer {api_key}", *arguments]
    process = await create_subprocess_exec(*command, cwd=folder, env=told, stdout=PIPE, stderr=STDOUT)
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode(errors="replace")
