"""Time-outs and retries. Retries a person would want to see are waits in the loop, not policies."""

from datetime import timedelta

from temporalio.common import RetryPolicy

ASK_LIMIT = timedelta(seconds=15)
"""For one database step run in the worker that asks."""

ASK_RETRIES = RetryPolicy(
    initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=10), maximum_attempts=3
)

CALL_RETRIES = RetryPolicy(
    initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=15), maximum_attempts=4
)
"""For a worker that died or froze in the middle: the call is fenced by its row, so that repeating it is safe."""

AFTER_FAILURE_SECONDS = 60.0
"""A step that failed is asked again after this; a workflow never ends because a step failed."""

UPSTREAM_LIMIT = timedelta(seconds=120)
"""For one upstream call that a caller waits for, its repetition and its commit included."""

UPSTREAM_HEARTBEAT_LIMIT = timedelta(seconds=9)
