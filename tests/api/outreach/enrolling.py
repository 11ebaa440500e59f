"""Shared parts of the tests of enrolling: sequences, people to whom a workspace may write, and the calls."""

from typing import Any
from uuid import uuid4

import httpx

from models.base.database import Database, service_time
from models.base.ids import new_id
from models.outreach.tables import Enrollment, OutreachSequence
from tests.api.conftest import Workspace

ENROLLMENTS = "/v1/outreach/enrollments"
INVITE = {"type": "invite", "note": "Hi {{first_name}}, shall we talk?"}


async def sequence(workspace: Workspace, account_id: str, **given: Any) -> dict[str, Any]:
    """Save a sequence, by default of an invite with a note."""
    body = {"account_id": account_id, "name": "Mine", "steps": [INVITE]} | given
    made = await workspace.http.post("/v1/outreach/sequences", json=body)
    assert made.status_code == 201, made.text
    found: dict[str, Any] = made.json()
    return found


async def preview(workspace: Workspace, sequence_id: str, **sources: Any) -> dict[str, Any]:
    """Return the preview of enrolling."""
    body = {"sequence_id": sequence_id} | sources
    answer = await workspace.http.post(f"{ENROLLMENTS}?dry_run=true", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def enroll(workspace: Workspace, sequence_id: str, *, key: str | None = None, **sources: Any) -> httpx.Response:
    """Enroll, by default with a new Idempotency-Key."""
    headers = {"Idempotency-Key": key or uuid4().hex}
    return await workspace.http.post(ENROLLMENTS, json={"sequence_id": sequence_id} | sources, headers=headers)


async def enrolled(workspace: Workspace, sequence_id: str, **sources: Any) -> dict[str, Any]:
    """Return the answer of a successful enrollment."""
    answer = await enroll(workspace, sequence_id, **sources)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def enrollment_row(database: Database, owner: dict[str, Any], profile_id: str, **given: Any) -> str:
    """Write an enrollment in a sequence as a row."""
    async with database.transaction() as session:
        now = await service_time(session)
        sequence = await session.get_one(OutreachSequence, owner["id"])
        row = Enrollment(
            id=new_id("enr", now),
            workspace_id=sequence.workspace_id,
            tenant_id=sequence.tenant_id,
            sequence_id=sequence.id,
            account_id=sequence.account_id,
            profile_id=profile_id,
            created_at=now,
            **given,
        )
        session.add(row)
        return row.id
