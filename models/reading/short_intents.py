"""Short intents: `3y Go devs near Ghent, not agencies`. What is no place, number or exclusion is the title."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from models.market.title_cleaning import clean
from models.reading.document import ReadingKnowledge, SkillMention, text_language
from models.reading.draft import DraftBlock, IntentDraft
from models.reading.exclusions import AGENCIES, EXCLUDED_LEVEL, FREELANCE, REMOTE, Exclusion, read_exclusions
from models.reading.head_words import head_words, is_head_word, names_work, one_of
from models.reading.intents import IntentReading
from models.reading.languages import AND, OR, phrases, words
from models.reading.places.short import read_short
from models.reading.skills import TECHNOLOGIES, one_of_several, skill_groups
from models.reading.spoken import ENGLISH_OF, LEVEL, NAME, REACH, WELCOME, Spoken
from models.reading.title_lines import SENTENCE as SENTENCE_WORDS
from models.reading.title_lines import clean_title, is_wording
from models.reading.years import MOST_YEARS, YearsFound

LONGEST_INTENT = 300
MOST_LINES = 6
MOST_WORDS = 35
WORDS_PER_SENTENCE = 7
_AT_MOST = rf"(?:<|{phrases(lambda each: each.years.short_at_most)})"
_AT_LEAST = rf"(?:>=?|≥|{phrases(lambda each: each.years.short_at_least)})"
_YEARS = phrases(lambda each: each.years.short_years)
_OF = phrases(lambda each: each.years.short_of)
_EXPERIENCE = phrases(lambda each: each.years.short_experience)
_UNTIL = rf"(?:-|–|{phrases(lambda each: each.years.until)})"
YEARS = re.compile(
    rf"(?<![\w.,$€£])(?P<cap>{_AT_MOST})?\s?{_AT_LEAST}?\s?"
    rf"(?P<low>\d{{1,2}})\s?\+?(?:\s?{_UNTIL}\s?(?P<high>\d{{1,2}}))?\s?\+?\s?"
    rf"{_YEARS}(?![\w'’])(?:\s?\+)?(?:\s?{_OF}?\s?(?:\w+\s)?{_EXPERIENCE}\b)?",
    re.IGNORECASE,
)
NOT_YEARS = re.compile(rf"\s*{phrases(lambda each: each.years.short_not)}\b", re.IGNORECASE)
ASKING = re.compile(
    rf"\s*(?:{phrases(lambda each: each.short.greeting)}[,! ]+)?"
    rf"(?:{phrases(lambda each: each.short.asker)}\s+)?"
    rf"(?:{phrases(lambda each: each.short.wish)}\s+)?"
    rf"{phrases(lambda each: each.short.asking)}(?!\w)\s*:?\s*{phrases(lambda each: each.short.asked)}?\s*",
    re.IGNORECASE,
)
PIECE = re.compile(
    rf"[,;|\n\r•!?]|\s[-–—]\s|\.(?=\s|$)|(?<!\w){phrases(lambda each: each.short.joiners)}(?!\w)", re.IGNORECASE
)
LANGUAGE_REACH = 25
SPEAKING = re.compile(rf"[\s-]*(?:{phrases(lambda each: each.spoken.speaking)}|[abc][12])\b", re.IGNORECASE)
LEVEL_AFTER = re.compile(rf"\W{{0,3}}\(?{LEVEL}", re.IGNORECASE)
LEVEL_BEFORE = re.compile(rf"{LEVEL}\s+(?:{phrases(lambda each: each.spoken.in_)}\s)?$", re.IGNORECASE)
AND_OR = re.compile(rf"\s+(?:{AND}|{OR}|&|/)\s+|\s*/\s*", re.IGNORECASE)
CHUNK = re.compile(r"[^\s()\[\]\"„“”:]+")
BLANK_LINE = re.compile(r"\n\s*\n")
MOST_SENTENCE_WORDS = 1
SENTENCE = re.compile(r"[.!?](?=\s|$)")
EDGE_WORDS = words(lambda each: each.short.edges)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch that may be a title."""

    start: int
    end: int


def is_short(text: str) -> bool:
    """Whether a text is an intent in a few words and not an advertisement."""
    stripped = text.strip()
    if len(stripped) > LONGEST_INTENT or len(text) > 2 * LONGEST_INTENT:
        return False
    words, lines = len(stripped.split()), [line for line in stripped.splitlines() if line.strip()]
    if BLANK_LINE.search(stripped) or _sentence_words(stripped) > MOST_SENTENCE_WORDS:
        return False
    sentences = len(SENTENCE.findall(stripped))
    return (
        len(lines) <= MOST_LINES and words <= MOST_WORDS and (sentences <= 1 or words <= WORDS_PER_SENTENCE * sentences)
    )


