"""Row-level security: the net under the scoped queries, over every owned table there is."""

import ast
import copy
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, delete, insert, make_url, select, text, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import SQLModel

import models.tables  # noqa: F401 - makes the metadata whole
from models.base import tables as base_tables
from models.base.database import Database, sqlstate, widened
from models.base.tenants import NO_TENANT, ROLE, Tenant, TenantScope, all_tenants, scope_of_tenant, scope_of_workspace

NOBODYS = {
    "companies": "what is known of companies is the installation's",
    "company_keys": "of companies",
    "housekeeping": "duties of the installation",
    "oauth_clients": "programmes that people sign in with; whom they serve is in the grants",
    "network_endpoints": "where the outreach provider calls the installation",
    "payment_callbacks": "raw and sealed; whose it is shows only when it is read",
    "people": "a person is one in the installation; what a tenant has of them is elsewhere",
    "person_keys": "of people, hashed or sealed",
    "cached_profiles": "the profile cache is the installation's; the right to a copy is in profile_copies",
    "recoveries": "restores of the installation",
    "query_totals": "how many people a query has, for every caller",
    "rate_windows": "counted before it is known whose request it is",
    "service_clock": "one row",
    "signup_counts": "by network, before there is a workspace",
    "upstream_slots": "calls at once in the installation",
}
"""Tables without an owner, and the reason."""
THROUGH = {
    "cap_notices": ("account_id", "acc"),
    "network_callbacks": ("account_id", "acc"),
    "oauth_grants": ("id", "key"),
    "oauth_tokens": ("grant_id", "key"),
}
"""Tables that name their owner by another row alone: which column, of what."""
OWNERS = {"outreach_accounts": "acc", "api_keys": "key"}
REFUSED = "42501"  # insufficient_privilege: a row that the policy does not let in


def tables() -> dict[str, Table]:
    assert base_tables.WAITING
    return dict(SQLModel.metadata.tables)


OWNED = sorted(set(tables()) - set(NOBODYS))
OF_CUSTOMERS = [one for one in OWNED if "tenant_id" in tables()[one].columns or THROUGH.get(one, ("", ""))[1] == "acc"]
A, B = Tenant("ws_a"), Tenant("ws_b")
CUSTOMERS = (Tenant("ws_a", "cus_1"), Tenant("ws_a", "cus_2"))
WRITTEN = (A, *CUSTOMERS, B)


def whole(name: str) -> Table:
    return tables()[name]


def belongs(name: str, tenant: Tenant) -> dict[str, Any]:
    """The columns that say whose a row is."""
    columns = set(whole(name).columns.keys())
    said = {"workspace_id": tenant.workspace_id, "tenant_id": tenant.id}
    if name == "workspaces":
        return {"id": tenant.workspace_id}
    if name in THROUGH:
        column, prefix = THROUGH[name]
        return {column: f"{prefix}_{tenant.id}"}
    return {column: value for column, value in said.items() if column in columns}


LOOSEN = """do $$ declare c record; begin
  for c in select conname from pg_constraint where conrelid = '{0}'::regclass and contype in ('c', 'f', 'u', 'p') loop
    execute format('alter table {0} drop constraint %I cascade', c.conname);
  end loop;
  for c in select attname from pg_attribute where attrelid = '{0}'::regclass and attnum > 0 and attnotnull
           and not attisdropped loop
    execute format('alter table {0} alter %I drop not null', c.attname);
  end loop;
  for c in select indexrelid::regclass as index from pg_index where indrelid = '{0}'::regclass and indisunique loop
    execute format('drop index %s', c.index);
  end loop;
end $$"""


def loosened(name: str) -> str:
    """Have a table take a row that says nothing but whose it is. Its policies stay as they are."""
    return LOOSEN.format(name)


def rows() -> list[str]:
    """A row of each tenant in every owned table; accounts and keys have ids that others name."""
    found = []
    for name in OWNED:
        for tenant in WRITTEN:
            said = belongs(name, tenant) | ({"id": f"{OWNERS[name]}_{tenant.id}"} if name in OWNERS else {})
            values = ", ".join(f"'{value}'" for value in said.values())
            found.append(f"insert into {name} ({', '.join(said)}) values ({values})")
    return found


