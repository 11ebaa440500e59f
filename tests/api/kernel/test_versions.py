"""Dated versions: a breaking change is converters, applied for older versions alone."""

from collections.abc import AsyncIterator

import pytest
from fastapi import FastAPI
from pydantic import JsonValue

from api.kernel import body
from api.kernel.body import Change, answer_converters, converted, request_converters
from tests.api import spending
from tests.api.conftest import Workspace, application


def renamed(before: str, after: str) -> body.Convert:
    def convert(value: JsonValue) -> JsonValue:
        assert isinstance(value, dict)
        return {after if name == before else name: inner for name, inner in value.items()}

    return convert


NEWEST = Change(
    since="2026-11-01",
    requests={"tests.spend": renamed("sum", "amount")},
    answers={"tests.spend": renamed("amount", "sum")},
)
OLDER = Change(since="2026-10-20", answers={"tests.spend": renamed("sum", "total")})


@pytest.fixture(scope="module")
async def app(module_database_url: str) -> AsyncIterator[FastAPI]:
    async with application(module_database_url) as made:
        spending.add_to(made)
        yield made


def test_changes_apply_to_versions_before_them_newest_answer_first() -> None:
    changes = (NEWEST, OLDER)
    answer = converted({"amount": 1}, answer_converters("2026-10-13", "tests.spend", changes))
    assert answer == {"total": 1}
    assert converted({"amount": 1}, answer_converters("2026-10-20", "tests.spend", changes)) == {"sum": 1}
    assert answer_converters("2026-11-01", "tests.spend", changes) == []
    assert answer_converters("2026-10-13", "runs.get", changes) == []
    assert converted({"sum": 1}, request_converters("2026-10-13", "tests.spend", changes)) == {"amount": 1}


async def test_requests_and_answers_of_an_older_version_are_converted(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body.request_converters, "__defaults__", ((NEWEST,),))
    monkeypatch.setattr(body.answer_converters, "__defaults__", ((NEWEST,),))
    old = {"Service-Version": "2026-10-13", "Idempotency-Key": "k"}
    first = await workspace.http.post("/v1/tests/spend", json={"sum": 5}, headers=old)
    assert first.status_code == 202, first.text
    assert first.json() == {"id": first.json()["id"], "sum": 5}
    assert first.headers["service-version"] == "2026-10-13"
    again = await workspace.http.post("/v1/tests/spend", json={"amount": 5}, headers={"Idempotency-Key": "k"})
    assert again.json() == {"id": first.json()["id"], "amount": 5}


async def test_both_versions_answer_the_same_today(workspace: Workspace) -> None:
    for path in ("/v1/workspace", "/v1/api-keys", "/v1/billing/balance"):
        old = await workspace.http.get(path, headers={"Service-Version": "2026-10-13"})
        new = await workspace.http.get(path)
        differing = {"api_version"}
        assert {name: value for name, value in old.json().items() if name not in differing} == {
            name: value for name, value in new.json().items() if name not in differing
        }
