"""Time-outs and retries. Retries that an operator wants to see are waits in the loop, not policies."""

from datetime import timedelta

from temporalio.common import RetryPolicy

ASK_LIMIT = timedelta(seconds=15)
"""Time-out of one database step, run in the worker that asks."""

ASK_RETRIES = RetryPolicy(
    initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=10), maximum_attempts=3
)

CALL_RETRIES = RetryPolicy(
    initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=15), maximum_attempts=4
)
"""Retries after a worker died or froze during a call: the call is fenced by its row, so repeating it is safe."""

AFTER_FAILURE_SECONDS = 60.0
"""Seconds after which a failed step is asked again; a workflow never ends because a step failed."""

UPSTREAM_LIMIT = timedelta(seconds=120)
"""Time-out of one upstream call that a caller waits for, including its repetition and its commit."""

UPSTREAM_HEARTBEAT_LIMIT = timedelta(seconds=9)
