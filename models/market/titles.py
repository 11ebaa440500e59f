"""What titles mean: other wordings, neighbours, function, seniority; and where they stand in a text."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice, zip_longest
from operator import itemgetter
from typing import NamedTuple

from models.market.classified_titles import Classified
from models.market.occupations import Occupations
from models.market.skills import SkillField, Skills
from models.market.specialisms import Specialisms
from models.market.title_cleaning import (
    USUAL_RANK,
    Seniority,
    alternatives,
    clean,
    collapsed,
    core,
    seniority,
    stated_rank,
)
from models.market.title_families import Family, TitleLanguage, languages_of
from models.market.title_parts import TitleCode, TitleParts, TitleReader
from models.market.title_words import LabelsByWord, Occurrence, Phrases, inflected, is_generic, key_contains, title_key

MOST_EXACT = 30
MOST_NEARBY = 12
MOST_SPECIALISED = 20
MOST_APART = 50
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


_LEADERS_WORDS = """
lead leader teamlead teamleader head manager managerin supervisor superintendent foreman chief principal director leiter
leiterin leitung teamleiter responsable chef cheffe hoofd leidinggevende teamleider senior junior
"""
_LEVEL_WORDS = _HELPERS | frozenset(_LEADERS_WORDS.split())
"""Words of a level: a wording that has one which the best wording of its family lacks is another job."""


TECHNOLOGIES = frozenset(
    {
        SkillField.PROGRAMMING_LANGUAGES,
        SkillField.FRAMEWORKS,
        SkillField.DATA_SOFTWARE,
        SkillField.DATABASES,
        SkillField.CLOUD_AND_OPERATIONS,
        SkillField.SECURITY_AND_NETWORKS,
        SkillField.DESIGN_SOFTWARE,
        SkillField.BUSINESS_SOFTWARE,
        SkillField.ENGINEERING_SOFTWARE,
        SkillField.SOFTWARE_PRACTICE,
    }
)
"""Fields of skills that profiles list as such rather than in their titles."""


class TitleNarrowing(NamedTuple):
    """Titles or skills of which one is to be preferred; at most one of the two is given."""

    titles: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()


class Titles:
    """All known titles. Holds no state but its tables and caches; safe to share between threads and tasks."""

    def __init__(
        self,
        families: Iterable[Family],
        occupations: Occupations,
        labels: LabelsByWord,
        *,
        skills: Skills,
        specialisms: Specialisms,
        codes: Iterable[TitleCode],
        broad: Iterable[tuple[str, ...]],
        usual: Mapping[str, str],
    ) -> None:
        self._families = {family.id: family for family in families}
        self._occupations, self._classified = occupations, Classified(occupations)
        self._skills, self._specialisms = skills, specialisms
        self._curated: dict[str, tuple[Family, TitleLanguage]] = {}
        self._spelled: dict[str, str] = {}
        for family in self._families.values():
            for language in TitleLanguage:
                for title in family.titles(language):
                    key = title_key(title)
                    self._curated.setdefault(key, (family, language))
                    self._spelled.setdefault(key, title)
        self._usual = {title_key(title): family_id for title, family_id in usual.items()}
        self._usual_words: dict[str, list[str]] = {}
        for title, family_id in usual.items():
            self._usual_words.setdefault(family_id, []).append(title)
        self._broad = {title_key(title): row for row in broad for title in row}
        self._phrases = Phrases(self._curated, labels)
        self._usual_rank = lru_cache(maxsize=None)(self._most_frequent_rank)
        self._exact = lru_cache(maxsize=5_000)(self._find_exact)
        self.parts = lru_cache(maxsize=5_000)(TitleReader(self, skills, specialisms, codes).read)

    @property
    def families(self) -> Collection[Family]:
        """Every curated family."""
        return self._families.values()

    def exact(self, title: str, *, countries: Collection[str] = ()) -> tuple[str, ...]:
        """Return at most thirty phrases that mean the title: its head (see `parts`), then other wordings, best first.

        With `countries` (ISO codes) the other wordings are in the title's own language, in those spoken there, and in
        English: Brussels reads French and Dutch titles. Empty for an empty title. No wording names another field than
        the title: a React developer is no Angular one.
        """
        return self._exact(title, languages_of(countries))

    def nearby(self, title: str, *, exclude: Collection[str] = ()) -> tuple[str, ...]:
        """Return titles of the same kind of work and rank, nearest first, at most twelve; empty where none is near.

        None contains an exact or an excluded one.
        """
        taken = [title_key(other) for other in (*self.exact(title), *exclude)]
        rank = self.rank(self.parts(title).head)
        near = (other for other in self._find_nearby(title) if self.rank(other) == rank)
        return _distinct(near, taken=taken, most=MOST_NEARBY)

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
        return any(key in self._curated or self._occupations.labelled(key) for key in keys)

    def occurrences(self, text: str) -> tuple[Occurrence, ...]:
        """Return the longest known titles in a text from left to right, on word boundaries, none overlapping."""
        return self._phrases.find(text)

    def is_broad(self, title: str) -> bool:
        """Return whether the title is one word that names many occupations, such as `Driver` or `Engineer`."""
        return title_key(self.parts(title).head) in self._broad

    def rank(self, title: str) -> int:
        """Return 0 for learners, 1 for employees and managers, 2 for directors, 3 for the top: stated, or usual."""
        stated = stated_rank(title)
        if stated is not None:
            return stated
        known = self._curated.get(title_key(title))
        return self._usual_rank(known[0].id) if known else USUAL_RANK

    def _most_frequent_rank(self, family_id: str) -> int:
        titles = [title for language in TitleLanguage for title in self._families[family_id].titles(language)]
        stated = Counter(rank for rank in map(stated_rank, titles) if rank is not None)
        often = [rank for rank, count in stated.items() if count * 2 >= len(titles)]
        return often[0] if often else USUAL_RANK

    def specialised(self, title: str) -> tuple[str, ...]:
        """Return the known wordings, of the title's family and its neighbours, that name what the title is narrowed to.

        `Krankenpfleger Intensivstation` gives `ICU Nurse`, `Intensivpfleger` ...: prefer people who hold one of these.
        Empty when the title names no known field, or none of the wordings does.
        """
        parts = self.parts(title)
        fields = self._fields(" ".join((*parts.skills, *parts.specialism, title)))
        fields -= self._fields(parts.head) if parts.narrowed else frozenset()
        own = [family for family, _ in self._own(parts.head)]
        near = [self._families[id_] for family in own for id_ in family.neighbours if id_ in self._families]
        named = [
            [
                title
                for family in (*own, *near)
                for title in family.titles(language)
                if self._narrows(title, parts, fields)
            ]
            for language in TitleLanguage
        ]
        return _distinct(chain.from_iterable(_in_turn(named)), taken=(), most=MOST_SPECIALISED)

    def narrowing(self, title: str) -> TitleNarrowing:
        """Return what the words beside the head of a title ask to prefer, as one filter: by skills or by titles.

        Technologies are looked for among skills (`Frontend developer React`), anything else in titles where wordings
        are known (`Krankenpfleger Intensivstation`), else by its skills or its own words. Both empty for a bare title.
        """
        parts = self.parts(title)
        if not parts.narrowed:
            return TitleNarrowing()
        if any(self._is_technology(name) for name in parts.skills):
            return TitleNarrowing(skills=parts.skills)
        if titles := self.specialised(title):
            return TitleNarrowing(titles=titles)
        return TitleNarrowing(skills=parts.skills) if parts.skills else TitleNarrowing(titles=parts.specialism)

    def _is_technology(self, skill: str) -> bool:
        return any(found.field in TECHNOLOGIES for found in self._skills.find(skill))

    def _narrows(self, wording: str, parts: TitleParts, fields: frozenset[str]) -> bool:
        return bool(fields) and fields <= self._fields(wording) and self.rank(parts.head) == self.rank(wording)

    def apart(self, title: str) -> tuple[str, ...]:
        """Return longer titles that hold the words of this one and name another occupation, most frequent ones first.

        `Nurse` gives `Nursery Nurse`, `Nurse Manager` ..., to be excluded where a search matches a title inside a
        longer one. Empty for a title of several words, and for one in no family. A broad title (`Driver`) keeps
        whatever begins or ends with its word.
        """
        head = title_key(self.parts(title).head)
        own = self._own(head)
        if not own or " " in head:
            return ()
        near = self._near(family.id for family, _ in own)
        heads = {head, *map(title_key, self._usual_words.get(self._usual.get(head, ""), ()))}
        longer = [
            (found[0].share, self._spelled[key])
            for key, found in self._curated.items()
            for word in heads
            if key != word and key_contains(key, word) and not self._belongs(key, word, own[0][0], near)
        ]
        return _distinct(
            (title for _, title in sorted(longer, key=itemgetter(0), reverse=True)), taken=(), most=MOST_APART
        )

    def _near(self, family_ids: Iterable[str]) -> frozenset[str]:
        """Return these families, their neighbours and the neighbours of those."""
        found = set(family_ids)
        for _ in range(2):
            found |= {near for id_ in found if id_ in self._families for near in self._families[id_].neighbours}
        return frozenset(found)

    def _belongs(self, key: str, head: str, family: Family, near: frozenset[str]) -> bool:
        other = self._curated[key][0]
        if head in self._broad:
            return key.startswith(head) or key.endswith(head) or other.function == family.function
        return other.id == family.id or (other.id in near and other.function == family.function)

    def spelling(self, text: str) -> str | None:
        """Return the usual spelling of a known title, in the singular; null for an unknown one."""
        key = title_key(text)
        if key in self._spelled:
            return self._spelled[self._one_of_many(key)]
        found = self._phrases.find(text)
        whole = len(found) == 1 and title_key(text[: found[0].start] + text[found[0].end :]) == ""
        known = found[0].key if whole else key
        return self._spelled.get(known) or self._classified.spelling(known)

    def _one_of_many(self, key: str) -> str:
        """Return the key of the singular in the same family; the key itself where it is no plural."""
        before, _, last = key.rpartition(" ")
        for word in inflected(last)[1:]:
            one = f"{before} {word}".strip()
            if one in self._curated and self._curated[one][0] is self._curated[key][0]:
                return one
        return key

    # --- exact

    def _find_exact(self, title: str, spoken: frozenset[TitleLanguage]) -> tuple[str, ...]:
        first = clean(title)
        if not first:
            return ()
        parts = self.parts(title)
        if broad := self._broad.get(title_key(parts.head)):
            return _distinct((parts.head, *broad), taken=(), most=MOST_EXACT, generic=True)
        own = self._own(parts.head)
        wordings = chain.from_iterable(_in_turn([_wordings(*found, spoken) for found in own]))
        general = self._usual_words.get(self._usual.get(title_key(parts.head), ""), ())
        others = chain(general, wordings) if own else self._classified.synonyms(parts.head)
        mine = (title for title in others if self._fits(title, parts.head))
        return _distinct((parts.head, *mine), taken=(), most=MOST_EXACT, keep_first=True, generic=bool(general))

    def _fits(self, wording: str, title: str) -> bool:
        """Return whether a wording has the level of the title and names no other field, such as Angular for React."""
        asked, named = self._fields(title), self._fields(wording)
        return self.rank(title) == self.rank(wording) and (not asked or not named or not asked.isdisjoint(named))

    def _fields(self, title: str) -> frozenset[str]:
        named = self._specialisms.named(title_key(title))
        return named or frozenset(skill.name for skill in self._skills.find(title))

    def _own(self, title: str) -> list[tuple[Family, TitleLanguage]]:
        """Return the families of the whole title, or of each occupation it names."""
        for form in (collapsed, clean, core):
            if found := self._curated.get(title_key(form(title))):
                return [found]
        if usual := self._families.get(self._usual.get(title_key(title), "")):
            return [(usual, self._language(title, usual))]
        several = (self._curated.get(title_key(part)) for part in alternatives(title))
        return list({found[0].id: found for found in several if found}.values())

    def _language(self, title: str, family: Family) -> TitleLanguage:
        """Return the language in which the wordings of a family begin with this word, English where none does."""
        start = title_key(title)
        return next(
            (one for one in TitleLanguage if any(title_key(each).startswith(start) for each in family.titles(one))),
            TitleLanguage.EN,
        )

    # --- nearby

    def _find_nearby(self, title: str) -> Iterator[str]:
        head = self.parts(title).head
        own = self._own(head)
        inside = None if own else self._inside(head)
        if inside:
            yield from _short_list(*inside, most=WIDENED)
        for family, language in (*own, *([inside] if inside else [])):
            near = [self._families[id_] for id_ in family.neighbours if id_ in self._families]
            lists = [_short_list(neighbour, language, most=FROM_EACH_NEIGHBOUR) for neighbour in near]
            yield from chain.from_iterable(_in_turn(lists))
        if not own and not inside:
            yield from self._classified.related(head)

    def _inside(self, title: str) -> tuple[Family, TitleLanguage] | None:
        """Return the family of the longest curated title in this one, unless a word beside it makes it a helper."""
        found = [one.key for one in self._phrases.find_keys(clean(title))]
        if not found:
            return None
        longest = max(found, key=len)
        beside = set(title_key(core(title)).split()) - set(longest.split())
        return self._curated[longest] if _HELPERS.isdisjoint(beside) else None


def _wordings(family: Family, language: TitleLanguage, spoken: frozenset[TitleLanguage]) -> Iterator[str]:
    """Return the wordings of a family in the spoken languages, those of its own first, then those of all in turn."""
    own = family.titles(language)
    yield from own[:OWN_LANGUAGE_FIRST]
    others = [family.titles(other) for other in TitleLanguage if other is not language and other in spoken]
    yield from chain.from_iterable(_in_turn([*(titles[:2] for titles in others)]))
    if len(spoken) == len(TitleLanguage):
        yield from own[OWN_LANGUAGE_FIRST:]
        yield from chain.from_iterable(_in_turn([titles[2:] for titles in others]))
    else:
        yield from chain.from_iterable(_in_turn([*(titles[2:] for titles in others), own[OWN_LANGUAGE_FIRST:]]))


def _short_list(family: Family, language: TitleLanguage, *, most: int) -> list[str]:
    """Return the best wordings of a family in one language and, behind them, in English, all of its usual level."""
    own = _of_usual_level(family.titles(language))
    return [*islice(own, most), *islice(_of_usual_level(family.titles(TitleLanguage.EN)), 1)]


def _of_usual_level(titles: Sequence[str]) -> Iterator[str]:
    """Yield those that name no leader or helper unless the best one does: no `SRE Lead` beside an SRE."""
    usual = _LEVEL_WORDS & set(title_key(titles[0]).split()) if titles else frozenset()
    return (title for title in titles if _LEVEL_WORDS & set(title_key(title).split()) <= usual)


def _in_turn(lists: Sequence[Iterable[str]]) -> Iterator[list[str]]:
    for turn in zip_longest(*lists):
        yield [title for title in turn if title is not None]


def _distinct(
    titles: Iterable[str], *, taken: Iterable[str], most: int, keep_first: bool = False, generic: bool = False
) -> tuple[str, ...]:
    """Return titles in order without those that contain another of them or a taken key, and without generic ones.

    `keep_first` keeps the first whatever it is; `generic` keeps generic ones.
    """
    kept: dict[str, str] = {}
    covered = list(taken)
    for title in titles:
        key = title_key(title)
        first = keep_first and not kept
        if not first and (
            not key or (is_generic(title) and not generic) or any(key_contains(key, phrase) for phrase in covered)
        ):
            continue
        kept[key] = title
        covered.append(key)
        if len(kept) == most:
            break
    return tuple(kept.values())
