"""The people side's part of the control API: the data behind searches, the call log, the state of records."""

from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, HTTPException, Query
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandbox.people.columns import WordColumn, tokens_of
from sandbox.people.fields import index_of
from sandbox.people.ledger import CallLog, Credits, RateLimits
from sandbox.people.population.build import Population
from sandbox.people.population.draws import Bools
from sandbox.people.presence import Fate, PersonState, Presence

_MERGED = "merged_into:"


class Strict(BaseModel):
    """Control input: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class LogPage(Strict):
    """How many of the latest calls to show."""

    limit: Annotated[int, Field(ge=0, le=10_000)] = 200


class PeopleFilter(Strict):
    """Which people to list: a phrase of the current title, a country, a locality (lower-case English names)."""

    title: str | None = None
    country: str | None = None
    locality: str | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 20


class StateChange(Strict):
    """The new state: `present`, `vanished`, `opted_out` or `merged_into:ID`."""

    state: str
    still_listed: bool = False


class Limits(Strict):
    """Calls per minute for each operation name, or for `*`."""

    per_minute: dict[str, Annotated[int, Field(ge=0)]]


class CreditBalance(Strict):
    """Credits left on the account."""

    remaining: Annotated[int, Field(ge=0)]


def people_control(
    *,
    population: Population,
    presence: Presence,
    log: CallLog,
    credits: Credits,
    limits: RateLimits,
    operations: frozenset[str],
) -> APIRouter:
    """Return the routes under `/_control/people`."""
    router = APIRouter(prefix="/_control/people")

    @router.get("/log")
    async def show_log(page: Annotated[LogPage, Query()]) -> dict[str, Any]:
        return log.summary(limit=page.limit)

    @router.delete("/log")
    async def reset_log(_: Annotated[Strict, Query()]) -> dict[str, Any]:
        log.reset()
        return log.summary(limit=0)

    @router.post("/limits")
    async def set_limits(wanted: Limits) -> dict[str, Any]:
        unknown = sorted(set(wanted.per_minute) - operations - {"*"})
        if unknown:
            raise HTTPException(400, f"per_minute: unknown operation {unknown[0]}")
        limits.change(wanted.per_minute)
        return {"per_minute": limits.per_minute}

    @router.post("/credits")
    async def set_credits(wanted: CreditBalance) -> dict[str, int]:
        credits.set(wanted.remaining)
        return {"remaining": credits.remaining}

    @router.get("")
    async def list_people(wanted: Annotated[PeopleFilter, Query()]) -> dict[str, Any]:
        numbers = np.flatnonzero(_filtered(population, wanted)).tolist()
        rows = [_seen(population, presence, number) for number in numbers[: wanted.limit]]
        return {"data": rows, "total": len(numbers)}

    @router.delete("/states")
    async def restore_people(_: Annotated[Strict, Query()]) -> dict[str, int]:
        return {"restored": presence.restore()}

    @router.get("/{person_id}")
    async def show_person(person_id: str) -> dict[str, Any]:
        return _seen(population, presence, _known(population, presence, person_id))

    @router.post("/{person_id}")
    async def change_person(person_id: str, change: StateChange) -> dict[str, Any]:
        number = _known(population, presence, person_id)
        presence.change(number, _fate(population, change, number))
        return _seen(population, presence, number)

    return router


def _filtered(population: Population, wanted: PeopleFilter) -> Bools:
    found = np.ones(len(population), dtype=np.bool_)
    index = index_of(population)
    for field, value in (("location_country", wanted.country), ("location_locality", wanted.locality)):
        column = index.column(field)
        if value is not None and isinstance(column, WordColumn):
            found &= column.equal([value.lower()])
    titles = index.column("job_title.text")
    if wanted.title is not None and isinstance(titles, WordColumn):
        found &= titles.with_phrase(tokens_of(wanted.title))
    return found


def _known(population: Population, presence: Presence, person_id: str) -> int:
    number = population.number_of(person_id)
    if number is None:
        number = presence.resolve(person_id)
    if number is None:
        raise HTTPException(404, "no person has this id")
    return number


def _fate(population: Population, change: StateChange, number: int) -> PersonState:
    into = change.state.removeprefix(_MERGED) if change.state.startswith(_MERGED) else None
    try:
        fate = Fate.MERGED if into is not None else Fate(change.state)
        state = PersonState(fate=fate, into=into, still_listed=change.still_listed)
    except (ValueError, ValidationError):
        raise HTTPException(
            400, f"state: present, vanished, opted_out (alone with still_listed) or {_MERGED}ID"
        ) from None
    if into is not None and population.number_of(into) in (None, number):
        raise HTTPException(400, "state: merged_into names no known person")
    return state


def _seen(population: Population, presence: Presence, number: int) -> dict[str, Any]:
    fate = presence.fate_of(number)
    return {
        "id": population.person_id(number),
        "state": f"{_MERGED}{fate.into}" if fate.into else fate.fate.value,
        "found_by_search": bool(presence.mask[number] and population.listed[number]),
        "record": population.record(number),
    }
