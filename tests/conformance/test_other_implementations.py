"""The MCP address by others' software, in short: `make mcp-conformance` installs the programs, and proves more."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import authorization, clients, node_programs, server_suite
from tests.conformance.outcomes import failures
from tests.conformance.serving import fixtured
from tests.journeys.recruiter import Recruiter

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(not node_programs.are_installed(), reason="make mcp-conformance has not installed the programs"),
]


@pytest.fixture(scope="module")
def fixtured_url(running_stack: dict[str, Any]) -> Iterator[str]:
    with fixtured(running_stack, Recruiter.join(running_stack).api_key) as url:
        yield url


@pytest.mark.parametrize("revision", server_suite.REVISIONS)
def test_the_official_suite_finds_no_unexpected_failure(fixtured_url: str, revision: str, tmp_path: Path) -> None:
    outcomes = server_suite.run(fixtured_url, revision, tmp_path / "results")
    assert failures(outcomes) == []
    assert len(outcomes) > 30


@pytest.mark.parametrize("client", clients.CLIENTS)
def test_a_client_of_another_language_does_the_main_job(running_stack: dict[str, Any], client: str) -> None:
    api_key = Recruiter.join(running_stack).api_key
    assert failures(clients.run(str(running_stack["mcp_url"]), api_key, client)) == []


def test_the_official_authorization_suite_finds_no_failure(running_stack: dict[str, Any], tmp_path: Path) -> None:
    outcomes = authorization.suite(running_stack, tmp_path / "results")
    assert failures(outcomes) == []
    assert len(outcomes) >= authorization.SCENARIOS


@pytest.mark.parametrize("client", clients.CLIENTS)
def test_a_client_finds_out_where_to_sign_in_and_a_person_allows_it(running_stack: dict[str, Any], client: str) -> None:
    assert failures(authorization.sign_in(running_stack, client)) == []
