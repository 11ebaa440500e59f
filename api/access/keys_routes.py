"""Routes of API keys."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.access import keys
from api.access.keys import KeyChange, KeyRotation
from api.access.schemas import ChangeKey, CreateKey, KeyCreated, KeyView, RotateKey
from api.kernel.routing import Invoke, Router
from api.kernel.schemas import Listing, PageAsk

router = Router(tags=["API keys"])


@router.get("/api-keys", operation_id="api_keys.list", response_model=Listing[KeyView])
async def list_keys(ask: Annotated[PageAsk, Query()], invoke: Invoke) -> Response:
    """Every key of the workspace, revoked ones included."""
    return await invoke(keys.list_keys, ask)


@router.post("/api-keys", status_code=201, operation_id="api_keys.create", response_model=KeyCreated)
async def create_key(ask: CreateKey, invoke: Invoke) -> Response:
    """Make a key that is no wider than the caller's. Its secret is shown this once."""
    return await invoke(keys.create_key, ask, location=lambda key: f"/v1/api-keys/{key.id}")


@router.get("/api-keys/{key_id:id}", operation_id="api_keys.get", response_model=KeyView)
async def get_key(key_id: str, invoke: Invoke) -> Response:
    """One key."""
    return await invoke(keys.get_key, key_id)


@router.patch("/api-keys/{key_id:id}", operation_id="api_keys.change", response_model=KeyView)
async def change_key(key_id: str, ask: ChangeKey, invoke: Invoke) -> Response:
    """Change a key; a field that is left out stays, `null` takes a cap or an expiry away."""
    return await invoke(keys.change_key, KeyChange(key_id, ask))


@router.delete("/api-keys/{key_id:id}", status_code=204, operation_id="api_keys.revoke")
async def revoke_key(key_id: str, invoke: Invoke) -> Response:
    """Revoke a key. It is refused from the next request on."""
    return await invoke(keys.revoke_key, key_id)


@router.post("/api-keys/{key_id:id}/rotate", operation_id="api_keys.rotate", response_model=KeyCreated)
async def rotate_key(key_id: str, ask: RotateKey, invoke: Invoke) -> Response:
    """Give a key a new secret, shown this once. The previous one works until the overlap is over."""
    return await invoke(keys.rotate_key, KeyRotation(key_id, ask))
