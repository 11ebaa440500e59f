"""`python -m activities.reread --since 2026-11-28T00:00:00Z`: apply the payment provider's events since then again.

For an operator who has restored a backup: payments since the backup are unknown, and their callbacks are not sent
again. Each event is applied as its callback would be: a known one changes nothing, and the command may be repeated.
"""

import argparse
import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from activities.upstream.payments import Payments, Purchase
from activities.upstream.stripe.client import StripePayments
from models.base.database import Database, service_time
from models.base.settings import Settings
from models.base.tenants import all_tenants
from models.billing.engine import outreach_plans
from models.billing.engine.callbacks import apply_payment_event
from models.billing.rules.outreach_plans import LOOK_EVERY
from models.billing.store.payments import remember_customer, restore_payment, workspace_exists

OVERLAP = timedelta(minutes=10)
"""How much earlier to begin: a backup lacks transactions that were open when it was made."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Reread:
    """Numbers of events that were applied and of payments that had to be added again.

    `strange` counts events of workspaces that this database does not have.
    """

    callbacks: int = 0
    payments: int = 0
    strange: int = 0


async def reread(database: Database, payments: Payments, since: datetime) -> Reread:
    """Apply every event since then, oldest first, each in its own transaction.

    Raises `PaymentsError` if the provider does not answer: events applied until then stay applied; run it again.
    """
    whole = database.within(all_tenants("after a restore, the payments of every workspace are read again"))
    done = Reread()
    bodies = [body async for body in payments.callbacks_since(since - OVERLAP)]
    for body in reversed(bodies):
        await _apply(whole, payments, body, done)
    await whole.run(lambda session: outreach_plans.read_all_again(session, before=LOOK_EVERY))
    return done


async def _apply(database: Database, payments: Payments, body: bytes, done: Reread) -> None:
    try:
        purchase, occurred = payments.read_purchase(body), payments.read_callback(body)
    except ValueError:
        log.warning("callback.unreadable")
        return

    async def work(session: AsyncSession) -> tuple[bool, bool]:
        now = await service_time(session)
        known, written = await _known(session, purchase, now)
        for event in occurred if known else ():
            await apply_payment_event(session, event, now=now)
        return known, written

    known, written = await database.run(work)
    done.callbacks += known
    done.payments += written
    done.strange += not known


async def _known(session: AsyncSession, purchase: Purchase | None, now: datetime) -> tuple[bool, bool]:
    """Return whether the purchase's workspace exists, and whether its payment had to be added again."""
    if purchase is None:
        return True, False
    if not await workspace_exists(session, purchase.workspace_id):
        log.warning("payment.of_no_workspace", payment_id=purchase.payment_id)
        return False, False
    await remember_customer(session, purchase.workspace_id, purchase.customer_id, now=now)
    written = await restore_payment(
        session, purchase.payment_id, purchase.workspace_id, purchase.kind, purchase.item, now=now
    )
    return True, written


def _moment(value: str) -> datetime:
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise argparse.ArgumentTypeError("needs a time zone, such as 2026-11-28T00:00:00Z")
    return moment.astimezone(UTC)


async def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m activities.reread", description=__doc__)
    parser.add_argument("--since", type=_moment, required=True, help="when the backup was made")
    since: datetime = parser.parse_args().since
    settings = Settings()
    if settings.stripe_api_key is None:
        parser.error("STRIPE_API_KEY is not set: there are no events to read")
    database = Database(settings.database_url, pool_size=1)
    provider = StripePayments(base_url=settings.stripe_base_url, api_key=settings.stripe_api_key.get_secret_value())
    try:
        done = await reread(database, provider, since)
    finally:
        await provider.close()
        await database.close()
    print(  # noqa: T201 - the answer of a command
        f"{done.callbacks} events applied, {done.payments} payments added again,"
        f" {done.strange} events of unknown workspaces"
    )


if __name__ == "__main__":
    asyncio.run(_main())
