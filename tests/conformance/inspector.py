"""The Inspector's command line, in both protocol versions, on a running installation."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.conformance import node_programs
from tests.conformance.outcomes import Outcome, Verdict

PROGRAM = node_programs.MODULES / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
TOOL_ERROR = 5
NO_KEY = 3

Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """One command line, its expected exit code, and a check of the result that it prints."""

    name: str
    arguments: tuple[str, ...]
    holds: Callable[[Result], bool]
    code: int = 0
    key: bool = True


def _tool(name: str, **given: Any) -> tuple[str, ...]:
    return ("--method", "tools/call", "--tool-name", name, "--tool-args-json", json.dumps(given))


def _text(result: Result) -> str:
    return str(result["content"][0]["text"])


ASKED = (
    Asked(
        "tools/list, its schemas without an error",
        ("--method", "tools/list", "--strict"),
        lambda result: len(result["tools"]) > 40 and all("outputSchema" in tool for tool in result["tools"]),
    ),
    Asked(
        "tools/call",
        _tool("get_account_overview"),
        lambda result: result["structuredContent"] == json.loads(_text(result)),
    ),
    Asked(
        "tools/call with a wrong argument",
        _tool("start_search", job_description="x", target=3),
        lambda result: json.loads(_text(result))["error"]["details"] == {"field": "target"},
        code=TOOL_ERROR,
    ),
    Asked("prompts/list", ("--method", "prompts/list"), lambda result: len(result["prompts"]) == 3),
    Asked(
        "prompts/get",
        ("--method", "prompts/get", "--prompt-name", "pipeline_review", "--prompt-args", "since=2026-01-01T00:00:00Z"),
        lambda result: "since=2026-01-01" in result["messages"][0]["content"]["text"],
    ),
    Asked("resources/list", ("--method", "resources/list"), lambda result: len(result["resources"]) == 4),
    Asked(
        "resources/templates/list",
        ("--method", "resources/templates/list"),
        lambda result: len(result["resourceTemplates"]) == 2,
    ),
    Asked(
        "resources/read",
        ("--method", "resources/read", "--uri", "recruitmcp://guide"),
        lambda result: str(result["contents"][0]["text"]).startswith("# "),
    ),
    Asked("nothing without a key", ("--method", "tools/list", "--stored-auth-only"), lambda _: True, NO_KEY, key=False),
)


def run(url: str, api_key: str, era: str) -> list[Outcome]:
    """Return the outcomes of the Inspector at the MCP address `url`."""
    return [_outcome(asked, url, api_key, era) for asked in ASKED]


def _outcome(asked: Asked, url: str, api_key: str, era: str) -> Outcome:
    where = (f"{url}?toolsets=all", "--transport", "http", "--protocol-era", era, "--format", "json")
    key = ("--header", f"Authorization: Bearer {api_key}") if asked.key else ()
    done = node_programs.run(PROGRAM, "--cli", *where, *key, *asked.arguments)
    part = f"inspector, {era}"
    if done.returncode != asked.code:
        told = f"ended with {done.returncode}, not {asked.code}: {done.stderr or done.stdout}"
        return Outcome(part, asked.name, Verdict.FAILED, told)
    result: Result = json.loads(done.stdout)["result"] if done.stdout else {}
    if not asked.holds(result):
        return Outcome(part, asked.name, Verdict.FAILED, done.stdout[:1000])
    return Outcome(part, asked.name, Verdict.PASSED)
