"""Reading an advertisement: its title, place, years and languages, each by a reader of its own."""

from models.rules.intents import Reading
from models.rules.reading.asked import ReadingKnowledge
from models.rules.reading.document import Document
from models.rules.reading.draft import Block, Draft
from models.rules.reading.exclusions import NO_AGENCIES, REMOTE
from models.rules.reading.places import read_advertisement as read_place
from models.rules.reading.skills import read_skills
from models.rules.reading.spoken import read_spoken
from models.rules.reading.text_language import text_language
from models.rules.reading.titles import read_titles
from models.rules.reading.years import read_years
from models.rules.titles import is_generic


def read_advertisement(text: str, reference: ReadingKnowledge) -> Reading:
    """The intent of an advertisement."""
    document, draft = Document(text), Draft(text)
    language = text_language(text)
    titles = read_titles(document, language, places=reference.places, titles=reference.titles)
    for title in titles.searched:
        draft.add(Block.MUST, "titles", title.title, start=title.start, end=title.end)
    if titles.mentioned:
        draft.warn("Nothing announces the title: it is one that the text merely mentions. Please check it.")
    if titles.searched and is_generic(titles.searched[0].title):
        draft.warn(f"“{titles.searched[0].title}” alone says little: name the occupation to find the right people.")
    place = read_place(text, places=reference.places, language=language)
    draft.set_place(place)
    years = read_years(document)
    if years:
        draft.set_years(years)
    _add_languages(document, draft)
    titled = (titles.searched[0].start, titles.searched[0].end) if titles.searched else (0, 0)
    for skill in read_skills(document, reference.skills.find(text), title=titled):
        draft.add(skill.block, "skills", skill.name, start=skill.start, end=skill.end)
    note_working_place(text, draft)
    _note_agencies(text, draft)
    return draft.reading(candidates=tuple(title.title for title in titles.candidates), language=language)


def _add_languages(document: Document, draft: Draft) -> None:
    spoken = read_spoken(document)
    for language in spoken:
        block = Block.NICE if language.welcome or language.alternative else Block.MUST
        draft.add(block, "languages", language.language, start=language.start, end=language.end)
    if any(language.alternative for language in spoken):
        draft.warn("The text asks for one language or another: such languages are wished for, not required.")
    if any(language.level for language in spoken):
        ignore_levels(draft)


def ignore_levels(draft: Draft) -> None:
    """How well a language is spoken is no filter."""
    draft.ignore("must.languages.level", "Language levels cannot be searched for; the languages themselves are.")


def note_working_place(text: str, draft: Draft) -> None:
    """Remote or hybrid work is no filter."""
    found = REMOTE.search(text)
    if found:
        draft.ignore("remote", f"Where people work ({found.group()}) cannot be searched for, only where they live.")


def _note_agencies(text: str, draft: Draft) -> None:
    found = NO_AGENCIES.search(text)
    if found:
        draft.ignore("exclude", f"“{found.group()}” cannot be excluded: no filter expresses it.")
