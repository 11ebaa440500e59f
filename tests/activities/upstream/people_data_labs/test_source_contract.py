"""The adapter against the sandbox over HTTP: searching, paging, fetching, and every fault the sandbox can order."""

import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from activities.upstream.people_data_labs import client
from activities.upstream.people_data_labs.query import query_of
from activities.upstream.people_data_labs.source import PeopleDataLabs
from activities.upstream.ports.people import (
    Directory,
    FetchStatus,
    SearchPage,
    SourceBusy,
    SourceNotConfigured,
    SourceUnusable,
    TokenRefused,
)
from models.sourcing.rules.filters import PeopleFilters, SkillFilter, TierFilters, TitleFilter
from sandbox.people.population.build import Population, build_population
from sandbox.people.query import matching
from stack.children import Child
from stack.ports import LOOPBACK, Ports

KEY = "0123456789abcdef" * 4
PEOPLE, SEED = 700, 11
ENGINEERS = PeopleFilters(titles=TitleFilter(include=("engineer", "manager", "developer")), countries=("DE", "GB"))


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a sandbox of this module's own."""
    folder = tmp_path_factory.mktemp("sandbox")
    ports = Ports()
    port, smtp = ports.take(28090), ports.take(28025)

    def ready(_: int) -> bool:
        try:
            return httpx.get(f"http://{LOOPBACK}:{port}/_control/health", trust_env=False, timeout=2).is_success
        except httpx.HTTPError:
            return False

    child = Child(
        name="sandbox",
        command=[
            *(sys.executable, "-m", "sandbox", "--host", LOOPBACK, "--port", str(port), "--smtp-port", str(smtp)),
            *("--population", str(PEOPLE), "--seed", str(SEED), "--clock-offset", "0"),
            *("--people-api-key", KEY, "--state-dir", str(folder / "state")),
        ],
        log=folder / "log",
        ready=ready,
    )
    try:
        child.start()
        yield f"http://{LOOPBACK}:{port}"
    finally:
        child.stop()
        ports.release()


@pytest.fixture(scope="module")
def population() -> Population:
    return build_population(PEOPLE, seed=SEED)


@pytest.fixture
async def control(sandbox: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=f"{sandbox}/_control", trust_env=False, timeout=30) as http:
        yield http
        await http.delete("/faults")


@pytest.fixture
async def source(sandbox: str, control: httpx.AsyncClient) -> AsyncIterator[PeopleDataLabs]:
    await control.delete("/faults")
    source = PeopleDataLabs(base_url=sandbox, api_key=KEY)
    yield source
    await source.close()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "wait_random_exponential", lambda **_: lambda _state: 0.01)


async def fault(control: httpx.AsyncClient, kind: str, operation: str = "person/search", **more: Any) -> None:
    order = {"provider": "people", "operation": operation, "fault": kind} | more
    (await control.post("/faults", json=order)).raise_for_status()


async def every_page(
    source: PeopleDataLabs, filters: PeopleFilters, directory: Directory, *, size: int
) -> list[SearchPage]:
    pages = [await source.search(filters, directory, size=size, token=None)]
    while pages[-1].next_token:
        pages.append(await source.search(filters, directory, size=size, token=pages[-1].next_token))
    return pages


def ids(pages: list[SearchPage]) -> list[str]:
    return [person.source_id for page in pages for person in page.people]


async def test_a_search_is_paged_to_its_end_and_its_people_are_fetched(
    source: PeopleDataLabs, atlas: Directory, population: Population
) -> None:
    expected = matching(population, query_of(ENGINEERS, atlas))
    assert len(expected) > 25
    pages = await every_page(source, ENGINEERS, atlas, size=10)
    assert len(ids(pages)) == len(set(ids(pages)))
    assert {page.total for page in pages if page.people} == {len(ids(pages))}
    assert set(ids(pages)) <= expected  # some vanished, some opted out

    fetched = await source.fetch([*ids(pages), "nobody"], atlas)
    *people, nobody = fetched
    assert [person.asked for person in people] == ids(pages)
    assert nobody.status is FetchStatus.NOT_FOUND
    for found, person in zip((p for page in pages for p in page.people), people, strict=True):
        assert person.status is FetchStatus.FOUND
        assert person.profile is not None
        assert person.profile.full_name == found.full_name
        assert person.profile.profile_url == found.profile_url
        assert person.profile.location.country_code in {"DE", "GB"}


