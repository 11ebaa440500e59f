"""Ids of people: opaque, found by a look-up, with former ids of people whose records were merged."""

from functools import cached_property

from sandbox.people.population.draws import Draws

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_ID_LETTERS = 22
_LETTERS_PER_WORD = 10


class Identities:
    """The ids of a population of one seed; `size` people have them."""

    def __init__(self, draws: Draws, size: int) -> None:
        self._draws = draws
        self._size = size

    def _spelled(self, stream: str, person: int) -> str:
        letters = ""
        for part in range(3):
            word = self._draws.word_at(f"{stream} {part}", person)
            for _ in range(_LETTERS_PER_WORD):
                letters += _ALPHABET[word & 63]
                word >>= 6
        return f"{letters[:_ID_LETTERS]}_0000"

    def id_of(self, person: int) -> str:
        """Spell the current id of a person."""
        return self._spelled("id", person)

    def former_id_of(self, person: int) -> str:
        """Spell the id that a person's record had before it was merged into the current one."""
        return self._spelled("former id", person)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {self.id_of(person): person for person in range(self._size)}

    def number_of(self, person_id: str) -> int | None:
        """Find a person by current id."""
        return self._numbers.get(person_id)
