"""Title lines: whether a line is one, and which part of `Title — Company — City (m/f)` is the title."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from models.market.place_names import PlaceKind
from models.market.places import Places
from models.market.title_cleaning import clean
from models.reading.document import Document, Section, TextLine, section_of, text_language
from models.reading.head_words import head_words, names_work
from models.reading.languages import phrases, word_set
from models.reading.languages.language import any_phrase

LETTER = rf"(?:m|w|d|f|x|h|v|i|gn|div|{phrases(lambda each: each.titles.gender_words)})"
_ANY_GENDER = phrases(lambda each: each.titles.all_genders)
GENDER_MARK = re.compile(
    rf"[\(\[]\s*(?:{LETTER}(?:\s*[/|,.;:*+\-–_ ]\s*{LETTER}){{1,3}}|gn|{_ANY_GENDER})\s*[\)\]]\*?"
    r"|(?<![\w/])(?:[mwf]\s?/\s?[wfm]\s?/\s?[dxi]|m\s?/\s?[vw]\s?/\s?x|[hf]\s?/\s?[hf]|homme\s?/\s?femme"
    r"|m\s?/\s?[fvw])(?![\w/])",
    re.IGNORECASE,
)
"""`(m/w/d)`, `(f,m,x)`, `(gn)`, `(all genders)`, `H/F`, `m/v/x`."""

DOUBLE_FORM = re.compile(phrases(lambda each: each.titles.double_forms))
"""The second half of a German double form: `:in`, `*innen`, `/-in`, `(in)`, `Innen`."""


WORKING_TIME = word_set(lambda each: each.titles.working_time)
"""Words of pieces of a title line that say how and when the work is done."""
PAY = re.compile(r"(?:[$€£]\s?\d|\d[\d.,]*\s?(?:[$€£]|eur|k\b)|\(?\d{4,}\)?$)", re.IGNORECASE)

_ARTICLE = rf"(?:{phrases(lambda each: each.titles.article)}\s)?"
PREFIX = re.compile(
    rf"\W*(?:{phrases(lambda each: each.titles.pay_scale)}\s?\d{{1,2}}[a-z]?\s*[-–:]?\s+"
    rf"|{phrases(lambda each: each.titles.post)}\s+{phrases(lambda each: each.titles.post_of)}{_ARTICLE}"
    rf"|{phrases(lambda each: each.titles.opening_label)}\s*(?:[:–—-]|\bas\b|\bals\b)\s*"
    rf"|{phrases(lambda each: each.titles.announcement)}\b\s*[:!–—-]?\s*{_ARTICLE})",
    re.IGNORECASE,
)
LABEL = re.compile(
    rf"\W{{0,6}}{phrases(lambda each: each.titles.label)}\W{{0,3}}\s?[:：]\W{{0,4}}(?=\S)", re.IGNORECASE
)
SUFFIX = re.compile(rf"\s*\b{phrases(lambda each: each.titles.suffix)}\b\W*$", re.IGNORECASE)
BRACKETS = re.compile(r"\s*[\(\[][^()\[\]]{0,80}[\)\]]\*?")
CLOSED_BEFORE = re.compile(r"^[^()\[\]]*[)\]]")
OPEN_BRACKET = re.compile(r"\s*[\(\[][^()\[\]]*$")
SPACES = re.compile(r"\s+")
EDGES = " \t\r\n-–—|/,;:.*#_\"'„“”»«‚‘’!?&+·•"
PLUS_ENDS = ("c++", "c#", "+")


def without_gender(text: str) -> str:
    """Return the text without gender marks and second halves of double forms."""
    plain = GENDER_MARK.sub(" ", text)
    return DOUBLE_FORM.sub("", plain)


def tidy(text: str) -> str:
    """Return the text with single spaces and without signs at its edges."""
    plain = SPACES.sub(" ", text.replace("\\", "").replace("**", " ").replace("&amp;", "&")).strip()
    stripped = plain.strip(EDGES)
    for end in PLUS_ENDS:
        if plain.lower().rstrip(' *"').endswith(end) and not stripped.lower().endswith(end):
            stripped = plain.rstrip(' *"').lstrip(EDGES)
    return stripped


def clean_title(raw: str) -> str:
    """Return a title as it is searched for: no gender mark, no brackets, no working time, no pay, no lead-in word."""
    plain = PREFIX.sub("", without_gender(raw), count=1) if PREFIX.match(without_gender(raw)) else without_gender(raw)
    plain = CLOSED_BEFORE.sub("", plain)
    plain = OPEN_BRACKET.sub("", BRACKETS.sub(" ", plain))
    return tidy(SUFFIX.sub("", tidy(plain))).replace(" ,", ",")


LONGEST_TITLE_LINE = 140
FIRST_LINES = 8
FIRST_LINE, LATER_LINE, EACH_LINE = 5.5, 4.0, 0.6
DASHES = (" - ", " – ")
LEAST_TOWN = 500
MOST_SENTENCE_WORDS = 8
LEAST_HEADLESS = 4
SENTENCE_ENDS = (".", "!", "?", ";", ":", ",")
MOST_HEADLESS_WORDS = 6
FIELD_BREAK = re.compile(r"\s*[|•·]\s*|\s+[—@]\s+|\t+")
PIECE_BREAK = re.compile(r"\s+[-–/]\s+|,\s+|:\s+")
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
SENTENCE = re.compile(rf"(?<![\w-]){phrases(lambda each: each.titles.sentence)}(?![\w-])", re.IGNORECASE)
"""Words of a sentence, which a title line does without."""
LEGAL_FORMS = any_phrase(r"gmbh|ag|kg|e\.k\.|ltd|limited|inc|llc|plc|nv|bv|n\.v\.|b\.v\.|sa|sas|sarl|sprl|bvba")
ORGANISATION = re.compile(rf"\b(?:{LEGAL_FORMS}|{phrases(lambda each: each.titles.organisation)})\b", re.IGNORECASE)
OTHER_LABEL = re.compile(rf"\W*{phrases(lambda each: each.titles.other_label)}\s*:", re.IGNORECASE)
"""A label of something else than the title."""
LEVEL_ONLY = re.compile(rf"(?:{phrases(lambda each: each.titles.grade)}|m|l|ic|e)\s?\d{{1,2}}[a-z]?", re.IGNORECASE)
IN_PLACE = re.compile(
    rf"\s+(?i:{phrases(lambda each: each.titles.before_place)})\s+(?P<place>[A-ZÀ-ÝÖÄÜ][^,;|()]{{1,40}})$"
)
CODE_ONLY = re.compile(r"\W*(?:[A-Z]{0,4}\W?\d[\w./-]*|\(\d+\))\W*")


@dataclass(frozen=True, slots=True)
class LineTitle:
    """A line read as a title: the wordings worth trying, best first."""

    start: int
    end: int
    score: float
    wordings: tuple[str, ...]


def line_titles(document: Document, places: Places) -> list[LineTitle]:
    """Return the first lines that read like a title."""
    found: list[LineTitle] = []
    for number, line in enumerate(document.lines[:FIRST_LINES]):
        score = line_score(line, number=number)
        if score <= 0:
            continue
        wordings = title_wordings(line.text, places)
        if wordings:
            found.append(LineTitle(line.start, line.end, score, wordings))
    return found


def line_score(line: TextLine, *, number: int) -> float:
    """Return how much a line looks like a title; zero or less when it does not."""
    text = line.text
    if len(text) > LONGEST_TITLE_LINE or section_of(text) is not None or PAY.match(text):
        return 0.0
    plain = tidy(BRACKETS.sub(" ", without_gender(text)))
    words = WORD.findall(plain)
    if not words or len(words) > 16:  # noqa: PLR2004 - longer lines are sentences
        return 0.0
    if OTHER_LABEL.match(text) or line.section is not Section.OPENING or (line.listed and number):
        return 0.0
    if not (names_work(plain) or (number == 0 and head_words(plain)) or GENDER_MARK.search(text) or LABEL.match(text)):
        return _headless_score(line, plain, number=number)
    if len(words) > MOST_SENTENCE_WORDS and (SENTENCE.search(plain) or text.rstrip(' *"').endswith(SENTENCE_ENDS)):
        return 0.0
    score = FIRST_LINE if number == 0 else LATER_LINE - EACH_LINE * number
    score += 4.0 if GENDER_MARK.search(text) else 0.0
    score += 1.5 if LABEL.match(text) else 0.0
    score -= 3.0 * min(3, len(SENTENCE.findall(plain)))
    score -= 3.0 if text.rstrip(' *"').endswith(SENTENCE_ENDS) else 0.0
    return score


def _headless_score(line: TextLine, plain: str, *, number: int) -> float:
    """Score a first line without a word for work, which may still be a title: `Customer Success`."""
    words = plain.split()
    if number or len(words) > MOST_HEADLESS_WORDS or len(plain) < LEAST_HEADLESS or not plain[0].isupper():
        return 0.0
    if (
        SENTENCE.search(plain)
        or ORGANISATION.search(plain)
        or line.text.endswith(SENTENCE_ENDS)
        or any(c.isdigit() for c in plain)
    ):
        return 0.0
    return 0.0 if FIELD_BREAK.search(line.text) or text_language(plain) else 1.2


def title_wordings(raw: str, places: Places) -> tuple[str, ...]:
    """Return the wordings of the title in a line, best first: without noise, the occupation alone, and as written."""
    field = best_field(raw)
    stated = clean_title(without_title_noise(field, places))
    core = clean(stated) if names_work(clean(stated)) or not names_work(stated) else stated
    written = tidy(PREFIX.sub("", without_gender(field), count=1) if PREFIX.match(field) else without_gender(field))
    wordings = dict.fromkeys(wording for wording in (stated, core, written) if is_wording(wording))
    return tuple(wordings)


def best_field(raw: str) -> str:
    """Return the piece of `Company | Title | City` that names work; a line without such breaks is one piece."""
    fields = [field for field in FIELD_BREAK.split(raw) if tidy(field)]
    if len(fields) < 2:  # noqa: PLR2004 - one field
        return raw
    marked = [field for field in fields if GENDER_MARK.search(field)]
    worded = [field for field in fields if names_work(field) and not ORGANISATION.search(field)]
    return (marked or worded or fields)[0]


def without_title_noise(field: str, places: Places) -> str:
    """Return the field without pieces that say when, where or for how much, and without a company's name before it."""
    shown = without_gender(field)
    kept: list[str] = []
    for mark, piece in _pieces(shown):
        if not kept:
            kept = [piece]
        elif not is_title_noise(piece, places):
            before = "".join(kept)
            kept = [piece] if mark in DASHES and names_work(piece) and not names_work(before) else [*kept, mark + piece]
    return without_place("".join(kept), places)


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Return the pieces of a title line, each with the signs before it."""
    start, mark = 0, ""
    for cut in PIECE_BREAK.finditer(text):
        yield mark, text[start : cut.start()]
        start, mark = cut.end(), cut.group()
    yield mark, text[start:]


def without_place(text: str, places: Places) -> str:
    """Return the text without a closing `in Lyon`."""
    tail = IN_PLACE.search(tidy(BRACKETS.sub("", text)))
    if tail and is_place(tail["place"], places):
        return tidy(BRACKETS.sub("", text))[: tail.start()]
    return _without_last_place(text, places)


def _without_last_place(text: str, places: Places) -> str:
    """Drop a last word that is a town's name with brackets behind it: `Conducteur de cars Aubenas (07)`."""
    bare = BRACKETS.sub("", text).split()
    if not BRACKETS.search(text) or len(bare) < 2 or head_words(bare[-1]) or not names_work(" ".join(bare[:-1])):  # noqa: PLR2004 - one word
        return text
    known = places.named(bare[-1]) if bare[-1][:1].isupper() else []
    if known and known[0].kind is PlaceKind.CITY and known[0].population >= LEAST_TOWN:
        return " ".join(bare[:-1])
    return text


def is_title_noise(piece: str, places: Places) -> bool:
    """Return whether a piece of a title line says nothing about the work."""
    plain = tidy(BRACKETS.sub("", piece))
    if not plain or PAY.match(plain) or CODE_ONLY.fullmatch(plain) or LEVEL_ONLY.fullmatch(plain):
        return True
    words = [word.lower() for word in re.findall(r"[^\W_]+", plain)]
    if all(word in WORKING_TIME or word.isdigit() for word in words):
        return True
    return not head_words(plain) and is_place(plain, places)


def is_place(name: str, places: Places) -> bool:
    """Return whether a name is that of a known place, standing where places stand in title lines."""
    if not name[:1].isupper():
        return False
    return bool(places.named(tidy(name)) or places.country_code(tidy(name)))


def is_wording(text: str) -> bool:
    """Return whether the text can be searched for as a title."""
    return 1 < len(text) <= 120 and any(letter.isalpha() for letter in text)  # noqa: PLR2004 - a title field
