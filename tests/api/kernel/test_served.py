"""`python -m api` on a real socket: what its log holds, and what only a real server shows."""

import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.conftest import SECRET_KEY

ROOT = Path(__file__).parents[3]
START_SECONDS = 100


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served") / "log"


@pytest.fixture(scope="module")
def url(module_database_url: str, log: Path) -> Iterator[str]:
    with process(module_database_url, log) as (_, address):
        yield address


@contextlib.contextmanager
def process(database_url: str, log: Path, **more: str) -> Iterator[tuple["subprocess.Popen[bytes]", str]]:
    """A process of the API, with more in its environment, and its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {
        "DATABASE_URL": database_url,
        "SECRET_KEY": SECRET_KEY,
        "TEMPORAL_ADDRESS": "127.0.0.1:1",
        "LOG_JSON": "true",
        **more,
    }
    with log.open("w") as output:
        served = subprocess.Popen(
            [sys.executable, "-m", "api", "--port", str(port)], cwd=ROOT, env=environment, stdout=output, stderr=output
        )
    try:
        _await(port, served, log)
        yield served, f"http://127.0.0.1:{port}"
    finally:
        served.terminate()
        assert served.wait(timeout=20) in (0, -15)


def _await(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise AssertionError(log.read_text())


def lines(log: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]


def test_without_temporal_it_serves_and_leaves_wake_ups_to_the_dispatcher(url: str) -> None:
    with httpx.Client(base_url=url, trust_env=False) as http:
        made = http.post("/v1/workspaces", json={"name": "Acme", "email": "a@example.com"})
        assert made.status_code == 201, made.text
        key = {"Authorization": f"Bearer {made.json()['api_key']}"}
        assert http.get("/v1/workspace", headers=key).json()["id"] == made.json()["id"]


def test_the_log_holds_routes_and_no_secrets(url: str, log: Path) -> None:
    with httpx.Client(base_url=url, trust_env=False) as http:
        made = http.post("/v1/workspaces", json={"name": "Zanzibar Ltd", "email": "quentin@example.com"}).json()
        headers = {"Authorization": f"Bearer {made['api_key']}", "X-Request-Id": "trace-me"}
        http.get("/v1/api-keys/key_1", headers=headers)
        http.get("/verify?token=SECRETTOKEN")
        http.post("/verify", data={"token": "SECRETTOKEN"})
    text = log.read_text()
    for secret in (made["api_key"], "SECRETTOKEN", "quentin", "Zanzibar"):
        assert secret not in text
    found = next(line for line in lines(log) if line.get("request_id") == "trace-me")
    assert (found["route"], found["status"], found["method"]) == ("/v1/api-keys/{key_id:id}", 404, "GET")
    assert isinstance(found["ms"], float)


def test_an_over_long_body_is_answered_though_it_keeps_coming(url: str) -> None:
    with httpx.Client(base_url=url, trust_env=False) as http:
        for size in (2, 12):
            answer = http.post("/v1/workspaces", content=b"x" * size * 1024 * 1024)
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")
            chunked = http.post("/v1/workspaces", content=(b"x" * 65536 for _ in range(size * 16)))
            assert (chunked.status_code, chunked.json()["error"]["code"]) == (400, "invalid_request")


def test_a_forwarded_header_of_an_untrusted_proxy_is_ignored(url: str) -> None:
    with httpx.Client(base_url=url, trust_env=False) as http:
        first = http.get("/v1/billing/plans", headers={"X-Forwarded-For": "203.0.113.1"})
        second = http.get("/v1/billing/plans", headers={"X-Forwarded-For": "203.0.113.2"})
        remaining = [int(answer.headers["ratelimit-remaining"]) for answer in (first, second)]
        assert remaining[0] - remaining[1] == 1


def test_head_has_no_body_on_the_wire(url: str) -> None:
    with httpx.Client(base_url=url, trust_env=False) as http:
        for _ in range(2):  # the second would read the first one's body, were there one
            assert http.head("/v1/billing/plans").status_code == 200
        assert http.get("/health").json() == {"status": "ok"}


def test_what_is_not_http_is_refused(url: str) -> None:
    host, port = url.removeprefix("http://").split(":")
    for raw in (b"\x00\x01\x02\r\n\r\n", b"GET /v1/workspace HTTP/1.1\r\nHost: x\r\nBad Header: \x00\r\n\r\n"):
        with socket.create_connection((host, int(port)), timeout=5) as connection:
            connection.sendall(raw)
            assert connection.recv(4096).startswith(b"HTTP/1.1 400")


@pytest.mark.slow
def test_a_connection_that_rests_for_as_long_as_proxies_keep_one_is_still_served(url: str) -> None:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=20)
    connection.connect()
    connection.auto_open = False
    for rest in (0, 61):
        time.sleep(rest)
        connection.request("GET", "/health")
        assert connection.getresponse().read() == b'{"status":"ok"}'
    connection.close()
