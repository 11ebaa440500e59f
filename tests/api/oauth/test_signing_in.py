"""Signing in: the mailed link, the browser that it is bound to, and the consent page."""

import re

import httpx
import pytest
from fastapi import FastAPI

from models.access.store import mails
from models.base.database import Database
from tests.api.conftest import client, run_sql
from tests.api.mcp.conftest import URL, serving
from tests.api.oauth.conftest import Form, People, Person, Program, Programs, consent, mailed, oauth_error, told

ACTION = "/authorize/decision"


async def count(database: Database, person: Person) -> int:
    rows = await run_sql(
        database, "select count(*) from mails where workspace_id = :w and kind = 'sign_in'", w=person.workspace_id
    )
    return int(rows[0][0])


async def codes(database: Database, person: Person) -> int:
    counted = "select count(*) from oauth_sign_ins where workspace_id = :w and code_hash is not null"
    return int((await run_sql(database, counted, w=person.workspace_id))[0][0])


async def test_pages_are_closed_to_everything(person: Person, program: Program, database: Database) -> None:
    began = await person.open(program.address())
    sent = await person.send(began, email=person.email)
    page = await person.open(await mailed(database, person.workspace_id))
    for answer in (began, sent, page, await person.open("/authorize")):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "script-src" not in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "<script" not in answer.text
    assert "form-action 'self'" in began.headers["content-security-policy"]


async def test_the_cookie_is_closed_too(app: FastAPI, module_database_url: str, program: Program) -> None:
    async with client(app) as browser:
        set_here = (await browser.get(program.address())).headers["set-cookie"]
    assert re.fullmatch(r"svc_sign_in=[\w-]{43}; HttpOnly; Max-Age=3600; Path=/; SameSite=lax", set_here)
    async with serving(module_database_url, public_url="https://api.test") as other, client(other) as browser:
        asked = program.asked(resource="https://api.test/mcp")
        secure = (await browser.get("/authorize", params=asked)).headers["set-cookie"]
    assert secure.startswith("__Host-svc_sign_in=")
    assert secure.endswith("; Secure")


async def test_the_page_says_who_asks_and_where_the_answer_goes(
    person: Person, program_of: Programs, database: Database
) -> None:
    program = await program_of(client_name='<img src=x onerror="alert(1)">', redirect_uris=["https://agent.example/cb"])
    page = await consent(person, program, database, scope="sourcing:spend outreach:send")
    assert "<img" not in page.text
    assert "&lt;img src=x" in page.text
    assert "<strong>agent.example</strong>" in page.text
    assert "Acme &lt;b&gt;" in page.text
    assert "Spend credits" in page.text
    assert "Send messages" in page.text
    assert "on this machine" not in page.text


async def test_a_program_on_the_same_machine_is_warned_of(person: Person, program: Program, database: Database) -> None:
    assert "on this computer" in (await consent(person, program, database)).text


async def test_nothing_tells_whether_an_address_is_known(
    person: Person, person_of: People, program: Program, database: Database
) -> None:
    unconfirmed = await person_of(verified=False)
    shown = []
    for email in (person.email, "nobody@example.com", unconfirmed.email):
        answer = await person.send(await person.open(program.address()), email=email)
        shown.append((answer.status_code, answer.text.replace(email, "ADDRESS"), sorted(answer.headers)))
    assert shown[0] == shown[1] == shown[2]
    assert [await count(database, one) for one in (person, unconfirmed)] == [1, 0]


async def test_letter_case_makes_no_other_address(person: Person, program: Program, database: Database) -> None:
    await person.send(await person.open(program.address()), email=person.email.upper())
    assert await count(database, person) == 1


@pytest.mark.parametrize(
    "email", ["", "nobody", "a@b@c", "x" * 300 + "@example.com", "a@example.com\r\nBcc: b@example.com"]
)
async def test_what_is_no_address_is_asked_for_again(person: Person, program: Program, email: str) -> None:
    answer = await person.send(await person.open(program.address()), email=email)
    assert answer.status_code == 400
    assert Form(answer.text).action == "/authorize/mail"


async def test_one_address_is_mailed_so_often_in_an_hour(person: Person, program: Program, database: Database) -> None:
    page = await person.open(program.address())
    for _ in range(7):
        assert (await person.send(page, email=person.email)).status_code == 200
    assert await count(database, person) == 5
    await run_sql(database, "update oauth_sign_ins set created_at = created_at - interval '1 hour'")
    await person.send(page, email=person.email)
    assert await count(database, person) == 6


async def test_a_link_opened_in_another_browser_does_not_sign_in(
    app: FastAPI, person: Person, program: Program, database: Database
) -> None:
    page = await consent(person, program, database)
    link, form = await mailed(database, person.workspace_id), Form(page.text)
    async with client(app) as other:
        assert (await other.get(link)).status_code == 403
        await other.get(program.address())  # now it has a cookie of its own
        answer = await other.get(link)
        assert answer.status_code == 403
        assert "Agent" not in answer.text
        own = Form((await other.get(program.address())).text).filled()["csrf"]
        taken = await other.post(ACTION, data=form.filled(decision="allow", csrf=own))
        assert taken.status_code == 403
    assert await codes(database, person) == 0
    assert "code" in told(await person.send(page, decision="allow")), "the owner still can"


