"""Tenants: the account itself or one of its customers. Every query takes one.

A tenant scope says which rows a transaction may see and write. Row-level security holds every statement to it.
"""

import re
from dataclasses import dataclass

import asyncpg


@dataclass(frozen=True, slots=True)
class Tenant:
    """The account (`customer_id` null) or one customer of it."""

    workspace_id: str
    customer_id: str | None = None

    @property
    def id(self) -> str:
        """The `tenant_id` of its rows."""
        return self.customer_id or self.workspace_id


def customer_of(tenant_id: str) -> str | None:
    """Return the customer that a `tenant_id` means, null for the account itself."""
    return tenant_id if tenant_id.startswith("cus_") else None


ROLE = "service_app"
"""Database role of the service's processes: it owns no table, may only change rows, and is held to the policies."""
ALL = "*"
UNHELD = {"app.workspace": ALL, "app.tenant": ALL}
"""Settings for a connection of the tables' owner, to whom the policies apply too: migrations, benchmarks."""
SCOPE_ID = re.compile(r"[a-z0-9_]*|\*")


@dataclass(frozen=True, slots=True)
class TenantScope:
    """A workspace, and one customer in it or all of it; two empty texts admit no row. Made by this module."""

    workspace_id: str
    tenant_id: str

    def __post_init__(self) -> None:
        if not (SCOPE_ID.fullmatch(self.workspace_id) and SCOPE_ID.fullmatch(self.tenant_id)):
            raise ValueError("not an id of this service")

    @property
    def is_everywhere(self) -> bool:
        """Whether it admits the rows of every workspace."""
        return self.workspace_id == ALL

    def statement(self, *, local: bool) -> str:
        """Return the SQL that sets it, for the open transaction (`local`) or for the connection."""
        how = "SET LOCAL" if local else "SET"
        return f"{how} app.workspace='{self.workspace_id}';{how} app.tenant='{self.tenant_id}';"


NO_TENANT = TenantScope("", "")
_EVERYWHERE = TenantScope(ALL, ALL)


def scope_of_workspace(workspace_id: str) -> TenantScope:
    """Return the scope of the workspace with all its customers."""
    return TenantScope(workspace_id, ALL)


def scope_of_tenant(tenant: Tenant) -> TenantScope:
    """Return the scope of the customer, or for the account itself that of the workspace with all its customers."""
    return TenantScope(tenant.workspace_id, tenant.customer_id or ALL)


def all_tenants(why: str) -> TenantScope:
    """Return the scope of every workspace. `why` is for readers; `tests/models/base/test_reach.py` lists them all."""
    if not why:
        raise ValueError("say why")
    return _EVERYWHERE


class ScopedConnection(asyncpg.Connection):  # type: ignore[misc] # the driver ships no types
    """A connection that sets the tenant scope together with BEGIN, which costs no round trip."""

    scope: TenantScope = NO_TENANT
    """Scope of the next transaction."""
    connection_scope: TenantScope | None = None
    """Scope of single statements, as it was last set on the connection; null while unset."""

    async def execute(self, query: str, *args: object, timeout: float | None = None) -> str:  # noqa: ASYNC109 - as the driver's
        """Execute as the driver does; after BEGIN set the scope, unless the connection has it already."""
        if not args and query.startswith("BEGIN") and self.connection_scope != self.scope:
            query += self.scope.statement(local=True)
        status: str = await super().execute(query, *args, timeout=timeout)
        return status

    async def set_for_connection(self, scope: TenantScope) -> None:
        """Set the scope of single statements; a round trip where it differs from the last."""
        if self.connection_scope != scope:
            self.connection_scope = None
            await self.execute(scope.statement(local=False))
            self.connection_scope = scope

    async def begin(self, scope: TenantScope) -> None:
        """Begin a transaction without the driver's help; the caller ends it likewise."""
        self.scope = scope
        await self.execute("BEGIN;")

    async def set_for_transaction(self, scope: TenantScope) -> None:
        """Set the scope of the open transaction from here on; a round trip."""
        await self.execute(scope.statement(local=True))
