"""The database: engine, transactions, the repetition of deadlocks, and the locks of people.

Locks are taken in this order everywhere: workspace settings, account, sequence, people (sorted), enrollment, actions
(by id), conversation, run, leads (inserted sorted), grants (expires_at, id), key and customer counters, idempotency
completion, event clock.
"""

import asyncio
import copy
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar, cast

import asyncpg
from sqlalchemy import Connection, event, text
from sqlalchemy.exc import DBAPIError, InvalidatePoolError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry, NullPool
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from models.base.tenants import NO_TENANT, ROLE, ScopedConnection, TenantScope

T = TypeVar("T")

REPEATABLE = {"40P01", "40001"}  # deadlock detected, serialization failure
LOCK_NOT_AVAILABLE = "55P03"
LOCK_TIMEOUT = "2s"
STATEMENT_TIMEOUT = "10s"
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 20.0
"""How long the server may stay silent: longer than any statement may take, so that only a hung one is given up."""
POOL_SECONDS = 10.0
IDLE_TIMEOUT = "15s"
"""The server ends a transaction whose process is silent for this long: a frozen process keeps no locks."""
LAST_WORK = "before_commit"
CACHED_SCOPES = 1024
"""For how many workspaces and customers a process keeps the engines."""
AUTOCOMMIT = "AUTOCOMMIT"


class Database:
    """PostgreSQL for one process. `pool_size` 0 opens a connection for each transaction (tests).

    Its transactions see no row until `within` has set the tenant scope.
    """

    def __init__(self, url: str, *, pool_size: int = 16) -> None:
        pool: dict[str, Any] = {"poolclass": NullPool}
        if pool_size:
            pool = {"pool_size": pool_size, "max_overflow": 0, "pool_timeout": POOL_SECONDS}
        self.scope = NO_TENANT
        self._pooled = "pgbouncer" in url
        connect_args: dict[str, Any] = {
            "timeout": CONNECT_SECONDS,
            "command_timeout": ANSWER_SECONDS,
            "statement_cache_size": 0 if self._pooled else 512,
            "connection_class": ScopedConnection,
            "server_settings": {
                "role": ROLE,
                "lock_timeout": LOCK_TIMEOUT,
                "statement_timeout": STATEMENT_TIMEOUT,
                "idle_in_transaction_session_timeout": IDLE_TIMEOUT,
                "timezone": "UTC",
                "application_name": "service",
            },
        }
        self.engine = create_async_engine(url, **pool, connect_args=connect_args)
        event.listen(self.engine.sync_engine, "checkout", _refuse_closed)
        event.listen(self.engine.sync_engine, "begin", _set_scope)
        self.statements = Statements(url, most=pool_size or 4, connect_args=connect_args)
        self._engines = lru_cache(maxsize=CACHED_SCOPES)(self._engines_of)

    def within(self, scope: TenantScope) -> "Database":
        """Return the same database in this tenant scope; connections are shared."""
        narrowed = copy.copy(self)
        narrowed.scope = scope
        narrowed.statements = self.statements.within(scope)
        return narrowed

    def _engines_of(self, scope: TenantScope) -> tuple[AsyncEngine, AsyncEngine]:
        """Return the engines for transactions and for single statements, cached: making them costs more than a read."""
        engine = self.engine.execution_options(scope=scope, remembers=not self._pooled)
        return engine, engine.execution_options(isolation_level=AUTOCOMMIT)

    @property
    def _engine(self) -> AsyncEngine:
        return self._engines(self.scope)[0]

    @property
    def _autocommit(self) -> AsyncEngine:
        return self._engines(self.scope)[1]

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        """Open a transaction, committed at the end of the block, rolled back when it raises."""
        async with AsyncSession(self._engine, expire_on_commit=False) as session, session.begin():
            session.info[LAST_WORK] = []
            yield session
            if session.in_transaction():  # a preview has rolled back
                await _finish(session)

    @asynccontextmanager
    async def autocommit(self) -> AsyncIterator[AsyncConnection]:
        """Open a connection on which every statement is a transaction of its own: one round trip each."""
        async with self._autocommit.connect() as connection:
            yield connection

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncSession]:
        """Open a session for reading, without a transaction around its statements.

        Behind a pooler, where a connection keeps no settings, it is a transaction.
        """
        engine = self._engine if self._pooled else self._autocommit
        session = AsyncSession(engine, expire_on_commit=False)
        try:
            yield session
        finally:
            if session.in_transaction():  # it was used: its connection goes back
                await session.close()

    async def run(self, work: Callable[[AsyncSession], Awaitable[T]]) -> T:
        """Run `work` in one transaction; a deadlock or serialization failure repeats the whole of it."""
        async for attempt in AsyncRetrying(
            retry=retry_if_exception(_is_repeatable),
            stop=stop_after_attempt(5),
            wait=wait_random_exponential(multiplier=0.02, max=0.5),
            reraise=True,
        ):
            with attempt:
                async with self.transaction() as session:
                    return await work(session)
        raise AssertionError("unreachable: the retry either returns or raises")

    async def renew(self) -> None:
        """Close every idle connection: they lead to a server that has been restarted."""
        await self.statements.renew()
        await self.engine.dispose()

    async def close(self) -> None:
        """Close every connection."""
        await self.engine.dispose()
        await self.statements.close()


