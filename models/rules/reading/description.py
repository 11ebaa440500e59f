"""Reading a job description or a short intent into an intent, with evidence for each value."""

from models.rules.filters import Range
from models.rules.intents import ExcludeBlock, Intent, IntentBlock, Reading
from models.rules.reading.asked import ReadingKnowledge
from models.rules.reading.document import Document
from models.rules.reading.exclusions import AGENCIES, FREELANCE, REMOTE, Exclusion, read_exclusions
from models.rules.reading.head_words import head_words
from models.rules.reading.notes import ReadingNotes
from models.rules.reading.short import is_short, short_languages, short_years, title_pieces
from models.rules.reading.singular import one_of
from models.rules.reading.spoken import read_spoken
from models.rules.reading.text_language import text_language
from models.rules.reading.title_marks import clean_title
from models.rules.reading.titles import read_titles
from models.rules.reading.years import YearsFound, read_years


def read_description(text: str, *, reference: ReadingKnowledge) -> Reading:
    """The intent behind an advertisement or a few words; no titles when none can be read (contract, section 5).

    Nothing is guessed: what is unclear or cannot be searched for stands in `warnings` and `ignored_fields`.
    Any text is taken; offsets of the evidence count characters of `text`.
    """
    if is_short(text):
        return _read_short(text, reference)
    return _read_advertisement(text, reference)


def _read_advertisement(text: str, reference: ReadingKnowledge) -> Reading:
    document, notes = Document(text), ReadingNotes(text)
    language = text_language(text)
    titles = read_titles(document, language, places=reference.places, titles=reference.titles)
    for title in titles.searched:
        notes.read("must.titles", title.title, start=title.start, end=title.end)
    must = {"titles": tuple(title.title for title in titles.searched)}
    years = _years(read_years(document), notes)
    required, welcome = _languages(document, notes)
    _note_remote(text, notes)
    return Reading(
        intent=Intent(
            must=IntentBlock(**must, experience_years=years, languages=required),
            nice=IntentBlock(languages=welcome),
        ),
        evidence=tuple(notes.evidence),
        title_candidates=tuple(title.title for title in titles.candidates),
        text_language=language,
        warnings=tuple(notes.warnings),
        ignored_fields=tuple(notes.ignored),
    )


def _years(found: YearsFound | None, notes: ReadingNotes) -> Range | None:
    if found is None:
        return None
    for end, value in (("min", found.low), ("max", found.high)):
        if value is not None:
            notes.read(f"must.experience_years.{end}", value, start=found.start, end=found.end)
    return Range(min=found.low, max=found.high)


def _languages(document: Document, notes: ReadingNotes) -> tuple[tuple[str, ...], tuple[str, ...]]:
    blocks: dict[str, list[str]] = {"must": [], "nice": []}
    spoken = read_spoken(document)
    for language in spoken:
        block = "nice" if language.welcome or language.alternative else "must"
        blocks[block].append(language.language)
        notes.read(f"{block}.languages", language.language, start=language.start, end=language.end)
    if any(language.alternative for language in spoken):
        notes.warn("The text asks for one language or another: such languages are wished for, not required.")
    if any(language.level for language in spoken):
        _ignore_levels(notes)
    return tuple(blocks["must"]), tuple(blocks["nice"])


def _ignore_levels(notes: ReadingNotes) -> None:
    notes.ignore("must.languages.level", "Language levels cannot be searched for; the languages themselves are.")


def _note_remote(text: str, notes: ReadingNotes) -> None:
    found = REMOTE.search(text)
    if found:
        notes.ignore("remote", f"Where people work ({found.group()}) cannot be searched for, only where they live.")


def _read_short(text: str, reference: ReadingKnowledge) -> Reading:
    notes = ReadingNotes(text)
    language = text_language(text)
    exclusions = read_exclusions(text)
    masked = [(exclusion.whole_start, exclusion.whole_end) for exclusion in exclusions]
    masked += [(read.start, read.end) for read in notes.evidence]
    found = short_years(text)
    years = _years(found, notes)
    masked += [(found.start, found.end)] if found else []
    languages: dict[str, None] = {}
    for name, start, end, level in short_languages(_hidden(text, masked)):
        masked.append((start, end))
        if name not in languages:
            notes.read("must.languages", name, start=start, end=end)
        languages[name] = None
        if level:
            _ignore_levels(notes)
    masked += [(remote.start(), remote.end()) for remote in REMOTE.finditer(text)]
    _note_remote(text, notes)
    titles = _short_titles(text, masked, notes)
    excluded = _excluded(exclusions, notes)
    return Reading(
        intent=Intent(
            must=IntentBlock(titles=titles, experience_years=years, languages=tuple(languages)),
            exclude=ExcludeBlock(titles=excluded),
        ),
        evidence=tuple(notes.evidence),
        title_candidates=titles,
        text_language=language,
        warnings=tuple(notes.warnings),
        ignored_fields=tuple(notes.ignored),
    )


def _hidden(text: str, spans: list[tuple[int, int]]) -> str:
    shown = list(text)
    for start, end in spans:
        shown[start:end] = "\n" * (end - start)
    return "".join(shown)


def _short_titles(text: str, masked: list[tuple[int, int]], notes: ReadingNotes) -> tuple[str, ...]:
    titles: dict[str, None] = {}
    for piece in title_pieces(text, masked):
        raw = text[piece.start : piece.end]
        if titles and not head_words(raw):
            continue
        title = clean_title(raw)
        if not title or not any(letter.isalpha() for letter in title):
            continue
        title = one_of(title)
        if title not in titles:
            titles[title] = None
            notes.read("must.titles", title, start=piece.start, end=piece.end)
    return tuple(titles)[:3]


def _excluded(exclusions: list[Exclusion], notes: ReadingNotes) -> tuple[str, ...]:
    titles: dict[str, None] = {}
    for exclusion in exclusions:
        if FREELANCE.match(exclusion.what):
            titles["freelance"] = titles["freelancer"] = None
            notes.read("exclude.titles", "freelance", start=exclusion.start, end=exclusion.end)
            notes.read("exclude.titles", "freelancer", start=exclusion.start, end=exclusion.end)
            notes.warn("Freelancers are recognised by their titles alone.")
        elif not AGENCIES.match(exclusion.what) and head_words(exclusion.what):
            title = one_of(exclusion.what)
            titles[title] = None
            notes.read("exclude.titles", title, start=exclusion.start, end=exclusion.end)
        else:
            notes.ignore("exclude", f"“{exclusion.what}” cannot be excluded: no filter expresses it.")
    return tuple(titles)
