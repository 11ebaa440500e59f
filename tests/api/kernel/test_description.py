"""The OpenAPI document and the page made of it describe what is served."""

import re
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from openapi_spec_validator import validate

from api import operations as api_operations
from api.kernel import openapi
from api.kernel.operation import OPERATIONS
from models.base import errors
from models.base.errors import ServiceError
from models.events.rules.catalogue import EventType
from models.outreach.rules.actions import MAX_BODY, MAX_NOTE
from models.outreach.rules.caps import CAPS
from models.outreach.rules.sequences import MAX_WAIT_DAYS


@pytest.fixture
async def document(http: httpx.AsyncClient) -> dict[str, Any]:
    answer = await http.get("/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    read: dict[str, Any] = answer.json()
    return read


async def test_the_document_is_valid_and_of_the_newest_version(document: dict[str, Any]) -> None:
    validate(document)
    assert document["info"]["version"] == "2026-11-01"


async def test_every_route_is_described_under_the_name_of_its_operation(document: dict[str, Any]) -> None:
    described = {
        (method.upper(), path): operation["operationId"]
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    served = {
        (method, route.path_format): route.operation_id
        for route in api_operations.routes()
        for method in route.methods or ()
    }
    assert described == served
    assert len(set(served.values())) == len(served)


async def test_every_group_of_operations_is_explained_and_has_some(document: dict[str, Any]) -> None:
    used = {
        tag for methods in document["paths"].values() for described in methods.values() for tag in described["tags"]
    }
    assert {tag["name"] for tag in document["tags"]} == used
    assert all(tag["description"] for tag in document["tags"])
    assert document["info"]["contact"]["url"] == document["servers"][0]["url"]


async def test_every_parameter_is_explained(document: dict[str, Any]) -> None:
    parameters = [
        parameter
        for methods in document["paths"].values()
        for described in methods.values()
        for parameter in described["parameters"]
        if "$ref" not in parameter
    ] + list(document["components"]["parameters"].values())
    assert [parameter["name"] for parameter in parameters if not parameter.get("description")] == []


async def test_what_the_kernel_adds_is_described(document: dict[str, Any]) -> None:
    for methods in document["paths"].values():
        for described in methods.values():
            operation = OPERATIONS[described["operationId"]]
            names = {parameter.get("$ref", "").rpartition("/")[2] for parameter in described["parameters"]}
            assert ("DryRun" in names) is ("IdempotencyKey" in names) is operation.executes
            assert bool(described["security"]) is (operation.scope is not None)
            assert operation.scope is None or f"`{operation.scope}`" in described["description"]
            assert "422" not in described["responses"]
            assert {"400", "429", "500", "503"} <= set(described["responses"])


async def test_statuses_beyond_those_of_an_effect_are_described(document: dict[str, Any]) -> None:
    found = {
        described["operationId"]: set(described["responses"])
        for methods in document["paths"].values()
        for described in methods.values()
    }
    assert "409" in found["jobs.results"]
    assert "404" in found["workspaces.verify"]
    assert "502" in found["outreach_accounts.connect"] & found["outreach_accounts.reconnect"]
    assert "409" not in found["jobs.get"]
    assert "402" not in found["outreach_sends.create"]


async def test_the_headers_by_which_clients_act_are_described(document: dict[str, Any]) -> None:
    headers = {
        status: response["headers"]
        for name, response in document["components"]["responses"].items()
        for status in [name.removeprefix("Error")]
    }
    assert headers["429"]["Retry-After"]["required"]
    assert {status for status in headers if "Retry-After" in headers[status]} == {"409", "429", "502", "503"}
    assert {status for status in headers if "WWW-Authenticate" in headers[status]} == {"401"}
    assert document["components"]["headers"]["WWW-Authenticate"]["required"]
    assert "405 `method_not_allowed`; its `Allow` header" in document["info"]["description"]
    started = document["paths"]["/v1/runs"]["post"]["responses"]
    assert {"Location", "Idempotent-Replayed"} <= set(started["202"]["headers"])


async def test_every_answer_has_the_headers_that_are_described_as_always_there(http: httpx.AsyncClient) -> None:
    for path, status in (("/v1/billing/plans", 200), ("/v1/workspace", 401), ("/v1/nothing", 401)):
        answer = await http.get(path)
        assert answer.status_code == status
        assert {"x-request-id", "service-version"} <= set(answer.headers)
        assert ("www-authenticate" in answer.headers) is (status == 401)


async def test_the_bounds_that_the_rules_check_are_described(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    step = schemas["StepAsk"]["properties"]
    assert (step["wait_days"]["minimum"], step["wait_days"]["maximum"]) == (0, MAX_WAIT_DAYS)
    assert (step["accept_timeout_days"]["minimum"], step["accept_timeout_days"]["maximum"]) == (1, 180)
    assert (step["note"]["maxLength"], step["body"]["maxLength"]) == (MAX_NOTE, MAX_BODY)
    for cap, rule in CAPS.items():
        assert schemas["ChangeLimits"]["properties"][cap.value]["maximum"] == rule.ceiling
        assert schemas["ChangeSettings"]["properties"][cap.value]["maximum"] == rule.default


def documented() -> dict[str, type[ServiceError]]:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ServiceError)]
    return {kind.code: kind for kind in kinds}


def test_every_error_class_has_a_row_with_its_status() -> None:
    assert set(errors.ERROR_MEANINGS) == set(documented())
    for code, (statuses, _) in errors.ERROR_MEANINGS.items():
        kind = documented()[code]
        if "status" in vars(kind):
            assert statuses == str(kind.status)


async def test_the_page_shows_every_operation_and_error(app: FastAPI, http: httpx.AsyncClient) -> None:
    page = (await http.get("/docs")).text
    document = openapi.openapi_document(app, server="http://api.test")
    for path, methods in document["paths"].items():
        for described in methods.values():
            assert f'id="{described["operationId"]}"' in page
            assert f"<code>{path}</code>" in page
    for code in errors.ERROR_MEANINGS:
        assert f'id="error-{code}"' in page
    assert re.findall(r"(?:src|href)=\"(?!#|/)", page) == []
    anchors = set(re.findall(r'id="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= anchors


async def test_the_error_names_its_place_in_the_page(http: httpx.AsyncClient) -> None:
    link = (await http.get("/v1/workspace")).json()["error"]["docs"]
    path, anchor = link.split("#")
    assert f'id="{anchor}"' in (await http.get(path)).text


async def test_every_event_type_is_described_with_its_data(document: dict[str, Any], http: httpx.AsyncClient) -> None:
    page = (await http.get("/docs")).text
    schemas = document["components"]["schemas"]
    assert list(document["webhooks"]) == [kind.value for kind in EventType]
    for kind in EventType:
        body = document["webhooks"][kind.value]["post"]["requestBody"]["content"]["application/json"]["schema"]
        leads_to = body["allOf"][1]["properties"]["data"]["$ref"].rpartition("/")[2]
        assert set(schemas[leads_to]["properties"]) == set(kind.data.model_fields)
        assert f'id="event-{kind}"' in page
