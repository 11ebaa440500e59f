"""A population shared by all tests, and a sandbox on a real web server, reset for each test."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from sandbox.network.service import NetworkSettings
from sandbox.people.gate import KEY_LENGTH
from sandbox.people.ledger import START_CREDITS, UNLIMITED_PER_MINUTE
from sandbox.people.population.build import Population, build_population
from sandbox.people.service import PeopleSettings
from sandbox.server import Settings
from tests.sandbox.serving import serving

# A JSON object.
Object = dict[str, Any]

PEOPLE = 2000
SEED = 7
API_KEY = "k" * KEY_LENGTH


@pytest.fixture(scope="session")
def population() -> Population:
    return build_population(PEOPLE, SEED)


@dataclass(frozen=True, slots=True)
class Running:
    """A served sandbox: `people` is a client with the API key, `control` one of the control API."""

    url: str
    people: httpx.Client
    control: httpx.Client

    def search(self, query: object, **more: object) -> httpx.Response:
        return self.people.post("/v5/person/search", json={"query": query} | more)

    def order(self, operation: str, fault: str, **more: object) -> None:
        body = {"provider": "people", "operation": operation, "fault": fault} | more
        self.control.post("/_control/faults", json=body).raise_for_status()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    people, network = PeopleSettings(api_keys=frozenset({API_KEY})), NetworkSettings(api_keys=frozenset({API_KEY}))
    directory = tmp_path_factory.mktemp("sandbox")
    with (
        serving(Settings(state_dir=directory, people=people, network=network, population=PEOPLE, seed=SEED)) as url,
        httpx.Client(base_url=url, headers={"X-Api-Key": API_KEY}, trust_env=False, timeout=30) as client,
        httpx.Client(base_url=url, trust_env=False, timeout=30) as control,
    ):
        yield Running(url, client, control)


@pytest.fixture
def sandbox(served: Running) -> Running:
    """Return the served sandbox, reset."""
    for path in ("faults", "people/states", "people/log", "mail"):
        served.control.delete(f"/_control/{path}").raise_for_status()
    for path, body in (
        ("clock", {"offset_seconds": 0}),
        ("people/credits", {"remaining": START_CREDITS}),
        ("people/limits", {"per_minute": {"person/search": UNLIMITED_PER_MINUTE}}),
    ):
        served.control.post(f"/_control/{path}", json=body).raise_for_status()
    return served
