"""The kernel: permission, preview, idempotency, transaction and follow-ups of every operation, in one place."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

import structlog
from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncSession
from temporalio.service import RPCError

from api.kernel.operation import Context, Effect, Operation, Reference
from models.access.rules.keys import Caller
from models.base import idempotency, ids
from models.base.database import LOCK_NOT_AVAILABLE, Database, service_time, sqlstate
from models.base.errors import (
    Conflict,
    Forbidden,
    IdempotencyInProgress,
    IdempotencyKeyRequired,
    IdempotencyKeyReused,
    InsufficientScope,
    Unauthorized,
    UpstreamBusy,
)
from models.base.idempotency import KeyClaim, KeyStanding, Use
from models.base.secrets import Vault
from models.base.settings import Settings
from models.base.steps import Subject
from models.base.tenants import Tenant, all_tenants, scope_of_tenant, scope_of_workspace
from models.sourcing.engine import calls
from models.sourcing.rules.raw_calls import BUSY_RETRY_SECONDS, WAIT_SECONDS
from workflows.upstream_calls import UpstreamCalls

B = TypeVar("B")

FIRST_LOOK_SECONDS = 0.03
LOOK_SECONDS = 0.25
START_SECONDS = 5
LEFT_SECONDS = 3
"""Seconds for which a stopping process lets a caller wait; less than its drain time."""

log = structlog.get_logger()


class StillRunning(Exception):
    """The caller's waiting time is over, but the call continues; an equal request attaches to it."""


class UpstreamCaller:
    """Starts upstream calls and waits for their rows; `seconds` is the longest wait of a caller.

    Once `stopping` is set, a caller waits at most `LEFT_SECONDS`: the upstream call continues without this process.
    """

    def __init__(
        self,
        database: Database,
        calls: UpstreamCalls,
        *,
        seconds: float = WAIT_SECONDS,
        stopping: asyncio.Event | None = None,
    ) -> None:
        self._database = database
        self._calls = calls
        self._seconds = seconds
        self._stopping = stopping or asyncio.Event()

    async def until_done(self, call_id: str, *, workspace_id: str) -> None:
        """Wait until the call is done.

        Raises the error with which it ended, or after the longest wait `UpstreamBusy` if it has not begun and
        `StillRunning` if it has.
        """
        clock = asyncio.get_running_loop()
        deadline = clock.time() + self._seconds
        database = self._database.within(scope_of_workspace(workspace_id))
        if not await self._started(call_id, workspace_id):
            await _give_up(database, call_id, UpstreamBusy(status=503, retry_after=BUSY_RETRY_SECONDS))
        pause = FIRST_LOOK_SECONDS
        is_stopping = False
        while not await calls.ended(database.statements, call_id):
            if self._stopping.is_set() and not is_stopping:
                is_stopping, deadline = True, min(deadline, clock.time() + LEFT_SECONDS)
            if clock.time() >= deadline:
                await _give_up(database, call_id, UpstreamBusy(status=429, retry_after=BUSY_RETRY_SECONDS))
            await asyncio.sleep(pause)
            pause = min(2 * pause, LOOK_SECONDS)

    async def _started(self, call_id: str, workspace_id: str) -> bool:
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._calls.start(call_id, workspace_id=workspace_id)
        except (RPCError, RuntimeError, TimeoutError) as error:
            log.warning("upstream call not started", call_id=call_id, error=type(error).__name__)
            return False
        return True


async def _give_up(database: Database, call_id: str, busy: UpstreamBusy) -> None:
    if await database.run(lambda session: calls.give_up_raw_call(session, call_id)):
        raise busy
    if not await calls.ended(database.statements, call_id):
        raise StillRunning