def _refuse_closed(_: object, entry: ConnectionPoolEntry, __: object) -> None:
    """Have the pool open new connections once the driver has seen one of them close: the server was restarted.

    It costs no round trip, and no request meets the dead connections that a restart leaves in the pool.
    """
    driver: asyncpg.Connection[_Record] | None = entry.driver_connection
    if driver is None or driver.is_closed():
        raise InvalidatePoolError


def _set_scope(connection: Connection) -> None:
    """Have the driver set the tenant scope: with BEGIN, or before a single statement where it differs."""
    options = connection.get_execution_options()
    scope: TenantScope = options.get("scope", NO_TENANT)
    raw = connection.connection
    driver = raw.driver_connection
    if not isinstance(driver, ScopedConnection):
        raise TypeError("a connection that cannot be held to its workspace")
    driver.scope = scope
    stays = scope.is_everywhere and options.get("remembers", False)  # as in a worker, whose transactions are all alike
    if stays or options.get("isolation_level") == AUTOCOMMIT:
        cast(Any, raw.dbapi_connection).run_async(lambda known: known.set_for_connection(scope))


CONNECTION_LOST = (
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # the farewell of the server came while the driver was speaking
    OSError,
)
"""What a single statement raises when its connection turns out to be gone: the server was restarted."""


def unreachable(error: BaseException) -> bool:
    """Return whether an error means that the database is gone, hangs, or has no connection for us."""
    cause = error.orig.__cause__ if isinstance(error, DBAPIError) and error.orig is not None else error
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    return isinstance(cause, _UNREACHABLE) or (isinstance(cause, asyncpg.InterfaceError) and "closed" in str(cause))


_UNREACHABLE = (
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    ConnectionError,
    TimeoutError,
    PoolTimeoutError,
)


class _Record(asyncpg.Record):  # type: ignore[misc] # the driver ships no types
    """A row whose columns are attributes, as those of the tables' rows are."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - a column of any type
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Statements:
    """Single statements, each a transaction of its own, straight to the driver over a few connections of their own.

    For what every request does: a tenth of the work that a session makes of one row. Those of the scope of every
    workspace have connections of their own, so that it need not be set each time.
    """

    def __init__(self, url: str, *, most: int, connect_args: dict[str, Any]) -> None:
        self._scope = NO_TENANT
        self._remembers = "pgbouncer" not in url
        self._pools = {
            is_everywhere: _Pool(url.replace("+asyncpg", ""), most=most, connect_args=connect_args)
            for is_everywhere in (False, True)
        }

    def within(self, scope: TenantScope) -> "Statements":
        """Return the same connections in this tenant scope."""
        narrowed = copy.copy(self)
        narrowed._scope = scope  # noqa: SLF001 - another self
        return narrowed

    async def one(self, kind: type[T], statement: str, *values: object) -> T | None:
        """Return the row of a statement, null for none, with columns as attributes.

        `kind` is its type: a table's row class, or a class with the same attributes. It is no entity: changing it
        saves nothing.
        """
        pool = await self._pools[self._scope.is_everywhere].opened()
        async with pool.acquire(timeout=POOL_SECONDS) as connection:
            if self._remembers:
                await connection.set_for_connection(self._scope)
                return cast(T | None, await connection.fetchrow(statement, *values))
            await connection.begin(self._scope)
            try:
                return cast(T | None, await connection.fetchrow(statement, *values))
            finally:
                await connection.execute("COMMIT")  # after an error it rolls back

    async def renew(self) -> None:
        """Replace every connection before its next use."""
        for pool in self._pools.values():
            await pool.renew()

    async def close(self) -> None:
        """Close the connections."""
        for pool in self._pools.values():
            await pool.close()


class _Pool:
    """Connections of the driver, opened when they are first needed."""

    def __init__(self, url: str, *, most: int, connect_args: dict[str, Any]) -> None:
        self._url = url
        self._most = most
        self._connect_args = connect_args
        self._opening = asyncio.Lock()
        self._pool: asyncpg.Pool[_Record] | None = None

    async def opened(self) -> "asyncpg.Pool[_Record]":
        """Return the pool, opened on first use."""
        if self._pool is not None:
            return self._pool
        async with self._opening:
            if self._pool is None:
                self._pool = await asyncpg.create_pool(
                    self._url,
                    min_size=0,
                    max_size=self._most,
                    init=_read_json,
                    reset=_leave_as_it_is,
                    record_class=_Record,
                    **self._connect_args,
                )
            return self._pool

    async def renew(self) -> None:
        """Replace every connection before its next use."""
        if self._pool is not None:
            await self._pool.expire_connections()

    async def close(self) -> None:
        """Close the connections."""
        if self._pool is not None:
            await self._pool.close()
            self._pool = None


async def _read_json(connection: "asyncpg.Connection[_Record]") -> None:
    await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=json.dumps, decoder=json.loads)


async def _leave_as_it_is(_: "asyncpg.Connection[_Record]") -> None:
    """Single statements leave no session state behind: the driver's round trip to clear it is not needed."""


