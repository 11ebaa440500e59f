import time

import httpx
import pytest

from tests.sandbox.conftest import Object, Running

ALL_PEOPLE: Object = {"match_all": {}}
BROKEN_JSON = r"delimiter|Expecting|Unterminated"


def faults(sandbox: Running) -> list[Object]:
    ordered: list[Object] = sandbox.control.get("/_control/faults").json()["data"]
    return ordered


def billed(sandbox: Running) -> int:
    return int(sandbox.control.get("/_control/people/log").json()["credits_billed"])


def test_a_fault_strikes_as_often_as_ordered_and_is_gone(sandbox: Running) -> None:
    sandbox.order("person/search", "server_error", count=2, status=503)
    answers = [sandbox.search(ALL_PEOPLE) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [503, 503, 200]
    assert answers[0].json()["error"]["type"] == ["api_error"]
    assert faults(sandbox) == []


def test_a_fault_without_count_strikes_until_deleted(sandbox: Running) -> None:
    sandbox.order("*", "server_error")
    assert {sandbox.search(ALL_PEOPLE).status_code for _ in range(4)} == {500}
    assert sandbox.control.delete("/_control/faults").json() == {"deleted": 1}
    assert sandbox.search(ALL_PEOPLE).status_code == 200


def test_a_rate_strikes_its_share(sandbox: Running) -> None:
    sandbox.order("person/search", "server_error", rate=0.3)
    statuses = [sandbox.search(ALL_PEOPLE).status_code for _ in range(100)]
    assert 20 <= statuses.count(500) <= 40


def test_a_fault_of_one_operation_leaves_others_alone(sandbox: Running) -> None:
    sandbox.order("autocomplete", "server_error")
    assert sandbox.search(ALL_PEOPLE).status_code == 200


def test_before_execution_nothing_is_billed_and_after_it_all_is(sandbox: Running) -> None:
    sandbox.order("person/search", "server_error", count=1)
    assert sandbox.search(ALL_PEOPLE, size=3).status_code == 500
    assert billed(sandbox) == 0
    sandbox.order("person/search", "server_error", count=1, after_execution=True)
    assert sandbox.search(ALL_PEOPLE, size=3).status_code == 500
    assert billed(sandbox) == 3


def test_latency_makes_a_call_slow(sandbox: Running) -> None:
    sandbox.order("person/search", "latency", count=1, latency_ms=300)
    started = time.perf_counter()
    assert sandbox.search(ALL_PEOPLE).status_code == 200
    assert time.perf_counter() - started >= 0.3


@pytest.mark.parametrize(("after_execution", "credits"), [(False, 0), (True, 1)])
def test_a_timeout_hangs_until_the_caller_gives_up(sandbox: Running, *, after_execution: bool, credits: int) -> None:
    sandbox.order("person/search", "timeout", count=1, after_execution=after_execution)
    with pytest.raises(httpx.ReadTimeout):
        sandbox.people.post("/v5/person/search", json={"query": ALL_PEOPLE}, timeout=0.3)
    assert sandbox.search(ALL_PEOPLE).status_code == 200
    assert billed(sandbox) == credits + 1


def test_a_short_timeout_ends_in_a_lost_connection(sandbox: Running) -> None:
    sandbox.order("person/search", "timeout", count=1, latency_ms=50)
    with pytest.raises(httpx.RemoteProtocolError):
        sandbox.search(ALL_PEOPLE)


def test_a_connection_is_lost(sandbox: Running) -> None:
    sandbox.order("person/search", "connection_lost", count=1)
    with pytest.raises(httpx.RemoteProtocolError):
        sandbox.search(ALL_PEOPLE)
    assert sandbox.search(ALL_PEOPLE).status_code == 200


def test_a_full_window_names_its_end_in_one_of_three_ways(sandbox: Running) -> None:
    for reset in ("header", "none", "garbled"):
        sandbox.order("person/search", "rate_limited", count=1, reset=reset)
    resets = [sandbox.search(ALL_PEOPLE).headers.get("x-ratelimit-reset") for _ in range(3)]
    assert resets[0] is not None
    assert resets[0].endswith("Z")
    assert resets[1:] == [None, "in a moment"]
    sandbox.order("person/search", "rate_limited", count=1, retry_after=True)
    answer = sandbox.search(ALL_PEOPLE)
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["retry-after"]) <= 60


