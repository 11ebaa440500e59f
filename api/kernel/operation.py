"""Operations: name, scope, effect, route and handler, and the context of a handler."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request

from api.kernel.schemas import Listing, PageAsk
from models.access.rules.keys import Caller, Scope
from models.access.tables import AuditEntry
from models.base import outbox
from models.base.database import Database, Statements, service_time
from models.base.idempotency import Use
from models.base.ids import new_id
from models.base.paging import Cursors, Page, Slice
from models.base.secrets import Vault
from models.base.settings import Settings
from models.base.steps import Subject
from models.base.tables import Payload
from models.base.tenants import Tenant
from models.billing.store.credits import Payer
from models.market.reference import ShippedReference, reference
from models.sourcing.rules.filters import PEOPLE_DATA_LABS
from models.sourcing.rules.plans import Knowledge

R = TypeVar("R")
V = TypeVar("V")

CURSOR_PURPOSE = "cursor"


@dataclass(frozen=True, slots=True)
class Reference:
    """The shipped reference data, and the part of it that planning uses."""

    shipped: ShippedReference
    knowledge: Knowledge


def load_reference() -> Reference:
    """Load everything."""
    shipped = reference()
    return Reference(
        shipped=shipped,
        knowledge=Knowledge(
            titles=shipped.titles,
            places=shipped.places,
            companies=shipped.companies,
            statistics=shipped.statistics,
            source=PEOPLE_DATA_LABS,
        ),
    )


@dataclass(frozen=True, slots=True)
class Paging:
    """One page of a list: the requested page, and the listing made of the rows found."""

    page: Page
    cursors: Cursors

    def listing(self, found: Slice[R], view: Callable[[R], V]) -> Listing[V]:
        """Return the answer, with each row as `view` shows it."""
        following = self.cursors.write(found.next)
        return Listing(data=[view(row) for row in found.rows], next_cursor=following, has_more=following is not None)


@dataclass(slots=True)
class Context:
    """One attempt at one operation. A repeated transaction gets a new one.

    `now` is service time, read when the transaction began; a handler that takes locks reads it again with
    `await ctx.read_clock()` once it has them. `version` is the API version of the request. `statements` is for
    operations that only read one row, often. `about` holds the marks of people whom the answer names without their ids
    (`models.people.store.suppressions`): the stored answer is deleted with them.
    """

    session: AsyncSession
    statements: Statements
    now: datetime
    dry_run: bool
    version: str
    settings: Settings
    vault: Vault
    reference: Reference
    operation_name: str
    known_caller: Caller | None
    known_tenant: Tenant | None
    known_use: Use | None = None
    network: str = ""
    """The network of the caller, for limits by network."""
    woken: list[Subject] = field(default_factory=list)
    about: set[str] = field(default_factory=set)
    if_refused: Callable[[AsyncSession], Awaitable[None]] | None = None
    """Runs in a separate transaction if the handler refuses an executing call, to record something such as a reached
    cap. Set it right before raising."""
    afterwards: Callable[[Database], Awaitable[object]] | None = None
    """Returns the answer instead of the handler, once the transaction is committed and the rows are woken."""

    @property
    def caller(self) -> Caller:
        """The caller; operations without a scope have none."""
        if self.known_caller is None:
            raise AssertionError(f"{self.operation_name} takes no key and has no caller")
        return self.known_caller

    @property
    def tenant(self) -> Tenant:
        """The account, or the customer that the key or the Service-Customer header selects."""
        if self.known_tenant is None:
            raise AssertionError(f"{self.operation_name} takes no key and has no tenant")
        return self.known_tenant

    @property
    def payer(self) -> Payer:
        """The payer of everything that this call starts."""
        return Payer(self.tenant.workspace_id, self.caller.api_key_id, self.tenant.customer_id)

    @property
    def use(self) -> Use:
        """The Idempotency-Key this call uses; previews and operations that do not spend use none."""
        if self.known_use is None:
            raise AssertionError(f"{self.operation_name} is not executed under a key")
        return self.known_use

    async def read_clock(self) -> datetime:
        """Read service time again, after the locks are held."""
        self.now = await service_time(self.session)
        return self.now

    async def wake(self, subject: Subject) -> None:
        """Wake a waiting row of this transaction: its workflow is signalled after the commit."""
        await self.session.flush()
        await outbox.wake(self.session, subject)
        self.woken.append(subject)

    async def note(self, action: str, *, subject_id: str | None = None, data: Payload | None = None) -> None:
        """Write an action of the key to the audit trail, in this transaction.

        `data` holds ids, field names and numbers, never personal data.
        """
        self.session.add(
            AuditEntry(
                id=new_id("aud", self.now),
                workspace_id=self.tenant.workspace_id,
                tenant_id=self.tenant.id,
                api_key_id=self.caller.api_key_id,
                action=action,
                subject_id=subject_id,
                data=data or {},
                created_at=self.now,
            )
        )
        await self.session.flush()

    def paging(self, ask: PageAsk, *, within: str = "") -> Paging:
        """Read the cursor of a list. `within` is the id of the object to which the list belongs, if any.

        Raises `InvalidRequest` with field `cursor` for a cursor that is damaged or belongs to another list.
        """
        filters = ask.model_dump(mode="json", exclude=set(ask.free))
        cursors = Cursors(
            self.vault.keyed_hash(CURSOR_PURPOSE, "tag"),
            list_name=f"{self.operation_name}/{self.tenant.id}/{within}",
            filters=filters,
        )
        page = Page(ask.limit, cursors.read(ask.cursor), ask.created_after, ask.created_before)
        return Paging(page, cursors)


A = TypeVar("A")
B = TypeVar("B")

Handler = Callable[[Context, A], Awaitable[B]]
Beforehand = Callable[[Settings, A], Awaitable[None]]


class Effect(StrEnum):
    """The effect of executing an operation. SPEND and SEND can be previewed and need an Idempotency-Key."""

    READ = "read"
    WRITE = "write"
    SPEND = "spend"
    SEND = "send"


@dataclass(frozen=True, slots=True)
class OtherAnswer:
    """A second answer of a route: `status` and `location` replace the route's own if `applies` to the answer."""

    status: int
    model: type[BaseModel]
    description: str
    applies: Callable[[Any], bool]
    location: str | None = None


