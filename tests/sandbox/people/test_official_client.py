"""The provider's own Python client talks to the sandbox."""

import pytest
from peopledatalabs import PDLPY

from tests.sandbox.conftest import API_KEY, Running


@pytest.fixture
def client(sandbox: Running, monkeypatch: pytest.MonkeyPatch) -> PDLPY:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return PDLPY(api_key=API_KEY, base_path=f"{sandbox.url}/v5")


def test_search_scrolls(client: PDLPY) -> None:
    query = {"query": {"bool": {"must": [{"term": {"location_country": "belgium"}}]}}}
    first = client.person.search(query=query, size=10, dataset="resume").json()
    second = client.person.search(query=query, size=10, dataset="resume", scroll_token=first["scroll_token"]).json()
    assert len({row["id"] for row in first["data"] + second["data"]}) == 20


def test_enrichment_identify_bulk_and_retrieve(client: PDLPY) -> None:
    query = {"query": {"exists": {"field": "job_company_name"}}}
    (person,) = client.person.search(query=query, size=1).json()["data"]
    enriched = client.person.enrichment(pdl_id=person["id"], min_likelihood=2).json()
    assert enriched["data"]["id"] == person["id"]
    inputs = {"name": person["full_name"], "company": person["job_company_name"]}
    assert client.person.identify(**inputs).json()["matches"]
    bulk = client.person.bulk(requests=[{"params": {"pdl_id": person["id"]}, "metadata": {"n": 1}}]).json()
    assert (bulk[0]["status"], bulk[0]["metadata"]) == (200, {"n": 1})
    assert client.person.retrieve(person["id"]).json()["data"]["id"] == person["id"]


def test_autocomplete_company_location_and_changelog(client: PDLPY) -> None:
    assert client.autocomplete(field="skill", text="pyt", size=3).json()["data"][0]["name"] == "python"
    assert client.company.cleaner(name="kbc").json()["website"] == "kbc.com"
    assert client.company.enrichment(website="kbc.com").json()["name"] == "kbc"
    assert client.location.cleaner(location="ghent, belgium").json()["locality"] == "ghent"
    log = client.person.changelog(origin_version="34.2", current_version="35.0", type="merged").json()
    assert log["data"]["merged"]


def test_errors_reach_the_client(client: PDLPY) -> None:
    missing = client.person.search(query={"query": {"term": {"id": "nobody"}}}, size=1)
    assert (missing.ok, missing.status_code) == (False, 404)
