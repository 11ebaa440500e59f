"""Fetching full profiles: one row for each input, live ones charged, all others free."""

from typing import Any
from urllib.parse import quote

import httpx
import pytest

from models.base.database import Database
from models.people.store import people
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.sourcing.raw.conftest import Calls, Provider, charged, find, spend, suppress
from tests.api.sourcing.sourcing import fund

PATH = "/v1/people:fetch"
NOBODY = "https://www.linkedin.com/in/nobody-example"
UNKNOWN_ID = "prof_" + "0" * 26


async def fetch(workspace: Workspace, key: str | None = None, **body: Any) -> httpx.Response:
    return await spend(workspace, PATH, body, key=key)


def told(answer: httpx.Response) -> list[tuple[str, int]]:
    assert answer.status_code == 200, answer.text
    return [(row["status"], row["charged_credits"]) for row in answer.json()["data"]]


@pytest.mark.usefixtures("calls")
async def test_rows_come_in_input_order_and_only_live_profiles_cost(
    workspace: Workspace, database: Database, provider: Provider
) -> None:
    await fund(database, workspace)
    one, two = await find(workspace, 2)
    answer = await fetch(workspace, profile_ids=[two["id"], UNKNOWN_ID, one["id"]], profile_urls=[NOBODY])
    assert told(answer) == [("found", 2), ("not_found", 0), ("found", 2), ("not_found", 0)]
    assert [row["input"] for row in answer.json()["data"]] == [two["id"], UNKNOWN_ID, one["id"], NOBODY]
    assert answer.json()["data"][0]["profile"]["full_name"] == two["full_name"]
    assert answer.json()["data"][0]["profile"]["id"] == two["id"]
    assert await charged(database, workspace) == {"lead": 2, "live_profile": 4}
    before = await provider.calls()
    again = await fetch(workspace, profile_ids=[one["id"], two["id"]], view="compact")
    assert told(again) == [("cached", 0), ("cached", 0)]
    assert again.json()["data"][0]["profile"]["title"] == one["title"]
    assert await provider.calls() == before
    assert told(await fetch(workspace, profile_ids=[one["id"]], max_age_days=0)) == [("found", 2)]


@pytest.mark.usefixtures("calls", "provider")
async def test_every_spelling_of_a_url_is_the_same_person(workspace: Workspace, database: Database) -> None:
    await fund(database, workspace)
    (someone,) = await find(workspace, 1)
    slug = someone["profile_url"].rsplit("/", 1)[1]
    spellings = [
        f"http://de.linkedin.com/in/{slug.upper()}/?trk=x#top",
        f"linkedin.com/in/{quote(slug)}",
        f"https://m.linkedin.com/in/{slug}/en",
    ]
    answer = await fetch(workspace, profile_urls=spellings, profile_ids=[someone["id"]])
    assert told(answer) == [("found", 2), ("duplicate", 0), ("duplicate", 0), ("duplicate", 0)]
    assert {row["profile_id"] for row in answer.json()["data"]} == {someone["id"]}


@pytest.mark.usefixtures("calls")
async def test_an_unknown_person_is_fetched_by_url_and_known_from_then_on(
    workspace: Workspace, database: Database, provider: Provider
) -> None:
    await fund(database, workspace)
    stranger = (await provider.some(1))[0]
    url = f"https://{stranger['linkedin_url']}"
    first = await fetch(workspace, profile_urls=[url])
    assert told(first) == [("found", 2)]
    assert await charged(database, workspace) == {"live_profile": 2}  # no lead
    profile_id = first.json()["data"][0]["profile_id"]
    assert told(await fetch(workspace, profile_urls=[url], profile_ids=[profile_id])) == [
        ("cached", 0),
        ("duplicate", 0),
    ]


@pytest.mark.usefixtures("calls")
async def test_one_item_refused_by_the_source_is_an_error_row_and_the_others_stand(
    workspace: Workspace, database: Database, provider: Provider
) -> None:
    await fund(database, workspace)
    three = await find(workspace, 3)
    await provider.fault("item_error", "person/bulk", status=500, count=1)
    answer = await fetch(workspace, profile_ids=[one["id"] for one in three])
    assert told(answer) == [("error", 0), ("found", 2), ("found", 2)]
    assert told(await fetch(workspace, profile_ids=[three[0]["id"]])) == [("found", 2)]


@pytest.mark.usefixtures("calls")
async def test_a_suppressed_person_is_neither_asked_for_nor_charged(
    workspace: Workspace, database: Database, provider: Provider
) -> None:
    await fund(database, workspace)
    one, two = await find(workspace, 2)
    await fetch(workspace, profile_ids=[two["id"]])
    await suppress(database, workspace, one["id"])
    await suppress(database, workspace, two["id"])  # cached: hidden all the same
    before = await provider.calls()
    answer = await fetch(workspace, profile_ids=[one["id"], two["id"]], profile_urls=[one["profile_url"]])
    assert told(answer) == [("suppressed", 0)] * 3
    assert [row["profile"] for row in answer.json()["data"]] == [None] * 3
    assert await provider.calls() == before


