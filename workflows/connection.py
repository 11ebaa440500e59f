"""The Temporal client of this installation, the same in every process."""

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from models.settings import Settings


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
    )