@dataclass(frozen=True, slots=True)
class Sheet:
    """The spreadsheet for `Accept: text/csv`: these columns of every row of the list, with `asked` as changed input."""

    columns: Sequence[str]
    asked: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestRoute:
    """The REST route of an operation, under `/v1`; its input and answer follow from the handler's signature.

    `location` is the address of what was created, a template of the answer: `/runs/{answer.run.id}`. `completed` adds
    input that only the HTTP request has, such as a cookie.
    """

    noun: "Noun"
    method: str
    path: str
    status: int = 200
    location: str | None = None
    other: OtherAnswer | None = None
    sheet: Sheet | None = None
    completed: Callable[[Any, Request], Any] | None = None


@dataclass(frozen=True, slots=True)
class Noun:
    """A group of routes in the documentation, with its text. Its methods create the routes."""

    name: str
    text: str

    def get(self, path: str, *, sheet: Sheet | None = None) -> RestRoute:
        """Return a route that reads; with `sheet`, its list is available as a spreadsheet too."""
        return RestRoute(noun=self, method="GET", path=path, sheet=sheet)

    def post(
        self,
        path: str,
        *,
        status: int = 200,
        location: str | None = None,
        other: OtherAnswer | None = None,
        completed: Callable[[Any, Request], Any] | None = None,
    ) -> RestRoute:
        """Return a route that creates or does something; see `RestRoute` for the arguments."""
        return RestRoute(
            noun=self, method="POST", path=path, status=status, location=location, other=other, completed=completed
        )

    def put(self, path: str) -> RestRoute:
        """Return a route that replaces something."""
        return RestRoute(noun=self, method="PUT", path=path)

    def patch(self, path: str) -> RestRoute:
        """Return a route that changes the given fields."""
        return RestRoute(noun=self, method="PATCH", path=path)

    def delete(self, path: str) -> RestRoute:
        """Return a route that removes something and returns nothing."""
        return RestRoute(noun=self, method="DELETE", path=path, status=204)


@dataclass(frozen=True, slots=True)
class Operation(Generic[A, B]):
    """One operation of the service, for both REST and tools.

    `scope` null: no key is needed. `for_customers`: a customer-bound key may call it; false makes it an account route.
    `route` null: REST does not serve it. `beforehand` checks the input before the transaction begins; slow checks go
    there. `fails` are error statuses beyond those of every operation of its scope and effect.
    """

    name: str
    scope: Scope | None
    effect: Effect
    handler: Handler[A, B]
    for_customers: bool
    route: RestRoute | None = None
    beforehand: Beforehand[A] | None = None
    fails: frozenset[int] = frozenset()

    @property
    def executes(self) -> bool:
        """Whether it spends or sends: it then has a dry run, and executing it needs an Idempotency-Key."""
        return self.effect in (Effect.SPEND, Effect.SEND)


OPERATIONS: dict[str, Operation[Any, Any]] = {}
"""Every operation by name, which is also the operation id of its REST route."""


def operation(
    name: str,
    *,
    scope: Scope | None,
    effect: Effect,
    route: RestRoute | None = None,
    for_customers: bool | None = None,
    beforehand: Beforehand[Any] | None = None,
    fails: Iterable[int] = (),
) -> Callable[[Handler[A, B]], Operation[A, B]]:
    """Turn a handler into an operation. Operations of the account family are account routes unless `for_customers`."""
    account = scope is not None and scope.family == "account"

    def register(handler: Handler[A, B]) -> Operation[A, B]:
        if name in OPERATIONS:
            raise ValueError(f"two operations are called {name}")
        made = Operation(
            name=name,
            scope=scope,
            effect=effect,
            handler=handler,
            for_customers=not account if for_customers is None else for_customers,
            route=route,
            beforehand=beforehand,
            fails=frozenset(fails),
        )
        OPERATIONS[name] = made
        return made

    return register
