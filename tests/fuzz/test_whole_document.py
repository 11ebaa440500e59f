"""The whole OpenAPI document against the real service: nothing fails, nothing is answered that is not described."""

import os
from pathlib import Path
from uuid import uuid4

import httpx
import psutil
import pytest

from tests.api.conftest import SECRET_KEY
from tests.fuzz.figures import MOST_UNLUCKY, Figures
from tests.fuzz.serving import fuzzed, served
from tests.fuzz.world import WITHOUT_WORKERS_VARIABLE, furnished
from tests.services import Facts, register_namespace

SEED = os.environ.get("SEED", "1")
EXAMPLES = os.environ.get("EXAMPLES", "100")
CHEAP = {"EMAIL_VERIFICATION": "false", "WEBHOOK_LOOPBACK": "true", "UNIPILE_API_KEY": "of nobody"}
"""Under these every operation gets as far as its rows."""

WAIT_FOR_A_WORKER = ("outreach_accounts.connect", "outreach_accounts.reconnect", "billing.checkout")
"""Operations that only a whole installation answers, and that have no preview to ask for instead."""


async def still_taken(address: str, api_key: str) -> None:
    """The key still opens everything: else what came last was refused for that alone, as described."""
    headers = {"Authorization": f"Bearer {api_key}"}
    async with httpx.AsyncClient(trust_env=False, base_url=address, headers=headers) as http:
        for path in ("/v1/workspace", "/v1/runs", "/v1/outreach/accounts"):
            assert (await http.get(path)).status_code == 200


@pytest.mark.slow
@pytest.mark.timeout(1800)
async def test_a_seeded_part_of_all_requests_is_answered_as_described(
    module_database_url: str, temporal_address: str, tmp_path: Path
) -> None:
    namespace = f"fuzz-{uuid4().hex}"  # where no worker of another test takes the workflows started here
    register_namespace(temporal_address, namespace)
    world = await furnished(module_database_url)
    environment = {"DATABASE_URL": module_database_url, "SECRET_KEY": SECRET_KEY, **CHEAP}
    environment |= {"TEMPORAL_ADDRESS": temporal_address, "TEMPORAL_NAMESPACE": namespace}
    async with served(environment, tmp_path / "api.log") as address:
        code, said = await fuzzed(
            address,
            tmp_path,
            *("--phases", "fuzzing", "--max-examples", "2", "--seed", "1", "--no-shrink"),
            *(argument for name in WAIT_FOR_A_WORKER for argument in ("--exclude-operation-id", name)),
            environment=world.environment() | {WITHOUT_WORKERS_VARIABLE: "1"},
            api_key=world.api_key,
        )
        await still_taken(address, world.api_key)
    assert code == 0, said
    assert "event=internal" not in (tmp_path / "api.log").read_text()


@pytest.mark.slow
@pytest.mark.timeout(3600)
async def test_every_phase_finds_nothing_in_a_running_installation(running_stack: Facts, tmp_path: Path) -> None:
    processes = running_stack["processes"]
    assert isinstance(processes, dict)
    told = psutil.Process(processes["api"]).environ()
    world = await furnished(told["DATABASE_URL"], secret_key=told["SECRET_KEY"])
    async with served(told | CHEAP, tmp_path / "api.log") as address:
        code, said = await fuzzed(
            address,
            tmp_path,
            *("--phases", "examples,coverage,fuzzing,stateful", "--max-examples", EXAMPLES, "--seed", SEED),
            environment=world.environment(),
            api_key=world.api_key,
        )
        await still_taken(address, world.api_key)
    figures = Figures.read(tmp_path)
    print(said, figures.told(), sep="\n")  # noqa: T201 - `make fuzz` shows the figures
    assert code == 0, said
    assert len(figures.unreached()) <= MOST_UNLUCKY, figures.unreached()
    assert "event=internal" not in (tmp_path / "api.log").read_text()
