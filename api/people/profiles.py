"""Cached profiles: read without a charge, and given up (contract, section 5 "Raw layer")."""

from api.kernel.operation import Context, Effect, operation
from api.people.profiles_schemas import ProfileView
from models.access.rules.keys import Scope
from models.people.store import profiles


@operation("people.get", scope=Scope.SOURCING_READ, effect=Effect.READ)
async def get_profile(ctx: Context, profile_id: str) -> ProfileView:
    """The cached profile of somebody whom a run delivered or a call fetched here."""
    found = await profiles.read_profile(ctx.session, ctx.tenant, profile_id)
    return ProfileView.model_validate(found.model_dump())


@operation("people.delete_cache", scope=Scope.SOURCING_WRITE, effect=Effect.WRITE)
async def delete_cached_profile(ctx: Context, profile_id: str) -> None:
    """Give up the right to the cached copy."""
    await profiles.give_up_copy(ctx.session, ctx.tenant, profile_id)
