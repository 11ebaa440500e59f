"""Routes of webhook endpoints and their deliveries."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.events import endpoints
from api.events.endpoints import DeliveryRetry, EndpointChange
from api.events.schemas import (
    ChangeEndpoint,
    CreateEndpoint,
    DeliveryQuery,
    DeliveryView,
    EndpointSecret,
    EndpointTested,
    EndpointView,
    ListDeliveries,
)
from api.kernel.routing import Invoke, Router
from api.kernel.schemas import Listing, PageAsk

router = Router(tags=["Webhook endpoints"])
PATH = "/webhook-endpoints"
ONE = f"{PATH}/{{endpoint_id:id}}"


@router.get(PATH, operation_id="webhook_endpoints.list", response_model=Listing[EndpointView])
async def list_endpoints(ask: Annotated[PageAsk, Query()], invoke: Invoke) -> Response:
    """Every endpoint of the account, disabled ones included."""
    return await invoke(endpoints.list_endpoints, ask)


@router.post(PATH, status_code=201, operation_id="webhook_endpoints.create", response_model=EndpointSecret)
async def create_endpoint(ask: CreateEndpoint, invoke: Invoke) -> Response:
    """Add an endpoint, at most 10 for an account. Its secret is shown this once."""
    return await invoke(endpoints.create_endpoint, ask, location=lambda it: f"/v1{PATH}/{it.id}")


@router.get(ONE, operation_id="webhook_endpoints.get", response_model=EndpointView)
async def get_endpoint(endpoint_id: str, invoke: Invoke) -> Response:
    """One endpoint."""
    return await invoke(endpoints.get_endpoint, endpoint_id)


@router.patch(ONE, operation_id="webhook_endpoints.change", response_model=EndpointView)
async def change_endpoint(endpoint_id: str, ask: ChangeEndpoint, invoke: Invoke) -> Response:
    """Change an endpoint. `disabled` drops its pending deliveries for good."""
    return await invoke(endpoints.change_endpoint, EndpointChange(endpoint_id, ask))


@router.delete(ONE, status_code=204, operation_id="webhook_endpoints.delete")
async def delete_endpoint(endpoint_id: str, invoke: Invoke) -> Response:
    """Delete an endpoint and drop its pending deliveries."""
    return await invoke(endpoints.delete_endpoint, endpoint_id)


@router.post(f"{ONE}/rotate-secret", operation_id="webhook_endpoints.rotate_secret", response_model=EndpointSecret)
async def rotate_secret(endpoint_id: str, invoke: Invoke) -> Response:
    """Give an endpoint a new secret, shown this once. The old one stops at once, for queued retries too."""
    return await invoke(endpoints.rotate_secret, endpoint_id)


@router.post(f"{ONE}/test", operation_id="webhook_endpoints.test", response_model=EndpointTested)
async def test_endpoint(endpoint_id: str, invoke: Invoke) -> Response:
    """Send one signed `ping` now and tell what the endpoint answered. It is not retried."""
    return await invoke(endpoints.test_endpoint, endpoint_id)


@router.get(f"{ONE}/deliveries", operation_id="deliveries.list", response_model=Listing[DeliveryView])
async def list_deliveries(endpoint_id: str, query: Annotated[DeliveryQuery, Query()], invoke: Invoke) -> Response:
    """The endpoint's deliveries with every attempt, newest first."""
    return await invoke(endpoints.list_deliveries, ListDeliveries(endpoint_id=endpoint_id, **dict(query)))


@router.post(f"{ONE}/deliveries/{{delivery_id:id}}/retry", operation_id="deliveries.retry", response_model=DeliveryView)
async def retry_delivery(endpoint_id: str, delivery_id: str, invoke: Invoke) -> Response:
    """Queue one more attempt now, whatever has become of the delivery."""
    return await invoke(endpoints.retry_delivery, DeliveryRetry(endpoint_id, delivery_id))
