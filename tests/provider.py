"""The sandbox's payment provider on a real port, and a stand-in for the workflows without Temporal."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from activities.billing import CallbackSteps, OutreachPlanSteps, PaymentSteps, RefillSteps
from activities.upstream.stripe.client import StripePayments
from models.base import outbox
from models.base.database import Database
from models.base.secrets import Vault
from models.base.steps import Do, NextStep, Step
from models.billing.engine.payments import PAYMENT_CALL
from sandbox.clock import Clock
from sandbox.control import control_api
from sandbox.faults import Faults
from sandbox.mail import MailBox
from sandbox.payments.service import DEFAULT_KEY, DEFAULT_SECRET, PaymentsSettings, payments_side
from sandbox.state import State

LOOK_SECONDS = 0.02


@contextlib.asynccontextmanager
async def listening() -> AsyncIterator[tuple[socket.socket, str]]:
    """Yield a new listening socket and its origin."""
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        opened.listen()
        yield opened, f"http://127.0.0.1:{opened.getsockname()[1]}"


@contextlib.asynccontextmanager
async def serving(app: ASGIApp, port: socket.socket) -> AsyncIterator[None]:
    """Serve an application on a port, in this event loop."""
    config = uvicorn.Config(app, log_level="critical", access_log=False, lifespan="off", ws="none")
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve(sockets=[port]))
    try:
        yield
    finally:
        server.should_exit = True
        await running


@dataclass
class Provider:
    """A running payment provider: `adapter` is the service's client, `control` the client of its control API."""

    url: str
    adapter: StripePayments
    control: httpx.AsyncClient

    async def order(self, operation: str, fault: str, **more: Any) -> None:
        body = {"provider": "payments", "operation": operation, "fault": fault} | more
        (await self.control.post("/_control/faults", json=body)).raise_for_status()

    async def shown(self) -> dict[str, Any]:
        read: dict[str, Any] = (await self.control.get("/_control/payments")).json()
        return read

    async def complete(self, session_id: str, outcome: str = "paid", *, twice: bool = False) -> dict[str, Any]:
        body = {"session_id": session_id, "outcome": outcome, "twice": twice}
        answer = await self.control.post("/_control/payments/complete", json=body)
        assert answer.is_success, answer.text
        read: dict[str, Any] = answer.json()
        return read

    async def steer(self, path: str, **body: Any) -> None:
        (await self.control.post(f"/_control/payments/{path}", json=body)).raise_for_status()

    async def reset(self) -> None:
        for path in ("payments", "faults"):
            (await self.control.delete(f"/_control/{path}")).raise_for_status()


@contextlib.asynccontextmanager
async def provider(folder: Path, *, callback_url: str | None = None) -> AsyncIterator[Provider]:
    """Serve the payments side; its events go to `callback_url`."""
    state = State(folder)
    clock, faults = Clock(state), Faults(state)
    settings = PaymentsSettings(callback_url=callback_url)
    side = payments_side(state=state, clock=clock, faults=faults, settings=settings)
    app = FastAPI()
    app.router.routes.extend(side.routes)
    app.include_router(side.control)
    app.include_router(
        control_api(clock=clock, mails=MailBox(state, clock), faults=faults, sides=[side], size=0, seed=0)
    )
    assert side.run is not None
    async with listening() as (port, url), serving(app, port):
        adapter = StripePayments(base_url=url, api_key=DEFAULT_KEY)
        async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=30) as control:
            working = asyncio.ensure_future(side.run())
            yield Provider(url, adapter, control)
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        await adapter.close()
    state.close()


SECRET = DEFAULT_SECRET
API_KEY = DEFAULT_KEY


@dataclass
class Hand:
    """Does the work of the workflows: every due payment, callback and refill, until stopped."""

    database: Database
    vault: Vault
    adapter: StripePayments
    working: bool = True
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def rest(self) -> None:
        """Start no more work until `working` is set again, and wait for the work in progress."""
        self.working = False
        async with self.turn:
            pass

    @contextlib.asynccontextmanager
    async def at_work(self) -> AsyncIterator["Hand"]:
        task = asyncio.create_task(self._work())
        yield self
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    async def _work(self) -> None:
        while True:
            async with self.turn:
                if self.working:
                    await self.round()
            await asyncio.sleep(LOOK_SECONDS)

    async def round(self) -> None:
        """Do everything that is due now, once."""
        async with self.database.transaction() as session:
            due = await outbox.rows_due(session, limit=100, overdue_seconds=0)
        for row in due:
            await self.drive(row.subject.kind, row.subject.id)

    async def drive(self, kind: str, row_id: str) -> None:
        """Drive one row as far as possible now."""
        payments = PaymentSteps(self.database, self.adapter)
        match kind:
            case "callback":
                await CallbackSteps(self.database, self.vault, self.adapter).next(Step(id=row_id))
            case "refill":
                await RefillSteps(self.database, sells=True).next(Step(id=row_id))
            case "outreach_plan":
                plans = OutreachPlanSteps(self.database, self.adapter, sells=True)
                step = await plans.next(Step(id=row_id))
                while step.do is Do.ACT:
                    assert step.call is not None
                    step = await plans.call(Step(id=row_id, number=step.call.number))
            case "payment":
                step = await payments.next(Step(id=row_id))
                while step.do is Do.ACT:
                    step = await self._act(payments, row_id, step)

    async def _act(self, payments: PaymentSteps, row_id: str, step: NextStep) -> NextStep:
        assert step.call is not None
        asked = Step(id=row_id, number=step.call.number)
        return await (payments.call(asked) if step.call.step == PAYMENT_CALL else payments.end_plans(asked))
