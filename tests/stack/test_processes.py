from pathlib import Path

import pytest

from models.base.settings import Settings
from stack import processes
from stack.installation import Choices, Installation
from stack.postgres import Postgres
from stack.processes import ELSEWHERE, Ground, base_environment
from stack.temporal import Temporal


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    installation = Installation(tmp_path)
    choices = installation.settle(population=None, seed=None, virtual_time=True)
    return ground_of(installation, choices)


def ground_of(installation: Installation, choices: Choices) -> Ground:
    temporal = Temporal(
        database=installation.temporal, log=installation.log("temporal"), port=1, ui_port=2, metrics_port=3
    )
    postgres = Postgres(home=installation.postgres, log=installation.log("postgres"))
    return Ground(installation=installation, choices=choices, postgres=postgres, temporal=temporal)


def test_the_environment_makes_valid_settings(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ground.environment().items():
        monkeypatch.setenv(name, value)
    made = Settings()
    assert made.virtual_time
    assert not made.production
    assert made.email_verification
    assert made.database_url == ground.postgres.url()
    assert made.public_url == ground.url("api")
    assert made.people_data_labs_base_url == ground.url("sandbox")
    assert made.unipile_base_url == ground.url("sandbox")
    assert made.unipile_api_key is not None
    assert made.unipile_require_signature


def test_the_sandbox_takes_the_keys_that_the_service_uses(ground: Ground) -> None:
    command, environment = processes.sandbox(ground, clock_offset=0).command, ground.environment()
    for option, name in (("--people-api-key", "PEOPLE_DATA_LABS_API_KEY"), ("--network-api-key", "UNIPILE_API_KEY")):
        assert command[command.index(option) + 1] == environment[name]


def test_settings_of_another_installation_do_not_leak_in(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*ELSEWHERE, "DATABASE_URL", "PRODUCTION"):
        monkeypatch.setenv(name, "elsewhere")
    environment = ground.environment()
    assert "elsewhere" not in environment.values()


def test_loopback_is_reached_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "intranet")
    assert base_environment()["NO_PROXY"] == "intranet,127.0.0.1,localhost"
