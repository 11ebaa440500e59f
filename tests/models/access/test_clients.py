"""Client metadata documents: whose they are, and where they may be."""

import json
from typing import Any

import pytest

from models.access.rules.oauth import RefusedClient, is_document_address, read_document

URL = "https://agent.example/client.json"
GOOD: dict[str, Any] = {
    "client_id": URL,
    "client_name": "Agent",
    "redirect_uris": ["http://127.0.0.1/callback"],
    "grant_types": ["authorization_code", "refresh_token"],
}


def test_a_document_is_read() -> None:
    found = read_document(json.dumps(GOOD).encode(), client_id=URL)
    assert (found.name, found.auth_method, found.refreshes) == ("Agent", "none", True)


@pytest.mark.parametrize(
    "changed",
    [
        {"client_id": "https://agent.example/other.json"},
        {"client_id": f"{URL}/"},
        {"client_id": None},
        {"token_endpoint_auth_method": "client_secret_post"},
        {"client_secret": "known to everybody"},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"redirect_uris": []},
    ],
)
def test_a_document_that_cannot_be_taken(changed: dict[str, Any]) -> None:
    with pytest.raises(RefusedClient):
        read_document(json.dumps(GOOD | changed).encode(), client_id=URL)


@pytest.mark.parametrize("raw", [b"", b"[]", b"\xff", b"<html>", b"[" * 10_000])
def test_what_is_no_document(raw: bytes) -> None:
    with pytest.raises(RefusedClient):
        read_document(raw, client_id=URL)


@pytest.mark.parametrize(
    "client_id",
    [
        "https://agent.example",
        "https://agent.example/",
        "http://agent.example/client.json",
        "https://127.0.0.1/client.json",
        "https://[::1]/client.json",
        "https://169.254.169.254/latest",
        "https://10.0.0.1/client.json",
        "https://localhost/client.json",
        "https://agent.example:8443/client.json",
        "https://user@agent.example/client.json",
        "https://agent.example/client.json#x",
        "https://agent.example/a/../client.json",
        "https://AGENT.example/client.json",
        "https://agent.example/" + "x" * 600,
        "client_01",
        "javascript:alert(1)",
    ],
)
def test_addresses_that_are_not_read(client_id: str) -> None:
    assert not is_document_address(client_id, loopback=False)


def test_addresses_that_are() -> None:
    assert is_document_address(URL, loopback=False)
    assert is_document_address("http://127.0.0.1:8/client.json", loopback=True)
    assert not is_document_address("http://127.0.0.1:8/client.json", loopback=False)
