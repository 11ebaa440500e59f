"""Title families: wordings of one occupation in four languages, its neighbours, function and share of workers."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import chain, product, zip_longest

from models.market.occupations import Concept, Label, Occupations, label_key
from models.market.title_cleaning import Seniority, alternatives, clean, collapsed, core, seniority
from models.market.title_words import LabelsByWord, Occurrence, Phrases, inflected, is_generic, key_contains, title_key

_BRACES = re.compile(r"\{([^{}]*)\}")
_HEAD_CELLS = 4
_WORDING_CELLS = 3


class TitleLanguage(StrEnum):
    """The languages titles are curated in."""

    EN = "en"
    DE = "de"
    FR = "fr"
    NL = "nl"


@dataclass(frozen=True, slots=True)
class Family:
    """Titles that mean the same.

    `function` is a role of the people source; `share` the people holding such a title per 10,000 workers, roughly;
    `wordings` per language the synonyms, best first, each with its spellings; `neighbours` are ids, nearest first.
    """

    id: str
    function: str
    share: float
    neighbours: tuple[str, ...]
    wordings: Mapping[TitleLanguage, tuple[tuple[str, ...], ...]]

    def titles(self, language: TitleLanguage) -> tuple[str, ...]:
        """Return all wordings of a language: the best in all spellings, the others in one, then in their others."""
        synonyms = self.wordings.get(language, ())
        usual = (spellings[0] for spellings in synonyms[1:])
        rare = (spelling for spellings in synonyms[1:] for spelling in spellings[1:])
        return (*(synonyms[0] if synonyms else ()), *usual, *rare)


def expand(pattern: str) -> tuple[str, ...]:
    """Return the spellings of `Java {Developer,Engineer}`, in the order of the alternatives."""
    if "{" not in pattern:
        return (pattern,)
    pieces = _BRACES.split(pattern)
    choices = [piece.split(",") if number % 2 else [piece] for number, piece in enumerate(pieces)]
    return tuple(" ".join("".join(choice).split()) for choice in product(*choices))


def parse_families(lines: Iterable[str]) -> Iterator[Family]:
    """Read families from their file: a head line `id, function, share, neighbours`, then a line for each language.

    Cells are parted by tabs, neighbours by spaces, wordings by `|`; a wording line begins with a tab.
    Raises `ValueError` for a line of another shape.
    """
    head: list[str] | None = None
    wordings: dict[TitleLanguage, tuple[tuple[str, ...], ...]] = {}
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        cells = line.rstrip("\n").split("\t")
        if cells[0] == "" and len(cells) == _WORDING_CELLS and head is not None:
            wordings[TitleLanguage(cells[1])] = tuple(expand(pattern.strip()) for pattern in cells[2].split("|"))
            continue
        if not cells[0] or len(cells) != _HEAD_CELLS:
            raise ValueError(f"not a line of a title family: {line!r}")
        if head is not None:
            yield _family(head, wordings)
        head, wordings = cells, {}
    if head is not None:
        yield _family(head, wordings)


def _family(head: list[str], wordings: Mapping[TitleLanguage, tuple[tuple[str, ...], ...]]) -> Family:
    id_, function, share, neighbours = head
    return Family(
        id=id_, function=function, share=float(share), neighbours=tuple(neighbours.split()), wordings=wordings
    )


# What the taxonomies add to a title that is in no curated family: careful synonyms, and related occupations.


_PRIMARY_TIERS = 1
_PREPOSITIONS = frozenset(("of", "for", "in", "im", "fur", "der", "des", "zur", "zum", "van", "voor", "met", "mit"))


class Classified:
    """Titles as ESCO and O*NET know them."""

    def __init__(self, occupations: Occupations) -> None:
        self._occupations = occupations

    def knows(self, title: str) -> bool:
        """Return whether it is a label of any occupation."""
        return bool(self._occupations.labelled(title))

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
        """Return names of related occupations in the title's language: O*NET's primary tiers, then the ISCO group."""
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
    """Return the noun that names the kind of job: the first word in French, else the last before a preposition."""
    parts = label_key(label.text).split()
    if label.language == "fr":
        return parts[0]
    until = next((at for at, word in enumerate(parts) if at and word in _PREPOSITIONS), len(parts))
    return parts[until - 1]


# What titles mean: other wordings, neighbours, function, seniority; and where they stand in a text.


MOST_EXACT = 15
MOST_NEARBY = 12
OWN_LANGUAGE_FIRST = 7
"""So many wordings of the title's own language come before those of the others."""
WIDENED = 4
FROM_EACH_NEIGHBOUR = 2
_HELPERS_WORDS = """
assistant assistante assistent assistentin assistenz assist deputy vice adjoint adjointe stellvertretender
stellvertretende stellvertretend stv aide helfer helferin intern internship praktikant praktikantin praktikum
trainee werkstudent werkstudentin student azubi auszubildende auszubildender ausbildung stagiaire stage alternant
alternance apprenti apprentie apprentice apprenticeship leerling jobstudent stagiair to
"""
_HELPERS = frozenset(_HELPERS_WORDS.split())
"""Beside such a word a known title inside a longer one is another job: an assistant store manager is no manager."""


