"""How long state machines run: shortly in `make test`, for as many `EXAMPLES` as are asked for in `make machines`."""

import os

from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("EXAMPLES", "0"))
SETTINGS = settings(
    max_examples=EXAMPLES or 5,
    stateful_step_count=30 if EXAMPLES else 16,
    deadline=None,
    derandomize=not EXAMPLES,
    database=None,
    suppress_health_check=list(HealthCheck),
)
