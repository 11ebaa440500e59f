"""Tenants: the account itself or one of its customers. Every query takes one."""

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
        """What rows carry as `tenant_id`."""
        return self.customer_id or self.workspace_id


def customer_of(tenant_id: str) -> str | None:
    """The customer a `tenant_id` means, null for the account itself."""
    return tenant_id if tenant_id.startswith("cus_") else None


# Whose rows a transaction may see and write: what row-level security holds every statement to.


ROLE = "service_app"
"""What the service's processes act as: it owns nothing, may change rows but no table, and is held to the policies."""
ALL = "*"
UNHELD = {"app.workspace": ALL, "app.tenant": ALL}
"""Settings of a connection of the tables' owner, whom the policies hold too: migrations, benchmarks."""
PLAIN = re.compile(r"[a-z0-9_]*|\*")


@dataclass(frozen=True, slots=True)
class TenantScope:
    """A workspace, and a customer in it or all of it; two empty texts reach no row. Made by this module."""

    workspace_id: str
    tenant_id: str

    def __post_init__(self) -> None:
        if not (PLAIN.fullmatch(self.workspace_id) and PLAIN.fullmatch(self.tenant_id)):
            raise ValueError("not an id of this service")

    @property
    def is_everywhere(self) -> bool:
        """Whether every workspace is reached."""
        return self.workspace_id == ALL

    def said(self, *, local: bool) -> str:
        """The statements that say it, for this transaction (`local`) or for the connection."""
        how = "SET LOCAL" if local else "SET"
        return f"{how} app.workspace='{self.workspace_id}';{how} app.tenant='{self.tenant_id}';"


NO_TENANT = TenantScope("", "")
_EVERYWHERE = TenantScope(ALL, ALL)


def scope_of_workspace(workspace_id: str) -> TenantScope:
    """The workspace with all its customers."""
    return TenantScope(workspace_id, ALL)


def scope_of_tenant(tenant: Tenant) -> TenantScope:
    """The customer, or for the account itself the workspace with all its customers."""
    return TenantScope(tenant.workspace_id, tenant.customer_id or ALL)


def all_tenants(why: str) -> TenantScope:
    """Every workspace; `why` is for readers of the code, and is listed in `tests/models/base/test_reach.py`."""
    if not why:
        raise ValueError("say why")
    return _EVERYWHERE


class ScopedConnection(asyncpg.Connection):  # type: ignore[misc] # the driver ships no types
    """A connection that says whose transaction it is together with BEGIN, which costs no round trip."""

    reach: TenantScope = NO_TENANT
    """Of the transaction that begins next."""
    standing_reach: TenantScope | None = None
    """Of single statements, as it was said last; null where nothing was."""

    async def execute(self, query: str, *args: object, timeout: float | None = None) -> str:  # noqa: ASYNC109
        """As the driver's; BEGIN is followed by the reach, unless the connection has it already."""
        if not args and query.startswith("BEGIN") and self.standing_reach != self.reach:
            query += self.reach.said(local=True)
        status: str = await super().execute(query, *args, timeout=timeout)
        return status

    async def stand(self, reach: TenantScope) -> None:
        """Have single statements reach so far; a round trip where it differs from the last."""
        if self.standing_reach != reach:
            self.standing_reach = None
            await self.execute(reach.said(local=False))
            self.standing_reach = reach

    async def begin(self, reach: TenantScope) -> None:
        """Begin a transaction without the driver's help; the caller ends it likewise."""
        self.reach = reach
        await self.execute("BEGIN;")

    async def turn(self, reach: TenantScope) -> None:
        """Have the transaction that is open reach so far from now on; a round trip."""
        await self.execute(reach.said(local=True))
