"""`/readyz` of running processes while PostgreSQL or Temporal is frozen or dead: 503 with the part, and 200 again."""

import os
import signal
import time
from collections.abc import Iterator

import httpx
import psutil
import pytest

from api.kernel.internal import ANSWER_SECONDS
from tests.journeys.beside import Beside, beside
from tests.journeys.installation import Installation, installed

pytestmark = [pytest.mark.timeout(300), pytest.mark.slow]

AGAIN_SECONDS = 60
PARTS = {"postgres": {"database", "migrations"}, "temporal": {"temporal"}}
"""What each of them answers for."""


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with installed("--population", "100") as running:
        yield running


@pytest.fixture(scope="module", params=["api", "worker", "upstream"])
def watched(installation: Installation, request: pytest.FixtureRequest) -> Iterator[Beside]:
    with beside(installation, request.param) as made:
        yield made


def page(watched: Beside) -> tuple[int, dict[str, str]]:
    """What `/readyz` says. One that hangs is an error: each part is given up in time."""
    answer = httpx.get(f"{watched.internal_url}/readyz", trust_env=False, timeout=ANSWER_SECONDS)
    parts: dict[str, str] = answer.json()["parts"]
    return answer.status_code, parts


def until_ready(watched: Beside) -> None:
    deadline = time.monotonic() + AGAIN_SECONDS
    while (said := page(watched))[0] != 200:
        assert time.monotonic() < deadline, said
        time.sleep(0.2)


def assert_not_ready(watched: Beside, part: str, words: set[str]) -> None:
    status, parts = page(watched)
    assert status == 503
    assert {name for name, word in parts.items() if word != "ok"} == PARTS[part], parts
    assert {parts[name] for name in PARTS[part]} <= words, parts
    alive = httpx.get(f"{watched.internal_url}/health", trust_env=False, timeout=ANSWER_SECONDS)
    assert alive.status_code == 200


@pytest.mark.parametrize("part", sorted(PARTS))
def test_a_frozen_part_is_named_and_ready_again_when_it_goes_on(
    installation: Installation, watched: Beside, part: str
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
def test_a_dead_part_is_named_and_ready_again_when_it_is_back(
    installation: Installation, watched: Beside, part: str
) -> None:
    until_ready(watched)
    installation.command("kill", part)
    try:
        assert_not_ready(watched, part, {"unreachable", "no_answer"})
    finally:
        installation.command("restart", part)
    until_ready(watched)
    assert watched.running.poll() is None, watched.log()
