"""Whose rows a transaction may see and write: what row-level security holds every statement to.

Queries are scoped by themselves; this is the net under them. A transaction of which nobody has said whose it is reaches
nothing. What looks over all workspaces by design says so with `everywhere` and why, and is listed in a test.
"""

import re
from dataclasses import dataclass

import asyncpg

from models.tenancy import Tenant

ROLE = "service_app"
"""What the service's processes act as: it owns nothing, may change rows but no table, and is held to the policies."""
ALL = "*"
UNHELD = {"app.workspace": ALL, "app.tenant": ALL}
"""Settings of a connection of the tables' owner, whom the policies hold too: migrations, benchmarks."""
PLAIN = re.compile(r"[a-z0-9_]*|\*")


@dataclass(frozen=True, slots=True)
class Reach:
    """A workspace, and a customer in it or all of it; two empty texts are nobody. Use the functions of this module."""

    workspace_id: str
    tenant_id: str

    def __post_init__(self) -> None:
        if not (PLAIN.fullmatch(self.workspace_id) and PLAIN.fullmatch(self.tenant_id)):
            raise ValueError("an id of another make")

    @property
    def is_everywhere(self) -> bool:
        """Whether every workspace is reached."""
        return self.workspace_id == ALL

    def said(self, *, local: bool) -> str:
        """The statements that say it, for this transaction (`local`) or for the connection."""
        how = "SET LOCAL" if local else "SET"
        return f"{how} app.workspace='{self.workspace_id}';{how} app.tenant='{self.tenant_id}';"


NOWHERE = Reach("", "")
_EVERYWHERE = Reach(ALL, ALL)


def of_workspace(workspace_id: str) -> Reach:
    """The workspace with all its customers."""
    return Reach(workspace_id, ALL)


def of_tenant(tenant: Tenant) -> Reach:
    """The customer, or for the account itself the workspace with all its customers."""
    return Reach(tenant.workspace_id, tenant.customer_id or ALL)


def everywhere(why: str) -> Reach:
    """Every workspace; `why` is for whoever reads it, and is listed in `tests/models/test_reach.py`."""
    if not why:
        raise ValueError("say why")
    return _EVERYWHERE


class ReachingConnection(asyncpg.Connection):  # type: ignore[misc] # the driver ships no types
    """A connection that says whose transaction it is together with BEGIN, which costs no round trip."""

    reach: Reach = NOWHERE
    """Of the transaction that begins next."""
    standing_reach: Reach | None = None
    """Of single statements, as it was said last; null where nothing was."""

    async def execute(self, query: str, *args: object, timeout: float | None = None) -> str:  # noqa: ASYNC109
        """As the driver's; BEGIN is followed by the reach, unless the connection has it already."""
        if not args and query.startswith("BEGIN") and self.standing_reach != self.reach:
            query += self.reach.said(local=True)
        status: str = await super().execute(query, *args, timeout=timeout)
        return status

    async def stand(self, reach: Reach) -> None:
        """Have single statements reach so far; a round trip where it differs from the last."""
        if self.standing_reach != reach:
            self.standing_reach = None
            await self.execute(reach.said(local=False))
            self.standing_reach = reach

    async def begin(self, reach: Reach) -> None:
        """Begin a transaction without the driver's help, for whoever ends it likewise."""
        self.reach = reach
        await self.execute("BEGIN;")

    async def turn(self, reach: Reach) -> None:
        """Have the transaction that is open reach so far from now on; a round trip."""
        await self.execute(reach.said(local=True))
