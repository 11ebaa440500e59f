"""Customers of an account (contract, section 4)."""

from dataclasses import dataclass

from api.access.schemas import AuditEntryView, ChangeCustomer, CreateCustomer, CustomerView
from api.access.workspaces import ACCOUNT
from api.kernel.operation import Context, Effect, Noun, operation
from api.kernel.schemas import Listing, PageAsk
from models.access.rules.keys import Scope
from models.access.store import keys, workspaces
from models.access.tables import AuditEntry, Customer
from models.base.errors import Conflict, InvalidRequest, NotFound
from models.base.ids import new_id
from models.base.tenants import customer_of

CUSTOMERS = Noun("Customers", "Those on whose behalf a workspace acts, each with data of its own.")


@dataclass(frozen=True, slots=True)
class CustomerChange:
    """A customer and what is to become of it."""

    customer_id: str
    change: ChangeCustomer


@operation("customers.list", scope=Scope.ACCOUNT_READ, effect=Effect.READ, route=CUSTOMERS.get("/customers"))
async def list_customers(ctx: Context, ask: PageAsk) -> Listing[CustomerView]:
    """Every customer, disabled ones included."""
    paging = ctx.paging(ask)
    found = await workspaces.page_of_customers(ctx.session, ctx.tenant.workspace_id, paging.page)
    spent = await keys.spent_on_day(ctx.session, [row.id for row in found.rows], ctx.now.date())
    return paging.listing(found, lambda row: _shown(row, spent.get(row.id, 0)))


@operation(
    "customers.get", scope=Scope.ACCOUNT_READ, effect=Effect.READ, route=CUSTOMERS.get("/customers/{customer_id:id}")
)
async def get_customer(ctx: Context, customer_id: str) -> CustomerView:
    """One customer."""
    return await _view(ctx, await _find(ctx, customer_id))


@operation(
    "customers.create",
    scope=Scope.ACCOUNT_WRITE,
    effect=Effect.WRITE,
    route=CUSTOMERS.post("/customers", status=201, location="/customers/{answer.id}"),
)
async def create_customer(ctx: Context, ask: CreateCustomer) -> CustomerView:
    """Add a customer. `external_id` is your own name for it and unique."""
    await workspaces.lock_workspace(ctx.session, ctx.tenant.workspace_id)
    now = await ctx.read_clock()
    await _check_external_id(ctx, ask.external_id)
    row = Customer(
        id=new_id("cus", now),
        workspace_id=ctx.tenant.workspace_id,
        name=ask.name,
        external_id=ask.external_id,
        daily_cap_credits=ask.daily_cap_credits,
        created_at=now,
    )
    ctx.session.add(row)
    await ctx.note("customer.created", subject_id=row.id)
    return _shown(row, 0)


@operation(
    "customers.change",
    scope=Scope.ACCOUNT_WRITE,
    effect=Effect.WRITE,
    route=CUSTOMERS.patch("/customers/{customer_id:id}"),
)
async def change_customer(ctx: Context, ask: CustomerChange) -> CustomerView:
    """Change a customer, or disable it: its keys are refused, its runs fail."""
    await workspaces.lock_workspace(ctx.session, ctx.tenant.workspace_id)
    await ctx.read_clock()
    row = await _find(ctx, ask.customer_id)
    change, given = ask.change, ask.change.model_fields_set
    for name in given & {"name", "status"}:
        if getattr(change, name) is None:
            raise InvalidRequest(f"{name} cannot be null.", field=name)
    if "external_id" in given and change.external_id != row.external_id:
        await _check_external_id(ctx, change.external_id)
    for name in given:
        setattr(row, name, getattr(change, name))
    await ctx.note("customer.changed", subject_id=row.id, data={"fields": sorted(given)})
    return await _view(ctx, row)


async def _check_external_id(ctx: Context, external_id: str | None) -> None:
    if external_id is None:
        return
    if await workspaces.is_external_id_taken(ctx.session, ctx.tenant.workspace_id, external_id):
        raise Conflict("Another customer has this external_id.", field="external_id")


async def _find(ctx: Context, customer_id: str) -> Customer:
    row = await workspaces.find_customer(ctx.session, ctx.tenant.workspace_id, customer_id)
    if row is None:
        raise NotFound("There is no such customer in this workspace.")
    return row


async def _view(ctx: Context, row: Customer) -> CustomerView:
    spent = await keys.spent_on_day(ctx.session, [row.id], ctx.now.date())
    return _shown(row, spent.get(row.id, 0))


def _shown(row: Customer, spent_today: int) -> CustomerView:
    shown = row.model_dump(include=set(CustomerView.model_fields))
    return CustomerView.model_validate(shown | {"spent_today_credits": spent_today})


# The audit trail.


@operation("audit_entries.list", scope=Scope.ACCOUNT_READ, effect=Effect.READ, route=ACCOUNT.get("/audit-entries"))
async def list_entries(ctx: Context, ask: PageAsk) -> Listing[AuditEntryView]:
    """Who changed what on the account."""
    paging = ctx.paging(ask)
    return paging.listing(
        await workspaces.page_of_audit_entries(ctx.session, ctx.tenant.workspace_id, paging.page), _entry_view
    )


def _entry_view(entry: AuditEntry) -> AuditEntryView:
    shown = entry.model_dump(include=set(AuditEntryView.model_fields))
    return AuditEntryView.model_validate(shown | {"customer_id": customer_of(entry.tenant_id)})
