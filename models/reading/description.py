"""Read a job description or a short intent into an intent, with evidence for each value."""

from models.market.title_words import is_generic
from models.reading.cleaning import CleanText, clean_text
from models.reading.document import Document, ReadingKnowledge, text_language
from models.reading.draft import DraftBlock, ReadingDraft
from models.reading.exclusions import NO_AGENCIES, NO_FREELANCERS
from models.reading.intents import Evidence, IntentReading
from models.reading.places.workplace import read_place_of_work as read_place
from models.reading.short_intents import is_short, read_short_intent
from models.reading.skills import read_skills
from models.reading.spoken import read_spoken
from models.reading.titles import read_titles
from models.reading.years import read_years


def read_advertisement(cleaned: CleanText, reference: ReadingKnowledge) -> IntentReading:
    """Return the intent of an advertisement."""
    text = cleaned.text
    document, draft = Document(text, cleaned.items), ReadingDraft(text)
    language = text_language(text)
    titles = read_titles(document, language, places=reference.places, titles=reference.titles)
    for title in titles.searched:
        draft.add(DraftBlock.MUST, "titles", title.title, start=title.start, end=title.end)
    if titles.mentioned:
        draft.warn("The text does not announce a title; the one chosen is only mentioned. Please check it.")
    if titles.searched and is_generic(titles.searched[0].title):
        draft.warn(f"“{titles.searched[0].title}” alone is too general: add the occupation to find the right people.")
    place = read_place(text, places=reference.places, language=language)
    draft.set_place(place)
    years = read_years(document)
    if years:
        draft.set_years(years)
    _add_languages(document, draft)
    titled = (titles.searched[0].start, titles.searched[0].end) if titles.searched else (0, 0)
    for skill in read_skills(document, reference.skills.find(text), title=titled):
        draft.add(skill.block, "skills", skill.name, start=skill.start, end=skill.end)
    draft.ignore_working_place(text)
    agencies = NO_AGENCIES.search(text)
    if agencies:
        draft.ignore_exclusion(agencies.group())
    turned_away = NO_FREELANCERS.search(text)
    if turned_away:
        draft.exclude_freelancers(start=turned_away.start(), end=turned_away.end())
    return draft.reading(candidates=tuple(title.title for title in titles.candidates), language=language)


def _add_languages(document: Document, draft: ReadingDraft) -> None:
    spoken = read_spoken(document)
    for language in spoken:
        block = DraftBlock.NICE if language.welcome or language.alternative else DraftBlock.MUST
        draft.add(block, "languages", language.language, start=language.start, end=language.end)
    if any(language.alternative for language in spoken):
        draft.warn("The text asks for one language or another: these languages are preferred, not required.")
    if any(language.level for language in spoken):
        draft.ignore_language_levels()


def read_description(text: str, *, reference: ReadingKnowledge) -> IntentReading:
    """Return the intent behind an advertisement or a few words; no titles when none can be read (contract, section 5).

    Nothing is guessed: what is unclear or cannot be searched for stands in `warnings` and `ignored_fields`.
    Any text is taken; offsets of the evidence count characters of `text`.
    """
    cleaned = clean_text(text)
    short = is_short(cleaned.text)
    reading = read_short_intent(cleaned.text, reference) if short else read_advertisement(cleaned, reference)
    return reading.model_copy(update={"evidence": tuple(_in_text(text, one, cleaned) for one in reading.evidence)})


def _in_text(text: str, evidence: Evidence, cleaned: CleanText) -> Evidence:
    """Return evidence of the cleaned text where it stands in the text given."""
    start, end = cleaned.given(evidence.start, evidence.end)
    return evidence.model_copy(update={"quote": text[start:end], "start": start, "end": end})
