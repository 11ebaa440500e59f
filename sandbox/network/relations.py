"""Connections and invites between owners and people, and those from before an owner connected the account."""

from datetime import datetime, timedelta
from enum import StrEnum

import numpy as np
from pydantic import BaseModel, ConfigDict

from sandbox.clock import Clock
from sandbox.network.schema import Ids
from sandbox.people.population.draws import Draws
from sandbox.state import State

_SHARES = (("connected", 0.01, 500), ("pending", 0.003, 60), ("ignored", 0.002, 60), ("withdrawn", 0.002, 60))
_LONGEST_KNOWN_DAYS = 900


class Tie(StrEnum):
    """The kind of relation between an owner and a person."""

    NONE = "none"
    PENDING = "pending"
    IGNORED = "ignored"
    WITHDRAWN = "withdrawn"
    CONNECTED = "connected"


class Relation(BaseModel):
    """An owner and a person; `invited_at` is the last invite, `since` the start of the present tie."""

    model_config = ConfigDict(frozen=True)

    owner: int
    person: int
    tie: Tie = Tie.NONE
    request_id: str | None = None
    invited_at: datetime | None = None
    note: str | None = None
    since: datetime | None = None


class Relations:
    """All ties; people without a row are strangers."""

    def __init__(self, state: State, clock: Clock, ids: Ids, draws: Draws, size: int) -> None:
        self._state, self._clock, self._ids, self._draws, self._size = state, clock, ids, draws, size

    def between(self, owner: int, person: int) -> Relation:
        """Return the tie between an owner and a person."""
        row = self._state.database.execute(
            "select body from network_relations where owner = ? and person = ?", (owner, person)
        ).fetchone()
        return Relation(owner=owner, person=person) if row is None else Relation.model_validate_json(row[0])

    def write(self, relation: Relation) -> None:
        """Store a tie."""
        self._state.database.execute(
            "insert or replace into network_relations values (?, ?, ?, ?)",
            (relation.owner, relation.person, relation.tie.value, relation.model_dump_json()),
        )

    def with_tie(self, owner: int, tie: Tie) -> list[Relation]:
        """Return all of an owner's ties of one kind, the newest first."""
        rows = self._state.database.execute(
            "select body from network_relations where owner = ? and state = ?", (owner, tie.value)
        ).fetchall()
        relations = [Relation.model_validate_json(body) for (body,) in rows]
        return sorted(relations, key=lambda relation: relation.since or self._clock.now(), reverse=True)

    def pending_with(self, owner: int, request_id: str) -> Relation | None:
        """Return the pending invite with this id."""
        return next((each for each in self.with_tie(owner, Tie.PENDING) if each.request_id == request_id), None)

    def settle_in(self, owner: int) -> list[Relation]:
        """Give an owner the ties of past years, once, and return the new ones."""
        known = self._state.database.execute("select 1 from network_relations where owner = ? limit 1", (owner,))
        if known.fetchone() is not None:
            return []
        begun = [
            self._begun(owner, Tie(name), person)
            for name, share, most in _SHARES
            for person in self._drawn(owner, name, min(share, most / self._size))
        ]
        for relation in begun:
            self.write(relation)
        return begun

    def distance(self, owner: int, person: int) -> str:
        """Return the degree of a person who is not connected."""
        unit = self._draws.unit_at(f"distance {owner}", person)
        return "SECOND_DEGREE" if unit < 0.4 else "THIRD_DEGREE" if unit < 0.85 else "OUT_OF_NETWORK"

    def visitable(self, person: int) -> bool:
        """Return whether visits to this person's profile are reported to them."""
        return self._draws.unit_at("no visits", person) >= 0.02

    def _drawn(self, owner: int, name: str, share: float) -> list[int]:
        people = np.arange(self._size, dtype=np.int64)
        found: list[int] = np.flatnonzero(self._draws.unit(f"{name} before {owner}", people) < share).tolist()
        return found

    def _begun(self, owner: int, tie: Tie, person: int) -> Relation:
        days = _LONGEST_KNOWN_DAYS if tie is Tie.CONNECTED else 60
        ago = timedelta(days=3 + self._draws.unit_at(f"tie age {owner}", person) * (days - 3))
        began = self._clock.now() - ago
        invited = tie is not Tie.CONNECTED
        return Relation(
            owner=owner,
            person=person,
            tie=tie,
            request_id=self._ids.awkward("inv") if tie is Tie.PENDING else None,
            invited_at=began if invited else None,
            since=began,
        )
