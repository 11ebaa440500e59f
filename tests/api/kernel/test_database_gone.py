"""While the database is gone or hangs, callers get a documented 503 and may repeat."""

import pytest

from tests.api.conftest import application, client
from tests.models.base.frozen import frozen_server

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize("path", ["/v1/runs", "/v1/plans"])
async def test_a_database_that_refuses_is_a_503_with_a_time_to_come_back(path: str) -> None:
    async with (
        application("postgresql+asyncpg://nobody@127.0.0.1:1/none") as app,
        client(app, api_key="svc_live_x") as http,
    ):
        answer = await http.get(path)
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "upstream_busy"
    assert answer.headers["retry-after"] == "5"
    assert answer.json()["error"]["request_id"] == answer.headers["x-request-id"]


async def test_a_database_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.base.database.CONNECT_SECONDS", 0.2)
    async with (
        frozen_server() as port,
        application(f"postgresql+asyncpg://nobody@127.0.0.1:{port}/none") as app,
        client(app, api_key="svc_live_x") as http,
    ):
        assert (await http.get("/v1/runs")).status_code == 503


async def test_health_answers_without_a_database() -> None:
    async with application("postgresql+asyncpg://nobody@127.0.0.1:1/none") as app, client(app) as http:
        assert (await http.get("/health")).status_code == 200


@pytest.mark.parametrize("path", ["/metrics", "/readyz"])
async def test_what_is_for_the_operator_is_not_served_to_callers(path: str, module_database_url: str) -> None:
    async with application(module_database_url) as app, client(app) as http:
        assert (await http.get(path)).status_code in {401, 404}
