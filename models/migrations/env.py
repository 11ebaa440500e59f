"""What Alembic runs: migrations over one asyncpg connection, in one transaction."""

import asyncio

from alembic import context
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool
from sqlmodel import SQLModel

from models.base import tables as base_tables
from models.base.database import CONNECT_SECONDS
from models.base.tenants import UNHELD


def _included(_object: object, name: str | None, kind: str, _reflected: object, _compared: object) -> bool:
    return kind != "table" or name in base_tables.Row.metadata.tables


def _migrate(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=SQLModel.metadata,
        compare_server_default=True,
        include_object=_included,
    )
    with context.begin_transaction():
        context.run_migrations()


async def _run() -> None:
    engine = create_async_engine(
        context.config.attributes["url"],
        poolclass=NullPool,
        connect_args={"server_settings": UNHELD, "timeout": CONNECT_SECONDS},
    )
    async with engine.connect() as connection:
        await connection.run_sync(_migrate)
    await engine.dispose()


asyncio.run(_run())
