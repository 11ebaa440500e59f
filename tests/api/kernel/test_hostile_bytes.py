"""Whatever bytes come, each operation refuses them as it documents, and nothing is written.

Operations are taken from the OpenAPI document, so that a new one is tried by itself.
"""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from api.kernel import openapi
from models.base.database import Database
from models.base.errors import ERROR_MEANINGS
from tests.api.conftest import Workspace
from tests.api.kernel.bodies import minimal
from tests.api.kernel.hostile import IGNORED_HEADERS, ODD_VALUES, REFUSED_HEADERS, REFUSED_QUERIES, bodies, with_value
from tests.api.kernel.states import state_of
from tests.api.mcp.conftest import new_workspace, serving

Document = dict[str, Any]
UNKNOWN = b'{"no_such_field": 1}'
KEY = (b"Idempotency-Key", b"of-the-tests")


@dataclass(frozen=True)
class Described:
    """An operation of the document, called with the id of an object that does not exist."""

    name: str
    method: str
    path: str
    statuses: frozenset[str]
    body: Document | None
    is_public: bool

    async def asked(
        self, http: httpx.AsyncClient, content: bytes = b"", query: str = "", *headers: tuple[bytes, bytes]
    ) -> httpx.Response:
        """What it answers, which has to be described."""
        path = f"{self.path}?{query}" if query else self.path
        sent = [(b"Authorization", http.headers["authorization"].encode()), KEY, *headers]
        async with httpx.AsyncClient(transport=http._transport, base_url=http.base_url) as plain:
            answer = await plain.request(self.method, path, content=content, headers=sent)
        self.check(answer)
        return answer

    def check(self, answer: httpx.Response) -> None:
        """The status is one of the document's, and an error is the documented one."""
        told = f"{self.name}: {answer.status_code} {answer.text[:500]}"
        assert str(answer.status_code) in self.statuses, told
        if answer.is_error:
            code = answer.json()["error"]["code"]
            assert str(answer.status_code) in ERROR_MEANINGS[code][0], told
            assert answer.json()["error"]["request_id"] == answer.headers["x-request-id"], told


@pytest.fixture(scope="module")
async def app(module_database_url: str) -> AsyncIterator[FastAPI]:
    async with serving(module_database_url) as made:
        yield made


@pytest.fixture(scope="module")
async def caller(app: FastAPI) -> AsyncIterator[Workspace]:
    made = await new_workspace(app)
    yield made
    await made.http.aclose()


@pytest.fixture(scope="module")
def operations(app: FastAPI) -> list[Described]:
    document = openapi.openapi_document(app, server="http://api.test")
    schemas = document["components"]["schemas"]
    found = [
        Described(
            described["operationId"],
            method.upper(),
            re.sub(r"\{[^}]*\}", "of_nobody", path),
            frozenset(described["responses"]),
            _object(schemas, described),
            is_public=not described["security"],
        )
        for path, methods in document["paths"].items()
        for method, described in methods.items()
    ]
    assert sum(each.body is not None for each in found) > 40, "the test looks past the bodies"
    return found


def _object(schemas: Document, described: Document) -> Document | None:
    """The schema of a body with its properties, if there is one."""
    content = described.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return None
    given = content["schema"]
    schema: Document = schemas[(given if "$ref" in given else given["anyOf"][0])["$ref"].rpartition("/")[2]]
    return {"smallest": minimal(schemas, schema), "names": list(schema["properties"])}


def _refused(answer: httpx.Response, told: object) -> None:
    assert answer.status_code == 400, (told, answer.text[:300])
    assert answer.json()["error"]["code"] == "invalid_request", told


async def test_no_operation_takes_a_body_that_is_no_object_of_texts(
    operations: list[Described], caller: Workspace, database: Database
) -> None:
    before = await state_of(database, caller.id)
    for each in operations:
        for content in bodies() if each.body else ():
            _refused(await each.asked(caller.http, content), (each.name, content[:80]))
    assert await state_of(database, caller.id) == before


@pytest.mark.slow
async def test_an_odd_value_in_any_field_is_answered_as_described(
    operations: list[Described], caller: Workspace
) -> None:
    for each in operations:
        if each.body is None:
            continue
        for name in each.body["names"]:
            for value in ODD_VALUES:
                await each.asked(caller.http, with_value(each.body["smallest"], name, value))


async def test_no_operation_takes_a_query_that_says_nothing_it_knows(
    operations: list[Described], caller: Workspace, database: Database
) -> None:
    before = await state_of(database, caller.id)
    for each in operations:
        for query in REFUSED_QUERIES:
            _refused(await each.asked(caller.http, UNKNOWN, query), (each.name, query[:80]))
    assert await state_of(database, caller.id) == before


async def test_no_operation_takes_a_header_that_cannot_be_meant(
    operations: list[Described], caller: Workspace, database: Database
) -> None:
    before = await state_of(database, caller.id)
    for each in operations:
        for header in REFUSED_HEADERS:
            answer = await each.asked(caller.http, UNKNOWN, "", header)
            if not each.is_public:
                assert answer.status_code in (400, 404), (each.name, header, answer.text)
    assert await state_of(database, caller.id) == before


async def test_no_header_changes_the_method_the_path_or_how_a_body_is_read(
    operations: list[Described], caller: Workspace
) -> None:
    for each in operations:
        usual = await each.asked(caller.http, UNKNOWN)
        odd = await each.asked(caller.http, UNKNOWN, "", *IGNORED_HEADERS)
        assert odd.status_code == usual.status_code, each.name
        if usual.is_error:
            assert odd.json()["error"]["code"] == usual.json()["error"]["code"], each.name
