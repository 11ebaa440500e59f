"""What stands in and around a title without being part of it: gender marks, working time, pay, where, since when."""

import re

from models.reading.languages import phrases, words

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


WORKING_TIME = words(lambda each: each.titles.working_time)
"""Words that alone make up a piece of a title line which says how and when the work is done."""
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
    """The text without gender marks and second halves of double forms."""
    plain = GENDER_MARK.sub(" ", text)
    return DOUBLE_FORM.sub("", plain)


def tidy(text: str) -> str:
    """Single spaces, nothing hanging at the edges."""
    plain = SPACES.sub(" ", text.replace("\\", "").replace("**", " ").replace("&amp;", "&")).strip()
    stripped = plain.strip(EDGES)
    for end in PLUS_ENDS:
        if plain.lower().rstrip(' *"').endswith(end) and not stripped.lower().endswith(end):
            stripped = plain.rstrip(' *"').lstrip(EDGES)
    return stripped


def clean_title(raw: str) -> str:
    """A title as it is searched for: no gender mark, no brackets, no working time, no pay, no lead-in word."""
    plain = PREFIX.sub("", without_gender(raw), count=1) if PREFIX.match(without_gender(raw)) else without_gender(raw)
    plain = CLOSED_BEFORE.sub("", plain)
    plain = OPEN_BRACKET.sub("", BRACKETS.sub(" ", plain))
    return tidy(SUFFIX.sub("", tidy(plain))).replace(" ,", ",")
