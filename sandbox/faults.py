"""Faults that the control API orders: which calls go wrong, in which way and how often."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sandbox.state import State

_FIXED_SHARES = 2**32
_SCATTER = 2654435761


class FaultKind(StrEnum):
    """Ways in which a call goes wrong."""

    LATENCY = "latency"
    TIMEOUT = "timeout"
    CONNECTION_LOST = "connection_lost"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    HTML_BODY = "html_body"
    TRUNCATED_JSON = "truncated_json"
    OVERSIZE = "oversize"
    DUPLICATE_ROWS = "duplicate_rows"
    REFUSED_SCROLL_TOKEN = "refused_scroll_token"  # noqa: S105 - a kind of fault, not a secret
    TYPE_AS_STRING = "type_as_string"
    NOT_FOUND_WITHOUT_ERROR = "not_found_without_error"
    RETRIEVE_DISABLED = "retrieve_disabled"
    ITEM_ERROR = "item_error"
    ENDLESS_LINE = "endless_line"
    CUT_OFF = "cut_off"
    LOST_CALLBACK = "lost_callback"
    MISSING_SIGNATURE = "missing_signature"
    WRONG_SIGNATURE = "wrong_signature"


class FaultOrder(BaseModel):
    """One ordered fault. Without `count` and `rate` it strikes every call until it is deleted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: str
    operation: str = "*"
    fault: FaultKind
    count: Annotated[int, Field(ge=1)] | None = None
    rate: Annotated[float, Field(gt=0, le=1)] | None = None
    after_execution: bool = False
    latency_ms: Annotated[int, Field(ge=0, le=600_000)] | None = None
    """For `latency` how long a call takes more, for `timeout` how long it hangs before the connection is cut."""
    status: Annotated[int, Field(ge=400, le=599)] | None = None
    """For `server_error`, `html_body`, `retrieve_disabled` and `item_error` the status to answer with."""
    reset: Literal["header", "none", "garbled"] = "header"
    """For `rate_limited`: whether the header that names the end of the window is there and can be read."""
    retry_after: bool = False
    """For `rate_limited`: whether a `Retry-After` header comes with it."""

    @model_validator(mode="after")
    def _one_measure(self) -> Self:
        if self.count is not None and self.rate is not None:
            raise ValueError("count and rate exclude each other")
        return self


class OrderedFault(FaultOrder):
    """A fault with its number, how many strikes are left (null: no limit), and how often it was asked and struck."""

    id: int
    left: int | None
    asked: int = 0
    struck: int = 0

    def due(self) -> bool:
        """Say whether the next call is struck; with a rate, by a fixed scatter rather than by luck."""
        if self.rate is None:
            return True
        return (self.asked + 1) * _SCATTER % _FIXED_SHARES < self.rate * _FIXED_SHARES


class Faults:
    """All ordered faults, remembered across restarts."""

    def __init__(self, state: State) -> None:
        self._state = state
        rows = state.database.execute("select body from faults order by id").fetchall()
        self._ordered = {fault.id: fault for fault in (OrderedFault.model_validate_json(row[0]) for row in rows)}

    def order(self, order: FaultOrder) -> OrderedFault:
        """Add a fault."""
        number = int(self._state.number("last_fault")) + 1
        self._state.remember("last_fault", number)
        fault = OrderedFault(**order.model_dump(), id=number, left=order.count)
        self._write(fault)
        return fault

    def all(self) -> list[OrderedFault]:
        """List the faults that can still strike."""
        return list(self._ordered.values())

    def clear(self, *, number: int | None = None) -> int:
        """Delete one fault or all; gives how many there were."""
        doomed = [key for key in self._ordered if number in (None, key)]
        for key in doomed:
            del self._ordered[key]
            self._state.database.execute("delete from faults where id = ?", (key,))
        return len(doomed)

    def strike(
        self, provider: str, operation: str, kind: FaultKind, *, after_execution: bool | None = None
    ) -> OrderedFault | None:
        """Say whether this call is struck by a fault of this kind, and count the strike."""
        for fault in self._candidates(provider, operation, kind):
            if after_execution is not None and fault.after_execution is not after_execution:
                continue
            due = fault.due()
            left = fault.left - 1 if due and fault.left is not None else fault.left
            self._write(
                fault.model_copy(
                    update={"asked": fault.asked + 1, "struck": fault.struck + due, "left": left},
                )
            )
            if due:
                return fault
        return None

    def _candidates(self, provider: str, operation: str, kind: FaultKind) -> Iterable[OrderedFault]:
        return [
            fault
            for fault in self._ordered.values()
            if fault.provider == provider and fault.operation in ("*", operation) and fault.fault is kind
        ]

    def _write(self, fault: OrderedFault) -> None:
        if fault.left == 0:
            self.clear(number=fault.id)
            return
        self._ordered[fault.id] = fault
        self._state.database.execute("insert or replace into faults values (?, ?)", (fault.id, fault.model_dump_json()))