def test_a_body_may_be_html_truncated_or_huge(sandbox: Running) -> None:
    for fault in ("html_body", "truncated_json", "oversize"):
        sandbox.order("person/search", fault, count=1)
    html = sandbox.search(ALL_PEOPLE)
    assert (html.status_code, html.headers["content-type"]) == (502, "text/html; charset=utf-8")
    # What is left of the two shapes the same answer: cut, then padded.
    broken = sandbox.search(ALL_PEOPLE, size=5)
    assert broken.status_code == 200
    assert len(broken.content) > 1_048_576
    with pytest.raises(ValueError, match=BROKEN_JSON):
        broken.json()
    sandbox.order("person/search", "truncated_json", count=1)
    with pytest.raises(ValueError, match=BROKEN_JSON):
        sandbox.search(ALL_PEOPLE).json()
    sandbox.order("person/search", "oversize", count=1)
    assert sandbox.search(ALL_PEOPLE).json()["status"] == 200


def test_errors_may_have_another_shape(sandbox: Running) -> None:
    sandbox.order("person/search", "type_as_string", count=1)
    sandbox.order("person/search", "not_found_without_error", count=1)
    refused = sandbox.search({"term": {"x": "y"}})
    assert refused.json()["error"]["type"] == "invalid_request_error"
    missing = sandbox.search({"term": {"id": "nobody"}})
    assert set(missing.json()) == {"status", "message"}


def test_a_scroll_token_is_refused_once(sandbox: Running) -> None:
    sandbox.order("person/search", "refused_scroll_token", count=1)
    token = sandbox.search(ALL_PEOPLE, size=5).json()["scroll_token"]
    assert sandbox.search(ALL_PEOPLE, size=5, scroll_token=token).status_code == 400
    assert sandbox.search(ALL_PEOPLE, size=5, scroll_token=token).status_code == 200


def test_pages_may_repeat_rows_and_still_lose_none(sandbox: Running) -> None:
    sandbox.order("person/search", "duplicate_rows", count=1)
    dutch = {"term": {"location_country": "netherlands"}}
    seen, token = [], None
    while True:
        answer = sandbox.search(dutch, size=60, scroll_token=token, data_include="id")
        seen += [row["id"] for row in answer.json().get("data", [])]
        token = answer.json().get("scroll_token")
        if token is None:
            break
    total = sandbox.search(dutch).json()["total"]
    assert len(seen) > len(set(seen)) == total


def test_retrieve_can_be_disabled(sandbox: Running) -> None:
    sandbox.order("person/retrieve/bulk", "retrieve_disabled")
    answer = sandbox.people.post("/v5/person/retrieve/bulk", json={"requests": [{"id": "x"}]})
    assert answer.status_code == 403


def test_single_items_of_a_bulk_fail(sandbox: Running) -> None:
    person_id = sandbox.search(ALL_PEOPLE).json()["data"][0]["id"]
    sandbox.order("person/bulk", "item_error", count=1, status=429)
    requests = [{"params": {"pdl_id": person_id}}] * 2
    items = sandbox.people.post("/v5/person/bulk", json={"requests": requests}).json()
    assert [item["status"] for item in items] == [429, 200]


def test_the_opt_out_feed_is_cut_off(sandbox: Running) -> None:
    whole = sandbox.people.get("/v5/person/subjectrequest").text
    sandbox.order("person/subjectrequest", "cut_off", count=1)
    read = bytearray()

    def download() -> None:
        with sandbox.people.stream("GET", "/v5/person/subjectrequest") as answer:
            for chunk in answer.iter_bytes():
                read.extend(chunk)

    with pytest.raises(httpx.RemoteProtocolError):
        download()
    assert whole.startswith(read.decode())
    assert 0 < len(read) < len(whole)


def test_the_opt_out_feed_has_an_endless_line(sandbox: Running) -> None:
    sandbox.order("person/subjectrequest", "endless_line", count=1)
    with sandbox.people.stream("GET", "/v5/person/subjectrequest") as answer:
        read = 0
        for chunk in answer.iter_bytes():
            assert b"\n" not in chunk
            read += len(chunk)
            if read > 5_000_000:
                break


@pytest.mark.parametrize(
    ("order", "named"),
    [
        ({"fault": "latency"}, "provider"),
        ({"provider": "people", "fault": "boredom"}, "fault"),
        ({"provider": "weather", "fault": "latency"}, "provider"),
        ({"provider": "people", "operation": "person/find", "fault": "latency"}, "operation"),
        ({"provider": "people", "fault": "latency", "count": 0}, "count"),
        ({"provider": "people", "fault": "latency", "rate": 2}, "rate"),
        ({"provider": "people", "fault": "latency", "count": 1, "rate": 0.5}, "count"),
        ({"provider": "people", "fault": "latency", "often": True}, "often"),
        ({"provider": "people", "fault": "rate_limited", "reset": "later"}, "reset"),
    ],
)
def test_bad_orders_are_refused_by_name(sandbox: Running, order: Object, named: str) -> None:
    answer = sandbox.control.post("/_control/faults", json=order)
    assert answer.status_code == 400
    assert named in answer.json()["detail"]
    assert faults(sandbox) == []
