"""Sign-in: the official authorization suite, and both TypeScript clients, with a person who consents."""

import json
from pathlib import Path
from typing import Any

import httpx

from stack.ports import LOOPBACK, Ports
from tests.conformance import clients, inspector, node_programs, server_suite
from tests.conformance.outcomes import Outcome, Verdict
from tests.conformance.person import Person
from tests.journeys.recruiter import Recruiter

PREFERRED_PORT = 3977
FEWEST = 5
SCENARIOS = 2
PART = "authorization suite"
NAVIGATE = "Please navigate to: "


def new_person(facts: dict[str, Any]) -> Person:
    """Return a person with their own workspace."""
    return Person(facts, Recruiter.join(facts, name="Conformance").get("/v1/workspace")["email"])


def suite(facts: dict[str, Any], output: Path) -> list[Outcome]:
    """Return the official suite's outcomes for the authorization server; details are stored in `output`."""
    ports, person = Ports(), new_person(facts)
    port = ports.take(PREFERRED_PORT)
    issuer = str(facts["api_url"])

    def heard(line: str) -> None:
        if line.startswith(f"{issuer}/authorize?"):
            person.allow(line)

    try:
        client_id = _registered(issuer, f"http://{LOOPBACK}:{port}/callback")
        asked = ["--url", issuer, "--client-id", client_id, "--resource", str(facts["mcp_url"])]
        done = node_programs.converse(
            server_suite.PROGRAM, "authorization", *asked, "-p", str(port), "-o", str(output), heard=heard
        )
    finally:
        ports.release()
    checks = [check for path in sorted(output.rglob("checks.json")) for check in json.loads(path.read_text())]
    found = [_outcome(check) for check in checks if check["status"] != "INFO"]
    if done.returncode != 0 or len(found) < SCENARIOS:
        found.append(Outcome(PART, "the suite's own verdict", Verdict.FAILED, done.stdout[-3000:]))
    return found


def sign_in(facts: dict[str, Any], client: str) -> list[Outcome]:
    """Return the outcomes of a client that discovers the sign-in by itself; a person consents."""
    person = new_person(facts)

    def heard(line: str) -> None:
        if line.startswith('{"authorize":'):
            person.allow(json.loads(line)["authorize"])

    done = node_programs.converse(node_programs.FOLDER / "oauth.mjs", client, str(facts["mcp_url"]), heard=heard)
    return clients.outcomes(f"sign-in, {client} client", done, fewest=FEWEST)


def inspector_sign_in(facts: dict[str, Any], era: str) -> list[Outcome]:
    """Return the outcomes of the Inspector without a key: it sends the person to sign in, then lists the tools."""
    ports, person = Ports(), new_person(facts)
    callback = f"http://{LOOPBACK}:{ports.take(PREFERRED_PORT)}/oauth/callback"

    def heard(line: str) -> None:
        if line.startswith(NAVIGATE):
            person.allow(line.removeprefix(NAVIGATE))

    try:
        where = (str(facts["mcp_url"]), "--transport", "http", "--protocol-era", era, "--format", "json")
        asked = ("--cli", *where, "--callback-url", callback, "--method", "tools/list")
        done = node_programs.converse(inspector.PROGRAM, *asked, heard=heard)
    finally:
        ports.release()
    listed = done.returncode == 0 and '{"result":{"tools":[' in done.stdout
    verdict = Verdict.PASSED if listed else Verdict.FAILED
    return [Outcome(f"sign-in, inspector, {era}", "tools/list", verdict, "" if listed else done.stdout[-2000:])]


def _registered(issuer: str, redirect_uri: str) -> str:
    metadata = {"client_name": "Conformance", "redirect_uris": [redirect_uri], "token_endpoint_auth_method": "none"}
    answer = httpx.post(f"{issuer}/register", json=metadata, trust_env=False).raise_for_status()
    return str(answer.json()["client_id"])


def _outcome(check: dict[str, Any]) -> Outcome:
    passed = check["status"] == "SUCCESS"
    return Outcome(PART, check["id"], Verdict.PASSED if passed else Verdict.FAILED, check.get("errorMessage") or "")
