"""One call of a tool: its operations run in the kernel as the caller that the middleware admitted."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import JsonValue

from api.kernel.kernel import REPLAYED, Kernel, OperationCall, Shape
from api.kernel.operation import Operation
from api.mcp.line import Line
from models.base.errors import InvalidRequest

A = TypeVar("A")
B = TypeVar("B")

Json = dict[str, JsonValue]
Report = Callable[[float, float | None, str], Awaitable[None]]
"""Sends the client the progress of a call: done, total, and a text. Does nothing if the client did not ask for it."""

SHAPE = Shape(status=lambda _: 200)
PREVIEWED = "Nothing was spent, sent or changed. Call again with the same arguments and confirm=true to do it."
REFUSED = (
    "Nothing was spent, sent or changed. Confirming now would be refused: would_fail says why. Tell the person you work"
    " for."
)
DONE_BEFORE = (
    "This was done before with equal arguments, and this is the answer of then. Nothing was done now. To do it once"
    " more, call again with a new idempotency_key."
)


def fingerprint(tool: str, arguments: bytes) -> bytes:
    """Return the SHA-256 of a tool and its canonical arguments."""
    return hashlib.sha256(tool.encode() + b"\n" + arguments).digest()


def derived_key(told: bytes) -> str:
    """Return the Idempotency-Key of a call that gives none."""
    return f"mcp-{told.hex()}"


@contextmanager
def within(field: str) -> Iterator[None]:
    """Prefix the field of an error with `field`, the argument in which the caller wrote it."""
    try:
        yield
    except InvalidRequest as error:
        if isinstance(inner := error.details.get("field"), str):
            error.details["field"] = f"{field}.{inner}"
        raise


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call of a tool, as its row runs it.

    `call` is the caller's, without a key. `key` and the fingerprint `told` are those under which a confirmed call
    executes.
    """

    tool: str
    kernel: Kernel
    call: OperationCall
    confirmed: bool
    key: str
    told: bytes
    report: Report
    line: Line

    def of_wish(self, wish: str) -> "Invocation":
        """Return this call keyed by `wish`: all calls of the tool with the same wish are executed once together."""
        told = fingerprint(self.tool, wish.encode())
        return replace(self, key=derived_key(told), told=told)

    async def read(self, operation: Operation[A, B], ask: A) -> B:
        """Return the answer of an operation that reads."""
        return await self.kernel.read(operation, ask, self.call)

    async def invoke(self, operation: Operation[A, B], ask: A) -> Json:
        """Return the answer of an operation. One that spends or sends is executed if confirmed, else previewed.

        The answer of such an operation also has `replayed`, and `next_step` if it was not executed.
        """
        if not operation.executes:
            return await self._answer(operation, ask, self.call)
        if not self.confirmed:
            return await self.preview(operation, ask)
        call = replace(self.call, idempotency_key=self.key, fingerprint=self.told)
        return await self._answer(operation, ask, call)

    async def preview(self, operation: Operation[A, B], ask: A) -> Json:
        """Return what executing would do and cost."""
        answer = await self._answer(operation, ask, replace(self.call, dry_run=True))
        return answer | {"next_step": REFUSED if answer.get("would_fail") else PREVIEWED}

    async def _answer(self, operation: Operation[Any, Any], ask: object, call: OperationCall) -> Json:
        outcome = await self.kernel.invoke(operation, ask, call, shape=SHAPE)
        answer: Json = json.loads(outcome.body)
        if call.idempotency_key is None:
            return answer
        if REPLAYED in outcome.headers:
            return answer | {"replayed": True, "next_step": DONE_BEFORE}
        return answer | {"replayed": False}
