"""Routes of actions and direct sends."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.kernel.routing import Invoke, Router
from api.kernel.schemas import Listing
from api.outreach import actions
from api.outreach.actions import Approval, Settling
from api.outreach.actions_schemas import ActionPreview, ActionView, ApproveAction, ListActions, SendAsk, SettleAction

router = Router(tags=["Outreach actions"])
PATH = "/outreach/actions"
ONE = f"{PATH}/{{action_id:id}}"


@router.get(PATH, operation_id="outreach_actions.list", response_model=Listing[ActionView])
async def list_actions(ask: Annotated[ListActions, Query()], invoke: Invoke) -> Response:
    """Every action, newest first; `outcome=awaiting_approval` are those that wait for somebody."""
    return await invoke(actions.list_actions, ask)


@router.get(ONE, operation_id="outreach_actions.get", response_model=ActionView)
async def get_action(action_id: str, invoke: Invoke) -> Response:
    """One action, with what moved its time."""
    return await invoke(actions.get_action, action_id)


@router.post(f"{ONE}/approve", operation_id="outreach_actions.approve", response_model=ActionView | ActionPreview)
async def approve_action(action_id: str, invoke: Invoke, ask: ApproveAction | None = None) -> Response:
    """Let a held step go out as it stands; `?dry_run=true` shows the message, its time and the `preview_hash`."""
    return await invoke(actions.approve_action, Approval(action_id, ask or ApproveAction()))


@router.post(f"{ONE}/reject", operation_id="outreach_actions.reject", response_model=ActionView)
async def reject_action(action_id: str, invoke: Invoke) -> Response:
    """Skip a held step."""
    return await invoke(actions.reject_action, action_id)


@router.post(f"{ONE}/cancel", operation_id="outreach_actions.cancel", response_model=ActionView)
async def cancel_action(action_id: str, invoke: Invoke) -> Response:
    """Cancel a direct send that has not gone out."""
    return await invoke(actions.cancel_action, action_id)


@router.post(f"{ONE}/settle", operation_id="outreach_actions.settle", response_model=ActionView)
async def settle_action(action_id: str, ask: SettleAction, invoke: Invoke) -> Response:
    """Say what became of an action whose outcome is unknown. It is never sent again by itself."""
    return await invoke(actions.settle_action, Settling(action_id, ask))


@router.post(
    "/outreach/sends", status_code=202, operation_id="outreach_sends.create", response_model=ActionView | ActionPreview
)
async def send(ask: SendAsk, invoke: Invoke) -> Response:
    """Queue one invite, message, profile visit or invite withdrawal, or preview it with `?dry_run=true`."""
    return await invoke(actions.send, ask, location=_address)


def _address(answer: ActionView | ActionPreview) -> str | None:
    return f"/v1{PATH}/{answer.id}" if isinstance(answer, ActionView) else None
