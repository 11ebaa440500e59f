"""The whole installation from outside: the commands as a person or a black-box test uses them."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from stack.__main__ import EXAMPLE, parser
from stack.children import PROJECT
from stack.processes import NAMES
from tests import services
from tests.services import Facts

ADDRESSES = {
    "api_url",
    "mcp_url",
    "temporal_address",
    "temporal_ui_url",
    "database_url",
    "sandbox_url",
    "api_key",
    "workspace_id",
}
COMMANDS = ("up", "down", "status", "reset", "logs", "restart", "kill", "now", "advance", "demo")
SMALL = ("--population", "300", "--seed", "3")

pytestmark = pytest.mark.timeout(300)


def stack(*arguments: str, code: int | None = 0, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run one command and check its exit code."""
    done = subprocess.run(
        [sys.executable, "-m", "stack", *arguments],
        cwd=PROJECT,
        env=os.environ | variables,
        check=False,
        capture_output=True,
        text=True,
    )
    assert code is None or done.returncode == code, done.stdout + done.stderr
    return done


def asked(facts: Facts, method: str, path: str, **more: Any) -> dict[str, Any]:
    """Ask the API with the key of the first workspace."""
    headers = {"Authorization": f"Bearer {facts['api_key']}", "Idempotency-Key": "once"}
    answer = httpx.request(method, f"{facts['api_url']}{path}", headers=headers, trust_env=False, timeout=30, **more)
    assert answer.is_success, answer.text
    read: dict[str, Any] = answer.json()
    return read


def workspace(facts: Facts) -> dict[str, Any]:
    return asked(facts, "GET", "/v1/workspace")