def sqlstate(error: BaseException) -> str | None:
    """Return the SQLSTATE of a database error, null for anything else."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    state: str | None = getattr(cause, "sqlstate", None)
    return state


def constraint(error: BaseException) -> str | None:
    """Return the constraint (or column) that a database error names: what failed, without the values."""
    cause = getattr(error.orig, "__cause__", None) if isinstance(error, DBAPIError) else None
    return getattr(cause, "constraint_name", None) or getattr(cause, "column_name", None)


def _is_repeatable(error: BaseException) -> bool:
    return sqlstate(error) in REPEATABLE


def before_commit(session: AsyncSession, work: Callable[[AsyncSession], Awaitable[None]]) -> None:
    """Run `work` as the last statements of this transaction, after everything else that it writes.

    Raises `RuntimeError` for a session that is not inside `Database.transaction` or `run`: nothing would do the work.
    """
    if LAST_WORK not in session.info:
        raise RuntimeError("this session commits nothing")
    session.info[LAST_WORK].append(work)


async def _finish(session: AsyncSession) -> None:
    last_work = session.info[LAST_WORK]
    if last_work:
        await session.flush()
    for work in last_work:
        await work(session)


LOCK_PEOPLE = text(
    """
    with asked as (select id, alias_of from people where id = any(cast(:ids as text[])))
    select count(*) from (
      select from people where id in (select id from asked union select alias_of from asked) order by id
         for no key update
    ) as held
    """
)


async def lock_people_rows(session: AsyncSession, profile_ids: Iterable[str]) -> None:
    """Lock these people, and those whose aliases they are, until the transaction ends, in sorted order.

    All work that stores, delivers, charges for or writes to a person, or forbids it, takes this lock and then reads
    again. It is a lock of the person's row: one transaction may hold any number, and others may still refer to the row.
    """
    await session.execute(LOCK_PEOPLE, {"ids": sorted(set(profile_ids))})


@asynccontextmanager
async def widened(session: AsyncSession, scope: TenantScope) -> AsyncIterator[None]:
    """Give a transaction or a reading a wider tenant scope inside the block; two round trips."""
    connection = await session.connection()
    options = connection.sync_connection.get_execution_options() if connection.sync_connection is not None else {}
    before: TenantScope = options.get("scope", NO_TENANT)
    if before == scope:
        yield
        return
    driver: ScopedConnection = (await connection.get_raw_connection()).driver_connection  # type: ignore[assignment] # our class
    autocommit = options.get("isolation_level") == AUTOCOMMIT
    set_scope = driver.set_for_connection if autocommit else driver.set_for_transaction
    await session.flush()
    await set_scope(scope)
    yield
    await session.flush()
    await set_scope(before)  # after an error the transaction is over, and a reading sets it again


# Service time, read from PostgreSQL after the locks are held.


NOW = text("select service_now()")


async def service_time(session: AsyncSession) -> datetime:
    """The service's present moment, UTC, in milliseconds."""
    now: datetime = (await session.execute(NOW)).scalar_one()
    return now