@dataclass(frozen=True, slots=True)
class Waiter:
    """The parts that waiting needs; `upstream` is null in a process that makes no upstream calls."""

    database: Database
    upstream: UpstreamCaller | None
    workspace_id: str

    async def upstream_call(self, call_id: str) -> None:
        """Wait until the call is done; raises like `UpstreamCaller.until_done`."""
        if self.upstream is None:
            raise UpstreamBusy(status=503, retry_after=BUSY_RETRY_SECONDS)
        await self.upstream.until_done(call_id, workspace_id=self.workspace_id)


@dataclass(frozen=True, slots=True)
class Awaited(Generic[B]):
    """A handler's result after it has written, or found, a row that a worker must process before the answer exists.

    `wait` returns when the row is done, or raises a documented error; `answer` builds the operation's answer in the
    transaction that completes the record of the Idempotency-Key. An equal request finds the row by `ctx.use`.
    """

    wait: Callable[[Waiter], Awaitable[None]]
    answer: Callable[[Context], Awaitable[B]]


def after_call(call_id: str, answer: Callable[[Context], Awaitable[B]]) -> Awaited[B]:
    """Return the result of a handler whose answer comes from an upstream call."""
    return Awaited(lambda waiter: waiter.upstream_call(call_id), answer)


A = TypeVar("A")

WAKE_SECONDS = 2
BODY_PURPOSE = "idempotency"
REPLAYED = "Idempotent-Replayed"
PROFILE_ID = re.compile(rf"prof_[{ids.ALPHABET}]{{{ids.LENGTH}}}".encode())


class Waker(Protocol):
    """Wakes the workflow of a changed row (`workflows.outbox.WorkflowWaker`)."""

    async def wake(self, subject: Subject, *, workspace_id: str | None = None, customer_id: str | None = None) -> None:
        """Signal the workflow of the row; start it if none is open."""


@dataclass(frozen=True, slots=True)
class OperationCall:
    """Everything about one call except its input. `now` is the service time of its admission.

    `fingerprint` covers method, path, query and body; a repeated `idempotency_key` must come with the same one.
    `network` is the network of the caller.
    """

    version: str
    now: datetime
    caller: Caller | None = None
    tenant: Tenant | None = None
    dry_run: bool = False
    idempotency_key: str | None = None
    fingerprint: bytes = b""
    network: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer of an operation, before it is converted to an older version."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shape:
    """The form of an answer: its status if executed (200 for previews), and the address of what was created."""

    status: Callable[[Any], int]
    location: Callable[[Any], str | None] | None = None


def permit(operation: Operation[Any, Any], call: OperationCall) -> None:
    """Refuse a call that the key does not allow.

    Raises `Unauthorized`, `Forbidden` (a customer-bound key on an account route), `InsufficientScope`, or
    `IdempotencyKeyRequired`.
    """
    if operation.scope is None:
        return
    if call.caller is None:
        raise Unauthorized("This call needs an API key.")
    if call.caller.power.customer_id is not None and not operation.for_customers:
        raise Forbidden("A key that is bound to a customer cannot use account routes.")
    needed = operation.scope.preview if call.dry_run else operation.scope
    if not call.caller.allows(needed):
        raise InsufficientScope(needed)
    if operation.executes and not call.dry_run and call.idempotency_key is None:
        raise IdempotencyKeyRequired


