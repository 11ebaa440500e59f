"""Reading a short intent: every reader takes its words, and what is left is the title."""

import re
from collections.abc import Sequence

from models.rules.intents import Reading
from models.rules.reading.advertisement import ignore_levels, note_working_place
from models.rules.reading.asked import ReadingKnowledge, SkillMention
from models.rules.reading.draft import Block, Draft
from models.rules.reading.exclusions import AGENCIES, FREELANCE, LEVEL, REMOTE, Exclusion, read_exclusions
from models.rules.reading.head_words import head_words, names_work
from models.rules.reading.places import read_short
from models.rules.reading.short import EDGE_WORDS, hidden, short_languages, short_years, title_pieces
from models.rules.reading.singular import one_of
from models.rules.reading.skills import TECHNOLOGIES, listed, one_of_several
from models.rules.reading.spoken import REACH, WELCOME
from models.rules.reading.text_language import text_language
from models.rules.reading.title_lines import is_wording
from models.rules.reading.title_marks import clean_title
from models.rules.titles import clean

Span = tuple[int, int]
WORD = re.compile(r"[^\W_]+")
PIECE_END = re.compile(r"[,;.|\n]")
AROUND_SKILLS = EDGE_WORDS | {"skills", "knowledge", "kenntnisse", "kennis", "connaissances", "a", "plus", "nice"}
SHORTEST_KNOWN = 3
"""A shorter word is no title, even if a taxonomy has it."""


def read_short_intent(text: str, reference: ReadingKnowledge) -> Reading:
    """The intent of a few words, such as `3y Go devs near Ghent, not agencies`."""
    draft, language = Draft(text), text_language(text)
    exclusions = read_exclusions(text)
    place = read_short(text, places=reference.places)
    draft.set_place(place)
    taken = [*exclusions.taken, *place.spans]
    taken += _take_years(text, draft)
    taken += _take_languages(hidden(text, taken), draft)
    taken += [(remote.start(), remote.end()) for remote in REMOTE.finditer(text)]
    note_working_place(hidden(text, list(exclusions.taken)), draft)
    skills = reference.skills.find(hidden(text, taken))
    titles = _add_titles(text, taken, skills, draft, reference)
    _add_skills(text, skills, titles, draft)
    for exclusion in exclusions.found:
        if any(start < exclusion.end and exclusion.start < end for start, end in place.spans):
            draft.prove("exclude.location", exclusion.what, start=exclusion.start, end=exclusion.end)
        else:
            _exclude(exclusion, draft, reference)
    return draft.reading(candidates=tuple(draft.values.get((Block.MUST, "titles"), ())), language=language)


def _take_years(text: str, draft: Draft) -> list[Span]:
    found = short_years(text)
    if found is None:
        return []
    draft.set_years(found)
    return [(found.start, found.end)]


def _take_languages(text: str, draft: Draft) -> list[Span]:
    found = short_languages(text)
    for language in found:
        draft.add(Block.MUST, "languages", language.language, start=language.start, end=language.end)
        if language.level:
            ignore_levels(draft)
    return [(language.start, language.end) for language in found]


def _add_titles(
    text: str, taken: list[Span], skills: Sequence[SkillMention], draft: Draft, reference: ReadingKnowledge
) -> list[Span]:
    """Where the titles stand."""
    found: list[Span] = []
    for piece in title_pieces(text, taken):
        said = text[piece.start : piece.end]
        title = one_of(clean(clean_title(said)))
        if is_wording(title) and (names_work(title) or _is_known(title, reference)):
            draft.add(Block.MUST, "titles", title, start=piece.start, end=piece.end)
            found.append((piece.start, piece.end))
        elif _without(said, skills, offset=piece.start):
            draft.ignore("other", f"“{said}” has no effect: it is no title, place, skill or language that we know.")
    return found


def _without(said: str, skills: Sequence[SkillMention], *, offset: int) -> list[str]:
    """The telling words of a piece that are no skills."""
    spans = [(skill.start - offset, skill.end - offset) for skill in skills if skill.start >= offset]
    left = hidden(said, [span for span in spans if span[1] <= len(said)])
    return [word for word in WORD.findall(left) if word.lower() not in AROUND_SKILLS]


def _add_skills(text: str, skills: Sequence[SkillMention], titles: Sequence[Span], draft: Draft) -> None:
    """Each skill named is required, unless it is one of several or welcome; of a title only its technologies."""
    for group in listed(text, skills):
        choice = one_of_several(text, group)
        for skill in group:
            titled = any(start <= skill.start < end for start, end in titles)
            if titled and skill.field not in TECHNOLOGIES:
                continue
            welcome = WELCOME.search(PIECE_END.split(text[skill.end : skill.end + REACH], maxsplit=1)[0])
            block = Block.NICE if (choice and not titled) or welcome else Block.MUST
            draft.add(block, "skills", skill.name, start=skill.start, end=skill.end)
        if choice and len(group) > 1:
            draft.warn("The text asks for one skill or another: such skills are wished for, not required.")


def _is_known(title: str, reference: ReadingKnowledge) -> bool:
    return len(title) >= SHORTEST_KNOWN and reference.titles.known(title)


def _exclude(exclusion: Exclusion, draft: Draft, reference: ReadingKnowledge) -> None:
    level = LEVEL.fullmatch(exclusion.what)
    if FREELANCE.match(exclusion.what):
        for title in ("freelance", "freelancer"):
            draft.add(Block.EXCLUDE, "titles", title, start=exclusion.start, end=exclusion.end)
        draft.warn("Freelancers are recognised by their titles alone.")
    elif level:
        draft.add(Block.EXCLUDE, "titles", level["level"].lower(), start=exclusion.start, end=exclusion.end)
    elif skills := _whole(exclusion.what, reference):
        draft.add(Block.EXCLUDE, "skills", skills, start=exclusion.start, end=exclusion.end)
    elif not AGENCIES.match(exclusion.what) and head_words(exclusion.what):
        draft.add(Block.EXCLUDE, "titles", one_of(exclusion.what), start=exclusion.start, end=exclusion.end)
    else:
        draft.ignore("exclude", f"“{exclusion.what}” cannot be excluded: no filter expresses it.")


def _whole(said: str, reference: ReadingKnowledge) -> str | None:
    """The skill that the words as a whole name."""
    found = reference.skills.find(said)
    return found[0].name if len(found) == 1 and found[0].end - found[0].start == len(said) else None
