"""Routes of customers."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.operations import customers as operations
from api.operations.customers import CustomerChange
from api.rest.routing import Invoke, Router
from api.schemas.account import ChangeCustomer, CreateCustomer, CustomerView
from api.schemas.lists import Listing, PageAsk

router = Router(tags=["Customers"])


@router.get("/customers", operation_id="customers.list", response_model=Listing[CustomerView])
async def list_customers(ask: Annotated[PageAsk, Query()], invoke: Invoke) -> Response:
    """Every customer, disabled ones included."""
    return await invoke(operations.list_customers, ask)


@router.post("/customers", status_code=201, operation_id="customers.create", response_model=CustomerView)
async def create_customer(ask: CreateCustomer, invoke: Invoke) -> Response:
    """Add a customer. `external_id` is your own name for it and unique."""
    return await invoke(operations.create_customer, ask, location=lambda made: f"/v1/customers/{made.id}")


@router.get("/customers/{customer_id:id}", operation_id="customers.get", response_model=CustomerView)
async def get_customer(customer_id: str, invoke: Invoke) -> Response:
    """One customer."""
    return await invoke(operations.get_customer, customer_id)


@router.patch("/customers/{customer_id:id}", operation_id="customers.change", response_model=CustomerView)
async def change_customer(customer_id: str, ask: ChangeCustomer, invoke: Invoke) -> Response:
    """Change a customer, or disable it: its keys are refused, its runs fail."""
    return await invoke(operations.change_customer, CustomerChange(customer_id, ask))
