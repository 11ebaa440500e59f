"""`make mcp-conformance`: prove the MCP address by others' software, on an installation of its own.

Ends with a table, and with 1 when something failed that is not expected to. Everything started is ended.
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
    """Every proof on one installation, of which `facts` are what `up` said."""
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
    """What a part found; one that breaks off has failed, and the others are still made."""
    try:
        return part()
    except (AssertionError, httpx.HTTPError, OSError, ValueError, StackError, subprocess.SubprocessError) as problem:
        return [Outcome(name, "broke off", Verdict.FAILED, repr(problem))]


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
