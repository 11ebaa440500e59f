"""Faults ordered through the control API: which calls fail, in which way and how often."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sandbox.state import State

_FIXED_SHARES = 2**32
_SCATTER = 2654435761


class FaultKind(StrEnum):
    """Ways in which a call can fail."""

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
    PROVIDER_ERROR = "provider_error"
    ERROR_WITH_200 = "error_with_200"
    DAILY_LIMIT = "daily_limit"
    WEEKLY_LIMIT = "weekly_limit"
    NEUTRAL_LIMIT = "neutral_limit"
    MESSAGE_ID_LIST = "message_id_list"
    MESSAGE_ID_NULL = "message_id_null"
    MISSING_SIGNATURE = "missing_signature"
    WRONG_SIGNATURE = "wrong_signature"
    STALE_SIGNATURE = "stale_signature"
    LOST_CALLBACK = "lost_callback"
    DUPLICATE_CALLBACK = "duplicate_callback"
    DELAYED_CALLBACK = "delayed_callback"
    IDS_ONLY = "ids_only"


class FaultOrder(BaseModel):
    """One ordered fault. Without `count` and `rate` it affects every call until it is deleted."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: str
    operation: str = "*"
    fault: FaultKind
    count: Annotated[int, Field(ge=1)] | None = None
    rate: Annotated[float, Field(gt=0, le=1)] | None = None
    after_execution: bool = False
    latency_ms: Annotated[int, Field(ge=0, le=600_000)] | None = None
    """For `latency` the additional duration of a call, for `timeout` how long it hangs before the connection is cut."""
    delay_seconds: Annotated[int, Field(ge=1, le=31_536_000)] = 3600
    """For `delayed_callback`: the delay in service time."""
    type: Annotated[str, Field(pattern="^(api|provider)/[a-z_]+$")] | None = None
    """For `provider_error`, `error_with_200` and `rate_limited`: the type the network's provider names."""
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
    """A fault with its number, its remaining uses (null: no limit), and how often it was checked and used."""

    id: int
    left: int | None
    asked: int = 0
    struck: int = 0

    def due(self) -> bool:
        """Return whether the next call fails; with a rate, calls are chosen by a fixed pattern instead of at random."""
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
        """Return the faults that can still be used."""
        return list(self._ordered.values())

    def clear(self, *, number: int | None = None) -> int:
        """Delete one fault or all, and return their number."""
        doomed = [key for key in self._ordered if number in (None, key)]
        for key in doomed:
            del self._ordered[key]
            self._state.database.execute("delete from faults where id = ?", (key,))
        return len(doomed)

    def strike(
        self, provider: str, operation: str, kind: FaultKind, *, after_execution: bool | None = None
    ) -> OrderedFault | None:
        """Return whether a fault of this kind affects this call, and count the use."""
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
