"""What titles mean: other wordings, neighbours, function, seniority; and where they stand in a text."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, zip_longest

from models.rules.occupations import Occupations
from models.rules.titles.classified import Classified
from models.rules.titles.cleaning import clean, collapsed
from models.rules.titles.core import alternatives, core
from models.rules.titles.families import Family, Language
from models.rules.titles.generic import is_generic
from models.rules.titles.keys import contains, title_key
from models.rules.titles.phrases import LabelsByWord, Occurrence, Phrases
from models.rules.titles.seniority import Seniority, seniority

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
        self._curated: dict[str, tuple[Family, Language]] = {}
        for family in self._families.values():
            for language in Language:
                for title in family.titles(language):
                    self._curated.setdefault(title_key(title), (family, language))
        self._phrases = Phrases(self._curated, labels)
        self._exact = lru_cache(maxsize=5_000)(self._find_exact)

    @property
    def families(self) -> Collection[Family]:
        """Every curated family."""
        return self._families.values()

    def exact(self, title: str) -> tuple[str, ...]:
        """Phrases that mean the title, at most fifteen: the cleaned title first, then other wordings, best first.

        Empty for an empty title.
        """
        return self._exact(title)

    def nearby(self, title: str, *, exclude: Collection[str] = ()) -> tuple[str, ...]:
        """Neighbouring titles, nearest first, at most twelve; none contains an exact or an excluded one."""
        taken = [title_key(other) for other in (*self.exact(title), *exclude)]
        return _distinct(self._find_nearby(title), taken=taken, most=MOST_NEARBY)

    def family(self, title: str) -> Family | None:
        """The curated family of a title, or of the one inside it: an `Automotive Store Manager` is a store manager."""
        own = self._own(title)
        if own:
            return own[0][0]
        inside = self._inside(title)
        return inside[0] if inside else None

    def function(self, title: str) -> str | None:
        """The function as the people source names it; null when the title is in no family."""
        family = self.family(title)
        return family.function if family else None

    def seniority(self, title: str) -> Seniority | None:
        """The level the title states; null when it states none."""
        return seniority(title)

    def known(self, title: str) -> bool:
        """Whether the title, as a whole, is one of the curated or classified ones."""
        keys = [title_key(form) for form in (clean(title), core(title))]
        return any(key in self._curated or self._classified.knows(key) for key in keys)

    def occurrences(self, text: str) -> tuple[Occurrence, ...]:
        """The known titles in a text from left to right: the longest ones, on word boundaries, none overlapping."""
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

    def _own(self, title: str) -> list[tuple[Family, Language]]:
        """The families of the whole title, or of each occupation it names."""
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

    def _inside(self, title: str) -> tuple[Family, Language] | None:
        """The family of the longest curated title within this one, unless a word beside it makes it a helper's job."""
        found = [one.key for one in self._phrases.find_keys(clean(title))]
        if not found:
            return None
        longest = max(found, key=len)
        beside = set(title_key(core(title)).split()) - set(longest.split())
        return self._curated[longest] if _HELPERS.isdisjoint(beside) else None


def _wordings(family: Family, language: Language) -> Iterator[str]:
    """The wordings of a family, those of one language first, then those of all in turn."""
    own = family.titles(language)
    yield from own[:OWN_LANGUAGE_FIRST]
    others = [family.titles(other) for other in Language if other is not language]
    yield from chain.from_iterable(_in_turn([*(titles[:2] for titles in others)]))
    yield from own[OWN_LANGUAGE_FIRST:]
    yield from chain.from_iterable(_in_turn([titles[2:] for titles in others]))


def _short_list(family: Family, language: Language, *, most: int) -> list[str]:
    """The best wordings of a family in one language and, behind them, in English."""
    return [*family.titles(language)[:most], *family.titles(Language.EN)[:1]]


def _in_turn(lists: Sequence[Iterable[str]]) -> Iterator[list[str]]:
    for turn in zip_longest(*lists):
        yield [title for title in turn if title is not None]


def _distinct(titles: Iterable[str], *, taken: Iterable[str], most: int, keep_first: bool = False) -> tuple[str, ...]:
    """Titles in order without those that contain another of them or a taken key, and without generic ones."""
    kept: dict[str, str] = {}
    covered = list(taken)
    for title in titles:
        key = title_key(title)
        first = keep_first and not kept
        if not first and (not key or is_generic(title) or any(contains(key, phrase) for phrase in covered)):
            continue
        kept[key] = title
        covered.append(key)
        if len(kept) == most:
            break
    return tuple(kept.values())
