"""Routes of cached profiles."""

from starlette.responses import Response

from api.kernel.routing import Invoke, Router
from api.people import profiles
from api.people.profiles_schemas import ProfileView

router = Router(tags=["People"])


@router.get("/people/{profile_id:id}", operation_id="people.get", response_model=ProfileView)
async def get_profile(profile_id: str, invoke: Invoke) -> Response:
    """A profile from the cache: free, and `not_cached` when it is older than 30 days or was never fetched here."""
    return await invoke(profiles.get_profile, profile_id)


@router.delete("/people/{profile_id:id}/cache", status_code=204, operation_id="people.delete_cache")
async def delete_cached_profile(profile_id: str, invoke: Invoke) -> Response:
    """Give up the cached copy; it leaves the cache when nobody else has a right to it."""
    return await invoke(profiles.delete_cached_profile, profile_id)