class Kernel:
    """Runs operations. Without a `waker` the dispatcher wakes every row; `upstream` waits for upstream calls."""

    def __init__(
        self,
        *,
        database: Database,
        settings: Settings,
        vault: Vault,
        reference: Reference,
        waker: Waker | None = None,
        upstream: UpstreamCaller | None = None,
    ) -> None:
        self.database = database
        self.settings = settings
        self.vault = vault
        self.reference = reference
        self.waker = waker
        self.upstream = upstream

    async def invoke(self, operation: Operation[A, B], ask: A, call: OperationCall, *, shape: Shape) -> Outcome:
        """Run an operation once, or return the stored answer of an earlier equal call. Raises documented errors."""
        permit(operation, call)
        if operation.beforehand is not None:
            await operation.beforehand(self.settings, ask)
        try:
            if operation.executes and not call.dry_run:
                return await self._once(operation, ask, call, shape)
            if operation.effect is Effect.READ:
                return await self._read(operation, ask, call, shape)
            return await self._write(operation, ask, call, shape)
        except Exception as error:
            if sqlstate(error) == LOCK_NOT_AVAILABLE:
                raise Conflict("Another call is changing this right now. Repeat the call.", retry_after=1) from error
            raise

    async def read(self, operation: Operation[A, B], ask: A, call: OperationCall) -> B:
        """Run an operation that reads, and return its answer unconverted."""
        permit(operation, call)
        async with self._database(call).reading() as session:
            return await operation.handler(self._context(operation, call, session, call.now), ask)

    async def _read(self, operation: Operation[A, B], ask: A, call: OperationCall, shape: Shape) -> Outcome:
        answer: B = await self.read(operation, ask, call)
        return _outcome(answer, call, shape)

    async def _write(self, operation: Operation[A, B], ask: A, call: OperationCall, shape: Shape) -> Outcome:
        async def work(session: AsyncSession) -> tuple[Outcome, Context]:
            context = self._context(operation, call, session, await service_time(session))
            answer = await operation.handler(context, ask)
            if call.dry_run:
                await session.rollback()
            return _outcome(answer, call, shape), context

        database = self._database(call)
        outcome, context = await database.run(work)
        if call.dry_run:
            return outcome
        await self._wake(context.woken, call)
        if context.afterwards is not None:
            outcome = _outcome(await context.afterwards(database), call, shape)
        return outcome

    async def _once(self, operation: Operation[A, B], ask: A, call: OperationCall, shape: Shape) -> Outcome:
        use = _use(call)
        if use is None:
            raise AssertionError("a call that spends or sends has a tenant and a key")
        claim = await self._claim(use)
        if claim.standing is KeyStanding.FINISHED:
            return self._replay(claim)

        tried: list[Context] = []

        async def attempt(handler: Callable[[Context], Awaitable[B]]) -> tuple[Outcome | Awaited[Any], list[Subject]]:
            async def work(session: AsyncSession) -> tuple[Outcome | Awaited[Any], list[Subject]]:
                context = self._context(operation, call, session, await service_time(session))
                tried.append(context)
                answer = await handler(context)
                await session.flush()
                if isinstance(answer, Awaited):  # the record is completed after the wait
                    return answer, context.woken
                outcome = _outcome(answer, call, shape)
                await self._complete(context, use, claim, outcome)
                return outcome, context.woken

            return await self._database(call).run(work)

        async with self._claimed(use, claim, tried):
            outcome, woken = await attempt(lambda context: operation.handler(context, ask))
            if isinstance(outcome, Awaited):
                await self._wake(woken, call)
                await outcome.wait(self._waiter(use))
                outcome, woken = await attempt(outcome.answer)
        if isinstance(outcome, Awaited):
            raise TypeError("an operation waits once")
        await self._wake(woken, call)
        return outcome

    @asynccontextmanager
    async def _claimed(self, use: Use, claim: KeyClaim, tried: Sequence[Context]) -> AsyncIterator[None]:
        """Release the key if the work under the claim fails; keep it for an equal request if the work continues.

        If the call is refused, run the `if_refused` of the last attempt's context.
        """
        try:
            yield
        except StillRunning as error:
            await self._let_go(use, claim)
            raise IdempotencyInProgress(BUSY_RETRY_SECONDS) from error
        except Exception:
            await self._release(use, claim)
            if tried and tried[-1].if_refused is not None:
                await self.database.within(scope_of_tenant(use.tenant)).run(tried[-1].if_refused)
            raise

    def _database(self, call: OperationCall) -> Database:
        """Return the database in the tenant scope of the call, which limits all of its queries."""
        if call.tenant is not None:
            return self.database.within(scope_of_tenant(call.tenant))
        return self.database.within(all_tenants("operations without a key: signing up, confirming, callbacks, plans"))

    def _waiter(self, use: Use) -> Waiter:
        return Waiter(self.database.within(scope_of_tenant(use.tenant)), self.upstream, use.tenant.workspace_id)

    async def _let_go(self, use: Use, claim: KeyClaim) -> None:
        async with self.database.within(scope_of_tenant(use.tenant)).autocommit() as connection:
            await idempotency.let_go(connection, use, lock=claim.lock)

    async def _claim(self, use: Use) -> KeyClaim:
        async with self.database.within(scope_of_tenant(use.tenant)).autocommit() as connection:
            claim = await idempotency.claim_key(connection, use)
        if claim.standing is KeyStanding.REUSED:
            raise IdempotencyKeyReused
        if claim.standing is KeyStanding.RUNNING:
            raise IdempotencyInProgress(claim.retry_after)
        return claim

    async def _complete(self, context: Context, use: Use, claim: KeyClaim, outcome: Outcome) -> None:
        ours = await idempotency.complete_record(
            context.session,
            use,
            lock=claim.lock,
            status=outcome.status,
            headers=outcome.headers,
            body=self.vault.seal(BODY_PURPOSE, outcome.body),
            marks=context.about | {found.decode() for found in PROFILE_ID.findall(outcome.body)},
        )
        if not ours:  # the lease expired and another attempt has taken over: roll this one back
            raise IdempotencyInProgress(1)

    async def _release(self, use: Use, claim: KeyClaim) -> None:
        async with self.database.within(scope_of_tenant(use.tenant)).autocommit() as connection:
            await idempotency.release(connection, use, lock=claim.lock)

    def _replay(self, claim: KeyClaim) -> Outcome:
        if claim.body is None:
            raise Conflict("This was done before, but its answer names a person who may no longer be shown.")
        headers = (claim.headers or {}) | {REPLAYED: "true"}
        return Outcome(claim.status, self.vault.open(BODY_PURPOSE, claim.body), headers)

    async def _wake(self, woken: list[Subject], call: OperationCall) -> None:
        """Wake one subject now; the dispatcher wakes the others, and this one too if Temporal does not answer."""
        if self.waker is None or not woken:
            return
        tenant = call.tenant
        try:
            async with asyncio.timeout(WAKE_SECONDS):
                await self.waker.wake(
                    woken[0],
                    workspace_id=tenant.workspace_id if tenant else None,
                    customer_id=tenant.customer_id if tenant else None,
                )
        except (RPCError, RuntimeError, TimeoutError) as error:  # the client raises RuntimeError if it cannot connect
            log.warning("not woken inline", kind=woken[0].kind, id=woken[0].id, error=type(error).__name__)

    def _context(
        self, operation: Operation[Any, Any], call: OperationCall, session: AsyncSession, now: datetime
    ) -> Context:
        return Context(
            session=session,
            statements=self._database(call).statements,
            now=now,
            dry_run=call.dry_run,
            version=call.version,
            settings=self.settings,
            vault=self.vault,
            reference=self.reference,
            operation_name=operation.name,
            known_caller=call.caller,
            known_tenant=call.tenant,
            known_use=_use(call),
            network=call.network,
        )


def _use(call: OperationCall) -> Use | None:
    if call.tenant is None or call.idempotency_key is None:
        return None
    return Use(call.tenant, call.idempotency_key, call.fingerprint)


def _outcome(answer: object, call: OperationCall, shape: Shape) -> Outcome:
    if answer is None:
        return Outcome(204, b"")
    if not isinstance(answer, BaseModel):
        raise TypeError("an operation answers a model or nothing")
    if call.dry_run:
        shown = {"dry_run": True, **answer.model_dump(mode="json")}
        return Outcome(200, json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode())
    address = shape.location(answer) if shape.location else None
    headers = {"Location": address} if address else {}
    return Outcome(shape.status(answer), answer.model_dump_json().encode(), headers)
