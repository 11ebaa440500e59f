"""Registering search attributes and retention with a Temporal server: at every start, embedded or in containers."""

import argparse
import asyncio
import os
import time

from google.protobuf.duration_pb2 import Duration
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    RegisterNamespaceRequest,
    UpdateNamespaceRequest,
)
from temporalio.client import Client
from temporalio.envconfig import ClientConfigProfile
from temporalio.service import RPCError, RPCStatusCode

from stack.compose import TemporalConfiguration, read_temporal

LIMIT_SECONDS = 45.0
PAUSE_SECONDS = 0.1
# Answers of a server that has just started, or does not know a new namespace yet.
NOT_YET = {RPCStatusCode.UNAVAILABLE, RPCStatusCode.NOT_FOUND, RPCStatusCode.DEADLINE_EXCEEDED}


async def register(address: str, namespace: str, wanted: TemporalConfiguration) -> None:
    """Create `namespace` with the wanted retention and search attributes; may be repeated.

    The standard variables `TEMPORAL_API_KEY` and `TEMPORAL_TLS…` say how to connect.

    Raises:
        TimeoutError: the server did not accept them within 45 seconds.
        RPCError: the server refused them.
    """
    told = ClientConfigProfile.load(disable_file=True).to_client_connect_config()
    key, tls = told.get("api_key"), told.get("tls")
    deadline = time.monotonic() + LIMIT_SECONDS
    while True:
        try:
            client = await Client.connect(address, namespace=namespace, api_key=key, tls=tls)
            await _keep(client, namespace, wanted)
            await _search_attributes(client, namespace, wanted)
        except (RPCError, RuntimeError) as problem:
            # The SDK reports a failed connection as a bare RuntimeError.
            if isinstance(problem, RPCError) and problem.status not in NOT_YET:
                raise
            if time.monotonic() > deadline:
                raise TimeoutError(f"Temporal at {address} is not usable: {problem}") from problem
            await asyncio.sleep(PAUSE_SECONDS)
        else:
            return


async def _keep(client: Client, namespace: str, wanted: TemporalConfiguration) -> None:
    service = client.workflow_service
    period = Duration(seconds=int(wanted.retention.total_seconds()))
    try:
        found = await service.describe_namespace(DescribeNamespaceRequest(namespace=namespace))
    except RPCError as problem:
        if problem.status is not RPCStatusCode.NOT_FOUND:
            raise
        asked = RegisterNamespaceRequest(namespace=namespace, workflow_execution_retention_period=period)
        await service.register_namespace(asked)
        return
    if found.config.workflow_execution_retention_ttl.seconds != period.seconds:
        config = NamespaceConfig(workflow_execution_retention_ttl=period)
        await service.update_namespace(UpdateNamespaceRequest(namespace=namespace, config=config))


async def _search_attributes(client: Client, namespace: str, wanted: TemporalConfiguration) -> None:
    service = client.operator_service
    kinds = {
        name: IndexedValueType.Value(f"INDEXED_VALUE_TYPE_{kind.upper()}")
        for name, kind in wanted.search_attributes.items()
    }
    await service.add_search_attributes(AddSearchAttributesRequest(search_attributes=kinds, namespace=namespace))
    listed = await service.list_search_attributes(ListSearchAttributesRequest(namespace=namespace))
    missing = set(kinds) - set(listed.custom_attributes)
    if missing:
        raise TimeoutError(f"Temporal did not register the search attributes {sorted(missing)}")


def main() -> None:
    """Run the command `python -m stack.register --address HOST:PORT [--namespace NAME]`."""
    parser = argparse.ArgumentParser(prog="python -m stack.register", description=__doc__)
    parser.add_argument("--address", required=True, help="host:port of the Temporal frontend")
    parser.add_argument("--namespace", default="default", help="namespace to prepare (default: default)")
    asked = parser.parse_args()
    asyncio.run(register(asked.address, asked.namespace, read_temporal()))
    # The SDK's threads sometimes abort an interpreter that is shutting down; the work is done by then.
    os._exit(0)


if __name__ == "__main__":
    main()
