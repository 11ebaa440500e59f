"""The first workspace of a new installation: signed up over REST, verified by the mailed token."""

import secrets
import time
from typing import Any

import httpx

from stack.installation import Account, StackError

MAIL_SECONDS = 60.0
POLL_SECONDS = 0.1
LIMIT_SECONDS = 15.0


def sign_up(api_url: str, sandbox_url: str, *, name: str) -> Account:
    """Create a workspace and verify it, so that it has its sign-up credits.

    Raises:
        StackError: a step was refused or the mail did not arrive; the message says which.
    """
    email = f"recruiter-{secrets.token_hex(6)}@example.com"
    with httpx.Client(trust_env=False, timeout=LIMIT_SECONDS) as http:
        created = _posted(http, f"{api_url}/v1/workspaces", {"name": name, "email": email})
        token = _mailed_token(http, sandbox_url, email)
        _posted(http, f"{api_url}/v1/workspaces/verify", {"token": token})
    return Account(api_key=created["api_key"], workspace_id=created["id"])


def _posted(http: httpx.Client, url: str, body: dict[str, str]) -> dict[str, Any]:
    try:
        answer = http.post(url, json=body)
    except httpx.TransportError as problem:
        raise StackError(f"POST {url} was not answered: {problem!r}") from problem
    if not answer.is_success:
        raise StackError(f"POST {url} answered {answer.status_code}: {answer.text}")
    read: dict[str, Any] = answer.json()
    return read


def _mailed_token(http: httpx.Client, sandbox_url: str, email: str) -> str:
    deadline = time.monotonic() + MAIL_SECONDS
    while time.monotonic() < deadline:
        answer = http.get(f"{sandbox_url}/_control/mail", params={"to": email}).raise_for_status()
        for mail in answer.json()["data"]:
            return _token(mail["links"])
        time.sleep(POLL_SECONDS)
    raise StackError(f"the verification mail did not arrive within {MAIL_SECONDS:.0f} seconds")


def _token(links: list[str]) -> str:
    for link in links:
        token = httpx.URL(link).params.get("token")
        if token:
            return str(token)
    raise StackError(f"the verification mail contains no link with a token, only {links}")
