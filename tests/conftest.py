"""Fixtures for every test; servers start when a test first needs them.

`database_url`: a migrated PostgreSQL database for one test (`module_database_url`: for one module). Make
one engine per database and dispose of it: a database with open connections is still dropped, but the driver then
complains. `temporal_address`, `temporal_namespace`: the real Temporal server, and a namespace that
only this xdist worker uses. `running_stack`: the output of `python -m stack up` for a whole running installation with
3,000 invented people, shared by all tests of the session: sign up a separate workspace in each test.
"""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from models.base import database
from stack.postgres import Postgres
from tests import services

OPENED = pytest.StashKey[bool]()
LIMITS = {
    **dict.fromkeys(("LOCK_TIMEOUT", "STATEMENT_TIMEOUT", "IDLE_TIMEOUT"), "0"),
    **dict.fromkeys(("ANSWER_SECONDS", "POOL_SECONDS"), None),
}
"""How long a connection waits in tests: without end. Tests of these limits ask for `database_limits`."""
IN_PRODUCTION = {name: getattr(database, name) for name in LIMITS}

# On a busy machine the duration of an example means nothing.
settings.register_profile("shared cores", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared cores")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes many seconds; left out of `make test`, part of `make test-all`")
    config.addinivalue_line(
        "markers", "chaos: kills and freezes every process of an installation; runs alone, at the end"
    )
    config.stash[OPENED] = services.open_session()
    for name, value in LIMITS.items():
        setattr(database, name, value)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the journeys first, in their random order: they mostly wait, and other workers compute meanwhile."""
    items.sort(key=lambda item: "journeys" not in item.path.parts)


def pytest_unconfigure(config: pytest.Config) -> None:
    if config.stash.get(OPENED, False):
        services.close_session()


@pytest.fixture(scope="session")
def postgres_server() -> Postgres:
    """The session's PostgreSQL server: `sql(statement, database=…)` as its superuser, `url(database)`."""
    return services.postgres()


@pytest.fixture
def database_url(postgres_server: Postgres) -> Iterator[str]:
    """The `DATABASE_URL` of a fresh, migrated database that only this test uses."""
    with services.database(postgres_server) as url:
        yield url


@pytest.fixture(scope="module")
def module_database_url(postgres_server: Postgres) -> Iterator[str]:
    """The `DATABASE_URL` of a fresh, migrated database that the tests of this module share."""
    with services.database(postgres_server) as url:
        yield url


@pytest.fixture
def database_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit every wait for the database as an installation does, in what is opened after this."""
    for name, value in IN_PRODUCTION.items():
        monkeypatch.setattr(database, name, value)


@pytest.fixture(scope="session")
def temporal_address() -> str:
    """`host:port` of a real Temporal server with the flags and search attributes of the installation."""
    return str(services.shared("temporal")["address"])


@pytest.fixture(scope="session")
def temporal_namespace(temporal_address: str) -> str:
    """A namespace that only this xdist worker uses, so that task queues with the same name stay apart."""
    namespace = f"tests-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
    services.register_namespace(temporal_address, namespace)
    return namespace


@pytest.fixture(scope="session")
def running_stack() -> services.Facts:
    """The JSON of `python -m stack up`, of one installation that the whole session shares."""
    return services.shared("stack")
