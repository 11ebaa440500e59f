"""Both clients of the TypeScript SDK, each doing the main job on a running installation."""

import json

from tests.conformance import node_programs
from tests.conformance.outcomes import Outcome, Verdict

CLIENTS = ("legacy", "modern")
"""The clients, by their protocol version."""
FEWEST = 12
"""The fewest checks that each client makes."""
CHECK = '{"check":'
TAIL = 2000


def run(url: str, api_key: str, client: str) -> list[Outcome]:
    """Return the outcomes of a client at the MCP address `url`; the workspace of the key spends credits."""
    done = node_programs.run(node_programs.FOLDER / f"{client}.mjs", url, api_key)
    return outcomes(f"typescript client, {client}", done, fewest=FEWEST)


def outcomes(part: str, done: node_programs.Done, *, fewest: int) -> list[Outcome]:
    """Return the outcomes that a program printed, with a failure if they are fewer than `fewest`."""
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
