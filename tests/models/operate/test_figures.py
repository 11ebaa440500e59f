"""The operator's figures: right, and read by indexes whatever the size of the tables."""

import json
from typing import Any

import pytest
from sqlalchemy import text

from models.base.database import Database
from models.base.tenants import all_tenants
from models.operate import metrics

pytestmark = pytest.mark.timeout(60)

SMALL = {"outreach_accounts"}
"""An installation has as many as it has owners."""


def scanned(node: dict[str, Any]) -> set[str]:
    """Tables that a plan reads from end to end."""
    found = {node["Relation Name"]} if node["Node Type"] == "Seq Scan" else set()
    return found.union(*(scanned(each) for each in node.get("Plans", [])))


@pytest.mark.parametrize("name", [*metrics.STATEMENTS, *metrics.WAITING_ROWS])
async def test_no_figure_needs_a_table_scan(module_database_url: str, name: str) -> None:
    statement, values = metrics.STATEMENTS.get(name) or (metrics.WAITING_ROWS[name], {"most": metrics.MOST_COUNTED})
    database = Database(module_database_url, pool_size=0).within(all_tenants("tests"))
    async with database.transaction() as session:
        # Empty tables are scanned because that is cheapest; what matters is whether another way exists.
        await session.execute(text("set local enable_seqscan = off"))
        plan = (await session.execute(text(f"explain (format json) {statement}"), values)).scalar_one()
    await database.close()
    tree = plan if isinstance(plan, list) else json.loads(plan)
    assert scanned(tree[0]["Plan"]) - SMALL == set()


async def test_a_grant_that_is_not_its_ledger_is_found_and_the_pass_comes_to_its_end(database_url: str) -> None:
    database = Database(database_url, pool_size=0).within(all_tenants("tests"))
    async with database.transaction() as session:
        await session.execute(
            text(
                "insert into workspaces (id, name, email, email_key, marketing_opt_in, low_balance_credits, created_at)"
                " values ('ws_1', 'A', 'a@example.com', 'a@example.com', false, 250, now())"
            )
        )
        await session.execute(
            text(
                "insert into grants (id, workspace_id, source, reference, granted_credits, remaining_credits,"
                " expires_at, created_at) values ('gr_1', 'ws_1', 'signup', 'x', 10, 10, now(), now())"
            )
        )
    async with database.reading() as session:
        assert await metrics.mismatched_grants(session, after="") == (1, "ws_1")
        assert await metrics.mismatched_grants(session, after="ws_1") == (0, "")
    await database.close()


async def test_an_empty_installation_has_nothing_to_show(database_url: str) -> None:
    database = Database(database_url, pool_size=0).within(all_tenants("tests"))
    async with database.reading() as session:
        read = await metrics.read_figures(session)
    await database.close()
    assert (read.undelivered, read.oldest_undelivered, read.open_runs) == (0, None, {})