def _sentence_words(text: str) -> int:
    """How many words of a full sentence follow a possible `We are looking for`."""
    asking = ASKING.match(text)
    return len(SENTENCE_WORDS.findall(text, asking.end() if asking else 0))


def short_years(text: str) -> YearsFound | None:
    """`3y`, `5+ years`, `2-4 ans`, `max 3 Jahre`."""
    for found in YEARS.finditer(text):
        low, high = int(found["low"]), int(found["high"]) if found["high"] else None
        if max(low, high or 0) > MOST_YEARS or (high is not None and high < low):
            continue
        if NOT_YEARS.match(text, found.end()):
            continue
        start = found.start() + len(found.group()) - len(found.group().lstrip())
        if found["cap"]:
            return YearsFound(None, high or low, start, found.end())
        return YearsFound(low, high, start, found.end())
    return None


def short_languages(text: str) -> list[Spoken]:
    """The languages that a short intent names; before a word for work they belong to the title: `German teacher`."""
    found: list[Spoken] = []
    for name in NAME.finditer(text):
        after = text[name.end() : name.end() + LANGUAGE_REACH]
        following = CHUNK.match(after.lstrip())
        if following and is_head_word(following.group()) and not (name["tail"] or SPEAKING.match(after)):
            continue
        level = LEVEL_AFTER.match(after)
        before = LEVEL_BEFORE.search(text, max(0, name.start() - LANGUAGE_REACH), name.start())
        found.append(
            Spoken(
                language=ENGLISH_OF[name["name"].lower()],
                start=before.start() if before else name.start(),
                end=name.end() + (level.end() if level else 0),
                welcome=False,
                level=bool(level or before),
                alternative=False,
            )
        )
    return found


def title_pieces(text: str, masked: list[tuple[int, int]]) -> list[Piece]:
    """The stretches that no other reader took, those that name work first."""
    left = hidden(text, masked)
    asking = ASKING.match(left)
    begin = asking.end() if asking else 0
    pieces: list[Piece] = []
    for cut in [*PIECE.finditer(left, begin), None]:
        pieces += _several(left, begin, cut.start() if cut else len(left))
        begin = cut.end() if cut else len(left)
    return sorted(pieces, key=lambda piece: not names_work(left[piece.start : piece.end]))


