"""What the taxonomies add to a title that is in no curated family: careful synonyms, and related occupations."""

from collections.abc import Iterator

from models.rules.occupations import Concept, Label, Occupations, label_key
from models.rules.titles.keys import inflected

_PRIMARY_TIERS = 1
_PREPOSITIONS = frozenset(("of", "for", "in", "im", "fur", "der", "des", "zur", "zum", "van", "voor", "met", "mit"))


class Classified:
    """Titles as ESCO and O*NET know them."""

    def __init__(self, occupations: Occupations) -> None:
        self._occupations = occupations

    def knows(self, title: str) -> bool:
        """Whether it is a label of any occupation."""
        return bool(self._occupations.labelled(title))

    def synonyms(self, title: str) -> Iterator[str]:
        """Labels of the title's occupation with the same head noun; its own names in other languages.

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
        """Names of related occupations in the title's language: O*NET's primary tiers, then the ISCO group."""
        labels = self._occupations.labelled(title)
        american = next((label for label in labels if label.concept.isco is None), None)
        if american:
            near = self._occupations.related(american.concept.id)
            concepts = [other.concept for other in near if other.tier <= _PRIMARY_TIERS]
            yield from self._names(concepts, american.language)
        european = next((label for label in labels if label.concept.isco), None)
        if european and european.concept.isco:
            siblings = self._occupations.group(european.concept.isco)
            yield from self._names([other for other in siblings if other != european.concept], european.language)

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


def _head(label: Label) -> str:
    """The noun that says what kind of job it is: the first word in French, else the last before a preposition."""
    parts = label_key(label.text).split()
    if label.language == "fr":
        return parts[0]
    until = next((at for at, word in enumerate(parts) if at and word in _PREPOSITIONS), len(parts))
    return parts[until - 1]
