"""What the provider's API enforces and shows, byte by byte as a foreign client sees it."""

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.sandbox.network.conftest import Network

LINK = {"expires_on": "2100-01-01T00:00:00.000Z", "redirect_uri": "https://x.example/back?a=1", "state": "s/+"}


def refused(answer: httpx.Response) -> tuple[int, str]:
    body = answer.json()
    assert body["object"] == "Error"
    assert body["status"] == answer.status_code
    assert body.keys() == {"object", "status", "type", "title", "detail", "req_id"}
    return answer.status_code, body["type"]


def test_without_a_known_key_nothing_is_answered(network: Network) -> None:
    for headers in ({"x-api-key": "other"}, {"x-api-key": ""}):
        answer = network.api.get("/v2/accounts/", headers=headers)
        assert refused(answer) == (401, "api/missing_authorization")


@pytest.mark.parametrize("path", ["/v2/accounts", "/v2/accounts/", "/v2/webhooks/endpoints", "/v2/webhooks/endpoints/"])
def test_the_slash_at_the_end_does_not_matter(network: Network, path: str) -> None:
    assert network.api.get(path).status_code == 200


def test_paths_and_methods_that_do_not_exist_are_refused(network: Network) -> None:
    assert refused(network.api.get("/v2/nothing/at/all/of/this")) == (404, "api/resource_not_found")
    assert refused(network.api.put("/v2/auth/link", json={})) == (405, "provider/method_not_allowed")
    assert refused(network.api.get("/v2/acc_unknown/users/me")) == (404, "api/resource_not_found")


def test_an_account_looks_as_documented(network: Network) -> None:
    (account,) = network.api.get("/v2/accounts/").json()["data"]
    assert account == network.api.get(f"/v2/accounts/{network.account}").json()
    assert account | {"user_id": "", "name": "", "created_at": ""} == {
        "object": "Account",
        "id": network.account,
        "application_id": "app_sandbox",
        "user_id": "",
        "name": "",
        "provider": "linkedin",
        "status": "running",
        "is_locked": False,
        "created_at": "",
        "metadata": {"products_connection_status": {"classic": "running"}},
        "initial_sync": {"status": "completed"},
    }


REFUSED_INVITES: list[tuple[dict[str, Any], tuple[int, str]]] = [
    ({"message": "x" * 301}, (400, "provider/invalid_parameters")),
    ({"message": "👋" * 151}, (400, "provider/invalid_parameters")),
    ({"user_id": "a-slug"}, (400, "provider/invalid_parameters")),
    ({"user_id": "ACoAAnobody"}, (404, "provider/resource_not_found")),
    ({"user_id": 5}, (400, "api/invalid_parameters")),
    ({"note": "unknown field"}, (400, "api/invalid_parameters")),
]


@pytest.mark.parametrize(("body", "expected"), REFUSED_INVITES)
def test_an_invite_that_is_not_right_is_refused(
    network: Network, body: dict[str, Any], expected: tuple[int, str]
) -> None:
    assert refused(network.invite(network.people()[0]["person_id"], **body)) == expected
    assert network.look("log")["data"] == []


def test_an_invite_is_201_and_a_second_one_cannot_be_resent(network: Network) -> None:
    person_id = network.people()[0]["person_id"]
    first = network.invite(person_id, message="Hi")
    assert first.status_code == 201
    assert {key: first.json()[key] for key in ("object", "type", "message")} == {
        "object": "RelationRequest",
        "type": "sent",
        "message": "Hi",
    }
    again = network.invite(person_id)
    assert refused(again) == (422, "provider/unprocessable_entity")
    assert "cannot resend yet" in again.json()["detail"].lower()
    assert [entry["kind"] for entry in network.look("log")["data"]] == ["invite"]


@pytest.mark.parametrize("tie", ["connected", "withdrawn", "ignored"])
def test_relations_and_people_invited_recently_are_not_invited(network: Network, tie: str) -> None:
    person_id = network.people()[0]["person_id"]
    network.steer("people", account_id=network.account, person_id=person_id, tie=tie)
    assert refused(network.invite(person_id)) == (422, "provider/unprocessable_entity")
    network.pass_time(21 * 86400)
    assert (network.invite(person_id).status_code == 201) is (tie != "connected")


