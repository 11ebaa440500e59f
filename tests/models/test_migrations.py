"""Migrations: what they make is what the tables say, and each can be taken back and made again."""

import re
from collections.abc import Mapping

from alembic import command
from sqlalchemy import CheckConstraint, make_url
from sqlmodel import SQLModel

from models.migrations.__main__ import config
from stack.postgres import Postgres

REVISIONS = ("0003", "0002", "0001", "base")
TABLES = "select table_name from information_schema.tables where table_schema = 'public' order by 1"
VIEW = "select pg_get_viewdef('waiting_rows'::regclass)"

CHECKS = """
    select conrelid::regclass || ' ' || conname || ' ' || replace(pg_get_constraintdef(oid), chr(10), ' ')
      from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace
"""


def words_of_checks(definitions: Mapping[str, str]) -> dict[str, set[str]]:
    """Return the quoted words of each CHECK, by table and name."""
    return {name: set(re.findall(r"'([^']*)'", sql)) for name, sql in definitions.items()}


def test_migrations_make_what_the_tables_say(database_url: str) -> None:
    command.check(config(database_url))


def test_every_migration_is_taken_back_and_made_again(database_url: str, postgres_server: Postgres) -> None:
    alembic, name = config(database_url), make_url(database_url).database or ""
    before = [postgres_server.sql(query, database=name) for query in (TABLES, VIEW)]
    for revision in REVISIONS:
        command.downgrade(alembic, revision)
    assert "jobs" not in str(postgres_server.sql(TABLES, database=name))
    command.upgrade(alembic, "head")
    assert [postgres_server.sql(query, database=name) for query in (TABLES, VIEW)] == before
    command.check(alembic)


def test_every_check_in_the_database_holds_the_words_of_the_tables(
    database_url: str, postgres_server: Postgres
) -> None:
    rows = postgres_server.sql(CHECKS, database=make_url(database_url).database or "").strip().splitlines()
    made = {" ".join(row.split(" ", 2)[:2]): row.split(" ", 2)[2] for row in rows}
    said = {
        f"{table.name} {check.name}": str(check.sqltext)
        for table in SQLModel.metadata.tables.values()
        for check in table.constraints
        if isinstance(check, CheckConstraint)
    }
    assert words_of_checks(made) == words_of_checks(said)
