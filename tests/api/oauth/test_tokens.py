"""Codes and tokens: bound to everything they were asked for with, used once, and ending all when used twice."""

import asyncio
import base64
import secrets
from collections import Counter

import httpx
import pytest

from models.base.database import Database
from tests.api.conftest import run_sql
from tests.api.mcp.conftest import URL
from tests.api.oauth.conftest import (
    CALLBACK,
    People,
    Person,
    Program,
    Programs,
    code_of,
    consent,
    oauth_error,
    tokens_of,
    told,
    use,
)

AT_ONCE = 20


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code_verifier": secrets.token_urlsafe(48)}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_request"),
        ({"code_verifier": "short"}, "invalid_grant"),
        ({"redirect_uri": f"{CALLBACK}/other"}, "invalid_grant"),
        ({"redirect_uri": CALLBACK.replace("33418", "33419")}, "invalid_grant"),
        ({"resource": f"{URL}/api/mcp"}, "invalid_target"),
        ({"resource": "https://evil.example/mcp"}, "invalid_target"),
        ({"resource": [f"{URL}/mcp", f"{URL}/api/mcp"]}, "invalid_target"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": None}, "invalid_request"),
        ({"code": ["a", "b"]}, "invalid_request"),
        ({"code": "unknown"}, "invalid_grant"),
        ({"code": "\x00"}, "invalid_request"),
    ],
)
async def test_a_code_is_bound_to_what_it_was_asked_for_with(
    person: Person, program: Program, database: Database, changed: dict[str, object], error: str
) -> None:
    code = await code_of(person, program, database)
    oauth_error(await program.exchange(code, **changed), error)
    assert (await program.exchange(code)).status_code == 200, "a mistake uses nothing up"


async def test_the_challenge_itself_is_no_verifier(person: Person, program: Program, database: Database) -> None:
    """What `plain` would take."""
    code = await code_of(person, program, database)
    oauth_error(await program.exchange(code, code_verifier=program.asked()["code_challenge"]), "invalid_grant")


async def test_a_code_of_another_client_is_refused(
    person: Person, program: Program, program_of: Programs, database: Database
) -> None:
    code = await code_of(person, program, database)
    thief = await program_of(client_name="Thief")
    thief.verifier = program.verifier
    oauth_error(await thief.exchange(code), "invalid_grant")
    assert (await program.exchange(code)).status_code == 200


async def test_a_code_that_comes_again_ends_what_it_gave(
    person: Person, program: Program, database: Database, http: httpx.AsyncClient
) -> None:
    code = await code_of(person, program, database)
    made = (await program.exchange(code)).json()
    oauth_error(await program.exchange(code), "invalid_grant")
    assert (await use(http, made["access_token"])).status_code == 401
    oauth_error(await program.refresh(made["refresh_token"]), "invalid_grant")
    noted = await run_sql(
        database, "select action from audit_entries where workspace_id = :w order by id", w=person.workspace_id
    )
    assert [action for (action,) in noted] == ["oauth.granted", "oauth.code_used_twice"]


async def test_of_many_simultaneous_uses_of_a_code_one_is_answered(
    person: Person, program: Program, database: Database, http: httpx.AsyncClient
) -> None:
    code = await code_of(person, program, database)
    answers = await asyncio.gather(*(program.exchange(code) for _ in range(AT_ONCE)))
    assert Counter(answer.status_code for answer in answers)[200] == 1
    made = next(answer.json() for answer in answers if answer.status_code == 200)
    grants = await run_sql(
        database, "select revoked_at from api_keys where kind = 'oauth' and workspace_id = :w", w=person.workspace_id
    )
    assert len(grants) == 1
    assert grants[0][0] is not None, "the others were replays"
    assert (await use(http, made["access_token"])).status_code == 401


async def test_a_refresh_token_that_comes_again_ends_its_family(
    app: object, person: Person, program: Program, database: Database, http: httpx.AsyncClient
) -> None:
    first = await tokens_of(person, program, database)
    second = (await program.refresh(first["refresh_token"])).json()
    oauth_error(await program.refresh(first["refresh_token"]), "invalid_grant")
    oauth_error(await program.refresh(second["refresh_token"]), "invalid_grant")
    for access in (first["access_token"], second["access_token"]):
        assert (await use(http, access)).status_code == 401