def hidden(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with line breaks in place of the spans; offsets stay."""
    shown = list(text)
    for start, end in spans:
        shown[start:end] = "\n" * (end - start)
    return "".join(shown)


def _several(text: str, start: int, end: int) -> list[Piece]:
    """`nurses or midwives` are two pieces, `research and development manager` is one."""
    found, begin = [], start
    for cut in AND_OR.finditer(text, start, end):
        if names_work(text[begin : cut.start()]) and names_work(text[cut.end() : end]):
            found.append(_trimmed(text, begin, cut.start()))
            begin = cut.end()
    found.append(_trimmed(text, begin, end))
    return [piece for piece in found if piece]


def _trimmed(text: str, start: int, end: int) -> Piece | None:
    words = list(CHUNK.finditer(text, start, end))
    while words and (words[0].group().lower() in EDGE_WORDS or words[0].group().strip("x").isdigit()):
        words.pop(0)
    while words and (words[-1].group().lower() in EDGE_WORDS or words[-1].group().isdigit()):
        words.pop()
    return Piece(words[0].start(), words[-1].end()) if words else None


# Reading a short intent: every reader takes its words, and what is left is the title.


Span = tuple[int, int]
INTENT_WORD = re.compile(r"[^\W_]+")
PIECE_END = re.compile(r"[,;.|\n]")
AROUND_SKILLS = EDGE_WORDS | words(lambda each: each.skills.around)
SHORTEST_KNOWN = 3
"""A shorter word is no title, even if a taxonomy has it."""


def read_short_intent(text: str, reference: ReadingKnowledge) -> IntentReading:
    """The intent of a few words, such as `3y Go devs near Ghent, not agencies`."""
    draft, language = IntentDraft(text), text_language(text)
    exclusions = read_exclusions(text)
    place = read_short(text, places=reference.places)
    draft.set_place(place)
    taken = [*exclusions.taken, *place.spans]
    taken += _take_years(text, draft)
    taken += _take_languages(hidden(text, taken), draft)
    taken += [(remote.start(), remote.end()) for remote in REMOTE.finditer(text)]
    draft.ignore_working_place(hidden(text, list(exclusions.taken)))
    skills = reference.skills.find(hidden(text, taken))
    titles = _add_titles(text, taken, skills, draft, reference)
    _add_skills(text, skills, titles, draft)
    for exclusion in exclusions.found:
        if any(start < exclusion.end and exclusion.start < end for start, end in place.spans):
            draft.prove("exclude.location", exclusion.what, start=exclusion.start, end=exclusion.end)
        else:
            _exclude(exclusion, draft, reference)
    return draft.reading(candidates=tuple(draft.values.get((DraftBlock.MUST, "titles"), ())), language=language)


def _take_years(text: str, draft: IntentDraft) -> list[Span]:
    found = short_years(text)
    if found is None:
        return []
    draft.set_years(found)
    return [(found.start, found.end)]


def _take_languages(text: str, draft: IntentDraft) -> list[Span]:
    found = short_languages(text)
    for language in found:
        draft.add(DraftBlock.MUST, "languages", language.language, start=language.start, end=language.end)
        if language.level:
            draft.ignore_language_levels()
    return [(language.start, language.end) for language in found]


def _add_titles(
    text: str, taken: list[Span], skills: Sequence[SkillMention], draft: IntentDraft, reference: ReadingKnowledge
) -> list[Span]:
    """Where the titles stand."""
    found: list[Span] = []
    for piece in title_pieces(text, taken):
        said = text[piece.start : piece.end]
        title = one_of(clean(clean_title(said)))
        if is_wording(title) and (names_work(title) or _is_known(title, reference)):
            draft.add(DraftBlock.MUST, "titles", title, start=piece.start, end=piece.end)
            found.append((piece.start, piece.end))
        elif _without(said, skills, offset=piece.start):
            draft.ignore("other", f"“{said}” has no effect: it is no title, place, skill or language that we know.")
    return found


def _without(said: str, skills: Sequence[SkillMention], *, offset: int) -> list[str]:
    """The telling words of a piece that are no skills."""
    spans = [(skill.start - offset, skill.end - offset) for skill in skills if skill.start >= offset]
    left = hidden(said, [span for span in spans if span[1] <= len(said)])
    return [word for word in INTENT_WORD.findall(left) if word.lower() not in AROUND_SKILLS]


def _add_skills(text: str, skills: Sequence[SkillMention], titles: Sequence[Span], draft: IntentDraft) -> None:
    """Each skill named is required, unless it is one of several or welcome; of a title only its technologies."""
    for group in skill_groups(text, skills):
        choice = one_of_several(text, group)
        for skill in group:
            titled = any(start <= skill.start < end for start, end in titles)
            if titled and skill.field not in TECHNOLOGIES:
                continue
            welcome = WELCOME.search(PIECE_END.split(text[skill.end : skill.end + REACH], maxsplit=1)[0])
            block = DraftBlock.NICE if (choice and not titled) or welcome else DraftBlock.MUST
            draft.add(block, "skills", skill.name, start=skill.start, end=skill.end)
        if choice and len(group) > 1:
            draft.warn("The text asks for one skill or another: such skills are wished for, not required.")


def _is_known(title: str, reference: ReadingKnowledge) -> bool:
    return len(title) >= SHORTEST_KNOWN and reference.titles.known(title)


def _exclude(exclusion: Exclusion, draft: IntentDraft, reference: ReadingKnowledge) -> None:
    level = EXCLUDED_LEVEL.fullmatch(exclusion.what)
    if FREELANCE.match(exclusion.what):
        draft.exclude_freelancers(start=exclusion.start, end=exclusion.end)
    elif level:
        draft.add(DraftBlock.EXCLUDE, "titles", level["level"].lower(), start=exclusion.start, end=exclusion.end)
    elif skills := _whole(exclusion.what, reference):
        draft.add(DraftBlock.EXCLUDE, "skills", skills, start=exclusion.start, end=exclusion.end)
    elif not AGENCIES.match(exclusion.what) and head_words(exclusion.what):
        draft.add(DraftBlock.EXCLUDE, "titles", one_of(exclusion.what), start=exclusion.start, end=exclusion.end)
    else:
        draft.ignore_exclusion(exclusion.what)


def _whole(said: str, reference: ReadingKnowledge) -> str | None:
    """The skill that the words as a whole name."""
    found = reference.skills.find(said)
    return found[0].name if len(found) == 1 and found[0].end - found[0].start == len(said) else None