def test_the_network_takes_a_hundred_invites_a_day_and_two_hundred_a_week(network: Network) -> None:
    # From a Monday on, so that the week is a whole one.
    now = network.control.get("/_control/health").json()["at"]
    moment = datetime.fromisoformat(now)
    monday = (moment + timedelta(days=7 - moment.weekday())).replace(hour=8, minute=0)
    network.pass_time((monday - moment).total_seconds())
    people = [row["person_id"] for row in network.people(limit=230)]
    answers = [network.invite(person_id) for person_id in people[:101]]
    assert [answer.status_code for answer in answers] == [201] * 100 + [422]
    assert answers[-1].json()["detail"] == "Temporary provider limit reached."
    network.pass_time(86400)
    assert [network.invite(person_id).status_code for person_id in people[100:200]] == [201] * 100
    network.pass_time(86400)
    over = network.invite(people[200])
    assert over.json()["detail"] == "You have reached the weekly invitation limit."
    network.pass_time(5 * 86400)
    assert network.invite(people[200]).status_code == 201


def test_withdrawing_what_is_not_pending_is_not_found(network: Network) -> None:
    path = f"/v2/{network.account}/users/me/relation-requests/{quote('inv:none/+==', safe='')}/cancel"
    assert refused(network.api.post(path)) == (404, "provider/resource_not_found")


def test_messages_go_to_relations_alone_and_have_a_length(network: Network) -> None:
    friend, stranger = (row["person_id"] for row in network.people(limit=2))
    network.steer("people", account_id=network.account, person_id=friend, tie="connected")
    send = f"/v2/{network.account}/chats/send"
    assert refused(network.api.post(send, json={"users_ids": stranger, "text": "Hi"}))[0] == 422
    assert refused(network.api.post(send, json={"users_ids": [friend], "text": " "}))[0] == 400
    assert refused(network.api.post(send, json={"users_ids": [friend], "text": "x" * 8001}))[0] == 400
    assert refused(network.api.post(send, json={"users_ids": [friend, stranger], "text": "Hi"}))[0] == 400
    started = network.api.post(send, json={"users_ids": friend, "text": "Hi"})
    assert (started.status_code, started.json()["object"]) == (200, "ChatStarted")
    again = network.api.post(send, json={"users_ids": friend, "text": "Hi again"}).json()
    assert again["chat_id"] == started.json()["chat_id"]
    path = f"/v2/{network.account}/chats/{quote(again['chat_id'], safe='')}/messages"
    assert [row["text"] for row in network.api.get(path).json()["data"]] == ["Hi again", "Hi"]
    lookup = network.api.get(f"/v2/{network.account}/users/{friend}/chat").json()
    assert lookup == {"object": "ChatLookup", "data": [{"chat_id": again["chat_id"], "has_history": True}]}


def test_a_visit_token_is_of_one_account_and_holds_ten_minutes(network: Network) -> None:
    row = network.people(visitable=True)[0]
    profile = network.api.get(f"/v2/{network.account}/users/{row['person_id']}").json()
    token, other = profile["specifics"]["notify_visit_token"], network.steer("accounts", past=False)["id"]
    visit = "/v2/{}/users/visit-profile"
    assert refused(network.api.post(visit.format(other), params={"token": token}))[0] == 400
    assert refused(network.api.post(visit.format(network.account), params={"token": token + "x"}))[0] == 400
    assert network.api.post(visit.format(network.account), params={"token": token}).json() == {
        "object": "ProfileVisited"
    }
    network.pass_time(601)
    assert refused(network.api.post(visit.format(network.account), params={"token": token}))[0] == 400
    assert [entry["kind"] for entry in network.look("log")["data"]] == ["visit"]


def test_reads_are_copied_for_an_hour_and_the_caller_may_ask_for_less(network: Network) -> None:
    path = f"/v2/{network.account}/users/{network.people()[0]['person_id']}"

    def seen(**headers: str) -> tuple[str, int]:
        answer = network.api.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        return answer.headers["x-cache"], int(answer.headers["age"])

    assert seen(cache_control="no-store") == ("MISS", 0)
    assert seen() == ("MISS", 0)
    assert seen()[0] == "HIT"
    network.pass_time(1000)
    hit, age = seen()
    assert (hit, age >= 1000) == ("HIT", True)
    assert seen(cache_control="max-age=5000")[0] == "HIT"
    assert seen(cache_control="max-age=10")[0] == "MISS"
    assert seen(cache_control="max-age=10")[0] == "HIT"
    assert seen(cache_control="no-cache")[0] == "MISS"
    network.pass_time(3601)
    assert seen()[0] == "MISS"


def test_a_write_drops_the_copies_that_it_makes_wrong_and_no_others(network: Network) -> None:
    first, second = (row["person_id"] for row in network.people(limit=2))
    paths = [f"/v2/{network.account}/users/{person_id}" for person_id in (first, second)]
    paths.append(f"/v2/{network.account}/users/me/relation-requests?type=sent")
    for path in paths:
        network.api.get(path)
    network.invite(first)
    assert [network.api.get(path).headers["x-cache"] for path in paths] == ["MISS", "HIT", "MISS"]


