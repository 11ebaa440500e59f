"""Migrations: what they make is what the tables say, and each can be taken back and made again."""

from alembic import command
from sqlalchemy import make_url

from models.migrations.__main__ import config
from stack.postgres import Postgres

REVISIONS = ("0003", "0002", "0001", "base")
TABLES = "select table_name from information_schema.tables where table_schema = 'public' order by 1"
VIEW = "select pg_get_viewdef('waiting_rows'::regclass)"


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
