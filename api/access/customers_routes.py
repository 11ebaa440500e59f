"""Routes of customers."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.access import customers
from api.access.customers import CustomerChange
from api.access.schemas import ChangeCustomer, CreateCustomer, CustomerView
from api.kernel.routing import Invoke, Router
from api.kernel.schemas import Listing, PageAsk

router = Router(tags=["Customers"])


@router.get("/customers", operation_id="customers.list", response_model=Listing[CustomerView])
async def list_customers(ask: Annotated[PageAsk, Query()], invoke: Invoke) -> Response:
    """Every customer, disabled ones included."""
    return await invoke(customers.list_customers, ask)


@router.post("/customers", status_code=201, operation_id="customers.create", response_model=CustomerView)
async def create_customer(ask: CreateCustomer, invoke: Invoke) -> Response:
    """Add a customer. `external_id` is your own name for it and unique."""
    return await invoke(customers.create_customer, ask, location=lambda made: f"/v1/customers/{made.id}")


@router.get("/customers/{customer_id:id}", operation_id="customers.get", response_model=CustomerView)
async def get_customer(customer_id: str, invoke: Invoke) -> Response:
    """One customer."""
    return await invoke(customers.get_customer, customer_id)


@router.patch("/customers/{customer_id:id}", operation_id="customers.change", response_model=CustomerView)
async def change_customer(customer_id: str, ask: ChangeCustomer, invoke: Invoke) -> Response:
    """Change a customer, or disable it: its keys are refused, its runs fail."""
    return await invoke(customers.change_customer, CustomerChange(customer_id, ask))