async def test_a_url_suppressed_before_the_person_was_known_is_not_fetched(
    workspace: Workspace, database: Database, calls: Calls
) -> None:
    await fund(database, workspace)
    vault = calls.activity._vault
    await run_sql(
        database,
        "insert into suppressions (id, workspace_id, key_hash, reason, created_at)"
        " values ('sup_' || gen_random_uuid(), :w, :h, 'manual', now())",
        w=workspace.id,
        h=people.url_hash(vault, NOBODY),
    )
    assert told(await fetch(workspace, profile_urls=[NOBODY])) == [("suppressed", 0)]
    assert calls.started == []


@pytest.mark.usefixtures("provider")
async def test_a_suppression_that_commits_while_the_profile_is_fetched_wins(
    workspace: Workspace, database: Database, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fund(database, workspace)
    (someone,) = await find(workspace, 1)
    source = calls.activity._source
    fetch_from_source = source.fetch

    async def interleaved(*args: Any) -> Any:
        results = await fetch_from_source(*args)
        await suppress(database, workspace, someone["id"])
        return results

    monkeypatch.setattr(source, "fetch", interleaved)
    assert told(await fetch(workspace, profile_ids=[someone["id"]])) == [("suppressed", 0)]
    assert await charged(database, workspace) == {"lead": 1}
    assert await run_sql(database, "select 1 from cached_profiles where profile_id = :p", p=someone["id"]) == []


@pytest.mark.usefixtures("provider")
async def test_a_suppression_that_comes_after_the_charge_still_wins(
    workspace: Workspace, database: Database, calls: Calls
) -> None:
    await fund(database, workspace)
    someone, other = await find(workspace, 2)
    calls.then(lambda: suppress(database, workspace, someone["id"]))
    answer = await fetch(workspace, profile_ids=[someone["id"], other["id"]])
    assert told(answer) == [("suppressed", 2), ("found", 2)]
    assert [row["profile"] is None for row in answer.json()["data"]] == [True, False]


@pytest.mark.usefixtures("calls")
async def test_a_merged_person_keeps_the_older_id(workspace: Workspace, database: Database, provider: Provider) -> None:
    await fund(database, workspace)
    one, two = await find(workspace, 2)
    named = "select value from person_keys where kind = 'source' and profile_id = :p"
    first, second = [(await run_sql(database, named, p=each["id"]))[0][0] for each in (one, two)]
    state = {"state": f"merged_into:{first}"}
    (await provider.http.post(f"/people/{second}", json=state)).raise_for_status()
    answer = await fetch(workspace, profile_ids=[two["id"], one["id"]])
    assert told(answer) == [("found", 2), ("duplicate", 0)]
    assert len({row["profile_id"] for row in answer.json()["data"]}) == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "profile_ids"),
        ({"profile_ids": []}, "profile_ids"),
        ({"profile_ids": [UNKNOWN_ID] * 101}, "profile_ids"),
        ({"profile_ids": [UNKNOWN_ID] * 60, "profile_urls": [NOBODY] * 41}, "profile_urls"),
        ({"profile_ids": ["x"]}, "profile_ids.0"),
        ({"profile_ids": [7]}, "profile_ids.0"),
        ({"profile_urls": [NOBODY, "https://linkedin.com.evil.example/in/x"]}, "profile_urls.1"),
        ({"profile_urls": ["https://user@linkedin.com/in/x"]}, "profile_urls.0"),
        ({"profile_urls": [NOBODY + "\u0000"]}, "profile_urls.0"),
        ({"profile_ids": [UNKNOWN_ID], "max_age_days": 31}, "max_age_days"),
        ({"profile_ids": [UNKNOWN_ID], "max_age_days": -1}, "max_age_days"),
        ({"profile_ids": [UNKNOWN_ID], "view": "all"}, "view"),
        ({"profile_ids": [UNKNOWN_ID], "ids": []}, "ids"),
    ],
)
async def test_bad_input_is_named_and_nothing_is_asked(
    workspace: Workspace, calls: Calls, body: dict[str, Any], field: str
) -> None:
    error_of(await fetch(workspace, **body), 400, "invalid_request", field)
    assert calls.started == []


async def test_the_price_is_of_those_who_are_not_cached(
    workspace: Workspace, database: Database, calls: Calls, provider: Provider
) -> None:
    del provider
    await fund(database, workspace, 6)
    one, two = await find(workspace, 2)
    await fetch(workspace, profile_ids=[one["id"]])
    body = {"profile_ids": [one["id"], two["id"]]}
    preview = (await workspace.http.post(f"{PATH}?dry_run=true", json=body)).json()
    assert (preview["max_credits"], preview["balance_credits"], preview["would_fail"]) == (2, 2, None)
    assert told(await spend(workspace, PATH, body)) == [("cached", 0), ("found", 2)]
    error_of(await fetch(workspace, profile_ids=[one["id"]], max_age_days=0), 402, "insufficient_credits")