async def test_of_many_simultaneous_uses_of_a_refresh_token_one_is_answered_and_the_family_ends(
    person: Person, program: Program, database: Database
) -> None:
    first = await tokens_of(person, program, database)
    answers = await asyncio.gather(*(program.refresh(first["refresh_token"]) for _ in range(AT_ONCE)))
    assert Counter(answer.status_code for answer in answers)[200] == 1
    second = next(answer.json() for answer in answers if answer.status_code == 200)
    oauth_error(await program.refresh(second["refresh_token"]), "invalid_grant")


async def test_other_grants_of_the_same_client_go_on(
    person: Person, program: Program, database: Database, http: httpx.AsyncClient
) -> None:
    stolen, other = await tokens_of(person, program, database), await tokens_of(person, program, database)
    await program.refresh(stolen["refresh_token"])
    await program.refresh(stolen["refresh_token"])
    assert (await use(http, other["access_token"])).status_code == 200


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"scope": "outreach:send"}, "invalid_scope"),
        ({"scope": "sourcing:read everything"}, "invalid_scope"),
        ({"resource": f"{URL}/api/mcp"}, "invalid_target"),
        ({"refresh_token": None}, "invalid_request"),
        ({"refresh_token": "svc_refresh_unknown"}, "invalid_grant"),
    ],
)
async def test_a_refresh_gives_no_more_than_was_granted(
    person: Person, program: Program, database: Database, changed: dict[str, object], error: str
) -> None:
    made = await tokens_of(person, program, database)
    oauth_error(await program.refresh(made["refresh_token"], **changed), error)
    assert (await program.refresh(made["refresh_token"], scope="sourcing:read")).status_code == 200


async def test_tokens_are_no_codes_and_access_tokens_do_not_refresh(
    person: Person, program: Program, database: Database, http: httpx.AsyncClient
) -> None:
    made = await tokens_of(person, program, database)
    oauth_error(await program.refresh(made["access_token"]), "invalid_grant")
    oauth_error(await program.exchange(made["refresh_token"]), "invalid_grant")
    assert (await use(http, made["refresh_token"])).status_code == 401


async def test_a_refresh_token_of_another_client_is_refused(
    person: Person, program: Program, program_of: Programs, database: Database
) -> None:
    made = await tokens_of(person, program, database)
    oauth_error(await (await program_of()).refresh(made["refresh_token"]), "invalid_grant")
    assert (await program.refresh(made["refresh_token"])).status_code == 200


async def test_everything_expires(
    person: Person, program: Program, database: Database, http: httpx.AsyncClient
) -> None:
    code = await code_of(person, program, database)
    await run_sql(
        database,
        "update oauth_sign_ins set code_expires_at = code_expires_at - interval '60 s' where workspace_id = :w",
        w=person.workspace_id,
    )
    oauth_error(await program.exchange(code), "invalid_grant")
    made = await tokens_of(person, program, database)
    own = "grant_id in (select id from api_keys where workspace_id = :w)"
    await run_sql(
        database,
        f"update oauth_tokens set expires_at = expires_at - interval '1 hour' where {own}",
        w=person.workspace_id,
    )
    assert (await use(http, made["access_token"])).status_code == 401
    made = (await program.refresh(made["refresh_token"])).json()
    assert (await use(http, made["access_token"])).status_code == 200
    await run_sql(
        database,
        "update api_keys set expires_at = expires_at - interval '30 days' where kind = 'oauth' and workspace_id = :w",
        w=person.workspace_id,
    )
    assert (await use(http, made["access_token"])).status_code == 401
    oauth_error(await program.refresh(made["refresh_token"]), "invalid_grant")


async def test_a_client_that_wants_no_refresh_token_gets_none(
    person: Person, program_of: Programs, database: Database
) -> None:
    program = await program_of(grant_types=["authorization_code"])
    made = await tokens_of(person, program, database)
    assert "refresh_token" not in made


