"""Resources: guides, runs and lists, each with its own URI (specification, "MCP surface")."""

import re
from collections.abc import Awaitable, Callable

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, ReadResourceResult, Resource, ResourceTemplate, TextResourceContents

from api.kernel.kernel import Kernel, OperationCall
from api.mcp import guides
from api.mcp.calling import ToolCaller
from api.people import lists
from api.people.schemas import ListPeople
from api.people.tools import ListWithPeople
from api.sourcing import runs
from models.base.errors import ServiceError

SCHEME = "recruitmcp://"
MARKDOWN = "text/markdown"
JSON = "application/json"
ADDRESSED = {"guide": guides.FIRST, "cost": "cost", "recipes": "recipes", "outreach": "outreach"}
"""The guides that have a URI, with their topics."""
MOST_PEOPLE = 100

LISTED = [
    Resource(
        uri=f"{SCHEME}{name}",
        name=name,
        title=f"Guide: {topic}",
        description=guides.TOPICS[topic],
        mime_type=MARKDOWN,
    )
    for name, topic in ADDRESSED.items()
]

TEMPLATES = [
    ResourceTemplate(
        uri_template=f"{SCHEME}runs/{{run_id}}",
        name="run",
        title="A run",
        description="State, progress and spending of a run, as get_search_results shows them.",
        mime_type=JSON,
    ),
    ResourceTemplate(
        uri_template=f"{SCHEME}lists/{{list_id}}",
        name="list",
        title="A list of people",
        description=f"A list and its newest {MOST_PEOPLE} people.",
        mime_type=JSON,
    ),
]

OBJECT = re.compile(rf"{re.escape(SCHEME)}(runs|lists)/([A-Za-z0-9_-]{{1,100}})")


async def read_resource(uri: str, caller: ToolCaller) -> ReadResourceResult:
    """Return the content of a URI. Raises `MCPError` whose data is the REST error body."""
    name = uri.removeprefix(SCHEME)
    if uri.startswith(SCHEME) and name in ADDRESSED:
        return _contents(uri, MARKDOWN, guides.guide_text(ADDRESSED[name]))
    found = OBJECT.fullmatch(uri)
    if found is None:
        raise MCPError(INVALID_PARAMS, "There is no such resource.", {"uri": uri[:200]})
    try:
        text = await caller.guarded(READERS[found[1]](caller.kernel, caller.call, found[2]))
    except ServiceError as error:
        raise MCPError(INVALID_PARAMS, error.message, {"uri": uri, "body": caller.body(error)}) from error
    return _contents(uri, JSON, text)


async def _run(kernel: Kernel, call: OperationCall, run_id: str) -> str:
    return (await kernel.read(runs.get_run, run_id, call)).model_dump_json()


async def _list(kernel: Kernel, call: OperationCall, list_id: str) -> str:
    shown = await kernel.read(lists.get_list, list_id, call)
    people = await kernel.read(lists.list_people, ListPeople(list_id=list_id, limit=MOST_PEOPLE), call)
    return ListWithPeople(list=shown, people=people).model_dump_json()


READERS: dict[str, Callable[[Kernel, OperationCall, str], Awaitable[str]]] = {"runs": _run, "lists": _list}


def _contents(uri: str, mime_type: str, text: str) -> ReadResourceResult:
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=mime_type, text=text)])
