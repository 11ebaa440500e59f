"""Searching and fetching: what is sent, what comes back, and what every kind of bad answer becomes."""

import asyncio
import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
import structlog

from activities.upstream.people_data_labs import client
from activities.upstream.people_data_labs import source as people_data_labs_source
from activities.upstream.people_data_labs.source import PeopleDataLabs
from activities.upstream.ports.people import (
    Directory,
    FetchStatus,
    FoundPerson,
    PeopleSource,
    SourceBusy,
    SourceNotConfigured,
    SourceRefusedQuery,
    SourceUnusable,
    TokenRefused,
)
from models.sourcing.rules.filters import PeopleFilters, TitleFilter
from tests.activities.upstream.people_data_labs.atlas import NOW

Answering = Callable[[httpx.Request], httpx.Response]
Connect = Callable[[Answering], PeopleDataLabs]

ENGINEERS = PeopleFilters(titles=TitleFilter(include=("data engineer",)), countries=("NL",))
JO = {
    "id": "ex0001_0000",
    "full_name": "jo voorbeeld",
    "linkedin_url": "linkedin.com/in/jo-voorbeeld",
    "job_title": "data engineer",
    "job_company_name": "acme example",
    "location_name": "utrecht, utrecht, netherlands",
}


def found(*records: dict[str, Any], token: str | None = None, total: int | None = 237) -> httpx.Response:
    return httpx.Response(200, json={"status": 200, "data": records, "scroll_token": token, "total": total})


def failed(status: int, kind: str, **headers: str) -> httpx.Response:
    error = {"type": [kind], "message": "jo voorbeeld is mentioned here"}
    return httpx.Response(status, json={"status": status, "error": error}, headers=headers)