def test_copies_do_not_count_for_the_rate_limit(network: Network) -> None:
    network.steer("switches", per_hour={"users/get": 2})
    path = f"/v2/{network.account}/users/me"
    first = network.api.get(path)
    assert (first.headers["x-ratelimit-limit"], first.headers["x-ratelimit-remaining"]) == ("2", "1")
    assert 0 < int(first.headers["x-ratelimit-reset"]) <= 3600
    for _ in range(5):
        assert network.api.get(path).status_code == 200
    fresh = {"cache-control": "no-cache"}
    assert network.api.get(path, headers=fresh).headers["x-ratelimit-remaining"] == "0"
    over = network.api.get(path, headers=fresh)
    assert refused(over) == (429, "api/too_many_requests")
    assert over.headers["retry-after"] == over.headers["x-ratelimit-reset"]
    assert network.api.get("/v2/accounts/").headers.get("x-ratelimit-limit") is None


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({}, 400),
        ({"type": "both"}, 400),
        ({"type": "sent", "limit": "0"}, 400),
        ({"type": "sent", "limit": "101"}, 400),
        ({"type": "sent", "offset": "-1"}, 400),
        ({"type": "sent", "cursor": "x"}, 400),
        ({"type": "sent", "offset": "5000"}, 200),
        ({"type": "received"}, 200),
    ],
)
def test_the_list_of_invites_takes_a_type_and_an_offset(network: Network, query: dict[str, str], status: int) -> None:
    answer = network.api.get(f"/v2/{network.account}/users/me/relation-requests", params=query)
    assert answer.status_code == status


def test_chats_take_a_cursor_and_no_offset(network: Network) -> None:
    for row in network.people(limit=30):
        network.steer("reply", account_id=network.account, person_id=row["person_id"], text="Hi")
    path = f"/v2/{network.account}/chats"
    offset = network.api.get(path, params={"offset": "20"})
    assert refused(offset) == (400, "provider/invalid_parameters")
    assert "cursor" in offset.json()["detail"]
    first = network.api.get(path, params={"limit": "20"}).json()
    rest = network.api.get(path, params={"limit": "20", "cursor": first["next_cursor"]}).json()
    assert "next_cursor" not in rest
    ids = [row["id"] for row in first["data"] + rest["data"]]
    assert (len(ids), len(set(ids))) == (30, 30)
    assert refused(network.api.get(path, params={"cursor": "garbage"}))[0] == 400


def test_core_lists_take_an_offset_and_say_whether_there_is_more(network: Network) -> None:
    for _ in range(3):
        network.steer("accounts", past=False)
    pages = [network.api.get("/v2/accounts/", params={"limit": "3", "offset": offset}).json() for offset in "03"]
    assert [(len(page["data"]), page["has_more"]) for page in pages] == [(3, True), (1, False)]


@pytest.mark.parametrize(
    "body",
    [
        LINK | {"providers": ["linkedin"], "account_id": "acc_1"},
        LINK,
        LINK | {"providers": ["linkedin"], "expires_on": "2020-01-01T00:00:00.000Z"},
        LINK | {"providers": ["linkedin"], "expires_on": "soon"},
        LINK | {"providers": ["linkedin"], "redirect_uri": None},
        LINK | {"providers": ["linkedin"], "unknown": 1},
    ],
)
def test_a_link_that_is_not_asked_for_properly_is_refused(network: Network, body: dict[str, Any]) -> None:
    assert refused(network.api.post("/v2/auth/link", json=body))[0] == 400


def connect(network: Network, **form: str) -> httpx.Response:
    body = LINK | {"providers": ["linkedin"]}
    link = network.api.post("/v2/auth/link", json=body).json()["link"]
    return network.control.post(link, data=form)


FAILURES = [
    ("fail", {"error_title": "Invalid credentials", "type": "provider/invalid_credentials", "state": "s/+"}),
    ("fail_without_state", {"error_title": "Invalid credentials", "type": "provider/invalid_credentials"}),
    ("expired", {"error_title": "Expired link", "type": "api/expired_link", "state": "s/+"}),
    ("restricted", {"error_title": "Account restricted", "type": "api/account_restricted", "state": "s/+"}),
]


@pytest.mark.parametrize(("outcome", "expected"), FAILURES)
def test_a_sign_in_fails_in_every_way(network: Network, outcome: str, expected: dict[str, str]) -> None:
    redirect = connect(network, outcome=outcome)
    assert redirect.status_code == 303
    query = dict(httpx.URL(redirect.headers["location"]).params)
    assert {key: query.get(key) for key in expected} == expected
    assert ("state" in query) is ("state" in expected)
    assert query["a"] == "1"
    assert len(network.api.get("/v2/accounts/").json()["data"]) == 1


