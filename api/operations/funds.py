"""Whether the most that a call can cost fits balance and daily caps (contract, section 5 "Raw layer")."""

from api.operations.kernel import Context
from api.schemas.raw import PricePreview
from api.schemas.runs import WouldFail
from models.errors import DailyCreditCapReached
from models.stores import credits
from models.stores.upstream_calls.paying import refusal


async def check(ctx: Context, most: int) -> PricePreview:
    """The price as a preview shows it. When executed: raises `InsufficientCredits` or `DailyCreditCapReached`."""
    balance = await credits.balance(ctx.session, ctx.tenant.workspace_id)
    caps = await credits.caps(ctx.session, ctx.payer)
    refused = refusal(required=most, balance=balance, caps=caps, now=ctx.now)
    if refused is not None and not ctx.dry_run:
        raise refused
    capped = isinstance(refused, DailyCreditCapReached)
    return PricePreview(
        max_credits=most,
        required_credits=most,
        balance_credits=balance,
        would_fail=WouldFail(code=refused.code) if refused else None,
        next_available_at=credits.resets_at(ctx.now) if capped else None,
    )
