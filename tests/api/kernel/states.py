"""Digests of everything that a tenant owns, to check that a call has changed nothing."""

from typing import Any

from sqlalchemy import text
from sqlmodel import SQLModel

from models.base.database import Database

VOLATILE = "'{last_used_at}'"
"""Columns that every call changes."""


def snapshots() -> list[str]:
    """Return a statement for each table with an owner, new tables included: a digest of a tenant's rows."""
    made = []
    for table in SQLModel.metadata.sorted_tables:
        owner = next((name for name in ("tenant_id", "workspace_id") if name in table.c), None)
        if table.name == "workspaces":
            owner = "id"
        if owner is None:
            continue
        whose = ":tenant" if owner == "tenant_id" else ":workspace"
        row = f"(to_jsonb(t) - cast({VOLATILE} as text[]))::text"
        digest = f"select md5(string_agg({row}, '' order by {row}))"
        made.append(f"{digest} from {table.name} t where t.{owner} = {whose}")
    return made


async def state_of(database: Database, workspace_id: str, customer_id: str | None = None) -> list[Any]:
    """Return a digest of each table's rows of the tenant, or of its workspace in tables without a tenant."""
    async with database.transaction() as session:
        found = []
        for statement in snapshots():
            values = {"tenant": customer_id or workspace_id, "workspace": workspace_id}
            used = {name: value for name, value in values.items() if f":{name}" in statement}
            found.append((statement.rpartition(" from ")[2], await session.scalar(text(statement), used)))
    return found
