"""A process of the API that is told to stop while clients of MCP wait: they get their answers, and it ends."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.kernel.test_served import process
from tests.api.sourcing.sourcing import DATA_ENGINEER

pytestmark = [pytest.mark.timeout(120), pytest.mark.slow]

Json = dict[str, Any]


def polls(headers: dict[str, str], run_id: str) -> Iterator[tuple[dict[str, str], Json]]:
    """Long polls of every kind: both eras, with and without progress."""
    modern = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    routed = {"mcp-method": "tools/call", "mcp-name": "get_search_results"}
    for version, meta, more in (("2025-11-25", {}, {}), ("2026-07-28", modern, routed)):
        for progress in ({}, {"progressToken": "p"}):
            asked = {"name": "get_search_results", "arguments": {"run_id": run_id, "wait_seconds": 50}}
            params = asked | {"_meta": meta | progress}
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            yield headers | more | {"mcp-protocol-version": version}, message


def test_long_polls_are_answered_when_the_process_stops(module_database_url: str, tmp_path: Path) -> None:
    answers: list[str] = []
    with process(module_database_url, tmp_path / "log", EMAIL_VERIFICATION="false") as (served, url):
        with httpx.Client(base_url=url, trust_env=False) as http:
            made = http.post("/v1/workspaces", json={"name": "A", "email": "a@example.com"}).json()
            headers = {"Authorization": f"Bearer {made['api_key']}", "accept": "application/json, text/event-stream"}
            body = {"intent": DATA_ENGINEER}
            started = http.post("/v1/runs", json=body, headers=headers | {"Idempotency-Key": "one"})
        run_id = started.json()["run"]["id"]

        def poll(asked: dict[str, str], message: Json) -> None:
            answer = httpx.post(f"{url}/mcp", json=message, headers=asked, trust_env=False, timeout=60)
            answers.append(answer.text)

        waiting = [threading.Thread(target=poll, args=args) for args in polls(headers, run_id)]
        for thread in waiting:
            thread.start()
        threading.Event().wait(3)
        assert answers == []
        served.terminate()
        for thread in waiting:
            thread.join()
        assert served.wait(timeout=60) in (0, -15)
    assert len(answers) == 4
    for answer in answers:
        told = next(line.removeprefix("data: ") for line in reversed(answer.splitlines()) if "result" in line)
        assert json.loads(told)["result"]["structuredContent"]["done"] is False
