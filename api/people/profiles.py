"""Cached profiles: read without a charge, and given up (contract, section 5 "Raw layer")."""

from api.kernel.operation import Context, Effect, Noun, operation
from api.people.schemas import ProfileView
from models.access.rules.keys import Scope
from models.people.store import profiles

PEOPLE = Noun("People", "Cached profiles.")


@operation("people.get", scope=Scope.SOURCING_READ, effect=Effect.READ, route=PEOPLE.get("/people/{profile_id:id}"))
async def get_profile(ctx: Context, profile_id: str) -> ProfileView:
    """A profile from the cache: free, and `not_cached` when it is older than 30 days or was never fetched here."""
    found = await profiles.read_profile(ctx.session, ctx.tenant, profile_id)
    return ProfileView.model_validate(found.model_dump())


@operation(
    "people.delete_cache",
    scope=Scope.SOURCING_WRITE,
    effect=Effect.WRITE,
    route=PEOPLE.delete("/people/{profile_id:id}/cache"),
)
async def delete_cached_profile(ctx: Context, profile_id: str) -> None:
    """Give up the cached copy; it leaves the cache when no other workspace has a right to it."""
    await profiles.give_up_copy(ctx.session, ctx.tenant, profile_id)
