"""The fixtures of the official suite stay out of the service, and change nothing of it."""

from typing import Any

import pytest
from mcp import Client

from api.app import create_app
from api.mcp.prompts import PROMPTS
from api.mcp.resources import LISTED, TEMPLATES
from api.mcp.server import create_server
from api.mcp.tools import TOOLS
from models.base.settings import Settings
from tests.conformance.fixtures.server import PRESCRIBED, create_fixtured_server


def settings(**changed: Any) -> Settings:
    given = {"database_url": "postgresql+asyncpg://nobody@/nothing", "secret_key": "x" * 32}
    return Settings.model_validate(given | changed)


async def test_production_refuses_another_server() -> None:
    production = settings(production=True, public_url="https://api.example.com")
    create_app(production)
    with pytest.raises(ValueError, match="PRODUCTION"):
        create_app(production, mcp_server=create_server())
    create_app(settings(), mcp_server=create_server())


def test_the_service_has_nothing_that_is_called_like_a_fixture() -> None:
    names = [*TOOLS, *PROMPTS, *(str(listed.uri) for listed in LISTED), *(one.uri_template for one in TEMPLATES)]
    assert [name for name in names if name.startswith(PRESCRIBED)] == []


async def test_what_the_service_shows_stands_unchanged_before_the_fixtures() -> None:
    async with Client(create_server()) as own, Client(create_fixtured_server()) as both:
        prompts, more_prompts = (await own.list_prompts()).prompts, (await both.list_prompts()).prompts
        resources, more_resources = (await own.list_resources()).resources, (await both.list_resources()).resources
    assert more_prompts[: len(prompts)] == prompts
    assert more_resources[: len(resources)] == resources
    assert all(prompt.name.startswith(PRESCRIBED) for prompt in more_prompts[len(prompts) :])
    assert len(more_prompts) > len(prompts)
    assert len(more_resources) > len(resources)
