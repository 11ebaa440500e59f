"""The state of records: people who vanish, opt out or are merged into others, from the start or by control."""

import json
from enum import StrEnum
from typing import Self

import numpy as np
from pydantic import BaseModel, ConfigDict, model_validator

from sandbox.people.population.build import Population
from sandbox.people.population.columns import Oddity
from sandbox.people.population.draws import Bools
from sandbox.state import State


class Fate(StrEnum):
    """The state of a person's record."""

    PRESENT = "present"
    VANISHED = "vanished"
    OPTED_OUT = "opted_out"
    MERGED = "merged"


class PersonState(BaseModel):
    """The state of a person; `into` is the result of a merge, `still_listed` keeps opted-out people findable."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fate: Fate
    into: str | None = None
    still_listed: bool = False

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        if (self.fate is Fate.MERGED) is not (self.into is not None):
            raise ValueError("into goes with merged")
        if self.still_listed and self.fate is not Fate.OPTED_OUT:
            raise ValueError("still_listed goes with opted_out")
        return self

    @property
    def found(self) -> bool:
        """Whether searches and look-ups still return the record."""
        return self.fate is Fate.PRESENT or self.still_listed


_PRESENT = PersonState(fate=Fate.PRESENT)


class Presence:
    """The states of all people, kept across restarts."""

    def __init__(self, population: Population, state: State) -> None:
        self._population = population
        self._state = state
        self._fates: dict[int, PersonState] = {}
        self.mask: Bools = np.ones(len(population), dtype=np.bool_)
        self._begin()
        columns = population.columns
        self._former = {
            population.identities.former_id_of(number): number
            for number in np.flatnonzero(columns.has(Oddity.FORMER_ID)).tolist()
        }
        for person_id, body in state.database.execute("select person_id, body from fates").fetchall():
            known = population.number_of(person_id)
            # A state directory may have served a larger population.
            if known is not None:
                self._set(known, PersonState.model_validate(json.loads(body)))

    def _begin(self) -> None:
        """Set the initial states."""
        self._fates.clear()
        self.mask[:] = True
        columns = self._population.columns
        for number in np.flatnonzero(columns.has(Oddity.OPTED_OUT_BUT_LISTED)).tolist():
            self._set(number, PersonState(fate=Fate.OPTED_OUT, still_listed=True))
        for number in np.flatnonzero(columns.has(Oddity.OPTED_OUT)).tolist():
            self._set(number, PersonState(fate=Fate.OPTED_OUT))

    def restore(self) -> int:
        """Undo all changes and return the number of changed people."""
        restored = self._state.database.execute("delete from fates").rowcount
        self._begin()
        return restored

    def fate_of(self, number: int) -> PersonState:
        """Return a person's state."""
        return self._fates.get(number, _PRESENT)

    def change(self, number: int, fate: PersonState) -> None:
        """Set and store a person's state."""
        self._set(number, fate)
        person_id = self._population.person_id(number)
        body = fate.model_dump_json()
        self._state.database.execute("insert or replace into fates values (?, ?)", (person_id, body))

    def resolve(self, person_id: str) -> int | None:
        """Return the person with an id, following merges to the surviving record; None without one."""
        number = self._former.get(person_id)
        if number is None:
            number = self._population.number_of(person_id)
        visited: set[int] = set()
        while number is not None and number not in visited:
            visited.add(number)
            fate = self.fate_of(number)
            if fate.found:
                return number
            number = self._population.number_of(fate.into) if fate.into else None
        return None

    def ids_with(self, fate: Fate) -> list[str]:
        """Return the ids of people in a state, in order of their numbers."""
        numbers = sorted(number for number, state in self._fates.items() if state.fate is fate)
        return [self._population.person_id(number) for number in numbers]

    def merges(self) -> list[tuple[str, str]]:
        """List former ids with the surviving ones."""
        pairs = [(old, self._population.person_id(number)) for old, number in self._former.items()]
        for number, state in sorted(self._fates.items()):
            if state.into:
                pairs.append((self._population.person_id(number), state.into))
        return pairs

    def _set(self, number: int, fate: PersonState) -> None:
        self._fates[number] = fate
        self.mask[number] = fate.found
