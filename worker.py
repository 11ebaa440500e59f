"""Composition root of the workers: pools, adapters, one Temporal worker per task queue, the dispatcher.

`python worker.py --queues service,webhooks,mail,network,payments` is the worker, `python worker.py --queues upstream`
the upstream worker; any number of each may run. SIGTERM stops one without losing work.
"""

import argparse
import asyncio
import contextlib
import signal
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog
from pydantic import SecretStr
from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from activities.dispatcher import Dispatcher
from activities.interceptors import LoggingInterceptor, SilentFailures
from activities.outreach.accounts import SignIn
from activities.outreach.calls import NetworkChannel
from activities.outreach.channel import Channel, ListeningChannel
from activities.outreach.inbox import NetworkInbox
from activities.sourcing.people import PeopleCalls
from activities.steps import activities_of, import_steps
from activities.upstream.guard import Guard
from activities.upstream.mail import Mailer, SmtpMailer
from activities.upstream.payments import NoPayments, Payments
from activities.upstream.people_data_labs.source import PeopleDataLabs
from activities.upstream.ports.network import OutreachNetwork
from activities.upstream.slots import UpstreamSlots, upstream_tuner
from activities.upstream.unipile.network import UnipileNetwork
from api.kernel.internal import listening
from models.base.database import Database
from models.base.outbound import Resolver
from models.base.secrets import Vault
from models.base.settings import Settings
from models.base.steps import Queue
from models.base.tenants import all_tenants
from models.market.reference import reference
from models.operate import housekeeping, traces
from models.operate.logs import configure_logs
from models.operate.metrics import Metrics
from models.operate.readiness import Readiness, database_probes
from models.outreach.engine.account_steps import catch_up
from workflows.connection import connect, reachable
from workflows.kinds import WORKFLOWS
from workflows.outbox import WorkflowWaker

log = structlog.get_logger(__name__)
import_steps()

PASSED_THROUGH = ("models", "workflows", "pydantic", "pydantic_core", "annotated_types", "opentelemetry", "structlog")
INTERCEPTORS = (LoggingInterceptor(), SilentFailures())
"""Interceptors of every activity, outermost first. The client adds the context propagation."""
GRACE = timedelta(seconds=20)
"""How long activities may keep running after SIGTERM."""
AT_ONCE = {Queue.MAIL: 4, Queue.PAYMENTS: 8, Queue.NETWORK: 16, Queue.WEBHOOKS: 200}
"""Calls at once in one process. Webhook attempts mostly wait, and only so many of one endpoint are ever queued; of one
outreach account there is never more than one call."""
OVERDUE_SECONDS = 30.0
OVERDUE_SECONDS_VIRTUAL = 0.0
"""Under virtual time the clock jumps past a row's `wake_at`; only a wake tells its workflow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts that the workers of one process share; the constructor of a class of steps names those it needs."""

    settings: Settings
    client: Client
    database: Database
    vault: Vault
    public_url: str
    sells: bool
    mailer: Mailer
    payments: Payments
    guard: Guard
    slots: UpstreamSlots
    people: PeopleCalls
    queue_seconds: float
    network: OutreachNetwork
    channel: Channel
    inbox: ListeningChannel
    chats_every: timedelta


async def open_parts(settings: Settings, exits: contextlib.AsyncExitStack) -> Parts:
    """Connect to the database and to Temporal, and make every adapter; `exits` closes them."""
    database = Database(settings.database_url, pool_size=settings.database_pool_size)
    whole = database.within(all_tenants("steps are given rows by their ids, and clean up for the installation"))
    vault = Vault(settings.secret_key.get_secret_value())
    guard = Guard(Resolver(), loopback=settings.webhook_loopback)
    source = PeopleDataLabs(
        base_url=settings.people_data_labs_base_url, api_key=_revealed(settings.people_data_labs_api_key)
    )
    network = UnipileNetwork(base_url=settings.unipile_base_url, api_key=_revealed(settings.unipile_api_key))
    for opened in (database, guard, source, network):
        exits.push_async_callback(opened.close)
    slots = UpstreamSlots(whole.transaction, slots=settings.upstream_calls)
    return Parts(
        settings=settings,
        client=await connect(settings),
        database=whole,
        vault=vault,
        public_url=settings.public_url,
        sells=settings.stripe_api_key is not None,
        mailer=SmtpMailer(settings.smtp_url, sender=settings.mail_from),
        payments=_payments(settings, exits),
        guard=guard,
        slots=slots,
        people=PeopleCalls(source, slots, reference),
        queue_seconds=settings.upstream_queue_seconds,
        network=network,
        channel=NetworkChannel(network),
        inbox=NetworkInbox(whole, network, vault, public_url=settings.public_url),
        chats_every=timedelta(minutes=settings.outreach_chats_minutes),
    )