async def test_opening_a_link_uses_nothing_up_and_deciding_does(
    person: Person, program: Program, database: Database
) -> None:
    page = await consent(person, program, database)
    link = await mailed(database, person.workspace_id)
    assert (await person.open(link)).status_code == 200
    assert "code" in told(await person.send(page, decision="allow"))
    assert (await person.open(link)).status_code == 404
    assert (await person.send(page, decision="allow")).status_code == 404


async def test_denying_tells_the_client_and_uses_the_link_up(
    person: Person, program: Program, database: Database
) -> None:
    page = await consent(person, program, database)
    back = told(await person.send(page, decision="deny"))
    assert (back["error"], back["state"], back["iss"]) == ("access_denied", program.state, URL)
    assert (await person.send(page, decision="allow")).status_code == 404
    assert await codes(database, person) == 0


@pytest.mark.parametrize("csrf", [None, "", "0" * 64, "é"])
async def test_a_form_that_another_site_made_does_nothing(
    person: Person, program: Program, database: Database, csrf: str | None
) -> None:
    began = await person.open(program.address())
    assert (await person.send(began, email=person.email, csrf=csrf)).status_code == 403
    assert await count(database, person) == 0
    page = await consent(person, program, database)
    answer = await person.send(page, decision="allow", csrf=csrf)
    assert answer.status_code == 403
    assert "location" not in answer.headers
    assert "code" in told(await person.send(page, decision="allow"))


async def test_a_form_without_the_cookie_does_nothing(
    app: FastAPI, person: Person, program: Program, database: Database
) -> None:
    page = await consent(person, program, database)
    async with client(app) as bare:
        assert (await bare.post(ACTION, data=Form(page.text).filled(decision="allow"))).status_code == 403


@pytest.mark.parametrize("request_", [None, "", "AAAA", "é" * 20, "A" * 20_000])
async def test_what_a_client_asks_for_cannot_be_changed_on_the_way(
    person: Person, program: Program, database: Database, request_: str | None
) -> None:
    began = await person.open(program.address())
    answer = await person.send(began, email=person.email, request=request_)
    assert answer.status_code in (400, 403)
    assert await count(database, person) == 0


async def test_a_link_works_for_fifteen_minutes(person: Person, program: Program, database: Database) -> None:
    page = await consent(person, program, database)
    await run_sql(database, "update oauth_sign_ins set expires_at = expires_at - interval '15 minutes'")
    assert (await person.open(await mailed(database, person.workspace_id))).status_code == 404
    assert (await person.send(page, decision="allow")).status_code == 404


async def test_a_person_grants_less_but_never_more(person: Person, program: Program, database: Database) -> None:
    page = await consent(person, program, database)
    for scopes in ([], ["outreach:send"], ["sourcing:read", "account:write"], ["everything"]):
        answer = await person.send(page, decision="allow", scope=scopes)
        assert answer.status_code == 400
        assert Form(answer.text).action == ACTION
    code = told(await person.send(page, decision="allow", scope=["account:read"]))["code"]
    assert (await program.exchange(code)).json()["scope"] == "account:read"


async def test_another_owners_workspace_cannot_be_chosen(
    person: Person, person_of: People, program: Program, database: Database
) -> None:
    stranger, page = await person_of(), await consent(person, program, database)
    answer = await person.send(page, decision="allow", workspace_id=stranger.workspace_id)
    assert answer.status_code == 400
    code = told(await person.send(page, decision="allow"))["code"]
    await program.exchange(code)
    owners = await run_sql(database, "select workspace_id from api_keys where kind = 'oauth'")
    assert (stranger.workspace_id,) not in owners


async def test_who_has_several_workspaces_chooses_one(
    module_database_url: str, person: Person, program: Program, database: Database
) -> None:
    """Where addresses are not confirmed, one may have several after a while."""
    async with serving(module_database_url) as app, client(app) as browser, client(app) as other:
        await run_sql(
            database,
            "update workspaces set created_at = created_at - interval '3 days', verified_at = null where id = :w",
            w=person.workspace_id,
        )
        body = {"name": "Second", "email": person.email}
        second = (await other.post("/v1/workspaces", json=body)).json()["id"]
        person.browser = browser
        page = await consent(person, program, database)
        assert page.text.count('type="radio"') == 2
        assert (await person.send(page, decision="allow")).status_code == 400
        code = told(await person.send(page, decision="allow", workspace_id=second))["code"]
        program.http = other
        assert (await program.exchange(code)).status_code == 200
        owners = await run_sql(database, "select workspace_id from api_keys where kind = 'oauth'")
        assert (second,) in owners


async def test_a_link_that_was_made_up_does_nothing(person: Person, program: Program) -> None:
    await person.open(program.address())
    for token in ("", "unknown", "x" * 300, "\x00"):
        answer = await person.browser.get("/authorize/link", params={"token": token})
        assert answer.status_code == 404


async def test_the_mail_is_given_up_when_its_link_is_over(person: Person, program: Program, database: Database) -> None:
    await person.send(await person.open(program.address()), email=person.email)
    rows = await run_sql(
        database, "select id from mails where kind = 'sign_in' and workspace_id = :w", w=person.workspace_id
    )
    async with database.transaction() as session:
        assert not (await mails.decide_mail(session, rows[0][0])).over
    await run_sql(
        database, "update mails set created_at = created_at - interval '15 minutes' where id = :id", id=rows[0][0]
    )
    async with database.transaction() as session:
        assert (await mails.decide_mail(session, rows[0][0])).over


async def test_an_unknown_code_is_just_that(program: Program, http: httpx.AsyncClient) -> None:
    oauth_error(await program.exchange("unknown"), "invalid_grant")