def started_run(facts: Facts) -> str:
    ask = {"job_description": EXAMPLE.read_text(), "target": 30}
    return str(asked(facts, "POST", "/v1/runs", json=ask)["run"]["id"])


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def processes_of(folder: Path) -> list[str]:
    """Living processes that name the directory, or were told about it in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and (
                str(folder) in " ".join(process.cmdline()) or str(folder) in process.environ().get("DATABASE_URL", "")
            ):
                found.append(f"{process.pid} {process.cmdline()}")
        except psutil.Error:
            continue
    return found


def assert_no_process_on(folder: Path) -> bool:
    deadline = time.monotonic() + 5
    while processes_of(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    return processes_of(folder) == []


@pytest.fixture
def folder() -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="journey-"))
    yield place / "stack"
    stack("down", "--data-dir", str(place / "stack"), code=None)
    shutil.rmtree(place)


def test_up_answers_what_others_rely_on(running_stack: Facts) -> None:
    assert set(running_stack) == ADDRESSES | {"processes"}
    pids = running_stack["processes"]
    assert isinstance(pids, dict)
    assert set(pids) == set(NAMES)
    assert all(psutil.pid_exists(pid) for pid in pids.values())


def test_the_key_is_that_of_a_verified_workspace_with_credits(running_stack: Facts) -> None:
    found = workspace(running_stack)
    assert found["id"] == running_stack["workspace_id"]
    assert found["email_verified"] is True
    assert int(found["balance_credits"]) > 0


@pytest.mark.parametrize("path", ["{api_url}/health", "{api_url}/docs", "{api_url}/openapi.json", "{temporal_ui_url}"])
def test_what_up_shows_can_be_opened(running_stack: Facts, path: str) -> None:
    answer = httpx.get(path.format(**running_stack), follow_redirects=True, trust_env=False)
    assert answer.status_code == 200


def test_status_says_the_same_and_that_all_run(running_stack: Facts) -> None:
    told = stack("status", "--data-dir", str(services.folder() / "stack"), "--json")
    assert json.loads(told.stdout) == running_stack


def test_status_keeps_the_key_to_itself(running_stack: Facts) -> None:
    assert str(running_stack["api_key"]) not in stack("status", "--data-dir", str(services.folder() / "stack")).stdout


@pytest.mark.usefixtures("running_stack")
def test_a_second_up_on_the_same_directory_is_refused() -> None:
    refused = stack("up", "--detach", "--data-dir", str(services.folder() / "stack"), code=1)
    assert "already running" in refused.stderr


@pytest.mark.usefixtures("running_stack")
def test_time_is_not_moved_without_virtual_time() -> None:
    refused = stack("advance", "1d", "--data-dir", str(services.folder() / "stack"), code=1)
    assert "--virtual-time" in refused.stderr


@pytest.mark.usefixtures("running_stack")
def test_now_is_service_time() -> None:
    told = stack("now", "--data-dir", str(services.folder() / "stack")).stdout.strip()
    assert told.endswith("Z")
    assert told.startswith("20")


def test_what_is_not_running_is_said_to_be_so(tmp_path: Path) -> None:
    stack("status", "--data-dir", str(tmp_path), code=3)
    stack("down", "--data-dir", str(tmp_path), code=0)
    for command in (["now"], ["restart", "api"], ["kill", "api"], ["advance", "1d"]):
        assert "no stack is running" in stack(*command, "--data-dir", str(tmp_path), code=1).stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args([command, "--help"])
    told = capsys.readouterr().out
    assert ended.value.code == 0
    assert f"usage: python -m stack {command}" in told
    assert "--data-dir" in told


def test_the_help_shows_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["--help"])
    told = capsys.readouterr().out
    assert all(f"\n    {command} " in told for command in COMMANDS)


@pytest.mark.slow
def test_an_installation_survives_everything_and_ends_without_a_trace(running_stack: Facts, folder: Path) -> None:
    where = ("--data-dir", str(folder))
    facts: Facts = json.loads(stack("up", "--detach", *SMALL, *where).stdout)
    assert facts["api_url"] != running_stack["api_url"]  # two side by side

    pids = facts["processes"]
    assert isinstance(pids, dict)
    record = json.loads((folder / "running.json").read_text())
    for pid in (record["supervisor"]["pid"], *pids.values()):
        os.kill(pid, signal.SIGKILL)
    again: Facts = json.loads(stack("up", "--detach", *where).stdout)
    assert again["api_key"] == facts["api_key"]
    assert workspace(again)["id"] == facts["workspace_id"]

    for name in NAMES:
        stack("kill", name, *where)
        shown = json.loads(stack("status", "--json", *where, code=1).stdout)
        assert [process for process, pid in shown["processes"].items() if pid is None] == [name]
        stack("restart", name, *where)
        stack("status", *where, code=0)
    assert workspace(again)["id"] == facts["workspace_id"]

    worker = json.loads(stack("status", "--json", *where).stdout)["processes"]["worker"]
    os.kill(worker, signal.SIGSTOP)
    stack("down", *where)
    assert assert_no_process_on(folder)
    assert workspace(running_stack)["id"] == running_stack["workspace_id"]


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_stack_in_the_foreground_takes_everything_along(folder: Path, ending: signal.Signals) -> None:
    told = folder.parent / "told.json"
    with subprocess.Popen(
        [sys.executable, "-m", "stack", "up", "--data-dir", str(folder), "--json", str(told), *SMALL],
        cwd=PROJECT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as foreground:
        while not told.exists():
            assert foreground.poll() is None
            time.sleep(0.1)
        foreground.send_signal(ending)
    assert assert_no_process_on(folder)


@pytest.mark.slow
def test_a_failed_start_names_the_process_shows_its_log_and_ends_the_others(folder: Path) -> None:
    failed = stack("up", "--detach", *SMALL, "--data-dir", str(folder), code=1, UPSTREAM_CALLS="none")
    assert "api ended while starting" in failed.stderr or "worker ended while starting" in failed.stderr
    assert "upstream_calls" in failed.stderr
    assert assert_no_process_on(folder)


@pytest.mark.slow
def test_reset_leaves_nothing_of_a_running_installation(folder: Path) -> None:
    stack("up", "--detach", *SMALL, "--data-dir", str(folder))
    stack("reset", "--data-dir", str(folder))
    assert not folder.exists()
    assert assert_no_process_on(folder)


@pytest.mark.slow
def test_virtual_time_passes_on_the_real_stack_and_stays_passed(folder: Path) -> None:
    where = ("--data-dir", str(folder))
    facts: Facts = json.loads(stack("up", "--detach", "--virtual-time", *SMALL, *where).stdout)
    before = stack("now", *where).stdout.strip()
    slow = {"provider": "people", "fault": "latency", "latency_ms": 3000}
    httpx.post(f"{facts['sandbox_url']}/_control/faults", json=slow, trust_env=False).raise_for_status()
    run = started_run(facts)
    after = stack("advance", "3d", *where).stdout.strip()
    assert after[:10] > before[:10]
    ended = asked(facts, "GET", f"/v1/runs/{run}")
    assert ended["status"].startswith("completed")
    # Time stood still while it worked, though housekeeping wakes every quarter of an hour.
    assert moment(ended["finished_at"]) - moment(ended["created_at"]) < timedelta(minutes=5)
    stack("down", *where)
    stack("up", "--detach", *where)
    assert stack("now", *where).stdout.strip() > after
    sandbox = json.loads(stack("status", "--json", *where).stdout)["sandbox_url"]
    health = httpx.get(f"{sandbox}/_control/health", trust_env=False).json()
    assert health["offset_seconds"] > 2.9 * 86_400


@pytest.mark.slow
def test_the_demonstration_does_the_main_job_and_cleans_up(folder: Path) -> None:
    shown = stack("demo", "--exit", "--population", "3000", "--data-dir", str(folder), COLUMNS="200").stdout
    for expected in ("Plan and price", "Tier", "Balance", "Candidates", "Temporal UI"):
        assert expected in shown
    assert assert_no_process_on(folder)
