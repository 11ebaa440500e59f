"""The whole way: register, ask, mail, consent, code, tokens, tools, refreshing, listing, revoking."""

import httpx
from fastapi import FastAPI

from models.database import Database
from tests.api.mcp.conftest import URL
from tests.api.oauth.conftest import Person, Program, consent, told, use


async def test_a_client_signs_in_and_uses_its_token(
    app: FastAPI, person: Person, program: Program, database: Database, http: httpx.AsyncClient
) -> None:
    page = await consent(person, program, database)
    answer = await person.send(page, decision="allow")
    back = told(answer)
    assert answer.headers["location"].startswith(f"{program.redirect_uri}?")
    assert (back["state"], back["iss"]) == (program.state, URL)
    made = (await program.exchange(back["code"])).json()
    assert (made["token_type"], made["expires_in"], made["scope"]) == ("Bearer", 3600, "sourcing:read account:read")
    listed = await use(http, made["access_token"])
    assert listed.status_code == 200, listed.text
    again = (await program.refresh(made["refresh_token"])).json()
    assert (await use(http, again["access_token"])).status_code == 200
