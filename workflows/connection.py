"""The Temporal client of this installation, the same in every process."""

from datetime import timedelta

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from models.settings import Settings
from workflows import measured
from workflows.handing_on import HandingOn


async def connect(settings: Settings, *, lazy: bool = False) -> Client:
    """A client; a lazy one connects with its first call, which raises `RuntimeError` when it cannot."""
    key = settings.temporal_api_key
    return await Client.connect(
        settings.temporal_address,
        namespace=settings.temporal_namespace,
        api_key=key.get_secret_value() if key else None,
        tls=settings.temporal_tls,
        data_converter=pydantic_data_converter,
        lazy=lazy,
        interceptors=[HandingOn()],
        runtime=measured.runtime() if settings.internal_address else None,
    )


async def reachable(client: Client) -> str:
    """`ok` when Temporal's frontend serves, else `not_serving`. Raises when it does not answer within two seconds."""
    serving = await client.service_client.check_health(timeout=timedelta(seconds=2))
    return "ok" if serving else "not_serving"
