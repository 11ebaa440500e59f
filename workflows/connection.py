"""The Temporal client of this installation, the same in every process."""

from datetime import timedelta
from pathlib import Path

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.service import TLSConfig

from models.base.settings import Settings
from workflows import temporal_figures
from workflows.propagation import ContextPropagation


async def connect(settings: Settings, *, lazy: bool = False) -> Client:
    """Return a client; a lazy one connects on its first call, which raises `RuntimeError` if that fails."""
    key = settings.temporal_api_key
    return await Client.connect(
        settings.temporal_address,
        namespace=settings.temporal_namespace,
        api_key=key.get_secret_value() if key else None,
        tls=tls(settings),
        data_converter=pydantic_data_converter,
        lazy=lazy,
        interceptors=[ContextPropagation()],
        runtime=temporal_figures.runtime() if settings.internal_address else None,
    )


def tls(settings: Settings) -> bool | TLSConfig | None:
    """Return the TLS configuration; null leaves it to the SDK, which uses TLS with an API key. Reads the files named.

    Raises `OSError` for a file that cannot be read.
    """
    certificate, key = settings.temporal_tls_client_cert_path, settings.temporal_tls_client_key_path
    authority, name = settings.temporal_tls_server_ca_cert_path, settings.temporal_tls_server_name
    if settings.temporal_tls is False or not any((certificate, key, authority, name)):
        return settings.temporal_tls
    return TLSConfig(
        server_root_ca_cert=_read(authority), domain=name, client_cert=_read(certificate), client_private_key=_read(key)
    )


def _read(path: str | None) -> bytes | None:
    return Path(path).read_bytes() if path is not None else None


async def reachable(client: Client) -> str:
    """Return `ok` if Temporal's frontend serves, else `not_serving`. Raises if it does not answer in two seconds."""
    serving = await client.service_client.check_health(timeout=timedelta(seconds=2))
    return "ok" if serving else "not_serving"
