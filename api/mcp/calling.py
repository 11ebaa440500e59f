"""Calling a tool for a request: its operations, errors as results, and the challenge when a scope is missing."""

import json
import re
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import structlog
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, JsonValue
from starlette.types import Message, Send

from api.kernel.auth import Audiences
from api.kernel.kernel import Kernel, OperationCall, permit
from api.kernel.middleware import RequestEntry, describe_exception, render_error
from api.mcp.invocation import Invocation, Report, derived_key
from api.mcp.line import Line
from api.mcp.tool import Executing, Result, Tool
from models.access.rules.keys import CURRENT_VERSION, Scope
from models.base.database import constraint, sqlstate
from models.base.errors import InsufficientScope, InternalError, ServiceError

FORBIDDEN = 403


def note_missing_scope(error: Exception, entry: RequestEntry) -> None:
    """Record the scope that an access token lacks. API keys cannot gain scopes: their answers carry no challenge."""
    signed_in = entry.admission is not None and entry.admission.audience is not None
    if signed_in and isinstance(error, InsufficientScope):
        entry.lacking = Scope(str(error.details["required_scope"]))


class SteppingUp:
    """Sends an answer; turns it into a challenge if a scope was found to be missing before it began."""

    def __init__(self, send: Send, entry: RequestEntry, audiences: Audiences, path: str) -> None:
        self._send = send
        self._entry = entry
        self._audiences = audiences
        self._path = path

    async def __call__(self, message: Message) -> None:
        """Send a part of the answer."""
        lacking, caller = self._entry.lacking, self._entry.caller
        if message["type"] == "http.response.start" and lacking is not None and caller is not None:
            challenge = self._audiences.step_up(self._path, caller.power.scopes | {lacking})
            headers = [*message.get("headers", ()), (b"www-authenticate", challenge.encode())]
            message = {**message, "status": FORBIDDEN, "headers": headers}
        await self._send(message)


T = TypeVar("T")

log = structlog.get_logger()

UNREAD = "-"
"""Stands for the idempotency key while only the caller's permission is checked; the key comes from the arguments."""


@dataclass(frozen=True, slots=True)
class ToolCaller:
    """Calls tools for one request: its entry from the middleware, its connection, and the application's kernel."""

    kernel: Kernel
    entry: RequestEntry
    line: Line

    @property
    def call(self) -> OperationCall:
        """Return the call as operations see it, in the newest version: the tools' schemas are of that version."""
        if self.entry.admission is None:
            raise AssertionError("every MCP request is admitted")
        return OperationCall(
            version=CURRENT_VERSION,
            now=self.entry.admission.now,
            caller=self.entry.caller,
            tenant=self.entry.tenant,
            network=self.entry.network,
        )

    async def guarded(self, work: Awaitable[T]) -> T:
        """Return the result of the work; a crash is logged and becomes the documented error."""
        try:
            return await work
        except ServiceError as error:
            note_missing_scope(error, self.entry)
            raise
        except Exception as error:  # noqa: BLE001 - the last resort of one call, as the edge is that of a request
            log.error(  # noqa: TRY400 - messages of exceptions can hold personal data; `described` leaves them out
                "internal",
                request_id=self.entry.request_id,
                trace=describe_exception(error),
                sqlstate=sqlstate(error),
                constraint=constraint(error),
            )
            raise InternalError from None

    def body(self, error: ServiceError) -> str:
        """Return the error as REST shows it."""
        return render_error(error, request_id=self.entry.request_id).body.decode()


async def call_tool(
    tool: Tool[Any], given: Mapping[str, JsonValue], caller: ToolCaller, report: Report
) -> CallToolResult:
    """Call a tool. Errors are results too: their text is the body that REST answers."""
    try:
        answer = await caller.guarded(_called(tool, given, caller, report))
    except ServiceError as error:
        _rename(error, tool.names)
        log.info("tool", request_id=caller.entry.request_id, tool=tool.name, error=error.code)
        return CallToolResult(content=[TextContent(text=caller.body(error))], is_error=True)
    log.info("tool", request_id=caller.entry.request_id, tool=tool.name, error=None)
    text = answer.model_dump_json() if isinstance(answer, BaseModel) else _compact(answer)
    shown = json.loads(text) if isinstance(answer, BaseModel) else answer
    return CallToolResult(content=[TextContent(text=text)], structured_content=shown)


async def _called(tool: Tool[Any], given: Mapping[str, JsonValue], caller: ToolCaller, report: Report) -> Result:
    call, confirmed = caller.call, given.get("confirm") is True
    if operation := tool.called(given):
        permit(operation, replace(call, dry_run=operation.executes and not confirmed, idempotency_key=UNREAD))
    asked = tool.read(given)
    told = tool.fingerprint(asked)
    key = asked.idempotency_key if isinstance(asked, Executing) else None
    invocation = Invocation(
        tool=tool.name,
        kernel=caller.kernel,
        call=call,
        confirmed=confirmed,
        key=key or derived_key(told),
        told=told,
        report=report,
        line=caller.line,
    )
    return await tool.run(invocation, asked)


def _rename(error: ServiceError, names: Mapping[str, str]) -> None:
    """Rename the error's field to the name that the tool uses."""
    for theirs, ours in sorted(names.items(), reverse=True):  # `names.0` before `names`
        error.message = re.sub(rf"\b{re.escape(theirs)}\b", ours, error.message)
    field = error.details.get("field")
    if isinstance(field, str) and field in names:
        error.details["field"] = names[field]


def _compact(answer: Mapping[str, JsonValue]) -> str:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
