"""Composition root of the workers: pools, adapters, one Temporal worker per task queue, the dispatcher.

`python worker.py --queues service,webhooks,mail,network,payments` is the worker, `python worker.py --queues upstream`
the upstream worker; any number of each may run. SIGTERM stops one without losing work.
"""

import argparse
import asyncio
import contextlib
import signal
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog
from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from activities.access import ClientSteps, MailSteps
from activities.billing import CallbackSteps, OutreachPlanSteps, PaymentSteps, RefillSteps
from activities.dispatcher import Dispatcher
from activities.events import DeliverySteps
from activities.interceptors import LoggingInterceptor, SilentFailures
from activities.operate import HousekeepingSteps, OptOutSteps
from activities.outreach.accounts import AccountSteps, SignIn
from activities.outreach.calls import NetworkChannel
from activities.outreach.inbox import NetworkInbox
from activities.outreach.sends import SendSteps
from activities.sourcing.background import ContactSteps, JobSteps
from activities.sourcing.calls import RawCalls
from activities.sourcing.people import PeopleCalls
from activities.sourcing.runs import RunSteps
from activities.upstream.guard import Guard
from activities.upstream.mail import SmtpMailer
from activities.upstream.outreach_network import outreach_network
from activities.upstream.payments import NoPayments, Payments
from activities.upstream.people_data_labs.source import PeopleDataLabs
from activities.upstream.ports.network import OutreachNetwork
from activities.upstream.slots import UpstreamSlots, upstream_tuner
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
from models.outreach.engine.account_steps import catch_up as account_catch_up
from workflows.connection import connect, reachable
from workflows.kinds import WORKFLOWS
from workflows.outbox import WorkflowWaker

log = structlog.get_logger(__name__)

PASSED_THROUGH = ("models", "workflows", "pydantic", "pydantic_core", "annotated_types", "opentelemetry", "structlog")
INTERCEPTORS = (LoggingInterceptor(), SilentFailures())
"""Interceptors of every activity, outermost first. The client adds the context propagation."""
GRACE = timedelta(seconds=20)
"""How long activities may keep running after SIGTERM."""
WEBHOOKS_AT_ONCE = 200
NETWORK_AT_ONCE = 16
PAYMENTS_AT_ONCE = 8
OVERDUE_SECONDS = 30.0
OVERDUE_SECONDS_VIRTUAL = 0.0
"""Under virtual time the clock jumps past a row's `wake_at`; only a wake tells its workflow."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that the workers of one process share."""

    settings: Settings
    database: Database
    client: Client
    vault: Vault
    payments: Payments = field(default_factory=NoPayments)


def runner() -> SandboxedWorkflowRunner:
    """Return the workflow sandbox with our own pure modules passed through."""
    restrictions = SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH)
    return SandboxedWorkflowRunner(restrictions=restrictions)


def service_worker(parts: Parts) -> Worker:
    """Return the worker of workflows and database steps."""
    settings = parts.settings
    runs = RunSteps(parts.database, parts.vault, None, queue_seconds=settings.upstream_queue_seconds)
    fetches = JobSteps(parts.database, parts.vault, None)
    finds = ContactSteps(parts.database, parts.vault, None)
    mails = mail_steps(parts)
    webhooks = DeliverySteps(parts.database, parts.vault, None)
    duties = HousekeepingSteps(parts.database)
    accounts, sends = account_steps(parts, None), send_steps(parts, None)
    payments = PaymentSteps(parts.database, parts.payments)
    callbacks = CallbackSteps(parts.database, parts.vault, parts.payments)
    refills = RefillSteps(parts.database, configured=settings.stripe_api_key is not None)
    plans = outreach_plan_steps(parts)
    return Worker(
        parts.client,
        task_queue=Queue.SERVICE,
        workflows=WORKFLOWS,
        activities=[
            *(runs.next, runs.queued, runs.fetch_profiles),
            *(fetches.next, finds.next),
            *(mails.next, webhooks.next, duties.next, duties.do),
            *(accounts.next, sends.enrollment_next, sends.action_next),
            *(payments.next, callbacks.next, refills.next, plans.next, ClientSteps(parts.database, None).next),
        ],
        workflow_runner=runner(),
        interceptors=INTERCEPTORS,
        max_concurrent_activities=settings.database_pool_size,
        max_concurrent_local_activities=settings.database_pool_size,
        graceful_shutdown_timeout=GRACE,
    )


