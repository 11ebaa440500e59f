"""Routes of workspaces."""

import json
from typing import Annotated
from urllib.parse import unquote

from fastapi import Cookie
from pydantic import ValidationError
from starlette.responses import Response

from api.access import workspaces
from api.access.schemas import (
    Attribution,
    ChangeWorkspace,
    SignUp,
    VerificationSent,
    VerificationView,
    Verify,
    WorkspaceCreated,
    WorkspaceView,
)
from api.kernel.routing import Invoke, Router

router = Router(tags=["Account"])

FirstVisit = Annotated[str | None, Cookie(alias="svc_attr", include_in_schema=False)]


@router.post("/workspaces", status_code=201, operation_id="workspaces.create", response_model=WorkspaceCreated)
async def create_workspace(ask: SignUp, invoke: Invoke, svc_attr: FirstVisit = None) -> Response:
    """Make a workspace. The key in the answer is shown this once; a confirmation link is mailed to `email`."""
    return await invoke(workspaces.sign_up, _attributed(ask, svc_attr))


@router.post("/signup", status_code=201, operation_id="signup", response_model=WorkspaceCreated)
async def sign_up(ask: SignUp, invoke: Invoke, svc_attr: FirstVisit = None) -> Response:
    """The same as `POST /v1/workspaces`."""
    return await invoke(workspaces.sign_up_alias, _attributed(ask, svc_attr))


@router.post("/workspaces/verify", operation_id="workspaces.verify", response_model=VerificationView)
async def verify(ask: Verify, invoke: Invoke) -> Response:
    """Confirm the address with the token from the mailed link. It works once, and adds the signup credits."""
    return await invoke(workspaces.verify, ask)


@router.get("/workspace", operation_id="workspace.get", response_model=WorkspaceView)
async def get_workspace(invoke: Invoke) -> Response:
    """The workspace of the key."""
    return await invoke(workspaces.get_workspace, None)


@router.patch("/workspace", operation_id="workspace.change", response_model=WorkspaceView)
async def change_workspace(ask: ChangeWorkspace, invoke: Invoke) -> Response:
    """Change the workspace; a field that is left out stays as it is."""
    return await invoke(workspaces.change_workspace, ask)


@router.post("/workspace/verification", operation_id="workspace.send_verification", response_model=VerificationSent)
async def send_verification(invoke: Invoke) -> Response:
    """Mail the confirmation link again, at most three times a day."""
    return await invoke(workspaces.send_verification, None)


def _attributed(ask: SignUp, cookie: str | None) -> SignUp:
    if ask.attribution is not None or cookie is None:
        return ask
    return ask.model_copy(update={"attribution": first_visit(cookie)})


def first_visit(cookie: str) -> Attribution | None:
    """What the first-visit cookie says: URL-encoded JSON of the same fields. Nothing when it is malformed."""
    try:
        attribution = Attribution.model_validate_json(json.dumps(json.loads(unquote(cookie, errors="strict"))))
    except (ValidationError, ValueError, RecursionError):
        return None
    return None if "\\u0000" in attribution.model_dump_json() else attribution
