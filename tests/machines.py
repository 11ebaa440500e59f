"""How long state machines run: shortly in `make test`, for as many `EXAMPLES` as are asked for in `make machines`."""

import os

from hypothesis import HealthCheck, Phase, settings

EXAMPLES = int(os.environ.get("EXAMPLES", "0"))
SETTINGS = settings(
    max_examples=EXAMPLES or 5,
    stateful_step_count=30 if EXAMPLES else 16,
    # shrinking repeats a failing history for minutes: only the long form has them
    phases=tuple(Phase) if EXAMPLES else (Phase.generate,),
    deadline=None,
    derandomize=not EXAMPLES,
    database=None,
    suppress_health_check=list(HealthCheck),
)
