"""The control API under `/_control`, with which tests and demonstrations inspect and control the sandbox."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query
from pydantic import BaseModel, ConfigDict, Field

from sandbox.clock import Clock, rfc3339
from sandbox.faults import FaultOrder, Faults, OrderedFault
from sandbox.mail import MailBox
from sandbox.side import Side


class ClockMove(BaseModel):
    """A new offset of service time from the real clock, in seconds."""

    model_config = ConfigDict(extra="forbid", strict=True)

    offset_seconds: Annotated[float, Field(ge=-1e9, le=1e10, allow_inf_nan=False)]


class Nothing(BaseModel):
    """The query parameters of a call without any."""

    model_config = ConfigDict(extra="forbid")


class MailFilter(Nothing):
    """Which mails to list."""

    to: str | None = None


def control_api(
    *, clock: Clock, mails: MailBox, faults: Faults, sides: Sequence[Side], size: int, seed: int
) -> APIRouter:
    """Return the routes of the control API that belong to no single side."""
    router = APIRouter(prefix="/_control")

    @router.get("/health")
    async def health(_: Annotated[Nothing, Query()]) -> dict[str, Any]:
        return {
            "status": "ok",
            "at": rfc3339(clock.now()),
            "offset_seconds": clock.offset_seconds,
            "population": size,
            "seed": seed,
            "providers": [side.provider for side in sides],
        }

    @router.get("/next")
    async def next_event(_: Annotated[Nothing, Query()]) -> dict[str, str | None]:
        moments = [moment for side in sides if (moment := side.next_at()) is not None]
        return {"at": rfc3339(min(moments)) if moments else None}

    @router.post("/clock")
    async def move_clock(move: ClockMove) -> dict[str, Any]:
        clock.move(move.offset_seconds)
        return {"at": rfc3339(clock.now()), "offset_seconds": clock.offset_seconds}

    @router.get("/mail")
    async def list_mail(wanted: Annotated[MailFilter, Query()]) -> dict[str, Any]:
        return {"data": mails.all(recipient=wanted.to)}

    @router.delete("/mail")
    async def clear_mail(_: Annotated[Nothing, Query()]) -> dict[str, int]:
        return {"deleted": mails.clear()}

    _add_fault_routes(router, faults, sides)
    return router


def _add_fault_routes(router: APIRouter, faults: Faults, sides: Sequence[Side]) -> None:
    operations = {side.provider: side.operations for side in sides}

    @router.get("/faults")
    async def list_faults(_: Annotated[Nothing, Query()]) -> dict[str, list[OrderedFault]]:
        return {"data": faults.all()}

    @router.post("/faults", status_code=201)
    async def order_fault(order: FaultOrder) -> OrderedFault:
        if order.provider not in operations:
            raise HTTPException(400, f"provider: one of {sorted(operations)}")
        if order.operation not in {"*"} | operations[order.provider]:
            raise HTTPException(400, f"operation: one of {sorted(operations[order.provider])} or *")
        return faults.order(order)

    @router.delete("/faults")
    async def clear_faults(_: Annotated[Nothing, Query()]) -> dict[str, int]:
        return {"deleted": faults.clear()}

    @router.delete("/faults/{number}")
    async def clear_fault(number: int) -> dict[str, int]:
        deleted = faults.clear(number=number)
        if not deleted:
            raise HTTPException(404, "no such fault")
        return {"deleted": deleted}
