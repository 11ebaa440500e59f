"""Both clients of the TypeScript SDK, each through the main job, against a running installation."""

import json

from tests.conformance import node_programs
from tests.conformance.outcomes import Outcome, Verdict

CLIENTS = ("legacy", "modern")
"""By the era of the protocol that they speak."""
FEWEST = 12
"""Checks that each client goes through."""
CHECK = '{"check":'
TAIL = 2000


def run(url: str, api_key: str, client: str) -> list[Outcome]:
    """What a client's checks say about the MCP address `url`; the workspace of the key spends credits."""
    done = node_programs.run(node_programs.FOLDER / f"{client}.mjs", url, api_key)
    return outcomes(f"typescript client, {client}", done, fewest=FEWEST)


def outcomes(part: str, done: node_programs.Done, *, fewest: int) -> list[Outcome]:
    """What a program of checks has said; it has failed when it made fewer than it should."""
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(CHECK)]
    found = [
        Outcome(part, line["check"], Verdict.FAILED if line["problem"] else Verdict.PASSED, line["problem"] or "")
        for line in told
    ]
    clean = done.returncode == 0 and len(found) >= fewest
    if not clean and not any(outcome.verdict is Verdict.FAILED for outcome in found):
        problem = f"only {len(found)} were made: {done.stdout[-TAIL:]}{done.stderr[-TAIL:]}"
        found.append(Outcome(part, "all checks", Verdict.FAILED, problem))
    return found
