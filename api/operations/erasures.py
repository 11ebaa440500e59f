"""Erasures that an account asks for (contract, sections 3 and 5)."""

from api.operations.kernel import Context, Effect, operation
from api.operations.named_people import find_person, in_body
from api.schemas.registers import ErasureView, RequestErasure
from models.errors import InvalidRequest
from models.rules.access import Scope
from models.stores import erasures, people
from models.tables import Erasure

WAYS = ("profile_id", "profile_url", "email")


@operation("erasures.create", scope=Scope.ACCOUNT_WRITE, effect=Effect.WRITE)
async def create_erasure(ctx: Context, ask: RequestErasure) -> ErasureView:
    """Erase a person from the account with all its customers, at once and whole."""
    profile_id = await _find(ctx, ask)
    made = await erasures.erase(ctx.session, ctx.tenant.workspace_id, profile_id)
    await ctx.note("erasure.created", subject_id=made.id)
    return _shown(made)


@operation("erasures.get", scope=Scope.ACCOUNT_READ, effect=Effect.READ)
async def get_erasure(ctx: Context, erasure_id: str) -> ErasureView:
    """One erasure that the account asked for."""
    return _shown(await erasures.get(ctx.session, ctx.tenant.workspace_id, erasure_id))


async def _find(ctx: Context, ask: RequestErasure) -> str:
    given = [way for way in WAYS if getattr(ask, way) is not None]
    if len(given) != 1:
        field = given[-1] if given else WAYS[0]
        raise InvalidRequest("Give a profile_id, a profile_url or an email.", field=field)
    if ask.email is not None:
        return await people.addressed(ctx.session, ctx.vault, ask.email)
    return await find_person(ctx, in_body(ask))


def _shown(row: Erasure) -> ErasureView:
    return ErasureView.model_validate(row.model_dump(include=set(ErasureView.model_fields)))