@pytest.fixture(scope="module")
async def database(module_database_url: str, postgres_server: Any) -> AsyncIterator[Database]:
    """A row in every owned table for each of four tenants, written without regard to what a row has to say."""
    name = make_url(module_database_url).database or ""
    prepared = ["set session_replication_role = replica", *map(loosened, OWNED), *rows()]
    postgres_server.sql(";".join(prepared), database=name)
    opened = Database(module_database_url, pool_size=2)
    yield opened
    await opened.close()


async def seen(database: Database, name: str, reach: TenantScope) -> list[tuple[Any, ...]]:
    """Whose rows an unscoped query over a table finds."""
    columns = [whole(name).c[column] for column in belongs(name, A)]
    async with database.within(reach).transaction() as session:
        return sorted(tuple(row) for row in await session.execute(select(*columns)))


def of(name: str, *tenants: Tenant) -> list[tuple[Any, ...]]:
    return sorted(tuple(belongs(name, tenant).values()) for tenant in tenants)


async def test_an_unscoped_query_returns_nothing_and_writes_nothing(database: Database) -> None:
    for name in OWNED:
        assert await seen(database, name, NO_TENANT) == [], name
        column = next(iter(belongs(name, A)))
        async with database.transaction() as session:
            changed = await session.execute(update(whole(name)).values({column: whole(name).c[column]}))
            gone = await session.execute(delete(whole(name)))
        assert (changed.rowcount, gone.rowcount) == (0, 0)  # type: ignore[attr-defined] # a cursor's
        assert await refuses(database, name, NO_TENANT, A), name


async def test_a_workspace_reaches_its_own_rows_and_those_of_its_customers(database: Database) -> None:
    for name in OWNED:
        all_rows = WRITTEN if name != "workspaces" else (A, A, A, B)
        assert await seen(database, name, scope_of_workspace("ws_a")) == of(name, *all_rows[:3]), name
        assert await seen(database, name, scope_of_tenant(B)) == of(name, B), name
        assert await seen(database, name, all_tenants("a test")) == of(name, *all_rows), name


async def test_a_customer_reaches_its_own_rows_alone(database: Database) -> None:
    for name in OF_CUSTOMERS:
        for customer in CUSTOMERS:
            assert await seen(database, name, scope_of_tenant(customer)) == of(name, customer), name
        assert await refuses(database, name, scope_of_tenant(CUSTOMERS[0]), CUSTOMERS[1]), name
        assert await refuses(database, name, scope_of_tenant(CUSTOMERS[0]), A), name


async def test_a_row_of_another_workspace_is_neither_written_nor_given_away(database: Database) -> None:
    for name in OWNED:
        assert await refuses(database, name, scope_of_tenant(A), B), name
        async with database.within(scope_of_tenant(A)).transaction() as session:
            taken = await session.execute(update(whole(name)).where(mine(name, B)).values(belongs(name, A)))
            assert taken.rowcount == 0  # type: ignore[attr-defined] # a cursor's
        with pytest.raises(DBAPIError) as given:
            async with database.within(scope_of_tenant(A)).transaction() as session:
                await session.execute(update(whole(name)).where(mine(name, A)).values(belongs(name, B)))
        assert sqlstate(given.value) == REFUSED


def mine(name: str, tenant: Tenant) -> Any:
    return text(" and ".join(f"{column} = '{value}'" for column, value in belongs(name, tenant).items()))


async def refuses(database: Database, name: str, reach: TenantScope, tenant: Tenant) -> bool:
    """Whether a row of this tenant is not let in, by the policy and by nothing else."""
    columns = {name: text(f"'{value}'") for name, value in belongs(name, tenant).items()}
    with pytest.raises(DBAPIError) as refused:
        async with database.within(reach).transaction() as session:
            await session.execute(insert(whole(name)).from_select(list(columns), select(*columns.values())))
    return sqlstate(refused.value) == REFUSED


async def test_every_table_is_owned_or_listed_with_a_reason(database: Database) -> None:
    async with database.transaction() as session:
        held = await session.execute(
            text("select relname from pg_class where relkind in ('r', 'p') and relrowsecurity and relforcerowsecurity")
        )
        assert sorted(held.scalars()) == OWNED
    named = [name for name, table in tables().items() if {"workspace_id", "tenant_id"} & set(table.columns.keys())]
    assert not set(named) & set(NOBODYS)


