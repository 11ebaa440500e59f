"""`make mcp-conformance`: test the MCP address with third-party software, on a separate installation.

Prints a table, and exits with 1 after an unexpected failure. Stops everything that it started.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from stack.installation import StackError
from tests.conformance import authorization, clients, inspector, node_programs, server_suite
from tests.conformance.outcomes import Outcome, Verdict, failures, table
from tests.conformance.serving import fixtured
from tests.journeys.installation import installed
from tests.journeys.recruiter import Recruiter

POPULATION = 3000


Part = Callable[[], list[Outcome]]


def prove(facts: dict[str, Any], output: Path) -> Iterator[Outcome]:
    """Yield the outcomes of every part on one installation; `facts` are the output of `up`."""
    with fixtured(facts, _key(facts)) as url:
        for revision in server_suite.REVISIONS:
            yield from _proved("server suite", partial(server_suite.run, url, revision, output / revision))
    yield from _proved("authorization suite", partial(authorization.suite, facts, output / "authorization"))
    for era in clients.CLIENTS:
        yield from _proved("inspector", partial(inspector.run, facts["mcp_url"], _key(facts), era))
        yield from _proved("typescript client", partial(clients.run, facts["mcp_url"], _key(facts), era))
        yield from _proved("sign-in", partial(authorization.sign_in, facts, era))
        yield from _proved("sign-in, inspector", partial(authorization.inspector_sign_in, facts, era))


def _proved(name: str, part: Part) -> list[Outcome]:
    """Return the outcomes of a part; a part that raises has failed, and the others still run."""
    try:
        return part()
    except (AssertionError, httpx.HTTPError, OSError, ValueError, StackError, subprocess.SubprocessError) as problem:
        return [Outcome(name, "broke off", Verdict.FAILED, repr(problem))]


def _key(facts: dict[str, Any]) -> str:
    """Return the key of a new workspace, because the requests of a key are limited."""
    return Recruiter.join(facts, name="Conformance").api_key


@contextmanager
def installation(facts: Path | None) -> Iterator[dict[str, Any]]:
    """Yield the facts of a running installation, or of one that runs only during the tests."""
    if facts is not None:
        yield json.loads(facts.read_text())
        return
    with installed("--population", str(POPULATION)) as made:
        yield made.facts


def shown(outcome: Outcome) -> Outcome:
    """Print the outcome and return it."""
    sys.stdout.write(f"{outcome.verdict:9} {outcome.part}: {outcome.name}\n")
    sys.stdout.flush()
    return outcome


def main() -> None:
    """Run all parts and print the results."""
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
