"""Reading a short intent: every reader takes its words, and what is left is the title."""

from models.rules.intents import Reading
from models.rules.reading.advertisement import ignore_levels, note_working_place
from models.rules.reading.asked import ReadingKnowledge
from models.rules.reading.draft import Block, Draft
from models.rules.reading.exclusions import AGENCIES, FREELANCE, LEVEL, REMOTE, Exclusion, read_exclusions
from models.rules.reading.head_words import head_words, names_work
from models.rules.reading.places import read_short
from models.rules.reading.short import hidden, short_languages, short_years, title_pieces
from models.rules.reading.singular import one_of
from models.rules.reading.text_language import text_language
from models.rules.reading.title_lines import is_wording
from models.rules.reading.title_marks import clean_title
from models.rules.titles import clean

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
    _add_titles(text, taken, draft, reference)
    for exclusion in exclusions.found:
        if any(start < exclusion.end and exclusion.start < end for start, end in place.spans):
            draft.prove("exclude.location", exclusion.what, start=exclusion.start, end=exclusion.end)
        else:
            _exclude(exclusion, draft)
    return draft.reading(candidates=tuple(draft.values.get((Block.MUST, "titles"), ())), language=language)


def _take_years(text: str, draft: Draft) -> list[tuple[int, int]]:
    found = short_years(text)
    if found is None:
        return []
    draft.set_years(found)
    return [(found.start, found.end)]


def _take_languages(text: str, draft: Draft) -> list[tuple[int, int]]:
    found = short_languages(text)
    for language in found:
        draft.add(Block.MUST, "languages", language.language, start=language.start, end=language.end)
        if language.level:
            ignore_levels(draft)
    return [(language.start, language.end) for language in found]


def _add_titles(text: str, taken: list[tuple[int, int]], draft: Draft, reference: ReadingKnowledge) -> None:
    for piece in title_pieces(text, taken):
        said = text[piece.start : piece.end]
        title = one_of(clean(clean_title(said)))
        if is_wording(title) and (names_work(title) or _is_known(title, reference)):
            draft.add(Block.MUST, "titles", title, start=piece.start, end=piece.end)
        else:
            draft.ignore("other", f"“{said}” has no effect: it is no title, place, skill or language that we know.")


def _is_known(title: str, reference: ReadingKnowledge) -> bool:
    return len(title) >= SHORTEST_KNOWN and reference.titles.known(title)


def _exclude(exclusion: Exclusion, draft: Draft) -> None:
    level = LEVEL.fullmatch(exclusion.what)
    if FREELANCE.match(exclusion.what):
        for title in ("freelance", "freelancer"):
            draft.add(Block.EXCLUDE, "titles", title, start=exclusion.start, end=exclusion.end)
        draft.warn("Freelancers are recognised by their titles alone.")
    elif level:
        draft.add(Block.EXCLUDE, "titles", level["level"].lower(), start=exclusion.start, end=exclusion.end)
    elif not AGENCIES.match(exclusion.what) and head_words(exclusion.what):
        draft.add(Block.EXCLUDE, "titles", one_of(exclusion.what), start=exclusion.start, end=exclusion.end)
    else:
        draft.ignore("exclude", f"“{exclusion.what}” cannot be excluded: no filter expresses it.")