async def test_a_page_that_ends_exactly_with_the_search_is_followed_by_an_empty_one(
    source: PeopleDataLabs, atlas: Directory
) -> None:
    total = len(ids(await every_page(source, ENGINEERS, atlas, size=100)))
    exact = await every_page(source, ENGINEERS, atlas, size=total if total <= 100 else 1)
    assert len(ids(exact)) == total
    assert exact[-1].next_token is None


async def test_tiers_are_disjoint_and_together_the_whole(source: PeopleDataLabs, atlas: Directory) -> None:
    local = PeopleFilters(countries=("DE",), skills=SkillFilter(any=("sql", "python", "project management")))
    first = TierFilters(**ENGINEERS.model_dump(), all_of=(local,))
    second = TierFilters(**ENGINEERS.model_dump(), none_of=(local,))
    in_first, in_second, in_all = [
        set(ids(await every_page(source, each, atlas, size=50))) for each in (first, second, ENGINEERS)
    ]
    assert in_first
    assert in_second
    assert not in_first & in_second
    assert in_first | in_second == in_all


async def test_a_merged_person_answers_with_the_surviving_id(
    source: PeopleDataLabs, control: httpx.AsyncClient, atlas: Directory
) -> None:
    merged, survivor, vanished, opted_out = ids([await source.search(ENGINEERS, atlas, size=4, token=None)])
    for person, state in (
        (merged, f"merged_into:{survivor}"),
        (vanished, "vanished"),
        (opted_out, "opted_out"),
    ):
        (await control.post(f"/people/{person}", json={"state": state})).raise_for_status()
    fetched = await source.fetch([merged, survivor, vanished, opted_out], atlas)
    for person in (merged, vanished, opted_out):
        (await control.post(f"/people/{person}", json={"state": "present"})).raise_for_status()
    assert [(person.status, person.source_id) for person in fetched] == [
        (FetchStatus.FOUND, survivor),
        (FetchStatus.FOUND, survivor),
        (FetchStatus.NOT_FOUND, None),
        (FetchStatus.NOT_FOUND, None),
    ]


@pytest.mark.parametrize(
    ("kind", "more", "error"),
    [
        ("rate_limited", {}, SourceBusy),
        ("rate_limited", {"reset": "none"}, SourceBusy),
        ("rate_limited", {"reset": "garbled", "retry_after": True}, SourceBusy),
        ("server_error", {}, SourceBusy),
        ("server_error", {"status": 503, "after_execution": True}, SourceBusy),
        ("html_body", {}, SourceBusy),
        ("connection_lost", {}, SourceBusy),
        ("connection_lost", {"after_execution": True}, SourceBusy),
        ("timeout", {"latency_ms": 50}, SourceBusy),
        ("truncated_json", {}, SourceUnusable),
        ("oversize", {}, SourceUnusable),
    ],
)
@pytest.mark.usefixtures("quick")
async def test_every_fault_is_the_documented_error(
    kind: str,
    more: dict[str, Any],
    error: type[Exception],
    control: httpx.AsyncClient,
    asking: tuple[PeopleDataLabs, Directory],
) -> None:
    source, atlas = asking
    for operation in ("person/search", "person/bulk"):
        await fault(control, kind, operation, **more)
    with pytest.raises(error) as in_search:
        await source.search(ENGINEERS, atlas, size=10, token=None)
    with pytest.raises(error) as in_fetch:
        await source.fetch(["a", "b"], atlas)
    for raised in (in_search.value, in_fetch.value):
        assert not isinstance(raised, SourceNotConfigured)
        if kind == "rate_limited":
            assert isinstance(raised, SourceBusy)
            assert raised.retry_at is not None


@pytest.fixture
def asking(source: PeopleDataLabs, atlas: Directory) -> tuple[PeopleDataLabs, Directory]:
    return source, atlas


@pytest.mark.parametrize("kind", ["server_error", "connection_lost", "html_body"])
@pytest.mark.usefixtures("quick")
async def test_a_single_fault_goes_unnoticed(
    kind: str, control: httpx.AsyncClient, source: PeopleDataLabs, atlas: Directory
) -> None:
    await fault(control, kind, count=1)
    assert (await source.search(ENGINEERS, atlas, size=10, token=None)).people


