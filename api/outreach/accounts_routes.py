"""Routes of outreach accounts, their limits, and the settings of outreach."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.kernel.routing import Invoke, Router
from api.kernel.schemas import Listing
from api.outreach import accounts, limits, settings
from api.outreach.accounts_schemas import AccountConnecting, AccountView, ConnectAccount, ListAccounts
from api.outreach.limits import LimitsChange
from api.outreach.limits_schemas import ChangeLimits, LimitsView
from api.outreach.settings_schemas import ChangeSettings, SettingsView

router = Router(tags=["Outreach accounts"])
PATH = "/outreach/accounts"
ONE = f"{PATH}/{{account_id:id}}"


@router.get(PATH, operation_id="outreach_accounts.list", response_model=Listing[AccountView])
async def list_accounts(ask: Annotated[ListAccounts, Query()], invoke: Invoke) -> Response:
    """Every account, newest first."""
    return await invoke(accounts.list_accounts, ask)


@router.post(PATH, status_code=201, operation_id="outreach_accounts.connect", response_model=AccountConnecting)
async def connect_account(ask: ConnectAccount, invoke: Invoke) -> Response:
    """Get a link by which the owner of a network account signs in. 49 EUR a month once it is connected."""
    return await invoke(accounts.connect_account, ask, location=lambda it: f"/v1{PATH}/{it.account.id}")


@router.get(ONE, operation_id="outreach_accounts.get", response_model=AccountView)
async def get_account(account_id: str, invoke: Invoke) -> Response:
    """One account."""
    return await invoke(accounts.get_account, account_id)


@router.delete(ONE, status_code=204, operation_id="outreach_accounts.delete")
async def delete_account(account_id: str, invoke: Invoke) -> Response:
    """Remove an account. Its open enrollments fail; its messages are deleted after 30 days."""
    return await invoke(accounts.delete_account, account_id)


@router.post(f"{ONE}/reconnect", operation_id="outreach_accounts.reconnect", response_model=AccountConnecting)
async def reconnect_account(account_id: str, invoke: Invoke) -> Response:
    """Get a link by which the owner signs in again. Resume the account afterwards."""
    return await invoke(accounts.reconnect_account, account_id)


@router.post(f"{ONE}/pause", operation_id="outreach_accounts.pause", response_model=AccountView)
async def pause_account(account_id: str, invoke: Invoke) -> Response:
    """Send nothing from this account until it is resumed."""
    return await invoke(accounts.pause_account, account_id)


@router.post(f"{ONE}/resume", operation_id="outreach_accounts.resume", response_model=AccountView)
async def resume_account(account_id: str, invoke: Invoke) -> Response:
    """Send again. Needed after a pause by hand, a disconnect or a restriction; a network pause ends by itself."""
    return await invoke(accounts.resume_account, account_id)


@router.get(f"{ONE}/limits", operation_id="outreach_limits.get", response_model=LimitsView)
async def get_limits(account_id: str, invoke: Invoke) -> Response:
    """Today's caps of an account, what is used of them, and when there is room again."""
    return await invoke(limits.get_limits, account_id)


@router.patch(f"{ONE}/limits", operation_id="outreach_limits.change", response_model=LimitsView)
async def change_limits(account_id: str, ask: ChangeLimits, invoke: Invoke) -> Response:
    """Change an account's caps. Above the default only with `risk_acknowledged: true`."""
    return await invoke(limits.change_limits, LimitsChange(account_id, ask))


@router.get("/outreach/settings", operation_id="outreach_settings.get", response_model=SettingsView)
async def get_settings(invoke: Invoke) -> Response:
    """Working hours, and the caps that were lowered for all accounts."""
    return await invoke(settings.get_settings, None)


@router.patch("/outreach/settings", operation_id="outreach_settings.change", response_model=SettingsView)
async def change_settings(ask: ChangeSettings, invoke: Invoke) -> Response:
    """Change working hours or lower caps. What is planned is planned anew."""
    return await invoke(settings.change_settings, ask)
