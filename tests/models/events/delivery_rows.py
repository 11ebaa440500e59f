"""The rows of an account's endpoints and deliveries in the form of `delivery_reference`."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncSession

from tests.models.events.delivery_reference import JUST_NOW, LEASE, DeliveryReference, Sent

DELIVERIES = "select d.* from deliveries d where d.workspace_id = :w order by d.created_at, d.id"
EVENTS = "select id from events where workspace_id = :w"
HOOKS = "select id, status from webhook_endpoints where workspace_id = :w"


async def read(session: AsyncSession, workspace_id: str) -> tuple[Sequence[Row[Any]], set[str], dict[str, str]]:
    """Return the deliveries, the ids of events, and the status of each endpoint."""
    asked = {"w": workspace_id}
    rows = (await session.execute(text(DELIVERIES), asked)).all()
    events = set((await session.scalars(text(EVENTS), asked)).all())
    hooks = {row.id: row.status for row in await session.execute(text(HOOKS), asked)}
    return rows, events, hooks


def shown(row: Row[Any]) -> dict[str, Any]:
    """Return a row in the form of `written`."""
    return {
        "hook": row.endpoint_id,
        "event": row.event_id,
        "status": row.status,
        "turn": row.turn,
        "due": row.due_at,
        "wake": row.wake_at,
        "rung": row.rings > row.answered,
        "log": [attempt.get("status_code") for attempt in row.attempts],
        "made": row.made,
    }


def written(sent: Sent) -> dict[str, Any]:
    """Return a delivery of the model in the form of `shown`."""
    return {
        "hook": sent.hook,
        "event": sent.event,
        "status": sent.status,
        "turn": sent.turn,
        "due": sent.due,
        "wake": sent.wake,
        "rung": sent.rung,
        "log": sent.log,
        "made": len(sent.log),
    }


def with_moments(
    model: DeliveryReference, rows: Sequence[Row[Any]], before: datetime, after: datetime
) -> DeliveryReference:
    """Return the model with the times that only the rows know, if they lie between these two."""
    known = {row.id: row for row in rows}
    sent = dict(model.sent)
    for name, one in model.sent.items():
        row = known.get(name)
        if row is None:
            continue
        due = row.due_at if one.due == JUST_NOW and _within(row.due_at, before, after) else one.due
        lease = row.wake_at and row.wake_at - LEASE
        wake = row.wake_at if one.wake == JUST_NOW and _within(lease, before, after) else one.wake
        sent[name] = replace(one, due=due, wake=wake)
    return replace(model, sent=sent)


def _within(moment: datetime | None, before: datetime, after: datetime) -> bool:
    return moment is not None and before <= moment <= after
