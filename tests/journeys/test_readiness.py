"""`/readyz` of running processes while PostgreSQL or Temporal is frozen or dead: 503 with its name, then 200 again."""

import os
import signal
import time
from collections.abc import Iterator

import httpx
import psutil
import pytest

from api.kernel.internal import ANSWER_SECONDS
from tests.journeys.extra_process import ExtraProcess, extra_process
from tests.journeys.installation import Installation, installed

pytestmark = [pytest.mark.timeout(300), pytest.mark.slow]

AGAIN_SECONDS = 60
PARTS = {"postgres": {"database", "migrations"}, "temporal": {"temporal"}}
"""The dependencies that each process reports on."""


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with installed("--population", "100") as running:
        yield running


@pytest.fixture(scope="module", params=["api", "worker", "upstream"])
def watched(installation: Installation, request: pytest.FixtureRequest) -> Iterator[ExtraProcess]:
    with extra_process(installation, request.param) as made:
        yield made


def page(watched: ExtraProcess) -> tuple[int, dict[str, str]]:
    """Return the answer of `/readyz`. A request that hangs is an error: each check has a time limit."""
    answer = httpx.get(f"{watched.internal_url}/readyz", trust_env=False, timeout=ANSWER_SECONDS)
    parts: dict[str, str] = answer.json()["parts"]
    return answer.status_code, parts


def until_ready(watched: ExtraProcess) -> None:
    deadline = time.monotonic() + AGAIN_SECONDS
    while (said := page(watched))[0] != 200:
        assert time.monotonic() < deadline, said
        time.sleep(0.2)


def assert_not_ready(watched: ExtraProcess, part: str, words: set[str]) -> None:
    status, parts = page(watched)
    assert status == 503
    assert {name for name, word in parts.items() if word != "ok"} == PARTS[part], parts
    assert {parts[name] for name in PARTS[part]} <= words, parts
    alive = httpx.get(f"{watched.internal_url}/health", trust_env=False, timeout=ANSWER_SECONDS)
    assert alive.status_code == 200


@pytest.mark.parametrize("part", sorted(PARTS))
def test_a_frozen_dependency_is_named_and_ready_again_when_it_continues(
    installation: Installation, watched: ExtraProcess, part: str
) -> None:
    until_ready(watched)
    first = psutil.Process(installation.pid(part))
    frozen = [first.pid, *(child.pid for child in first.children(recursive=True))]
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    try:
        assert_not_ready(watched, part, {"no_answer", "unreachable"})
        assert_not_ready(watched, part, {"no_answer", "unreachable"})
    finally:
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)
    until_ready(watched)


@pytest.mark.parametrize("part", sorted(PARTS))
def test_a_dead_dependency_is_named_and_ready_again_when_it_is_back(
    installation: Installation, watched: ExtraProcess, part: str
) -> None:
    until_ready(watched)
    installation.command("kill", part)
    try:
        assert_not_ready(watched, part, {"unreachable", "no_answer"})
    finally:
        installation.command("restart", part)
    until_ready(watched)
    assert watched.running.poll() is None, watched.log()