class Recorder:
    """Answers one after another, the last one for ever, and keeps what was asked."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self._answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.requests]


@pytest.fixture(autouse=True)
def quick_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "wait_random_exponential", lambda **_: lambda _state: 0.001)


@pytest.fixture
def searching(connect: Connect, atlas: Directory) -> tuple[Connect, Directory]:
    return connect, atlas


async def test_a_search_sends_the_documented_request_and_reads_the_page(connect: Connect, atlas: Directory) -> None:
    other_side = Recorder(found(JO, JO | {"id": "ex2"}, JO, token="104$14.27"))  # one of them twice
    source: PeopleSource = connect(other_side)
    page = await source.search(ENGINEERS, atlas, size=50, token="90$1")
    request = other_side.requests[0]
    assert (request.method, str(request.url)) == ("POST", "https://people.example/v5/person/search")
    assert request.headers["x-api-key"] == "k" * 64
    assert request.headers["accept-encoding"] == "gzip"
    assert other_side.bodies() == [
        {
            "query": {
                "query": {
                    "bool": {
                        "must": [
                            {"match_phrase": {"job_title.text": "data engineer"}},
                            {"term": {"location_country": "netherlands"}},
                        ]
                    }
                }
            },
            "dataset": "resume",
            "data_include": "id,full_name,linkedin_url,job_title,job_company_name,location_name,"
            "job_title_levels,location_geo,skills,languages",
            "size": 50,
            "scroll_token": "90$1",
        }
    ]
    assert [person.source_id for person in page.people] == ["ex0001_0000", "ex2"]
    assert replace(page.people[0], profile=None) == FoundPerson(
        source_id="ex0001_0000",
        profile_url="https://www.linkedin.com/in/jo-voorbeeld",
        full_name="Jo Voorbeeld",
        title="Data Engineer",
        company="Acme Example",
        location="Utrecht, Utrecht, Netherlands",
    )
    assert page.people[0].profile is not None
    assert page.people[0].profile.current is not None
    assert page.people[0].profile.current.title == "Data Engineer"
    assert (page.next_token, page.total) == ("104$14.27", 237)


async def test_the_first_page_sends_no_token(connect: Connect, atlas: Directory) -> None:
    other_side = Recorder(found(JO))
    await connect(other_side).search(ENGINEERS, atlas, size=1, token=None)
    assert "scroll_token" not in other_side.bodies()[0]


@pytest.mark.parametrize(
    "answer",
    [
        found(token="more"),
        found(JO, token=None),
        found(JO, token=""),
        failed(404, "not_found"),
        httpx.Response(404, json={"status": 404, "message": "none"}),
        httpx.Response(404, content=b"<html>"),
    ],
)
async def test_the_last_page_has_no_next_token(answer: httpx.Response, connect: Connect, atlas: Directory) -> None:
    page = await connect(Recorder(answer)).search(ENGINEERS, atlas, size=50, token="t")
    assert page.next_token is None


async def test_no_match_is_a_total_of_zero(connect: Connect, atlas: Directory) -> None:
    page = await connect(Recorder(failed(404, "not_found"))).search(ENGINEERS, atlas, size=50, token=None)
    assert (page.people, page.total) == ((), 0)


async def test_a_past_company_must_be_that_of_an_ended_job(connect: Connect, atlas: Directory) -> None:
    company = {"id": "acmeexample-7q2", "name": "acme example"}
    stays = JO | {"id": "stays", "experience": [{"company": company, "start_date": "2020"}]}
    left = JO | {"id": "left", "experience": [{"company": company, "start_date": "2020", "end_date": "2021"}]}
    other_side = Recorder(found(stays, left))
    page = await connect(other_side).search(PeopleFilters(past_company_ids=("co_1",)), atlas, size=5, token=None)
    assert [person.source_id for person in page.people] == ["left"]
    assert other_side.bodies()[0]["data_include"].endswith(",experience")


@pytest.mark.parametrize(
    ("answer", "error", "calls"),
    [
        (failed(400, "invalid_request_error"), SourceRefusedQuery, 1),
        (failed(401, "authentication_error"), SourceNotConfigured, 1),
        (failed(402, "payment_required"), SourceNotConfigured, 1),
        (failed(403, "authentication_error"), SourceNotConfigured, 1),
        (failed(405, "invalid_request_error"), SourceUnusable, 1),
        (failed(418, "teapot"), SourceUnusable, 1),
        (httpx.Response(302, headers={"location": "https://evil.example"}), SourceUnusable, 1),
        (failed(429, "rate_limit_error"), SourceBusy, 1),
        (failed(500, "api_error"), SourceBusy, 3),
        (httpx.Response(502, content=b"<html>bad gateway"), SourceBusy, 3),
        (httpx.Response(503, json={"status": 503, "error": {"type": "api_error", "message": "m"}}), SourceBusy, 3),
        (httpx.ConnectError("refused"), SourceBusy, 2),
        (httpx.RemoteProtocolError("closed"), SourceBusy, 2),
        (httpx.ReadTimeout("slow"), SourceBusy, 2),
        (httpx.Response(200, content=b"<html>"), SourceUnusable, 1),
        (httpx.Response(200, content=b'{"status": 200, "data": [{"id"'), SourceUnusable, 1),
        (httpx.Response(200, content=b""), SourceUnusable, 1),
        (httpx.Response(200, content=b"\xff\xfe"), SourceUnusable, 1),
        (httpx.Response(200, content=b"[" * 100_000), SourceUnusable, 1),
        (httpx.Response(200, content=b'{"status": 200, "data": [], "total": NaN}'), SourceUnusable, 1),
        (httpx.Response(200, json=[]), SourceUnusable, 1),
        (httpx.Response(200, json={"status": 200, "data": {}}), SourceUnusable, 1),
        (httpx.Response(200, json={"status": 200, "data": [{"id": True}]}), SourceUnusable, 1),
        (httpx.Response(200, json={"status": 200, "data": [7]}), SourceUnusable, 1),
        (found(*({"id": str(n)} for n in range(51))), SourceUnusable, 1),
        (httpx.Response(200, json={"status": 200, "data": [JO], "scroll_token": 5}), SourceUnusable, 1),
        (httpx.Response(200, json={"status": 429, "error": {"type": "rate_limit_error"}}), SourceBusy, 1),
        (httpx.Response(500, json={"status": 200, "data": []}), SourceBusy, 3),
        (httpx.Response(200, headers={"content-encoding": "br"}, content=b"x"), SourceUnusable, 1),
    ],
)
async def test_every_bad_answer_is_the_documented_error(
    answer: httpx.Response | Exception,
    error: type[Exception],
    calls: int,
    searching: tuple[Connect, Directory],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = structlog.testing.CapturingLogger()
    for module in (client, people_data_labs_source):
        monkeypatch.setattr(module, "log", said)
    connect, atlas = searching
    other_side = Recorder(answer)
    with pytest.raises(error) as raised:
        await connect(other_side).search(ENGINEERS, atlas, size=50, token=None)
    assert raised.type is error
    assert len(other_side.requests) == calls
    assert said.calls
    told = str(raised.value) + repr(said.calls)
    assert "voorbeeld" not in told
    assert "data engineer" not in told
    assert "k" * 64 not in told


async def test_a_passing_fault_is_repeated(connect: Connect, atlas: Directory) -> None:
    for faults in ([failed(500, "api_error")] * 2, [httpx.ReadError("reset")]):
        page = await connect(Recorder(*faults, found(JO))).search(ENGINEERS, atlas, size=50, token=None)
        assert len(page.people) == 1


async def test_a_time_out_is_distinguished_from_a_busy_source(connect: Connect, atlas: Directory) -> None:
    with pytest.raises(SourceBusy) as timed_out:
        await connect(Recorder(httpx.ReadTimeout("slow"))).search(ENGINEERS, atlas, size=50, token=None)
    with pytest.raises(SourceBusy) as busy:
        await connect(Recorder(failed(503, "api_error"))).search(ENGINEERS, atlas, size=50, token=None)
    assert (timed_out.value.status, busy.value.status) == (502, 503)


async def test_a_call_with_its_repetitions_is_over_in_time(atlas: Directory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "CALL_SECONDS", 0.2)

    async def never(_: httpx.Request) -> httpx.Response:
        await asyncio.sleep(60)
        raise AssertionError

    source = PeopleDataLabs(base_url="https://people.example", api_key="k", transport=httpx.MockTransport(never))
    with pytest.raises(SourceBusy) as timed_out:
        await source.search(ENGINEERS, atlas, size=50, token=None)
    assert timed_out.value.status == 502
    await source.close()


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"x-ratelimit-reset": "2026-03-04T10:15:00Z"}, datetime(2026, 3, 4, 10, 15, tzinfo=UTC)),
        ({"x-ratelimit-reset": "2026-03-04T10:15:00"}, datetime(2026, 3, 4, 10, 15, tzinfo=UTC)),
        (
            {"x-ratelimit-reset": "2026-03-04T12:15:00+02:00", "retry-after": "9"},
            datetime(2026, 3, 4, 10, 15, tzinfo=UTC),
        ),
        ({"x-ratelimit-reset": "soon"}, None),
        ({"x-ratelimit-reset": "2026-03-04T10:14:30Z"}, None),
        ({"x-ratelimit-reset": "2026-03-06T10:14:30Z"}, None),
        ({}, None),
    ],
)
async def test_a_rate_limit_ends_at_its_reset_or_with_the_minute(
    headers: dict[str, str], expected: datetime | None, connect: Connect, atlas: Directory
) -> None:
    with pytest.raises(SourceBusy) as busy:
        await connect(Recorder(failed(429, "rate_limit_error", **headers))).search(
            ENGINEERS, atlas, size=50, token=None
        )
    assert busy.value.retry_at is not None
    if expected:
        assert busy.value.retry_at == expected
    else:
        assert timedelta(seconds=30) <= busy.value.retry_at - NOW <= timedelta(seconds=35)


async def test_without_a_key_nothing_is_called(atlas: Directory) -> None:
    other_side = Recorder(found(JO))
    for key in (None, ""):
        source = PeopleDataLabs(
            base_url="https://people.example", api_key=key, transport=httpx.MockTransport(other_side)
        )
        with pytest.raises(SourceNotConfigured) as refused:
            await source.search(ENGINEERS, atlas, size=50, token=None)
        assert refused.value.cooldown_seconds == 900
        await source.close()
    assert other_side.requests == []


async def test_a_refused_token_is_distinguished_from_a_refused_query(connect: Connect, atlas: Directory) -> None:
    with pytest.raises(TokenRefused):
        await connect(Recorder(failed(400, "invalid_request_error"))).search(ENGINEERS, atlas, size=50, token="old")


async def test_inexpressible_filters_make_no_call(connect: Connect, atlas: Directory) -> None:
    other_side = Recorder(found(JO))
    with pytest.raises(SourceRefusedQuery):
        await connect(other_side).search(PeopleFilters(open_to_work=True), atlas, size=50, token=None)
    assert other_side.requests == []


@pytest.mark.parametrize("size", [0, -1, 101])
async def test_page_sizes_are_1_to_100(size: int, connect: Connect, atlas: Directory) -> None:
    with pytest.raises(ValueError, match="1 to 100"):
        await connect(Recorder(found(JO))).search(ENGINEERS, atlas, size=size, token=None)


def oversize(encoding: str = "identity") -> httpx.Response:
    body = json.dumps({"status": 200, "data": [], "padding": "x" * client.MAX_BYTES}).encode()
    if encoding == "gzip":
        return httpx.Response(200, headers={"content-encoding": "gzip"}, content=gzip.compress(body))
    return httpx.Response(200, content=body)


@pytest.mark.parametrize("too_large", [oversize(), oversize("gzip"), failed(413, "invalid_request_error")])
async def test_a_page_over_1_mib_is_asked_for_once_more_at_half_its_size(
    too_large: httpx.Response, connect: Connect, atlas: Directory
) -> None:
    other_side = Recorder(too_large, found(JO))
    page = await connect(other_side).search(ENGINEERS, atlas, size=51, token=None)
    assert [body["size"] for body in other_side.bodies()] == [51, 25]
    assert len(page.people) == 1
    for size, calls in ((50, 2), (1, 1)):
        always = Recorder(too_large)
        with pytest.raises(SourceUnusable):
            await connect(always).search(ENGINEERS, atlas, size=size, token=None)
        assert len(always.requests) == calls


def compressed(*, cut: int) -> httpx.Response:
    body = gzip.compress(json.dumps({"status": 200, "data": [JO]}).encode())
    wire = httpx.ByteStream(body[: len(body) - cut])
    return httpx.Response(200, headers={"content-encoding": "gzip"}, stream=wire)


async def test_a_compressed_answer_is_read(connect: Connect, atlas: Directory) -> None:
    page = await connect(Recorder(compressed(cut=0))).search(ENGINEERS, atlas, size=5, token=None)
    assert len(page.people) == 1


async def test_half_a_compressed_answer_is_unusable(connect: Connect, atlas: Directory) -> None:
    with pytest.raises(SourceUnusable):
        await connect(Recorder(compressed(cut=20))).search(ENGINEERS, atlas, size=5, token=None)


def item(status: int, n: int | None, **more: Any) -> dict[str, Any]:
    return {"status": status, **({"metadata": {"n": n}} if n is not None else {}), **more}


async def test_a_fetch_asks_by_id_and_answers_in_order(connect: Connect, atlas: Directory) -> None:
    other_side = Recorder(
        httpx.Response(
            200,
            json=[
                item(404, 1, error={"type": ["not_found"], "message": "none"}),
                item(200, 0, data=JO | {"id": "merged"}, likelihood=10),
                item(429, 2),
                item(500, 3),
                item(400, 4),
            ],
        )
    )
    people = await connect(other_side).fetch(["a", "b", "c", "d", "e", "a"], atlas)
    assert str(other_side.requests[0].url) == "https://people.example/v5/person/bulk"
    body = other_side.bodies()[0]
    assert body["requests"] == [{"params": {"pdl_id": i}, "metadata": {"n": n}} for n, i in enumerate("abcde")]
    assert body["min_likelihood"] == 2
    assert not {"work_email", "phones", "emails", "birth_date", "sex"} & set(body["data_include"].split(","))
    assert [(person.asked, person.status, person.source_id) for person in people] == [
        ("a", FetchStatus.FOUND, "merged"),
        ("b", FetchStatus.NOT_FOUND, None),
        ("c", FetchStatus.RETRY, None),
        ("d", FetchStatus.RETRY, None),
        ("e", FetchStatus.NOT_FOUND, None),
        ("a", FetchStatus.FOUND, "merged"),
    ]
    assert people[0].profile is not None
    assert people[0].profile.full_name == "Jo Voorbeeld"
    assert people[1].profile is None


async def test_without_echoed_numbers_the_order_counts(connect: Connect, atlas: Directory) -> None:
    answer = httpx.Response(200, json=[item(404, None), item(200, None, data=JO)])
    people = await connect(Recorder(answer)).fetch(["a", "b"], atlas)
    assert [person.status for person in people] == [FetchStatus.NOT_FOUND, FetchStatus.FOUND]


@pytest.mark.parametrize(
    "items",
    [
        [item(404, 0)],
        [item(404, 0), item(404, 1), item(404, 2)],
        [item(404, 0), item(404, 0)],
        [item(404, 1), item(404, 2)],
        [item(404, 0), item(404, None)],
        [item(404, 0), 7],
        [item(404, 0), item(200, 1)],
        [item(404, 0), item(200, 1, data={"id": None})],
        [item(404, 0), {"metadata": {"n": 1}}],
        {"status": 200, "data": []},
    ],
)
async def test_a_bulk_answer_of_another_shape_is_unusable(items: Any, connect: Connect, atlas: Directory) -> None:
    with pytest.raises(SourceUnusable):
        await connect(Recorder(httpx.Response(200, json=items))).fetch(["a", "b"], atlas)


async def test_a_bulk_answer_over_1_mib_is_asked_for_in_halves(connect: Connect, atlas: Directory) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        asked = json.loads(request.content)["requests"]
        if len(asked) > 2:
            return oversize()
        records = [item(200, n, data=JO | {"id": each["params"]["pdl_id"]}) for n, each in enumerate(asked)]
        return httpx.Response(200, json=records)

    people = await connect(answer).fetch(["a", "b", "c"], atlas)
    assert [(person.asked, person.source_id) for person in people] == [("a", "a"), ("b", "b"), ("c", "c")]
