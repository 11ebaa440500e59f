"""A person's own opt-out, for the whole installation (contract, section 5 "Registers")."""

from dataclasses import dataclass

from api.operations.kernel import Context, Effect, operation
from api.schemas.values import Answer
from models.stores import opt_outs


@dataclass(frozen=True, slots=True)
class OptOut:
    """What a person asks for on their own page."""

    token: str
    erase: bool


class OptedOut(Answer):
    """Done; nothing about the person is told."""


@operation("opt_outs.create", scope=None, effect=Effect.WRITE)
async def opt_out(ctx: Context, ask: OptOut) -> OptedOut:
    """Suppress whoever the token leads to, everywhere, and erase them if they ask."""
    await opt_outs.opt_out(ctx.session, ctx.vault, ask.token, erase=ask.erase)
    return OptedOut()
