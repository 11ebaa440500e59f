"""Specialisms of occupations, such as intensive care or labour law, as titles name them in four languages."""

from collections.abc import Iterable

import ahocorasick

from models.market.curated import curated_rows
from models.market.title_words import title_key


class Specialisms:
    """Finds the specialisms that a title names. Holds no state but its table; safe to share."""

    def __init__(self, table: Iterable[tuple[str, Iterable[str]]]) -> None:
        self._automaton = ahocorasick.Automaton()
        forms: dict[str, set[str]] = {}
        for name, written in table:
            for form in written:
                key = title_key(form.removeprefix("="))
                forms.setdefault(f" {key} " if form.startswith("=") else f" {key}", set()).add(name)
        for spaced, names in forms.items():
            self._automaton.add_word(spaced, frozenset(names))
        self._automaton.make_automaton()

    def named(self, key: str) -> frozenset[str]:
        """Return the specialisms named in the `title_key` of a title."""
        return frozenset(name for _, names in self._automaton.iter(f" {key} ") for name in names)


def read_specialisms() -> Specialisms:
    """Return the curated specialisms."""
    return Specialisms((name, forms.split("|")) for name, forms in curated_rows("specialisms"))