@pytest.mark.parametrize("method", ["client_secret_post", "client_secret_basic"])
async def test_a_client_with_a_secret_proves_itself(
    person: Person, program_of: Programs, database: Database, http: httpx.AsyncClient, method: str
) -> None:
    program = await program_of(token_endpoint_auth_method=method)
    assert program.secret
    code = await code_of(person, program, database)
    oauth_error(await program.exchange(code, client_secret="wrong"), "invalid_client", 401)
    oauth_error(await program.exchange(code, client_secret=None), "invalid_client", 401)
    told = {"grant_type": "authorization_code", "code": code, "code_verifier": program.verifier}
    wrong = await http.post("/token", data=told, headers=basic(program.client_id, "wrong"))
    oauth_error(wrong, "invalid_client", 401)
    assert wrong.headers["www-authenticate"].startswith("Basic")
    both = await http.post(
        "/token", data=told | {"client_secret": program.secret}, headers=basic(program.client_id, program.secret)
    )
    oauth_error(both, "invalid_request")
    right = await http.post("/token", data=told, headers=basic(program.client_id, program.secret))
    assert right.status_code == 200


def basic(name: str, secret: str) -> dict[str, str]:
    return {"authorization": "Basic " + base64.b64encode(f"{name}:{secret}".encode()).decode()}


@pytest.mark.parametrize("client_id", ["client_unknown", "https://agent.example/unread", "", "\x00", "x" * 5000])
async def test_an_unknown_client_gets_nothing(http: httpx.AsyncClient, client_id: str) -> None:
    told = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": client_id}
    answer = await http.post("/token", data=told)
    assert answer.status_code in (400, 401)
    assert answer.json()["error"] in ("invalid_client", "invalid_request")


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("application/json", b'{"grant_type": "refresh_token"}'),
        ("multipart/form-data", b"grant_type=refresh_token"),
        ("application/x-www-form-urlencoded", b"\xff=\xff"),
        ("application/x-www-form-urlencoded", b"a" * 40_000),
        ("application/x-www-form-urlencoded", b"&".join([b"a=b"] * 200)),
        ("application/x-www-form-urlencoded", b"client_id=%ff"),
    ],
)
async def test_what_is_no_form_is_refused(http: httpx.AsyncClient, content: bytes, kind: str) -> None:
    for path in ("/token", "/revoke"):
        oauth_error(await http.post(path, content=content, headers={"content-type": kind}), "invalid_request")


async def test_revoking_a_refresh_token_ends_the_grant(
    person: Person, program: Program, database: Database, http: httpx.AsyncClient
) -> None:
    made = await tokens_of(person, program, database)
    answer = await program.post("/revoke", {"token": made["refresh_token"], "token_type_hint": "access_token"})
    assert (answer.status_code, answer.content) == (200, b"")
    assert (await use(http, made["access_token"])).status_code == 401
    assert (await program.post("/revoke", {"token": made["refresh_token"]})).status_code == 200


async def test_revoking_an_access_token_ends_it_alone(
    person: Person, program: Program, database: Database, http: httpx.AsyncClient
) -> None:
    made = await tokens_of(person, program, database)
    assert (await program.post("/revoke", {"token": made["access_token"]})).status_code == 200
    assert (await use(http, made["access_token"])).status_code == 401
    assert (await program.refresh(made["refresh_token"])).status_code == 200


async def test_a_token_of_another_client_cannot_be_revoked(
    person: Person, program: Program, program_of: Programs, database: Database, http: httpx.AsyncClient
) -> None:
    made = await tokens_of(person, program, database)
    other = await program_of()
    oauth_error(await other.post("/revoke", {"token": made["refresh_token"]}), "invalid_request")
    assert (await other.post("/revoke", {"token": "unknown"})).status_code == 200
    assert (await use(http, made["access_token"])).status_code == 200


async def test_a_workspace_suspended_after_the_consent_gives_no_tokens(
    person_of: People, program: Program, database: Database
) -> None:
    person = await person_of()
    answer = await person.send(await consent(person, program, database), decision="allow")
    await run_sql(database, "update workspaces set suspended_at = service_now() where id = :w", w=person.workspace_id)
    oauth_error(await program.exchange(told(answer)["code"]), "invalid_grant")
