"""The audit trail of the account."""

from api.operations.kernel import Context, Effect, operation
from api.schemas.account import AuditEntryView
from api.schemas.lists import Listing, PageAsk
from models.rules.access import Scope
from models.stores import audit
from models.tables import AuditEntry
from models.tenancy import customer_of


@operation("audit_entries.list", scope=Scope.ACCOUNT_READ, effect=Effect.READ)
async def list_entries(ctx: Context, ask: PageAsk) -> Listing[AuditEntryView]:
    """Who changed what, newest first."""
    paging = ctx.paging(ask)
    return paging.listing(await audit.entries(ctx.session, ctx.tenant.workspace_id, paging.page), _view)


def _view(entry: AuditEntry) -> AuditEntryView:
    shown = entry.model_dump(include=set(AuditEntryView.model_fields))
    return AuditEntryView.model_validate(shown | {"customer_id": customer_of(entry.tenant_id)})
