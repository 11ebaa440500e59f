"""A body that is too long by one byte is refused wherever one is taken, with and without its length, and does nothing.

Every route that takes a body is tried, new ones by themselves: of an operation by its schema, any other by its entry
in `OTHERS`, without which the test fails.
"""

import json
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from sqlmodel import SQLModel
from starlette.routing import Route

from api.kernel import body, openapi
from api.oauth import browser, forms
from api.pages import opt_out, verification
from models.access.rules.oauth import MAX_DOCUMENT
from models.base.database import Database
from models.outreach.rules.callbacks import callback_token
from tests.api.conftest import Workspace, run_sql
from tests.api.kernel.bodies import body_schema, minimal
from tests.api.kernel.states import state_of
from tests.api.mcp.conftest import new_workspace, serving
from tests.api.mcp.intrusions import HEADERS

SECRET = "whsec_of_the_tests"
PIECE = 100_000
TOO_LARGE = "The body is larger than"
CALLING_COUNTS = {"rate_windows"}
TAKES = {"POST", "PUT", "PATCH", "DELETE"}


@dataclass(frozen=True)
class Limit:
    """The most bytes of a body, what one more is answered, and how the body begins."""

    most: int
    status: int = 400
    begins: bytes = b'{"x": 1}'
    kind: str = "application/json"
    says: str = TOO_LARGE


FORM = "application/x-www-form-urlencoded"
OTHERS: Mapping[str, Limit] = {
    "/mcp": Limit(body.LIMIT, 413),
    "/mcp/": Limit(body.LIMIT, 413),
    "/api/mcp": Limit(body.LIMIT, 413),
    "/api/mcp/": Limit(body.LIMIT, 413),
    "/callbacks/payments": Limit(body.LIMIT),
    "/callbacks/outreach/{token}": Limit(body.LIMIT),
    "/register": Limit(MAX_DOCUMENT),
    "/token": Limit(forms.MAX_FORM, begins=b"a=", kind=FORM),
    "/revoke": Limit(forms.MAX_FORM, begins=b"a=", kind=FORM),
    "/authorize/mail": Limit(forms.MAX_FORM, begins=b"a=", kind=FORM),
    "/authorize/decision": Limit(forms.MAX_FORM, begins=b"a=", kind=FORM),
    "/verify": Limit(verification.MAX_FORM, 404, begins=b"token=abc&rest=", kind=FORM, says="incomplete"),
}
READS_ONLY_ITS_BEGINNING = {opt_out.TOKEN}
"""Every POST there stops contact, the least that its sender can have meant."""


@dataclass(frozen=True)
class Taker:
    """A route that takes a body."""

    method: str
    path: str
    limit: Limit

    async def send(self, http: httpx.AsyncClient, size: int, *, told: bool) -> httpx.Response:
        """A body of so many bytes, its length told before or not."""
        fill = b" " if self.limit.kind == "application/json" else b"x"
        content = self.limit.begins + fill * (size - len(self.limit.begins))
        headers = HEADERS | {"Content-Type": self.limit.kind, "Idempotency-Key": f"{self.path}{size}{told}"[-100:]}

        async def pieces() -> AsyncIterator[bytes]:
            for begin in range(0, size, PIECE):
                yield content[begin : begin + PIECE]

        answer = await http.request(self.method, self.path, content=content if told else pieces(), headers=headers)
        assert ("content-length" in answer.request.headers) is told
        return answer


@pytest.fixture(scope="module")
async def app(module_database_url: str) -> AsyncIterator[FastAPI]:
    async with serving(module_database_url, stripe_api_key="key", stripe_webhook_secret=SECRET) as made:
        yield made


@pytest.fixture
async def caller(app: FastAPI) -> Workspace:
    made = await new_workspace(app)
    made.http.cookies.set(browser.COOKIE, "x" * 43)
    return made


@pytest.fixture(scope="module")
def takers(app: FastAPI) -> list[Taker]:
    document = openapi.openapi_document(app, server="http://api.test")
    schemas, found = document["components"]["schemas"], []
    for route in app.router.routes:
        if not isinstance(route, Route | APIRoute) or route.path in READS_ONLY_ITS_BEGINNING:
            continue
        for method in sorted(TAKES & (route.methods or set())):
            path = filled(app, route)
            if not isinstance(route, APIRoute):
                assert route.path in OTHERS, f"{route.path} takes a body: of which size at most?"
                found.append(Taker(method, path, OTHERS[route.path]))
            elif (schema := body_schema(document, re.sub(r":id\}", "}", route.path), method)) is not None:
                begins = json.dumps(minimal(schemas, schema)).encode()
                found.append(Taker(method, path, Limit(body.LIMIT, begins=begins)))
    return found


def filled(app: FastAPI, route: Route) -> str:
    """The route's path with something in its place that gets as far as the body."""
    if route.path.startswith("/callbacks/"):
        return route.path.replace("{token}", callback_token(app.state.kernel.vault))
    return re.sub(r"\{[^}]*\}", "of_nobody", route.path)


async def rows(database: Database) -> dict[str, Any]:
    """How many rows each table has, and what the tables say that calling alone does not change."""
    counts = {}
    for table in SQLModel.metadata.sorted_tables:
        if table.name not in CALLING_COUNTS:
            counts[table.name] = (await run_sql(database, f"select count(*) from {table.name}"))[0][0]
    return counts


@pytest.mark.parametrize("told", [True, False], ids=["with_its_length", "in_chunks"])
async def test_one_byte_too_many_is_refused_everywhere_and_does_nothing(
    takers: list[Taker], caller: Workspace, database: Database, *, told: bool
) -> None:
    assert len({taker.path for taker in takers}) > len(OTHERS) + 30, "the test looks past the routes"
    before = await rows(database), await state_of(database, caller.id)
    for taker in takers:
        answer = await taker.send(caller.http, taker.limit.most + 1, told=told)
        assert answer.status_code == taker.limit.status, (taker.path, answer.text)
        assert taker.limit.says in answer.text, (taker.path, answer.text)
    assert (await rows(database), await state_of(database, caller.id)) == before


async def test_as_many_bytes_as_may_be_are_read_everywhere(takers: list[Taker], caller: Workspace) -> None:
    for taker in takers:
        answer = await taker.send(caller.http, taker.limit.most, told=True)
        assert TOO_LARGE not in answer.text, (taker.path, answer.text)
        assert answer.status_code != 413