class Titles:
    """All known titles. Holds no state but its tables and caches; safe to share between threads and tasks."""

    def __init__(self, families: Iterable[Family], occupations: Occupations, labels: LabelsByWord) -> None:
        self._families = {family.id: family for family in families}
        self._classified = Classified(occupations)
        self._curated: dict[str, tuple[Family, TitleLanguage]] = {}
        for family in self._families.values():
            for language in TitleLanguage:
                for title in family.titles(language):
                    self._curated.setdefault(title_key(title), (family, language))
        self._phrases = Phrases(self._curated, labels)
        self._exact = lru_cache(maxsize=5_000)(self._find_exact)

    @property
    def families(self) -> Collection[Family]:
        """Every curated family."""
        return self._families.values()

    def exact(self, title: str) -> tuple[str, ...]:
        """Return at most fifteen phrases that mean the title: the cleaned title, then other wordings, best first.

        Empty for an empty title.
        """
        return self._exact(title)

    def nearby(self, title: str, *, exclude: Collection[str] = ()) -> tuple[str, ...]:
        """Return neighbouring titles, nearest first, at most twelve; none contains an exact or an excluded one."""
        taken = [title_key(other) for other in (*self.exact(title), *exclude)]
        return _distinct(self._find_nearby(title), taken=taken, most=MOST_NEARBY)

    def family(self, title: str) -> Family | None:
        """Return the family of a title, or of the one inside it: an `Automotive Store Manager` is a store manager."""
        own = self._own(title)
        if own:
            return own[0][0]
        inside = self._inside(title)
        return inside[0] if inside else None

    def function(self, title: str) -> str | None:
        """Return the function as the people source names it; null when the title is in no family."""
        family = self.family(title)
        return family.function if family else None

    def seniority(self, title: str) -> Seniority | None:
        """Return the level the title states; null when it states none."""
        return seniority(title)

    def known(self, title: str) -> bool:
        """Return whether the title, as a whole, is one of the curated or classified ones."""
        keys = [title_key(form) for form in (clean(title), core(title))]
        return any(key in self._curated or self._classified.knows(key) for key in keys)

    def occurrences(self, text: str) -> tuple[Occurrence, ...]:
        """Return the longest known titles in a text from left to right, on word boundaries, none overlapping."""
        return self._phrases.find(text)

    # --- exact

    def _find_exact(self, title: str) -> tuple[str, ...]:
        first = clean(title)
        if not first:
            return ()
        own = self._own(title)
        wordings = chain.from_iterable(_in_turn([_wordings(*found) for found in own]))
        others = wordings if own else self._classified.synonyms(core(title))
        return _distinct((first, core(title), *others), taken=(), most=MOST_EXACT, keep_first=True)

    def _own(self, title: str) -> list[tuple[Family, TitleLanguage]]:
        """Return the families of the whole title, or of each occupation it names."""
        for form in (collapsed, clean, core):
            if found := self._curated.get(title_key(form(title))):
                return [found]
        several = (self._curated.get(title_key(part)) for part in alternatives(title))
        return list({found[0].id: found for found in several if found}.values())

    # --- nearby

    def _find_nearby(self, title: str) -> Iterator[str]:
        own = self._own(title)
        inside = None if own else self._inside(title)
        if inside:
            yield from _short_list(*inside, most=WIDENED)
        for family, language in (*own, *([inside] if inside else [])):
            near = [self._families[id_] for id_ in family.neighbours if id_ in self._families]
            lists = [_short_list(neighbour, language, most=FROM_EACH_NEIGHBOUR) for neighbour in near]
            yield from chain.from_iterable(_in_turn(lists))
        yield from self._classified.related(core(title))

    def _inside(self, title: str) -> tuple[Family, TitleLanguage] | None:
        """Return the family of the longest curated title in this one, unless a word beside it makes it a helper."""
        found = [one.key for one in self._phrases.find_keys(clean(title))]
        if not found:
            return None
        longest = max(found, key=len)
        beside = set(title_key(core(title)).split()) - set(longest.split())
        return self._curated[longest] if _HELPERS.isdisjoint(beside) else None


def _wordings(family: Family, language: TitleLanguage) -> Iterator[str]:
    """Return the wordings of a family, those of one language first, then those of all in turn."""
    own = family.titles(language)
    yield from own[:OWN_LANGUAGE_FIRST]
    others = [family.titles(other) for other in TitleLanguage if other is not language]
    yield from chain.from_iterable(_in_turn([*(titles[:2] for titles in others)]))
    yield from own[OWN_LANGUAGE_FIRST:]
    yield from chain.from_iterable(_in_turn([titles[2:] for titles in others]))


def _short_list(family: Family, language: TitleLanguage, *, most: int) -> list[str]:
    """Return the best wordings of a family in one language and, behind them, in English."""
    return [*family.titles(language)[:most], *family.titles(TitleLanguage.EN)[:1]]


def _in_turn(lists: Sequence[Iterable[str]]) -> Iterator[list[str]]:
    for turn in zip_longest(*lists):
        yield [title for title in turn if title is not None]


def _distinct(titles: Iterable[str], *, taken: Iterable[str], most: int, keep_first: bool = False) -> tuple[str, ...]:
    """Return titles in order without those that contain another of them or a taken key, and without generic ones."""
    kept: dict[str, str] = {}
    covered = list(taken)
    for title in titles:
        key = title_key(title)
        first = keep_first and not kept
        if not first and (not key or is_generic(title) or any(key_contains(key, phrase) for phrase in covered)):
            continue
        kept[key] = title
        covered.append(key)
        if len(kept) == most:
            break
    return tuple(kept.values())