def mail_steps(parts: Parts) -> MailSteps:
    """Return the steps of mail over SMTP."""
    settings = parts.settings
    mailer = SmtpMailer(settings.smtp_url, sender=settings.mail_from)
    return MailSteps(parts.database, parts.vault, mailer, public_url=settings.public_url)


def mail_worker(parts: Parts) -> Worker:
    """Outgoing mail."""
    return Worker(
        parts.client,
        task_queue=Queue.MAIL,
        activities=[mail_steps(parts).send],
        interceptors=INTERCEPTORS,
        max_concurrent_activities=4,
        graceful_shutdown_timeout=GRACE,
    )


def account_steps(parts: Parts, network: OutreachNetwork | None) -> AccountSteps:
    """Return the steps of outreach accounts."""
    public_url = parts.settings.public_url
    inbox = NetworkInbox(parts.database, network, parts.vault, public_url=public_url) if network is not None else None
    return AccountSteps(
        parts.database,
        parts.vault,
        network,
        public_url=public_url,
        inbox=inbox,
        chats_every=timedelta(minutes=parts.settings.outreach_chats_minutes),
    )


def send_steps(parts: Parts, network: OutreachNetwork | None) -> SendSteps:
    """Return the steps of enrollments and direct sends."""
    channel = NetworkChannel(network) if network is not None else None
    return SendSteps(parts.database, parts.vault, channel, public_url=parts.settings.public_url)


def network_worker(parts: Parts, network: OutreachNetwork) -> Worker:
    """Return the worker of outreach network calls: one at a time for each account, many accounts in parallel."""
    accounts, sends = account_steps(parts, network), send_steps(parts, network)
    return Worker(
        parts.client,
        task_queue=Queue.NETWORK,
        activities=[
            *(accounts.connect, accounts.process, accounts.look, accounts.delete),
            *(accounts.read_chats, accounts.read_invites),
            *(sends.send, sends.reconcile),
        ],
        interceptors=INTERCEPTORS,
        max_concurrent_activities=NETWORK_AT_ONCE,
        graceful_shutdown_timeout=GRACE,
    )


def outreach_plan_steps(parts: Parts) -> OutreachPlanSteps:
    """Return the steps that charge for outreach accounts."""
    return OutreachPlanSteps(parts.database, parts.payments, configured=parts.settings.stripe_api_key is not None)


def payments_worker(parts: Parts) -> Worker:
    """Return the worker of payment provider calls."""
    steps = PaymentSteps(parts.database, parts.payments)
    return Worker(
        parts.client,
        task_queue=Queue.PAYMENTS,
        activities=[steps.call, steps.end_plans, outreach_plan_steps(parts).call],
        interceptors=INTERCEPTORS,
        max_concurrent_activities=PAYMENTS_AT_ONCE,
        graceful_shutdown_timeout=GRACE,
    )


def webhooks_worker(parts: Parts, guard: Guard) -> Worker:
    """Return the worker of webhook attempts and of other requests to addresses that users chose.

    They mostly wait, and the number of queued attempts per endpoint is limited.
    """
    return Worker(
        parts.client,
        task_queue=Queue.WEBHOOKS,
        activities=[DeliverySteps(parts.database, parts.vault, guard).attempt, ClientSteps(parts.database, guard).read],
        interceptors=INTERCEPTORS,
        max_concurrent_activities=WEBHOOKS_AT_ONCE,
        graceful_shutdown_timeout=GRACE,
    )


def upstream_worker(parts: Parts, source: PeopleDataLabs, slots: UpstreamSlots) -> Worker:
    """Return the worker of people-data calls, as many at once as the installation has slots."""
    people = PeopleCalls(source, slots, reference())
    runs = RunSteps(parts.database, parts.vault, people, queue_seconds=parts.settings.upstream_queue_seconds)
    raw_calls = RawCalls(parts.database, parts.vault, people)
    fetches = JobSteps(parts.database, parts.vault, people)
    finds = ContactSteps(parts.database, parts.vault, people)
    opt_outs = OptOutSteps(parts.database, parts.vault, people)
    return Worker(
        parts.client,
        task_queue=Queue.UPSTREAM,
        activities=[
            runs.read_page,
            runs.read_ahead,
            runs.fetch_profiles,
            raw_calls.call,
            fetches.fetch,
            finds.find,
            opt_outs.read,
        ],
        interceptors=INTERCEPTORS,
        tuner=upstream_tuner(slots),
        graceful_shutdown_timeout=GRACE,
    )


