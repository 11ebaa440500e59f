"""Temporal's own figures stand on the page of a worker, beside ours."""

from uuid import uuid4

import pytest
from prometheus_client.parser import text_string_to_metric_families
from temporalio import activity
from temporalio.worker import Worker

import worker
from models.base.settings import Settings
from models.base.steps import Do, NextStep, Queue, Step, Subject
from models.operate.metrics import Metrics
from workflows.connection import connect
from workflows.kinds import RunWorkflow
from workflows.outbox import WorkflowWaker

pytestmark = pytest.mark.timeout(60)


@activity.defn(name="run.next")
async def done(step: Step) -> NextStep:
    return NextStep(do=Do.DONE, status="completed")


async def test_a_workers_page_shows_slots_latencies_and_the_sticky_cache(
    temporal_address: str, temporal_namespace: str
) -> None:
    chosen = Settings(
        database_url="postgresql+asyncpg://nobody@127.0.0.1:1/none",
        secret_key="a secret of the tests, long enough",
        temporal_address=temporal_address,
        temporal_namespace=temporal_namespace,
        internal_address="127.0.0.1:0",
    )
    client = await connect(chosen)
    async with Worker(
        client, task_queue=Queue.SERVICE, workflows=[RunWorkflow], activities=[done], workflow_runner=worker.runner()
    ):
        subject = Subject("run", uuid4().hex)
        await WorkflowWaker(client).wake(subject)
        await client.get_workflow_handle(subject.workflow_id).result()
        serving = (await Metrics(None).text()).decode()
    page = (await Metrics(None).text()).decode()  # what a worker has noted when it has ended
    assert "temporal_worker_task_slots_available{" in serving
    families = {family.name: family for family in text_string_to_metric_families(page)}
    slots = families["temporal_worker_task_slots_available"].samples
    assert {"WorkflowWorker", "LocalActivityWorker"} <= {sample.labels["worker_type"] for sample in slots}
    assert "temporal_sticky_cache_size" in families
    waited = families["temporal_workflow_task_schedule_to_start_latency_seconds"]
    assert waited.type == "histogram"
    of_ours = [sample for sample in waited.samples if sample.labels["namespace"] == temporal_namespace]
    counts = [sample.value for sample in of_ours if sample.name.endswith("_bucket")]
    assert counts == sorted(counts)
    assert counts[-1] == next(sample.value for sample in of_ours if sample.name.endswith("_count")) >= 1
    started = families["temporal_workflow_completed"].samples
    assert sum(sample.value for sample in started if sample.labels["namespace"] == temporal_namespace) >= 1
    assert subject.id not in page
