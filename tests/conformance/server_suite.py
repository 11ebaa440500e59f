"""The official server suite: every scenario that a revision of the protocol requires, against the fixtured api."""

import json
import re
from pathlib import Path
from typing import Any

import yaml

from tests.conformance import node_programs
from tests.conformance.outcomes import Outcome, Verdict

REVISIONS = ("2025-11-25", "2026-07-28")
PACKAGE = node_programs.MODULES / "@modelcontextprotocol" / "conformance"
PROGRAM = PACKAGE / "dist" / "index.js"
RESULT = re.compile(r"server-(?P<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
TAIL = 3000
FAILED = {"FAILURE", "WARNING"}
"""Statuses of failed checks; the suite counts warnings as failures too."""


def baseline(revision: str) -> Path:
    """Return the path of the expected failures of a revision, each with its reason; no file means none."""
    return Path(__file__).parent / f"expected-failures-{revision}.yml"


def run(url: str, revision: str, output: Path) -> list[Outcome]:
    """Return the suite's outcomes at the MCP address `url`, one per scenario; details are stored in `output`."""
    part = f"server suite {revision}"
    known = baseline(revision)
    options = ["--expected-failures", str(known)] if known.exists() else []
    asked = ["server", "--url", url, "--requirements", revision, "-o", str(output), *options]
    done = node_programs.run(PROGRAM, *asked)
    required = _required(revision)
    excused = set(_entries(known))
    found = {path.name: _failing(path) for path in output.iterdir()}
    outcomes = [
        Outcome(part, scenario, _verdict(scenario, failing, required, excused), ", ".join(failing))
        for name, failing in sorted(found.items())
        if (scenario := _scenario(name))
    ]
    if missing := required - {outcome.name for outcome in outcomes}:
        outcomes += [Outcome(part, name, Verdict.FAILED, "was not run") for name in sorted(missing)]
    if done.returncode != 0 and not any(outcome.verdict is Verdict.FAILED for outcome in outcomes):
        outcomes.append(Outcome(part, "the suite's own verdict", Verdict.FAILED, (done.stdout + done.stderr)[-TAIL:]))
    return outcomes


def _required(revision: str) -> set[str]:
    read: dict[str, Any] = yaml.safe_load((PACKAGE / "requirements" / f"{revision}.yaml").read_text())
    return set(read["server"])


def _entries(known: Path) -> list[str]:
    return list(yaml.safe_load(known.read_text())["server"]) if known.exists() else []


def _scenario(folder: str) -> str:
    match = RESULT.fullmatch(folder)
    return match["scenario"] if match else ""


def _failing(result: Path) -> list[str]:
    checks: list[dict[str, Any]] = json.loads((result / "checks.json").read_text())
    return [check["id"] for check in checks if check["status"] in FAILED]


def _verdict(scenario: str, failing: list[str], required: set[str], excused: set[str]) -> Verdict:
    if not failing:
        return Verdict.PASSED
    if scenario not in required:
        return Verdict.OPTIONAL
    return Verdict.EXPECTED if {f"{scenario}:{check}" for check in failing} <= excused else Verdict.FAILED
