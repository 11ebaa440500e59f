"""`make mcp-conformance`: prove the MCP address by others' software, on an installation of its own.

Ends with a table, and with 1 when something failed that is not expected to. Everything started is ended.
"""

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.conformance import clients, inspector, node_programs, server_suite
from tests.conformance.outcomes import Outcome, failures, table
from tests.conformance.serving import fixtured
from tests.journeys.installation import installed
from tests.journeys.recruiter import Recruiter

POPULATION = 3000


def prove(facts: dict[str, Any], output: Path) -> Iterator[Outcome]:
    """Every proof on one installation, of which `facts` are what `up` said."""
    with fixtured(facts, _key(facts)) as url:
        for revision in server_suite.REVISIONS:
            yield from server_suite.run(url, revision, output / revision)
    for era in inspector.ERAS:
        yield from inspector.run(facts["mcp_url"], _key(facts), era)
    for client in clients.CLIENTS:
        yield from clients.run(facts["mcp_url"], _key(facts), client)


def _key(facts: dict[str, Any]) -> str:
    """Of a workspace of its own: the requests of a key are limited."""
    return Recruiter.join(facts, name="Conformance").api_key


@contextmanager
def installation(facts: Path | None) -> Iterator[dict[str, Any]]:
    """An installation that runs already, or one that lasts as long as the proofs."""
    if facts is not None:
        yield json.loads(facts.read_text())
        return
    with installed("--population", str(POPULATION)) as made:
        yield made.facts


def shown(outcome: Outcome) -> Outcome:
    """The outcome, once a person who waits has seen it."""
    sys.stdout.write(f"{outcome.verdict:9} {outcome.part}: {outcome.name}\n")
    sys.stdout.flush()
    return outcome


def main() -> None:
    """Prove, and show what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance")
    parser.add_argument("--facts", type=Path, help="what `stack up --json` wrote; without it an own stack is started")
    asked = parser.parse_args()
    if not node_programs.are_installed():
        sys.exit("The programs are not installed: make mcp-conformance")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="conformance-") as output, installation(asked.facts) as facts:
        outcomes = list(map(shown, prove(facts, Path(output))))
    sys.stdout.write(f"\n{table(outcomes)}\n")
    sys.exit(1 if failures(outcomes) else 0)


if __name__ == "__main__":
    main()
