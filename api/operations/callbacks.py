"""Callbacks of the payment provider: kept as they came; a worker works them in."""

from dataclasses import dataclass

from api.operations.kernel import Context, Effect, operation
from models.stores import callbacks, doorbells


@dataclass(frozen=True, slots=True)
class PaymentEvent:
    """One event, whose signature has been checked."""

    id: str
    body: bytes


@operation("callbacks.payments", scope=None, effect=Effect.WRITE)
async def keep_payment_event(ctx: Context, event: PaymentEvent) -> None:
    """Keep the event unless it is known, encrypted: it may name people. The dispatcher rings: the answer is due now."""
    sealed = ctx.vault.seal(callbacks.BODY_PURPOSE, event.body)
    subject = await callbacks.keep(ctx.session, event.id, sealed, now=ctx.now)
    if subject is not None:
        await doorbells.ring(ctx.session, subject)