async def test_a_slow_source_is_given_up_in_time(
    control: httpx.AsyncClient, source: PeopleDataLabs, atlas: Directory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CALL_SECONDS", 0.3)
    await fault(control, "latency", latency_ms=3000, count=1)
    with pytest.raises(SourceBusy) as busy:
        await source.search(ENGINEERS, atlas, size=10, token=None)
    assert busy.value.status == 502


async def test_an_oversize_page_is_halved_once_and_paging_goes_on(
    control: httpx.AsyncClient, source: PeopleDataLabs, atlas: Directory
) -> None:
    everybody = ids(await every_page(source, ENGINEERS, atlas, size=100))
    await control.delete("/people/log")
    await fault(control, "oversize", count=1)
    pages = await every_page(source, ENGINEERS, atlas, size=20)
    assert len(pages[0].people) == 10
    assert len(pages[1].people) == min(20, len(everybody) - 10)
    assert ids(pages) == everybody
    log = (await control.get("/people/log")).json()
    assert log["calls"]["person/search"] == len(pages) + 1


async def test_an_oversize_bulk_answer_is_fetched_in_halves(
    control: httpx.AsyncClient, source: PeopleDataLabs, atlas: Directory
) -> None:
    wanted = ids([await source.search(ENGINEERS, atlas, size=9, token=None)])
    await fault(control, "oversize", "person/bulk", count=1)
    fetched = await source.fetch(wanted, atlas)
    assert [person.source_id for person in fetched] == wanted


async def test_a_refused_token_asks_to_start_again(
    control: httpx.AsyncClient, source: PeopleDataLabs, atlas: Directory
) -> None:
    first = await source.search(ENGINEERS, atlas, size=5, token=None)
    await fault(control, "refused_scroll_token", count=1)
    with pytest.raises(TokenRefused):
        await source.search(ENGINEERS, atlas, size=5, token=first.next_token)
    assert (await source.search(ENGINEERS, atlas, size=5, token=first.next_token)).people


async def test_rows_seen_before_do_not_break_paging(
    control: httpx.AsyncClient, source: PeopleDataLabs, atlas: Directory
) -> None:
    everybody = set(ids(await every_page(source, ENGINEERS, atlas, size=100)))
    await fault(control, "duplicate_rows")
    assert set(ids(await every_page(source, ENGINEERS, atlas, size=10))) == everybody


@pytest.mark.usefixtures("quick")
async def test_one_failed_item_of_a_bulk_call_leaves_the_others(
    control: httpx.AsyncClient, source: PeopleDataLabs, atlas: Directory
) -> None:
    wanted = ids([await source.search(ENGINEERS, atlas, size=3, token=None)])
    for status in (429, 500):
        await fault(control, "item_error", "person/bulk", count=1, status=status)
        fetched = await source.fetch(wanted, atlas)
        assert [person.status for person in fetched] == [FetchStatus.RETRY, FetchStatus.FOUND, FetchStatus.FOUND]


@pytest.mark.parametrize("kind", ["type_as_string", "not_found_without_error"])
async def test_odd_envelopes_of_not_found_are_the_end_of_a_search(
    kind: str, control: httpx.AsyncClient, source: PeopleDataLabs, atlas: Directory
) -> None:
    await fault(control, kind)
    nobody = PeopleFilters(titles=TitleFilter(include=("keeper of invented unicorns",)))
    page = await source.search(nobody, atlas, size=10, token=None)
    assert (page.people, page.next_token, page.total) == ((), None, 0)


@pytest.mark.parametrize(
    ("key", "error"),
    [("401".zfill(64), SourceNotConfigured), ("402".zfill(64), SourceNotConfigured), ("429".zfill(64), SourceBusy)],
)
async def test_a_key_that_the_source_refuses(key: str, error: type[Exception], sandbox: str, atlas: Directory) -> None:
    source = PeopleDataLabs(base_url=sandbox, api_key=key)
    with pytest.raises(error) as raised:
        await source.search(ENGINEERS, atlas, size=10, token=None)
    assert raised.type is error
    await source.close()


async def test_a_refused_connection_is_a_busy_source(atlas: Directory, unused_tcp_port: int) -> None:
    source = PeopleDataLabs(base_url=f"http://{LOOPBACK}:{unused_tcp_port}", api_key=KEY)
    with pytest.raises(SourceBusy):
        await source.search(ENGINEERS, atlas, size=10, token=None)
    await source.close()


async def test_a_hundred_whole_profiles_fit_one_call(
    control: httpx.AsyncClient, source: PeopleDataLabs, atlas: Directory
) -> None:
    everybody = ids(await every_page(source, PeopleFilters(), atlas, size=100))
    await control.delete("/people/log")
    for start in range(0, len(everybody), 100):
        fetched = await source.fetch(everybody[start : start + 100], atlas)
        assert {person.status for person in fetched} == {FetchStatus.FOUND}
    assert (await control.get("/people/log")).json()["calls"]["person/bulk"] == -(-len(everybody) // 100)
