"""The sandbox as one web application, and the process that serves it together with an SMTP server."""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from sandbox.breakage import ConnectionCut
from sandbox.clock import Clock
from sandbox.control import control_api
from sandbox.faults import Faults
from sandbox.mail import MailBox, receive_mail
from sandbox.network.service import NetworkSettings, network_side
from sandbox.payments.service import PaymentsSettings, payments_side
from sandbox.people.population.build import build_population
from sandbox.people.service import PeopleSettings, people_side
from sandbox.side import Side
from sandbox.state import State

_GRACE_SECONDS = 1

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of a sandbox; without `smtp_port` it receives no mail."""

    state_dir: Path
    people: PeopleSettings
    network: NetworkSettings = field(default_factory=NetworkSettings)
    payments: PaymentsSettings = field(default_factory=PaymentsSettings)
    host: str = "127.0.0.1"
    port: int = 8090
    smtp_port: int | None = None
    population: int = 20_000
    seed: int = 7
    clock_offset: float | None = None


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The web application with the objects behind it."""

    app: FastAPI
    mails: MailBox
    state: State
    clock: Clock
    sides: Sequence[Side] = field(default=())


def _where(error: RequestValidationError) -> str:
    found = [".".join(str(part) for part in each["loc"][1:]) + f": {each['msg']}" for each in error.errors()]
    return "; ".join(found)


async def _bad_control_input(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    return JSONResponse({"detail": _where(error)}, status_code=400)


def _acting(sides: Sequence[Side]) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """Run the sides' own loops while the application runs."""

    @asynccontextmanager
    async def acting(_: FastAPI) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(side.run(), name=side.provider) for side in sides if side.run is not None]
        for task in tasks:
            task.add_done_callback(_report_failure)
        yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    return acting


def _report_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.critical("the %s side stopped acting", task.get_name(), exc_info=task.exception())


def build_sandbox(settings: Settings) -> Sandbox:
    """Invent the people, open the state file and assemble all sides."""
    state = State(settings.state_dir)
    clock = Clock(state, offset_seconds=settings.clock_offset)
    faults = Faults(state)
    population = build_population(settings.population, settings.seed)
    mails = MailBox(state, clock)
    sides = (
        people_side(population=population, state=state, clock=clock, faults=faults, settings=settings.people),
        network_side(
            population=population,
            state=state,
            clock=clock,
            faults=faults,
            settings=settings.network,
            seed=settings.seed,
        ),
        payments_side(state=state, clock=clock, faults=faults, settings=settings.payments),
    )
    app = FastAPI(title="Sandbox", docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=_acting(sides))
    app.add_exception_handler(RequestValidationError, _bad_control_input)
    for side in sides:
        app.router.routes.extend(side.routes)
        app.include_router(side.control)
    app.include_router(
        control_api(clock=clock, mails=mails, faults=faults, sides=sides, size=settings.population, seed=settings.seed)
    )
    return Sandbox(app=app, mails=mails, state=state, clock=clock, sides=sides)


def _not_cut_on_purpose(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], ConnectionCut))


async def _serve(sandbox: Sandbox, settings: Settings) -> None:
    config = uvicorn.Config(
        sandbox.app,
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        lifespan="on",
    )
    server = uvicorn.Server(config)
    logging.getLogger("uvicorn.error").addFilter(_not_cut_on_purpose)
    smtp = None
    if settings.smtp_port is not None:
        smtp = await receive_mail(sandbox.mails, host=settings.host, port=settings.smtp_port)
    for ending in (signal.SIGTERM, signal.SIGINT):
        # uvicorn raises a captured signal again after its shutdown, when everything has been closed.
        signal.signal(ending, signal.SIG_IGN)
    try:
        await server.serve()
    finally:
        if smtp is not None:
            smtp.close()


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT."""
    sandbox = build_sandbox(settings)
    try:
        asyncio.run(_serve(sandbox, settings))
    finally:
        sandbox.state.close()
