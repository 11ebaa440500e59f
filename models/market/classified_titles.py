"""What the taxonomies add to a title that is in no curated family: careful synonyms, and related occupations."""

from collections.abc import Iterator
from itertools import islice

from models.market.occupations import Concept, Label, Occupations, label_key
from models.market.title_words import inflected

FROM_TAXONOMY = 3
"""So many names at most come from a taxonomy: its relations grow doubtful fast."""
_PREPOSITIONS = frozenset(("of", "for", "in", "im", "fur", "der", "des", "zur", "zum", "van", "voor", "met", "mit"))


class Classified:
    """Titles as ESCO and O*NET know them."""

    def __init__(self, occupations: Occupations) -> None:
        self._occupations = occupations

    def spelling(self, title: str) -> str | None:
        """Return a label as the taxonomies write it; null for an unknown one."""
        labels = self._occupations.labelled(title)
        return labels[0].text if labels else None

    def synonyms(self, title: str) -> Iterator[str]:
        """Return labels of the title's occupation with the same head noun; its own names in other languages.

        Nothing when several occupations claim the title and none of them prefers it: such labels are too loose.
        """
        matched = self._sure(title)
        if matched is None:
            return
        labels = self._occupations.labels(matched.concept.id)
        head = _head(matched)
        yield from (label.text for label in labels if label.language == matched.language and _head(label) == head)
        if matched.preferred:
            yield from (label.text for label in labels if label.preferred and label.language != matched.language)

    def related(self, title: str) -> Iterator[str]:
        """Return names of the occupations next to a title: O*NET's closest and those of the ISCO group, called alike.

        Called alike are two with the same noun for the kind of job, within an ISCO group with another word too: the
        relations alone hold too much.
        """
        labels = self._occupations.labelled(title)
        american = next((label for label in labels if label.concept.isco is None), None)
        if american:
            near = self._occupations.related(american.concept.id)
            names = self._names([other.concept for other in near if other.tier == 0], american.language)
            noun = _head_noun(title, american.language)
            alike = (name for name in names if _head_noun(name, american.language) == noun)
            yield from islice(alike, FROM_TAXONOMY)
        european = next((label for label in labels if label.concept.isco), None)
        if european and european.concept.isco:
            siblings = self._occupations.group(european.concept.isco)
            names = self._names([other for other in siblings if other != european.concept], european.language)
            alike = (name for name in names if _alike(european, name))
            yield from islice(alike, FROM_TAXONOMY)

    def _sure(self, title: str) -> Label | None:
        labels = self._occupations.labelled(title)
        if not labels:
            return None
        concepts = {label.concept.id for label in labels}
        return labels[0] if labels[0].preferred or len(concepts) == 1 else None

    def _names(self, concepts: list[Concept], language: str) -> Iterator[str]:
        for concept in concepts:
            labels = [label for label in self._occupations.labels(concept.id) if label.language == language]
            name = next((label.text for label in labels if label.preferred), None)
            if name is not None and concept.isco is None:  # O*NET names occupations in the plural
                last = inflected(label_key(name).split()[-1])[1:]
                name = next((label.text for label in labels if label_key(label.text).split()[-1] in last), None)
            if name is not None:
                yield name


def _alike(label: Label, name: str) -> bool:
    """Return whether two names in one language share the noun for the kind of job and another word."""
    shared = {word for word in label_key(label.text).split() if word not in _PREPOSITIONS}
    shared &= set(label_key(name).split())
    return len(shared) > 1 and _head_noun(label.text, label.language) == _head_noun(name, label.language)


def _head(label: Label) -> str:
    return _head_noun(label.text, label.language)


def _head_noun(text: str, language: str) -> str:
    """Return the noun that names the kind of job: the first word in French, else the last before a preposition."""
    parts = label_key(text).split()
    if language == "fr":
        return parts[0]
    until = next((at for at, word in enumerate(parts) if at and word in _PREPOSITIONS), len(parts))
    return parts[until - 1]