async def serve(settings: Settings, queues: Sequence[Queue], *, ready_file: Path | None) -> None:
    """Serve the queues until SIGTERM or SIGINT."""
    stop = asyncio.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(signum, stop.set)
    async with contextlib.AsyncExitStack() as exits:
        await exits.enter_async_context(traces.sending("worker"))
        database = Database(settings.database_url, pool_size=settings.database_pool_size)
        exits.push_async_callback(database.close)
        vault = Vault(settings.secret_key.get_secret_value())
        whole = database.within(all_tenants("steps are given rows by their ids, and clean up for the installation"))
        parts = Parts(settings, whole, await connect(settings), vault, _payments(settings, exits))
        if Queue.UPSTREAM in queues:
            await _open_upstream(parts, exits)
        if Queue.MAIL in queues:
            await exits.enter_async_context(mail_worker(parts))
        if Queue.PAYMENTS in queues:
            await exits.enter_async_context(payments_worker(parts))
        if Queue.WEBHOOKS in queues:
            guard = Guard(Resolver(), loopback=settings.webhook_loopback)
            exits.push_async_callback(guard.close)
            await exits.enter_async_context(webhooks_worker(parts, guard))
        if Queue.NETWORK in queues:
            await _open_network(parts, exits)
        if Queue.SERVICE in queues:
            await _open_service(parts, exits)
        probes = database_probes(settings.database_url) | {"temporal": lambda: reachable(parts.client)}
        figures = Metrics(parts.database if Queue.SERVICE in queues else None)  # one kind of worker reads the rows
        await exits.enter_async_context(listening(settings.internal_address, Readiness(probes), figures))
        if ready_file is not None:
            await asyncio.to_thread(ready_file.write_text, "ready\n")
        log.info("worker.ready", queues=[queue.value for queue in queues])
        await stop.wait()
        log.info("worker.stopping")


def _payments(settings: Settings, exits: contextlib.AsyncExitStack) -> Payments:
    key = settings.stripe_api_key
    if key is None:
        return NoPayments()
    from activities.upstream.stripe.client import StripePayments  # a large library, which most workers do not need

    provider = StripePayments(base_url=settings.stripe_base_url, api_key=key.get_secret_value())
    exits.push_async_callback(provider.close)
    return provider


async def _open_service(parts: Parts, exits: contextlib.AsyncExitStack) -> None:
    await parts.database.run(housekeeping.ensure_duties)
    settings = parts.settings
    dispatcher = Dispatcher(
        parts.database,
        WorkflowWaker(parts.client),
        listen_url=settings.listen_url,
        overdue_seconds=OVERDUE_SECONDS_VIRTUAL if settings.virtual_time else OVERDUE_SECONDS,
    )
    _until_closed(dispatcher.run(), exits)
    await exits.enter_async_context(service_worker(parts))


def _until_closed(work: Coroutine[Any, Any, None], exits: contextlib.AsyncExitStack) -> None:
    """Run a coroutine beside the workers until they are closed."""
    task = asyncio.create_task(work)

    async def stop() -> None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    exits.push_async_callback(stop)


async def _open_network(parts: Parts, exits: contextlib.AsyncExitStack) -> None:
    key = parts.settings.unipile_api_key
    network = outreach_network(
        base_url=parts.settings.unipile_base_url, api_key=key.get_secret_value() if key is not None else None
    )
    exits.push_async_callback(network.close)
    if key:
        await parts.database.run(account_catch_up)
        sign_in = SignIn(parts.database, parts.vault, network, public_url=parts.settings.public_url)
        _until_closed(sign_in.stay_registered(), exits)
    await exits.enter_async_context(network_worker(parts, network))


async def _open_upstream(parts: Parts, exits: contextlib.AsyncExitStack) -> None:
    settings = parts.settings
    key = settings.people_data_labs_api_key
    source = PeopleDataLabs(base_url=settings.people_data_labs_base_url, api_key=key.get_secret_value() if key else "")
    exits.push_async_callback(source.close)
    slots = UpstreamSlots(parts.database.transaction, slots=settings.upstream_calls)
    await slots.open()
    exits.push_async_callback(slots.close)
    await exits.enter_async_context(upstream_worker(parts, source, slots))


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