def test_an_owner_has_one_account_unless_a_second_is_wanted(network: Network) -> None:
    first = connect(network, outcome="succeed", owner="41")
    again = dict(httpx.URL(connect(network, outcome="succeed", owner="41").headers["location"]).params)
    assert (again["type"], again["state"]) == ("api/already_exists", "s/+")
    second = connect(network, outcome="second_account", owner="41")
    ids = [dict(httpx.URL(answer.headers["location"]).params)["account_id"] for answer in (first, second)]
    accounts = [network.api.get(f"/v2/accounts/{account_id}").json() for account_id in ids]
    assert ids[0] != ids[1]
    assert accounts[0]["user_id"] == accounts[1]["user_id"]
    assert {account["initial_sync"]["status"] for account in accounts} == {"running"}


def test_signing_in_again_as_another_person_is_a_mismatch(network: Network) -> None:
    link = network.api.post("/v2/auth/link", json=LINK | {"account_id": network.account}).json()["link"]
    redirect = network.control.post(link, data={"outcome": "succeed", "owner": "77"})
    assert dict(httpx.URL(redirect.headers["location"]).params)["type"] == "provider/account_mismatch"


def test_a_link_works_once_and_until_it_expires(network: Network) -> None:
    link = network.api.post("/v2/auth/link", json=LINK | {"providers": "linkedin"}).json()["link"]
    assert network.control.post(link, data={"outcome": "nothing"}).status_code == 400
    assert network.control.post(link, data={"outcome": "succeed", "owner": "9" * 50}).status_code == 400
    assert network.control.post(link, data={"outcome": "fail"}).status_code == 303
    for answer in (network.control.get(link), network.control.post(link, data={"outcome": "succeed"})):
        assert answer.status_code == 410


ENDPOINTS: list[tuple[dict[str, Any], int]] = [
    ({"url": "https://x.example", "trigger_events": ["message.new"]}, 200),
    ({"url": "https://x.example", "trigger_events": ["message.new", "relation.request.accept"]}, 400),
    ({"url": "https://x.example", "trigger_events": []}, 400),
    ({"url": "https://x.example/" + "x" * 255, "trigger_events": ["message.new"]}, 400),
    ({"url": "ftp://x.example", "trigger_events": ["message.new"]}, 400),
    ({"url": "https://x.example", "trigger_events": ["message.new"], "headers": {}}, 400),
]


@pytest.mark.parametrize(("body", "status"), ENDPOINTS)
def test_one_unknown_event_refuses_the_whole_endpoint(network: Network, body: dict[str, Any], status: int) -> None:
    assert network.api.post("/v2/webhooks/endpoints/", json=body).status_code == status


def test_an_endpoint_is_changed_and_removed(network: Network) -> None:
    made = network.api.post("/v2/webhooks/endpoints/", json=ENDPOINTS[0][0]).json()
    path = f"/v2/webhooks/endpoints/{made['id']}"
    changed = network.api.patch(path, json={"enabled": False, "trigger_events": ["account.add"]}).json()
    assert changed == made | {"enabled": False, "trigger_events": ["account.add"]}
    assert network.api.get(path).json() == changed
    assert refused(network.api.patch(path, json={"trigger_events": ["x"]}))[0] == 400
    assert network.api.delete(path).json() == {"success": True}
    assert refused(network.api.get(path))[0] == 404


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("accept", {"account_id": "A", "person_id": "nobody"}, 404),
        ("accept", {"account_id": "none", "person_id": "nobody"}, 404),
        ("accept", {"account_id": "A"}, 400),
        ("reply", {"account_id": "A", "person_id": "nobody", "colour": 1}, 400),
        ("account", {"account_id": "A", "status": "happy"}, 400),
        ("account", {"account_id": "A", "limit": "hourly"}, 400),
        ("switches", {"per_hour": {"users/find": 1}}, 400),
        ("switches", {"events": "2026-01"}, 400),
    ],
)
def test_control_input_is_strict(network: Network, path: str, body: dict[str, Any], status: int) -> None:
    body = {name: network.account if value == "A" else value for name, value in body.items()}
    assert network.control.post(f"/_control/network/{path}", json=body).status_code == status


def test_an_invite_that_was_not_sent_is_not_accepted(network: Network) -> None:
    body = {"account_id": network.account, "person_id": network.people()[0]["person_id"]}
    assert network.control.post("/_control/network/accept", json=body).status_code == 409


def test_a_person_is_steered_by_any_of_their_names(network: Network) -> None:
    record = network.control.get("/_control/people", params={"limit": 1}).json()["data"][0]
    slug = record["record"]["linkedin_url"].rsplit("/", 1)[-1]
    named = [
        network.look(f"people/{quote(name, safe='')}", account_id=network.account)["person_id"]
        for name in (record["id"], slug)
    ]
    assert named[0] == named[1]
