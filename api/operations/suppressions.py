"""Suppressions: people who are never fetched, charged or contacted (contract, section 5 "Registers")."""

from api.operations.kernel import Context, Effect, operation
from api.operations.named_people import find_person, in_body
from api.schemas.lists import Listing, PageAsk
from api.schemas.registers import NamePerson, NewSuppression, SuppressionView
from models.rules.access import Scope
from models.rules.suppressions import Reason
from models.stores import suppressions
from models.tables import Suppression


@operation("suppressions.list", scope=Scope.SOURCING_READ, effect=Effect.READ)
async def list_suppressions(ctx: Context, ask: PageAsk) -> Listing[SuppressionView]:
    """Suppressions made here, newest first; at the account those of its customers too."""
    paging = ctx.paging(ask)
    return paging.listing(await suppressions.listed(ctx.session, ctx.tenant, paging.page), _shown)


@operation("suppressions.create", scope=Scope.SOURCING_WRITE, effect=Effect.WRITE)
async def create_suppression(ctx: Context, ask: NamePerson) -> SuppressionView:
    """Suppress a person from now on, in every layer; a `NewSuppression` unless it was there."""
    profile_id = await find_person(ctx, in_body(ask))
    row, is_new = await suppressions.suppress(ctx.session, ctx.tenant, profile_id, reason=Reason.MANUAL)
    return NewSuppression.model_validate(_shown(row).model_dump()) if is_new else _shown(row)


@operation("suppressions.delete", scope=Scope.SOURCING_WRITE, effect=Effect.WRITE)
async def delete_suppression(ctx: Context, suppression_id: str) -> None:
    """Lift a manual suppression."""
    await suppressions.remove(ctx.session, ctx.tenant, suppression_id)


def _shown(row: Suppression) -> SuppressionView:
    return SuppressionView.model_validate(row.model_dump(include=set(SuppressionView.model_fields)))