def _revealed(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()


def _payments(settings: Settings, exits: contextlib.AsyncExitStack) -> Payments:
    key = _revealed(settings.stripe_api_key)
    if key is None:
        return NoPayments()
    from activities.upstream.stripe.client import StripePayments  # a large library, which most workers do not need

    provider = StripePayments(base_url=settings.stripe_base_url, api_key=key)
    exits.push_async_callback(provider.close)
    return provider


def runner() -> SandboxedWorkflowRunner:
    """Return the workflow sandbox with our own pure modules passed through."""
    restrictions = SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH)
    return SandboxedWorkflowRunner(restrictions=restrictions)


def worker_of(queue: Queue, parts: Parts) -> Worker:
    """Return the worker of one queue: the registered steps that are made there, and on `service` the workflows."""
    options: dict[str, Any]
    match queue:
        case Queue.SERVICE:
            at_once = parts.settings.database_pool_size
            options = {"max_concurrent_activities": at_once, "max_concurrent_local_activities": at_once}
            options |= {"workflows": WORKFLOWS, "workflow_runner": runner()}
        case Queue.UPSTREAM:
            options = {"tuner": upstream_tuner(parts.slots)}
        case _:
            options = {"max_concurrent_activities": AT_ONCE[queue]}
    return Worker(
        parts.client,
        task_queue=queue,
        activities=activities_of(queue, parts),
        interceptors=INTERCEPTORS,
        graceful_shutdown_timeout=GRACE,
        **options,
    )


async def serve(settings: Settings, queues: Sequence[Queue], *, ready_file: Path | None) -> None:
    """Serve the queues until SIGTERM or SIGINT."""
    stop = asyncio.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signum, stop.set)
    async with contextlib.AsyncExitStack() as exits:
        await exits.enter_async_context(traces.sending("worker"))
        parts = await open_parts(settings, exits)
        for queue in sorted(set(queues), key=lambda queue: queue is Queue.SERVICE):  # started last, it stops first
            await _prepare(queue, parts, exits)
            await exits.enter_async_context(worker_of(queue, parts))
        probes = database_probes(settings.database_url) | {"temporal": lambda: reachable(parts.client)}
        figures = Metrics(parts.database if Queue.SERVICE in queues else None)  # one kind of worker reads the rows
        await exits.enter_async_context(listening(settings.internal_address, Readiness(probes), figures))
        if ready_file is not None:
            await asyncio.to_thread(ready_file.write_text, "ready\n")
        log.info("worker.ready", queues=[queue.value for queue in queues])
        await stop.wait()
        log.info("worker.stopping")


async def _prepare(queue: Queue, parts: Parts, exits: contextlib.AsyncExitStack) -> None:
    """Do what has to run before or beside the worker of a queue."""
    settings, database = parts.settings, parts.database
    if queue is Queue.UPSTREAM:
        await parts.slots.open()
        exits.push_async_callback(parts.slots.close)
    if queue is Queue.NETWORK and settings.unipile_api_key:
        await database.run(catch_up)
        sign_in = SignIn(database, parts.vault, parts.network, public_url=parts.public_url)
        _until_closed(sign_in.stay_registered(), exits)
    if queue is Queue.SERVICE:
        await database.run(housekeeping.ensure_duties)
        overdue = OVERDUE_SECONDS_VIRTUAL if settings.virtual_time else OVERDUE_SECONDS
        waker = WorkflowWaker(parts.client)
        _until_closed(Dispatcher(database, waker, listen_url=settings.listen_url, overdue_seconds=overdue).run(), exits)


def _until_closed(work: Coroutine[Any, Any, None], exits: contextlib.AsyncExitStack) -> None:
    """Run a coroutine beside the workers until they are closed."""
    task = asyncio.create_task(work)

    async def stop() -> None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    exits.push_async_callback(stop)


def main() -> None:
    """Read the command line and the environment, and serve."""
    parser = argparse.ArgumentParser(prog="python worker.py", description=__doc__)
    parser.add_argument(
        "--queues",
        default=",".join(Queue),
        help="task queues to serve, comma separated",
    )
    parser.add_argument("--ready-file", type=Path, help="written once this worker polls its queues")
    asked = parser.parse_args()
    try:
        queues = [Queue(name) for name in asked.queues.split(",")]
    except ValueError as error:
        parser.error(f"{error}; known: {', '.join(Queue)}")
    settings = Settings()
    configure_logs(settings)
    asyncio.run(serve(settings, queues, ready_file=asked.ready_file))


if __name__ == "__main__":
    main()
