"""Both clients of the TypeScript SDK, each through the main job, against a running installation."""

import json

from tests.conformance import node_programs
from tests.conformance.outcomes import Outcome, Verdict

CLIENTS = ("legacy", "modern")
FEWEST = 12
"""Checks that each client goes through."""


def run(url: str, api_key: str, client: str) -> list[Outcome]:
    """What a client's checks say about the MCP address `url`; the workspace of the key spends credits."""
    part = f"typescript client, {client}"
    done = node_programs.run(node_programs.FOLDER / f"{client}.mjs", url, api_key)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    outcomes = [
        Outcome(part, line["check"], Verdict.FAILED if line["problem"] else Verdict.PASSED, line["problem"] or "")
        for line in told
    ]
    clean = done.returncode == 0 and len(outcomes) >= FEWEST
    if not clean and not any(outcome.verdict is Verdict.FAILED for outcome in outcomes):
        outcomes.append(Outcome(part, "all checks", Verdict.FAILED, f"only {len(outcomes)} were made: {done.stderr}"))
    return outcomes