async def test_the_service_acts_as_a_role_that_may_change_no_table(database: Database) -> None:
    async with database.within(all_tenants("a test")).transaction() as session:
        assert await session.scalar(text("select current_user")) == ROLE
        role = (await session.execute(text("select * from pg_roles where rolname = current_user"))).mappings().one()
        assert not any(role[f"rol{power}"] for power in ("super", "bypassrls", "createrole", "createdb", "canlogin"))
        assert not await session.scalar(
            text("select count(*) from pg_class where relowner = (select oid from pg_roles where rolname = :r)"),
            {"r": ROLE},
        )
    for statement in ("create table x (id int)", "drop table runs", "truncate runs", "alter table runs disable rule x"):
        with pytest.raises(DBAPIError) as refused:
            async with database.within(all_tenants("a test")).transaction() as session:
                await session.execute(text(statement))
        assert sqlstate(refused.value) == REFUSED


async def test_a_view_reaches_no_further_than_its_tables(database: Database) -> None:
    async with database.within(scope_of_tenant(B)).transaction() as session:
        assert await session.scalar(text("select count(*) from waiting_rows where kind = 'run'")) == 1


@pytest.mark.parametrize("pooler", ["none", "pgbouncer"])
async def test_no_connection_remembers_whom_it_was_for(database: Database, pooler: str) -> None:
    """Readings, single statements and transactions of different workspaces take turns on two connections."""
    database = copy.copy(database)
    if pooler == "pgbouncer":  # what the name in the URL decides; the connections behave alike
        database._pooled = True
        database.statements = copy.copy(database.statements)
        database.statements._remembers = False
    for reach, count in (
        (scope_of_tenant(A), 3),
        (NO_TENANT, 0),
        (scope_of_tenant(B), 1),
        (all_tenants("a test"), 4),
        (NO_TENANT, 0),
    ):
        scoped = database.within(reach)
        for _ in range(3):
            async with scoped.reading() as session:
                assert await counted(session) == count
            async with scoped.transaction() as session:
                assert await counted(session) == count
            row = await scoped.statements.one(Counted, "select count(*) as runs from runs")
            assert row is not None
            assert row.runs == count


class Counted:
    runs: int


async def counted(session: AsyncSession) -> int:
    return int(await session.scalar(text("select count(*) from runs")) or 0)


async def test_a_transaction_reaches_further_only_while_it_says_so(database: Database) -> None:
    async with database.within(scope_of_tenant(A)).transaction() as session:
        assert await counted(session) == 3
        async with widened(session, all_tenants("a test")):
            assert await counted(session) == 4
        assert await counted(session) == 3


@pytest.mark.parametrize("value", ["ws_a'; reset role; --", "WS", "a b", "**"])
def test_only_ids_are_said(value: str) -> None:
    with pytest.raises(ValueError, match="not an id"):
        TenantScope(value, "")
    with pytest.raises(ValueError, match="not an id"):
        scope_of_tenant(Tenant("ws_a", value))


ROOT = Path(__file__).parents[3]


def reasons() -> list[tuple[str, str]]:
    """Every place of the product that looks over all workspaces, and why."""
    found = []
    for folder in ("api", "activities", "models", "workflows", "worker.py", "stack"):
        place = ROOT / folder
        for path in sorted(place.rglob("*.py") if place.is_dir() else [place]):
            source = path.read_text()
            for node in ast.walk(ast.parse(source)) if "all_tenants(" in source else ():
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "all_tenants":
                    [why] = node.args
                    found.append((str(path.relative_to(ROOT)), ast.literal_eval(why)))
    return sorted(found)


EVERYWHERE = [
    ("activities/reread.py", "after a restore, the payments of every workspace are read again"),
    ("api/kernel/kernel.py", "operations without a key: signing up, confirming, callbacks, plans"),
    ("api/outreach/callbacks.py", "a callback of the outreach provider may name any workspace's account"),
    ("models/access/store/keys.py", "the key of a request says whose it is"),
    ("models/erase.py", "an operator erases a person from the installation"),
    ("models/outreach/store/calendars.py", "what a network account did in whichever record"),
    ("models/outreach/store/calendars.py", "what a network account did in whichever record"),
    ("models/people/store/people.py", "two ids turn out to be one person in all accounts"),
    ("models/people/store/profiles.py", "whether another tenant has a right to a cached profile"),
    ("models/people/store/suppressions.py", "whether another account has a right to know a person"),
    ("models/recover.py", "after a restore, what every account does next is read back first"),
    ("models/sourcing/engine/calls.py", "how many upstream calls wait in the installation"),
    ("worker.py", "steps are given rows by their ids, and clean up for the installation"),
]


def test_every_place_that_looks_over_all_workspaces_is_known() -> None:
    assert reasons() == EVERYWHERE
